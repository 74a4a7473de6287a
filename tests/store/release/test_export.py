"""Whatever records there are, files and databases give them back equal."""

from __future__ import annotations

import csv
import json
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from konsil.errors import StoreError
from konsil.records import Answer, Attempt, Citation, Event, Item, Rater, Rating, Span, Task
from konsil.records.nouns import Outcome, Purpose, RaterKind
from konsil.store import Batch, Store
from konsil.store.engine import frames
from konsil.store.engine.rows import KINDS
from konsil.store.release.export import Format, export, read_export

AT = "2025-03-01T12:00:00Z"
FORMATS = get_args(Format)

# What trips up tables: quotes, separators, line ends, formulas, apostrophes, nothing, words for
# nothing.
nasty = st.sampled_from(
    [
        "",
        " ",
        '"',
        '""',
        "'",
        "''=1",
        "'=1",
        "=1+1",
        "+49",
        "-1",
        "-1+1",
        "@SUM(A1)",
        "\t",
        "\r",
        "\n",
        "\r\n",
        "a\r\nb",
        "a,b",
        "null",
        "None",
        "NaN",
        "[]",
        "{}",
        "\ufeffx",
        "\u2028",
        "é😀",
        "＝1",
        "\\",
        '\\"',
        "end\r",
        "0x1",
        "1e5",
        "#",
    ]
)
texts = st.one_of(
    nasty, st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20)
)
numbers = st.none() | st.floats(allow_nan=False, allow_infinity=False)
tuples = st.lists(texts, max_size=3).map(tuple)
spans = st.builds(Span, st.integers(0, 10**6), st.integers(0, 10**6))
words = st.dictionaries(texts, texts, max_size=3)
data = st.dictionaries(
    texts,
    st.recursive(
        st.none()
        | st.booleans()
        | st.integers(-(2**63), 2**63)
        | st.floats(allow_nan=False, allow_infinity=False)
        | texts,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
        max_leaves=5,
    ),
    max_size=3,
)
optional = st.none() | texts


def by_id(strategy: st.SearchStrategy) -> st.SearchStrategy:
    return st.lists(strategy, max_size=4, unique_by=lambda r: r.id).map(
        lambda found: tuple(sorted(found, key=lambda r: r.id))
    )


@st.composite
def ratings(draw: st.DrawFn) -> Rating:
    abstained = draw(st.booleans())
    return Rating(
        draw(texts),
        draw(texts),
        draw(texts),
        draw(optional),
        draw(tuples),
        draw(st.none() | spans),
        "abstained" if abstained else "rated",
        None if abstained else draw(texts),
        draw(texts),
        draw(numbers),
        draw(numbers),
        draw(texts),
        draw(texts),
    )


def identity(r: Rating) -> tuple:
    return (
        r.task,
        r.criterion,
        r.answers,
        r.span is not None,
        (r.span.start, r.span.end) if r.span else (),
    )


batches = st.builds(
    Batch,
    items=by_id(st.builds(Item, texts, texts, optional, tuples, optional, tuples, words)),
    answers=by_id(
        st.builds(
            Answer,
            texts,
            texts,
            texts,
            texts,
            texts,
            st.lists(st.builds(Citation, texts, texts), max_size=2).map(tuple),
            st.lists(spans, max_size=2).map(tuple),
        )
    ),
    raters=by_id(
        st.builds(Rater, texts, texts, st.sampled_from(get_args(RaterKind)), texts, words)
    ),
    tasks=by_id(
        st.builds(
            Task,
            texts,
            texts,
            texts,
            texts,
            optional,
            tuples,
            st.lists(spans, max_size=2).map(tuple),
            texts,
            texts,
            texts,
            st.integers(-(2**63), 2**63 - 1),
            st.sampled_from(get_args(Purpose)),
            optional,
        )
    ),
    ratings=st.lists(ratings(), max_size=5, unique_by=identity).map(
        lambda f: tuple(sorted(f, key=identity))
    ),
    attempts=by_id(
        st.builds(Attempt, texts, texts, texts, st.sampled_from(get_args(Outcome)), texts, texts)
    ),
    events=by_id(st.builds(Event, texts, texts, texts, texts, data)),
)


