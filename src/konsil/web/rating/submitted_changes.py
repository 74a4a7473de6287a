"""What handing in changes: fields and ratings that differ from the stored ones, the time."""

from __future__ import annotations

import dataclasses
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from konsil.instrument import Field, Instrument
from konsil.instrument.screens.reply import Reading, ratings
from konsil.records import Rating, Task
from konsil.store import Connection
from konsil.store.tasks import drafts, screens
from konsil.store.tasks.drafts import Change, SaveResult
from konsil.store.tasks.screens import State
from konsil.web.rating import form
from konsil.web.rating.window import Window


def store_form_changes(
    connection: Connection,
    state: State,
    form_fields: Sequence[Field],
    form_values: Mapping[str, str],
    window: Window | int,
    at: str,
) -> SaveResult:
    """Store the values of a form that differ from the saved ones.

    The changes under way are stored first, then all other values that differ.
    """
    window = Window(window) if isinstance(window, int) else window
    pending = [c for c in window.pending if not form.unfit(form_fields, c)]
    saved = drafts.append_changes(connection, state, pending, at)
    revision_by_field = {c.field: saved.rev for c in pending if c.field not in saved.conflicts}
    now = {name: draft.value for name, draft in drafts.values(connection, state.task).items()}
    # One spelling for both: a draft has 1,5 and line ends as they were typed.
    before = form.tidied(form_fields, now) | {name: now.get(name, "") for name in form.BESIDE}
    # New names each time: what differs is asked anew, so handing in twice says nothing twice.
    changes = [
        Change(
            secrets.token_hex(16),
            name,
            value,
            revision_by_field.get(name, window.revision(name)),
        )
        for name, value in form_values.items()
        if value != before[name] and name not in saved.conflicts
    ]
    rest = drafts.append_changes(
        connection,
        dataclasses.replace(state, rev=saved.rev),
        [c for c in changes if not form.unfit(form_fields, c)],
        at,
    )
    return SaveResult(rest.rev, {**saved.conflicts, **rest.conflicts})


@dataclass(frozen=True, slots=True)
class Changes:
    """What handing in changes."""

    ratings: tuple[Rating, ...]
    """Ratings that are new or say something else; empty ones where nothing is said any more."""
    revises: bool
    """Whether a stored rating is among them."""
    seconds: float | None
    """The screen's time."""


def changes_of(
    connection: Connection, instrument: Instrument, task: Task, state: State, read: Reading, at: str
) -> Changes:
    """The ratings of a form that is handed in, held against those that are stored."""
    before = {
        (r.criterion, r.answers, r.span): r for r in screens.ratings_of_task(connection, task.id)
    }
    # The screen's time is that until it was handed in first; going back to correct a slip does not
    # change it.
    seconds = state.seconds if state.submitted_at is not None else _seconds(connection, state, at)
    fresh = ratings(read, instrument, task, seconds=seconds, at=at)
    now = {(r.criterion, r.answers, r.span) for r in fresh}
    emptied = [
        dataclasses.replace(old, label="", note="", at=at)
        for key, old in before.items()
        if key not in now and old.label != "" and old.task == task.id
    ]
    changed = [r for r in fresh if not _same(before.get((r.criterion, r.answers, r.span)), r)]
    revises = bool(emptied) or any((r.criterion, r.answers, r.span) in before for r in changed)
    return Changes((*changed, *emptied), revises, seconds)


def _seconds(connection: Connection, state: State, at: str) -> float | None:
    """Active seconds over all openings of a screen.

    Where a page could not measure them, the seconds for which it was open are counted instead.
    """
    total = 0.0
    visits = screens.visits(connection, state.task)
    for number, (opened_at, visit) in enumerate(visits, start=1):
        # Without a script only the last opening is known to have ended: now.
        open_ = _between(opened_at, at) if number == len(visits) else 0.0
        wall = visit.wall if visit.wall is not None else open_
        total += visit.active if visit.active is not None else wall
    return round(total, 3) if visits else None


def _between(start: str, end: str) -> float:
    return max(0.0, (datetime.fromisoformat(end) - datetime.fromisoformat(start)).total_seconds())


def _same(old: Rating | None, new: Rating) -> bool:
    if old is None:
        return False
    return (old.state, old.label, old.note, old.instrument) == (
        new.state,
        new.label,
        new.note,
        new.instrument,
    )
