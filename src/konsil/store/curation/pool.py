"""The items that people go through before a study, with their decisions on each.

A further decision is appended here.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from konsil.errors import StoreError
from konsil.instrument.definition.objects import verdict
from konsil.prepare import DECISION, SCREENING, Decision, decision_event, decisions
from konsil.records import Event, Item
from konsil.store.engine import schema
from konsil.store.engine.read import some
from konsil.store.log import audit, study_events


def state(connection: Connection) -> tuple[int, int]:
    """How many screenings and decisions there are.

    While it is unchanged, so are their contents.
    """
    return study_events.counted(connection, SCREENING), study_events.counted(connection, DECISION)


def decision_events(connection: Connection, item: str | None = None) -> tuple[Event, ...]:
    """All screenings and decisions, or the decisions on one item; in no order that matters."""
    if item is not None:
        return study_events.of_kind(connection, DECISION, item)
    return (
        *study_events.of_kind(connection, SCREENING),
        *study_events.of_kind(connection, DECISION),
    )


def since(connection: Connection, first: int, last: int) -> list[Decision]:
    """The decisions with these numbers, in their order."""
    e = schema.events.c
    numbers = [f"{DECISION}-{number}" for number in range(first, last + 1)]
    return decisions(some(connection, "events", e.id.in_(numbers)))


def names(connection: Connection, words: str = "") -> list[str]:
    """The ids of the items, sorted.

    With `words` only the items whose id, text or reference has these words in any case.

    Versions of a case are none: the case itself is what is gone through.
    """
    i = schema.items.c
    case_ids = sa.select(i.id)
    query = (
        sa.select(i.id)
        .where(sa.or_(i.case.is_(None), i.case == i.id, i.case.not_in(case_ids)))
        .order_by(i.id)
    )
    for word in words.split():
        # SQLite makes only a to z small, so that words with other letters are looked for in every
        # usual writing.
        writings = {
            _escape_like(writing)
            for writing in (word, word.lower(), word.capitalize(), word.upper())
        }
        columns = [sa.func.lower(column) for column in (i.id, i.text, i.reference)]
        query = query.where(
            sa.or_(
                *(
                    c.like(f"%{writing}%", escape="\\")
                    for writing in sorted(writings)
                    for c in columns
                )
            )
        )
    return [row[0] for row in connection.execute(query)]


def _escape_like(word: str) -> str:
    """A word without what stands for other letters in a pattern."""
    return word.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")


def items(connection: Connection, ids: Sequence[str]) -> dict[str, Item]:
    """These items, by id; those that do not exist are not in it."""
    return {item.id: item for item in some(connection, "items", schema.items.c.id.in_(ids))}


def quoted(connection: Connection, item: str, reason: str) -> str:
    """What a model that suspects an item for this reason quoted from it last.

    Empty where it quoted nothing.

    It is in the model's reply alone: decisions and screenings hold no words of an item.
    """
    c = schema.calls.c
    query = sa.select(c.reply).where(
        c.kind == "prepare", c.who == "screen", c.subject == item, c.outcome == "ok"
    )
    for (reply,) in connection.execute(query.order_by(c.at.desc(), c.work, c.attempt.desc())):
        values = dict(verdict(str(json.loads(reply).get("text", "")), ("reason",)).pairs or ())
        if values.get("reason") == reason:
            return str(values.get("evidence") or "").strip()
    return ""


def is_planned(connection: Connection) -> bool:
    """Whether a plan is drawn, so that its items cannot change any more."""
    return connection.execute(sa.select(schema.tasks.c.id).limit(1)).first() is not None


def decide(connection: Connection, decision: Decision) -> Decision:
    """Keep a decision under the next number, in the caller's transaction.

    A StoreError once a plan is drawn.
    """
    audit.next_entry(connection)  # others who decide wait here, so that no number is given twice
    if is_planned(connection):
        raise StoreError(
            "screening: the assignment plan already exists; its items can no longer change"
        )
    numbered = replace(decision, number=study_events.counted(connection, DECISION) + 1)
    study_events.append_event(connection, decision_event(numbered))
    return numbered
