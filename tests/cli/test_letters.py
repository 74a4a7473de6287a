"""konsil letters at the command line: what is printed, exit codes, and nothing about anybody."""

from __future__ import annotations

import json
import shutil
import tarfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from aiosmtpd.controller import Controller

from commands_doc import documented_keys
from konsil.api import open_folder
from konsil.api.running.archiving import archive_study
from konsil.errors import StoreError
from konsil.store.people.letters import begin, letters
from konsil.store.people.people import people
from konsil.store.privacy import erasing
from letters.conftest import invited  # noqa: F401  a fixture
from mail_servers import ADA, BEN, CANARIES, EVA, Post, report, write_mail
from ports import free_port

Call = Callable[..., tuple[int, str, str]]


@pytest.fixture
def post() -> Iterator[Post]:
    chosen = Post(port=free_port())
    controller = Controller(chosen, "127.0.0.1", chosen.port, server_hostname="localhost")
    controller.start()
    yield chosen
    controller.stop()


@pytest.fixture
def study(tmp_path: Path, invited: Path, post: Post) -> Path:
    place = tmp_path / "study"
    shutil.copytree(invited, place)
    write_mail(place, post.port)
    return place


def test_a_dry_run_prints_the_letters_and_a_run_who_got_one(
    call: Call, study: Path, post: Post
) -> None:
    code, out, err = call("letters", study, "--dry-run")
    assert (code, err) == (0, "")
    assert 'To: "Dr. Ada Quokka" <ada.quokka@clinic.example>\n' in out
    assert "Subject: Invitation to the study “Right or wrong?”\n\nDear Dr. Ada Quokka,\n" in out
    assert "https://study.example.org/come/<personal link>\n" in out
    assert out.endswith("3 letters would be sent; nothing sent\n")
    assert not post.letters

    post.replies = {ADA.email: f"550 5.1.1 {ADA.email} unknown", BEN.email: "450 later"}
    code, out, err = call("letters", study, "--send", "--by", "desk")
    assert (code, err) == (0, "")
    assert out.splitlines() == [
        "r1: invitation refused by the mail server (550 5.1.1)",
        "r2: invitation not accepted now (450); it is sent again next time",
        "r3: invitation sent",
        "1 letter sent",
    ]
    assert "  letter  r3 (Eva Lösch)  by staff-1" in call("log", study)[1]
    code, out, _ = call("letters", study, "--due", "--json")
    assert code == 2
    record = json.loads(out)
    assert record["outcomes"][0]["code"] == "450"
    assert set(record) - {"notes"} == documented_keys()["letters"]
    _, out, _ = call("letters", study, "--dry-run", "--json")
    assert set(json.loads(out)) - {"notes"} == documented_keys()["letters --dry-run"]
    assert not any(word in out for word in CANARIES)


def test_when_no_letter_was_accepted_the_exit_code_is_2(
    call: Call, study: Path, post: Post
) -> None:
    post.replies = dict.fromkeys((ADA.email, BEN.email, EVA.email), "451 later")
    code, _, err = call("letters", study, "--send")
    assert (code, err) == (2, "konsil: no letter was accepted by the mail server\n")
    write_mail(study, 1)
    code, _, err = call("letters", study, "--due")
    assert code == 2
    assert err.startswith("konsil: 127.0.0.1:1: the mail server does not answer (")
    assert err.endswith("): 3 letters not sent; run the command again later\n")


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ((), "--dry-run, --send or --due: missing"),
        (("--send", "--due"), "--send and --due: expected one of them"),
        (("--bounces", "x", "--send"), "--bounces: cannot be combined"),
    ],
)
def test_options_that_do_not_fit_are_refused(
    call: Call, study: Path, options: tuple[str, ...], sentence: str
) -> None:
    code, _, err = call("letters", study, *options)
    assert code == 2
    assert sentence in err


def test_a_list_of_contacts_invites_its_raters(call: Call, study: Path, tmp_path: Path) -> None:
    table = tmp_path / "contacts.csv"
    table.write_text("rater,name,email\nr2,Ben Wombat,ben@new.example\n", "utf-8")
    code, out, _ = call("invite", study, "--list", table, "--url", "https://x.example.org")
    assert code == 0
    first, second = out.splitlines()
    assert first == "1 contact: 0 new, 1 changed"
    assert second.startswith("r2  https://x.example.org/come/")
    with open_folder(study).store() as store:
        assert people(store)["r2"].email == "ben@new.example"
    assert call("invite", study, "--who", "r1")[1].startswith("r1  https://study.example.org/come/")
    _, out, _ = call("invite", study, "--list", table, "--json")
    assert set(json.loads(out)) - {"notes"} == documented_keys()["invite --list"]
    code, _, err = call("invite", study, "--list", table, "--who", "r1")
    assert code == 2
    assert "--list: cannot be combined with --who" in err


