"""The end of an error's sentence: a name that is near, or those that there are."""

from __future__ import annotations

import pytest

from konsil.errors import nearest


@pytest.mark.parametrize(
    ("name", "known", "end"),
    [
        ("theme", ["item", "case", "stratum"], "known: case, item, stratum"),
        ("sytem", ["item", "system"], "did you mean 'system'?"),
        ("from", ["form", "frame"], "did you mean 'form'?"),
        ("Theme", ["theme"], "did you mean 'theme'?"),
        ("bb", ["a", "b"], "did you mean 'b'?"),
        ("x", [], "none is known"),
    ],
)
def test_only_a_near_name_is_suggested(name: str, known: list[str], end: str) -> None:
    assert nearest(name, known) == end


def test_names_that_are_no_candidates_are_listed_all_the_same() -> None:
    assert nearest("Incorrect", ["Wrong"], ["Correct", "Wrong"]) == "known: Correct, Wrong"
    assert nearest("Wronk", ["Wrong"], ["Correct", "Wrong"]) == "did you mean 'Wrong'?"