@pytest.mark.slow
@settings(max_examples=10, deadline=None)
@given(batch=batches)
def test_database_and_files_give_back_what_they_got(batch: Batch) -> None:
    _round_trip(batch)


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(batch=batches)
def test_they_do_so_for_many_records(batch: Batch) -> None:
    _round_trip(batch)


def _round_trip(batch: Batch) -> None:
    with tempfile.TemporaryDirectory() as folder, Store.open(folder) as store:
        store.add(batch, source="x", at=AT)
        assert store.batch() == batch
        assert store.add(batch, source="x", at=AT).total_new() == 0
        assert store.verify_log() == ()
        for kind in FORMATS:
            export(store, Path(folder) / kind, kind)
            assert read_export(Path(folder) / kind) == batch, kind


@pytest.mark.slow
@settings(
    max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(batch=batches)
def test_postgresql_gives_back_what_it_got(batch: Batch, server: str) -> None:
    from sqlalchemy import text

    with Store.open(f"{server}/postgres") as store:
        with store.engine.connect() as connection:
            others = ["rating_revisions", "task_revisions", "imports", "audit_log", "people"]
            names = ", ".join([*KINDS, *others])
            connection.execute(text(f"TRUNCATE {names}"))
            connection.execute(
                text(
                    "UPDATE meta SET value = '[0,\"' || repeat('0', 64) || '\"]' WHERE key ="
                    " 'audit_head'"
                )
            )
            connection.commit()
        store.add(batch, source="x", at=AT)
        assert store.batch() == batch
        assert store.add(batch, source="x", at=AT).total_new() == 0
        assert store.verify_log() == ()


@pytest.mark.slow
@settings(max_examples=200, deadline=None)
@given(cells=st.lists(st.none() | texts, min_size=1, max_size=20))
def test_no_cell_is_a_formula(cells: list[str | None]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.csv"
        frames.write_csv(
            path, [pl.DataFrame({"a": cells, "b": cells}, schema={"a": pl.String, "b": pl.String})]
        )
        assert frames.read_csv(path)["a"].to_list() == cells
        with path.open(encoding="utf-8", newline="") as file:
            written = list(csv.reader(file))[1:]
    for row in written:
        for cell in row:
            assert not re.match(r"[=@\t\r\n]", cell)
            assert not re.match(r"[+-](?!\d+(\.\d+)?\Z)", cell)


@pytest.mark.parametrize("kind", FORMATS)
def test_the_same_records_give_the_same_bytes(filled: Store, tmp_path: Path, kind: Format) -> None:
    one, two = export(filled, tmp_path / "one", kind), export(filled, tmp_path / "two", kind)
    for path in one.iterdir():
        assert path.read_bytes() == (two / path.name).read_bytes(), path.name
    about = json.loads((one / "export.json").read_text())
    assert {n.split(".")[0]: f["records"] for n, f in about["files"].items()} == filled.counts()


def test_an_export_into_another_database_is_equal(filled: Store, tmp_path: Path) -> None:
    batch = read_export(export(filled, tmp_path / "out", "csv"))
    with Store.open(tmp_path / "copy.db") as copy:
        copy.add(batch, source="out", at=AT)
        assert copy.batch() == filled.batch()


def test_a_folder_with_something_in_it_is_left_alone(filled: Store, tmp_path: Path) -> None:
    full = tmp_path / "full"
    full.mkdir()
    (full / "thesis.txt").write_text("mine")
    for overwrite in (False, True):
        with pytest.raises(
            StoreError, match=r"is not empty|contains files that konsil did not write"
        ):
            export(filled, full, "csv", overwrite=overwrite)
    assert [p.name for p in full.iterdir()] == ["thesis.txt"]
    (tmp_path / "file").write_text("x")
    with pytest.raises(StoreError, match="is a file"):
        export(filled, tmp_path / "file", "csv")
    export(filled, tmp_path / "out", "csv")
    with pytest.raises(StoreError, match="is not empty"):
        export(filled, tmp_path / "out", "jsonl")
    export(filled, tmp_path / "out", "jsonl", overwrite=True)
    assert read_export(tmp_path / "out") == filled.batch()
    assert not list((tmp_path / "out").glob("*.csv"))
    (tmp_path / "empty").mkdir()
    export(filled, tmp_path / "empty", "csv")
    assert _leftovers(tmp_path) == []


def test_a_failed_export_leaves_nothing(
    filled: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full_disk(*_: object) -> Iterator[object]:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("konsil.store.engine.frames.write_csv", full_disk)
    with pytest.raises(StoreError, match="No space left on device"):
        export(filled, tmp_path / "out", "csv")
    assert not (tmp_path / "out").exists()
    assert _leftovers(tmp_path) == []


def test_what_is_no_export_is_said_so(filled: Store, tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"there is no export\.json"):
        read_export(tmp_path)
    with pytest.raises(StoreError, match="did you mean 'csv'"):
        export(filled, tmp_path / "out", "cvs")  # type: ignore[arg-type]
    out = export(filled, tmp_path / "out", "jsonl")
    lines = (out / "items.jsonl").read_text().splitlines()
    (out / "items.jsonl").write_text("\n".join([lines[0], lines[1][:-5]]))
    with pytest.raises(StoreError, match=r"items\.jsonl: line 2 cannot be read"):
        read_export(out)
    (out / "items.jsonl").unlink()
    with pytest.raises(StoreError, match=r"items\.jsonl: is missing"):
        read_export(out)
    about = json.loads((out / "export.json").read_text())
    (out / "export.json").write_text(json.dumps({**about, "schema": 99}))
    with pytest.raises(StoreError, match="newer konsil"):
        read_export(out)


def test_a_spreadsheet_that_drops_quotes_costs_no_required_text(
    filled: Store, tmp_path: Path
) -> None:
    """Saved again by a program that writes an empty text as an empty cell."""
    out = export(filled, tmp_path / "out", "csv")
    for path in out.glob("*.csv"):
        with path.open(encoding="utf-8", newline="") as file:
            rows = list(csv.reader(file))
        with path.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows(rows)
    again = read_export(out)
    assert (again.raters, again.tasks, again.attempts) == (
        filled.raters(),
        filled.tasks(),
        filled.attempts(),
    )


def _leftovers(folder: Path) -> list[str]:
    return [p.name for p in folder.iterdir() if p.name.endswith((".partial", ".old"))]


def test_a_cell_that_is_no_list_is_a_fault_of_the_file_and_not_of_the_database() -> None:
    frame = pl.DataFrame({name: ["{[" if name == "sets" else "x"] for name in KINDS["items"].names})
    with pytest.raises(
        StoreError,
        match=r"items\.csv: record 1 cannot be read: expected a list or table in JSON, got",
    ):
        list(frames.records(KINDS["items"], frame, "items.csv"))


def test_headers_and_lines_that_are_read_back_are_bounded(
    filled: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(frames, "_LONGEST_HEADER", 100)
    monkeypatch.setattr(frames, "_LONGEST_LINE", 100)
    export(filled, tmp_path / "csv", "csv")
    (tmp_path / "csv" / "items.csv").write_text("," * 100 + "\n")
    with pytest.raises(StoreError, match=r"items\.csv: has a header of more than 100 bytes"):
        read_export(tmp_path / "csv")
    export(filled, tmp_path / "jsonl", "jsonl")
    (tmp_path / "jsonl" / "items.jsonl").write_text("[" * 101)
    with pytest.raises(StoreError, match=r"items\.jsonl: line 1 has more than 100 characters"):
        read_export(tmp_path / "jsonl")
