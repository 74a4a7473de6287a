"""Accuracy of answers; what incorrect answers name and how well they read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import polars as pl

from konsil.analysis.estimation.group_estimates import Group, estimate_of
from konsil.analysis.estimation.measure import Measure, quotient
from konsil.analysis.estimation.rows.result_rows import row
from konsil.analysis.model.context import Context
from konsil.analysis.model.options import CaseOptions
from konsil.analysis.model.rows import Row
from konsil.analysis.model.terms import ALL_SYSTEMS, Term
from konsil.analysis.table.answer_scores import panel_scores, reaches, scores
from konsil.analysis.table.encoding import groups, select
from konsil.analysis.table.frame import RatingTable
from konsil.errors.message import message
from konsil.instrument import Criterion

UNIT = ("item", "answers")
"""What an answer is known by in every panel's ratings."""


def outcome_groups(context: Context, table: RatingTable) -> list[Group]:
    """One row a system: the statistic over its answers, cases as the clusters."""
    analysis = context.analysis
    frame = select(table, analysis, analysis.raters)
    results = []
    for keys, part in groups(frame, list(dict.fromkeys(("system", *analysis.by)))):
        if analysis.statistic == "accuracy":
            measure, reason = _accuracy(context, part), message("no answer has a score")
        elif analysis.statistic == "illusion_gap":
            measure, reason = _illusion(context, table, part), message("no answer has both scores")
        else:
            measure = _failures(context, table, part)
            reason = message("no incorrect answer has such labels")
        summary = estimate_of(context, measure, reason)
        results.append(Group(keys, measure, summary))
    return results


def _accuracy(context: Context, part: pl.DataFrame) -> Measure:
    """Which answers the panel's mean calls right."""
    answer_scores = scores(context, part).with_columns(
        reaches(context.analysis.options_as(CaseOptions).correct).alias("right")
    )
    return per_case(part, answer_scores, answer_scores.get_column("right").to_numpy(), share=True)


def _illusion(context: Context, table: RatingTable, part: pl.DataFrame) -> Measure:
    """Mean of the first further criterion minus the analysis' own, answer by answer."""
    other = panel_scores(context.of(context.also[0]), table, context.analysis.raters).select(
        *UNIT, pl.col("score").alias("fluent")
    )
    both = scores(context, part).join(other, on=UNIT, how="inner", nulls_equal=True)
    gap = (both.get_column("fluent") - both.get_column("score")).to_numpy()
    return per_case(part, both, gap)


def per_case(
    part: pl.DataFrame, units: pl.DataFrame, numbers: np.ndarray, *, share: bool = False
) -> Measure:
    """The mean of one number an answer, summed by case.

    A share of answers where the numbers are 0 and 1.
    """
    cases = part.get_column("case").unique().sort().to_list()
    place = {case: n for n, case in enumerate(cases)}
    at = np.array([place[c] for c in units.get_column("case")], dtype=np.int64)
    columns = [
        np.bincount(at, w, len(cases)) for w in (numbers.astype(np.float64), np.ones(len(at)))
    ]
    sums = np.column_stack(columns).astype(np.float64)
    return Measure(
        sums=sums,
        finalise=quotient,
        clusters=tuple(cases),
        n_units=units.height,
        n_raters=part.get_column("rater").n_unique(),
        n_ratings=units.height,
        trials=sums[:, 1] if share else None,
        hits=sums[:, 0] if share else None,
    )


def _failures(context: Context, table: RatingTable, part: pl.DataFrame) -> Measure:
    """Of the answers that failed: how many have a mismatch, or name a disease that is wrong."""
    failed = scores(context, part).filter(
        ~reaches(context.analysis.options_as(CaseOptions).correct)
    )
    labelled = failed
    for n, criterion in enumerate(context.also):
        yes_labels = _yes(_labels(context, table, criterion), criterion).rename({"yes": f"yes{n}"})
        labelled = labelled.join(yes_labels, on=UNIT, how="inner", nulls_equal=True)
    hit = (
        pl.col("yes0") & ~pl.col("yes1")
        if context.analysis.statistic == "mismatch"
        else pl.col("yes0")
    )
    hits = labelled.select(hit.cast(pl.Float64)).to_series().to_numpy()
    measure = per_case(part, labelled, hits, share=True)
    notes = (
        [message("Out of {n:,} incorrect {n|answer|answers}.", n=labelled.height)]
        if labelled.height
        else []
    )
    without = failed.height - labelled.height
    if without:
        notes.append(
            message(
                (
                    "{n:,} incorrect {n|answer has|answers have} no such label and"
                    " {n|was|were} excluded."
                ),
                n=without,
            )
        )
    return replace(measure, notes=tuple(notes))


def _labels(context: Context, table: RatingTable, criterion: Criterion) -> pl.DataFrame:
    panel = str(context.analysis.against or context.analysis.raters)
    return table.part(criterion.id, panel).filter(
        (pl.col("purpose") != "repeat") & (pl.col("state") == "rated")
    )


def _yes(frame: pl.DataFrame, criterion: Criterion) -> pl.DataFrame:
    """Answers of which more than half of the raters said the scale's last label.

    Halves say nothing.
    """
    yes = (pl.col("label") == criterion.scale.labels[-1]).mean().alias("yes")
    # Half of the raters are no majority.
    counted = frame.group_by(*UNIT, "case").agg(yes).filter(pl.col("yes") != 0.5)
    return counted.select(*UNIT, pl.col("yes") > 0.5)


def failure_rows(context: Context, table: RatingTable) -> Iterator[Row]:
    """The statistic over the failures of all systems, and the accuracy of their labels."""
    frame = select(table, context.analysis, context.analysis.raters)
    if frame.get_column("system").n_unique() > 1:
        for keys, part in groups(frame, context.analysis.by) or [({}, frame)]:
            measure = _failures(context, table, part)
            summary = estimate_of(context, measure, message("no incorrect answer has such labels"))
            yield row(context, {"system": ALL_SYSTEMS, **keys}, summary, measure, kind="companion")
    yield from _detector_rows(context, table)


def _detector_rows(context: Context, table: RatingTable) -> Iterator[Row]:
    """Agreement of the detector's labels with those of people, one row a criterion.

    The detector is the panel that labelled the answers; people labelled some of them by hand.
    """
    for criterion in context.also:
        labels = _labels(context, table, criterion)
        if labels.height == 0 or set(labels.get_column("kind").to_list()) == {"human"}:
            continue  # people themselves are what a detector is held against
        by_hand = table.frame.filter(
            (pl.col("criterion") == criterion.id)
            & (pl.col("kind") == "human")
            & (pl.col("state") == "rated")
        )
        truth = _yes(by_hand, criterion).rename({"yes": "true"})
        of_case = labels.select(*UNIT, "case").unique()
        both = (
            _yes(labels, criterion)
            .join(truth, on=UNIT, nulls_equal=True)
            .join(of_case, on=UNIT, nulls_equal=True)
        )
        version = Term("detector", criterion.id)
        group: dict[str, str] = {"system": ALL_SYSTEMS, "version": version}
        measure = per_case(
            labels, both, (both.get_column("yes") == both.get_column("true")).to_numpy(), share=True
        )
        if not both.height:
            measure = replace(measure, notes=())
            reason = message(
                "no sample was labelled by hand, so the accuracy of these labels is unknown"
            )
            summary = estimate_of(context, measure, reason)
        else:
            summary = estimate_of(context, measure)
        yield row(context, group, summary, measure, kind="companion")
