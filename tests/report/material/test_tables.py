"""Rounding happens here and nowhere else."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from konsil.report.material.language import language
from konsil.report.material.tables import (
    MINUS,
    THIN,
    Cell,
    Note,
    Numbers,
    common_notes,
    sentence,
    table,
    without_notes,
)
from konsil.stats.engine.contract import Estimate

EN, DE = Numbers(), Numbers(language("de"))


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (0.61249, "0.612"),
        (0.9996, "1.000"),
        (-0.25, MINUS + "0.250"),
        (-0.0004, "0.000"),
        (0.0, "0.000"),
        (12.5, "12.500"),
        (math.nan, "undefined"),
        (math.inf, "∞"),
        (-math.inf, MINUS + "∞"),
    ],
)
def test_plain(value: float, shown: str) -> None:
    assert EN.plain(value) == shown


@pytest.mark.parametrize(
    ("p", "shown"),
    [
        (0.0, "< 0.001"),
        (0.00099, "< 0.001"),
        (0.001, "0.0010"),
        (0.0324, "0.032"),
        (0.0996, "0.10"),
        (0.5, "0.50"),
        (0.449, "0.45"),
        (0.99, "0.99"),
        (0.995, "> 0.99"),
        (1.0, "> 0.99"),
        (math.nan, ""),
    ],
)
def test_p_values_are_never_0_or_1(p: float, shown: str) -> None:
    assert EN.p(p) == shown


@settings(deadline=None)
@given(st.floats(0, 1))
def test_p_values_keep_two_digits(p: float) -> None:
    shown = EN.p(p)
    if shown[0] not in "<>":
        assert len(shown.removeprefix("0.").lstrip("0")) == 2
        assert float(shown) == pytest.approx(p, rel=0.051)


def test_german_decimals() -> None:
    estimate = Estimate(0.6123, 0.54, 0.684)
    assert EN.with_interval(estimate) == "0.612 [0.540, 0.684]"
    assert DE.with_interval(estimate) == "0,612 [0,540; 0,684]"
    assert DE.p(0.0001) == "< 0,001"
    assert DE.plain(math.nan) == "nicht schätzbar"
    assert DE.tick(-0.25) == MINUS + "0,25"
    assert DE.spread([1, 2, 4]) == "2,0 [1,5; 3,0]"


def test_counts_have_thin_separators() -> None:
    assert EN.count(9999) == "9999"
    assert EN.count(26598) == f"26{THIN}598"
    assert EN.count(-1234567) == f"{MINUS}1{THIN}234{THIN}567"
    assert EN.count(None) == "–"


@settings(deadline=None)
@given(
    st.lists(st.integers(0, 10**6), min_size=1)
)  # their quartiles are exact, so that both round alike
def test_spread_is_ordered(values: list[int]) -> None:
    numpy = pytest.importorskip("numpy")
    low, middle, high = numpy.quantile(values, [0.25, 0.5, 0.75])
    assert EN.spread(values) == f"{EN.short(middle)} [{EN.short(low)}, {EN.short(high)}]"
    assert EN.spread([]) == "–"


def test_undefined_says_why() -> None:
    cell = EN.estimate(Estimate(math.nan, reason="all labels are the same"))
    assert (cell.text, cell.remarks) == ("undefined", ("all labels are the same",))
    assert EN.estimate(Estimate(math.nan)).remarks == ("No reason is recorded.",)
    half = EN.estimate(Estimate(0.5, reason="fewer than three raters", n_undefined=12))
    assert half.text == "0.500"
    assert half.remarks == (
        "fewer than three raters",
        "The statistic was not estimable in 12 resamples.",
    )


def test_cells_of_any_value() -> None:
    assert [EN.cell(v).text for v in ("a", 12345, 0.5, math.nan, None, Estimate(0.1))] == [
        "a",
        f"12{THIN}345",
        "0.500",
        "undefined",
        "",
        "0.100",
    ]


def test_footnotes_share_letters_and_repeats_are_marked() -> None:
    rows = [
        (Cell("x"), Cell("p"), Cell("1", ("why", "also"), number=True)),
        (Cell("x"), Cell("p"), Cell("2", ("also",), number=True)),
        (Cell("y"), Cell("p"), Cell("", number=True)),
    ]
    shown = table("caption", ("a", "b", "n"), rows, row_heads=2, general=("All of it.",))
    assert [row[2].marks for row in shown.rows] == [("a", "b"), ("b",), ()]
    assert shown.notes == (Note("", "All of it."), Note("a", "Why."), Note("b", "Also."))
    assert [[cell.same for cell in row] for row in shown.rows] == [
        [False] * 3,
        [True, False, False],
        [False] * 3,
    ]
    assert [cell.number for cell in shown.head] == [False, False, True]


def test_a_remark_of_all_rows_stands_once() -> None:
    rows = [
        (Cell("x"), Cell("1", ("few", "why")), Cell("2", ("late",))),
        (Cell("y"), Cell("2", ("few",)), Cell("3", ("late",))),
    ]
    shown = table("caption", ("a", "n", "m"), rows, general=("Few.",), main_column=1)
    assert [[cell.marks for cell in row] for row in shown.rows] == [
        [(), ("a",), ()],
        [(), (), ()],
    ]
    assert shown.notes == (Note("", "Few."), Note("", "m: Late."), Note("a", "Why."))


def test_notes_of_all_tables_are_taken_out() -> None:
    first = table("first", ("n",), [(Cell("1"),)], general=("All.", "Mine."))
    second = table("second", ("n",), [(Cell("1", ("All",)),)], main_column=0)
    assert common_notes([first, second]) == ("All.",)
    assert common_notes([first]) == ()
    assert [note.text for note in without_notes(first, ["All."]).notes] == ["Mine."]


def test_many_footnotes() -> None:
    shown = table("c", ("n",), [(Cell(str(n), (f"note {n}",)),) for n in range(60)])
    marks = [row[0].marks[0] for row in shown.rows]
    assert marks[25:28] == ["z", "aa", "ab"]
    assert len(set(marks)) == 60


def test_sentence() -> None:
    assert sentence("fewer than three") == "Fewer than three."
    assert sentence("Really?") == "Really?"


def test_rows_are_as_wide_as_the_head() -> None:
    with pytest.raises(ValueError, match="every row needs 2 cells"):
        table("c", ("a", "b"), [(Cell("x"),)])
