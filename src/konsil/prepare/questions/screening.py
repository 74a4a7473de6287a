"""Which of the collected questions may be rated: findings of rules, decisions of people.

They are kept as an event.

Rules find suspects; people's decisions go before them. What is screened out keeps its text and its
reason and is left out of the draw, so that the study flow can count it.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from konsil.prepare.identifiers.suspects import Rule, suspects
from konsil.prepare.questions.asking import Asking, without_model
from konsil.prepare.questions.deciding import (
    DECISION,
    KEEP,
    Decision,
    current_decisions,
    decisions,
    reasons_after,
)
from konsil.records import Event, Item

SCREENING = "screening"
"""The kind of the event that holds who was screened out."""
OTHER_LANGUAGE = "other language"
UNDECIDED = "nobody decided"
"""Why an item is left out that nobody looked at, where the protocol says that only what people keep
is in."""
SURE = 0.8
"""How sure the recognition of a language has to be before an item is screened out for it."""

Recognise = Callable[[str], tuple[str, float]]
"""Text -> its language as a code of two letters, and how sure that is, 0-1."""


@dataclass(frozen=True, slots=True)
class Screening(Asking):
    """What a protocol looks for; a model, where it names one, looks beside the rules."""

    rules: tuple[Rule, ...] = get_args(Rule)
    """What leads to an item being left out, in the order in which reasons are tried."""
    languages: tuple[str, ...] = ()
    """The languages that questions may be in, as codes of two letters; empty: any."""
    criteria: tuple[str, ...] = ()
    """Statements that hold for an item that is kept; whoever decides ticks them on the page. Empty:
    none is asked."""
    undecided: Literal["", "kept", "left out"] = ""
    """What becomes of an item that nobody decided on and in which no rule finds anything; empty: it
    is left out where identifiers are looked for, since rules miss some, and otherwise kept."""

    @property
    def keeps_undecided(self) -> bool:
        """Whether an item that nobody decided on may be drawn."""
        return self.undecided == "kept" or (not self.undecided and "identifier" not in self.rules)


@dataclass(frozen=True, slots=True)
class Finding:
    """Why an item is not to be rated."""

    reason: str
    """The rule, or what a person gave as the reason."""
    evidence: str = ""
    """The part of the text that the rule found; never stored."""
    by_model: bool = False
    """Whether a model suspects it and no rule."""


@dataclass(frozen=True, slots=True)
class Screened:
    """What became of a study's items."""

    asked: str
    """The digest of what was looked for."""
    pool: str
    """The digest of the items that were looked at: others came later if it differs."""
    out: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Reason -> items that are left out."""
    decided: Mapping[str, str] = field(default_factory=dict)
    """Item -> what a person decided: KEEP, or the reason to leave it out."""
    seen: int = 0
    """The number of the last decision on the pages that it holds."""
    by_model: Mapping[str, str] = field(default_factory=dict)
    """Item -> the reason for which a model suspects it where no rule does."""

    def reasons(self) -> dict[str, str]:
        """Item that is left out -> why."""
        return {item: reason for reason, items in self.out.items() for item in items}


def first_finding(
    item: Item, spec: Screening, recognise: Recognise | None = None
) -> Finding | None:
    """The first reason for which an item is left out; None where no rule finds anything.

    >>> first_finding(Item("q", "Thanks! And for children?"), Screening()).reason
    'follow-up'
    """
    for rule in spec.rules:
        evidence = next(suspects(item.text, rule), None)
        if evidence is not None:
            return Finding(rule, evidence)
    if spec.languages and recognise is not None:
        language, sure = recognise(item.text)
        if language not in spec.languages and sure >= SURE:
            return Finding(OTHER_LANGUAGE, language)
    return None


def screen(
    spec: Screening,
    items: Sequence[Item],
    decided: Mapping[str, str],
    recognise: Recognise | None = None,
    suspected: Mapping[str, Finding] | None = None,
) -> tuple[Screened, dict[str, Finding]]:
    """Look at all items; what people decided stands.

    Returns what is kept, and what was found by item.

    The order of the items plays no part. `suspected` is what a model says; where a rule finds
    something, the rule's reason goes first.
    """
    by_rule = {
        item.id: finding
        for item in items
        if (finding := first_finding(item, spec, recognise)) is not None
    }
    findings = {
        item.id: (suspected or {})[item.id] for item in items if item.id in (suspected or {})
    } | by_rule
    item_ids = {item.id for item in items}
    valid_decisions = {
        item: decision for item, decision in sorted(decided.items()) if item in item_ids
    }
    otherwise = KEEP if spec.keeps_undecided else UNDECIDED
    reasons = {
        name: valid_decisions.get(name)
        or (findings[name].reason if name in findings else otherwise)
        for name in sorted(item_ids)
    }
    by_model = {
        name: finding.reason for name, finding in sorted(findings.items()) if finding.by_model
    }
    return (
        Screened(
            screening_digest(spec),
            pool_of(item_ids),
            _by_reason(reasons),
            valid_decisions,
            by_model=by_model,
        ),
        findings,
    )


def _by_reason(reasons: Mapping[str, str]) -> dict[str, list[str]]:
    """Reason -> items that it leaves out, sorted."""
    out: dict[str, list[str]] = {}
    for name, reason in sorted(reasons.items()):
        if reason != KEEP:
            out.setdefault(reason, []).append(name)
    return out


def screening_digest(spec: Screening) -> str:
    """A digest of what is looked for."""
    return _digest(plain(spec))


def plain(spec: Screening) -> dict[str, Any]:
    """What is looked for as plain data.

    What came later is in it only where a protocol states it.
    """
    data = without_model(dataclasses.asdict(spec))
    if not spec.criteria:
        del data["criteria"]
    data["undecided"] = "left out"
    if spec.keeps_undecided:
        del data["undecided"]
    return data


def pool_of(items: Iterable[str]) -> str:
    """A digest of which items there are."""
    return _digest(sorted(items))


def _digest(data: object) -> str:
    text = json.dumps(data, sort_keys=True, ensure_ascii=False)
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


def screening_event(screened: Screened, number: int, at: str) -> Event:
    """What is kept of a screening; `number` counts the study's from 1."""
    return Event(
        f"{SCREENING}-{number}",
        SCREENING,
        "items",
        at,
        {"number": number, **dataclasses.asdict(screened)},
    )


