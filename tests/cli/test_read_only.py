"""A study that may only be read is checked, analysed and reported as it is; what must write is one
sentence.

Root may write everywhere: as root the commands run without root's rights, as any other user would.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

import pytest

from konsil.cli import main
from konsil.store import Store
from small_studies import form, raters, share_correct, study_text, systems

pytestmark = pytest.mark.slow

WITHOUT_RIGHTS = ("setpriv", "--bounding-set=-all")
NOBODY = 65534

PROTOCOL = study_text(
    "A study",
    form(question="?"),
    systems("a"),
    raters("r1", panel="panel"),
    """[[sources]]
file = "ratings.csv"
records = "ratings"
[sources.columns]
item = "item"
system = "system"
rater = "rater"
label = "label"
criterion = "criterion\"""",
    share_correct("panel", "share of yes"),
    "[resampling]\ndraws = 200",
    seed=1,
)


ALL = """
import contextlib, io, json, sys
from konsil.cli import main
found = []
for arguments in json.loads(sys.argv[1]):
    out, err, code = io.StringIO(), io.StringIO(), 0
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main(arguments)
        except SystemExit as stop:
            code = int(stop.code or 0)
    found.append((code, out.getvalue(), err.getvalue()))
print(json.dumps(found))
"""


def without_rights(*command: str) -> str:
    """What a program prints that runs as a user without any rights beyond those of the files'
    modes."""
    as_user = WITHOUT_RIGHTS if os.geteuid() == 0 else ()
    if as_user and shutil.which(as_user[0]) is None:
        pytest.skip("these tests run as root, and there is no setpriv to give its rights away")
    done = subprocess.run(
        [*as_user, sys.executable, "-c", *command], capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def run(*commands: Sequence[object]) -> list[tuple[int, str, str]]:
    """Code, output and errors of each command."""
    found = json.loads(
        without_rights(ALL, json.dumps([[str(a) for a in command] for command in commands]))
    )
    return [(code, out, err) for code, out, err in found]


def konsil(*arguments: object) -> None:
    try:
        main([str(a) for a in arguments])
    except SystemExit as stop:
        assert not stop.code, arguments


def state(folder: Path) -> dict[str, str]:
    """Every file with the digest of its bytes."""
    return {
        str(p.relative_to(folder)): hashlib.sha256(p.read_bytes()).hexdigest()
        for p in folder.rglob("*")
        if p.is_file()
    }


def make(folder: Path) -> Path:
    folder.mkdir()
    (folder / "study.toml").write_text(PROTOCOL, "utf-8")
    rows = [
        "item,system,rater,criterion,label",
        *(f"q{n},a,r1,correct,{('yes', 'no')[n % 2]}" for n in range(8)),
    ]
    (folder / "ratings.csv").write_text("\n".join(rows) + "\n", "utf-8")
    konsil("import", folder)
    return folder


@pytest.fixture(params=["folder", "file", "another user's"])
def study(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Path]:
    folder = make(tmp_path / "study")
    for path in folder.iterdir():
        path.chmod(
            0o644
            if request.param == "another user's"
            else 0o444
            if path.name == "konsil.db"
            else 0o644
        )
    if request.param == "another user's":
        if os.geteuid() != 0:
            pytest.skip("only root can give files to another user")
        for path in (*folder.iterdir(), folder):
            os.chown(path, NOBODY, NOBODY)
        folder.chmod(0o755)
    else:
        folder.chmod(0o555 if request.param == "folder" else 0o755)
    yield folder
    folder.chmod(0o755)


READING = (
    (("check",), "panels:      panel (1)"),
    (("status",), "ratings              8"),
    (("verify-log",), "audit log verified: chain and records intact"),
    (("log",), "import"),
    (("analyse", "--output", "numbers"), "Audit log verified"),
    (("report", "--output", "report"), "index.html"),
    (("export", "out"), ""),
    (("backup", "copy.db"), "checked"),
    (("person", "r1", "own.json"), "8 in ratings"),
)
WRITING = (
    ("import",),
    ("erase", "r1", "--by", "x", "--reason", "y", "--yes"),
    ("freeze", "--by", "x"),
    ("withdraw", "--rater", "r1"),
    ("invite",),
)
PLACES = {"numbers", "report", "out", "copy.db", "own.json"}


def test_all_that_only_reads_works_and_what_must_write_is_one_sentence(
    study: Path, tmp_path: Path
) -> None:
    before = state(study)
    reading = [
        (c[0], study, *(tmp_path / a if a in PLACES else a for a in c[1:])) for c, _ in READING
    ]
    writing = [(c[0], study, *c[1:]) for c in WRITING]
    found = run(*reading, *writing)
    for (command, said), (code, out, err) in zip(READING, found, strict=False):
        assert (code, err) == (0, ""), command
        assert said in out, command
    for command, (code, _, err) in zip(WRITING, found[len(READING) :], strict=True):
        assert (code, err.count("\n")) == (2, 1), (command, err)
        assert "konsil.db: is read-only, but this command writes to it" in err, command
    assert state(study) == before
    assert (tmp_path / "report" / "index.html").is_file()
    konsil("verify-log", "--database", f"sqlite:///{tmp_path / 'copy.db'}", study)


def test_a_folder_that_cannot_be_written_is_one_sentence(tmp_path: Path) -> None:
    folder = make(tmp_path / "study")
    folder.chmod(0o555)
    found = run(("analyse", folder), ("report", folder))
    folder.chmod(0o755)
    for code, _, err in found:
        assert (code, err.count("\n")) == (2, 1)
        assert "choose a writable folder with --output" in err


def test_another_users_study_is_read_while_it_is_written(tmp_path: Path) -> None:
    """Who reads sees what was committed, also what is in the write-ahead log alone."""
    folder = make(tmp_path / "study")
    with closing(sqlite3.connect(folder / "konsil.db")) as writer:
        writer.execute("insert into meta values ('test', 'new')")
        writer.commit()
        assert (folder / "konsil.db-wal").stat().st_size
        for path in folder.iterdir():
            path.chmod(0o444)
        folder.chmod(0o555)
        asked = "select value from meta where key = 'test'"
        code = (
            f"from konsil.store import Store; s = Store.open({str(folder)!r});"
            f" print(s.engine.connect().exec_driver_sql({asked!r}).scalar())"
        )
        assert without_rights(code) == "new\n"
        folder.chmod(0o755)


def test_changes_that_only_a_writer_can_bring_in_are_one_sentence(tmp_path: Path) -> None:
    folder = make(tmp_path / "study")
    with closing(sqlite3.connect(folder / "konsil.db")) as writer:
        writer.execute("insert into meta values ('test', 'new')")
        writer.commit()
        copy = tmp_path / "copy"
        shutil.copytree(folder, copy)
    (copy / "konsil.db-shm").unlink()
    copy.chmod(0o555)
    [(code, _, err)] = run(("status", copy))
    copy.chmod(0o755)
    assert code == 2
    assert (
        "konsil.db-wal next to it has changes that need write permission to apply; ask for a backup"
        in err
    )


def test_an_older_schema_is_one_sentence(tmp_path: Path) -> None:
    dump = Path(__file__).parents[1] / "store" / "schema5.sql"
    folder = make(tmp_path / "study")
    (folder / "konsil.db").unlink()
    with closing(sqlite3.connect(folder / "konsil.db")) as old:
        old.executescript(dump.read_bytes().decode())
    folder.chmod(0o555)
    [(code, _, err)] = run(("status", folder))
    folder.chmod(0o755)
    assert code == 2
    assert "has the older schema 5 and is read-only" in err


def test_who_may_write_writes_as_ever(tmp_path: Path) -> None:
    with Store.open(make(tmp_path / "study")) as store:
        assert not store.is_read_only
