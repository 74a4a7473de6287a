"""A sample of the fuzzer's inputs and its whole corpus: each is read, or refused in a sentence."""

from __future__ import annotations

import ast
import importlib.util
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import FrameType, ModuleType

import pytest

import konsil

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "konsil"
INSTALLED = Path(konsil.__file__).parent
FUZZER = ROOT / "benchmarks" / "fuzz.py"
IN_CHILD = "child"


@pytest.fixture(scope="module")
def fuzzer() -> ModuleType:
    spec = importlib.util.spec_from_file_location("fuzz", FUZZER)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["fuzz"] = module
    spec.loader.exec_module(module)
    return module


SLOW = {
    "agreement",
    "apkg",
    "codebook",
    "archive",
    "database",
    "duplicates decisions",
    "export",
    "folder",
    "gguf",
    "inspect",
    "inspect json",
    "key",
    "kit",
    "marks",
    "pages",
    "parquet",
    "pocqi",
    "preference",
    "screening decisions",
    "signed kit",
    "wheel",
    "wording decisions",
    "xlsx",
}
"""What takes half a second or more for a few inputs: a study, an application or a child process for
every input."""
FAST = {
    "crowdanki",
    "csv",
    "exports",
    "former study.toml",
    "json",
    "jsonl",
    "labelstudio",
    "mail.toml",
    "mailbox",
    "model record",
    "simulation.toml",
    "study.toml",
    "theme decisions",
    "weights",
}
NAMES = tuple(sorted(SLOW | FAST))
SELDOM = {
    "codebook",
    "database",
    "folder",
    "gguf",
    "kit",
    "screening decisions",
    "wording decisions",
}
"""Of which few inputs are read here: each opens a study several times."""
UNREAD = {"kit", "wheel"}
"""Of which no made-up file is taken in: they would have to bear a signature, or the digest of real
weights."""


def of_each(names: tuple[str, ...]) -> list[object]:
    return [
        pytest.param(n, marks=[pytest.mark.slow] if n in SLOW or n == IN_CHILD else [])
        for n in names
    ]


def test_every_reader_is_fuzzed_here(fuzzer: ModuleType) -> None:
    assert {*NAMES, IN_CHILD} == {*fuzzer.READERS}


@pytest.mark.parametrize("name", of_each(NAMES))
def test_a_few_inputs(fuzzer: ModuleType, name: str) -> None:
    found = fuzzer.fuzz(name, iter(range(20)))
    assert found.tracebacks == []
    assert found.inputs == 20 == found.read + found.sentences


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("name", [*NAMES, IN_CHILD])
def test_many_inputs(fuzzer: ModuleType, name: str) -> None:
    n = 8 if name == IN_CHILD else 25 if name in SELDOM else 150
    found = fuzzer.fuzz(name, iter(range(1_000, 1_000 + n)), seed=2)
    assert found.tracebacks == []
    assert found.sentences > 0