def last_screened(events: Iterable[Event]) -> tuple[int, Screened | None]:
    """The last screening among the events, with what people decided since, and its number.

    0 and None: none yet.
    """
    screening_events = [event for event in events if event.kind in (SCREENING, DECISION)]
    screenings = [event.data for event in screening_events if event.kind == SCREENING]
    if not screenings:
        return 0, None
    data: Mapping[str, Any] = max(screenings, key=lambda screening: int(screening.get("number", 0)))
    # Only known fields: the event also holds its number, and may be of another version.
    names = {f.name for f in dataclasses.fields(Screened)}
    screened = Screened(**{name: value for name, value in data.items() if name in names})
    return int(data.get("number", 0)), with_decisions(
        screened, decisions(screening_events, screened.seen)
    )


def with_decisions(screened: Screened, later: Sequence[Decision]) -> Screened:
    """A screening with decisions that were made after it, the last of an item standing."""
    if not later:
        return screened
    return dataclasses.replace(
        screened,
        out=_by_reason(reasons_after(screened.reasons(), later)),
        decided=dict(sorted(current_decisions(screened.decided, later).items())),
        seen=later[-1].number,
    )


def decided_of(events: Iterable[Event]) -> tuple[dict[str, str], int]:
    """Item -> what people decided until now, and the number of the last decision on the pages."""
    screening_events = [event for event in events if event.kind in (SCREENING, DECISION)]
    screened = last_screened(screening_events)[1]
    if screened is not None:
        return dict(screened.decided), screened.seen
    page_decisions = decisions(screening_events)
    return current_decisions({}, page_decisions), page_decisions[-1].number if page_decisions else 0


def lost(screened: Screened) -> Counter[str]:
    """Reason -> how many items it leaves out."""
    return Counter({reason: len(items) for reason, items in screened.out.items()})
