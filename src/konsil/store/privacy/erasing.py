"""Erasing a rater.

Values, texts, drafts, notes, profile, name and address, and the salt of the log's hashes of them.

What stays is the plan (who was to rate what, under the identifier), the fact of an erasure with its
date, reason and author, and the log's entries, whose hashes mean nothing without the salt. One
transaction: all of it or nothing.
"""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from konsil.errors import StoreError, nearest
from konsil.plan.model.places import SIGN_UP
from konsil.records import Event
from konsil.store.engine import engine, page_schema, schema
from konsil.store.engine.rows import KINDS, dumps
from konsil.store.engine.unlocking import unlocked
from konsil.store.log import anchoring, audit, covering, study_events
from konsil.store.log.db import Store
from konsil.store.log.salts import Salts, owner_of
from konsil.store.people import access
from konsil.store.tasks import withdrawal
from konsil.study import Study
from konsil.study.sections.enrolment import CONSENT, ELIGIBILITY, PROFILE
from konsil.study.sections.privacy import keeps_ratings

_STAY = frozenset({study_events.WITHDRAWAL, SIGN_UP})
"""Events about a rater that the plan rests on; what they say beside it is blanked."""
_PLAN = frozenset({"holders", "slot", "by"})
_REPORTED = frozenset({"submission", "revision"})
_LABELLED = frozenset({"choice", "number"})
"""Kinds of scales whose labels are no texts."""


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


def erased(events: Iterable[Event]) -> dict[str, Event]:
    """Rater -> the event of the erasure."""
    return {e.subject: e for e in events if e.kind == audit.ERASURE}


def erased_wholly(events: Iterable[Event]) -> frozenset[str]:
    """Raters of whom no rating stayed."""
    return frozenset(
        rater for rater, event in erased(events).items() if not _before(event).n_retained
    )


def erased_raters(connection: Connection) -> dict[str, Event]:
    """The same, of a database."""
    return erased(study_events.of_kind(connection, audit.ERASURE))


def preview(store: Store, study: Study, rater: str) -> Erased:
    """What an erasure would erase; nothing changes."""
    with engine.reading(store.engine) as connection:
        previous = erased_raters(connection).get(rater)
        if previous is not None:
            return _before(previous)
        _check_known(connection, study, rater)
        plan = _Selection(connection, study, rater)
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
        int(data.get("kept", 0)),
        at=event.at,
        by=str(data.get("by", "")),
    )


def _check_known(connection: Connection, study: Study, rater: str) -> None:
    kinds = {person: kind for person, (_, kind) in withdrawal.panels(connection, study).items()}
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
    access.close_for_good(
        connection, rater
    )  # before leaving, which would take the devices for strangers'
    if rater in withdrawal.panels(connection, study):
        if rater not in withdrawal.withdrawn_raters(connection):
            moved = len(withdrawal.let_go(connection, study, rater, at=at, by=by).holders)
    else:
        access.revoke_access(connection, rater, at, by=by)
    plan = _Selection(connection, study, rater)
    records = plan.records()
    before = plan.sums(Salts(connection))
    traces = plan.remove()
    connection.execute(sa.delete(schema.salts).where(schema.salts.c.owner == rater))
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


