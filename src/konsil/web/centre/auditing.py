"""What a centre writes to its own audit log, and what its owners read of it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime
from functools import partial

from konsil.errors import KonsilError
from konsil.records.digits import stamp
from konsil.store import Store
from konsil.store.log.heads import head_of
from konsil.store.people import centre_log
from konsil.store.people.access import Visitor
from konsil.store.people.centre_log import SIGN_IN, AccessEntry, access_entries
from konsil.store.people.staff import staff_names
from konsil.web.centre.accounts import Invited, SignInService
from konsil.web.site.refused import RefusalLog, Refused, forgiven, limited
from konsil.web.site.site import Site, utc

REFUSALS_A_MINUTE = 60
"""How many refusals are noted of each study, with and without a person."""
REFUSALS_AN_HOUR = 600
"""The same, since guessing may go on for days."""
SHOWN = 200
"""Entries on the page of owners."""


@dataclass
class CentreAudit:
    """Writes to the log of a centre; a log that fails stops nobody's work."""

    log: Store
    clock: Callable[[], datetime] = utc
    refusals: RefusalLog = field(init=False)
    """Writes the refusals, with their limits."""

    def __post_init__(self) -> None:
        self.refusals = limited(
            self.log, self.now, a_minute=REFUSALS_A_MINUTE, an_hour=REFUSALS_AN_HOUR
        )

    def now(self) -> str:
        """The time as the log carries it."""
        return stamp(self.clock())

    def adopt(self, study: str, site: Site) -> None:
        """Note that a study is served for the first time, or with another database."""
        with forgiven():
            database = site.cookie.rpartition("-")[2]
            centre_log.adopt(self.log, study, database, head_of(site.store), at=self.now())

    def refuse(self, study: str, refused: Refused) -> None:
        """Note a sign-in that was refused; no more than a number of them a minute."""
        self.refusals.note(refused, study)

    def sign_out(self, visitors: Mapping[str, Visitor]) -> None:
        """Note that a device signed out of all studies; pseudonyms are those of each study."""
        devices = [
            {"study": slug, "who": visitor.who, "role": visitor.role}
            for slug, visitor in sorted(visitors.items())
        ]
        if devices:
            with forgiven():
                self.log.audit(centre_log.SIGNED_OUT, {"devices": devices}, self.now())

    def list_accounts(self, service: SignInService | None) -> None:
        """Note the list of accounts, where it is another one than at the last start."""
        people = () if service is None else service.people
        with forgiven():
            centre_log.list_accounts(self.log, digest(people), len(people), at=self.now())


def digest(people: Iterable[Invited]) -> str:
    """What tells one list of accounts from another; empty: nobody is listed."""
    entries = [asdict(person) for person in people]
    text = json.dumps(entries, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest() if entries else ""


@dataclass(frozen=True, slots=True)
class AuditRow:
    """One row of the owners' page."""

    at: str
    """When, ISO 8601 in UTC."""
    study: str
    """The study's part of the address; empty: the centre."""
    event: str
    """The kind of the entry, with the way of a sign-in or the state of a passkey."""
    person: str = ""
    """The pseudonym of the person that the row is about."""
    name: str = ""
    """The name, where it is known."""
    role: str = ""
    """The person's role."""
    by: str = ""
    """The pseudonym of the person who acted, if it is another."""
    detail: str = ""
    """The reason, the sites or the number."""


def rows(audit: CentreAudit, sites: Mapping[str, Site]) -> list[AuditRow]:
    """The last rows that the owner of these studies may read, the newest first.

    Of studies whose owner they are not, and of entries that name such a study, there are none.
    """
    # Refusals are the only entries that strangers cause: they crowd out no other one.
    kinds = tuple(kind for kind in centre_log.KINDS if kind != centre_log.REFUSED)
    merged = [
        row
        for some, last in (((centre_log.REFUSED,), SHOWN // 2), (kinds, SHOWN))
        for entry in access_entries(audit.log, some, last=last, studies=tuple(sites))
        for row in _readable(partial(_of_centre, entry, sites))
    ]
    for slug, site in sites.items():
        # A study whose database fails must not take the page of the others down.
        try:
            names = staff_names(site.store)
            entries = list(access_entries(site.store, centre_log.OF_PEOPLE, last=SHOWN))
            # From a time when the study was served alone.
            entries += access_entries(site.store, (centre_log.REFUSED,), last=SHOWN // 2)
        except KonsilError:
            continue
        for entry in entries:
            merged += _readable(partial(_of_study, slug, entry, names))
    return sorted(merged, key=lambda row: row.at, reverse=True)[:SHOWN]


def _readable(rows_of_entry: Callable[[], Iterable[AuditRow]]) -> list[AuditRow]:
    """The rows of an entry; none of one that was edited, which may hold anything.

    It is reported when the log is verified, and must not take down the page that does this.
    """
    try:
        return list(rows_of_entry())
    except (KeyError, TypeError, AttributeError):
        return []


def _of_centre(entry: AccessEntry, sites: Mapping[str, Site]) -> Iterator[AuditRow]:
    data, study = entry.data, str(entry.data.get("study", ""))
    if entry.kind == centre_log.SIGNED_OUT:
        for device in data.get("devices", ()):
            if device["study"] in sites:
                yield AuditRow(
                    entry.at, device["study"], entry.kind, device["who"], role=device["role"]
                )
    elif not study or study in sites:
        detail = data.get("reason") or data.get("entries") or data.get("database") or ""
        yield AuditRow(
            entry.at,
            study,
            f"{entry.kind}: {data['way']}" if "way" in data else entry.kind,
            str(data.get("who", "")),
            role=str(data.get("role", "")),
            detail=str(detail),
        )


def _of_study(slug: str, entry: AccessEntry, names: Mapping[str, str]) -> Iterator[AuditRow]:
    data, event, person = entry.data, entry.kind, str(entry.data.get("who", ""))
    if event == centre_log.REFUSED:
        yield AuditRow(
            entry.at,
            slug,
            f"{event}: {data['way']}",
            person,
            names.get(person, ""),
            str(data.get("role", "")),
            detail=str(data.get("reason", "")),
        )
        return
    if event == SIGN_IN:
        event = f"{event}: {data.get('via', 'link')}"
    elif "state" in data:
        event = f"{event} {data['state']}"
    keys = data.get("traces", {}).get("passkeys", {})
    # The digest of a row that was removed is empty.
    has_removed = not all(keys.values())
    sites = data.get("sites")
    yield AuditRow(
        entry.at,
        slug,
        event,
        person,
        names.get(person, ""),
        str(data.get("role", "")),
        str(data.get("by", "")),
        ", ".join(sites) if sites else "passkeys removed" if has_removed else "",
    )