@pytest.mark.slow
def test_no_address_name_or_link_is_in_logs_exports_backups_or_messages(
    call: Call, study: Path, post: Post, tmp_path: Path
) -> None:
    post.replies = {ADA.email: f"550 5.1.1 <{ADA.email}> Quokka unknown"}
    printed = [*call("letters", study, "--send")[1:]]
    box = tmp_path / "box"
    box.write_text(f"From a\nTo: {ADA.email}\n\n{ADA.name}\n")
    printed += call("letters", study, "--bounces", box, "--json")[1:]
    assert set(json.loads(printed[-2])) == documented_keys()["letters --bounces"]
    table = tmp_path / "contacts.csv"
    table.write_text(f"rater,name,email\nr1,=Quokka,{ADA.email}x@\nr1,Lösch,\n", "utf-8")
    printed += call("invite", study, "--list", table)[1:]
    post.replies = {}
    for command in (("log", "--json"), ("status",), ("verify-log",)):
        printed += call(command[0], study, *command[1:])[1:]
    for n, options in enumerate([(), ("--release",)]):
        target = tmp_path / f"export-{n}"
        call("export", study, target, *options)
        files = [f for f in target.rglob("*") if f.is_file()]
        assert files, options
        printed += [f.read_text("utf-8", errors="replace") for f in files]
    archived = archive_study(open_folder(study), tmp_path / "backups")
    with tarfile.open(archived.path) as archive:
        names = archive.getnames()
        manifest = archive.extractfile("manifest.json")
        assert manifest is not None
        printed.append(manifest.read().decode())
    assert "study/mail.toml" in names
    assert not any("letter-key" in name for name in names)
    links = [t.partition("/come/")[2].split()[0] for t in post.texts().values()]
    assert len(links) == 2
    with open_folder(study).store() as store:
        printed.append(repr(letters(store)))
    for word in (*CANARIES, *links):
        for text in printed:
            assert word not in text, (word, text[:200])


def test_a_bounce_is_in_the_log_with_who_read_it(
    call: Call, study: Path, post: Post, tmp_path: Path
) -> None:
    call("letters", study, "--send")
    [message_id] = [m["Message-ID"] for address, m in post.letters if address == ADA.email]
    box = tmp_path / "box"
    box.write_text(f"From MAILER-DAEMON\n{report(message_id, ADA.email)}", "utf-8")
    code, out, _ = call("letters", study, "--bounces", box, "--by", "Study desk")
    assert code == 0
    assert out.splitlines() == [
        "r1: letters to the address fail",
        "1 message; permanent delivery failures: 1 reported, 1 of letters of this study, 1 new",
    ]
    last = call("log", study, "--last", "1")[1]
    assert "  letter  r1 (Dr. Ada Quokka)  by staff-1 (Study desk)" in last
    [message_id] = [m["Message-ID"] for address, m in post.letters if address == BEN.email]
    refusal = report(message_id, BEN.email, status="5.7.1")
    box.write_text(f"From MAILER-DAEMON\n{refusal}", "utf-8")
    assert call("letters", study, "--bounces", box)[1].splitlines() == [
        "r2: a policy of the receiving server, such as a spam filter, refused a letter (5.7.1); the"
        " address is not marked",
        "1 message; permanent delivery failures: 1 reported, 1 of letters of this study, 0 new",
    ]


def test_an_erased_rater_has_no_letters(call: Call, study: Path) -> None:
    call("letters", study, "--send")
    folder = open_folder(study)
    with folder.store() as store:
        erasing.erase(
            store, folder.study, "r1", at="2027-03-01T12:00:00Z", by="desk", reason="asked"
        )
        assert sorted(letters(store)) == ["r2", "r3"]
        with pytest.raises(StoreError, match="erased"):
            begin(store, "r1", "reminder", at="2027-03-01T12:00:00Z")
        assert store.verify_log() == ()
    code, out, _ = call("letters", study, "--send")
    assert code == 0
    assert "no letter to 1 rater: does not take part (r1)" in out
