"""What is stored about one person, and a copy of the database, from the command line."""

from __future__ import annotations

import json
import re
import shutil
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

import konsil
from konsil.records import Item, Rater
from konsil.store import Batch, Store
from konsil.store.people.people import Person, note_person
from small_studies import form, raters, study_text, systems

Call = Callable[..., tuple[int, str, str]]

PROTOCOL = study_text(
    "A study", form(question="?"), systems("a"), raters("p1", panel="panel"), seed=1
)
AFTERWARDS = (
    "everybody is signed out; repeat what happened since the backup: links that were revoked"
    " (konsil invite --revoke) and persons that were erased (konsil erase)"
)
AT = "2025-03-01T12:00:00Z"


@pytest.fixture
def study(tmp_path: Path) -> Path:
    folder = tmp_path / "study"
    folder.mkdir()
    (folder / "study.toml").write_text(PROTOCOL, "utf-8")
    with konsil.open(folder).store(create=True) as store:
        batch = Batch(items=(Item("i", "A question?"),), raters=(Rater("p1", "panel"),))
        store.add(batch, source="x", at=AT)
        note_person(store, Person("p1", "Ada Quokka", "quokka@clinic.example"))
    return folder


def test_a_persons_data_are_written_for_the_owner_alone_and_the_name_is_erased_when_asked(
    call: Call, study: Path, tmp_path: Path
) -> None:
    output = tmp_path / "p1.json"
    code, out, err = call("person", study, "p1", output)
    assert (code, err) == (0, "")
    assert out == f"{output}: 1 in raters, 1 in people\n"
    person = {
        "rater": "p1",
        "name": "Ada Quokka",
        "email": "quokka@clinic.example",
        "language": None,
        "failing": None,
    }
    assert json.loads(output.read_text("utf-8"))["people"] == [person]
    assert stat.S_IMODE(output.stat().st_mode) == 0o600

    erasing = ("person", study, "p1", "--forget-name")
    assert call(*erasing, tmp_path / "last.json")[1].endswith("\nname and address erased\n")
    assert "quokka" in (tmp_path / "last.json").read_text("utf-8")
    code, out, _ = call(*erasing, tmp_path / "later.json")
    assert code == 0
    assert out.endswith("\nno name or address is stored\n")
    assert "quokka" not in (tmp_path / "later.json").read_text("utf-8")


def test_a_copy_without_the_ending_of_a_database_states_what_it_lacks(
    call: Call, study: Path, tmp_path: Path
) -> None:
    target = tmp_path / "nightly"
    code, out, _ = call("backup", study, target)
    assert code == 0
    assert out.splitlines()[0] == (
        f"{target}: the database alone, {target.stat().st_size:,} bytes, checked; without protocol,"
        " files and key (name an existing folder for the whole study)"
    )


def test_a_backup_is_a_store_with_the_same_records_and_its_head_is_printed(
    call: Call, study: Path, tmp_path: Path
) -> None:
    target = tmp_path / "copy.db"
    code, out, err = call("backup", study, target)
    assert (code, err) == (0, "")
    size, head = out.splitlines()
    assert size == f"{target}: {target.stat().st_size:,} bytes, checked"
    with Store.open(target, create=False) as copy, konsil.open(study).store() as store:
        assert copy.batch() == store.batch()
        assert len(copy.batch().items) == 1
    assert head.removeprefix("head: ")
    code, out, err = call("backup", study, target)
    assert (code, out) == (2, "")
    assert "exists already" in err


def test_a_whole_study_is_backed_up_encrypted_and_restored(
    call: Call, study: Path, tmp_path: Path
) -> None:
    backups, secret = tmp_path / "backups", tmp_path / "secret.key"
    code, out, err = call("backup-key", secret)
    assert (code, err) == (0, "")
    public = out.splitlines()[-1]
    code, out, err = call("backup", study, backups, "--encrypt-to", public, "--keep", "3")
    assert (code, err) == (0, "")
    [archive] = backups.iterdir()
    assert re.fullmatch(r"study-[0-9a-f]{8}-20\d{6}T\d{6}Z\.tar\.age", archive.name)
    assert out.startswith(f"{archive}: {archive.stat().st_size:,} bytes, encrypted for 1 key, 2 ")
    head = out.splitlines()[-1]

    code, out, err = call("restore", archive, tmp_path / "back", "--key", secret)
    assert (code, err) == (0, "")
    assert out.endswith(
        f"1 items, 1 raters; log verified\nrestored to {tmp_path}/back\n{AFTERWARDS}\n{head}\n"
    )
    code, out, err = call("restore", archive, "--check", "--key", secret)
    assert (code, err) == (0, "")
    assert "tested only; nothing was written\n" in out

    plain = call("backup", study, backups)[1]
    assert "\nnot encrypted: may contain names, addresses" in plain


