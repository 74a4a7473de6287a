"""A structure-aware fuzzer of everything that reads files: valid ones are made, changed in
structure, and read.

    python benchmarks/fuzz.py --seconds 60
    python benchmarks/fuzz.py --each 2000 --markdown

Each input is made from a seed and a number, so that `--reader csv --first 1234 --each 1` makes one
of them again. An input is read, or refused by a KonsilError; anything else is a traceback, and the
exit code is 1."""

from __future__ import annotations

import argparse
import contextlib
import copy
import dataclasses
import io
import json
import random
import sqlite3
import sys
import tempfile
import time
import unittest.mock
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import openpyxl
import polars as pl

from konsil.api import Folder, open_folder
from konsil.api.rehearsal.rehearsal import truth_of
from konsil.errors import KonsilError, SourceError
from konsil.records import Source
from konsil.sources import (
    Table,
    read_answers,
    read_items,
    read_labelstudio,
    read_ratings,
    read_table,
)
from konsil.sources.anki import read_anki
from konsil.sources.files.parquet import check_parquet, read_parquet
from konsil.sources.files.spreadsheet import check_spreadsheet, read_spreadsheet
from konsil.sources.inspect import inspect_contents
from konsil.sources.inspect.inspect_logs import read_inspect_log
from konsil.study import parse
from konsil.web.kit.kit_answers import _opened as open_kit_answers

sys.path.append(str(Path(__file__).resolve().parent))
import fuzz_web

HEAD = ["rater", "item", "system", "criterion", "label", "seconds"]
ROWS = [
    [f"r{r}", f"i{i}", f"s{s}", "correct", "yes", 3.5]
    for r in range(2)
    for i in range(4)
    for s in range(2)
]
WORDS = (
    "",
    " ",
    "\0",
    "\x1b[2J",
    "\u202e",
    "\ud800",
    "\ufeff",
    "a\nb",
    '"',
    "'",
    ",",
    ";",
    "\t",
    "=1+1",
    "NaN",
    "1e999",
    "-0",
    "9" * 400,
    "x" * 70_000,
    "../../etc/passwd",
    "true",
    "null",
    "\U0001f600",
    "[[[[",
    "{}",
    "\\ud83d",
    "\r",
)
VALUES: tuple[Any, ...] = (
    None,
    True,
    -1,
    0,
    10**400,
    1.5,
    float("nan"),
    float("inf"),
    [],
    [[]],
    {},
    {"a": [{}]},
    *WORDS,
)
BYTES = (
    b"\0",
    b"\xff",
    b"\xef\xbb\xbf",
    b"\xed\xa0\x80",
    b'"',
    b"\n",
    b"\r",
    b"[",
    b"{",
    b"]]>",
    b"<!DOCTYPE x [",
    b"PK",
)


def grid(rng: random.Random) -> list[list[Any]]:
    """A table with changed cells, headers, rows and columns."""
    rows: list[list[Any]] = [list(HEAD), *(list(row) for row in ROWS)]
    for _ in range(rng.randrange(4)):
        row = rng.randrange(len(rows))
        kind = rng.randrange(6)
        if kind == 0 and rows[row]:
            rows[row][rng.randrange(len(rows[row]))] = copy.deepcopy(rng.choice(VALUES))
        elif kind == 1:
            rows[0][rng.randrange(len(rows[0]))] = rng.choice([*HEAD, *WORDS])
        elif kind == 2:
            rows[row] = rows[row][: rng.randrange(len(rows[row]) + 1)] or [""]
        elif kind == 3:
            rows[row] = [*rows[row], *rng.choices(WORDS, k=rng.choice((1, 2, 5_000)))]
        elif kind == 4:
            rows.insert(row, list(rng.choice(rows)))
        else:
            rows.insert(rng.randrange(1, len(rows) + 1), [""] * rng.randrange(8))
    return rows


def broken(rng: random.Random, data: bytes) -> bytes:
    """In a third of the inputs bytes are changed, left out, repeated or cut off."""
    if rng.random() > 0.34 or not data:
        return data
    at, length = rng.randrange(len(data)), rng.choice((1, 2, 16, 300))
    piece = rng.choice(
        [*BYTES, b"", bytes(rng.randrange(256) for _ in range(4)), data[at : at + length] * 3]
    )
    return data[:at] if rng.random() < 0.1 else data[:at] + piece + data[at + length :]


