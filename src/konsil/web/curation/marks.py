"""Marking cases, without HTTP: what is marked, what the versions then say, what they still tell, one change more."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal, get_args

from konsil.errors import PlanError
from konsil.prepare.cases import editing
from konsil.prepare.cases.leftovers import Leftover, leftovers
from konsil.prepare.cases.marking import (
    Marking,
    Masking,
    OwnMarksError,
    approved,
    marking,
    narrative_of,
)
from konsil.prepare.cases.masking import LEVELS, Mark, MarkKind, Part, parts
from konsil.records import Item
from konsil.store import Store
from konsil.store.curation import markings, pool
from konsil.store.engine.engine import reading, writing
from konsil.study import Study
from konsil.web.http.passages import places

KINDS: tuple[MarkKind, ...] = get_args(MarkKind)
State = Literal["unmarked", "marked", "approved", "made"]
"""How far a case is: nothing marked, marked, approved, its versions items of the study."""
Fault = Literal[
    "", "nothing", "twice", "across", "absent", "crossed", "made", "leftover", "own", "unknown"
]
"""What stands in the way of a change."""
LONGEST = 500
"""Characters of the words that stand for a mark, and of a reason."""
Versions = Sequence[tuple[str, Sequence[tuple[Part, bool]]]]
"""Level and its parts, each with whether it is a place where the diagnosis or a cue is left
over."""


@dataclass(frozen=True, slots=True)
class Row:
    """One case of the list."""

    case: str
    """Its id."""
    state: State
    """How far it is."""
    marks: int
    """How much is marked."""
    last: Marking | None
    """Who marked or approved it last, and when."""


@dataclass(frozen=True, slots=True)
class Case:
    """One case as whoever marks it sees it."""

    item: Item
    """The case."""
    seen: int
    """The number of its last marking, 0: none."""
    held: Marking | None
    """What is marked."""
    state: State
    """How far it is."""
    found: Sequence[Leftover]
    """What its versions still tell."""
    versions: Versions
    """What the versions say."""
    history: Sequence[Marking]
    """All its markings, the last first."""

    @property
    def marks(self) -> tuple[Mark, ...]:
        """What is marked, in the order of the text."""
        return self.held.marks if self.held is not None else ()

    @property
    def stops(self) -> int:
        """How much stands in the way of an approval without a reason."""
        return sum(one.stops for one in self.found)


class Marks:
    """What those who mark the cases of a study do."""

    def __init__(self, study: Study, store: Store, now: Callable[[], str]) -> None:
        self.store, self.now = store, now
        self.spec: Masking | None = study.prepare.mask if study.prepare is not None else None

    def cases(self) -> list[Row]:
        """All cases that are to be marked, by id."""
        with reading(self.store.engine) as connection:
            names, held = markings.to_be_marked(connection), markings.standing(connection)
            made = markings.cases_with_versions(connection)
        rows = []
        for name in names:
            one = held[name][1] if name in held else None
            rows.append(
                Row(name, _state(one, name in made), len(one.marks) if one is not None else 0, one)
            )
        return rows

    def case(self, name: str) -> Case | None:
        """One case; None where there is none of this name to be marked."""
        if self.spec is None:
            return None
        with reading(self.store.engine) as connection:
            item = pool.items(connection, [name]).get(name)
            if item is None or item.case not in (None, name):
                return None
            seen, held = markings.standing(connection, name).get(name, (0, None))
            history, made = (
                markings.history(connection, name),
                name in markings.cases_with_versions(connection),
            )
        if held is not None and held.narrative != narrative_of(item):
            # The text was another one: its offsets mean nothing here.
            held = None
        marks = held.marks if held is not None else ()
        found = leftovers(item, marks, self.spec.removed)
        versions = [
            (level, _shown(parts(item.text, marks, level, self.spec.removed), found, level))
            for level in LEVELS
        ]
        return Case(item, seen, held, _state(held, made), found, versions, history)

    def change(self, name: str, form: Mapping[str, str], *, by: str, seen: int) -> Fault:
        """One change of the marks, as a form says it.

        `seen` is the marking that whoever changes it knew of.
        """
        if self.spec is None:
            return "unknown"
        with writing(self.store.engine) as connection:
            item = pool.items(connection, [name]).get(name)
            if item is None or item.case not in (None, name):
                return "unknown"
            if name in markings.cases_with_versions(connection):
                return "made"
            history = markings.history(connection, name)
            if len(history) != seen:
                # Sent once more, because the answer to the first time was lost: it is kept already.
                again = len(history) == seen + 1 and replace(history[0], at="") == self._wanted(
                    item, history[1:], form, by
                )
                return "" if again else "crossed"
            wanted = self._wanted(item, history, form, by)
            if isinstance(wanted, str):
                return wanted
            if history and replace(history[0], by=by, at="") == wanted:
                return ""
            return (
                ""
                if markings.append_marking(connection, wanted, base_number=seen, at=self.now())
                else "crossed"
            )

    def _wanted(
        self, item: Item, history: Sequence[Marking], form: Mapping[str, str], by: str
    ) -> Marking | Fault:
        """What the marking is after a change that follows on these, the last first; or why it cannot be made."""
        held = history[0] if history else None
        if form.get("do") == "approve":
            return self._approved(item, held, by, form.get("reason", ""))
        known = held is not None and held.narrative == narrative_of(item)
        marks = held.marks if held is not None and known else ()
        changed = _changed(item, marks, history, form)
        if isinstance(changed, str):
            return changed
        # Nothing changed, so that an approval stands as well.
        return (
            replace(held, by=by, at="")
            if held is not None and known and changed == marks
            else marking(item, changed, by, held)
        )

    def _approved(self, item: Item, held: Marking | None, by: str, reason: str) -> Marking | Fault:
        if held is None or self.spec is None or held.narrative != narrative_of(item):
            return "unknown"
        try:
            return approved(
                item,
                replace(held, at=""),
                by,
                despite=" ".join(reason.split())[:LONGEST],
                removed=self.spec.removed,
            )
        except OwnMarksError:
            return "own"
        except PlanError:
            return "leftover"


def _state(held: Marking | None, made: bool) -> State:
    if made:
        return "made"
    if held is None or not held.marks:
        return "unmarked"
    return "approved" if held.approved else "marked"


def _shown(made: Sequence[Part], found: Sequence[Leftover], level: str) -> list[tuple[Part, bool]]:
    """The parts of a version, cut where something is left over in it."""
    here = [(one.start, one.end) for one in found if one.start is not None and one.end is not None]
    shown: list[tuple[Part, bool]] = []
    for part in made:
        if part.mark is not None or level == LEVELS[0]:
            shown.append((part, False))
            continue
        cuts = sorted(
            {
                part.start,
                part.end,
                *(cut for span in here for cut in span if part.start < cut < part.end),
            }
        )
        for a, b in pairwise(cuts):
            text = part.text[a - part.start : b - part.start]
            shown.append((Part(text, a, b), any(start <= a and b <= end for start, end in here)))
    return shown


def _changed(
    item: Item, marks: tuple[Mark, ...], history: Sequence[Marking], form: Mapping[str, str]
) -> tuple[Mark, ...] | Fault:
    """The marks after what a form asks for, or why they cannot be."""
    do, place = form.get("do", ""), _place(form.get("place", ""))
    kind = next((k for k in KINDS if k == form.get("kind")), None)
    if do == "undo":
        return next(
            (
                one.marks
                for one in history
                if one.marks != marks and one.narrative == narrative_of(item)
            ),
            (),
        )
    if do == "add" and kind is not None:
        spans = _spans(item.text, marks, form)
        flaws = [
            flaw
            for span in spans
            if (flaw := editing.mark_conflict(item.text, marks, *span)) is not None
        ]
        if flaws or not spans:
            return flaws[0] if flaws else "absent"
        return editing.added(marks, spans, kind)
    if place not in {(m.start, m.end) for m in marks}:
        return "unknown"
    if do == "drop":
        return editing.without(marks, place)
    if do == "kind" and kind is not None:
        return editing.of_kind(marks, place, kind)
    if do == "word":
        return editing.worded(marks, place, form.get("replacement", "")[:LONGEST])
    if do in ("up", "down"):
        return editing.moved(marks, place, -1 if do == "up" else 1)
    if do == "join":
        return editing.joined(marks, place, _number(form.get("rank", "")))
    return "unknown"


def _spans(text: str, marks: Sequence[Mark], form: Mapping[str, str]) -> list[tuple[int, int]]:
    """What is to be marked: the selected span, or where the words stand that were written, once or everywhere."""
    words, span = (
        form.get("words", "").strip(),
        (_number(form.get("start", "")), _number(form.get("end", ""))),
    )
    start, end = editing.trimmed(text, *span)
    if start < end and (not words or words.split() == text[start:end].split()):
        if not form.get("everywhere"):
            return [(start, end)]
        words = text[start:end]
    there = places(text, [words]) or places(
        text.lower(), [words.lower()] if len(text.lower()) == len(text) else []
    )
    free = [one for one in there if editing.mark_conflict(text, marks, *one) is None]
    return free if form.get("everywhere") else free[:1] or there[:1]


def _place(text: str) -> tuple[int, int]:
    start, _, end = text.partition("-")
    return _number(start), _number(end)


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 9 else 0


def following(rows: Sequence[Row], case: str) -> str | None:
    """The case after this one that is not approved yet; at the end the first one; None where there is no other."""
    left = [row.case for row in rows if row.state in ("unmarked", "marked") and row.case != case]
    return next((name for name in left if name > case), left[0] if left else None)
