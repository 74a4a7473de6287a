"""What a number is in a cell."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from konsil.records.numerals import decimal_mark, is_number, number_of, own_numbers
from konsil.sources.files.cells import detected_decimal, with_decimal_point


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


def _values(mark: str) -> st.SearchStrategy[str]:
    numbers = st.floats(-1e6, 1e6, allow_nan=False).map(lambda x: f"{x:,.2f}")
    return numbers if mark == "." else numbers.map(lambda t: t.translate(str.maketrans(",.", ".,")))


@given(st.sampled_from([".", ","]).flatmap(lambda m: st.lists(_values(m), min_size=1)))
def test_columns_of_files_and_labels_are_the_same_numbers(cells: list[str]) -> None:
    """The patterns in Polars, the mark of a column, and the numbers of labels are one rule."""
    frame = pl.DataFrame({"a": cells})
    points = with_decimal_point(frame, detected_decimal(frame)).get_column("a").to_list()
    mark = decimal_mark(cells)
    assert mark is not None
    assert own_numbers(points) == own_numbers(cells) == tuple(number_of(c, mark) for c in cells)
