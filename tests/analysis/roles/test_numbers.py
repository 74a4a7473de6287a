"""What a number is in a cell."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from konsil.analysis.roles.numbers import decimal_mark, is_number, number_of


@given(st.floats(-1e12, 1e12, allow_nan=False).map(lambda x: round(x, 3)))
def test_numbers_are_read_with_either_mark(number: float) -> None:
    point = f"{number:,.3f}"
    comma = point.translate(str.maketrans(",.", ".,"))
    assert number_of(point, ".") == number_of(comma, ",") == pytest.approx(number, abs=1e-9)


@pytest.mark.parametrize("text", ["", "nan", "1-2", "4 : good", "1,2,3", "12,34.5", "x", "."])
def test_other_texts_are_no_numbers(text: str) -> None:
    assert not is_number(text)


@pytest.mark.parametrize(
    ("cells", "mark"),
    [
        (["4,4", "5"], ","),
        (["1,234"], None),
        (["1,234", "4,5"], ","),
        (["1,234", "4.5"], "."),
        (["1.234"], "."),
        (["1.234", "2,5"], ","),
        (["1", "2"], "."),
    ],
)
def test_one_cell_settles_the_mark_of_all(cells: list[str], mark: str | None) -> None:
    assert decimal_mark(cells) == mark


def test_a_text_is_refused() -> None:
    with pytest.raises(ValueError, match="4,5"):
        number_of("4,5", ".")
