"""Marking of cases, without HTTP.

It covers the marks, the versions that follow from them, what these versions still disclose, and one
change of the marks.
"""

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
from konsil.web.curation.passages import places

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
    number: int
    """The number of its last marking, 0: none."""
    marking: Marking | None
    """What is marked."""
    state: State
    """How far it is."""
    leftovers: Sequence[Leftover]
    """What its versions still tell."""
    versions: Versions
    """What the versions say."""
    history: Sequence[Marking]
    """All its markings, the last first."""

    @property
    def marks(self) -> tuple[Mark, ...]:
        """What is marked, in the order of the text."""
        return self.marking.marks if self.marking is not None else ()

    @property
    def stops(self) -> int:
        """How much stands in the way of an approval without a reason."""
        return sum(leftover.stops for leftover in self.leftovers)


class Marks:
    """What those who mark the cases of a study do."""

    def __init__(self, study: Study, store: Store, now: Callable[[], str]) -> None:
        self.store, self.now = store, now
        self.spec: Masking | None = study.prepare.mask if study.prepare is not None else None

    def cases(self) -> list[Row]:
        """All cases that are to be marked, by id."""
        with reading(self.store.engine) as connection:
            names, current_by_case = (
                markings.to_be_marked(connection),
                markings.standing(connection),
            )
            cases_with_versions = markings.cases_with_versions(connection)
        rows = []
        for name in names:
            current_marking = current_by_case[name][1] if name in current_by_case else None
            rows.append(
                Row(
                    name,
                    _state(current_marking, name in cases_with_versions),
                    len(current_marking.marks) if current_marking is not None else 0,
                    current_marking,
                )
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
            number, current_marking = markings.standing(connection, name).get(name, (0, None))
            history, has_versions = (
                markings.history(connection, name),
                name in markings.cases_with_versions(connection),
            )
        if current_marking is not None and current_marking.narrative != narrative_of(item):
            # The text was another one: its offsets mean nothing here.
            current_marking = None
        marks = current_marking.marks if current_marking is not None else ()
        disclosures = leftovers(item, marks, self.spec.removed)
        versions = [
            (level, _shown(parts(item.text, marks, level, self.spec.removed), disclosures, level))
            for level in LEVELS
        ]
        return Case(
            item,
            number,
            current_marking,
            _state(current_marking, has_versions),
            disclosures,
            versions,
            history,
        )

    def change(self, name: str, form: Mapping[str, str], *, by: str, base_number: int) -> Fault:
        """One change of the marks, as a form says it.

        `base_number` is the marking that whoever changes it knew of.
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
            if len(history) != base_number:
                # Sent once more, because the answer to the first time was lost: it is kept already.
                again = len(history) == base_number + 1 and replace(
                    history[0], at=""
                ) == self._marking_after(item, history[1:], form, by)
                return "" if again else "crossed"
            new_marking = self._marking_after(item, history, form, by)
            if isinstance(new_marking, str):
                return new_marking
            if history and replace(history[0], by=by, at="") == new_marking:
                return ""
            return (
                ""
                if markings.append_marking(
                    connection, new_marking, base_number=base_number, at=self.now()
                )
                else "crossed"
            )

    def _marking_after(
        self, item: Item, history: Sequence[Marking], form: Mapping[str, str], by: str
    ) -> Marking | Fault:
        """The marking after a change, or the fault that prevents the change.

        `history` has the markings before the change, the last first.
        """
        current_marking = history[0] if history else None
        if form.get("do") == "approve":
            return self._approved(item, current_marking, by, form.get("reason", ""))
        is_same_text = current_marking is not None and current_marking.narrative == narrative_of(
            item
        )
        marks = current_marking.marks if current_marking is not None and is_same_text else ()
        changed = _changed(item, marks, history, form)
        if isinstance(changed, str):
            return changed
        # Nothing changed, so that an approval stands as well.
        return (
            replace(current_marking, by=by, at="")
            if current_marking is not None and is_same_text and changed == marks
            else marking(item, changed, by, current_marking)
        )

    def _approved(
        self, item: Item, current_marking: Marking | None, by: str, reason: str
    ) -> Marking | Fault:
        if (
            current_marking is None
            or self.spec is None
            or current_marking.narrative != narrative_of(item)
        ):
            return "unknown"
        try:
            return approved(
                item,
                replace(current_marking, at=""),
                by,
                despite=" ".join(reason.split())[:LONGEST],
                removed=self.spec.removed,
            )
        except OwnMarksError:
            return "own"
        except PlanError:
            return "leftover"


def _state(current_marking: Marking | None, has_versions: bool) -> State:
    if has_versions:
        return "made"
    if current_marking is None or not current_marking.marks:
        return "unmarked"
    return "approved" if current_marking.approved else "marked"


def _shown(
    version_parts: Sequence[Part], disclosures: Sequence[Leftover], level: str
) -> list[tuple[Part, bool]]:
    """The parts of a version, cut where something is left over in it."""
    disclosed_spans = [
        (disclosure.start, disclosure.end)
        for disclosure in disclosures
        if disclosure.start is not None and disclosure.end is not None
    ]
    shown: list[tuple[Part, bool]] = []
    for part in version_parts:
        if part.mark is not None or level == LEVELS[0]:
            shown.append((part, False))
            continue
        cuts = sorted(
            {
                part.start,
                part.end,
                *(cut for span in disclosed_spans for cut in span if part.start < cut < part.end),
            }
        )
        for a, b in pairwise(cuts):
            text = part.text[a - part.start : b - part.start]
            shown.append(
                (Part(text, a, b), any(start <= a and b <= end for start, end in disclosed_spans))
            )
    return shown


def _changed(
    item: Item, marks: tuple[Mark, ...], history: Sequence[Marking], form: Mapping[str, str]
) -> tuple[Mark, ...] | Fault:
    """The marks after what a form asks for, or why they cannot be."""
    do, place = form.get("do", ""), _parse_span(form.get("place", ""))
    kind = next((k for k in KINDS if k == form.get("kind")), None)
    if do == "undo":
        return next(
            (
                past_marking.marks
                for past_marking in history
                if past_marking.marks != marks and past_marking.narrative == narrative_of(item)
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
        return editing.joined(marks, place, _parse_count(form.get("rank", "")))
    return "unknown"


def _spans(text: str, marks: Sequence[Mark], form: Mapping[str, str]) -> list[tuple[int, int]]:
    """The spans to be marked.

    This is the selected span, or the position of the written words, the first one or all.
    """
    words, span = (
        form.get("words", "").strip(),
        (_parse_count(form.get("start", "")), _parse_count(form.get("end", ""))),
    )
    start, end = editing.trimmed(text, *span)
    if start < end and (not words or words.split() == text[start:end].split()):
        if not form.get("everywhere"):
            return [(start, end)]
        words = text[start:end]
    matches = places(text, [words]) or places(
        text.lower(), [words.lower()] if len(text.lower()) == len(text) else []
    )
    free = [match for match in matches if editing.mark_conflict(text, marks, *match) is None]
    return free if form.get("everywhere") else free[:1] or matches[:1]


def _parse_span(text: str) -> tuple[int, int]:
    start, _, end = text.partition("-")
    return _parse_count(start), _parse_count(end)


def _parse_count(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 9 else 0


def following(rows: Sequence[Row], case: str) -> str | None:
    """The next case that is not approved yet, or None where there is no other case.

    After the last such case the first one follows.
    """
    pending_cases = [
        row.case for row in rows if row.state in ("unmarked", "marked") and row.case != case
    ]
    return next(
        (name for name in pending_cases if name > case), pending_cases[0] if pending_cases else None
    )
