"""Calls of models in the store: appended durably, looked up in bulk."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection
from sqlalchemy.exc import IntegrityError

from konsil.errors import ConflictError
from konsil.prepare.questions.rewriting import REWRITING, with_rewriting
from konsil.records import Answer, Call, CallKind, Item, Task, bulk_creation
from konsil.store.calls.call_counts import SIZED, Ended, Heard, Sizes, was_sent
from konsil.store.engine import engine, read, schema
from konsil.store.engine.rows import CALLS
from konsil.store.log import audit
from konsil.store.log.covering import CALLS_KIND
from konsil.store.log.db import Store

READABLE = ("ok", "repaired", "re-asked")
"""Outcomes of which an answer or ratings are made; the others are counted and are never labels."""
_CHUNK = 2_000
_NO_TIME = "1970-01-01T00:00:00Z"
"""When calls were made that say no time."""
_COLUMNS = (*CALLS.names, "entry")


def any_call(connection: Connection) -> bool:
    """Whether a view shows any call."""
    return connection.execute(sa.select(schema.calls.c.work).limit(1)).first() is not None


def each_call(connection: Connection) -> Iterator[Call]:
    """Stream all calls that a view shows, in the order of work and attempt."""
    c = schema.calls.c
    query = sa.select(*(c[n] for n in CALLS.names)).order_by(c.work, c.attempt)
    for row in connection.execute(query.execution_options(yield_per=_CHUNK)):
        yield CALLS.read(tuple(row))


class Calls:
    """The calls of one study's store."""

    def __init__(self, store: Store) -> None:
        self.store = store
        insert_sql = sa.insert(schema.calls).compile(
            dialect=store.engine.dialect, column_keys=_COLUMNS
        )
        # Where the driver takes rows as they are, nothing is turned into dictionaries and back for
        # each of them.
        self._insert = str(insert_sql) if tuple(insert_sql.positiontup or ()) == _COLUMNS else ""

    def add(self, calls: Sequence[Call]) -> None:
        """Append calls, all or nothing; when this returns they survive a power cut."""
        with engine.writing(self.store.engine) as connection:
            self.append_in(connection, calls)

    def append_in(self, connection: Connection, calls: Sequence[Call]) -> None:
        """Append the calls that are not stored yet, in the caller's transaction, and count them.

        It is for reading back an export.
        """
        if not calls:
            return
        entry = audit.next_entry(connection)
        rows, total = [], 0
        for call in calls:
            row = CALLS.row(call)
            total += audit.fingerprint(row)
            rows.append((*row, entry))
        try:
            if self._insert:
                connection.exec_driver_sql(self._insert, rows)
            else:
                connection.execute(
                    sa.insert(schema.calls), [dict(zip(_COLUMNS, r, strict=True)) for r in rows]
                )
        except IntegrityError:
            raise ConflictError(
                f"{self.store.name}: these calls are stored already; is another run going on for"
                " the same study?"
            ) from None
        at = max((c.at for c in calls if c.at), default=_NO_TIME)
        audit.append(connection, CALLS_KIND, {"calls": len(rows), **audit.covers(total)}, at)

    def append_new(self, connection: Connection, calls: Sequence[Call]) -> int:
        """Append the calls that are not stored yet, in the caller's transaction, and count them.

        It is for reading back an export.
        """
        c = schema.calls.c
        stored_keys = {
            (work, attempt) for work, attempt in connection.execute(sa.select(c.work, c.attempt))
        }
        fresh = [c for c in calls if (c.work, c.attempt) not in stored_keys]
        for start in range(0, len(fresh), _CHUNK):
            self.append_in(connection, fresh[start : start + _CHUNK])
        return len(fresh)

    def ended(self, kind: CallKind, *, but: Collection[str] = ()) -> Iterator[tuple[str, str, str]]:
        """Stream (work, who, subject) of every work that has ended.

        Those that ended in these outcomes are left out.
        """
        c = schema.calls.c
        query = sa.select(c.work, c.who, c.subject).where(c.kind == kind, c.ended == 1)
        if but:
            query = query.where(c.outcome.not_in(sorted(but)))
        yield from self._stream(query)

    def attempts(self, kind: CallKind) -> dict[str, int]:
        """Count the attempts of the works that no reply has ended.

        Work -> number of its last attempt.
        """
        c = schema.calls.c
        completed = sa.select(c.work).where(c.kind == kind, c.ended == 1, c.outcome.in_(READABLE))
        query = (
            sa.select(c.work, sa.func.max(c.attempt))
            .where(c.kind == kind, c.work.not_in(completed))
            .group_by(c.work)
        )
        return dict(self._stream(query))

    def each(self) -> Iterator[Call]:
        """Stream all calls in the order of work and attempt."""
        with engine.reading(self.store.engine) as connection:
            yield from each_call(connection)

    def to_judge(
        self, judges: Collection[str]
    ) -> tuple[dict[str, Task], dict[str, Item], dict[str, Answer]]:
        """Read only the tasks of these judges with the items and answers that they show.

        All are by id.
        """
        t, i, a = schema.tasks.c, schema.items.c, schema.answers.c
        of_judges = t.rater.in_(sorted(judges))
        item_ids = sa.select(t.item).where(of_judges)
        with engine.reading(self.store.engine) as connection, bulk_creation():
            tasks: dict[str, Task] = {
                task.id: task for task in read.some(connection, "tasks", of_judges)
            }
            imported: list[Item] = list(read.some(connection, "items", i.id.in_(item_ids)))
            decided = read.some(connection, "events", schema.events.c.kind == REWRITING)
            items = {item.id: item for item in with_rewriting(imported, decided)}
            shown = {answer for task in tasks.values() for answer in task.answers}
            answers = (
                answer
                for answer in read.some(connection, "answers", a.item.in_(item_ids))
                if answer.id in shown
            )
            return tasks, items, {answer.id: answer for answer in answers}

    def unsettled_answers(self) -> Iterator[Call]:
        """Stream the readable calls of systems whose answer is not among the records yet.

        Each comes with what the answer is made of.
        """
        c, a = schema.calls.c, schema.answers.c
        is_stored = sa.select(a.id).where(a.id == c.subject + ":" + c.who).exists()
        query = self._final("answer").where(c.outcome.in_(READABLE), ~is_stored)
        for row in self._stream(query):
            yield CALLS.read(row)

    def unsettled_judgements(self) -> Iterator[Call]:
        """Stream the ended calls of judges not yet among the attempts.

        Each comes with what the attempt is made of.
        """
        c, a = schema.calls.c, schema.attempts.c
        is_stored = (
            sa.select(a.id).where(a.id == c.work + "." + sa.cast(c.attempt, sa.Text)).exists()
        )
        for row in self._stream(self._final("judge").where(~is_stored)):
            yield CALLS.read(row)

    def prepared(self, step: str) -> Iterator[Call]:
        """Stream the ended calls of one step of the preparation."""
        c = schema.calls.c
        for row in self._stream(self._final("prepare").where(c.who == step)):
            yield CALLS.read(row)

    def judged(self, judge: str, tasks: Collection[str]) -> Iterator[Call]:
        """Stream the ended calls of a judge for these tasks."""
        c = schema.calls.c
        for row in self._stream(self._final("judge").where(c.who == judge, c.subject.in_(tasks))):
            yield CALLS.read(row)

    def answered(self) -> Iterator[str]:
        """Stream the ids of all answers among the records."""
        for row in self._stream(sa.select(schema.answers.c.id)):
            yield row[0]

    def rated(self) -> Iterator[str]:
        """Stream the ids of all tasks that have ratings among the records."""
        for row in self._stream(sa.select(schema.ratings.c.task).distinct()):
            yield row[0]

    def counts(self) -> tuple[Ended, ...]:
        """Count the ended works by kind, who and outcome.

        A work that was called again counts with its last end.
        """
        c = schema.calls.c
        last = (
            sa.select(c.work, sa.func.max(c.attempt).label("attempt"))
            .where(c.ended == 1)
            .group_by(c.work)
            .having(sa.func.count() > 1)
            .subquery()
        )
        older = (
            sa.select(last.c.work).where(last.c.work == c.work, c.attempt < last.c.attempt).exists()
        )
        query = (
            sa.select(c.kind, c.who, c.outcome, sa.func.count())
            .where(c.ended == 1, ~older)
            .group_by(c.kind, c.who, c.outcome)
            .order_by(c.kind, c.who, c.outcome)
        )
        return tuple(Ended(*row) for row in self._stream(query))

    def heard(self, kind: CallKind, name: str, model: str) -> Heard:
        """Whether this model has ever replied, and usably."""
        c = schema.calls.c
        of_model = sa.select(c.work).where(c.kind == kind, c.who == name, c.model == model).limit(1)
        with engine.reading(self.store.engine) as connection:
            is_usable = (
                connection.execute(of_model.where(c.outcome.in_(READABLE))).first() is not None
            )
            # Of what is not usable: a reply has tokens or a text of its own.
            replied = (
                is_usable
                or connection.execute(of_model.where(c.status == 200, c.reply != "{}")).first()
                is not None
            )
        return Heard(replied, is_usable)

    def sizes(self, kind: CallKind, name: str, model: str) -> Sizes:
        """How large the replies of a model were so far, and the dearest of them."""
        c = schema.calls.c
        of_model = (c.kind == kind, c.who == name, c.model == model)
        with engine.reading(self.store.engine) as connection:
            dearest = connection.execute(sa.select(sa.func.max(c.cost)).where(*of_model)).scalar()
            sized = sa.select(c.usage, c.asked, c.sent).where(*of_model, c.usage != "{}")
            rows = connection.execute(sized.limit(SIZED)).all()
        usages = [json.loads(row.usage) for row in rows]
        is_capped = all(was_sent("max_tokens", row.asked, row.sent) for row in rows)
        written = [int(usage.get("out", 0)) for usage in usages]
        if not usages:
            return Sizes(dearest=dearest or 0.0)
        read = sum(int(usage.get("in", 0)) for usage in usages)
        n = len(usages)
        return Sizes(n, read / n, sum(written) / n, max(written), dearest or 0.0, is_capped)

    def spent(self) -> tuple[int, float]:
        """Give the number of calls ever made and the sum of their known prices."""
        query = sa.select(sa.func.count(), sa.func.coalesce(sa.func.sum(schema.calls.c.cost), 0.0))
        with engine.reading(self.store.engine) as connection:
            n, cost = connection.execute(query).one()
        return int(n), float(cost)

    def _final(self, kind: CallKind) -> sa.Select[Any]:
        c = schema.calls.c
        # No record is made of what was sent, nor of a body that could be read: most of a call is
        # left on the disk.
        read_already = sa.case((c.outcome.in_(READABLE), ""), else_=c.raw).label("raw")
        instead = {
            "raw": read_already,
            **{n: sa.literal("{}").label(n) for n in ("asked", "sent", "usage")},
        }
        return sa.select(*(instead.get(n, c[n]) for n in CALLS.names)).where(
            c.kind == kind, c.ended == 1
        )

    def _stream(self, query: sa.Select[Any]) -> Iterator[tuple[Any, ...]]:
        with engine.reading(self.store.engine) as connection:
            for row in connection.execute(query.execution_options(yield_per=_CHUNK)):
                yield tuple(row)
