"""Sending letters, or showing them: each is noted before and after it is handed over."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from email import policy
from email.headerregistry import Address
from email.message import EmailMessage
from email.utils import format_datetime

from konsil.errors import KonsilError, StudyError
from konsil.letters.delivery import MailServer, MailServerError, Refusal
from konsil.letters.due import Absence, DueLetter, schedule
from konsil.letters.links import PATH, letter_key, made_link
from konsil.letters.mail_addresses import in_header
from konsil.letters.opened import Opened
from konsil.letters.settings import FILE, TEMPLATES, MailSettings, password, read_mail
from konsil.letters.templates import Contents, Templates, letter_text, read_templates
from konsil.records.digits import stamp
from konsil.store import Store
from konsil.store.calls.run_lock import sending_letters
from konsil.store.people.access import Access
from konsil.store.people.letters import LetterKind, State, begin, end, mark_failing
from konsil.store.people.staff import decider

ON_SENDING = "<personal link>"
"""What a dry run shows in place of the secret part of a link."""


@dataclass(frozen=True, slots=True)
class ShownLetter:
    """A letter as a dry run shows it, without the secret part of its link."""

    rater: str
    kind: LetterKind
    recipient: str
    """Name and address."""
    subject: str
    text: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one letter."""

    rater: str
    kind: LetterKind
    state: State
    code: str = ""
    """The server's code."""


@dataclass(frozen=True, slots=True)
class Sent:
    """What became of all letters of a run."""

    outcomes: tuple[Outcome, ...]
    absences: tuple[Absence, ...]
    """Who got none, and why."""
    stop: MailServerError | None = None
    """Why the run ended before its last letter."""
    n_waiting: int = 0
    """Letters that were not handed over for that reason."""

    @property
    def n_sent(self) -> int:
        """Letters that the server accepted."""
        return Counter(outcome.state for outcome in self.outcomes)["sent"]


@dataclass(frozen=True, slots=True)
class _Run:
    """What all letters of a run share."""

    folder: Opened
    store: Store
    mail: MailSettings
    templates: Templates
    by: str
    clock: Clock


class Clock:
    """The time; tests bring their own."""

    def now(self) -> datetime:
        """The time in UTC."""
        return datetime.now(UTC)


def shown_letters(
    folder: Opened, *, is_timed: bool = False, clock: Clock | None = None
) -> tuple[tuple[ShownLetter, ...], tuple[Absence, ...]]:
    """The letters that would be sent now; nothing is sent, made or stored."""
    mail = read_mail(folder)
    templates = _templates(folder, mail)
    now = (clock or Clock()).now()
    with folder.store() as store:
        key = letter_key(folder.path, may_write=False)
        plan = schedule(folder, store, mail, key, now=now, is_timed=is_timed)
    _check_contacts(plan.letters, templates)
    shown = []
    for due in plan.letters:
        subject, text = _texts(folder, mail, due, ON_SENDING, templates)
        to = str(_recipient(due))
        shown.append(ShownLetter(due.person.rater, due.kind, to, subject, text))
    return tuple(shown), plan.absences


def _templates(folder: Opened, mail: MailSettings) -> Templates:
    place = folder.path / mail.templates
    # Where mail.toml names the folder, letters with other texts would be wrong.
    if not place.is_dir() and (mail.templates != TEMPLATES or place.exists()):
        raise StudyError(
            f"{folder.path / FILE}: mail.templates: {place} is no folder; expected the texts of"
            " letters in it"
        )
    return read_templates(place)


