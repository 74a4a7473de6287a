"""The digest of the records."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from konsil.analysis.table import columns as table_columns
from konsil.analysis.table.columns import Columns, json_of_columns
from konsil.records import Answer, Citation, Item, Rater, Rating, Span
from konsil.report.material.digest import records_digest
from konsil.store import Batch, Store

ITEMS = (
    Item("i1", "Which drug?", None, ("a",), "c", ("core",), {"level": "easy"}),
    Item("i2", "Dose?"),
)
ANSWERS = (Answer("a1", "i1", "s1", "Metformin.", citations=(Citation("Guide", "https://x.org"),)),)
RATINGS = (
    Rating("t1", "R1", "accuracy", "i1", ("a1",), label="4", seconds=12.25),
    Rating("t1", "R1", "accuracy", "i1", ("a1",), Span(0, 4), label="„4“"),
    Rating("t1", "R1", "preference", "i1", ("a1", "a2"), label="-2", confidence=0.1),
    Rating("t2", "R1", "ease", None, state="abstained"),
)


@given(st.permutations(RATINGS))
def test_the_order_of_the_records_changes_nothing(ratings: list[Rating]) -> None:
    assert records_digest((ITEMS[::-1], ANSWERS, ratings)) == records_digest(
        (ITEMS, ANSWERS, RATINGS)
    )


def test_every_change_changes_it() -> None:
    changed = [
        replace(RATINGS[0], label="5"),
        replace(RATINGS[0], note="x"),
        replace(RATINGS[0], seconds=None),
    ]
    digests = {
        records_digest((ITEMS, ANSWERS, (one, *RATINGS[1:]))) for one in (RATINGS[0], *changed)
    }
    assert len(digests) == 4
    assert records_digest((ITEMS[:1],)) != records_digest((ITEMS,)) != records_digest(((), ITEMS))


def test_records_in_columns_have_the_digest_of_the_records(tmp_path: Path) -> None:
    with Store.open(tmp_path) as store:
        store.add(
            Batch(ITEMS, ANSWERS, (Rater("R1", "doctors"),), ratings=RATINGS),
            source="x",
            at="2025-03-01T12:00:00Z",
        )
        with store.view() as view:
            assert records_digest((view.columns("ratings"),)) == records_digest((RATINGS,))


@pytest.mark.parametrize("texts", [pl.String, pl.Categorical])
def test_columns_are_written_as_a_json_library_writes_them(
    monkeypatch: pytest.MonkeyPatch, texts: type[pl.String] | type[pl.Categorical]
) -> None:
    monkeypatch.setattr(table_columns, "_CHUNK", 2)
    values: dict[str, list[object]] = {
        "id": ["e", "d", "c", "b", "a"],
        "quotes": ['["x"]', 'a"b', "c\\d", None, "größe"],
        "control": ["a\nb", "\x7f", "\x00", '"', ""],
        "same": ['"'] * 5,
        "none": [None] * 5,
        "number": [0.0, -0.0, None, 0.1, 1e300],
        "zero": [0.0, -0.0, 0.0, -0.0, 0.0],
        "whole": [3, 1, None, 2, 5],
        "twos": [2] * 5,
        "nearly": ["x"] * 4 + [None],
    }
    frame = pl.DataFrame(values, schema_overrides={"none": pl.String})
    frame = frame.with_columns(pl.col(pl.String).cast(texts))
    written = json_of_columns(Columns[object](frame, lambda rows: rows.rows()), ["id"])
    assert {name: f"[{','.join(parts)}]" for name, parts in written} == {
        name: json.dumps(cells[::-1], ensure_ascii=False, separators=(",", ":"))
        for name, cells in values.items()
    }


def test_a_column_with_one_value_changes_no_order() -> None:
    frame = pl.DataFrame({"one": ["x"] * 3, "id": ["b", "c", "a"], "n": [1, 2, 3]})
    for order in (["one", "id"], ["id", "one"], ["id"]):
        written = json_of_columns(Columns[object](frame, lambda rows: rows.rows()), order)
        assert {name: "".join(parts) for name, parts in written}["n"] == "3,1,2"
    one = json_of_columns(Columns[object](frame[:1], lambda rows: rows.rows()), ["one"])
    assert {name: list(parts) for name, parts in one} == {"one": ['"x"'], "id": ['"b"'], "n": ["1"]}
