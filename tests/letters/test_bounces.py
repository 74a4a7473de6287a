"""Delivery failures: matched by the identifier of the letter and the address, and nothing else."""

from __future__ import annotations

import mailbox
from email import message_from_string
from pathlib import Path

import pytest

from konsil.api.folder.folder import Folder
from konsil.errors import KonsilError
from konsil.letters.bounces import read_bounces
from konsil.letters.sending import send_letters
from konsil.store.log import audit
from konsil.store.people.centre_log import access_entries
from konsil.store.people.letters import letters
from konsil.store.people.people import Person, note_person, people
from mail_servers import ADA, BEN, Day, Post, report


def box(folder: Folder, *messages: str, is_maildir: bool = False) -> Path:
    place = folder.path.parent / "bounces"
    made = mailbox.Maildir(place) if is_maildir else mailbox.mbox(place)
    for message in messages:
        made.add(message_from_string(message))
    made.close()
    return place


@pytest.mark.parametrize("part", ["message/rfc822", "text/rfc822-headers"])
@pytest.mark.parametrize("is_maildir", [False, True])
def test_an_address_that_bounces_gets_no_further_letters_until_it_is_corrected(
    folder: Folder, post: Post, day: Day, part: str, is_maildir: bool
) -> None:
    send_letters(folder, clock=day)
    [message_id] = [m["Message-ID"] for address, m in post.letters if address == ADA.email]
    note = "From: a@x.org\nSubject: Out of office\n\nBack on Monday.\n"
    place = box(
        folder, note, report(message_id, ADA.email.upper(), part=part), is_maildir=is_maildir
    )
    bounced = read_bounces(folder, place)
    assert bounced.raters == ("r1",)
    assert (bounced.n_messages, bounced.n_reports, bounced.n_matched) == (2, 1, 1)
    with folder.store() as store:
        assert people(store)["r1"].failing
        assert [(r.state, r.code) for r in letters(store)["r1"]] == [("bounced", "5.1.1")]
    assert read_bounces(folder, place).raters == (), "the mailbox can be read again"
    day.pass_days(1)
    assert [o.rater for o in send_letters(folder, clock=day).outcomes] == ["r2", "r3"]
    with folder.store() as store:
        note_person(store, Person("r1", ADA.name, "ada@clinic.example"))
    assert read_bounces(folder, place).raters == (), "the old address failed, not this one"
    [again] = send_letters(folder, clock=day).outcomes
    assert (again.rater, again.kind, again.state) == ("r1", "invitation", "sent")


def test_a_policy_refuses_a_letter_and_marks_no_address(
    folder: Folder, post: Post, day: Day
) -> None:
    send_letters(folder, clock=day)
    ids = {address: m["Message-ID"] for address, m in post.letters}
    place = box(
        folder,
        report(ids[ADA.email], ADA.email, status="5.7.1"),
        # Of two reports on one letter the one about the address counts.
        report(ids[BEN.email], BEN.email),
        report(ids[BEN.email], BEN.email, status="5.7.26"),
    )
    bounced = read_bounces(folder, place)
    assert (bounced.raters, bounced.refused) == (("r2",), {"r1": "5.7.1"})
    assert (bounced.n_reports, bounced.n_matched) == (3, 2)
    again = read_bounces(folder, place)
    assert (again.raters, again.refused, again.n_matched) == ((), {}, 2)
    with folder.store() as store:
        assert not people(store)["r1"].failing
        assert [(r.state, r.code) for r in letters(store)["r1"]] == [("sent", "5.7.1")]
        entry = next(access_entries(store, (audit.LETTER,), last=1))
        assert (entry.data["who"], entry.data["outcome"]) == ("r1", "refused by policy")
        assert store.verify_log() == ()
    # The letter of today stays the letter of today, and reminders go on.
    assert [o.rater for o in send_letters(folder, clock=day).outcomes] == []
    day.pass_days(3)
    assert [o.rater for o in send_letters(folder, clock=day).outcomes] == ["r1", "r3"]


def test_other_reports_change_nothing(folder: Folder, post: Post, day: Day) -> None:
    send_letters(folder, clock=day)
    [of_ada] = [m["Message-ID"] for address, m in post.letters if address == ADA.email]
    foreign = f"<{'0' * 32}@study.example.org>"
    place = box(
        folder,
        report(of_ada, ADA.email, action="delayed", status="4.4.1"),
        report(of_ada, BEN.email),
        report(foreign, ADA.email),
        report(of_ada, ADA.email, kind="x400"),
        report("", ADA.email),
        report(of_ada, ADA.email).replace("multipart/report", "multipart/mixed"),
        report(of_ada, ADA.email).replace("Status: 5.1.1", "Status: \xff"),
    )
    bounced = read_bounces(folder, place)
    assert (bounced.raters, bounced.n_matched) == ((), 0)
    with folder.store() as store:
        assert not people(store)["r1"].failing


def test_a_message_that_is_nested_without_end_stops_no_other(
    folder: Folder, post: Post, day: Day
) -> None:
    send_letters(folder, clock=day)
    [message_id] = [m["Message-ID"] for address, m in post.letters if address == ADA.email]
    place = folder.path.parent / "bounces"
    nested = "Content-Type: message/rfc822\n\n" * 3_000
    report_of_ada = report(message_id, ADA.email)
    place.write_text(f"From a@x.org\n{nested}x\n\nFrom a@x.org\n{report_of_ada}\n", "utf-8")
    bounced = read_bounces(folder, place)
    assert (bounced.raters, bounced.n_messages) == (("r1",), 2)


def test_what_is_no_mailbox_is_one_sentence(folder: Folder) -> None:
    with pytest.raises(KonsilError, match="is no Maildir; expected the subfolders cur and new"):
        read_bounces(folder, folder.path)
    with pytest.raises(KonsilError, match="is no mbox file; expected 'From ' at its beginning"):
        read_bounces(folder, folder.path / "study.toml")
    with pytest.raises(KonsilError, match="there is no such file"):
        read_bounces(folder, folder.path / "none")