def nested(rng: random.Random, tree: Any, depth: int = 3) -> Any:
    """The same JSON with values replaced, keys taken away or doubled, parts put into one
    another."""
    tree = json.loads(json.dumps(tree))
    for _ in range(rng.randrange(depth + 1)):
        node = tree
        while isinstance(node, (dict, list)) and node:
            keys = list(node) if isinstance(node, dict) else list(range(len(node)))
            key = rng.choice(keys)
            if rng.random() < 0.35 or not isinstance(node[key], (dict, list)):
                node[key] = copy.deepcopy(
                    rng.choice([*VALUES, [node[key], node[key]], {"x": node[key]}])
                )
                break
            node = node[key]
    return tree


def as_json(rng: random.Random, tree: Any) -> bytes:
    """A text of it, now and then nested without end or in another encoding."""
    if rng.random() < 0.02:
        return b"[" * 200_000
    text = json.dumps(tree, ensure_ascii=rng.random() < 0.5)
    return text.encode(rng.choice(("utf-8", "utf-8", "utf-8", "utf-16", "cp1252")), "replace")


def objects(rng: random.Random) -> list[dict[str, Any]]:
    """A table's rows as objects, some changed."""
    head, *rows = grid(rng)
    return [dict(zip(map(str, head), row, strict=False)) for row in rows]


def make_csv(rng: random.Random) -> bytes:
    """A text table."""
    separator, end = rng.choice((",", ",", ";", "\t")), rng.choice(("\n", "\n", "\r\n", "\r"))
    quote = rng.random() < 0.5
    lines = (separator.join(_cell(cell, quote) for cell in row) for row in grid(rng))
    encoding = rng.choice(("utf-8", "utf-8", "utf-8-sig", "utf-16", "cp1252"))
    return broken(rng, end.join(lines).encode(encoding, "replace"))


def _cell(cell: Any, quote: bool) -> str:
    text = "" if cell is None else str(cell)[:80_000]
    return '"' + text.replace('"', '""') + '"' if quote else text


def make_jsonl(rng: random.Random) -> bytes:
    """JSON lines."""
    lines = "\n".join(
        json.dumps(nested(rng, row, 1) if rng.random() < 0.1 else row) for row in objects(rng)
    )
    return broken(rng, lines.encode(rng.choice(("utf-8", "utf-8", "utf-8", "utf-16"))))


def make_json(rng: random.Random) -> bytes:
    """A JSON list of objects."""
    return broken(rng, as_json(rng, nested(rng, objects(rng))))


def make_parquet(rng: random.Random) -> bytes:
    """A Parquet file of texts, numbers, lists or bytes."""
    head, *rows = grid(rng)
    names = [f"{name}"[:50].encode("utf-8", "replace").decode() for name in head]
    names = [name if name not in names[:n] else f"{name}{n}" for n, name in enumerate(names)]
    columns = {
        name: [
            str(row[n]).encode("utf-8", "replace").decode() if n < len(row) else None
            for row in rows
        ]
        for n, name in enumerate(names)
    }
    frame = pl.DataFrame(columns, schema=dict.fromkeys(columns, pl.String))
    if rng.random() < 0.3:
        kind = rng.choice(
            (
                pl.Series([[1, 2]] * frame.height),
                pl.Series([b"\0"] * frame.height),
                pl.Series([1e300]),
            )
        )
        frame = frame.with_columns(
            kind.head(1).extend_constant(None, frame.height - 1).alias("extra")
        )
    out = io.BytesIO()
    frame.write_parquet(out, compression=rng.choice(("zstd", "snappy", "uncompressed")))
    data = out.getvalue()
    return broken(rng, data[:4] + broken(rng, broken(rng, data[4:-4])) + data[-4:])


def make_xlsx(rng: random.Random) -> bytes:
    """A spreadsheet whose parts are changed inside the archive."""
    book = openpyxl.Workbook()
    for row in grid(rng):
        book.active.append([_printable(cell) for cell in row[:60]])
    plain = io.BytesIO()
    book.save(plain)
    return _repacked(rng, plain.getvalue())


def _printable(cell: Any) -> Any:
    if cell is None or isinstance(cell, (bool, int, float)):
        return (
            None
            if (isinstance(cell, float) and cell != cell)
            or (isinstance(cell, int) and abs(cell) > 10**15)
            else cell
        )
    return "".join(
        c for c in str(cell)[:30_000] if c.isprintable() and not "\ud800" <= c <= "\udfff"
    )