class _Selection:
    """The rows about a rater, and which of them are deleted or blanked."""

    def __init__(self, connection: Connection, study: Study, rater: str) -> None:
        self._connection, self._rater = connection, rater
        self._deleted, self._blanked = self._events()
        ratings = schema.ratings.c
        n_rated = connection.execute(
            sa.select(sa.func.count()).where(ratings.rater == rater)
        ).scalar_one()
        self._stay = self._labels(study) if keeps_ratings(study.privacy) else ()
        self.n_retained = sum(n for *_, n in self._stay)
        self.removed = int(n_rated) - self.n_retained

    def _labels(self, study: Study) -> tuple[tuple[str, str, int], ...]:
        """Instrument and criterion of labels that are no texts.

        Each with the number of this rater's ratings on them.
        """
        t, r = schema.tasks.c, schema.ratings.c
        query = (
            sa.select(t.instrument, r.criterion, sa.func.count())
            .join_from(schema.ratings, schema.tasks, t.id == r.task)
            .where(r.rater == self._rater)
            .group_by(t.instrument, r.criterion)
        )
        plain = {
            (i.id, c.id) for i in study.instruments for c in i.criteria if c.scale.kind in _LABELLED
        }
        return tuple(
            (i, c, int(n)) for i, c, n in self._connection.execute(query) if (i, c) in plain
        )

    def _events(self) -> tuple[tuple[str, ...], dict[str, str]]:
        """Ids of the events that go, and the data of those that stay, by id.

        The data are without what they state beside the plan.
        """
        e, r = schema.events.c, schema.ratings.c
        rated = set(
            self._connection.execute(sa.select(r.task).where(r.rater == self._rater)).scalars()
        )
        deleted: set[str] = set()
        blanked: dict[str, str] = {}
        settled: dict[str, str] = {}
        for name, kind, subject, text in self._connection.execute(
            sa.select(e.id, e.kind, e.subject, e.data)
        ):
            data = _object(text)
            named = data.get("rater")
            if subject == self._rater and kind in _STAY:
                if any(value for key, value in data.items() if key not in _PLAN):
                    blanked[name] = dumps(
                        {key: value for key, value in data.items() if key in _PLAN}
                    )
                continue
            if kind == study_events.SETTLED:
                settled[name] = subject
            # Older versions did not name the rater of what was handed in.
            handed_in = kind in _REPORTED and named is None and set(subject.split(", ")) <= rated
            if (
                (subject == self._rater and kind != audit.ERASURE)
                or named == self._rater
                or handed_in
            ):
                deleted.add(name)
        deleted |= {name for name, problem in settled.items() if problem in deleted}
        return tuple(sorted(deleted)), blanked

    def _conditions(self) -> dict[str, sa.ColumnElement[bool]]:
        """Table -> which of its rows are this rater's and go, as far as a condition says so."""
        tasks = sa.select(page_schema.screens.c.task).where(
            page_schema.screens.c.rater == self._rater
        )
        tables = (schema.revisions, schema.attempts, page_schema.visits, page_schema.draft_events)
        return {
            "drafts": page_schema.drafts.c.task.in_(tasks),
            **{table.name: table.c.rater == self._rater for table in tables},
            "screens": page_schema.screens.c.rater == self._rater,
            "invitations": page_schema.invitations.c.who == self._rater,
            "people": schema.people.c.rater == self._rater,
        }

    def records(self) -> dict[str, int]:
        """Table -> rows that are removed or blanked."""
        n_by_table = {
            "ratings": self.removed + self.n_retained,
            "events": len(self._deleted) + len(self._blanked),
        }
        for name, where in self._conditions().items():
            query = (
                sa.select(sa.func.count()).select_from(schema.metadata.tables[name]).where(where)
            )
            n_by_table[name] = int(self._connection.execute(query).scalar_one())
        strata = sa.select(schema.raters.c.id).where(
            schema.raters.c.id == self._rater, schema.raters.c.strata != "{}"
        )
        n_by_table["raters"] = len(self._connection.execute(strata).all())
        return {name: n for name, n in n_by_table.items() if n}

    def sums(self, salts: Salts) -> dict[int, int]:
        """Entry -> the sum of the salted fingerprints of this rater's records.

        The events that go are included; the sum is that of the present state.
        """
        totals: dict[int, int] = defaultdict(int)
        rater, going = self._rater, set(self._deleted)
        ratings, raters = KINDS["ratings"], KINDS["raters"]
        for table, kind, where in (
            (schema.ratings, ratings, schema.ratings.c.rater == rater),
            (schema.revisions, ratings, schema.revisions.c.rater == rater),
            (schema.attempts, KINDS["attempts"], schema.attempts.c.rater == rater),
            (schema.raters, raters, schema.raters.c.id == rater),
            (schema.events, KINDS["events"], sa.true()),
        ):
            owner = owner_of(kind.name)
            query = sa.select(table.c.entry, *(table.c[n] for n in kind.names)).where(where)
            for row in self._connection.execute(query):
                cells = tuple(row[1:])
                if table is not schema.events or owner(cells) == rater or cells[0] in going:
                    totals[row[0]] += audit.fingerprint(cells, salts.of(owner(cells)))
        return totals

    def remove(self) -> dict[str, dict[str, str]]:
        """Remove and blank the rows.

        Return the keys of those that the log covers one by one, as it notes removals.
        """
        connection, conditions, tables = (
            self._connection,
            self._conditions(),
            schema.metadata.tables,
        )
        traces: dict[str, dict[str, str]] = {}
        for name, (table, key, _) in covering.TABLES.items():
            keys = (
                connection.execute(
                    sa.select(table.c[key]).where(conditions[name]).order_by(table.c[key])
                )
                .scalars()
                .all()
            )
            if keys:
                traces[name] = dict.fromkeys(keys, "")
        with unlocked(connection, "events", "rating_revisions", "draft_events"):
            for name, where in conditions.items():
                connection.execute(sa.delete(tables[name]).where(where))
            self._remove_ratings()
            for chunk in _chunks(self._deleted):
                connection.execute(sa.delete(schema.events).where(schema.events.c.id.in_(chunk)))
            for name, text in self._blanked.items():
                connection.execute(
                    sa.update(schema.events).where(schema.events.c.id == name).values(data=text)
                )
        blank = sa.update(schema.raters).where(schema.raters.c.id == self._rater)
        connection.execute(blank.values(strata="{}"))
        return traces

    def _remove_ratings(self) -> None:
        r, t = schema.ratings, schema.tasks.c
        by_rater = r.c.rater == self._rater
        stay: sa.ColumnElement[bool] = sa.false()
        for instrument, criterion, _ in self._stay:
            tasks = sa.select(t.id).where(t.instrument == instrument)
            stay = sa.or_(stay, sa.and_(r.c.criterion == criterion, r.c.task.in_(tasks)))
        self._connection.execute(sa.delete(r).where(by_rater, ~stay))
        if self._stay:
            self._connection.execute(sa.update(r).where(by_rater).values(note="", seconds=None))


def _chunks(ids: tuple[str, ...], size: int = 500) -> list[tuple[str, ...]]:
    return [ids[n : n + size] for n in range(0, len(ids), size)]


def _object(text: str) -> dict[str, Any]:
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return data if isinstance(data, dict) else {}


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