def test_a_centre_is_backed_up_tested_and_restored(call: Call, study: Path, tmp_path: Path) -> None:
    studies, backups = tmp_path / "studies", tmp_path / "backups"
    studies.mkdir()
    study.rename(studies / "ward")
    (studies / "empty").mkdir()
    (studies / "empty" / "study.toml").write_text(PROTOCOL, "utf-8")
    with Store.open(studies / "centre.db") as log:
        log.audit("note", {}, "2026-01-01T00:00:00Z")
    code, out, err = call("backup", studies, backups, "--keep", "3")
    # A timer reports that a study is missing.
    assert (code, err) == (2, "")
    lines = out.splitlines()
    [path] = backups.glob("studies-centre-*.tar")
    assert lines[0] == (
        f"{path}: list of the backups of 1 study; restore or test it with konsil restore"
    )
    assert lines[1].startswith("not encrypted: ")
    assert re.fullmatch(r"  .*/ward-[0-9a-f]{8}-\d{8}T\d{6}Z\.tar: .* log verified", lines[2])
    assert lines[3].startswith("not backed up: empty: ")
    assert lines[4].startswith("the centre's own audit log is in the list; head: 1-")
    shutil.rmtree(studies / "empty")
    code, out, err = call("restore", path, "--check")
    assert (code, err) == (0, "")
    assert re.fullmatch(
        rf"{path}: backup of 1 study of \S+Z, complete\n  ward: 1 items, 1 raters; log verified\n"
        "not in this backup: empty; restore the last backup of this study, if there is one\n"
        r"  the centre's own audit log verified; head: 1-[0-9a-f]{64}\n"
        "tested only; nothing was written\n",
        out,
    )
    code, out, err = call("restore", path, tmp_path / "back")
    assert (code, err) == (0, "")
    assert out.endswith(f"restored to {tmp_path}/back\n{AFTERWARDS}\n")
    with konsil.open(tmp_path / "back" / "ward").store() as store:
        assert len(store.items()) == 1
    code, out, err = call("backup", studies, backups, "--database", "postgresql://h/d")
    assert (code, out) == (2, "")
    assert "--database: each study of a centre has its own database; state it in centre.t" in err


def test_options_of_backups_that_do_not_go_together(
    call: Call, study: Path, tmp_path: Path
) -> None:
    for arguments, sentence in (
        (("backup", study, study / "study.toml", "--keep", "2"), "study.toml: is not a folder"),
        (("backup", study, tmp_path, "--encrypt-to", "age1"), "--encrypt-to: expected a public"),
        (("restore", tmp_path / "x.tar"), "FOLDER is missing"),
        (("restore", tmp_path / "x.tar", tmp_path / "y", "--check"), "--check: restores to no"),
        (("restore", tmp_path / "x.tar", "--check", "--database", "postgresql://h/d"), "--check: "),
        (("restore", tmp_path / "x.tar", "--check"), f"{tmp_path}/x.tar: cannot be read: No such"),
        (("restore", study / "study.toml", "--check"), "is incomplete, or not an archive"),
    ):
        code, out, err = call(*arguments)
        assert (code, out) == (2, ""), arguments
        assert sentence in err, arguments
        assert err.count("\n") == 1, arguments
    assert sorted(p.name for p in tmp_path.iterdir()) == ["study"]


def test_access_of_nobody_is_not_ended(call: Call, study: Path) -> None:
    """Who misspells a name in an emergency learns that the access goes on."""
    assert call("invite", study, "--who", "Anna Lead", "--role", "owner")[0] == 0
    code, out, err = call("invite", study, "--who", "Anna Laed", "--revoke")
    assert (code, out) == (2, "")
    assert "--who 'Anna Laed': nobody was invited under this name; did you mean 'Anna Lead'" in err
    assert call("invite", study, "--who", "Anna Lead", "--revoke")[1] == "1 link revoked\n"
    assert call("invite", study, "--who", "Anna Lead", "--revoke")[1] == "0 links revoked\n"
    assert call("invite", study, "--who", "p1", "--revoke")[1] == "0 links revoked\n"
