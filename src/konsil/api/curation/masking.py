"""Cases and their versions: marks from a table, looked through, approved, and made into items."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from konsil.api.curation.decision_tables import write_cells
from konsil.api.curation.marks import COLUMNS, occurrence_of, read_marks
from konsil.api.folder.folder import Folder
from konsil.api.folder.noting import note_study
from konsil.api.folder.opened import PROTOCOL, now
from konsil.errors import PlanError, SourceError, StudyError, nearest, option
from konsil.prepare.cases.leftovers import Leftover, leftovers
from konsil.prepare.cases.marking import (
    Marking,
    Masking,
    approved,
    cases,
    last_markings,
    marking,
    marking_event,
    versions,
    versions_of,
)
from konsil.prepare.draw.draw import still_whole, to_mask, unmasked_cases_sentence
from konsil.records import Event, Item
from konsil.sources.files.table import read_table
from konsil.store import Batch
from konsil.store.people.staff import TABLE, decider, named


@dataclass(frozen=True)
class Masked:
    """The cases of a study and how far they are."""

    items: Sequence[Item]
    """The cases that are to be masked."""
    markings: Mapping[str, Marking]
    """Case -> what is marked in it."""
    left: Mapping[str, Sequence[Leftover]]
    """Case that is not approved -> what its versions still tell."""
    made: int
    """Cases whose versions are items."""
    refused: Mapping[str, str] = field(default_factory=dict)
    """Case -> why it could not be approved now."""
    new: int = 0
    """Items and events that are new."""


def mask_cases(
    folder: Folder,
    marks: Path | None = None,
    *,
    by: str = TABLE,
    approve: bool = False,
    despite: Mapping[str, str] | None = None,
    keep: bool = True,
) -> Masked:
    """Take marks from a table, approve what is marked, and make the versions of what is approved.

    `keep` False looks.

    Args:
        folder: the study's.
        marks: a table of marks; the cases in it are marked anew, the others stay as they are.
        by: who marks or approves, a pseudonym.
        approve: whether all cases that are marked are approved, but for those that still tell their
            diagnosis.
        despite: case -> the reason why it is approved although they do.
        keep: False stores nothing.
    """
    spec, where = _masking(folder), folder.path / PROTOCOL
    despite = despite or {}
    with folder.store() as store:
        with store.view() as view:
            everything, events = tuple(view.each("items")), tuple(view.each("events"))
        items = to_mask(everything, events)
        if not items:
            raise PlanError(
                f"{where}: prepare.mask: there are no cases yet; run 'konsil import' first"
            )
        known = {item.id: item for item in items}
        unknown = next((case for case in despite if case not in known), None)
        if unknown is not None:
            raise PlanError(
                f"{where}: prepare.mask: there is no case {unknown!r}; {nearest(unknown, known)}"
            )
        by = decider(store, by, may_write=keep)
        before, written = last_markings(events), versions_of(everything)
        held = {case: one for case, (_, one) in before.items() if case in known}
        if marks is not None:
            others = {item.id for item in cases(everything)}.difference(known)
            held |= _marked(marks, known, others, held, by)
        for case in despite:
            if case not in held:
                raise PlanError(
                    f"{where}: prepare.mask: nothing is marked in case {case!r} that could be"
                    " approved"
                )
        due = [
            case
            for case, one in sorted(held.items())
            if not one.approved and (approve or case in despite)
        ]
        now_approved, refused = _approved(due, known, held, despite, by, spec)
        held |= now_approved
        refused = dict(zip(refused, named(store, refused.values()), strict=True))
        fresh = {
            case: one for case, one in held.items() if case not in before or before[case][1] != one
        }
        for case in fresh:
            if case in written:
                raise PlanError(
                    f"case {case!r}: its versions are items already, and answers stand on them"
                )
        made = [
            version
            for case, one in sorted(held.items())
            if one.approved and case not in written
            for version in versions(known[case], one.marks, spec.removed)
        ]
        at = now()
        told = [
            marking_event(one, before[case][0] + 1 if case in before else 1, at)
            for case, one in fresh.items()
        ]
        if keep and (made or told):
            note_study(store, folder.study, at)
            store.add(Batch(items=made, events=told), source="mask", at=at)
    left = {
        c: leftovers(known[c], one.marks, spec.removed)
        for c, one in sorted(held.items())
        if not one.approved
    }
    n_made = len({*written, *(version.case for version in made)} & known.keys())
    return Masked(items, held, left, n_made, refused, len(made) + len(told))


def _approved(
    cases: Sequence[str],
    known: Mapping[str, Item],
    held: Mapping[str, Marking],
    despite: Mapping[str, str],
    by: str,
    spec: Masking,
) -> tuple[dict[str, Marking], dict[str, str]]:
    """The cases that can be approved, and why the others cannot."""
    done: dict[str, Marking] = {}
    refused: dict[str, str] = {}
    for case in cases:
        try:
            done[case] = approved(
                known[case], held[case], by, despite=despite.get(case, ""), removed=spec.removed
            )
        except PlanError as error:
            refused[case] = str(error)
    return done, refused


def _masking(folder: Folder) -> Masking:
    prepare = folder.study.prepare
    if prepare is None or prepare.mask is None:
        raise StudyError(
            f"{folder.path / PROTOCOL}: there is no [prepare.mask]; nothing says that cases are"
            " masked"
        )
    return prepare.mask


def _marked(
    path: Path,
    known: Mapping[str, Item],
    others: Collection[str],
    held: Mapping[str, Marking],
    by: str,
) -> dict[str, Marking]:
    """The cases of a table as they are marked there; what says nothing new keeps its approval.

    `others` are cases that nobody masks, since they were screened out or not drawn: marks in them
    are passed over.
    """
    found: dict[str, Marking] = {}
    for case, marks in read_marks(read_table(path), known, others).items():
        try:
            one = marking(known[case], marks, by, before := held.get(case))
        except PlanError as error:
            raise SourceError(f"{path.name}: {error}") from None
        if before is None or (before.marks, before.narrative) != (one.marks, one.narrative):
            found[case] = one
    return found


def check_masked(folder: Folder, items: Sequence[Item], events: Sequence[Event]) -> None:
    """Raise a PlanError where the protocol asks for masked cases and some of the study's have no versions yet."""
    prepare = folder.study.prepare
    whole = still_whole(items, events) if prepare is not None and prepare.mask is not None else ()
    if whole:
        raise PlanError(f"{folder.path}: {unmasked_cases_sentence(whole)}")


