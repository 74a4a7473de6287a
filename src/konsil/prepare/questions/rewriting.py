"""Questions in better words, proposed by a model and decided on by people.

People accept, edit or refuse a proposal, and the study shows what was accepted.

Items are never rewritten. A proposal and a decision are events on an item, and an item's text is a
function of the item as it was imported and of the last decision on it; both wordings stay.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from konsil.prepare.identifiers.fidelity import fidelity_warnings
from konsil.prepare.questions.asking import Asking
from konsil.records import Event, Item

PROPOSED = "rewriting proposed"
"""The kind of the events that hold a model's wording; their subject is the item."""
REWRITING = "rewriting"
"""The kind of the events that hold what was decided; their subject is the item."""
Verdict = Literal["accept", "edit", "keep"]
"""The model's wording, a person's own, or the question as it was."""

REHEARSAL = "rehearsal"
"""Who decides in a rehearsal, where nobody does: every question stays as it is."""

_WORD = re.compile(r"\s+|\w+|[^\w\s]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Rewriting(Asking):
    """How questions are put in better words."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """A model's wording of a question."""

    text: str
    """The wording."""
    work: str
    """The call's work that it came from."""
    number: int = 1
    """How many proposals there were for this question, with this one."""


@dataclass(frozen=True, slots=True)
class Accepted:
    """What was decided on a question."""

    verdict: Verdict
    """Whose wording."""
    text: str
    """The text that the study shows."""
    by: str
    """Who decided."""
    number: int = 1
    """How many decisions there were on this question, with this one."""
    despite: str = ""
    """Why the wording was accepted despite a warning; empty: there was none."""


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of one of two wordings."""

    text: str
    """The piece."""
    changed: bool
    """Whether the other wording has it not."""


def proposals(events: Iterable[Event]) -> dict[str, Proposal]:
    """Item -> the last wording that a model proposed."""
    by_item: dict[str, Proposal] = {}
    for event in events:
        if event.kind == PROPOSED:
            data = event.data
            proposal = Proposal(
                str(data.get("text", "")), str(data.get("work", "")), _attempt_number(data)
            )
            if event.subject not in by_item or by_item[event.subject].number < proposal.number:
                by_item[event.subject] = proposal
    return by_item


def decisions(events: Iterable[Event]) -> dict[str, Accepted]:
    """Item -> what was decided last."""
    by_item: dict[str, Accepted] = {}
    for event in events:
        if event.kind == REWRITING:
            decision = _accepted(event.data)
            if event.subject not in by_item or by_item[event.subject].number < decision.number:
                by_item[event.subject] = decision
    return by_item


def _accepted(data: Mapping[str, object]) -> Accepted:
    stored_verdict = data.get("verdict")
    verdict: Verdict = (
        "accept" if stored_verdict == "accept" else "edit" if stored_verdict == "edit" else "keep"
    )
    return Accepted(
        verdict,
        str(data.get("text", "")),
        str(data.get("by", "")),
        _attempt_number(data),
        str(data.get("despite", "")),
    )


def _attempt_number(data: Mapping[str, object]) -> int:
    number = data.get("number")
    return number if isinstance(number, int) else 0


def proposed_event(item: str, text: str, work: str, number: int, at: str) -> Event:
    """What is kept of a proposal; `number` counts those for the item from 1."""
    return Event(
        f"{PROPOSED} {item} {number}",
        PROPOSED,
        item,
        at,
        {"number": number, "text": text, "work": work},
    )


def decided_event(item: Item, accepted: Accepted, at: str) -> Event:
    """What is kept of a decision, with the wording that it is about."""
    data: dict[str, object] = {
        "number": accepted.number,
        "verdict": accepted.verdict,
        "text": accepted.text,
        "before": item.text,
        "by": accepted.by,
    }
    if accepted.despite:
        data["despite"] = accepted.despite
        data["warnings"] = [
            warning.sentence() for warning in fidelity_warnings(item.text, accepted.text)
        ]
    return Event(f"{REWRITING} {item.id} {accepted.number}", REWRITING, item.id, at, data)


def accepted_text(item: Item, events: Iterable[Event]) -> Item:
    """An item with the text that was accepted for it; `events` may be those on this item alone."""
    return with_rewriting([item], events)[0]


def with_rewriting(items: Iterable[Item], events: Iterable[Event]) -> tuple[Item, ...]:
    """The items with the texts that were accepted for them; applied again it changes nothing.

    >>> item = Item("q", "pls dose of apixaban??")
    >>> accepted = Accepted("accept", "Which dose of apixaban?", "Kim")
    >>> event = decided_event(item, accepted, "2025-03-01T12:00:00Z")
    >>> with_rewriting([item], [event])[0].text
    'Which dose of apixaban?'
    """
    accepted = decisions(events)
    if not accepted:
        return tuple(items)
    return tuple(
        (
            replace(item, text=accepted[item.id].text)
            if item.id in accepted and accepted[item.id].text.strip()
            else item
        )
        for item in items
    )


def undecided(
    items: Iterable[Item], events: Iterable[Event], fixed_ids: Collection[str] = frozenset()
) -> tuple[str, ...]:
    """The items without a decision, except those in which the model changed nothing.

    Args:
        items: as they were imported.
        events: all.
        fixed_ids: items that were answered or rated already, so that their words stay as they are.
    """
    events = tuple(events)
    accepted, proposed = decisions(events), proposals(events)
    return tuple(
        item.id
        for item in items
        if item.id not in accepted
        and item.id not in fixed_ids
        and not (item.id in proposed and proposed[item.id].text == item.text)
    )


def still_to_decide(where: str, waiting: int, of: int) -> str:
    """The sentence where questions wait for a decision."""
    return (
        f"{where}: {waiting:,} of {of:,} questions await a decision on their wording; run"
        " 'konsil rewrite', and decide on its page or in its table"
    )


def differences(before: str, after: str) -> tuple[tuple[Part, ...], tuple[Part, ...]]:
    """Both wordings in pieces, word by word, with what the other has not.

    >>> old, new = differences("dose of apixaban", "Which dose of apixaban?")
    >>> [part.text for part in new if part.changed], any(part.changed for part in old)
    (['Which ', '?'], False)
    """
    old, new = _WORD.findall(before), _WORD.findall(after)
    old_parts: list[Part] = []
    new_parts: list[Part] = []
    for tag, a, b, c, d in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        # A blank between two changed words is no word that both have.
        blank = a > 0 and b < len(old) and c > 0 and d < len(new) and not "".join(old[a:b]).strip()
        _put(old_parts, old[a:b], tag != "equal" or blank)
        _put(new_parts, new[c:d], tag != "equal" or blank)
    return tuple(old_parts), tuple(new_parts)


def _put(parts: list[Part], words: Sequence[str], changed: bool) -> None:
    text = "".join(words)
    if not text:
        return
    if parts and parts[-1].changed == changed:
        parts[-1] = Part(parts[-1].text + text, changed)
    else:
        parts.append(Part(text, changed))
