"""Which rows of the database are about a rater, and what an erasure does to each."""

from __future__ import annotations

import json
from collections import defaultdict
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from konsil.plan.model.places import SIGN_UP
from konsil.store.engine import page_schema, schema
from konsil.store.engine.cells import dumps
from konsil.store.engine.rows import KINDS
from konsil.store.engine.unlocking import unlocked
from konsil.store.log import audit, covering, study_events
from konsil.store.log.salts import Salts, owner_of
from konsil.study import Study
from konsil.study.sections.privacy import keeps_ratings

_STAY = frozenset({study_events.WITHDRAWAL, SIGN_UP})
"""Events about a rater that the plan rests on; what they say beside it is blanked."""
_PLAN = frozenset({"holders", "slot", "by"})
"""What stays of their data: without it the plan would be drawn otherwise."""
_REPORTED = frozenset({"submission", "revision"})
_LABELLED = frozenset({"choice", "number"})
"""Kinds of scales whose labels are no texts."""


class Selection:
    """Which rows are about a rater, and what becomes of them."""

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

    def _rows_of_rater(self) -> dict[str, sa.ColumnElement[bool]]:
        """Table -> which of its rows are this rater's and go, as far as a condition says so."""
        tasks = sa.select(page_schema.screens.c.task).where(
            page_schema.screens.c.rater == self._rater
        )
        tables = (schema.revisions, schema.attempts, page_schema.visits, page_schema.draft_events)
        # Drafts come first: they are found by the screens that go later.
        return {
            "drafts": page_schema.drafts.c.task.in_(tasks),
            **{table.name: table.c.rater == self._rater for table in tables},
            "screens": page_schema.screens.c.rater == self._rater,
            "invitations": page_schema.invitations.c.who == self._rater,
            "sites": page_schema.sites.c.subject == self._rater,
            "passkeys": page_schema.passkeys.c.who == self._rater,
            "identities": page_schema.identities.c.who == self._rater,
            "people": schema.people.c.rater == self._rater,
            "letters": schema.letters.c.rater == self._rater,
        }

    def records(self) -> dict[str, int]:
        """Table -> rows that are removed or blanked."""
        n_by_table = {
            "ratings": self.removed + self.n_retained,
            "events": len(self._deleted) + len(self._blanked),
        }
        for name, where in self._rows_of_rater().items():
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
            self._rows_of_rater(),
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
            # The labels stay, without what the person wrote and how long it took.
            self._connection.execute(sa.update(r).where(by_rater).values(note="", seconds=None))


def _chunks(ids: tuple[str, ...], size: int = 500) -> list[tuple[str, ...]]:
    return [ids[n : n + size] for n in range(0, len(ids), size)]


def _object(text: str) -> dict[str, Any]:
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return data if isinstance(data, dict) else {}
