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
from konsil.api.progress import progress
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
from konsil.prepare.draw.draw import to_mask
from konsil.progress import tracked
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
    leftovers: Mapping[str, Sequence[Leftover]]
    """Case that is not approved -> what its versions still tell."""
    n_done: int
    """Cases whose versions are items."""
    refused: Mapping[str, str] = field(default_factory=dict)
    """Case -> why it could not be approved now."""
    new: int = 0
    """Items and events that are new."""


@progress()
def mask_cases(
    folder: Folder,
    marks: Path | None = None,
    *,
    by: str = TABLE,
    approve: bool = False,
    despite: Mapping[str, str] | None = None,
    save: bool = True,
) -> Masked:
    """Take marks from a table, approve what is marked, and make the versions of what is approved.

    With `save` False nothing is stored.

    Args:
        folder: the study's.
        marks: a table of marks; the cases in it are marked anew, the others stay as they are.
        by: who marks or approves, a pseudonym.
        approve: whether all cases that are marked are approved, but for those that still tell their
            diagnosis.
        despite: case -> the reason why it is approved although they do.
        save: False stores nothing.
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
        case_by_id = {item.id: item for item in items}
        unknown = next((case for case in despite if case not in case_by_id), None)
        if unknown is not None:
            raise PlanError(
                f"{where}: prepare.mask: there is no case {unknown!r};"
                f" {nearest(unknown, case_by_id)}"
            )
        by = decider(store, by, may_write=save)
        before, written = last_markings(events), versions_of(everything)
        markings = {
            case: case_marking for case, (_, case_marking) in before.items() if case in case_by_id
        }
        if marks is not None:
            others = {item.id for item in cases(everything)}.difference(case_by_id)
            markings |= _marked(marks, case_by_id, others, markings, by)
        for case in despite:
            if case not in markings:
                raise PlanError(
                    f"{where}: prepare.mask: case {case!r} has no marks that could be approved"
                )
        due = [
            case
            for case, case_marking in sorted(markings.items())
            if not case_marking.approved and (approve or case in despite)
        ]
        now_approved, refused = _approved(due, case_by_id, markings, despite, by, spec)
        markings |= now_approved
        refused = dict(zip(refused, named(store, refused.values()), strict=True))
        fresh = {
            case: case_marking
            for case, case_marking in markings.items()
            if case not in before or before[case][1] != case_marking
        }
        for case in fresh:
            if case in written:
                raise PlanError(f"case {case!r}: its versions are already items with answers")
        new_versions = [
            version
            for case, case_marking in sorted(markings.items())
            if case_marking.approved and case not in written
            for version in versions(case_by_id[case], case_marking.marks, spec.removed)
        ]
        at = now()
        marking_events = [
            marking_event(case_marking, before[case][0] + 1 if case in before else 1, at)
            for case, case_marking in fresh.items()
        ]
        if save and (new_versions or marking_events):
            note_study(store, folder.study, at)
            store.add(Batch(items=new_versions, events=marking_events), source="mask", at=at)
    pending = [(c, m) for c, m in sorted(markings.items()) if not m.approved]
    residuals_by_case = {
        c: leftovers(case_by_id[c], case_marking.marks, spec.removed)
        for c, case_marking in tracked(pending, "cases checked")
    }
    n_made = len({*written, *(version.case for version in new_versions)} & case_by_id.keys())
    return Masked(
        items, markings, residuals_by_case, n_made, refused, len(new_versions) + len(marking_events)
    )


def _approved(
    cases: Sequence[str],
    case_by_id: Mapping[str, Item],
    markings: Mapping[str, Marking],
    despite: Mapping[str, str],
    by: str,
    spec: Masking,
) -> tuple[dict[str, Marking], dict[str, str]]:
    """The cases that can be approved, and why the others cannot."""
    approvals: dict[str, Marking] = {}
    refused: dict[str, str] = {}
    for case in tracked(cases, "cases approved"):
        try:
            approvals[case] = approved(
                case_by_id[case],
                markings[case],
                by,
                despite=despite.get(case, ""),
                removed=spec.removed,
            )
        except PlanError as error:
            refused[case] = str(error)
    return approvals, refused


def _masking(folder: Folder) -> Masking:
    prepare = folder.study.prepare
    if prepare is None or prepare.mask is None:
        raise StudyError(
            f"{folder.path / PROTOCOL}: there is no [prepare.mask]; expected one that states"
            " how cases are masked"
        )
    return prepare.mask


def _marked(
    path: Path,
    case_by_id: Mapping[str, Item],
    others: Collection[str],
    markings: Mapping[str, Marking],
    by: str,
) -> dict[str, Marking]:
    """The cases of a table as they are marked there; what says nothing new keeps its approval.

    `others` are cases that nobody masks, since they were screened out or not drawn: marks in them
    are passed over.
    """
    new_markings: dict[str, Marking] = {}
    for case, marks in read_marks(read_table(path), case_by_id, others).items():
        try:
            case_marking = marking(case_by_id[case], marks, by, before := markings.get(case))
        except PlanError as error:
            raise SourceError(f"{path.name}: {error}") from None
        if before is None or (before.marks, before.narrative) != (
            case_marking.marks,
            case_marking.narrative,
        ):
            new_markings[case] = case_marking
    return new_markings


def pretended_versions(
    folder: Folder, items: Sequence[Item], events: Sequence[Event]
) -> tuple[Item, ...]:
    """Versions of the cases that have none yet, by their current marks.

    They serve rehearsals, in which no person marks.
    """
    prepare = folder.study.prepare
    if prepare is None or prepare.mask is None:
        return ()
    markings, masked_cases, removed = (
        last_markings(events),
        versions_of(items),
        prepare.mask.removed,
    )
    return tuple(
        version
        for item in to_mask(items, events)
        if item.id not in masked_cases
        for version in versions(
            item, markings[item.id][1].marks if item.id in markings else (), removed
        )
    )


def write_table(masked: Masked, path: Path) -> None:
    """Write every mark as a row that can be read back.

    A case without any has one row for itself.
    """
    rows: list[tuple[str | float, ...]] = []
    for item in masked.items:
        case_marking = masked.markings.get(item.id)
        for mark in case_marking.marks if case_marking is not None else ():
            text, nth = occurrence_of(item.text, mark)
            rank = mark.rank or ""
            rows.append(
                (item.id, mark.kind, rank, mark.start, mark.end, text, nth, mark.replacement)
            )
        if case_marking is None or not case_marking.marks:
            rows.append((item.id, *("" for _ in COLUMNS[1:])))
    write_cells(path, COLUMNS, rows)


def progress_lines(masked: Masked) -> Iterator[str]:
    """How far the cases are, in a few lines; what is left over of a diagnosis first."""
    n_approved = sum(case_marking.approved for case_marking in masked.markings.values())
    yield (
        f"{len(masked.items):,} cases: {len(masked.markings):,} marked, {n_approved:,} approved,"
        f" {masked.n_done:,} with their versions as items"
    )
    for case, residuals in masked.leftovers.items():
        for residual in sorted(residuals, key=lambda residual: not residual.stops):
            yield (
                f"  {case}: {residual.description()}"
                f"{'' if residual.stops else '; warning, approval not blocked'}"
            )
    untold = {
        case: reason
        for case, reason in masked.refused.items()
        if not any(o.stops for o in masked.leftovers.get(case, ()))
    }
    for reason in untold.values():
        yield f"  not approved: {reason}"
    n_left = len(masked.refused) - len(untold)
    if n_left:
        yield (
            f"{n_left:,} not approved: mark the residual disclosure, or give a reason with"
            f" {option('despite')} CASE REASON"
        )
