"""Ratings that stay columns from the table to the database are those that its rows state."""

from __future__ import annotations

import csv
import hashlib
import json
import sqlite3
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from konsil.api import open_folder
from konsil.errors import SourceError
from konsil.records import Source
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


def expected(rows: list[tuple[str, ...]], left_out: set[str]) -> set[tuple[object, ...]]:
    """The ratings of an admitted table, made one by one from its text."""
    ratings: dict[tuple[str, ...], tuple[object, ...]] = {}
    for row in rows:
        cell = {n: "" if n in left_out else v for n, v in zip(HEADER, row, strict=True)}
        abstains = cell["state"] == "abstained" or cell["label"] == "?"
        if not cell["label"] and not abstains:
            continue
        answers = [f"{cell['item']}:{cell['system']}"]
        screen = [cell["rater"], cell["item"], answers, cell["arm"], "", "", "main", None, ""]
        text = json.dumps(screen, ensure_ascii=False, separators=(",", ":"))
        task = f"t-{hashlib.blake2b(text.encode(), digest_size=8).hexdigest()}"
        rating = (
            task,
            json.dumps(answers, ensure_ascii=False),
            "abstained" if abstains else "rated",
            None if abstains else cell["label"].removesuffix(".0"),
            cell["note"],
            float(cell["seconds"]) if cell["seconds"] else None,
            cell["at"].replace("T10:00:00+02:00", "T08:00:00Z"),
        )
        key = (cell["rater"], cell["item"], cell["criterion"])
        ratings.setdefault((*key, cell["system"], cell["arm"]), (*key, *rating))
    return {*ratings.values()}


NAMES = "rater, item, criterion, task, answers, state, label, note, seconds, at"


@pytest.mark.slow
@settings(
    deadline=None,
    max_examples=40,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(rows=TABLES, left_out=LEFT_OUT)
def test_a_table_in_parts_is_the_ratings_of_its_rows(
    tmp_path: Path, rows: list[tuple[str, ...]], left_out: set[str]
) -> None:
    folder = study(tmp_path / "study")
    write(folder / "ratings.csv", rows, left_out)
    whole = stored(folder)
    if not isinstance(whole, str):
        with sqlite3.connect(folder / "konsil.db") as connection:
            ratings = connection.execute(f"SELECT {NAMES} FROM ratings").fetchall()
        assert {*ratings} == expected(rows, left_out)
        assert len(ratings) == len({*ratings})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(record_writer, "_MANY", 1)
        patch.setattr("konsil.sources.tables.ratings._CHUNK", 2)
        patch.setattr("konsil.store.engine.bulk.column_rows.CHUNK", 2)
        assert stored(folder) == whole


PLAIN = [
    ("ann", "q1", "x", "correct", "yes", "12", "", "", "", ""),
    ("ann", "q1", "y", "correct", "?", "0.25", "größe", "", "", ""),
    ("Zoë", "q2", "x", "safe", "größer", "", "", "2024-05-01T10:00:00+02:00", "", ""),
]


@pytest.mark.parametrize("change", [{}, {"label": ""}, {"item": "q2"}])
def test_no_record_is_made_of_a_rating(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: dict[str, str]
) -> None:
    monkeypatch.setattr("konsil.sources.tables.ratings._CHUNK", 2)
    monkeypatch.setattr("konsil.store.engine.bulk.column_rows.CHUNK", 2)
    folder = study(tmp_path / "study")
    row = dict(zip(HEADER, PLAIN[0], strict=True)) | change
    write(folder / "ratings.csv", [*PLAIN, tuple(row.values())], set())
    monkeypatch.setattr(record_writer, "_MANY", 1)
    monkeypatch.setattr(record_writer.RecordWriter, "_chunk", _only_small)
    monkeypatch.setattr("konsil.records.bulk.Rating", None)
    tables = stored(folder)
    assert isinstance(tables, dict)
    assert len(tables["ratings"]) == 3 + (change.keys() == {"item"})


_chunk = record_writer.RecordWriter._chunk


def _only_small(writer: object, kind: object, *rest: object) -> int:
    assert getattr(kind, "name", "") not in ("ratings", "tasks")
    return _chunk(writer, kind, *rest)  # type: ignore[arg-type]


def test_a_fault_in_a_later_part_has_its_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("konsil.sources.tables.ratings._CHUNK", 2)
    folder = study(tmp_path / "study")
    row = dict(zip(HEADER, PLAIN[2], strict=True))
    wrong = [{**row, "seconds": "x"}, {**row, "label": "no"}]
    write(folder / "ratings.csv", [*PLAIN, *(tuple(r.values()) for r in wrong)], set())
    text = stored(folder)
    assert isinstance(text, str)
    assert "line 5: seconds: 'x'" in text
    assert "line 6: label: rater 'Zoë'" in text and "on line 4" in text


def test_the_same_file_again_changes_nothing(tmp_path: Path) -> None:
    folder = study(tmp_path / "study")
    write(folder / "ratings.csv", PLAIN, set())
    before = stored(folder)
    added = open_folder(folder).import_sources((Source("ratings.csv", "ratings"),))
    assert added.total_new() == 0
    with sqlite3.connect(folder / "konsil.db") as connection:
        assert connection.execute("SELECT * FROM ratings").fetchall() == before["ratings"]  # type: ignore[index, call-overload]
