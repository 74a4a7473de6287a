"""Letters to a real mail server of this machine: who gets which, refusals, and ends half-way."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from email.utils import parsedate_to_datetime
from pathlib import Path

import pytest

from konsil.api.folder.folder import Folder, open_folder
from konsil.errors import KonsilError
from konsil.letters import sending
from konsil.letters.delivery import MailServer, MailServerError
from konsil.letters.links import KEY_FILE
from konsil.letters.sending import Outcome, Sent, send_letters, shown_letters
from konsil.records import Event
from konsil.store.calls.run_lock import sending_letters
from konsil.store.engine.engine import reading, writing
from konsil.store.log import study_events
from konsil.store.log.heads import head_of
from konsil.store.people.access import Access
from konsil.store.people.letters import letters
from konsil.store.people.people import Person, note_person, people
from konsil.store.tasks import withdrawal
from konsil.store.tasks.batches import close
from konsil.store.tasks.progress import counts
from mail_servers import ADA, BEN, EVA, URL, Day, Post, own_certificate, write_mail

REFUSED = "550 5.1.1 <ada.quokka@clinic.example> unknown"


def link(text: str) -> str:
    """The only link of a text."""
    [found] = re.findall(rf"{URL}/come/(\S+)", text)
    return str(found)


def outcomes(sent: Sent) -> list[tuple[str, str, str]]:
    return [(o.rater, o.kind, o.state) for o in sent.outcomes]


def reasons(sent: Sent) -> dict[str, str]:
    return {absence.rater: absence.reason for absence in sent.absences}


def test_everybody_gets_an_invitation_and_later_a_reminder_with_the_same_link_that_works(
    folder: Folder, post: Post, day: Day
) -> None:
    assert outcomes(send_letters(folder, clock=day)) == [
        (rater, "invitation", "sent") for rater in ("r1", "r2", "r3")
    ]
    invitations = post.texts()
    letter = post.letters[0][1]
    assert letter["From"] == "Study office <office@study.example.org>"
    assert letter["To"] == '"Dr. Ada Quokka" <ada.quokka@clinic.example>'
    assert letter["Reply-To"] == "desk@study.example.org"
    assert letter["Subject"] == "Invitation to the study “Right or wrong?”"
    assert parsedate_to_datetime(letter["Date"]) == day.time.replace(microsecond=0)
    assert re.fullmatch(r"<[0-9a-f]{32}@study\.example\.org>", letter["Message-ID"])
    assert (letter["Auto-Submitted"], letter["Content-Language"]) == ("auto-generated", "en")
    assert letter.get_content_type() == "text/plain"
    assert len({each["Message-ID"] for _, each in post.letters}) == 3
    assert invitations[BEN.email].startswith("Dear colleague,\r\n")
    assert invitations[BEN.email].endswith("Kind regards\r\nStudy office\r\n")
    assert invitations[EVA.email].startswith("Guten Tag Eva Lösch,\r\n")

    again = send_letters(folder, clock=day)
    assert (outcomes(again), set(reasons(again).values())) == ([], {"has a letter of today"})

    day.pass_days(1)
    assert outcomes(send_letters(folder, clock=day))[0] == ("r1", "reminder", "sent")
    reminders = post.texts()
    assert reminders[EVA.email].splitlines()[2] == (
        "in der Studie „Right or wrong?“ warten 2 Aufgaben auf Sie."
    )
    for address, text in invitations.items():
        assert link(reminders[address]) == link(text)
    with folder.store() as store:
        assert len(Access(store).invitations()) == 3, "those that 'konsil invite' made"
        found = Access(store).invitation(link(reminders[ADA.email]), day.time.isoformat())
        assert found is not None
        assert found.who == "r1"


def test_a_link_of_the_page_stays_and_the_letters_have_one_of_their_own(
    folder: Folder, post: Post, day: Day
) -> None:
    (folder.path / KEY_FILE).unlink()  # as if all links were made before there was a mail.toml
    send_letters(folder, clock=day)
    first = post.texts()
    day.pass_days(1)
    send_letters(folder, clock=day)
    assert {a: link(t) for a, t in post.texts().items()} == {a: link(t) for a, t in first.items()}
    with folder.store() as store:
        made = Access(store).invitations()
    assert Counter(i.who for i in made) == {"r1": 2, "r2": 2, "r3": 2}
    assert all(i.revoked_at is None for i in made)


@pytest.mark.slow
def test_letters_follow_the_schedule_and_a_timer_that_calls_twice_sends_once(
    folder: Folder, post: Post, day: Day
) -> None:
    sent_on = []
    for n in range(9):
        for _ in range(2):
            if send_letters(folder, is_timed=True, clock=day).outcomes:
                sent_on.append(n)
        if n == 0:
            waits = send_letters(folder, is_timed=True, clock=day)
            assert set(reasons(waits).values()) == {"has a letter of today"}
        if n == 1:
            waits = send_letters(folder, is_timed=True, clock=day)
            assert set(reasons(waits).values()) == {"next reminder in 2 days"}
        if n == 2:
            waits = send_letters(folder, is_timed=True, clock=day)
            assert set(reasons(waits).values()) == {"next reminder in 1 day"}
        day.pass_days(1)
    assert sent_on == [0, 3, 7]
    assert set(reasons(send_letters(folder, is_timed=True, clock=day)).values()) == {
        "no reminder is due"
    }


def test_a_reminder_that_comes_late_counts_for_all_days_that_have_passed(
    folder: Folder, post: Post, day: Day
) -> None:
    send_letters(folder, is_timed=True, clock=day)
    day.pass_days(8)
    assert len(send_letters(folder, is_timed=True, clock=day).outcomes) == 3
    day.pass_days(1)
    assert not send_letters(folder, is_timed=True, clock=day).outcomes


def test_nobody_gets_a_letter_who_has_finished_withdrawn_refused_or_has_no_link(
    folder: Folder, post: Post, day: Day
) -> None:
    at = day.time.strftime("%Y-%m-%dT%H:%M:%SZ")
    with folder.store() as store:
        tasks = {t.rater: t for t in store.tasks()}
        withdrawal.withdraw(store, folder.study, "r2", at=at, by="desk")
        refused = Event("consent r3", "consent", "r3", at, {"agreed": False})
        with writing(store.engine) as connection:
            study_events.append_event(connection, refused)
        Access(store).revoke("r1", at=at, stay=True)
    assert tasks
    sent = send_letters(folder, clock=day)
    assert not post.letters
    assert reasons(sent) == {
        "r1": "no link that works",
        "r2": "does not take part",
        "r3": "does not take part",
    }
    assert sent.n_sent == 0


def test_an_address_that_is_none_is_left_out_and_the_others_get_theirs(
    folder: Folder, post: Post, day: Day
) -> None:
    with folder.store() as store:
        note_person(store, Person("r1", "Ada", "ada@localhost"))
        note_person(store, Person("r2", "Ben\nBcc: x@x.org", BEN.email))
    sent = send_letters(folder, clock=day)
    assert outcomes(sent) == [("r3", "invitation", "sent")]
    assert set(reasons(sent).values()) == {"the name or e-mail address cannot be used; correct it"}


def test_what_looks_like_an_encoded_word_begins_no_header(
    folder: Folder, post: Post, day: Day
) -> None:
    """The library decodes such words, line breaks included, when it writes a header."""
    word = "=?utf-8?q?a=0D=0ABcc:_x@x.org?="
    protocol = folder.path / "study.toml"
    protocol.write_text(protocol.read_text("utf-8").replace("Right or wrong?", word), "utf-8")
    write_mail(folder.path, post.port, f"reply_to = '\"{word}\" <desk@study.example.org>'")
    with folder.store() as store:
        note_person(store, Person("r1", word, ADA.email))
    send_letters(open_folder(folder.path), clock=day)
    letter = post.letters[0][1]
    assert "Bcc" not in letter
    assert [to.addr_spec for to in letter["To"].addresses] == [ADA.email]
    assert letter["Reply-To"].addresses[0].addr_spec == "desk@study.example.org"
    assert letter["Subject"] == "Invitation to the study “= ?utf-8?q?a=0D=0ABcc:_x@x.org?=”"


def test_links_for_one_use_and_closed_batches_get_no_letters(
    folder: Folder, post: Post, day: Day
) -> None:
    at, later = (f"{day.time.year + n}-03-01T12:00:00Z" for n in (0, 2))
    with folder.store() as store:
        Access(store).revoke("r1", at=at, stay=True)
        Access(store).invite("r1", "rater", at=at, expires_at=later, most_uses=1)
        with reading(store.engine) as connection:
            cells = {(c.phase, c.batch) for c in counts(connection)}
        for phase, batch in cells:
            close(store, phase, batch, "r2", at=at)
    assert reasons(send_letters(folder, clock=day)) == {
        "r1": "the link works once; a letter needs one that works until it expires",
        "r2": "all tasks completed",
    }


def test_a_refused_address_is_reported_and_marked_and_the_others_get_theirs(
    folder: Folder, post: Post, day: Day
) -> None:
    post.replies = {ADA.email: REFUSED, BEN.email: "451 4.2.1 try again later"}
    sent = send_letters(folder, clock=day)
    assert sent.outcomes == (
        Outcome("r1", "invitation", "refused", "550 5.1.1"),
        Outcome("r2", "invitation", "deferred", "451 4.2.1"),
        Outcome("r3", "invitation", "sent"),
    )
    with folder.store() as store:
        assert people(store)["r1"].failing
        [deferred] = letters(store)["r2"]
    post.replies = {}
    again = send_letters(folder, clock=day)
    assert outcomes(again) == [("r2", "invitation", "sent")]
    assert post.letters[-1][1]["Message-ID"].startswith(f"<{deferred.id}@")
    assert reasons(again)["r1"].startswith("letters to the address fail since ")
    with folder.store() as store:
        note_person(store, Person("r1", ADA.name, "ada@clinic.example"))
    assert outcomes(send_letters(folder, clock=day)) == [("r1", "invitation", "sent")]


@pytest.mark.parametrize(
    "reply",
    [
        "550 5.7.1 relaying denied",
        "550 5.1.8 <office@study.example.org> has no domain",
        "530 authentication required",
        "503 AUTH first",
        "554 no",
    ],
)
def test_what_the_servers_policy_forbids_is_no_fault_of_the_address(
    folder: Folder, post: Post, day: Day, reply: str
) -> None:
    post.replies = dict.fromkeys((ADA.email, BEN.email, EVA.email), reply)
    assert {o.state for o in send_letters(folder, clock=day).outcomes} == {"refused"}
    with folder.store() as store:
        assert not any(person.failing for person in people(store).values())


def test_a_server_that_closes_each_connection_after_a_letter_gets_all_through_new_ones(
    folder: Folder, post: Post, day: Day
) -> None:
    post.drop_after = 1
    assert send_letters(folder, clock=day).n_sent == 3
    assert sorted(a for a, _ in post.letters) == sorted([ADA.email, BEN.email, EVA.email])


def test_a_server_that_goes_away_ends_the_run_and_the_next_one_sends_the_rest(
    folder: Folder, post: Post, day: Day, monkeypatch: pytest.MonkeyPatch
) -> None:
    handed_over = MailServer.send

    def away_after_one(server: MailServer, letter: object, address: str) -> object:
        if post.letters:
            post.drop_after = 0
            server.__exit__(None, None, None)
        return handed_over(server, letter, address)

    with monkeypatch.context() as patch:
        patch.setattr(MailServer, "send", away_after_one)
        sent = send_letters(folder, clock=day)
    assert (sent.n_sent, sent.n_waiting) == (1, 2)
    assert str(sent.stop) == f"127.0.0.1:{post.port}: the mail server closed the connection"
    post.drop_after = None
    assert [o.rater for o in send_letters(folder, clock=day).outcomes] == ["r3", "r2"], (
        "the one under way is last"
    )
    assert Counter(a for a, _ in post.letters) == {ADA.email: 1, BEN.email: 1, EVA.email: 1}


def test_who_finishes_leaves_or_moves_during_a_run_gets_no_letter_of_before(
    folder: Folder, post: Post, day: Day, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After the first letter, the second rater loses the link, the third has another address."""
    handed_over = MailServer.send

    def meanwhile(server: MailServer, letter: object, address: str) -> object:
        with folder.store() as store:
            if not post.letters:
                at = day.time.strftime("%Y-%m-%dT%H:%M:%SZ")
                Access(store).revoke("r2", at=at)
                note_person(store, Person("r3", EVA.name, "eva.new@clinic.example"))
        return handed_over(server, letter, address)

    monkeypatch.setattr(MailServer, "send", meanwhile)
    sent = send_letters(folder, clock=day)
    assert [address for address, _ in post.letters] == [ADA.email, "eva.new@clinic.example"]
    assert (reasons(sent), sent.n_waiting) == ({"r2": "no link that works"}, 0)
    with folder.store() as store:
        assert letters(store).keys() == {"r1", "r3"}


