"""Ratings that stay columns from the table to the database are those that records give."""

from __future__ import annotations

import csv
import sqlite3
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

import konsil.api.folder.importing as importing
from konsil.api import open_folder
from konsil.errors import SourceError
from konsil.records import Source
from konsil.sources.files.table import read_table
from konsil.sources.tables.rating_cells import rating_cells
from konsil.store.log import record_writer

PROTOCOL = """
schema = 1
title = "Columns"
seed = 1
systems = [{ id = "x" }, { id = "y" }]
raters = [{ id = "ann", panel = "p" }, { id = "Zoë", panel = "p" }]

[[instruments]]
id = "form"
codebook = "codebook.en.md"
criteria = [
    { id = "correct", question = "Correct?", scale = { labels = ["no", "yes"], abstain = "?" } },
    { id = "score", question = "How good?", scale = { labels = ["1", "2"] } },
]

[[instruments]]
id = "second"
codebook = "codebook.en.md"
criteria = [{ id = "safe", question = "Safe?", scale = { labels = ["no", "größer"] } }]
"""
HEADER = ("rater", "item", "system", "criterion", "label", "seconds", "note", "at", "arm", "state")
WORDS = {
    "rater": ("ann", "Zoë", "bob"),
    "item": ("q1", "q2", 'q"3', "ü\\4", ""),
    "system": ("x", "y", "z"),
    "criterion": ("correct", "safe", "score", "other"),
    "label": ("no", "yes", "?", "größer", "1.0", "2", "maybe", ""),
    "seconds": ("", "12", "0.25", "-0.0", "1e300", "x"),
    "note": ("", "fine", 'say "so"', "back\\slash", "tab\there", "größe 😀"),
    "at": ("", "2024-05-01T10:00:00+02:00", "2024-05-01", "noon"),
    "arm": ("", "a", "b"),
    "state": ("", "rated", "abstained"),
}
USUAL = {
    **{name: words[:2] for name, words in WORDS.items()},
    "criterion": ("correct",),
    "label": ("no", "yes", "?"),
    "seconds": WORDS["seconds"][:5],
    "note": WORDS["note"][:1],
    "arm": WORDS["arm"],
    "at": WORDS["at"][:3],
    "state": ("",),
}


def subject(row: tuple[str, ...]) -> tuple[str, ...]:
    return (*row[:4], row[8])


def rows_of(words: dict[str, tuple[str, ...]]) -> st.SearchStrategy[list[tuple[str, ...]]]:
    cells = st.tuples(*(st.sampled_from(words[name]) for name in HEADER))
    return st.lists(cells, min_size=1, max_size=8, unique_by=subject)


TABLES = st.one_of(
    rows_of(USUAL),
    rows_of(USUAL | {"note": WORDS["note"], "criterion": ("correct", "safe"), "label": ("no",)}),
    rows_of(USUAL | {"criterion": ("correct", "score"), "label": ("1.0", "2", "no")}),
    rows_of(WORDS),
)
LEFT_OUT = st.sets(st.sampled_from(HEADER[5:]))


def study(folder: Path) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "study.toml").write_text(PROTOCOL, "utf-8")
    (folder / "codebook.en.md").write_text("A codebook.\n", "utf-8")
    return folder


def write(path: Path, rows: Sequence[Sequence[str]], left_out: set[str]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file)
        names = [name for name in HEADER if name not in left_out]
        table.writerow(names)
        table.writerows([row[HEADER.index(name)] for name in names] for row in rows)


def stored(folder: Path) -> dict[str, list[tuple[object, ...]]] | str:
    """Every row of the imported file, or what is wrong with it."""
    for path in folder.glob("konsil.db*"):
        path.unlink()
    opened = open_folder(folder)
    try:
        opened.import_sources((Source("ratings.csv", "ratings"),))
    except SourceError as error:
        return str(error)
    with opened.store() as store:
        assert store.verify_log() == ()
    with sqlite3.connect(folder / "konsil.db") as connection:
        return {
            name: connection.execute(f"SELECT * FROM {name}").fetchall()
            for name in ("items", "answers", "raters", "tasks", "ratings")
        }


@pytest.mark.slow
@settings(
    deadline=None,
    max_examples=40,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(rows=TABLES, left_out=LEFT_OUT)
def test_columns_and_records_are_the_same_rows(
    tmp_path: Path, rows: list[tuple[str, ...]], left_out: set[str]
) -> None:
    folder = study(tmp_path / "study")
    write(folder / "ratings.csv", rows, left_out)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(record_writer, "_MANY", 1)
        as_columns = stored(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(importing, "rating_cells", lambda *_: None)
        assert stored(folder) == as_columns


PLAIN = [
    ("ann", "q1", "x", "correct", "yes", "12", "", "", "", ""),
    ("ann", "q1", "y", "correct", "?", "0.25", "größe", "", "", ""),
    ("Zoë", "q2", "x", "safe", "größer", "", "", "2024-05-01T10:00:00+02:00", "", ""),
]


def test_a_plain_table_is_read_as_columns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No record is made of any rating, from several parts of a table."""
    monkeypatch.setattr("konsil.sources.tables.rating_cells._CHUNK", 2)
    monkeypatch.setattr("konsil.store.engine.bulk.column_rows.CHUNK", 2)
    folder = study(tmp_path / "study")
    write(folder / "ratings.csv", PLAIN, set())
    expected = stored(folder)
    monkeypatch.setattr(importing, "_tabular", None)
    monkeypatch.setattr(record_writer, "_MANY", 1)
    monkeypatch.setattr(record_writer.RecordWriter, "_chunk", _only_small)
    assert stored(folder) == expected
    assert isinstance(expected, dict) and len(expected["ratings"]) == 3


_chunk = record_writer.RecordWriter._chunk


def _only_small(writer: object, kind: object, *rest: object) -> int:
    assert getattr(kind, "name", "") not in ("ratings", "tasks")
    return _chunk(writer, kind, *rest)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"label": ""}, "not rated"),
        ({"seconds": "x"}, "not a number"),
        ({"item": 'q"1'}, "an identifier that JSON escapes"),
        ({"item": ""}, "no item"),
    ],
)
def test_other_tables_are_read_as_records(
    tmp_path: Path, change: dict[str, str], reason: str
) -> None:
    row = dict(zip(HEADER, PLAIN[0], strict=True)) | change
    write(tmp_path / "ratings.csv", [[row[name] for name in HEADER]], set())
    table = read_table(tmp_path / "ratings.csv")
    assert rating_cells(table, Source("ratings.csv", "ratings")) is None, reason


def test_a_repeated_row_is_read_as_a_record(tmp_path: Path) -> None:
    write(tmp_path / "ratings.csv", [PLAIN[0], PLAIN[0]], set())
    table = read_table(tmp_path / "ratings.csv")
    assert rating_cells(table, Source("ratings.csv", "ratings")) is None


def test_the_same_file_again_changes_nothing(tmp_path: Path) -> None:
    folder = study(tmp_path / "study")
    write(folder / "ratings.csv", PLAIN, set())
    before = stored(folder)
    added = open_folder(folder).import_sources((Source("ratings.csv", "ratings"),))
    assert added.total_new() == 0
    with sqlite3.connect(folder / "konsil.db") as connection:
        assert connection.execute("SELECT * FROM ratings").fetchall() == before["ratings"]  # type: ignore[index, call-overload]
