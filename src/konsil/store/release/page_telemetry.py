"""Data of the pages beside the records.

Every opening of a screen with its times, every change of a field.

Both go out with an export, for those who study how it was rated; they do not come back in.
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
    """In which order the rows stand."""

    @property
    def meanings(self) -> dict[str, str]:
        """Column -> what it means."""
        return {name: text for name, (_, _, text) in self.columns.items()}


VISITS = Trace(
    "visits",
    {
        "id": (_V.id, pl.String, "Random name of this opening of a screen's page."),
        "task": (_V.task, pl.String, "The task that the screen shows."),
        "rater": (
            _V.rater,
            pl.String,
            "Who opened it; a task that changed hands keeps what went before.",
        ),
        "opened_at": (
            _V.opened_at,
            pl.String,
            "When the page was sent, by the server's clock, in UTC.",
        ),
        "wall_seconds": (
            _V.wall,
            pl.Float64,
            (
                "Seconds from opening the page to the last word from it; empty where its browser"
                " ran no script."
            ),
        ),
        "active_seconds": (
            _V.active,
            pl.Float64,
            (
                "Of these, the seconds in which the page was visible and the last input was less"
                " than 60 seconds ago."
            ),
        ),
        "first_input_seconds": (
            _V.first_input,
            pl.Float64,
            (
                "Seconds from opening the page to the first key, click or touch in it; empty where"
                " there was none."
            ),
        ),
        "ends_in_sight": (
            _V.ends,
            pl.String,
            (
                "The places on this screen, from 1 and in the order of the task's answers, of the"
                " answers whose text was in sight to its end, with spaces between; 0: of none;"
                " empty where its browser ran no script."
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
            "Random name that the browser gave the change, so that telling it twice is once.",
        ),
        "task": (_E.task, pl.String, "The task whose form was changed."),
        "rater": (_E.rater, pl.String, "Who changed it."),
        "field": (
            _E.field,
            pl.String,
            (
                "The field: its criterion, then a and the answer's place on this screen (the task's"
                " answers in order), or s and the sentence's."
            ),
        ),
        "value": (
            _E.value,
            pl.String,
            "What it said from then on, as on the screen; empty: nothing.",
        ),
        "known": (
            _E.base_rev,
            pl.Int64,
            "The number of changes of this task that the window knew of.",
        ),
        "revision": (
            _E.rev,
            pl.Int64,
            (
                "The number that the change has among the task's; 0 where another window had"
                " changed the field meanwhile and this one was kept here only."
            ),
        ),
        "said_at": (
            _E.said_at,
            pl.String,
            (
                "When it was made, by the browser's clock: long before it was kept where the"
                " network was away."
            ),
        ),
        "at": (_E.at, pl.String, "When the server kept it, in UTC."),
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
    """Every screen about an item that was handed in on the pages, with its times.

    Practice and pilot left out.
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
    """What each opening of a screen recorded of the answers whose text was in sight to its end."""
    openings: dict[tuple[str, str], list[str | None]] = {}
    for task, rater, ends in connection.execute(sa.select(_V.task, _V.rater, _V.ends)):
        openings.setdefault((task, rater), []).append(ends)
    return openings


def _displayed(n: int, openings: Sequence[str | None]) -> tuple[bool | None, ...]:
    """For each of so many answers whether any opening displayed it to its end.

    What no opening recorded is not known; nor is it where one opening recorded nothing and no other
    displayed it.

    >>> _displayed(3, ["1", "1 3"]), _displayed(2, ["2", None]), _displayed(1, [])
    ((True, False, True), (None, True), (None,))
    """
    places = {place for text in openings if text is not None for place in text.split()}
    otherwise = None if None in openings or not openings else False
    return tuple(True if str(place) in places else otherwise for place in range(1, n + 1))
