"""What a sample of a large table suggests is proved on all rows."""

from __future__ import annotations

import random

import polars as pl
import pytest

import konsil
from konsil.analysis.roles.candidates.stray_rows import stray_rows
from konsil.analysis.roles.proof import MOST_ROWS, contradictions, sample, wrong_totals
from konsil.analysis.roles.proposal import propose
from konsil.analysis.roles.reading import StatedRoles, TableReading
from konsil.errors import UnclearTableError

N = 3 * MOST_ROWS
PLACE = 4_001


def wide(**changed: str) -> pl.DataFrame:
    """A large table whose row PLACE has some other cells."""
    columns = {
        "case": [f"c{n}" for n in range(N)],
        "Anna": [str(n * 7 % 5 + 1) for n in range(N)],
        "Ben": [str(n * 7 % 5 + 1 if n % 3 else n % 5 + 1) for n in range(N)],
    }
    return with_cells(pl.DataFrame(columns), changed)


def with_cells(frame: pl.DataFrame, cells: dict[str, str]) -> pl.DataFrame:
    """The frame with other cells in a row that is not in the sample."""
    is_row = pl.int_range(pl.len()) == PLACE
    changes = [
        pl.when(is_row).then(pl.lit(cell)).otherwise(pl.col(name)).alias(name)
        for name, cell in cells.items()
    ]
    changed = frame.with_columns(changes)
    rows = sample(changed)
    for name, cell in cells.items():
        assert cell not in set(rows[name]), (name, cell)
    return changed


def refusal(frame: pl.DataFrame) -> UnclearTableError:
    with pytest.raises(UnclearTableError) as caught:
        konsil.agreement(frame, resamples=100)
    return caught.value


@pytest.mark.parametrize("code", ["99", "-1", "n/a"])
def test_a_code_outside_the_sample_is_asked_about(code: str) -> None:
    """Kills: codes of the sample alone; a code as values that two raters do not share."""
    error = refusal(wide(Ben=code))
    assert f"missing='{code}'" in error.call or f"missing=['{code}']" in error.call
    assert not any("in common" in sentence for sentence in error.unclear)


def test_a_spelling_outside_the_sample_is_asked_about() -> None:
    frame = wide().with_columns(
        pl.col("Anna", "Ben").replace_strict(dict(zip("12345", "abcde", strict=True)))
    )
    error = refusal(with_cells(frame, {"Ben": "E"}))
    assert "recode={'E': 'e'}" in error.call


@pytest.mark.slow
def test_totals_and_names_outside_the_sample_are_asked_about() -> None:
    """Kills: totals in the first column alone, or in the sample alone."""
    last = pl.DataFrame({"case": ["Total"], "Anna": ["3"], "Ben": ["3"]})
    assert "frame[:-1]" in refusal(pl.concat([wide(), last])).call
    numbered = pl.concat([wide(), last]).with_row_index("n").with_columns(pl.col("n").cast(str))
    error = refusal(numbered)
    assert any("Leave it out" in sentence for sentence in error.unclear) and not error.call
    names = refusal(wide(case="case", Anna="Anna", Ben="Ben"))
    assert any("names of the columns" in s for s in names.unclear) and not names.call


def test_a_weight_outside_the_sample_is_asked_about() -> None:
    frame = with_cells(wide().with_columns(count=pl.lit("1")), {"count": "2"})
    assert any("count or weight" in sentence for sentence in refusal(frame).unclear)
    assert konsil.agreement(frame, unused="count", resamples=100).n_units == N


def test_numbers_of_raters_outside_the_sample_are_compared() -> None:
    draw = random.Random(1)
    counts = pl.DataFrame(
        {"item": [f"i{n}" for n in range(N)], "yes": [str(draw.randrange(6)) for _ in range(N)]}
    ).with_columns(no=(5 - pl.col("yes").cast(pl.Int64)).cast(pl.String))
    assert propose(counts, StatedRoles()).is_certain
    proposal = propose(with_cells(counts, {"no": "9"}), StatedRoles())
    assert not proposal.is_certain
    assert any("different numbers of raters" in str(s) for s in proposal.unclear)


def test_units_that_recur_outside_the_sample_are_no_key() -> None:
    """Kills: units of one rating each, of which one has two."""
    reading = TableReading(shape="one-rating", units=("case",), rated=("Anna",))
    frame = wide().select("case", "Anna")
    assert not [*contradictions(frame, reading, StatedRoles())]
    again = frame.with_columns(
        case=pl.when(pl.int_range(pl.len()) == PLACE).then(pl.lit("c1")).otherwise("case")
    )
    assert len([*contradictions(again, reading, StatedRoles())]) == 1


def test_totals_of_comparisons_outside_the_sample_are_asked_about() -> None:
    """Kills: comparisons of which only the sample is looked at."""
    votes = pl.DataFrame(
        {
            "item": [f"i{n}" for n in range(N)],
            "rater": ["Anna" if n % 2 else "Ben" for n in range(N)],
            "model_a": ["x"] * N,
            "model_b": ["y"] * N,
            "winner": ["xyt"[n % 3].replace("t", "tie") for n in range(N)],
        }
    )
    last = pl.DataFrame(
        {"item": ["Total"], "rater": ["2"], "model_a": ["x"], "model_b": ["y"], "winner": ["x"]}
    )
    assert konsil.preference(votes, resamples=100).n_comparisons == N
    frame = pl.concat([votes[:-1], last])
    assert "Total" not in set(sample(frame)["item"])
    with pytest.raises(UnclearTableError, match="'Total' at the end"):
        konsil.preference(frame, resamples=100)


def test_each_wrong_total_is_named() -> None:
    frame = pl.DataFrame(
        {
            "side": ["a", "b", "Sum"],
            "a": ["3", "1", "5"],
            "b": ["2", "4", "6"],
            "Sum": ["5", "5", "11"],
        }
    )
    reading = TableReading(
        shape="cross-table", rated=("a", "b"), roles={"side": "row", "a": "rating", "b": "rating"}
    )
    assert wrong_totals(frame, reading) == [("a", 5, 4), ("Sum", 11, 10)]
    right = frame.with_columns(a=pl.Series(["3", "1", "4"]), Sum=pl.Series(["5", "5", "10"]))
    assert wrong_totals(right, reading) == []
    assert stray_rows(frame, reading) == ()
