"""Tasks that change hands, in the caller's transaction: who had them before is kept and covered by the audit log."""

from __future__ import annotations

from collections.abc import Mapping

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from konsil.errors import StoreError
from konsil.records import Event
from konsil.store import audit, page_schema, schema
from konsil.store.rows import KINDS

_CHUNK = 500


def hand_over(connection: Connection, event: Event, holders: Mapping[str, str]) -> int:
    """Write what happened, and give each task to whom it says (to nobody: empty); count the tasks that moved.

    What the holder before had typed and not handed in is put aside with the screen's public name: the next one finds
    an empty form under a new address. The same event again changes nothing.
    """
    audit.check_time(event.at)
    events, kind = KINDS["events"], KINDS["tasks"]
    entry = audit.next_entry(connection)
    e, t = schema.events, schema.tasks
    if connection.execute(sa.select(e.c.id).where(e.c.id == event.id)).first() is not None:
        return 0
    row = events.row(event)
    connection.execute(sa.insert(e).values(dict(zip(events.names, row, strict=True)) | {"entry": entry}))
    total, moved = audit.fingerprint(row), 0
    names = [c.name for c in t.columns]
    place = kind.names.index("rater")
    for ids in _chunks(sorted(holders)):
        rows = {
            r.id: tuple(r) for r in connection.execute(sa.select(*(t.c[n] for n in kind.names)).where(t.c.id.in_(ids)))
        }
        for task in ids:
            if task not in rows:
                raise StoreError(f"event {event.id!r}: there is no task {task!r} that could change hands")
            before = rows[task]
            if before[place] == holders[task]:
                continue
            as_it_was = sa.select(*(t.c[n] for n in names), sa.literal(event.at), sa.literal(event.id))
            history = sa.insert(schema.task_revisions)
            connection.execute(
                history.from_select([*names, "superseded_at", "superseded_by"], as_it_was.where(t.c.id == task))
            )
            change = sa.update(t).where(t.c.id == task).values(rater=holders[task], entry=entry)
            connection.execute(change)
            total += audit.fingerprint((*before[:place], holders[task], *before[place + 1 :]))
            _clear(connection, task)
            moved += 1
    data = {"event": event.id, "tasks": moved, "content": audit.content(total)}
    audit.append(connection, event.kind, data, event.at)
    return moved


def _clear(connection: Connection, task: str) -> None:
    for table in (page_schema.drafts, page_schema.screens):
        connection.execute(sa.delete(table).where(table.c.task == task))


def _chunks(ids: list[str]) -> list[list[str]]:
    return [ids[n : n + _CHUNK] for n in range(0, len(ids), _CHUNK)]
