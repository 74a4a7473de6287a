"""An export is read back whole or not at all: its files are those that were written, and conform to
the protocol."""

from __future__ import annotations

import csv
import hashlib
import json
import sqlite3
from collections.abc import Callable
from pathlib import Path

import openpyxl
import polars as pl
import pytest

from konsil.api import open_folder
from konsil.records import Call
from konsil.store.calls.calls import Calls
from small_studies import exit_code, import_ratings

STUDY = """title = "Back"
seed = 1
[[instruments]]
id = "f"
[[instruments.criteria]]
id = "ok"
question = "Is it correct?"
scale = { labels = ["Incorrect", "Correct"] }
[[systems]]
id = "a"
[[raters]]
id = "r1"
panel = "p"
[[sources]]
file = "r.csv"
records = "ratings"
fixed = { criterion = "ok" }
"""
CALL = Call(
    work="w1",
    attempt=1,
    kind="judge",
    who="j",
    subject="t",
    key="k",
    endpoint="e",
    model="m",
    outcome="ok",
    ended=1,
    status=200,
    at="2025-03-01T12:00:00Z",
)


@pytest.fixture
def study(tmp_path: Path) -> Path:
    path = tmp_path / "study"
    path.mkdir()
    (path / "study.toml").write_text(STUDY)
    rows = [("rater", "item", "system", "label")]
    rows += [("r1", f"q{i}", "a", "Correct" if i % 3 else "Incorrect") for i in range(12)]
    opened = import_ratings(path, rows)
    with opened.store() as store:
        Calls(store).add([CALL])
    return path


@pytest.fixture
def exported(study: Path, tmp_path: Path) -> Path:
    return open_folder(study).export(tmp_path / "out", "csv")


@pytest.fixture
def other(tmp_path: Path) -> Path:
    path = tmp_path / "other"
    path.mkdir()
    (path / "study.toml").write_text(STUDY)
    return path


def change(file: Path, before: str, after: str) -> None:
    text = file.read_text()
    assert before in text
    file.write_text(text.replace(before, after))


def sealed(folder: Path) -> None:
    """As somebody does who edits export.json, too."""
    about = json.loads((folder / "export.json").read_text())
    for name, entry in about["files"].items():
        entry["sha256"] = hashlib.sha256((folder / name).read_bytes()).hexdigest()
        with (folder / name).open(newline="") as file:
            entry["records"] = sum(1 for _ in csv.reader(file)) - 1
    (folder / "export.json").write_text(json.dumps(about))


def seal(edit: Callable[[Path], object]) -> Callable[[Path], None]:
    def both(folder: Path) -> None:
        edit(folder)
        sealed(folder)

    return both


def described(**values: object) -> Callable[[Path], None]:
    def edit(folder: Path) -> None:
        about = json.loads((folder / "export.json").read_text())
        (folder / "export.json").write_text(json.dumps({**about, **values}))

    return edit


def cut(folder: Path) -> None:
    lines = (folder / "ratings.csv").read_text().splitlines(keepends=True)
    (folder / "ratings.csv").write_text("".join(lines[:6]))


def deep(folder: Path) -> None:
    with (folder / "items.csv").open(newline="") as file:
        rows = list(csv.reader(file))
    rows[1][rows[0].index("aliases")] = "[" * 100_000
    with (folder / "items.csv").open("w", newline="") as file:
        csv.writer(file).writerows(rows)