def _repacked(rng: random.Random, archive: bytes) -> bytes:
    out = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(archive)) as source,
        zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as target,
    ):
        for name in source.namelist():
            if rng.random() > 0.02:
                target.writestr(
                    name,
                    broken(rng, source.read(name)) if rng.random() < 0.3 else source.read(name),
                )
        if rng.random() < 0.05:
            target.writestr(
                rng.choice(("../x", "/x", "a\\..\\b", "xl/worksheets/sheet1.xml2")), b"x"
            )
    return broken(rng, out.getvalue()) if rng.random() < 0.3 else out.getvalue()


NOTES = {
    "__type__": "Deck",
    "name": "Medicine",
    "children": [],
    "media_files": ["a.png"],
    "note_models": [
        {
            "crowdanki_uuid": "u",
            "name": "Cloze",
            "type": 1,
            "flds": [{"name": "Text", "ord": 0}],
            "tmpls": [{"name": "Cloze", "qfmt": "{{cloze:Text}}", "ord": 0}],
        }
    ],
    "notes": [
        {
            "guid": f"n{n}",
            "note_model_uuid": "u",
            "tags": ["a"],
            "fields": [f"It is {{{{c1::item {n}}}}}."],
        }
        for n in range(3)
    ],
}
SCHEMAS = (
    "",
    "CREATE VIEW extra AS SELECT * FROM notes",
    "CREATE TRIGGER t AFTER INSERT ON notes BEGIN SELECT 1; END",
    "ALTER TABLE notes RENAME TO hidden; CREATE VIEW notes AS SELECT * FROM hidden",
    (
        "DROP TABLE notes; CREATE TABLE notes (id, guid, mid, tags, seed, flds AS (printf('%.*c',"
        " 90000000, 'x'))); INSERT INTO notes (id, guid, mid, tags) VALUES (1, 'g', 1, ''), (2,"
        " 'h', 1, '')"
    ),
    "DROP TABLE cards",
    "UPDATE notes SET flds = x'00ff'",
    "UPDATE col SET models = '[' ",
    "UPDATE notes SET mid = 'x'",
    "DROP TABLE notes; CREATE VIRTUAL TABLE notes USING fts5(id, guid, mid, tags, flds)",
)


def make_crowdanki(rng: random.Random) -> bytes:
    """A deck as CrowdAnki writes it."""
    return broken(rng, as_json(rng, nested(rng, NOTES)))


def make_apkg(rng: random.Random) -> bytes:
    """A package whose collection has a changed schema, changed rows or changed bytes."""
    model = {"1": {**NOTES["note_models"][0], "id": 1}}  # type: ignore[index]
    with contextlib.closing(sqlite3.connect(":memory:")) as base:
        base.executescript(
            "CREATE TABLE col (models, decks); CREATE TABLE notes (id INTEGER, guid, mid, tags,"
            " flds); CREATE TABLE cards (id, nid, did, odid, ord)"
        )
        base.execute(
            "INSERT INTO col VALUES (?, ?)",
            (as_text(rng, model), as_text(rng, {"1": {"name": "Deck"}})),
        )
        base.executemany(
            "INSERT INTO notes VALUES (?, ?, 1, ?, ?)",
            [
                (
                    n,
                    f"g{n}",
                    rng.choice(("", "a b")),
                    rng.choice(("A {{c1::b}}", *(w for w in WORDS if w != "\ud800"))),
                )
                for n in range(4)
            ],
        )
        base.execute("INSERT INTO cards VALUES (1, 1, 1, 0, 0)")
        with contextlib.suppress(sqlite3.Error):  # not every SQLite has such tables
            base.executescript(rng.choice(SCHEMAS) if rng.random() < 0.5 else "")
        base.commit()
        data = base.serialize()
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(
            rng.choice(("collection.anki2", "collection.anki2", "collection.anki21")),
            broken(rng, data),
        )
        archive.writestr("media", as_text(rng, {"0": "a.png"}))
        if rng.random() < 0.1:
            archive.writestr(
                rng.choice(("../../x", "/etc/x", "collection.anki21b", "meta")), b"\x08\x03"
            )
    return broken(rng, out.getvalue())


