"""Long tables that are coded in parts are the tables that `read` makes of all rows."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from konsil.analysis.tabular import gathered_ratings
from konsil.analysis.tabular.agreement_options import TableOptions
from konsil.analysis.tabular.dataframes import as_text
from konsil.analysis.tabular.gathered_ratings import GatheredRatings, code_ratings
from konsil.analysis.tabular.ratings_table import Table, read
from konsil.errors import KonsilError

ROWS = st.lists(
    st.tuples(
        st.sampled_from(["u1", "u2", "u10", " u1", ""]),
        st.sampled_from(["ann", "ben", "Ann", ""]),
        st.sampled_from(["yes", " yes", "no", "NA", "", "?", None]),
        st.sampled_from(["north", "south"]),
    ),
    min_size=1,
    max_size=12,
)
NUMBERS = [
    ("u1", "ann", "1", "north"),
    ("u1", "ben", "1.0", "north"),
    ("u2", "ann", "-0", "north"),
    ("u2", "ben", "true", "north"),
    ("u2", "ben", "1", "north"),
]


def columns(**options: object) -> TableOptions:
    """The options of a table whose columns have the names of their roles."""
    roles = {"layout": "long", "unit": "unit", "rater": ("rater",), "label": "label"}
    return TableOptions(**{**roles, **options})  # type: ignore[arg-type]


OPTIONS = {
    "plain": columns(),
    "abstain": columns(abstain="?"),
    "declared": columns(labels=("no", "yes"), abstain="?"),
    "NA": columns(labels=("no", "yes", "NA", "?")),
    "missing": columns(missing=("?", "no")),
    "cluster": columns(cluster="ward"),
    "interval": columns(level="interval"),
    "words": columns(level="ordinal"),
}


def frame_of(rows: list[tuple[str | None, ...]]) -> pl.DataFrame:
    names = ("unit", "rater", "label", "ward")
    return pl.DataFrame(rows, schema=dict.fromkeys(names, pl.String), orient="row")


def in_parts(frame: pl.DataFrame, ends: list[int], options: TableOptions) -> Table:
    gathered, start = GatheredRatings(), 0
    numbers = pl.int_range(frame.height, eager=True) if options.rows is None else options.rows
    for end in (*sorted(e for e in ends if e < frame.height), frame.height):
        own = TableOptions(**{**vars(options), "rows": numbers[start:end]})
        gathered.add(code_ratings(frame[start:end], own))
        start = end
    return gathered.table(options)


def contents(table: Table) -> dict[str, object]:
    sample = table.sample
    return {
        "labels": sample.codes.labels.tolist(),
        "kind": sample.codes.labels.dtype,
        "clusters": sample.codes.clusters.tolist(),
        "scale": (sample.codes.n_labels, sample.codes.values, table.labels),
        "names": (sample.raters, sample.units, sample.clusters),
        "abstained": dict(table.abstained),
        "others": (table.warnings, table.constant, table.has_raters),
    }


def outcome(make, *arguments) -> object:
    """What a table contains, or the sentence that refuses it."""
    try:
        return contents(make(*arguments))
    except KonsilError as error:
        return str(error)


@pytest.mark.parametrize(
    ("rows", "ends", "name"),
    [
        (NUMBERS, [2], "interval"),
        (NUMBERS, [1, 4], "plain"),
        ([*NUMBERS, ("u1", "ann", "1", "north")], [3], "plain"),
        ([*NUMBERS, ("u1", "ann", "0", "north")], [3], "plain"),
        ([*NUMBERS, ("u1", "ben", "1", "south")], [3], "cluster"),
        ([*NUMBERS, ("u3", "ben", "x", "south")], [3], "interval"),
        ([*NUMBERS, ("u3", "ben", "?", "south"), ("u3", "cem", "?", "south")], [6], "abstain"),
        ([*NUMBERS, ("u3", "ben", "NA", "south"), ("u3", "", "", "south")], [6], "plain"),
        ([("u1", "ann", "?", ""), ("u1", "ben", "?", "")], [1], "abstain"),
        ([("u1", "ann", "", ""), ("u1", "ben", None, "")], [1], "plain"),
        ([("u1", "ann", "yes", ""), ("u2", "ann", "no", "")], [1], "plain"),
    ],
)
def test_parts_make_the_table_of_all_rows(rows, ends, name, monkeypatch):
    monkeypatch.setattr(gathered_ratings, "_CHUNK", 3)
    frame, options = frame_of(rows), OPTIONS[name]
    assert outcome(in_parts, frame, ends, options) == outcome(read, frame, options)


@pytest.mark.slow
@settings(deadline=None, derandomize=True, max_examples=40)
@given(
    rows=ROWS,
    ends=st.lists(st.integers(0, 12), max_size=3),
    name=st.sampled_from(sorted(OPTIONS)),
)
def test_any_parts_make_the_table_of_all_rows(rows, ends, name):
    frame, options = frame_of(rows), OPTIONS[name]
    assert outcome(in_parts, frame, ends, options) == outcome(read, frame, options)


def test_a_part_of_one_row_without_a_number() -> None:
    """Parquet files of Pandas have NaN where nothing was rated."""
    names = {"unit": pl.String, "rater": pl.String, "label": pl.Float64}
    rows = [("u1", "ann", 1.0), ("u1", "ben", math.nan), ("u2", "ann", 2.0), ("u2", "ben", 2.0)]
    frame = pl.DataFrame(rows, schema=names, orient="row")
    for ends in ([1, 2], [1, 2, 3], [2]):
        words = as_text(frame, "table")
        assert contents(in_parts(frame, ends, columns())) == contents(read(words, columns()))


def test_rows_of_a_group_keep_their_numbers_in_the_whole_table():
    frame = frame_of([*NUMBERS, ("u1", "ann", "0", "north")])
    options = columns(rows=pl.Series([3, 4, 7, 9, 11, 20]))
    expected = "table: lines 5 and 22: rater 'ann' labelled unit 'u1' both '0' and '1'"
    assert str(outcome(read, frame, options)).startswith(expected)
    assert outcome(in_parts, frame, [2, 4], options) == outcome(read, frame, options)


def test_identifiers_may_be_numbers_in_one_part_and_words_in_another():
    numbers = pl.DataFrame({"unit": [1, 2, 10], "rater": [0.0, 0.0, 1.5], "label": [1, 0, 1]})
    words = frame_of([("2", "0", "1", ""), ("u", "1.5", "1", "")]).drop("ward")
    gathered = GatheredRatings([code_ratings(numbers, columns())])
    gathered.add(code_ratings(words, columns(rows=pl.Series([3, 4]))))
    table = gathered.table(columns(missing=("0",)))
    assert table.sample.units == ("1", "10", "2", "u")
    assert table.sample.raters == ("0", "1.5")
    assert np.array_equal(table.sample.codes.labels >= 0, [[1, 0], [0, 1], [1, 0], [0, 1]])
