"""Questions of ratings that exist: which of two labels is the one whose proportion is proposed."""

from __future__ import annotations

import pytest

from konsil.design.questions import from_ratings, with_questions


@pytest.mark.parametrize(
    ("values", "labels"),
    [
        (("yes", "no"), ("no", "yes")),
        (("Ja", "Nein"), ("Nein", "Ja")),
        (("incorrect", "correct"), ("incorrect", "correct")),
        (("mild", "severe"), ("mild", "severe")),
    ],
)
def test_the_success_of_a_known_pair_is_last(
    values: tuple[str, ...], labels: tuple[str, ...]
) -> None:
    """Kills: the proportion of "no" where the first row of the file happens to be a "yes"."""
    [question] = from_ratings([("safe", "Is it safe?", values)])
    assert question.labels == labels


@pytest.mark.parametrize(
    ("values", "kind", "labels"),
    [
        (("3", "-1", "1"), "five", ("-1", "0", "1", "2", "3")),
        (("2.5", "10", "4"), "other", ()),
        (("0", "87", "100"), "other", ()),
    ],
)
def test_numbers_are_points_in_order_or_measured_values(values, kind, labels) -> None:
    """Kills: labels in the order of the file, or sorted as words, for numbers."""
    [question] = from_ratings([("dose", "Which dose?", values)])
    assert (question.kind, question.labels) == (kind, labels)
    [form] = with_questions({}, [question])["instruments"]
    has_numbers = form["criteria"][0]["scale"] == {"kind": "number"}
    assert has_numbers is (kind == "other")
