"""Usage data of the rating pages.

Visits of task pages with their times, and all changes of fields.

Exports contain both tables; imports ignore them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
import sqlalchemy as sa
from sqlalchemy.engine import Connection

from konsil.records.worked import Worked
from konsil.store.engine import frames, page_schema, schema
from konsil.store.engine.cells import dumps
from konsil.store.tasks.drafts import NOTE, REASON_FOR_CHANGE

_V, _E = page_schema.visits.c, page_schema.draft_events.c


@dataclass(frozen=True, slots=True)
class Trace:
    """One table of traces as it is exported."""

    name: str
    """The file's name."""
    columns: Mapping[str, tuple[sa.Column[Any], Any, str]]
    """Column of the file -> column of the table, its type, and what it means."""
    order: tuple[sa.Column[Any], ...]
    """The order of the rows."""

    @property
    def meanings(self) -> dict[str, str]:
        """Column -> what it means."""
        return {name: text for name, (_, _, text) in self.columns.items()}


VISITS = Trace(
    "visits",
    {
        "id": (_V.id, pl.String, "Random identifier of the visit to the page of a task."),
        "task": (_V.task, pl.String, "The displayed task."),
        "rater": (
            _V.rater,
            pl.String,
            "The rater who opened the page; visits before a reassignment remain.",
        ),
        "opened_at": (
            _V.opened_at,
            pl.String,
            "Time at which the server sent the page (UTC).",
        ),
        "wall_seconds": (
            _V.wall,
            pl.Float64,
            (
                "Seconds from opening the page to the last message from it; empty if the browser"
                " ran no script."
            ),
        ),
        "active_seconds": (
            _V.active,
            pl.Float64,
            ("Active seconds: page visible, with input within the previous 60 seconds."),
        ),
        "first_input_seconds": (
            _V.first_input,
            pl.Float64,
            (
                "Seconds from opening the page to the first key press, click or touch; empty if"
                " there was none."
            ),
        ),
        "ends_in_sight": (
            _V.ends,
            pl.String,
            (
                "Positions (from 1, in the order of the task's answers, separated by spaces) of"
                " the answers whose last line was visible; 0: none; empty if the browser ran no"
                " script."
            ),
        ),
    },
    (_V.opened_at, _V.id),
)
REVISIONS = Trace(
    "revisions",
    {
        "id": (
            _E.id,
            pl.String,
            (
                "Random identifier of the change, created by the browser; a change that is sent"
                " twice is stored once."
            ),
        ),
        "task": (_E.task, pl.String, "The task with the changed field."),
        "rater": (_E.rater, pl.String, "The rater who made the change."),
        "field": (
            _E.field,
            pl.String,
            (
                "The field: its criterion, followed by 'a' and the position of the answer in the"
                " task, or by 's' and the position of the sentence."
            ),
        ),
        "value": (
            _E.value,
            pl.String,
            "The new value, as displayed; empty: no value.",
        ),
        "known": (
            _E.base_rev,
            pl.Int64,
            "Number of changes of this task known to the browser window.",
        ),
        "revision": (
            _E.rev,
            pl.Int64,
            (
                "Number of the change within the task; 0 if another window had changed the field"
                " in the meantime and the change is stored in this table only."
            ),
        ),
        "said_at": (
            _E.said_at,
            pl.String,
            (
                "Time of the change by the browser's clock; earlier than the time of storage if"
                " the network was interrupted."
            ),
        ),
        "at": (_E.at, pl.String, "Time at which the server stored the change (UTC)."),
    },
    (_E.at, _E.task, _E.rev, _E.id),
)
TRACES = (VISITS, REVISIONS)


def write(connection: Connection, trace: Trace, path: Path, form: str) -> int:
    """Write a table of traces as a file and count its rows.

    Nothing is written where there are none.
    """
    columns = [column.label(name) for name, (column, _, _) in trace.columns.items()]
    query = sa.select(*columns).order_by(*trace.order)
    if trace is REVISIONS:
        # A rater's notes to oneself are nobody else's; reasons for changes are in the events, as
        # they were handed in.
        query = query.where(_E.field.not_in((NOTE, REASON_FOR_CHANGE)))
    rows = connection.execute(query).all()
    if not rows:
        return 0
    if form == "jsonl":
        lines = (dumps(dict(zip(trace.columns, row, strict=True))) for row in rows)
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8", newline="\n")
        return len(rows)
    types = {name: dtype for name, (_, dtype, _) in trace.columns.items()}
    frame = pl.DataFrame([tuple(row) for row in rows], schema=types, orient="row")
    return frames.write_csv(path, [frame]) if form == "csv" else frames.write_parquet(path, [frame])


def worked(connection: Connection) -> tuple[Worked, ...]:
    """All submitted tasks about items, with their times.

    Practice and pilot tasks are excluded.
    """
    t, s = schema.tasks.c, page_schema.screens.c
    query = (
        sa.select(s.task, s.rater, s.seconds, sa.func.sum(_V.wall), t.answers)
        .select_from(
            page_schema.screens.join(
                schema.tasks, sa.and_(t.id == s.task, t.rater == s.rater)
            ).outerjoin(page_schema.visits, sa.and_(_V.task == s.task, _V.rater == s.rater))
        )
        .where(
            s.submitted_at.is_not(None),
            t.item.is_not(None),
            t.purpose.not_in(("practice", "pilot")),
        )
        .group_by(s.task, s.rater, s.seconds, t.answers)
        .order_by(s.rater, s.task)
    )
    ends = _ends(connection)
    return tuple(
        Worked(
            task,
            rater,
            active,
            wall,
            _displayed(len(json.loads(answers)), ends.get((task, rater), ())),
        )
        for task, rater, active, wall, answers in connection.execute(query)
    )


def _ends(connection: Connection) -> dict[tuple[str, str], list[str | None]]:
    """By task and rater, the displayed answers that each visit recorded."""
    openings: dict[tuple[str, str], list[str | None]] = {}
    for task, rater, ends in connection.execute(sa.select(_V.task, _V.rater, _V.ends)):
        openings.setdefault((task, rater), []).append(ends)
    return openings


def _displayed(n: int, openings: Sequence[str | None]) -> tuple[bool | None, ...]:
    """For each of n answers whether any visit displayed it to its end.

    What no opening recorded is not known; nor is it where one opening recorded nothing and no other
    displayed it.

    >>> _displayed(3, ["1", "1 3"]), _displayed(2, ["2", None]), _displayed(1, [])
    ((True, False, True), (None, True), (None,))
    """
    places = {place for text in openings if text is not None for place in text.split()}
    otherwise = None if None in openings or not openings else False
    return tuple(True if str(place) in places else otherwise for place in range(1, n + 1))