def pretended_versions(
    folder: Folder, items: Sequence[Item], events: Sequence[Event]
) -> tuple[Item, ...]:
    """Versions of the cases that have none, by what is marked so far: for rehearsals, in which nobody marks."""
    prepare = folder.study.prepare
    if prepare is None or prepare.mask is None:
        return ()
    held, there, removed = last_markings(events), versions_of(items), prepare.mask.removed
    return tuple(
        version
        for item in to_mask(items, events)
        if item.id not in there
        for version in versions(item, held[item.id][1].marks if item.id in held else (), removed)
    )


def write_table(masked: Masked, path: Path) -> None:
    """Write every mark as a row that can be read back.

    A case without any has one row for itself.
    """
    found: list[tuple[str | float, ...]] = []
    for item in masked.items:
        one = masked.markings.get(item.id)
        for mark in one.marks if one is not None else ():
            text, nth = occurrence_of(item.text, mark)
            rank = mark.rank or ""
            found.append(
                (item.id, mark.kind, rank, mark.start, mark.end, text, nth, mark.replacement)
            )
        if one is None or not one.marks:
            found.append((item.id, *("" for _ in COLUMNS[1:])))
    write_cells(path, COLUMNS, found)


def progress_lines(masked: Masked) -> Iterator[str]:
    """How far the cases are, in a few lines; what is left over of a diagnosis first."""
    n_approved = sum(one.approved for one in masked.markings.values())
    yield (
        f"{len(masked.items):,} cases: {len(masked.markings):,} marked, {n_approved:,} approved,"
        f" {masked.made:,} with their versions as items"
    )
    for case, found in masked.left.items():
        for one in sorted(found, key=lambda left: not left.stops):
            yield f"  {case}: {one.description()}{'' if one.stops else '; this stops nobody'}"
    untold = {
        case: why
        for case, why in masked.refused.items()
        if not any(o.stops for o in masked.left.get(case, ()))
    }
    for why in untold.values():
        yield f"  not approved: {why}"
    n_left = len(masked.refused) - len(untold)
    if n_left:
        yield (
            f"{n_left:,} not approved: mark what is left over, or give a reason by"
            f" {option('despite')} CASE REASON"
        )
