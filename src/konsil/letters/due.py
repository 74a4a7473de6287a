"""Who gets a letter now, and why the others get none."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from konsil.letters.links import PersonalLink, derivable
from konsil.letters.mail_addresses import is_address
from konsil.letters.opened import Opened
from konsil.letters.settings import MailSettings
from konsil.locale import catalogue_language
from konsil.store import Store
from konsil.store.engine.engine import reading
from konsil.store.log import study_events
from konsil.store.log.erasures import erased_raters
from konsil.store.people.access import Access, Invitation
from konsil.store.people.letters import LetterKind, LetterRecord, letters
from konsil.store.people.people import Person, people
from konsil.store.tasks import progress, withdrawal
from konsil.study.sections.enrolment import (
    CONSENT,
    ELIGIBILITY,
    not_taking_part,
    withdrawn_consents,
)
from konsil.web.rating.consensus.pilot import Pilot


@dataclass(frozen=True, slots=True)
class DueLetter:
    """A letter that is to be sent."""

    person: Person
    kind: LetterKind
    language: str
    link: PersonalLink
    n_tasks: int
    """Tasks that are not completed."""


@dataclass(frozen=True, slots=True)
class Absence:
    """Why a rater gets no letter now."""

    rater: str
    reason: str


@dataclass(frozen=True, slots=True)
class Schedule:
    """The letters of now, and who gets none."""

    letters: tuple[DueLetter, ...]
    absences: tuple[Absence, ...]


@dataclass(frozen=True, slots=True)
class _Standing:
    """How a rater stands."""

    is_out: bool
    """Withdrawn, erased, or not taking part."""
    n_tasks: int
    """Tasks that are not completed, in open batches."""
    n_planned: int
    invitations: Sequence[Invitation]
    """Personal links that work, oldest first."""
    is_once: bool
    """Whether there are only links for one use."""
    has_signed_in: bool
    letters: Sequence[LetterRecord]


def schedule(
    folder: Opened,
    store: Store,
    mail: MailSettings,
    key: bytes | None,
    *,
    now: datetime,
    is_timed: bool,
    rater: str = "",
) -> Schedule:
    """The letters that are to be sent now, to all or to one rater.

    Raters with an address and a link that works get an invitation, or a reminder while tasks are
    not completed; at most one letter a day (UTC). `is_timed`: reminders only on their days.
    """
    contacts = people(store)
    standings = _standings(folder, store, now, rater)
    pilot = Pilot(folder.study, store, lambda: _stamp(now))
    due, absences = [], []
    for who, standing in standings.items():
        person = contacts.get(who, Person(who))
        kind = _kind(standing)
        reason = _absence(person, standing, now)
        if not reason and kind == "reminder":
            not_yet = _not_yet(standing, mail.remind_after_days, now) if is_timed else ""
            reason = not_yet or _waits(pilot, who)
        if reason:
            absences.append(Absence(who, reason))
            continue
        link = derivable(key, standing.invitations) or PersonalLink(
            "", standing.invitations[-1].expires_at
        )
        language = catalogue_language(person.language or folder.study.language) or "en"
        due.append(DueLetter(person, kind, language, link, standing.n_tasks))
    # One at which the server closes the connection each time must not stop all after it for ever.
    due.sort(key=lambda each: any(not r.is_final for r in standings[each.person.rater].letters))
    return Schedule(tuple(due), tuple(absences))


def _standings(folder: Opened, store: Store, now: datetime, only: str) -> Mapping[str, _Standing]:
    records = letters(store, only)
    invitations: dict[str, list[Invitation]] = defaultdict(list)
    for invitation in Access(store).invitations(only):
        if invitation.role == "rater":
            invitations[invitation.who].append(invitation)
    with reading(store.engine) as connection:
        panels = withdrawal.panels(connection, folder.study)
        events = [e for k in (CONSENT, ELIGIBILITY) for e in study_events.of_kind(connection, k)]
        out = withdrawal.withdrawn_raters(connection) | erased_raters(connection).keys()
        out |= not_taking_part(events) | withdrawn_consents(events)
        closed = study_events.closed_batches(connection)
        n_tasks: Counter[str] = Counter()
        n_planned: Counter[str] = Counter()
        for count in progress.counts(connection, only):
            n_planned[count.rater] += count.tasks
            if not {(count.phase, count.batch, r) for r in ("", count.rater)} & closed:
                n_tasks[count.rater] += count.tasks - count.n_completed
    at = _stamp(now)
    standings = {}
    for rater, (_, kind) in panels.items():
        if kind != "human" or only not in ("", rater):
            continue
        open_links = [i for i in invitations[rater] if i.open(at)]
        personal = [i for i in open_links if i.most_uses is None]
        standings[rater] = _Standing(
            rater in out,
            n_tasks[rater],
            n_planned[rater],
            personal,
            bool(open_links) and not personal,
            any(i.used_at for i in invitations[rater]),
            records.get(rater, ()),
        )
    return standings


def _stamp(now: datetime) -> str:
    return now.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _kind(standing: _Standing) -> LetterKind:
    is_invited = any(r.kind == "invitation" and r.state == "sent" for r in standing.letters)
    return "reminder" if is_invited or standing.has_signed_in else "invitation"


def _absence(person: Person, standing: _Standing, now: datetime) -> str:
    """Why a person gets no letter; empty where nothing is against it."""
    today = _stamp(now)[:10]
    if standing.is_out:
        return "does not take part"
    if not person.email:
        return "no e-mail address"
    if not is_address(person.email) or not person.name.isprintable():
        return "the name or e-mail address cannot be used; correct it"
    if person.failing:
        return f"letters to the address fail since {person.failing[:10]}"
    if standing.n_planned and not standing.n_tasks:
        return "all tasks completed"
    if standing.is_once:
        return "the link works once; a letter needs one that works until it expires"
    if not standing.invitations:
        return "no link that works"
    # What was refused or came back did not arrive: a corrected address is used at once.
    if any(r.state == "sent" and r.at[:10] == today for r in standing.letters):
        return "has a letter of today"
    if _kind(standing) == "reminder" and not standing.n_tasks:
        return "no tasks"
    return ""


def _waits(pilot: Pilot, rater: str) -> str:
    """Why a rater with tasks can do none now; empty where they can."""
    stage = pilot.stage(rater)
    return "waits for others to complete the pilot" if stage is not None and stage.waiting else ""


def _not_yet(standing: _Standing, days: Sequence[int], now: datetime) -> str:
    """Why a reminder is not due; empty where it is.

    A reminder that was sent after several days of the schedule had passed counts for all of them.
    """
    sent = [r for r in standing.letters if r.state == "sent"]
    begin = max(
        (r.at for r in sent if r.kind == "invitation"),
        default=min(i.made_at for i in standing.invitations),
    )
    passed = _days(begin, _stamp(now))
    reminded = max((_days(begin, r.at) for r in sent if r.kind == "reminder"), default=0)
    if any(reminded < day <= passed for day in days):
        return ""
    later = [day for day in days if day > passed]
    n = later[0] - passed if later else 0
    return f"next reminder in {n} {'day' if n == 1 else 'days'}" if n else "no reminder is due"


def _days(first: str, last: str) -> int:
    return (datetime.fromisoformat(last[:10]) - datetime.fromisoformat(first[:10])).days
