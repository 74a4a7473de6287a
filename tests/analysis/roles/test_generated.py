"""Tables whose truth is known are read rightly or asked about; never read as something else."""

from __future__ import annotations

import random
from collections import Counter

import polars as pl
import pytest
from tests.analysis.roles.generated_tables import ASKED, KINDS, Truth, make

from konsil.analysis.roles.proposal import propose
from konsil.analysis.roles.reading import StatedRoles, TableReading


def partition(frame: pl.DataFrame, names: tuple[str | None, ...]) -> list[int]:
    """A number for each row, equal where rows are equal in some columns."""
    numbers: dict[tuple[str, ...], int] = {}
    rows = frame.select([name for name in names if name is not None]).rows()
    return [numbers.setdefault(row, len(numbers)) for row in rows]


def is_right(frame: pl.DataFrame, reading: TableReading, truth: Truth) -> bool:
    """Whether a reading gives the numbers of the truth."""
    sides = (*(reading.sides or ()), *([reading.outcome] if reading.outcome else []))
    rated = {name for name in truth.rated if frame[name].str.len_chars().sum()}
    if reading.shape != truth.shape or {*reading.rated, *sides} != rated:
        return False
    if reading.shape in {"long", "long-criteria"}:
        return (
            partition(frame, reading.units) == partition(frame, truth.units)
            and partition(frame, (reading.rater,)) == partition(frame, (truth.rater,))
            and partition(frame, (reading.criterion,)) == partition(frame, (truth.criterion,))
        )
    if reading.shape in {"raters-in-rows", "pairs"}:
        return reading.rater == truth.rater and reading.units == truth.units
    if reading.shape == "rater-by-criterion":
        is_rater_first = reading.names.index("{rater}") < reading.names.index("{criterion}")
        return is_rater_first == truth.is_rater_first
    return True


def tally(seeds: range) -> tuple[Counter[str], Counter[str], list[int]]:
    """Certain and all tables by kind of names, as far as they can be computed; wrong seeds."""
    certain: Counter[str] = Counter()
    tables: Counter[str] = Counter()
    wrong = []
    for seed in seeds:
        frame, truth, kind = make(seed)
        proposal = propose(frame, StatedRoles())
        if truth.shape not in ASKED:
            tables[kind] += 1
            certain[kind] += proposal.is_certain
        if proposal.is_certain:
            assert proposal.reading is not None
            if truth.shape in ASKED or not is_right(frame, proposal.reading, truth):
                wrong.append(seed)
    return certain, tables, wrong


def test_certain_readings_of_some_tables_are_right() -> None:
    certain, _, wrong = tally(range(5_000, 5_120))
    assert wrong == []
    assert sum(certain.values()) > 30


@pytest.mark.slow
def test_certain_readings_are_right_and_frequent() -> None:
    """None of 2,400 is wrong; with names in English or German at least 90 % are certain."""
    certain, tables, wrong = tally(range(40_000, 42_400))
    assert wrong == []
    for kind in KINDS[:2]:
        assert certain[kind] >= 0.9 * tables[kind], kind


def test_order_of_columns_and_number_of_rows_change_no_certain_reading() -> None:
    for seed in range(300, 360):
        frame, truth, _ = make(seed)
        draw = random.Random(seed)
        columns = draw.sample(frame.columns, frame.width)
        rows = sorted(draw.sample(range(frame.height), frame.height * 3 // 4))
        part = frame if truth.shape == "cross-table" or frame.height < 8 else frame[rows]
        again = propose(part.select(columns), StatedRoles())
        if again.is_certain:
            assert again.reading is not None
            assert truth.shape not in ASKED, seed
            assert is_right(part, again.reading, truth), seed


def test_every_column_has_a_role() -> None:
    for seed in range(60):
        frame, _, _ = make(seed)
        reading = propose(frame, StatedRoles()).reading
        assert reading is not None
        assert list(reading.roles) == frame.columns
        assert {role for name, role in reading.roles.items() if name in reading.rated} <= {"rating"}