def as_text(rng: random.Random, tree: Any) -> str:
    """JSON as a text that a database takes."""
    return json.dumps(nested(rng, tree, 1))


ANNOTATED = [
    {
        "id": 1,
        "data": {"item": "q1", "system": "s1"},
        "annotations": [
            {
                "id": 1,
                "completed_by": 7,
                "was_cancelled": False,
                "lead_time": 2.5,
                "result": [
                    {
                        "id": "x",
                        "type": "choices",
                        "from_name": "c",
                        "to_name": "a",
                        "value": {"choices": ["yes"]},
                    },
                    {
                        "id": "l",
                        "type": "labels",
                        "from_name": "l",
                        "to_name": "a",
                        "value": {"start": 0, "end": 4, "labels": ["x"]},
                    },
                ],
            }
        ],
    }
]


def make_labelstudio(rng: random.Random) -> bytes:
    """An export of Label Studio."""
    return broken(rng, as_json(rng, nested(rng, ANNOTATED, 4)))


RUN = {
    "version": 2,
    "status": "success",
    "eval": {
        "created": "2026-01-05T10:00:00+00:00",
        "task": "t",
        "model": "m",
        "config": {},
        "dataset": {"samples": 3, "sample_ids": ["q0", "q1", "q2"]},
    },
}
SAMPLES = [
    {
        "id": f"q{n}",
        "epoch": 1,
        "input": f"Question {n}?",
        "target": "metformin",
        "metadata": {"specialty": "endo"},
        "output": {
            "model": "m",
            "choices": [
                {"message": {"role": "assistant", "content": "Metformin."}, "stop_reason": "stop"}
            ],
        },
        "scores": {"grader": {"value": "C"}},
    }
    for n in range(3)
]


def make_inspect(rng: random.Random) -> bytes:
    """A log of Inspect as an archive, whose parts are changed in structure and then inside the
    archive."""
    out = io.BytesIO()
    parts = {
        "header.json": RUN,
        **{f"samples/{sample['id']}_epoch_1.json": sample for sample in SAMPLES},
    }
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        # One part: a log with a fault in each is refused at the first.
        changed = rng.choice(list(parts))
        for name, part in parts.items():
            archive.writestr(
                name, as_json(rng, nested(rng, part, 4)) if name == changed else json.dumps(part)
            )
    return _repacked(rng, out.getvalue()) if rng.random() < 0.3 else out.getvalue()


def make_inspect_json(rng: random.Random) -> bytes:
    """A log of Inspect in JSON."""
    return broken(rng, as_json(rng, nested(rng, {**RUN, "samples": SAMPLES}, 4)))


def make_kit(rng: random.Random) -> bytes:
    """The answers file of a kit."""
    inner = nested(
        rng, {"kit": "k1", "revision": 1, "copy": "c", "screens": {"t": {"correct": "yes"}}}
    )
    outer = {"konsil": "kit answers", "format": 1, "signed": json.dumps(inner), "mac": "0" * 64}
    return broken(rng, as_json(rng, nested(rng, outer, 1)))


STARTER = (
    Path(__file__).resolve().parents[1] / "src" / "konsil" / "protocols" / "starter" / "study.toml"
).read_text()
TRUTH = (
    Path(__file__).resolve().parents[1] / "src" / "konsil" / "demo" / "simulation.toml"
).read_text()


def changed_toml(rng: random.Random, text: str) -> bytes:
    """A protocol with lines left out, doubled, exchanged, values of other types, brackets and
    quotation marks lost."""
    lines = text.splitlines()
    for _ in range(rng.randrange(1, 4)):
        n = rng.randrange(len(lines))
        key, equals, _ = lines[n].partition("=")
        kind = rng.randrange(7)
        if kind == 0:
            del lines[n]
        elif kind == 1:
            lines.insert(rng.randrange(len(lines)), lines[n])
        elif kind == 2 and equals:
            value = rng.choice(
                (
                    "-1",
                    "2e9",
                    "nan",
                    "[]",
                    "{}",
                    "true",
                    '""',
                    "[[1]]",
                    '"\\u001b[2J"',
                    "1979-05-27",
                )
            )
            lines[n] = f"{key}= {value}"
        elif kind == 3:
            lines[n] = lines[n].replace("[[", "[").replace("]]", "]")
        elif kind == 4:
            lines[n] = lines[n].replace('"', rng.choice(("", "\u201c", "'", '"""')), 1)
        elif kind == 5 and equals:
            lines[n] = f"{key.strip()}x = 1"
        else:
            lines[n] = "[" * rng.choice((1, 60_000)) + lines[n]
        lines = lines or [""]
    return broken(rng, "\n".join(lines).encode())


