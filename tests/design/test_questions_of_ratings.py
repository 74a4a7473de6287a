"""Questions of ratings that exist: which of two labels is the one whose proportion is proposed."""

from __future__ import annotations

import pytest

from konsil.design.questions import from_ratings


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