EDITS: dict[str, tuple[Callable[[Path], object], str]] = {
    "labels replaced": (
        lambda f: change(f / "ratings.csv", "Incorrect", "Correct"),
        "is not the exported file of 12 records",
    ),
    "cut short": (cut, "is not the exported file of 12 records"),
    "a label of no scale": (
        seal(lambda f: change(f / "ratings.csv", "Incorrect", "Banana")),
        "criterion 'ok' has no label 'Banana'",
    ),
    "nobody": (
        seal(
            lambda f: [
                change(f / n, "r1", "nobody-9") for n in ("ratings.csv", "raters.csv", "tasks.csv")
            ]
        ),
        "there is no rater 'nobody-9', who gave 12 ratings",
    ),
    "a rater of no record": (
        seal(lambda f: change(f / "raters.csv", "r1", "r2")),
        "there is no rater 'r1'; ",
    ),
    "fewer records than it says": (
        described(files={"items.csv": {"records": 12, "sha256": "x"}}),
        "does not list answers.csv",
    ),
    "schema -1": (described(schema=-1), "schema: expected a whole number from 1 to"),
    "schema true": (described(schema=True), "schema: expected a whole number from 1 to"),
    "another study": (
        described(study="0" * 64),
        "belongs to a study with a different protocol (checksum 0000000000000000",
    ),
    "1e400": (
        lambda f: change(f / "export.json", '"schema": ', '"schema": 1e400, "was": '),
        "expected a whole",
    ),
    "nested description": (
        lambda f: (f / "export.json").write_text("[" * 100_000),
        "cannot be read as the description of an export",
    ),
    "nested brackets": (seal(deep), "items.csv: record 1 cannot be read"),
    "a file that is missing": (
        lambda f: (f / "calls.csv").unlink(),
        "calls.csv: is missing from the export",
    ),
    "a file too many": (
        lambda f: described(
            files={
                k: v
                for k, v in json.loads((f / "export.json").read_text())["files"].items()
                if k != "calls.csv"
            }
        )(f),
        "calls.csv: was not exported with the others",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", EDITS)
def test_an_export_that_was_changed_is_refused_in_one_sentence_and_nothing_is_stored(
    exported: Path, other: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    edit, sentence = EDITS[name]
    edit(exported)
    assert exit_code("import", other, "--export", exported) == 2
    message = capsys.readouterr().err
    assert sentence in message
    assert len(message.splitlines()) == 1
    assert len(message) < 2_000
    if (other / "konsil.db").exists():
        with open_folder(other).store() as store:
            assert sum(store.counts().values()) == 0
            assert store.study_digest() == ""


def test_row_counts_are_checked_beside_the_digests(
    exported: Path, other: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    about = json.loads((exported / "export.json").read_text())
    about["files"]["ratings.csv"]["records"] = 13
    (exported / "export.json").write_text(json.dumps(about))
    assert exit_code("import", other, "--export", exported) == 2
    assert "lists 13 records of ratings.csv, which has 12" in capsys.readouterr().err


@pytest.mark.slow
def test_records_and_calls_are_written_together_or_not_at_all(
    exported: Path, other: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object) -> int:
        raise RuntimeError("the power went")

    monkeypatch.setattr(Calls, "append_new", fails)
    with pytest.raises(RuntimeError):
        open_folder(other).import_export(exported)
    monkeypatch.undo()
    with open_folder(other).store() as store:
        assert sum(store.counts().values()) == 0
        assert store.verify_log() == ()
        assert store.study_digest() == ""
    open_folder(other).import_export(exported)
    with open_folder(other).store() as store:
        assert list(Calls(store).each()) == [CALL]
        assert store.verify_log() == ()


def test_an_export_comes_back_into_a_study_that_changed_since(study: Path, exported: Path) -> None:
    """What its log knows is its own: the export was made before an analysis was added."""
    more = (
        '[[analyses]]\nname = "n"\nstatistic = "share"\nof = ["Correct"]\ncriterion = "ok"\nraters'
        ' = "p"\n'
    )
    (study / "study.toml").write_text(STUDY + more)
    assert open_folder(study).import_export(exported).total_new() == 0


def test_a_label_that_was_stored_otherwise_is_a_conflict(
    study: Path, exported: Path, other: Path
) -> None:
    open_folder(other).import_export(exported)
    base = sqlite3.connect(study / "konsil.db")
    assert base.execute("select count(*) from ratings").fetchone() == (12,)
    base.close()
    change(exported / "ratings.csv", "Incorrect", "Correct")
    sealed(exported)
    assert exit_code("import", other, "--export", exported) == 2


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["csv", "parquet", "xlsx"])
@pytest.mark.parametrize("wide", [False, True])
def test_a_table_in_which_nobody_has_rated_yet_has_nothing_to_import(
    tmp_path: Path, ending: str, wide: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = {"item": [f"q{i}" for i in range(6)], "system": ["a"] * 6}
    rows |= {"r1": [""] * 6, "r2": [""] * 6} if wide else {"rater": ["r1"] * 6, "label": [""] * 6}
    frame = pl.DataFrame(rows)
    file = tmp_path / f"r.{ending}"
    if ending == "csv":
        frame.write_csv(file)
    elif ending == "parquet":
        frame.write_parquet(file)
    else:
        _sheet(frame, file)
    columns = 'raters = { r1 = "r1", r2 = "r2" }\n' if wide else ""
    (tmp_path / "study.toml").write_text(
        STUDY.replace('"r.csv"', f'"{file.name}"').replace(
            "[[sources]]", '[[raters]]\nid = "r2"\npanel = "p"\n[[sources]]'
        )
        + columns
    )
    assert exit_code("import", tmp_path) == 0
    printed = capsys.readouterr()
    assert "new: nothing" in printed.out
    assert f": {12 if wide else 6} cells are empty, nothing to import\n" in printed.out
    assert printed.err == ""


def _sheet(frame: pl.DataFrame, file: Path) -> None:
    book = openpyxl.Workbook()
    page = book.worksheets[0]
    page.append(frame.columns)
    for row in frame.iter_rows():
        page.append([cell or None for cell in row])
    book.save(file)
