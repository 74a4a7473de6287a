"""Inputs for the fuzzer's readers of single files: valid ones are made and changed in structure and
in bytes."""

from __future__ import annotations

import contextlib
import copy
import io
import json
import random
import sqlite3
import tempfile
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import openpyxl
import polars as pl
import pyreadstat

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


def grid(
    rng: random.Random,
    head: Sequence[str] = HEAD,
    body: Sequence[Sequence[Any]] = ROWS,
    words: Sequence[str] = (),
) -> list[list[Any]]:
    """A table with changed cells, headers, rows and columns; `words` are cells that mean something
    in it."""
    rows: list[list[Any]] = [list(head), *(list(row) for row in body)]
    for _ in range(rng.randrange(4)):
        row = rng.randrange(len(rows))
        kind = rng.randrange(6)
        if kind == 0 and rows[row]:
            rows[row][rng.randrange(len(rows[row]))] = copy.deepcopy(
                rng.choice(words) if words and rng.random() < 0.7 else rng.choice(VALUES)
            )
        elif kind == 1:
            rows[0][rng.randrange(len(rows[0]))] = rng.choice([*head, *WORDS])
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
    """A text table of ratings."""
    return as_csv(rng, grid(rng))


def as_csv(rng: random.Random, rows: Sequence[Sequence[Any]], plain: float = 0.0) -> bytes:
    """A text table, with one of the separators, line ends and encodings, changed in some bytes now
    and then.

    A share of the tables, `plain`, is CSV in UTF-8 as it should be: what is in the cells comes to
    be read."""
    if rng.random() < plain:
        return "\n".join(",".join(_cell(cell, quote=True) for cell in row) for row in rows).encode(
            "utf-8", "replace"
        )
    separator, end = rng.choice((",", ",", ";", "\t")), rng.choice(("\n", "\n", "\r\n", "\r"))
    quote = rng.random() < 0.5
    lines = (separator.join(_cell(cell, quote) for cell in row) for row in rows)
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


def make_labelled(rng: random.Random) -> bytes:
    """A file of SPSS or Stata, with labelled codes."""
    ending, write = rng.choice(((".sav", pyreadstat.write_sav), (".dta", pyreadstat.write_dta)))
    frame = pl.DataFrame(ROWS, schema=HEAD, orient="row").with_columns(
        pl.Series("code", [float(rng.randrange(4)) for _ in ROWS])
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"t{ending}"
        write(frame, str(path), variable_value_labels={"code": {0: "no", 1: "yes", 2: "both"}})
        data = path.read_bytes()
    return data[:4] + broken(rng, data[4:])


def make_xlsx(rng: random.Random) -> bytes:
    """A spreadsheet whose parts are changed inside the archive."""
    book = openpyxl.Workbook()
    for row in grid(rng):
        book.active.append([_printable(cell) for cell in row[:60]])
    plain = io.BytesIO()
    book.save(plain)
    return repacked(rng, plain.getvalue())


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


def repacked(rng: random.Random, archive: bytes) -> bytes:
    """The same archive with parts changed, lost or added, and now and then changed bytes."""
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
    return repacked(rng, out.getvalue()) if rng.random() < 0.3 else out.getvalue()


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
                    "9" * 400,
                    "9" * 5000,
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
