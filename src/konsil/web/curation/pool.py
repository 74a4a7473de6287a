"""Screening of a pool of items, without HTTP.

It covers the standing of each item, the items that are still undecided, and one decision.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from konsil.prepare import (
    KEEP,
    Decision,
    Screened,
    Screening,
    decided_of,
    decisions,
    first_finding,
    last_screened,
)
from konsil.prepare.identifiers.suspects import suspects
from konsil.prepare.questions.screening import UNDECIDED
from konsil.records import Event, Item
from konsil.store import Store
from konsil.store.curation import pool
from konsil.store.engine.engine import reading, writing
from konsil.study import Study
from konsil.web.curation.standing import STANDINGS, Stand, Standing

PAGE = 50
"""Items on one page of the list."""
MOST_AT_ONCE = 200
"""Decisions more that are added to what is remembered; beyond, all of it is read anew."""
LONGEST = 300
"""Characters of a reason; a note may have more."""
LONGEST_NOTE = 2_000
Fault = Literal["", "reason", "statements", "crossed", "planned", "unknown"]
"""What stands in the way of a decision: no reason, not all statements, somebody else's, a plan, no
such item."""


@dataclass(frozen=True, slots=True)
class Row:
    """One item of the list."""

    item: str
    """Its id."""
    text: str
    """How it begins."""
    standing: Standing
    """How it stands."""
    reason: str
    """Why it is left out or suspected."""
    last: Decision | None
    """The last decision that was made on these pages."""


@dataclass(frozen=True, slots=True)
class Listed:
    """One page of the list."""

    rows: Sequence[Row]
    """Its items."""
    n_matches: int
    """How many items the filter and the search find."""
    page: int
    """Which page it is, from 1."""
    pages: int
    """How many there are."""
    counts: Mapping[str, int]
    """Standing -> how many of all items."""
    reasons: Sequence[tuple[str, int]]
    """Reason -> how many items it leaves out, the most first; those that only a rule suspects are
    counted, too."""


@dataclass(frozen=True, slots=True)
class ItemReview:
    """One item, to be decided on."""

    item: Item
    """The item."""
    standing: Standing
    """How it stands."""
    reason: str
    """Why it is left out, or suspected."""
    evidence: Sequence[tuple[str, str]]
    """Rule and what it found in the text."""
    history: Sequence[Decision]
    """What was decided of it on these pages, the last first."""
    by_model: str = ""
    """The reason for which a model suspects it, where no rule does."""
    quoted: str = ""
    """The words of the text that the model gave for it; empty where they are not in the text."""
    earlier_reasons: Sequence[str] = field(default=())
    """Reasons that were given before, to choose from."""

    @property
    def last_number(self) -> int:
        """The number of the last decision on it."""
        return self.history[0].number if self.history else 0


class Pool:
    """What those who go through the items of a study do."""

    def __init__(self, study: Study, store: Store, now: Callable[[], str]) -> None:
        self.store, self.now = store, now
        self.spec: Screening | None = study.prepare.screen if study.prepare is not None else None
        # Of the whole pool, and renewed by what was decided since: thousands of items are not read
        # again.
        self._memory: tuple[tuple[int, int], Stand] | None = None

    def stand(self) -> Stand:
        """How the whole pool stands; read anew only after somebody decided or screened."""
        with reading(self.store.engine) as connection:
            state, memory = pool.state(connection), self._memory
            if memory is not None and memory[0] == state:
                return memory[1]
            if (
                memory is not None
                and memory[0][0] == state[0]
                and state[1] - memory[0][1] < MOST_AT_ONCE
            ):
                stand = memory[1].after(pool.since(connection, memory[0][1] + 1, state[1]))
            else:
                stand = _stand(pool.decision_events(connection))
        self._memory = (state, stand)
        return stand

    def listed(
        self, standing: str = "", reason: str = "", words: str = "", page: int = 1
    ) -> Listed:
        """The items that stand so, are left out for this reason and have these words.

        One page of them.
        """
        stand = self.stand()
        with reading(self.store.engine) as connection:
            everything = pool.names(connection)
            matching_items = _chosen(
                stand,
                pool.names(connection, words) if words.strip() else everything,
                standing,
                reason,
            )
            pages = max(1, -(-len(matching_items) // PAGE))
            page = min(max(page, 1), pages)
            shown = matching_items[(page - 1) * PAGE : page * PAGE]
            texts = pool.items(connection, shown)
        rows = [
            Row(i, _start(texts[i].text), stand.of(i), stand.reason(i), stand.last.get(i))
            for i in shown
        ]
        counts = Counter(map(stand.of, everything))
        reasons = Counter(item_reason for i in everything if (item_reason := stand.reason(i)))
        return Listed(
            rows,
            len(matching_items),
            page,
            pages,
            {s: counts[s] for s in STANDINGS},
            reasons.most_common(),
        )

    def next_after(
        self, item: str, standing: str = "", reason: str = "", words: str = ""
    ) -> str | None:
        """The next item under the same filter, or None where there is no other item.

        After the last item the first one follows.
        """
        stand = self.stand()
        with reading(self.store.engine) as connection:
            matching_items = [
                i
                for i in _chosen(stand, pool.names(connection, words), standing, reason)
                if i != item
            ]
        return next(
            (i for i in matching_items if i > item), matching_items[0] if matching_items else None
        )

    def review(self, name: str) -> ItemReview | None:
        """One item with what rules find in it and what was decided.

        None where there is no such item.
        """
        stand = self.stand()
        with reading(self.store.engine) as connection:
            item = pool.items(connection, [name]).get(name)
            history = decisions(pool.decision_events(connection, name))
            model = stand.by_model.get(name, "")
            quoted = pool.quoted(connection, name, model) if model else ""
        if item is None:
            return None
        rules = self.spec.rules if self.spec is not None else ()
        evidence = [
            (rule, text) for rule in rules for text in dict.fromkeys(suspects(item.text, rule))
        ]
        current_reasons = [*(rule for rule, _ in evidence), *([model] if model else [])]
        past_reasons = [
            decision.decision
            for decision in stand.last.values()
            if decision.decision not in ("", KEEP)
        ]
        return ItemReview(
            item,
            stand.of(name),
            stand.reason(name),
            evidence,
            history[::-1],
            model,
            quoted if quoted in item.text else "",
            [reason for reason, _ in Counter((*past_reasons, *current_reasons)).most_common(20)],
        )

    def decide(
        self,
        name: str,
        decision: str,
        *,
        by: str,
        base_number: int,
        reason: str = "",
        met: Sequence[str] = (),
        note: str = "",
    ) -> Fault:
        """Keep an item, leave it out, or take back what was decided; says what stands in the way.

        `base_number` is the number of the last decision on the item that whoever decides knew of.
        """
        if self.spec is None:
            return "unknown"
        met_criteria = tuple(criterion for criterion in self.spec.criteria if criterion in met)
        missing = [criterion for criterion in self.spec.criteria if criterion not in met_criteria]
        # Reasons are counted: white space would make two of one.
        reason = " ".join(reason.split())[:LONGEST]
        if decision == "keep":
            if missing:
                return "statements"
            reason = KEEP
        elif decision == "out":
            # Reasons are counted, so the first statement that does not hold stands for all of them.
            reason = reason or (f"not: {missing[0]}" if missing else "")
            if reason.lower() in ("", KEEP):
                return "reason"
        elif decision == "undo":
            reason = ""
        else:
            return "unknown"
        # Everything that the decision depends on is read in the transaction that writes it.
        with writing(self.store.engine) as connection:
            item = pool.items(connection, [name]).get(name)
            if item is None:
                return "unknown"
            if pool.is_planned(connection):
                return "planned"
            history = decisions(pool.decision_events(connection, name))
            last = history[-1] if history else None
            if last is not None and last.number != base_number:
                # The same by the same person once more, such as a form that was sent twice, is done
                # already.
                return (
                    ""
                    if (last.by, last.decision, last.statements) == (by, reason, met_criteria)
                    else "crossed"
                )
            otherwise = last.otherwise if last is not None else self._otherwise(item)
            pool.decide(
                connection,
                Decision(
                    0,
                    name,
                    reason,
                    by,
                    self.now(),
                    otherwise,
                    met_criteria,
                    note.strip()[:LONGEST_NOTE],
                ),
            )
        return ""

    def _otherwise(self, item: Item) -> str:
        """What applies to an item without a person's decision.

        This is the result of the last screening, or else of the rules as they are now.
        """
        if self.spec is None:
            return KEEP
        stand = self.stand()
        if item.id in stand.suspected:
            return stand.suspected[item.id]
        finding = first_finding(item, self.spec)
        if finding is not None:
            return finding.reason
        return KEEP if self.spec.keeps_undecided else UNDECIDED


def _stand(events: Sequence[Event]) -> Stand:
    screened = last_screened(events)[1] or Screened("", "")
    decided = decided_of(events)[0]
    suspected = {i: r for i, r in screened.reasons().items() if i not in decided and r != UNDECIDED}
    return Stand(
        decided,
        suspected,
        {decision.item: decision for decision in decisions(events)},
        screened.by_model,
    )


def _chosen(stand: Stand, names: Sequence[str], standing: str, reason: str) -> list[str]:
    return [
        i
        for i in names
        if (not standing or stand.of(i) == standing) and (not reason or stand.reason(i) == reason)
    ]


def _start(text: str, max_characters: int = 160) -> str:
    line = " ".join(text.replace("#", " ").split())
    return line if len(line) <= max_characters else line[: max_characters - 1].rstrip() + "…"
