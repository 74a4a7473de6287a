"""The list of who can read which file is that of a real study, run to its end."""

from __future__ import annotations

import os
import re
import shutil
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path, PurePosixPath

import pytest

from konsil.api.design.draft import Draft
from konsil.api.design.saving import save
from konsil.letters.links import letter_key
from konsil.store import Store
from konsil.store.calls.run_lock import alone
from small_studies import exit_code

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(os.name == "nt", reason="Windows has no such modes"),
]
ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "privacy.md"
AT = "2025-03-01T12:00:00Z"
BY_UMASK = "umask"


def listed() -> dict[str, str]:
    """Pattern -> mode, of the page's table; patterns that end in / are folders."""
    section = (
        PAGE.read_text("utf-8").partition("## Who can read the files")[2].partition("\n## ")[0]
    )
    rows = re.findall(r"^\| (`.+?) \|.*\| (\w+) \|$", section, re.MULTILINE)
    return {pattern: mode for cell, mode in rows for pattern in re.findall(r"`(.+?)`", cell)}


def run(*arguments: object) -> None:
    assert exit_code(*arguments) == 0, arguments


@pytest.fixture(params=[0o022, 0o027, 0o002])
def umask(request: pytest.FixtureRequest) -> Iterator[int]:
    before = os.umask(request.param)
    yield int(request.param)
    os.umask(before)


def finish(root: Path) -> Path:
    """The study taken to its end, with everything that konsil writes of it beside it."""
    study = root / "STUDY"
    run("demo", study)
    changed_by_pages(study, root.parent / f"{root.name}-draft")
    run("freeze", study, "--by", "A. Author")
    run("codebook", study, "--pdf", root / "CODEBOOK.pdf")
    run("duplicates", study, "--table", root / "TABLE.csv")
    run("backup", study, root / "BACKUP.db")
    run("export", study, root / "EXPORT")
    run("export", study, root / "RELEASE", "--release", "--linked")
    run("person", study, "physician-1", root / "OWN-DATA.json")
    run("log", study, "--output", root / "LOG.csv")
    run("log", study, "--output", root / "LOG.jsonl")
    unrated = root.parent / f"{root.name}-unrated"
    unrated.mkdir()
    for name in ("study.toml", "codebook.en.md", "items.csv", "answers.csv"):
        shutil.copy(study / name, unrated)
    run("import", unrated)
    run("plan", unrated)
    run("kit", unrated, "--rater", "physician-1", "--output", root / "KIT.html")
    run("export", unrated, root / "TASKS", "--to", "label-studio")
    copy_of_update(root.parent / f"{root.name}-older").rename(study / "konsil-schema5.db")
    # No letter is sent in a simulated study, which this one is.
    assert letter_key(study, may_write=True)
    (study / "mail.toml").write_text("[mail]\n", "utf-8")
    (study / "letters").mkdir()
    (study / "letters" / "invitation.en.txt").write_text("Subject: Study\n\n{link}\n", "utf-8")
    return study


def copy_of_update(folder: Path) -> Path:
    """The former database that an update leaves beside the new one."""
    folder.mkdir()
    for name in ("study.toml", "codebook.en.md"):
        shutil.copy(ROOT / "src/konsil/protocols/starter" / name, folder)
    with closing(sqlite3.connect(folder / "konsil.db")) as older:
        older.executescript((ROOT / "tests/store/schema5.sql").read_bytes().decode())
    run("status", folder)
    return folder / "konsil-schema5.db"


def changed_by_pages(study: Path, staging: Path) -> None:
    """The protocol saved with another title, as the set-up's pages do."""
    staging.mkdir()
    draft = Draft(study, staging)
    draft.change({**draft.data, "title": f"{draft.data['title']} (second version)"})
    save(draft)


def matched(path: Path, root: Path, patterns: dict[str, str]) -> list[str]:
    """The patterns of a file, or of a folder; those of all that is in a folder come last."""
    name = PurePosixPath(path.relative_to(root).as_posix())
    here, below = [], []
    for pattern in patterns:
        if pattern.endswith("/**"):
            below += [pattern] if PurePosixPath(pattern.removesuffix("/**")) in name.parents else []
        elif pattern.endswith("/") == path.is_dir() and len(PurePosixPath(pattern).parts) == len(
            name.parts
        ):
            here += [pattern] if name.match(pattern.removesuffix("/")) else []
    return here + below


@pytest.mark.covering(1)
def test_the_list_of_modes_is_that_of_a_study_run_to_its_end(tmp_path: Path, umask: int) -> None:
    root, patterns = tmp_path / "root", listed()
    root.mkdir()
    study = finish(root)
    seen = set()
    with Store.open(study) as store, alone(store, "judge", AT):
        store.note_study("digest", AT)
        for path in sorted(root.rglob("*")):
            names = matched(path, root, patterns)
            assert names, f"{path.relative_to(root)} is not on the page"
            seen.update(names)
            wanted = patterns[names[0]]
            usual = (0o777 if path.is_dir() else 0o666) & ~umask
            expected = usual if wanted == BY_UMASK else int(wanted, 8)
            assert oct(stat.S_IMODE(path.stat().st_mode)) == oct(expected), path.relative_to(root)
        assert {path.name for path in study.glob("konsil.db*")} > {
            "konsil.db",
            "konsil.db-wal",
            "konsil.db-shm",
        }
    assert seen == {*patterns}, "every row of the page has a file"
