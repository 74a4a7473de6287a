"""Erasing a rater.

Values, texts, drafts, notes, profile, name and address, and the salt of the log's hashes of them.

What stays is the plan (who was to rate what, under the identifier), the fact of an erasure with its
date, reason and author, and the log's entries, whose hashes mean nothing without the salt. One
transaction: all of it or nothing.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from konsil.errors import StoreError, nearest
from konsil.records import Event
from konsil.store.engine import engine, page_schema, schema
from konsil.store.engine.rows import KINDS
from konsil.store.log import anchoring, audit, study_events
from konsil.store.log.db import Store
from konsil.store.log.erasures import erased, erased_raters, n_retained
from konsil.store.log.revocation import revoke_access
from konsil.store.log.salts import Salts, owner_of
from konsil.store.people import access
from konsil.store.privacy.selection import Selection
from konsil.store.tasks import withdrawal
from konsil.study import Study
from konsil.study.sections.enrolment import CONSENT, ELIGIBILITY, PROFILE


@dataclass(frozen=True, slots=True)
class Erased:
    """What an erasure erased, or would erase."""

    rater: str
    """Whose data."""
    records: Mapping[str, int] = field(default_factory=dict)
    """Table -> rows that are removed or blanked."""
    ratings: int = 0
    """Ratings that are removed."""
    n_retained: int = 0
    """Ratings that stay, without texts and times."""
    moved: int = 0
    """Open tasks that go to others or lapse."""
    at: str = ""
    """When it was done; empty: not yet."""
    by: str = ""
    """Who did it."""
    anchored: anchoring.Anchored | None = None
    """The log was anchored anew for it."""
    is_clean: bool = True
    """Whether the database's files were rewritten afterwards."""


def preview(store: Store, study: Study, rater: str) -> Erased:
    """What an erasure would erase; nothing changes."""
    with engine.reading(store.engine) as connection:
        previous = erased_raters(connection).get(rater)
        if previous is not None:
            return _before(previous)
        _check_known(connection, study, rater)
        plan = Selection(connection, study, rater)
        before = plan.records()
        moved = 0
        if rater in withdrawal.panels(
            connection, study
        ) and rater not in withdrawal.withdrawn_raters(connection):
            moved = len(withdrawal.preview(store, study, rater).holders)
        needs = anchoring.is_older(connection)
        head = audit.head(connection)
    anchored = anchoring.Anchored(f"{head[0]}-{head[1]}", "", ()) if needs else None
    return Erased(rater, before, plan.removed, plan.n_retained, moved, anchored=anchored)


def erase(store: Store, study: Study, rater: str, *, at: str, by: str, reason: str) -> Erased:
    """Erase a rater.

    A second time nothing is left to erase, and only the database's files are rewritten again.
    """
    for name, text in (("by", by), ("reason", reason)):
        if not text.strip():
            raise StoreError(f"{name}: is empty; the log states who erased and why")
    with engine.writing(store.engine) as connection:
        audit.next_entry(connection)  # others who write wait here
        before = erased_raters(connection).get(rater)
        erasure = (
            _before(before)
            if before is not None
            else _erase(connection, study, rater, at, by.strip(), reason)
        )
    # After the transaction: files cannot be rewritten within one.
    clean = engine.rewrite_files(store.engine)
    return Erased(
        rater,
        erasure.records,
        erasure.ratings,
        erasure.n_retained,
        erasure.moved,
        erasure.at,
        erasure.by,
        erasure.anchored,
        is_clean=clean,
    )


def _before(event: Event) -> Erased:
    data: Mapping[str, Any] = event.data
    return Erased(
        event.subject,
        dict(data.get("records", {})),
        int(data.get("ratings", 0)),
        n_retained(event),
        at=event.at,
        by=str(data.get("by", "")),
    )


