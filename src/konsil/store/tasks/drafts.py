"""What was typed: every change once, and what the fields say now.

Both in the caller's transaction.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from konsil.store.engine import page_schema
from konsil.store.tasks.screens import State, change


@dataclass(frozen=True, slots=True)
class Change:
    """One change of one field, as the browser tells it."""

    id: str
    """Random, made by the browser, so that telling it twice is harmless."""
    field: str
    """The field's name, or that of its reason."""
    value: str
    """What it says now; empty: nothing."""
    base_rev: int
    """The number of changes that this window knew of."""
    said_at: str = ""
    """When, by the browser's clock."""


@dataclass(frozen=True, slots=True)
class Value:
    """What a field says now."""

    value: str
    """The value; empty: nothing."""
    rev: int
    """The number of the change that made it so."""


EMPTY = Value("", 0)
"""What a field says that nobody has touched."""


@dataclass(frozen=True, slots=True)
class SaveResult:
    """What became of some changes."""

    rev: int
    """The number of changes of the task now."""
    conflicts: dict[str, Value]
    """Fields that another window had changed meanwhile: what they say now. The change told is kept
    in the log only."""


NOTE = "~note"
"""The field of the rater's note to oneself: no criterion can be called so. It is no rating and is
not exported."""

REASON_FOR_CHANGE = "~why"
"""The field of the reason for changing what was handed in. It is no rating; the log has it once the
change is made."""

# Statements of every save, put together once: building them takes longer than the database does.
_D, _E = page_schema.drafts.c, page_schema.draft_events.c
_VALUES = (
    sa.select(_D.field, _D.value, _D.rev).where(_D.task == sa.bindparam("of")).order_by(_D.field)
)
_REVISIONS = sa.select(_E.id, _E.rev).where(_E.id.in_(sa.bindparam("ids", expanding=True)))
_EVENT = sa.insert(page_schema.draft_events)
_FRESH = sa.insert(page_schema.drafts)
_AGAIN = sa.update(page_schema.drafts).where(
    _D.task == sa.bindparam("of"), _D.field == sa.bindparam("here")
)


def values(connection: Connection, task: str) -> dict[str, Value]:
    """What the fields of a task say now, by name."""
    rows = connection.execute(_VALUES, {"of": task})
    return {field: Value(value, rev) for field, value, rev in rows}


def append_changes(
    connection: Connection, state: State, changes: Iterable[Change], at: str
) -> SaveResult:
    """Append changes and apply those that did not cross with another window's.

    The same ones again change nothing.
    """
    change_list = list(changes)
    now = values(connection, state.task)
    rev_by_change = _stored_changes(connection, [c.id for c in change_list])
    rev, conflicts = state.rev, dict[str, Value]()
    # A window never crosses with itself: neither with what it says here, nor with what it said here
    # before.
    own_revs = set(rev_by_change.values())
    events: list[dict[str, Any]] = []
    for edit in change_list:
        if edit.id in rev_by_change:
            if (
                rev_by_change[edit.id] == 0
                and edit.field in now
                and now[edit.field].value != edit.value
            ):
                conflicts[edit.field] = now[edit.field]
            continue
        before = now.get(edit.field, EMPTY)
        crossed = (
            edit.base_rev < before.rev <= state.rev
            and before.rev not in own_revs
            and before.value != edit.value
        )
        if crossed:
            conflicts[edit.field] = before
        else:
            rev += 1
            now[edit.field] = Value(edit.value, rev)
            conflicts.pop(edit.field, None)
            _set(connection, state.task, edit, rev, fresh=before.rev == 0)
        rev_by_change[edit.id] = 0 if crossed else rev
        events.append(
            {
                "id": edit.id,
                "task": state.task,
                "rater": state.rater,
                "field": edit.field,
                "value": edit.value,
                "base_rev": edit.base_rev,
                "rev": rev_by_change[edit.id],
                "said_at": edit.said_at,
                "at": at,
            }
        )
    if events:
        connection.execute(_EVENT, events)
    if rev != state.rev:
        change(connection, state, {"rev": rev})
    return SaveResult(rev, conflicts)


def _stored_changes(connection: Connection, ids: list[str]) -> dict[str, int]:
    rows = connection.execute(_REVISIONS, {"ids": ids}) if ids else ()
    return {row.id: row.rev for row in rows}


def _set(connection: Connection, task: str, edit: Change, rev: int, *, fresh: bool) -> None:
    row = {"value": edit.value, "rev": rev, "event": edit.id}
    if fresh:
        connection.execute(_FRESH, {"task": task, "field": edit.field, **row})
    else:
        connection.execute(_AGAIN, {"of": task, "here": edit.field, **row})


def noted(connection: Connection, rater: str) -> dict[str, str]:
    """Task -> the rater's note to oneself, where there is one."""
    s = page_schema.screens.c
    query = (
        sa.select(_D.task, _D.value)
        .select_from(page_schema.drafts.join(page_schema.screens, s.task == _D.task))
        .where(s.rater == rater, _D.field == NOTE, _D.value != "")
    )
    return {row.task: row.value for row in connection.execute(query)}


def typed_since(connection: Connection, rater: str) -> frozenset[str]:
    """Tasks of a rater with a field that was changed when the task was handed in, or later.

    What was handed in without a save before is among them; notes to oneself do not count.
    """
    s, e = page_schema.screens.c, page_schema.draft_events.c
    query = (
        sa.select(_D.task)
        .distinct()
        .select_from(
            page_schema.drafts.join(page_schema.screens, s.task == _D.task).join(
                page_schema.draft_events, e.id == _D.event
            )
        )
        .where(s.rater == rater, e.at >= s.submitted_at, _D.field != NOTE)
    )
    return frozenset(connection.execute(query).scalars())


def history(connection: Connection, task: str) -> tuple[tuple[Change, int], ...]:
    """Every change ever reported for a task with its number, 0 for those that lost.

    They are in the order in which they came.
    """
    e = page_schema.draft_events.c
    query = sa.select(e.id, e.field, e.value, e.base_rev, e.said_at, e.rev).where(e.task == task)
    rows = connection.execute(query.order_by(e.at, e.rev, e.id))
    return tuple((Change(*rest), rev) for *rest, rev in rows)
