"""Decisions of people on single items, one event each.

An event states who decided, when, by which of the study's statements, and why.

A screening holds the decisions that were made before it; those made since go on from there, the
last one of an item stands. So a pool of ten thousand can be gone through by several people at once,
and nothing is ever written twice.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from konsil.records import Event

DECISION = "screening decision"
"""The kind of the event that holds one decision; its subject is the item."""
KEEP = "keep"
"""The decision that an item stays in, whatever a rule found."""


@dataclass(frozen=True, slots=True)
class Decision:
    """What one person decided of one item."""

    number: int
    """Decisions of a study are numbered from 1, in the order in which they were made."""
    item: str
    """The item's id."""
    decision: str
    """KEEP, or the reason to leave it out; empty: the decision before is taken back."""
    by: str
    """Who decided."""
    at: str
    """When, ISO 8601 in UTC."""
    otherwise: str = KEEP
    """What holds where nobody decides: KEEP, or the reason for which the item is left out."""
    statements: tuple[str, ...] = ()
    """The study's statements that hold for the item."""
    note: str = ""
    """What else was said."""


def decision_event(decision: Decision) -> Event:
    """What is kept of a decision.

    Its number makes two that cross one another collide instead of overwriting.
    """
    data = {
        "number": decision.number,
        "decision": decision.decision,
        "by": decision.by,
        "otherwise": decision.otherwise,
        "met": list(decision.statements),
        "note": decision.note,
    }
    return Event(f"{DECISION}-{decision.number}", DECISION, decision.item, decision.at, data)


def decisions(events: Iterable[Event], after: int = 0) -> list[Decision]:
    """All decisions among the events after number `after`, in the order they were made.

    >>> second = Decision(2, "q", "", "ada", "2025-01-02")
    >>> first = Decision(1, "q", KEEP, "bob", "2025-01-02")
    >>> [decision.by for decision in decisions(map(decision_event, (second, first)))]
    ['bob', 'ada']
    """
    recorded = (_read(event) for event in events if event.kind == DECISION)
    return sorted(
        (decision for decision in recorded if decision.number > after),
        key=lambda decision: decision.number,
    )


def _read(event: Event) -> Decision:
    data: Mapping[str, Any] = event.data
    return Decision(
        int(data["number"]),
        event.subject,
        data["decision"],
        data["by"],
        event.at,
        data.get("otherwise", KEEP),
        tuple(data.get("met", ())),
        data.get("note", ""),
    )


def current_decisions(decided: Mapping[str, str], later: Sequence[Decision]) -> dict[str, str]:
    """Item -> what is decided, when these decisions follow on those.

    What was taken back is decided no longer.
    """
    current = dict(decided)
    for decision in later:
        if decision.decision:
            current[decision.item] = decision.decision
        else:
            current.pop(decision.item, None)
    return current


def reasons_after(reasons: Mapping[str, str], later: Sequence[Decision]) -> dict[str, str]:
    """Item that is left out -> why, when these decisions follow."""
    updated = dict(reasons)
    for decision in later:
        reason = decision.decision or decision.otherwise
        if reason == KEEP:
            updated.pop(decision.item, None)
        else:
            updated[decision.item] = reason
    return updated
