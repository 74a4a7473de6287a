"""Control tasks with injected instructions, kept apart, and their effect on each judge."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from konsil.analysis.estimation.differences import contrast
from konsil.analysis.estimation.estimate import EstimateSummary
from konsil.analysis.estimation.measure import Measure
from konsil.analysis.estimation.rows.result_rows import row
from konsil.analysis.model.context import Context
from konsil.analysis.model.rows import Row
from konsil.analysis.model.spec import Exclusions
from konsil.analysis.table.columns import Columns, task_columns
from konsil.analysis.table.frame import Data, RatingTable
from konsil.errors.message import TranslatableMessage, message
from konsil.instrument.screens.injections import INJECTED, chosen_answer
from konsil.plan.draw.injections import Injections
from konsil.records import Injected, Rating, Task
from konsil.stats.engine.arithmetic import ratio
from konsil.stats.engine.contract import Array, Estimate
from konsil.stats.judges.injections import injection_shift, injection_sums

KIND = "injection"
"""In `by`: the kind of the instruction."""


def part_injections(data: Data, spec: Injections | None, exclusions: Exclusions) -> Data:
    """The data without control tasks, their ratings and calls.

    These stand apart as pairs of labels.
    """
    purposes = task_columns(data.tasks, ("id", "purpose"))
    ids = set(purposes.filter(pl.col("purpose") == INJECTED).get_column("id"))
    if not ids:
        return data
    planted = _chosen(data.tasks, "id", ids)
    twins = {t.repeat_of for t in planted if t.repeat_of}
    pairs: tuple[Injected, ...] = ()
    if spec is not None:
        ratings = {
            (r.task, r.answers): r
            for r in _chosen(data.ratings, "task", ids | twins)
            if r.criterion == spec.criterion
        }
        # Control tasks leave the table of ratings here, before the exclusions: they are applied to
        # them too.
        out = {*exclusions.raters, *data.withdrawn}
        retained = [t for t in planted if t.rater not in out and t.item not in exclusions.items]
        pairs = tuple(
            _pair(task, spec, ratings)
            for task in sorted(retained, key=lambda t: (t.rater, t.position, t.id))
        )
    return replace(
        data,
        tasks=_without(data.tasks, "id", ids),
        ratings=_without(data.ratings, "task", ids),
        attempts=tuple(a for a in data.attempts if a.task not in ids),
        injected=pairs,
    )


def _chosen(records: Sequence[Task] | Sequence[Rating], key: str, ids: set[str]) -> list:  # type: ignore[type-arg]
    if isinstance(records, Columns):
        return list(records.with_frame(records.frame.filter(pl.col(key).is_in(sorted(ids)))))
    return [record for record in records if getattr(record, key) in ids]


def _without(records: Sequence, key: str, ids: set[str]) -> Sequence:  # type: ignore[type-arg]
    if isinstance(records, Columns):
        return records.with_frame(records.frame.filter(~pl.col(key).is_in(sorted(ids))))
    return tuple(record for record in records if getattr(record, key) not in ids)


def _pair(
    task: Task, spec: Injections, ratings: dict[tuple[str, tuple[str, ...]], Rating]
) -> Injected:
    answer = chosen_answer(task)

    def is_demanded(task_id: str) -> bool | None:
        rating = ratings.get((task_id, (answer,)))
        return None if rating is None else rating.state == "rated" and rating.label == spec.label

    return Injected(
        task.rater,
        task.item or "",
        answer,
        spec.criterion,
        task.batch,
        spec.label,
        is_demanded(task.id),
        is_demanded(task.repeat_of or ""),
    )


def injection_rows(context: Context, table: RatingTable) -> Iterator[Row]:
    """One row a judge, or with `by` = the kind one for each of its kinds of instructions."""
    analysis, data = context.analysis, table.data
    panels = table.together.get(analysis.raters, (analysis.raters,))
    raters = {r.id for r in data.raters if r.panel in panels} if data is not None else set()
    within = table.sets.get(analysis.items, frozenset()) if analysis.items else None
    groups: dict[tuple[str, str], list[Injected]] = {}
    for injected in data.injected if data is not None else ():
        if (
            injected.rater in raters
            and injected.criterion == analysis.criterion
            and (within is None or injected.item in within)
        ):
            groups.setdefault(
                (injected.rater, injected.kind if KIND in analysis.by else ""), []
            ).append(injected)
    if not groups:
        yield _undefined(
            context, {}, message("there are no control tasks", message_id="injection.none")
        )
    cases = (
        {i.id: i.case or i.id for i in data.items}
        if data is not None and analysis.cluster == "case"
        else {}
    )
    for (rater, kind), pairs in sorted(groups.items()):
        keys = {"rater": rater, KIND: kind} if kind else {"rater": rater}
        yield _row(context, keys, pairs, cases)


def _undefined(context: Context, keys: dict[str, str], reason: TranslatableMessage) -> Row:
    return row(
        context,
        keys,
        EstimateSummary(Estimate(math.nan, level=context.resampling.level, reason=reason)),
    )


def _row(
    context: Context, keys: dict[str, str], pairs: Sequence[Injected], cases: dict[str, str]
) -> Row:
    complete = [p for p in pairs if p.after is not None and p.before is not None]
    if not complete:
        reason = message(
            "no answer has a label both with and without an instruction",
            message_id="injection.no_pair",
        )
        return _undefined(context, keys, reason)
    after, before = (
        np.array([getattr(p, side) for p in complete], dtype=np.bool_)
        for side in ("after", "before")
    )
    names = [cases.get(p.item, p.item) for p in complete]
    clusters = tuple(sorted(set(names)))
    sums = injection_sums(after, before, np.array([clusters.index(name) for name in names]))
    shift = Measure(
        sums, injection_shift, clusters, len(complete), 1, 2 * len(complete), possible=(-1.0, 1.0)
    )
    summary = contrast(
        _side(shift, sums, 0),
        _side(shift, sums, 1),
        key=context.key,
        resampling=context.resampling,
        cluster=context.cluster,
        test=context.analysis.test,
    )
    notes = [*summary.notes]
    if len(complete) < len(pairs):
        notes.append(
            message(
                (
                    "{n:,} of {all:,} pairs {n|lacks|lack} a label with or without the"
                    " instruction and {n|was|were} excluded."
                ),
                message_id="injection.missing",
                n=len(pairs) - len(complete),
                all=len(pairs),
            )
        )
    summary = replace(
        summary,
        companions=(),
        notes=tuple(notes),
        headline=replace(summary.headline, n_ratings=shift.n_ratings),
    )
    return row(
        context,
        keys,
        summary,
        shift,
        finding=_finding(keys["rater"], complete[0].label, after, before),
    )


def _side(shift: Measure, sums: Array, column: int) -> Measure:
    hits, pairs = sums[:, column], sums[:, 2]
    return replace(
        shift,
        sums=np.column_stack([hits, pairs]),
        finalise=_share,
        possible=(0.0, 1.0),
        trials=pairs,
        hits=hits,
        n_ratings=shift.n_units,
    )


def _share(totals: Array) -> Array:
    return ratio(totals[..., 0], totals[..., 1])[..., None]


def _finding(
    rater: str, label: str, after: NDArray[np.bool_], before: NDArray[np.bool_]
) -> TranslatableMessage:
    return message(
        "{rater}: of {n:,} {n|answer|answers} with an injected instruction, {gained:,}"
        " {gained|moved|moved} to the demanded label “{label}” and {lost:,} {lost|moved|moved} away"
        " from it.",
        message_id="injection.finding",
        rater=rater,
        n=len(after),
        gained=int((after & ~before).sum()),
        lost=int((before & ~after).sum()),
        label=label,
    )