def make_study(rng: random.Random) -> bytes:
    """A protocol."""
    return changed_toml(rng, STARTER)


def make_truth(rng: random.Random) -> bytes:
    """The parameters of a simulation."""
    return changed_toml(rng, TRUTH)


def read_a_table(path: Path) -> None:
    """Read a table as ratings, items and answers, whichever it may be."""
    read_records(read_table(path), path)


def read_parquet_here(path: Path) -> None:
    """Read a Parquet file in this process: starting the child takes longer than most inputs."""
    check_parquet(path, path.name)
    frame, lines = read_parquet(path.read_bytes(), path.name)
    read_records(Table(frame, path, lines=lines, place="row"), path)


def read_spreadsheet_here(path: Path) -> None:
    """Read a spreadsheet in this process, likewise."""
    check_spreadsheet(path, path.name)
    frame, lines, title = read_spreadsheet(path, "", path.name)
    read_records(Table(frame, path, title, lines, "row"), path)


def read_in_child(path: Path) -> None:
    """Read either as konsil does, in a child process, under the ending that its first bytes ask
    for."""
    place = path.with_suffix(".parquet") if path.read_bytes()[:4] == b"PAR1" else path
    place.write_bytes(path.read_bytes())
    read_a_table(place)


def read_records(table: Table, path: Path) -> None:
    """Read a table as what it may be; a KonsilError where it is none of these."""
    refusals = 0
    for kind, read in (("ratings", read_ratings), ("items", read_items), ("answers", read_answers)):
        try:
            read(table, Source(path.name, kind))  # type: ignore[operator, arg-type]
        except KonsilError:
            refusals += 1
    if refusals == 3:
        raise KonsilError("of no kind")


def read_a_log(path: Path) -> None:
    """Read a log of Inspect in this process: a child needs seconds to load Inspect."""

    def read_here(_: str, log: Path, __: str, where: str, ___: int, receive: Any, ____: str) -> Any:
        out = io.BytesIO()
        inspect_contents.write_contents(log, where, out)
        out.seek(0)
        contents = receive(json.loads(out.readline()), out)
        if contents is None:
            raise SourceError(f"{where}: what was read is not whole")
        return contents

    with unittest.mock.patch.object(inspect_contents, "run_child", read_here):
        for kind in ("answers", "items", "ratings"):
            read_inspect_log(path, Source(path.name, kind))  # type: ignore[arg-type]


def read_a_study(path: Path) -> None:
    """Read and check a protocol beside an empty codebook."""
    (path.parent / "codebook.en.md").touch()
    open_folder(path.parent)


def read_a_kit(path: Path) -> None:
    """Open the answers of a kit as far as is possible without a study: the store is asked for the
    kit last."""
    try:
        open_kit_answers(None, path.read_text("utf-8"), path.name)  # type: ignore[arg-type]
    except (
        AttributeError,
        UnicodeDecodeError,
    ) as error:  # the store that is not there; the caller's own sentence
        raise KonsilError(type(error).__name__) from None


@dataclasses.dataclass(frozen=True)
class Reader:
    """What makes inputs and what reads them."""

    make: Callable[[random.Random], bytes]
    file: str
    read: Callable[[Path], object]
    numbered: bool = False
    """Whether reading depends on the input's number: the study it is sent to has those before
    it."""


FOLDER = Folder(Path(), parse(STARTER, lambda _: "", "study.toml"))

