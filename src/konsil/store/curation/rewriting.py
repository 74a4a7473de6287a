"""What people decide on rewritten questions, one transaction each.

A text that was answered or rated stays.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from konsil.errors import PlanError, in_short
from konsil.prepare.identifiers.fidelity import fidelity_warnings
from konsil.prepare.questions.rewriting import (
    PROPOSED,
    REWRITING,
    Accepted,
    Verdict,
    decided_event,
    decisions,
    proposals,
)
from konsil.records import Event, Item
from konsil.store import Batch, Store
from konsil.store.engine import read, schema
from konsil.store.engine.engine import writing
from konsil.store.log import study_events, write


@dataclass(frozen=True, slots=True)
class Choice:
    """What somebody wants of one question."""

    item: str
    """The item's id."""
    verdict: Verdict
    """The model's wording, the one given here, or the question as it was."""
    text: str = ""
    """A wording of one's own; with any other verdict nothing."""
    despite: str = ""
    """Why the wording is accepted where something in it differs from the question; empty: no
    reason."""


class UnansweredError(PlanError):
    """A wording differs from its question in what must not change.

    No reason was given to accept it.
    """


def worded(connection: Connection) -> frozenset[str]:
    """The items whose wording stands, since they were answered with a text or rated."""
    a, r = schema.answers.c, schema.ratings.c
    answered = sa.select(a.item).where(a.text != "").distinct()
    rated = sa.select(r.item).where(r.item.is_not(None)).distinct()
    return frozenset(connection.execute(answered.union(rated)).scalars())


def decide(store: Store, choices: Sequence[Choice], *, by: str, at: str) -> int:
    """Keep decisions, all or none of them, and count those that are new.

    A PlanError says what stands in the way.
    """
    with writing(store.engine) as connection:
        items = {item.id: item for item in _items(connection, {choice.item for choice in choices})}
        events = [
            e for kind in (PROPOSED, REWRITING) for e in study_events.of_kind(connection, kind)
        ]
        proposed, decided = proposals(events), decisions(events)
        fixed = worded(connection)
        new_events: list[Event] = []
        unanswered: list[str] = []
        for choice in choices:
            item = items.get(choice.item)
            if item is None:
                raise PlanError(f"there is no item {choice.item!r}")
            before = decided.get(choice.item)
            number = before.number + 1 if before is not None else 1
            accepted = _accepted(
                choice,
                item,
                proposed[choice.item].text if choice.item in proposed else "",
                by,
                number,
            )
            warnings = (
                fidelity_warnings(item.text, accepted.text) if accepted.verdict != "keep" else ()
            )
            if before is not None and (before.verdict, before.text) == (
                accepted.verdict,
                accepted.text,
            ):
                continue
            shown = before.text if before is not None else item.text
            if choice.item in fixed and accepted.text != shown:
                raise PlanError(
                    f"item {choice.item!r}: is already answered or rated with its present"
                    " wording; a new wording can no longer be accepted"
                )
            if warnings and not choice.despite.strip():
                unanswered.append(
                    f"item {choice.item!r}: {'; '.join(warning.sentence() for warning in warnings)}"
                )
            despite = " ".join(choice.despite.split()) if warnings else ""
            new_events.append(decided_event(item, replace(accepted, despite=despite), at))
        if unanswered:
            raise UnansweredError(
                f"{in_short(unanswered)}; expected an answer to the warning, or to keep the"
                " question"
            )
        if new_events:
            write.append(connection, Batch(events=tuple(new_events)), kind=REWRITING, at=at)
    return len(new_events)


def _accepted(choice: Choice, item: Item, proposal: str, by: str, number: int) -> Accepted:
    """A choice as it is kept; a model's wording accepted with changes is one's own."""
    if choice.verdict == "keep":
        return Accepted("keep", item.text, by, number)
    text = (choice.text if choice.verdict == "edit" else proposal).strip()
    if not text:
        subject = "an empty text" if choice.verdict == "edit" else "a missing rewriting"
        raise PlanError(
            f"item {choice.item!r}: {subject} cannot be accepted; expected a wording, or to keep"
            " the question"
        )
    if text == item.text:
        return Accepted("keep", item.text, by, number)
    return Accepted("accept" if text == proposal else "edit", text, by, number)


def _items(connection: Connection, ids: Collection[str]) -> Sequence[Item]:
    return list(read.some(connection, "items", schema.items.c.id.in_(sorted(ids))))
