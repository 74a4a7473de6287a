"""The marks of a case, kept as events: marked, reviewed, approved, then made into items.

The last event of a case counts. A case's versions are items of their own; the case itself is then
no longer in the study, since whoever read the whole narrative would know the others' answers.
"""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from konsil.errors import PlanError, in_short
from konsil.prepare.cases.leftovers import leftovers
from konsil.prepare.cases.masking import LEVEL, LEVELS, REMOVED, Mark, marking_problems, masked
from konsil.records import Event, Item

MARKING = "marking"
"""The kind of the event that holds what is marked in a case."""


class OwnMarksError(PlanError):
    """Somebody would approve marks of their own."""


@dataclass(frozen=True, slots=True)
class Masking:
    """How the versions of cases are made."""

    removed: str = REMOVED
    """What stands where something was taken out; empty: nothing, and the blanks and commas around
    it are mended."""


@dataclass(frozen=True, slots=True)
class Marking:
    """What somebody marked in a case, and whether it was approved."""

    case: str
    """The case's id: the item whose text is the narrative."""
    marks: tuple[Mark, ...]
    """What is marked."""
    by: str
    """Who marked or approved it, a pseudonym."""
    narrative: str
    """The digest of the narrative that the offsets are of."""
    approved: bool = False
    """Whether the versions may be made of it."""
    despite: str = ""
    """Why it was approved although something was found to be left over."""
    at: str = ""
    """When, ISO 8601 in UTC; empty until it is kept."""
    markers: tuple[str, ...] = ()
    """All who changed the marks until now; none of them may approve the case."""


def marking(item: Item, marks: Iterable[Mark], by: str, before: Marking | None = None) -> Marking:
    """What is marked in a case, in the order of the text; a PlanError says what is wrong with it.

    `before` is what was marked until now: whoever made that is among the markers.
    """
    ordered = tuple(sorted(marks, key=lambda m: (m.start, -m.end)))
    problems = [f"case {item.id!r}: {problem}" for problem in marking_problems(item.text, ordered)]
    if problems:
        raise PlanError(in_short(problems))
    return Marking(
        item.id, ordered, by, narrative_of(item), markers=tuple(sorted({*markers_of(before), by}))
    )


def markers_of(marking: Marking | None) -> tuple[str, ...]:
    """All who changed the marks of a case."""
    if marking is None:
        return ()
    return marking.markers or (() if marking.approved else (marking.by,))


def approved(
    item: Item, marking: Marking, by: str, *, despite: str = "", removed: str = REMOVED
) -> Marking:
    """The marking as approved by somebody.

    A PlanError says what is left over, unless there is a reason `despite`.

    What stops it is the diagnosis in a masked version, or a version that is no different from the
    one before. Whoever changed the marks cannot approve them, for any reason.
    """
    if marking.narrative != narrative_of(item):
        raise PlanError(
            f"case {item.id!r}: its narrative is not the one that was marked; mark it again"
        )
    stops = [leftover for leftover in leftovers(item, marking.marks, removed) if leftover.stops]
    if stops and not despite.strip():
        notes = in_short([f"case {item.id!r}: {leftover.description()}" for leftover in stops])
        raise PlanError(
            f"{notes}; expected a mark there, too, or a reason to approve the case anyway"
        )
    if by in markers_of(marking):
        raise OwnMarksError(
            f"case {item.id!r}: {by!r} marked it; expected another person to approve the marks"
        )
    return replace(marking, by=by, approved=True, despite=despite.strip() if stops else "")


def versions(item: Item, marks: Sequence[Mark], removed: str = REMOVED) -> tuple[Item, ...]:
    """A case's five versions as items: CASE:narrative, CASE:0 and so on, each with its level.

    >>> case = Item("c1", "Sarcoidosis was found.", "sarcoidosis")
    >>> items = versions(case, [Mark(0, 11, "diagnosis")])
    >>> [(item.id, item.case, item.strata["level"], item.text) for item in items][:2]
    [('c1:narrative', 'c1', 'narrative', 'Sarcoidosis was found.'), ('c1:0', 'c1', '0', '[…] was found.')]
    """  # noqa: E501
    return tuple(
        replace(
            item,
            id=f"{item.id}:{level}",
            text=masked(item.text, marks, level, removed),
            case=item.id,
            strata={**item.strata, LEVEL: level},
        )
        for level in LEVELS
    )


def narrative_of(item: Item) -> str:
    """A digest of a case's narrative, by which a change after the marking is noticed."""
    return hashlib.blake2b(item.text.encode("utf-8", "backslashreplace"), digest_size=8).hexdigest()


def marking_event(marking: Marking, number: int, at: str) -> Event:
    """What is kept of a marking.

    `number` counts the case's from 1, so that of two at once one is refused.
    """
    data = {"number": number, **dataclasses.asdict(replace(marking, at=at))}
    return Event(f"{MARKING}-{marking.case}-{number}", MARKING, marking.case, at, data)


def last_markings(events: Iterable[Event]) -> dict[str, tuple[int, Marking]]:
    """Case -> the number of its last marking, and the marking.

    Cases that nobody marked are not in it.
    """
    marking_by_case: dict[str, tuple[int, Marking]] = {}
    for event in events:
        if event.kind == MARKING:
            number = int(str(event.data.get("number", 0)))
            if number > marking_by_case.get(event.subject, (0, None))[0]:
                marking_by_case[event.subject] = (number, _read(event.data))
    return marking_by_case


def _read(data: Mapping[str, Any]) -> Marking:
    field_names, mark_field_names = (
        {f.name for f in dataclasses.fields(kind)} for kind in (Marking, Mark)
    )
    values = {name: value for name, value in data.items() if name in field_names}
    marks = tuple(
        Mark(**{k: v for k, v in mark.items() if k in mark_field_names})
        for mark in values.pop("marks", ())
    )
    values["markers"] = tuple(values.get("markers", ()))
    return Marking(marks=marks, **values)


def cases(items: Iterable[Item]) -> tuple[Item, ...]:
    """The items without the versions of others: what is screened, drawn and marked.

    Versions that came ready-made have no case that is an item without one, and stand for
    themselves.
    """
    items = tuple(items)
    case_ids = {item.id for item in items if item.case is None}
    return tuple(item for item in items if not _is_version(item, case_ids))


def versions_of(items: Iterable[Item]) -> dict[str, tuple[Item, ...]]:
    """Case -> its versions, of the cases that are items themselves."""
    items = tuple(items)
    case_ids = {item.id for item in items if item.case is None}
    versions: dict[str, tuple[Item, ...]] = {}
    for item in items:
        if item.case is not None and _is_version(item, case_ids):
            versions[item.case] = (*versions.get(item.case, ()), item)
    return versions


def _is_version(item: Item, case_ids: Collection[str]) -> bool:
    return item.case is not None and item.case in case_ids