@pytest.mark.parametrize("is_accepted", [False, True])
def test_a_program_that_is_killed_sends_no_letter_twice_but_the_one_under_way(
    folder: Folder, post: Post, day: Day, monkeypatch: pytest.MonkeyPatch, is_accepted: bool
) -> None:
    """Killed before the second letter is handed over, or after it was accepted."""
    handed_over = MailServer.send

    class KilledError(BaseException):
        pass

    def killed(server: MailServer, letter: object, address: str) -> object:
        if len(post.letters) == 1:
            if is_accepted:
                handed_over(server, letter, address)
            raise KilledError
        return handed_over(server, letter, address)

    with monkeypatch.context() as patch:
        patch.setattr(MailServer, "send", killed)
        with pytest.raises(KilledError):
            send_letters(folder, clock=day)
    assert [o.rater for o in send_letters(folder, clock=day).outcomes] == ["r3", "r2"], (
        "the one under way is last"
    )
    again = [each["Message-ID"] for address, each in post.letters if address == BEN.email]
    assert len(again) == 1 + is_accepted
    assert len(set(again)) == 1, "a server that has it can recognise it"
    assert [a for a, _ in post.letters].count(ADA.email) == 1


KILLED = """
import os, signal, sys
from pathlib import Path
from konsil.api.folder.folder import open_folder
from konsil.letters.delivery import MailServer
from konsil.letters.sending import send_letters
handed_over = MailServer.send
def killed(server, letter, address):
    handed_over(server, letter, address)
    os.kill(os.getpid(), signal.SIGKILL)
MailServer.send = killed
send_letters(open_folder(Path(sys.argv[1])))
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="no such signal")
def test_a_killed_process_leaves_no_lock_and_its_letter_alone_is_sent_again(
    folder: Folder, post: Post, day: Day
) -> None:
    done = subprocess.run([sys.executable, "-c", KILLED, str(folder.path)], check=False)
    assert done.returncode == -signal.SIGKILL
    assert [address for address, _ in post.letters] == [ADA.email]
    assert send_letters(folder, clock=day).n_sent == 3
    assert Counter(a for a, _ in post.letters) == {ADA.email: 2, BEN.email: 1, EVA.email: 1}
    first, second = (m for a, m in post.letters if a == ADA.email)
    assert first["Message-ID"] == second["Message-ID"]
    assert link(first.get_content()) == link(second.get_content())


def test_two_runs_at_once_are_refused(folder: Folder, post: Post, day: Day) -> None:
    refusal = pytest.raises(KonsilError, match="letters are being sent by another process")
    with folder.store() as store, sending_letters(store, "2025-03-01T12:00:00Z"), refusal:
        send_letters(folder, clock=day)
    assert not post.letters


def test_a_dry_run_shows_every_letter_without_the_link_and_changes_nothing(
    folder: Folder, post: Post, day: Day
) -> None:
    with folder.store() as store:
        before = head_of(store)
    shown, absences = shown_letters(folder, clock=day)
    assert [(s.rater, s.kind) for s in shown] == [(r, "invitation") for r in ("r1", "r2", "r3")]
    assert shown[0].recipient == '"Dr. Ada Quokka" <ada.quokka@clinic.example>'
    assert f"{URL}/come/{sending.ON_SENDING}" in shown[0].text.splitlines()
    assert absences == ()
    assert not post.letters
    with folder.store() as store:
        assert (head_of(store), letters(store)) == (before, {})
    send_letters(folder, clock=day)
    sent = post.texts()[ADA.email].replace(link(post.texts()[ADA.email]), sending.ON_SENDING)
    assert sent.replace("\r\n", "\n") == shown[0].text


# Here the whole connection is encrypted, which the server of the tests does not know.
@pytest.mark.filterwarnings("ignore:Requiring AUTH while not requiring TLS")
@pytest.mark.parametrize("security", ["starttls", "tls"])
def test_accounts_are_used_over_tls_alone_with_a_certificate_that_is_checked(
    folder: Folder, serve: Callable[..., Post], day: Day, tmp_path: Path, security: str
) -> None:
    certificate, context = own_certificate(tmp_path)
    tls = {"tls_context" if security == "starttls" else "ssl_context": context}
    post = serve(Post(password="right"), auth_require_tls=security == "starttls", **tls)
    account = ('user = "trial"', 'password_file = "mail-password"')
    (folder.path / "mail-password").write_text("canary-password\n")

    write_mail(folder.path, post.port, *account, security=security)
    assert str(send_letters(folder, clock=day).stop) == (
        f"127.0.0.1:{post.port}: no encrypted connection (CERTIFICATE_VERIFY_FAILED); check"
        " security, port and ca_file"
    )
    write_mail(folder.path, post.port, *account, f'ca_file = "{certificate}"', security=security)
    sent = send_letters(folder, clock=day)
    assert str(sent.stop) == (
        f"127.0.0.1:{post.port}: the mail server refuses the account 'trial' or its password (535)"
    )
    assert (sent.n_sent, sent.n_waiting) == (0, 3)
    (folder.path / "mail-password").write_text("right\n")
    assert send_letters(folder, clock=day).n_sent == 3


@pytest.mark.filterwarnings("ignore:Requiring AUTH while not requiring TLS")
def test_a_server_without_passwords_and_a_password_that_is_not_ascii_are_one_sentence(
    folder: Folder, serve: Callable[..., Post], day: Day
) -> None:
    post = serve(
        Post(password="right"), auth_require_tls=False, auth_exclude_mechanism=("LOGIN", "PLAIN")
    )
    write_mail(folder.path, post.port, 'user = "trial"', 'password_file = "mail-password"')
    secret = folder.path / "mail-password"
    secret.write_text("right\n", "utf-8-sig")
    stop = send_letters(folder, clock=day).stop
    assert "offers no way to sign in with a password" in str(stop)
    secret.write_text("canäry\n", "utf-8")
    with pytest.raises(KonsilError, match="characters other than those of ASCII") as error:
        send_letters(folder, clock=day)
    assert "canäry" not in str(error.value)


def test_a_server_that_is_away_or_lacks_tls_is_one_sentence(
    folder: Folder, post: Post, day: Day
) -> None:
    write_mail(folder.path, 1)
    with pytest.raises(MailServerError, match=r"^127.0.0.1:1: the mail server does not answer \("):
        raise send_letters(folder, clock=day).stop or AssertionError
    write_mail(folder.path, post.port, security="starttls")
    with pytest.raises(MailServerError, match=r"does not offer .*security = 'starttls'"):
        raise send_letters(folder, clock=day).stop or AssertionError
    assert not post.letters
    with folder.store() as store:
        assert letters(store) == {}
