"""Risk against coverage: whether a judge's confidence tells where it disagrees with the panel."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import polars as pl

from konsil.analysis.estimation.estimate import EstimateSummary
from konsil.analysis.estimation.group_estimates import estimate_of
from konsil.analysis.estimation.measure import Measure, minus
from konsil.analysis.estimation.raters.leave_one_out import leave_one_out_measure
from konsil.analysis.estimation.rows.result_rows import (
    differences_of,
    estimate_rows,
    estimates_of,
    row,
)
from konsil.analysis.model.context import Context
from konsil.analysis.model.results import Curve
from konsil.analysis.model.rows import Row
from konsil.analysis.model.sample import Sample
from konsil.analysis.model.terms import ANY_ORDER, Term
from konsil.analysis.table.encoding import sample_of, select, subjects_of
from konsil.analysis.table.frame import RatingTable
from konsil.errors.message import message
from konsil.stats.agreement.consensus import majority
from konsil.stats.engine.contract import Array, Codes, Estimate, Finalise, IntArray
from konsil.stats.engine.renumbering import renumbered
from konsil.stats.engine.tables import identity
from konsil.stats.judges.risk import risk_coverage, risk_curve

POINTS = 400
"""Points of a curve that are kept; between more of them nothing would be seen."""


def risk_rows(context: Context, table: RatingTable, frame: pl.DataFrame) -> Iterator[Row]:
    """Area under each judge's risk–coverage curve.

    Also its risk in any order and the difference between the two. The last row is the panel's own:
    how often one of its raters disagrees with the majority of the others.
    """
    judges = sorted(frame.get_column("rater").unique().to_list())
    panel = _panel(context, table)
    for name in judges:
        judge_labels = _judge(context, frame, panel, name)
        if judge_labels is None:
            nothing = Estimate(
                float("nan"),
                level=context.resampling.level,
                reason=message("no labels with a confidence"),
            )
            yield row(context, {"rater": name}, EstimateSummary(nothing))
            continue
        confidence, wrong, clusters = judge_labels
        area, risk = _measures(panel, confidence, wrong, clusters)
        area_summary, flat = estimates_of(context, [area, risk])
        [gap] = differences_of(context, [replace(minus(area, risk), is_rare=True)])
        yield from estimate_rows(context, {"rater": name}, area_summary, area)
        yield row(
            context, {"rater": name}, gap, area, kind="difference", versus={"rater": ANY_ORDER}
        )
        yield row(context, {"rater": ANY_ORDER}, flat, risk, kind="companion")
    if len(panel.raters) > 2:
        rest = leave_one_out_measure(
            panel, context.analysis.with_statistic("percent_agreement"), context.level
        )
        panel_risk = replace(rest, finalise=_one_minus(rest.finalise), scale="identity")
        name = Term("leave_one_out", str(context.analysis.against))
        yield from estimate_rows(
            context, {"rater": name}, estimate_of(context, panel_risk), panel_risk
        )


def risk_curves(context: Context, table: RatingTable) -> Iterator[Curve]:
    """The judges' curves themselves."""
    frame = select(table, context.analysis, context.analysis.raters)
    panel = _panel(context, table)
    for name in sorted(frame.get_column("rater").unique().to_list()):
        judge_labels = _judge(context, frame, panel, name)
        if judge_labels is None:
            continue
        coverage, risk = risk_curve(judge_labels[0], judge_labels[1])
        points = np.unique(
            np.linspace(0, len(coverage) - 1, min(len(coverage), POINTS)).round().astype(np.int64)
        )
        yield Curve(
            context.analysis.name,
            {"rater": name},
            tuple(coverage[points].tolist()),
            tuple(risk[points].tolist()),
        )


def _panel(context: Context, table: RatingTable) -> Sample:
    frame = select(table, context.analysis, str(context.analysis.against))
    return sample_of(context, frame, tuple(frame.get_column("rater").unique().sort().to_list()))


def _judge(
    context: Context, frame: pl.DataFrame, panel: Sample, name: str
) -> tuple[Array, Array, IntArray] | None:
    """A judge's confidence, its disagreement with the panel's majority, and clusters, by unit."""
    judge_ratings = frame.filter((pl.col("rater") == name) & pl.col("confidence").is_not_null())
    if judge_ratings.height == 0:
        return None
    sample = sample_of(context, judge_ratings, (name,))
    sure = dict(
        zip(
            subjects_of(judge_ratings).cast(pl.String),
            judge_ratings.get_column("confidence"),
            strict=True,
        )
    )
    label = dict(zip(sample.units, sample.codes.labels[:, 0].tolist(), strict=True))
    agreed = majority(panel.codes.labels)
    use = np.array(
        [n for n, u in enumerate(panel.units) if agreed[n] >= 0 and label.get(u, -1) >= 0],
        dtype=np.int64,
    )
    if not len(use):
        return None
    confidence = np.array([sure[panel.units[n]] for n in use], dtype=np.float64)
    wrong = np.array([label[panel.units[n]] != agreed[n] for n in use], dtype=np.float64)
    return confidence, wrong, np.asarray(panel.codes.clusters[use], dtype=np.int64)


def _measures(
    panel: Sample, confidence: Array, wrong: Array, clusters: IntArray
) -> tuple[Measure, Measure]:
    """Area and risk on the same sums: the clusters' own weights."""
    # Only the clusters with a usable label: an empty one would be drawn, and counted, like the
    # others.
    used, place = renumbered(clusters)
    both = risk_coverage(confidence, wrong, place)
    names = tuple(panel.clusters[n] for n in used)
    # The identity: a resample weights whole clusters, and the area follows from the units behind
    # them.
    sums = identity(Codes(np.zeros((len(used), 1), dtype=np.int8), np.arange(len(used)), 2))
    area = Measure(sums, _part(both, 0), names, len(wrong), 1, len(wrong))
    return area, replace(area, finalise=_part(both, 1))


def _part(finalise: Finalise, n: int) -> Finalise:
    return lambda totals: finalise(totals)[..., n : n + 1]


def _one_minus(finalise: Finalise) -> Finalise:
    return lambda totals: 1 - finalise(totals)