READERS = {
    "csv": Reader(make_csv, "t.csv", read_a_table),
    "jsonl": Reader(make_jsonl, "t.jsonl", read_a_table),
    "json": Reader(make_json, "t.json", read_a_table),
    "parquet": Reader(make_parquet, "t.parquet", read_parquet_here),
    "xlsx": Reader(make_xlsx, "t.xlsx", read_spreadsheet_here),
    "labelstudio": Reader(
        make_labelstudio, "e.json", lambda p: read_labelstudio(p, Source("e.json", "labelstudio"))
    ),
    "crowdanki": Reader(make_crowdanki, "deck.json", read_anki),
    "apkg": Reader(make_apkg, "deck.apkg", read_anki),
    "child": Reader(
        lambda rng: rng.choice((make_parquet, make_xlsx))(rng), "t.xlsx", read_in_child
    ),
    "inspect": Reader(make_inspect, "log.eval", read_a_log),
    "inspect json": Reader(make_inspect_json, "log.json", read_a_log),
    "kit": Reader(make_kit, "answers.json", read_a_kit),
    **{
        name: Reader(make, "t.json", read, numbered=True)
        for name, (make, read) in fuzz_web.READ.items()
    },  # type: ignore[arg-type]
    "study.toml": Reader(make_study, "study.toml", read_a_study),
    "simulation.toml": Reader(make_truth, "simulation.toml", lambda p: truth_of(FOLDER, p)),
}


@dataclasses.dataclass
class Tally:
    """What became of one reader's inputs."""

    inputs: int = 0
    read: int = 0
    sentences: int = 0
    tracebacks: list[str] = dataclasses.field(default_factory=list)
    slowest: float = 0.0
    slowest_input: int = 0


def fuzz(name: str, numbers: Iterator[int], until: float = float("inf"), seed: int = 1) -> Tally:
    """Read the inputs of these numbers, until a time of the clock `time.monotonic`."""
    reader, tally = READERS[name], Tally()
    with contextlib.closing(fuzz_web), tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / reader.file
        for number in numbers:
            if time.monotonic() > until:
                break
            path.write_bytes(reader.make(random.Random(f"{seed} {name} {number}")))
            start = time.monotonic()
            try:
                reader.read(path, number) if reader.numbered else reader.read(path)  # type: ignore[call-arg]
                tally.read += 1
            except KonsilError as error:
                tally.sentences += 1
                if len(str(error)) > 200_000:
                    tally.tracebacks.append(
                        f"{name} {number}: a sentence of {len(str(error)):,} characters"
                    )
            except BaseException as error:
                if isinstance(error, KeyboardInterrupt):
                    raise
                tally.tracebacks.append(
                    f"{name} {number}: {type(error).__name__}: {str(error)[:200]}"
                )
            tally.inputs += 1
            seconds = time.monotonic() - start
            if seconds > tally.slowest:
                tally.slowest, tally.slowest_input = seconds, number
    return tally


def peak_megabytes() -> float:
    """The most memory that this process or one of its children had, in MB; nan where the system
    does not say."""
    try:
        import resource
    except ImportError:
        return float("nan")
    unit = 1 if sys.platform == "darwin" else 1024
    return (
        max(
            resource.getrusage(who).ru_maxrss
            for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
        )
        * unit
        / 1e6
    )


def main() -> None:
    """Fuzz the readers named, or all, and print what became of the inputs."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--reader", action="append", choices=list(READERS), help="default: all")
    parser.add_argument("--seconds", type=float, help="for all readers together")
    parser.add_argument("--each", type=int, default=10**9, help="inputs of each reader")
    parser.add_argument("--first", type=int, default=0, help="the first input's number")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--markdown", action="store_true", help="a table for the documents")
    given = parser.parse_args()
    names = given.reader or list(READERS)
    if given.seconds is None and given.each == 10**9:
        given.seconds = 60.0
    faults: list[str] = []
    lines = [("reader", "inputs", "read", "sentences", "tracebacks", "slowest", "peak")]
    for name in names:
        share = given.seconds / len(names) if given.seconds else float("inf")
        found = fuzz(
            name,
            iter(range(given.first, given.first + given.each)),
            time.monotonic() + share,
            given.seed,
        )
        faults += found.tracebacks
        slowest = f"{found.slowest:.2f} s (input {found.slowest_input})"
        counts = (found.inputs, found.read, found.sentences, len(found.tracebacks))
        lines.append((name, *(f"{c:,}" for c in counts), slowest, f"{peak_megabytes():.0f} MB"))
        print(*lines[-1], sep="  ", flush=True, file=sys.stderr)
    if given.markdown:
        print("| " + " | ".join(lines[0]) + " |\n|---" + "|---:" * (len(lines[0]) - 1) + "|")
        print("\n".join("| " + " | ".join(line) + " |" for line in lines[1:]))
    print("\n".join(faults), file=sys.stderr)
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