def _check_known(connection: Connection, study: Study, rater: str) -> None:
    kinds = {person: kind for person, (_, kind) in withdrawal.panels(connection, study).items()}
    if kinds.get(rater, "human") == "unknown":
        raise StoreError(
            f"rater: {rater!r} is the number of an unknown rater among those of one subject, not a"
            " person; the imported file does not identify a person's ratings"
        )
    if kinds.get(rater, "human") != "human":
        raise StoreError(
            f"rater: {rater!r} is no person; judges and programs have no data to erase"
        )
    persons = {person for person, kind in kinds.items() if kind == "human"}
    for kind in (CONSENT, ELIGIBILITY, PROFILE):
        persons |= {e.subject for e in study_events.of_kind(connection, kind)}
    for table in (page_schema.invitations, page_schema.visitors):
        persons |= set(
            connection.execute(sa.select(table.c.who).where(table.c.role == "rater")).scalars()
        )
    persons -= {"", access.ERASED}
    if rater not in persons:
        raise StoreError(
            f"rater: there is no person {rater!r} among the raters;"
            f" {nearest(rater, sorted(persons))}"
        )


def _check_names(connection: Connection, rater: str, texts: Iterable[str]) -> None:
    """Refuse a reason that would keep the name which is to be erased."""
    row = connection.execute(sa.select(schema.people).where(schema.people.c.rater == rater)).first()
    if row is None:
        return
    words = {row.email.strip(), *re.findall(r"\w{3,}", row.name)} - {""}
    for word in sorted(words):
        if any(re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text) for text in texts):
            raise StoreError(
                "reason: contains a part of the name or address that is to be erased; leave it out"
            )


def _erase(
    connection: Connection, study: Study, rater: str, at: str, by: str, reason: str
) -> Erased:
    _check_known(connection, study, rater)
    _check_names(connection, rater, (by, reason))
    anchored = anchoring.anchor(connection, at, by=by) if anchoring.is_older(connection) else None
    moved = 0
    # Before the withdrawal, which would take the devices for strangers'.
    access.close_for_good(connection, rater)
    if rater in withdrawal.panels(connection, study):
        if rater not in withdrawal.withdrawn_raters(connection):
            moved = len(withdrawal.let_go(connection, study, rater, at=at, by=by).holders)
    else:
        revoke_access(connection, rater, at, by=by)
    plan = Selection(connection, study, rater)
    records = plan.records()
    before = plan.sums(Salts(connection))
    traces = plan.remove()
    # Without the salt, the hashes that stay in the log tell nothing about the person.
    connection.execute(sa.delete(schema.salts).where(schema.salts.c.owner == rater))
    # A new reader, because the first one remembers the salt.
    after = plan.sums(Salts(connection))
    residues = {
        str(entry): audit.content(before.get(entry, 0) - after.get(entry, 0))
        for entry in sorted({*before, *after})
        if before.get(entry, 0) != after.get(entry, 0)
    }
    event_data = {
        "by": by,
        "reason": reason.strip(),
        "records": records,
        "ratings": plan.removed,
        "kept": plan.n_retained,
    }
    event = Event(f"{audit.ERASURE} {rater}", audit.ERASURE, rater, at, event_data)
    row, kind = KINDS["events"].row(event), KINDS["events"]
    entry = audit.next_entry(connection)
    connection.execute(
        sa.insert(schema.events).values(dict(zip(kind.names, row, strict=True)) | {"entry": entry})
    )
    data: dict[str, object] = {
        "event": event.id,
        "erased": sum(records.values()),
        "residues": residues,
    }
    data |= {"traces": traces} if traces else {}
    total = audit.fingerprint(row, Salts(connection).of(owner_of("events")(row)))
    audit.append(connection, audit.ERASURE, {**data, **audit.covers(total)}, at)
    return Erased(rater, records, plan.removed, plan.n_retained, moved, at, by, anchored)


def counted(events: Iterable[Event]) -> Counter[str]:
    """Raters, ratings and records that were erased, ratings that stayed."""
    total: Counter[str] = Counter()
    for event in erased(events).values():
        erasure = _before(event)
        total += Counter(
            raters=1,
            ratings=erasure.ratings,
            kept=erasure.n_retained,
            records=sum(erasure.records.values()),
        )
    return total