def test_inputs_can_be_made_again_and_faults_are_counted(
    fuzzer: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    inputs: list[bytes] = []

    def fail(path: Path) -> None:
        inputs.append(path.read_bytes())
        raise KeyError("x")

    make = fuzzer.READERS["csv"].make
    monkeypatch.setitem(fuzzer.READERS, "csv", fuzzer.Reader(make, "t.csv", fail))
    found = fuzzer.fuzz("csv", iter([7, 7, 8]), keep=tmp_path)
    assert found.tracebacks == [f"csv 1-{n}: KeyError: 'x'" for n in (7, 7, 8)]
    assert inputs[0] == inputs[1] != inputs[2]
    kept = {
        path.name.removesuffix(".gz"): fuzzer.fuzz_corpus._content(path)
        for path in (tmp_path / "csv").iterdir()
    }
    assert kept == {"1-7": inputs[0], "1-8": inputs[2]}


def test_a_reader_that_takes_too_long_is_a_fault(
    fuzzer: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fuzzer, "MOST_SECONDS", 0.0)
    monkeypatch.setitem(
        fuzzer.READERS, "csv", fuzzer.Reader(lambda _: b"x", "t.csv", lambda _: sum(range(100_000)))
    )
    [fault] = fuzzer.fuzz("csv", iter([0])).tracebacks
    assert fault.endswith("s of processor time")


# ---- the corpus ----------------------------------------------------------------------------------

DOORS = {
    "api/curation/duplicates.py": "duplicates decisions",
    "api/curation/masking.py": "marks",
    "api/curation/rewriting.py": "wording decisions",
    "api/curation/screening.py": "screening decisions",
    "api/curation/themes.py": "theme decisions",
    "api/folder/folder.py": "key",
    "api/folder/opened.py": "folder",
    "api/folder/importing.py": "folder",
    "api/rehearsal/rehearsal.py": "simulation.toml",
    "api/running/accepting.py": "former study.toml",
    "api/running/checking.py": "folder",
    "api/running/kits.py": "kit",
    "cli/reading.py": "agreement",
    "collect/local/local_gguf.py": "gguf",
    "collect/local/local_models.py": "model record",
    "collect/local/local_wheel.py": "wheel",
    "letters/bounces.py": "mailbox",
    "letters/opened.py": "mail.toml",
    "letters/settings.py": "mail.toml",
    "sources/anki/collection.py": "apkg",
    "sources/anki/deck.py": "crowdanki",
    "sources/anki/package.py": "apkg",
    "sources/exports/recognition.py": "exports",
    "sources/files/delimited.py": "csv",
    "sources/files/labelled.py": IN_CHILD,
    "sources/files/parquet.py": "parquet",
    "sources/files/problems.py": "xlsx",
    "sources/files/spreadsheet.py": "xlsx",
    "sources/files/table.py": "csv",
    "sources/inspect/inspect_contents.py": "inspect",
    "sources/labelstudio/labelstudio.py": "labelstudio",
    "sources/pocqi/pocqi_files.py": "pocqi",
    "sources/pocqi/pocqi_flat.py": "pocqi",
    "store/engine/engine.py": "database",
    "store/engine/folders.py": "export",
    "store/engine/frames.py": "export",
    "store/backups/archive.py": "archive",
    "store/backups/backup.py": "database",
    "store/release/export.py": "export",
}
"""Module that opens files of the world -> the reader whose corpus enters it."""
OWN = {
    "api/design/draft.py": "a study.toml, by api/folder/opened.py, and tables that are only copied",
    "api/design/protocol_draft.py": "a study.toml, by api/folder/opened.py, and tables that are only copied",
    "api/design/saving.py": "a study.toml, by api/folder/opened.py",
    "api/design/user_tables.py": "bytes to guess an encoding from, before sources/files reads them",
    "api/editor_schema.py": "what the package brings",
    "api/folder/computing.py": "a table of TOML; its own tests give it other files",
    "api/rehearsal/local_demo.py": "what the package brings",
    "api/rehearsal/scaling.py": "a study.toml that was read before",
    "api/rehearsal/rehearsing.py": "a study.toml that was read before",
    "api/serving/centre_backups.py": "a centre.toml that its own backup contains",
    "cli/explain.py": "what the package brings",
    "cli/guided.py": "tables, by api/design/user_tables.py",
    "cli/new.py": "what the package brings",
    "collect/local/local_server.py": "what the system says of its processor",
    "collect/running/prices.py": "what the package brings",
    "compute/cores.py": "what the system says of a container's processor time",
    "letters/contacts.py": "a table, by sources/files; its own tests give it other files",
    "letters/links.py": "a key that konsil made; its own tests give it other files",
    "letters/templates.py": "texts of the study; its own tests give it other files",
    "locale/__init__.py": "what the package brings",
    "report/codebook/codebook.py": "what the package brings",
    "report/files/edited.py": "a manuscript of konsil's, of which it compares checksums",
    "report/manuscript/citations.py": "what the package brings",
    "report/manuscript/writers/packing.py": "a document that konsil made a moment before",
    "report/manuscript/writers/workbook.py": "a workbook that konsil made a moment before",
    "api/running/archiving.py": "keys of backups; its own tests give it other files",
    "api/running/power_files.py": "what konsil power wrote; a test of its own gives it other files",
    "report/page/page.py": "what the package brings",
    "report/page/writing.py": "a report of konsil's, which it compares with a new one",
    "sources/child.py": "the child, which the reader of that name starts",
    "sources/files/apart.py": "what a child of ours writes, and the system says of it",
    "store/backups/centre_index.py": "an archive; its own tests give it other files",
    "store/engine/migrate.py": "the copy of the database that it made a moment before",
    "store/calls/run_lock.py": "the lock of a run, which konsil writes",
    "study/definition/protocol.py": "a codebook, by an argument that api/folder/folder.py gives",
    "web/centre/accounts.py": "a secret that the administrator wrote",
    "web/centre/settings.py": "centre.toml of the administrator; its own tests give it other files",
    "web/http/statics.py": "what the package brings",
    "web/kit/kit.py": "what the package brings",
}
"""Modules that open files, but none that somebody else made."""
OPENERS = {
    "DictReader",
    "ZipFile",
    "deserialize",
    "load_workbook",
    "read_bytes",
    "read_csv",
    "read_dta",
    "read_ipc_stream",
    "read_parquet",
    "read_sav",
    "read_table",
    "read_text",
}

WORDS = re.compile("|".join((*sorted(OPENERS), r"\bopen", r"csv\.reader", r"sqlite3\.connect")))


def opens_a_file(node: ast.AST) -> bool:
    """Whether this is a call that reads a file; what opens one to write, or opens a store, does
    not."""
    if not isinstance(node, ast.Call):
        return False
    owner = getattr(node.func.value, "id", "") if isinstance(node.func, ast.Attribute) else ""
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    if name in OPENERS or (owner, name) in (("csv", "reader"), ("sqlite3", "connect")):
        return True
    values = [
        one
        for one in (*node.args, *(k.value for k in node.keywords))
        if isinstance(one, ast.Constant)
    ]
    modes = {one.value for one in values if isinstance(one.value, str)}
    if (owner, name) == ("os", "open"):
        return "O_RDWR" in ast.unparse(node)
    is_file = modes & {"r", "rb", "utf-8"} or any(k.arg == "encoding" for k in node.keywords)
    return name == "open" and bool(is_file) and not modes & {"w", "wb"}


def modules_that_open_files() -> Iterator[str]:
    for path in sorted(SOURCE.rglob("*.py")):
        text = path.read_text("utf-8")
        # Few modules have the words at all: the others are not parsed.
        if WORDS.search(text) and any(map(opens_a_file, ast.walk(ast.parse(text)))):
            yield path.relative_to(SOURCE).as_posix()


def test_every_module_that_opens_a_file_has_a_reader() -> None:
    """Whoever adds a reader of files adds it to the fuzzer, with a valid input in the corpus."""
    writes_alone = {"web/office/collected.py"}
    assert {*modules_that_open_files()} - writes_alone == {*DOORS} | {*OWN}
    assert {*DOORS.values()} <= {*NAMES, IN_CHILD}


def test_the_corpus_is_small_and_of_every_reader(fuzzer: ModuleType) -> None:
    corpus = fuzzer.fuzz_corpus.CORPUS
    files = [path for path in corpus.rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in files) < 300_000
    assert {path.parent for path in files} == {
        fuzzer.fuzz_corpus.folder_of(name) for name in fuzzer.READERS
    }
    valid = {path.parent for path in files if path.name.startswith("valid")}
    dialogues = {fuzzer.fuzz_corpus.folder_of(name) for name in ("pages", "signed kit", "wheel")}
    assert {path.parent for path in files} - valid == dialogues


@pytest.mark.parametrize("name", of_each((*NAMES, IN_CHILD)))
def test_the_whole_corpus_is_read_or_refused(fuzzer: ModuleType, name: str) -> None:
    """What once showed a fault shows none, what is valid is read, and the reader's modules are
    entered by it."""
    entered: set[str] = set()

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call":
            entered.add(frame.f_code.co_filename)

    sys.setprofile(note)
    try:
        found = fuzzer.replay(name)
    finally:
        sys.setprofile(None)
    titles = [title for title, _ in fuzzer.fuzz_corpus.seeds(name)]
    assert found.tracebacks == []
    assert found.inputs == len(titles) == found.read + found.sentences
    assert found.read >= sum(title.startswith("valid") for title in titles if name not in UNREAD)
    missed = [
        door
        for door, reader in DOORS.items()
        if reader == name and str(INSTALLED / door) not in entered
    ]
    assert missed == []
