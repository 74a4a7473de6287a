"""Rater time and reliability, by design and number of sentences.

Reliability for a time budget, and the hours that a target reliability requires.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import polars as pl

from konsil.analysis.designs.durations import seconds_by_pair
from konsil.analysis.designs.sentence_sampling import SENTENCES, Numbers, designs_in, minus_whole
from konsil.analysis.estimation.estimate import EstimateSummary
from konsil.analysis.estimation.measure import Measure, joint, together
from konsil.analysis.estimation.rows.result_rows import estimate_rows, estimates_of, row
from konsil.analysis.model.context import Context
from konsil.analysis.model.options import DesignOptions
from konsil.analysis.model.rows import Row
from konsil.analysis.model.terms import BEST_CHANCE, WHOLE_ANSWER
from konsil.analysis.table.encoding import groups
from konsil.analysis.table.frame import RatingTable
from konsil.errors.message import message
from konsil.stats.designs import generalizability as g
from konsil.stats.engine.arithmetic import ratio
from konsil.stats.engine.contract import Array, Estimate
from konsil.stats.engine.resample import bootstrap

ANSWERS = 100
"""Hours are told for so many answers."""


@dataclass(frozen=True)
class Design:
    """Whole answers, or so many of their sentences, as sums: products, sentences rated, seconds."""

    name: str
    """The term of whole answers, or how many sentences."""
    sums: Array
    """(n_clusters, WIDTH + 4): `product_sums`; one over the sentences of a part and answers;
    seconds and screens."""
    of: Numbers
    """Its ratings."""

    def measure(self, finalise: Callable[[Array], Array]) -> Measure:
        """A number of these sums."""
        n_ratings = int(np.isfinite(self.of.values).sum())
        return Measure(
            self.sums,
            finalise,
            self.of.names,
            len(self.of.answers),
            self.of.values.shape[1],
            n_ratings,
        )


def cost_rows(context: Context, table: RatingTable, frame: pl.DataFrame) -> Iterator[Row]:
    """A row for whole answers and for each number of sentences, then the differences."""
    for keys, part in groups(frame, context.analysis.by):
        designs = list(_designs(context, table, part))
        if not designs:
            reason = message("no ratings available")
            yield row(
                context,
                keys,
                EstimateSummary(Estimate(math.nan, level=context.resampling.level, reason=reason)),
            )
            continue
        if context.analysis.statistic == "budget_reliability":
            for minutes in context.analysis.options_as(DesignOptions).minutes:
                yield from _budget(context, {**keys, "minutes": f"{minutes:g}"}, designs, minutes)
            continue
        yield from _design_rows(context, keys, designs)


def _design_rows(context: Context, keys: dict[str, str], designs: list[Design]) -> Iterator[Row]:
    hours = context.analysis.statistic == "rater_hours"
    measures = []
    for design in designs:
        finalise = (
            partial(hours_needed, target=context.analysis.options_as(DesignOptions).target)
            if hours
            else partial(_reliability, raters=_of(design))
        )
        measures.append(replace(design.measure(finalise), notes=_notes(design, hours)))
    for design, measure, summary in zip(
        designs, measures, estimates_of(context, measures), strict=True
    ):
        if hours and math.isnan(summary.headline.value):
            reason = _unknown(design) or message(
                "no number of raters reaches a reliability of {target:g}",
                target=context.analysis.options_as(DesignOptions).target,
            )
            summary = replace(summary, headline=replace(summary.headline, reason=reason))
        elif hours:
            summary = without_upper_limit(summary, context)
        yield from estimate_rows(context, {**keys, SENTENCES: design.name}, summary, measure)
    if designs[0].name == WHOLE_ANSWER:
        parts = [(d.name, m) for d, m in zip(designs[1:], measures[1:], strict=True)]
        yield from minus_whole(context, keys, parts, measures[0])


def _unknown(design: Design) -> str:
    """Why there are no hours whatever the reliability wanted: no components, or no times.

    Empty where both are.
    """
    if np.isnan(g.components(design.sums[:, : g.WIDTH].sum(axis=0)).answer):
        return message(
            "fewer than two answers, or none with two ratings", message_id="design.no_components"
        )
    return "" if design.sums[:, g.WIDTH + 3].any() else message("no times recorded for these pages")


def without_upper_limit(summary: EstimateSummary, context: Context) -> EstimateSummary:
    """The summary without an upper limit where too many resamples never reach the reliability.

    Such a resample reaches it with no number of raters.
    """
    e, resampling = summary.headline, context.resampling
    if e.n_undefined <= resampling.draws * (1 - resampling.level) / 2:
        return summary
    note = message(
        (
            "In {n:,} of {all:,} resamples no number of raters reaches the target; the CI has"
            " no upper limit."
        ),
        n=e.n_undefined,
        all=resampling.draws,
    )
    headline = replace(e, high=math.inf)
    return replace(summary, headline=headline, companions=(), notes=(*summary.notes, note))


def _of(design: Design) -> float:
    return design.of.n_raters


def _notes(design: Design, hours: bool) -> tuple[str, ...]:
    if hours:
        notes = [message("Total rating time of all raters for {n} answers, in hours.", n=ANSWERS)]
        if design.name != WHOLE_ANSWER:
            notes.append(
                message(
                    "The rating time for a part of the sentences was taken as its"
                    " proportion of the time for all sentences."
                )
            )
        return tuple(notes)
    return (message("Reliability of the mean of {n:.2g} {n|rater|raters}.", n=design.of.n_raters),)


def _designs(context: Context, table: RatingTable, frame: pl.DataFrame) -> Iterator[Design]:
    """Both designs of one group, each with its seconds.

    The time of a part is its share of all sentences' time.
    """
    full_answers, sentences = designs_in(context, frame)
    timed = context.analysis.statistic != "reliability"
    for of, is_whole in ((full_answers, True), (sentences, False)):
        if of is None:
            continue
        products = g.product_sums(of.values, of.clusters, len(of.names))
        n_sentences = np.isfinite(of.scores).sum(axis=1)
        design_ratings = frame.filter((pl.col("span").fill_null("") == "") == is_whole)
        spent = (
            _seconds(context, table, design_ratings, of)
            if timed
            else np.zeros((len(of.answers), 2))
        )
        for size in of.sizes:
            part = np.minimum(size, np.maximum(n_sentences, 1))
            share = part / np.maximum(n_sentences, 1)
            has_sentences = n_sentences > 0
            rows = np.column_stack(
                [has_sentences / part, has_sentences, spent[:, 0] * share, spent[:, 1]]
            )
            more = np.column_stack(
                [np.bincount(of.clusters, weights=c, minlength=len(of.names)) for c in rows.T]
            )
            yield Design(
                WHOLE_ANSWER if is_whole else str(size), np.column_stack([products, more]), of
            )


def _seconds(context: Context, table: RatingTable, frame: pl.DataFrame, of: Numbers) -> Array:
    """Seconds of each answer over its raters, and its number of timed raters, (n_answers, 2)."""
    pairs = seconds_by_pair(context, table, frame)
    about = pairs.select(
        pl.concat_str([pl.col("item").fill_null(""), "answers"], separator="\x1f")
    ).to_series()
    place = {answer: n for n, answer in enumerate(of.answers)}
    totals = np.zeros((len(of.answers), 2))
    for answer, seconds in zip(about, pairs.get_column("seconds"), strict=True):
        if answer in place:
            totals[place[answer]] += seconds, 1.0
    return totals


def _part(totals: Array) -> tuple[g.Components, Array, Array]:
    """Components, the harmonic mean number of sentences of a part, and its mean seconds."""
    components = g.components(totals[..., : g.WIDTH])
    inverse, n, seconds, screens = (totals[..., g.WIDTH + k] for k in range(4))
    return components, ratio(n, inverse), ratio(seconds, screens)


def _reliability(totals: Array, raters: float) -> Array:
    components, sentences, _ = _part(totals)
    return g.reliability(components, raters, sentences)[..., None]


def hours_needed(totals: Array, target: float) -> Array:
    """Rater-hours for 100 answers to reach a reliability; nan where no number of raters does."""
    components, sentences, seconds = _part(totals)
    return np.asarray(g.raters_needed(components, target, sentences) * seconds * ANSWERS / 3600)[
        ..., None
    ]


def reliability_for_budget(totals: Array, minutes: float) -> Array:
    """Reliability for a budget of rater minutes an answer; nan below the cost of one rater."""
    components, sentences, seconds = _part(totals)
    raters = ratio(np.full_like(seconds, minutes * 60), seconds)
    return np.where(
        raters >= 1, g.reliability(components, np.maximum(raters, 1.0), sentences), np.nan
    )[..., None]


def _budget(
    context: Context, keys: dict[str, str], designs: list[Design], minutes: float
) -> Iterator[Row]:
    """Reliability of each design for a budget, and its proportion of resamples ranked first.

    The resamples are joint.
    """
    measures = [
        design.measure(partial(reliability_for_budget, minutes=minutes)) for design in designs
    ]
    chances = _chances(context, measures)
    for design, measure, summary, chance in zip(
        designs, measures, estimates_of(context, measures), chances, strict=True
    ):
        group = {**keys, SENTENCES: design.name}
        if math.isnan(summary.headline.value):
            reason = _unknown(design) or message(
                "{minutes:g} minutes are not enough for one rater per answer", minutes=minutes
            )
            summary = replace(summary, headline=replace(summary.headline, reason=reason))
        yield from estimate_rows(context, group, summary, measure)
        first = Estimate(
            chance,
            level=context.resampling.level,
            method=message(
                "proportion of the joint resamples", message_id="method.joint_resamples"
            ),
        )
        yield row(
            context,
            {**group, "version": BEST_CHANCE},
            EstimateSummary(first),
            measure,
            kind="companion",
        )


def _chances(context: Context, measures: list[Measure]) -> list[float]:
    """Each design's share of the joint resamples in which it is the most reliable.

    Equal ones share.
    """
    if any(m.clusters != measures[0].clusters for m in measures):
        return [math.nan] * len(measures)
    joined = joint(measures)
    draws = bootstrap(
        joined[0].sums, together(joined), draws=context.resampling.draws, key=context.key
    )
    # A design that a resample leaves undefined is never its best one.
    draws = np.where(np.isfinite(draws), draws, -np.inf)
    some = np.asarray(np.isfinite(draws).any(axis=1))
    best = np.asarray((draws == draws.max(axis=1, keepdims=True)) & some[:, None], dtype=np.float64)
    # Designs that tie share the draw.
    each = best / np.maximum(best.sum(axis=1, keepdims=True), 1)
    return [float(x) for x in each[some].mean(axis=0)] if some.any() else [math.nan] * len(measures)
