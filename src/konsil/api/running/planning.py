"""The plan of a study's folder: drawn, stored, and described."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from konsil.analysis.table.columns import Columns, json_texts
from konsil.api.folder.folder import Folder
from konsil.api.folder.noting import note_study
from konsil.api.folder.opened import PROTOCOL, now
from konsil.api.item_checks import check_drawn, check_masked, check_rewritten
from konsil.errors import AddedTasksError, PlanError, StudyError
from konsil.errors.message import message, placed
from konsil.plan import (
    Balance,
    History,
    Meetings,
    Missing,
    PlannedOverlap,
    Washout,
    assign,
    balance,
    meetings,
    missing,
    overlaps_of,
    washouts,
)
from konsil.plan.draw.injections import plant
from konsil.plan.model.places import ADDED, added_places, panel_of_slot, placeholder_raters
from konsil.plan.model.task_columns import TaskColumns
from konsil.prepare import in_study
from konsil.records import Answer, Item, Task, bulk_creation
from konsil.store import Batch, Store
from konsil.store.calls.calls import Calls
from konsil.store.engine import frames
from konsil.store.engine.bulk import column_rows
from konsil.store.engine.rows import KINDS
from konsil.study import Study
from konsil.study.interim.added_tasks import added_tasks_problem, task_limit

_COMMA_AT_AN_END = r'\[",|,",|[^"],"'
"""JSON of texts of which one begins or ends with a comma, as a regular expression."""
_NAMED = 5
"""So many items are named in a sentence."""


@dataclass(frozen=True)
class Planned:
    """What was planned."""

    tasks: Sequence[Task]
    """Every task of the plan, those stored before included."""
    new: int
    """How many of them were not stored before."""
    balance: Balance
    """How even it is."""
    digest: str
    """What a pre-registration names: the same plan has the same digest."""
    missing: tuple[Missing, ...] = ()
    """Allocations with items that lack answers: none are shown, or fewer."""
    meetings: Mapping[str, Meetings] = field(default_factory=dict)
    """Panel that compares two answers at a time -> its comparisons."""
    washouts: Mapping[tuple[str, str], Washout] = field(default_factory=dict)
    """Panel of people and kind of second look -> how far apart the looks are."""
    overlaps: tuple[PlannedOverlap, ...] = ()
    """The overlap of each line of the plan that asks for one."""
    first_digest: str = ""
    """The digest of the plan without the places that were added to it later; empty where none
    were."""

    def purposes(self) -> dict[str, int]:
        """Purpose -> tasks."""
        return dict(sorted(Counter(TaskColumns.of(self.tasks).column("purpose")).items()))


@bulk_creation()
def make_plan(folder: Folder, *, save: bool = True, strict: bool = False) -> Planned:
    """Draw the tasks of the protocol's plan from what is stored, and store them.

    With `save` False the plan is only described.

    Asked again, it gives the same tasks, and the tie-breaks that new ratings call for. What a
    system was asked and did not answer stays missing: an item without any answer is left out, one
    with some is shown with those, and both are counted; `strict` refuses instead.
    """
    study = folder.study
    if not study.plan:
        fact = message(
            "there is no [[plan]]; expected one that assigns items to raters",
            message_id="planning.no_plan",
        )
        raise StudyError(placed(str(folder.path / PROTOCOL), fact))
    with folder.store() as store:
        batch = store.batch()
        if not batch.items:
            fact = message(
                "there are no items yet; run 'konsil import' first",
                message_id="planning.not_imported",
            )
            raise StudyError(placed(str(folder.path), fact))
        check_drawn(folder, batch.events, is_planned=bool(batch.tasks))
        check_rewritten(folder, batch.items, batch.events, batch.answers, batch.ratings)
        check_masked(folder, batch.items, batch.events)
        studied = in_study(batch.items, batch.events)
        implied = () if batch.answers else _without_texts(folder, studied)
        material: dict[str, Any] = {
            "items": batch.items,
            "answers": [*batch.answers, *implied],
            "raters": study.raters,
            "instruments": study.instruments,
        }
        lacking = missing(study.plan, **{**material, "items": studied})
        _refuse_unasked(folder, store, lacking, batch.answers)
        if strict and lacking:
            raise PlanError(
                f"{folder.path}: " + "; ".join(missing_answers_sentence(gap) for gap in lacking)
            )
        design = {**material, "seed": study.seed, "places": study.places}
        tasks = assign(study.plan, **design, history=History(batch.ratings, batch.events))
        first = [e for e in batch.events if e.kind != ADDED]
        planned_first = (
            assign(study.plan, **design, history=History(events=first))
            if len(first) < len(batch.events)
            else None
        )
        if study.injections is not None:
            models = {j.rater for j in study.judges}
            # Control tasks repeat what was drawn first: places that are added later move none.
            drawn = tuple(planned_first or tasks)
            tasks = tasks.followed_by(
                plant(drawn, study.injections, study.instruments, models, study.seed)
            )
        _refuse_another(folder, batch.tasks, tasks)
        # Who takes a place changes neither how even the plan is nor its digest.
        added = added_places(batch.events)
        places = {p.id for p in placeholder_raters((*study.places, *added), study.raters)}
        seated = _seated(tasks, places)
        rows = frames.columns_of(KINDS["tasks"], tasks)
        digest = digest_of_plan(_with_raters_of(seated, rows))
        is_fresh = ~pl.col("id").is_in([t.id for t in batch.tasks])
        # In this order a database fills its indices in half of the time.
        fresh = rows.with_frame(rows.frame.filter(is_fresh).sort("slot", "id"))
        del rows
        _refuse_added(folder, batch, fresh)
        if save and fresh:
            raters = [r for r in study.raters if r.id not in {x.id for x in batch.raters}]
            note_study(store, study, now())
            store.add(Batch(answers=implied, raters=raters, tasks=fresh), source="plan", at=now())
    evenness = balance(seated, material["answers"], studied)
    compared = {i.id for i in study.instruments if i.unit == "pair"}
    meetings_by_panel = meetings(
        seated.where(name in compared for name in seated.column("instrument")),
        material["answers"],
        studied,
    )
    return Planned(
        tasks,
        len(fresh),
        evenness,
        digest,
        lacking,
        meetings_by_panel,
        _looks(folder, seated),
        overlaps_of(study.plan, seated, studied),
        digest_of_plan(_seated(planned_first, places)) if planned_first else "",
    )


def _seated(tasks: TaskColumns, places: Collection[str]) -> TaskColumns:
    """The tasks with every place its own holder, whoever took it."""
    if not places:
        return tasks
    holders = zip(tasks.column("slot"), tasks.column("rater"), strict=True)
    return tasks.with_raters([slot if slot in places else rater for slot, rater in holders])


def _with_raters_of(tasks: TaskColumns, rows: Columns[Task]) -> Columns[Task]:
    """The rows of tasks, in the hands in which these are."""
    raters = pl.Series("rater", tasks.column("rater"), pl.String)
    return rows.with_frame(rows.frame.with_columns(raters))


def _looks(folder: Folder, tasks: TaskColumns) -> Mapping[tuple[str, str], Washout]:
    """How far apart people look at the same answers twice; a model forgets from call to call."""
    people = {r.panel for r in folder.study.everybody() if r.kind == "human"}
    slots = tasks.column("slot")
    of_people = {slot for slot in {*slots} if panel_of_slot(slot) in people}
    return washouts(tasks.where(map(of_people.__contains__, slots)))


def missing_answers_sentence(lacking: Missing) -> str:
    """One sentence on an allocation's items that lack answers.

    >>> missing_answers_sentence(Missing("plan[0]", ("a", "b"), 3800, ("i7", "i9"), ("i8",)))
    'plan[0]: 2 of 3,800 items have fewer answers than a task needs (i7, i9), 1 has fewer than 2'
    """
    parts = []
    if lacking.without:
        named = ", ".join(lacking.without[:_NAMED]) + (
            ", ..." if len(lacking.without) > _NAMED else ""
        )
        has = "has" if len(lacking.without) == 1 else "have"
        parts.append(
            f"{len(lacking.without):,} of {lacking.items:,} items {has} fewer answers than a task"
            f" needs ({named})"
        )
    if lacking.fewer:
        has = "has" if len(lacking.fewer) == 1 else "have"
        of = "" if lacking.without else f" of {lacking.items:,} items"
        parts.append(f"{len(lacking.fewer):,}{of} {has} fewer than {len(lacking.systems)}")
    return f"{lacking.where}: " + ", ".join(parts)


def _refuse_unasked(
    folder: Folder, store: Store, lacking: Sequence[Missing], answers: Sequence[Answer]
) -> None:
    """What was asked and not answered is missing.

    What was not asked yet is not: the plan would have to change.
    """
    called = {s.id for s in folder.study.systems if s.model is not None}
    silent = called.difference(a.system for a in answers)
    if not called or not (lacking or silent):
        return
    completed = {(a.system, a.item) for a in answers} | {
        (callee, item) for _, callee, item in Calls(store).ended("answer")
    }
    for system in sorted(silent.difference(callee for callee, _ in completed)):
        if any(not a.systems or system in a.systems for a in folder.study.plan):
            raise StudyError(placed(str(folder.path), _not_answered(system)))
    for gap in lacking:
        for system in sorted(called.intersection(gap.systems)):
            n_pending = sum((system, item) not in completed for item in (*gap.without, *gap.fewer))
            if n_pending:
                fact = message(
                    "system {system!r} has not answered {n:,} of {all:,} items yet; run 'konsil"
                    " answer' first",
                    message_id="planning.partly_answered",
                    system=system,
                    n=n_pending,
                    all=gap.items,
                )
                raise StudyError(placed(str(folder.path), placed(gap.where, fact)))


def _refuse_another(folder: Folder, stored: Sequence[Task], tasks: Sequence[Task]) -> None:
    """A plan that was drawn is worked on: another one beside it would have everybody rate twice."""
    if not stored:
        return
    now_given = {t.id for t in tasks}
    # Tie-breaks follow from ratings, which may be revised; what is stored of them stays.
    removed_tasks = [
        t for t in stored if t.purpose not in ("tiebreak", "adjudication") and t.id not in now_given
    ]
    if removed_tasks:
        fact = message(
            "{n:,} {n|task|tasks} of the stored plan (such as item {item!r} for {rater!r}) do not"
            " follow from the current protocol, items and answers; a stored plan does not change:"
            " undo the change, or plan again in a new folder; '{command}' adds rater slots to the"
            " stored plan",
            message_id="planning.another",
            command="konsil places --add",
            n=len(removed_tasks),
            item=str(removed_tasks[0].item),
            rater=removed_tasks[0].rater,
        )
        raise PlanError(placed(str(folder.path), fact))


def _refuse_added(folder: Folder, stored: Batch, fresh: Sequence[Task]) -> None:
    """Refuse a larger sample after a comparative look, whose critical value is of its tasks."""
    events = tuple(stored.events)
    limit = task_limit(folder.study, events) if fresh else None
    if limit is None:
        return
    problem = added_tasks_problem(
        folder.study, limit, events, stored=stored.tasks, added=fresh, raters=stored.raters
    )
    if problem is not None:
        raise AddedTasksError(f"{folder.path}: {problem}")


def _without_texts(folder: Folder, items: Sequence[Item]) -> tuple[Answer, ...]:
    """Answers to be planned for before there are any.

    Where models are to answer, their answers must come first.
    """
    called = [s.id for s in folder.study.systems if s.model is not None]
    if called:
        raise StudyError(placed(str(folder.path), _not_answered(called[0])))
    return implied_answers(items, [s.id for s in folder.study.systems])


def _not_answered(system: str) -> str:
    return message(
        "system {system!r} has no answers yet; run 'konsil answer' first",
        message_id="planning.not_answered",
        system=system,
    )


def still_silent(study: Study, answers: Sequence[Answer]) -> list[str]:
    """Systems whose answers are to be pretended: those with a model that gave none yet.

    All where there are none.
    """
    answering = {a.system for a in answers}
    return [
        s.id
        for s in study.systems
        if s.id not in answering and (s.model is not None or not answers)
    ]


def implied_answers(items: Sequence[Item], systems: Sequence[str]) -> tuple[Answer, ...]:
    """Answers without texts, for planning or rehearsing a study before anything was answered."""
    if not systems:
        raise StudyError(
            message(
                "there are neither answers nor systems; a plan needs one of them",
                message_id="planning.nothing_to_rate",
            )
        )
    return tuple(Answer(f"{i.id}:{s}", i.id, s) for i in items for s in systems)


def digest_of_plan(tasks: Sequence[Task]) -> str:
    """SHA-256 over the tasks in their order of work, as JSON.

    Tie-breaks are left out, since they follow from the ratings.
    """
    digest = hashlib.sha256(b"[")
    separator = ""
    for start in range(0, len(tasks), column_rows.CHUNK):
        rows = column_rows.chunk(KINDS["tasks"], tasks, start)
        rows = rows.filter(pl.col("purpose") != "tiebreak")
        if len(rows):
            digest.update(f"{separator}{_json_of_rows(rows)}".encode())
            separator = ", "
    digest.update(b"]")
    return digest.hexdigest()


def _json_of_rows(rows: pl.DataFrame) -> str:
    """The JSON of tasks with sorted keys, without the brackets of their list."""
    is_alike = dict(zip(rows.columns, column_rows.are_constant(rows), strict=True)) | {"id": False}
    parts: list[pl.Expr | str] = []
    for name in sorted(rows.columns):
        parts.append(f'{", " if parts else "{"}"{name}": ')
        cells = rows.get_column(name)
        # Most fields have one value in neighbouring tasks.
        parts.append(
            _json_of_cells(cells[:1])[0] if is_alike[name] else pl.lit(_json_of_cells(cells))
        )
    texts = rows.select(pl.concat_str(*column_rows.merged_parts([*parts, "}"])).str.join(", "))
    return str(texts.item())


def _json_of_cells(cells: pl.Series) -> pl.Series:
    """The JSON of one field of the tasks."""
    if cells.dtype != pl.String:
        return cells.cast(pl.String)
    if cells.name == "answers":
        # Within a text a quote follows a backslash, so this is between two texts, unless one of
        # them begins or ends with a comma.
        spaced = cells.str.replace_all('","', '", "', literal=True)
        is_odd = cells.str.contains(_COMMA_AT_AN_END)
        odd = {
            cell: json.dumps(json.loads(cell), ensure_ascii=False)
            for cell in cells.filter(is_odd).unique()
        }
        return cells.replace_strict(odd, default=spaced, return_dtype=pl.String) if odd else spaced
    if cells.name == "spans":
        texts = {
            cell: json.dumps([{"end": end, "start": start} for start, end in json.loads(cell)])
            for cell in cells.unique()
        }
        return cells.replace_strict(texts, return_dtype=pl.String)
    return json_texts(cells)