def send_letters(
    folder: Opened, *, is_timed: bool = False, by: str = "", clock: Clock | None = None
) -> Sent:
    """Send the letters of now.

    Each is chosen again when its turn comes. It is stored as under way before it is handed over,
    and with its outcome afterwards: whoever ends this program, a letter that was accepted is not
    sent again, but for the one under way.
    """
    mail, chosen_clock = read_mail(folder), clock or Clock()
    templates, secret = _templates(folder, mail), password(mail, folder.path)
    now = chosen_clock.now()
    with folder.store() as store, sending_letters(store, stamp(now)):
        key = letter_key(folder.path, may_write=True) or b""
        plan = schedule(folder, store, mail, key, now=now, is_timed=is_timed)
        _check_contacts(plan.letters, templates)
        run = _Run(folder, store, mail, templates, decider(store, by), chosen_clock)
        outcomes: list[Outcome] = []
        absences = list(plan.absences)
        stop = None
        if plan.letters:
            try:
                with MailServer(mail, secret, folder.path) as server:
                    for planned in plan.letters:
                        # A run takes long: who has finished, left or moved since is seen here.
                        present = schedule(
                            folder,
                            store,
                            mail,
                            key,
                            now=run.clock.now(),
                            is_timed=is_timed,
                            rater=planned.person.rater,
                        )
                        _check_contacts(present.letters, templates)
                        absences += present.absences
                        outcomes += [_sent(run, server, due, key) for due in present.letters]
            except MailServerError as error:
                stop = error
    n_absent = len(absences) - len(plan.absences)
    n_waiting = len(plan.letters) - len(outcomes) - n_absent
    return Sent(tuple(outcomes), tuple(absences), stop, n_waiting)


def _sent(run: _Run, server: MailServer, due: DueLetter, key: bytes) -> Outcome:
    """Send one letter and note what became of it."""
    at, rater = stamp(run.clock.now()), due.person.rater
    link = due.link.secret or made_link(
        Access(run.store), key, rater, at=at, until=due.link.until, by=run.by
    )
    letter_id = begin(run.store, rater, due.kind, at=at)
    message = _message(run, due, link, letter_id)
    refusal = server.send(message, due.person.email)
    state = _state(refusal)
    code = refusal.code if refusal is not None else ""
    end(run.store, letter_id, state, at=stamp(run.clock.now()), code=code, by=run.by)
    if refusal is not None and refusal.is_address:
        mark_failing(run.store, rater, at=at)
    return Outcome(rater, due.kind, state, code)


def _state(refusal: Refusal | None) -> State:
    if refusal is None:
        return "sent"
    return "refused" if refusal.is_permanent else "deferred"


def _message(run: _Run, due: DueLetter, link: str, letter_id: str) -> EmailMessage:
    subject, text = _texts(run.folder, run.mail, due, link, run.templates)
    message = EmailMessage(policy=policy.SMTP)
    sender = run.mail.address
    message["From"] = sender
    message["To"] = _recipient(due)
    if run.mail.reply_address is not None:
        message["Reply-To"] = run.mail.reply_address
    message["Subject"] = in_header(subject)
    message["Date"] = format_datetime(run.clock.now())
    message["Message-ID"] = f"<{letter_id}@{sender.domain}>"
    # No answering machine replies to it (RFC 3834).
    message["Auto-Submitted"] = "auto-generated"
    # Lines as they are: a link that a mail program wraps is none.
    message.set_content(text, charset="utf-8", cte="quoted-printable")
    message["Content-Language"] = due.language
    return message


def _texts(
    folder: Opened, mail: MailSettings, due: DueLetter, link: str, templates: Templates
) -> tuple[str, str]:
    url = f"{mail.url.rstrip('/')}{PATH}{link}"
    name = mail.address.display_name
    contents = Contents(folder.study.title, due.person.name, url, due.link.until, due.n_tasks, name)
    return letter_text(due.kind, due.language, contents, templates)


def _recipient(due: DueLetter) -> Address:
    return Address(in_header(due.person.name), addr_spec=due.person.email)


def _check_contacts(letters: Sequence[DueLetter], templates: Templates) -> None:
    """Refuse, before the first letter, a text that needs a name where there is none."""
    for due in letters:
        template = templates.get((due.kind, due.language))
        if template is not None and template.has_name and not due.person.name:
            raise KonsilError(
                f"{template.place}: rater {due.person.rater!r} has no name for {{name}}; use"
                " {greeting}"
            )
