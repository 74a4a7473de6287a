"""Tasks that are reassigned, in the caller's transaction.

The previous raters stay stored and covered by the audit log.
"""

from __future__ import annotations

from collections.abc import Mapping

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from konsil.errors import StoreError
from konsil.records import Event
from konsil.store.engine import page_schema, schema
from konsil.store.engine.rows import KINDS
from konsil.store.log import audit
from konsil.store.log.salts import Salts, owner_of

_CHUNK = 500


def hand_over(connection: Connection, event: Event, holders: Mapping[str, str]) -> int:
    """Write what happened, and give each task to whom it says (to nobody: empty).

    Count the tasks that moved.

    What the holder before had typed and not handed in is put aside with the screen's public name:
    the next one finds an empty form under a new address. The same event again changes nothing.
    """
    audit.check_time(event.at)
    events, kind = KINDS["events"], KINDS["tasks"]
    entry = audit.next_entry(connection)
    e, t = schema.events, schema.tasks
    if connection.execute(sa.select(e.c.id).where(e.c.id == event.id)).first() is not None:
        return 0
    row = events.row(event)
    connection.execute(
        sa.insert(e).values(dict(zip(events.names, row, strict=True)) | {"entry": entry})
    )
    total, moved = audit.fingerprint(row, Salts(connection).of(owner_of("events")(row))), 0
    removed: list[str] = []
    place = kind.names.index("rater")
    for ids in _chunks(sorted(holders)):
        query = sa.select(*(t.c[n] for n in kind.names)).where(t.c.id.in_(ids))
        rows = {row.id: tuple(row) for row in connection.execute(query)}
        missing = next((task for task in ids if task not in rows), None)
        if missing is not None:
            raise StoreError(
                f"event {event.id!r}: there is no task {missing!r} that could be reassigned"
            )
        changed = [task for task in ids if rows[task][place] != holders[task]]
        removed += _archive(connection, changed, event)
        for holder in sorted({holders[task] for task in changed}):
            theirs = [task for task in changed if holders[task] == holder]
            connection.execute(
                sa.update(t).where(t.c.id.in_(theirs)).values(rater=holder, entry=entry)
            )
        for task in changed:
            before = rows[task]
            total += audit.fingerprint((*before[:place], holders[task], *before[place + 1 :]))
        moved += len(changed)
    data: dict[str, object] = {"event": event.id, "tasks": moved, **audit.covers(total)}
    if removed:  # the log covered these screens, and need not miss them
        data["traces"] = {"screens": dict.fromkeys(removed, "")}
    audit.append(connection, event.kind, data, event.at)
    return moved


def _archive(connection: Connection, tasks: list[str], event: Event) -> list[str]:
    """Put the tasks as they are into the history, and aside what was typed on them.

    Return those with a screen.
    """
    t, history = schema.tasks, schema.task_revisions
    names = [c.name for c in t.columns]
    as_they_are = sa.select(*(t.c[n] for n in names), sa.literal(event.at), sa.literal(event.id))
    copied = as_they_are.where(t.c.id.in_(tasks))
    connection.execute(
        sa.insert(history).from_select([*names, "superseded_at", "superseded_by"], copied)
    )
    s = page_schema.screens.c
    shown = list(
        connection.execute(sa.select(s.task).where(s.task.in_(tasks)).order_by(s.task)).scalars()
    )
    # The next rater begins from nothing: drafts belong to whoever wrote them.
    for table in (page_schema.drafts, page_schema.screens):
        connection.execute(sa.delete(table).where(table.c.task.in_(tasks)))
    return shown


def _chunks(ids: list[str]) -> list[list[str]]:
    return [ids[n : n + _CHUNK] for n in range(0, len(ids), _CHUNK)]
