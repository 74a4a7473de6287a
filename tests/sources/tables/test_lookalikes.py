"""A column whose name is nearly a field's is told, and read by nobody in silence."""

from __future__ import annotations

from pathlib import Path

import pytest

from konsil.records import Source
from konsil.sources.files.table import read_table
from konsil.sources.tables.lookalikes import lookalikes


def told(folder: Path, header: str, **source: object) -> list[str]:
    file = folder / "t.csv"
    file.write_text(f"{header}\n{','.join('x' for _ in header.split(','))}\n")
    return list(lookalikes(read_table(file), Source(file="t.csv", **source)))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("header", "near"),
    [
        ("item,text,Referense", "reference"),
        ("item,text,Set", "sets"),
        ("item,text,alias", "aliases"),
    ],
)
def test_a_column_named_nearly_like_a_field_is_told(tmp_path: Path, header: str, near: str):
    [note] = told(tmp_path, header, records="items")
    column = header.rpartition(",")[2]
    assert (
        note == f"t.csv: the column {column!r} is not read; did you mean {near!r}? columns.{near} ="
        f" {column!r} reads it"
    )


@pytest.mark.parametrize(
    ("header", "source"),
    [
        ("item,text,reference,specialty,difficulty", {}),
        ("item,text,Referense", {"columns": {"reference": ("Referense",)}}),
        ("item,text,Referense", {"columns": {"reference": ()}}),
        ("item,text,Set", {"strata": ("Set",)}),
        ("item,text,Set,sets", {}),
    ],
)
def test_what_is_read_or_unlike_is_not(tmp_path: Path, header: str, source: dict[str, object]):
    assert told(tmp_path, header, records="items", **source) == []


def test_a_wide_tables_raters_are_no_misspelt_raters(tmp_path: Path):
    header = "item,system,criterion,rater_1,rater_2"
    assert told(tmp_path, header, records="ratings", raters={"rater_1": "a"}) == []
    assert len(told(tmp_path, "item,system,criterion,Raters,label", records="ratings")) == 1
