"""Comparisons of systems on case means: effect sizes, rank tests, ANOVA, Tukey's test.

The module is long because all of them stand on the same means of cases by system.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
import polars as pl

from konsil.analysis.cases.ladders import LEVEL, Ladder, ladder, with_levels
from konsil.analysis.estimation.estimate import EstimateSummary
from konsil.analysis.estimation.group_estimates import estimate_of
from konsil.analysis.estimation.measure import Measure, quotient
from konsil.analysis.estimation.rows.result_rows import row
from konsil.analysis.model.context import Context
from konsil.analysis.model.message import TranslatableMessage, message
from konsil.analysis.model.options import CaseOptions
from konsil.analysis.model.rows import Row
from konsil.analysis.model.terms import Term
from konsil.analysis.table.answer_scores import scores
from konsil.analysis.table.encoding import groups, select
from konsil.analysis.table.frame import RatingTable
from konsil.stats.cases import anova, effects
from konsil.stats.engine.contract import Array, Estimate


def effect_rows(context: Context, table: RatingTable) -> Iterator[Row]:
    """For every two systems, criterion by criterion, Cohen's d and a rank test.

    valid: of the cases' means, paired by case (Wilcoxon) and, beside it, unpaired (Mann-Whitney).
    paper: of all scores as if they were independent.
    """
    for criterion_context in _each(context):
        frame = select(table, criterion_context.analysis, criterion_context.analysis.raters)
        for keys, part in groups(frame, criterion_context.analysis.by):
            named = {**keys, "criterion": criterion_context.criterion.id} if context.also else keys
            by = {k["system"]: p for k, p in groups(part, ["system"])}
            for a, b in combinations(sorted(by), 2):
                make = _naive if context.analysis.mode == "paper" else _paired
                yield from make(
                    criterion_context, {**named, "system": a}, {**named, "system": b}, by[a], by[b]
                )


def _each(context: Context) -> Iterator[Context]:
    for criterion in (context.criterion, *context.also):
        yield replace(context, also=()).of(criterion)


def _case_means(context: Context, frame: pl.DataFrame) -> dict[str, float]:
    answer_scores = scores(context, frame).group_by("case").agg(pl.col("score").mean())
    return dict(answer_scores.iter_rows())


def _paired(
    context: Context, keys: dict[str, str], versus: dict[str, str], a: pl.DataFrame, b: pl.DataFrame
) -> Iterator[Row]:
    means = [_case_means(context, part) for part in (a, b)]
    cases = sorted(set(means[0]) | set(means[1]))
    first, second = (np.array([m.get(c, np.nan) for c in cases]) for m in means)
    gap = first - second
    n = a.height + b.height
    shared = Measure(
        effects.moments(gap),
        effects.paired_d,
        tuple(cases),
        int(np.isfinite(gap).sum()),
        max(p.get_column("rater").n_unique() for p in (a, b)),
        n,
    )
    sums = np.concatenate([effects.moments(first), effects.moments(second)], axis=1)
    (w, p), (u, p_unpaired) = effects.signed_rank(gap), effects.rank_sum(first, second)
    paired_estimate = _estimate(context, shared)
    method = message(
        "paired d of case means, {interval}; Wilcoxon's signed ranks, W = {w:g}",
        message_id="method.paired_d",
        interval=paired_estimate.method,
        w=w,
    )
    yield row(
        context,
        keys,
        EstimateSummary(replace(paired_estimate, p=p, method=method)),
        shared,
        kind="difference",
        versus=versus,
    )
    unpaired_estimate = _estimate(context, replace(shared, sums=sums, finalise=effects.cohen_d))
    method = message(
        "Cohen's d of case means, unpaired, {interval}; Mann-Whitney, U = {u:g}",
        message_id="method.unpaired_d",
        interval=unpaired_estimate.method,
        u=u,
    )
    unpaired_summary = EstimateSummary(replace(unpaired_estimate, p=p_unpaired, method=method))
    yield row(context, keys, unpaired_summary, shared, kind="companion", versus=versus)


def _estimate(context: Context, measure: Measure) -> Estimate:
    reason = message("the case means do not vary, or there are too few")
    return estimate_of(context, measure, reason).headline


def _naive(
    context: Context, keys: dict[str, str], versus: dict[str, str], a: pl.DataFrame, b: pl.DataFrame
) -> Iterator[Row]:
    first, second = (
        scores(context, part, "rater").get_column("score").to_numpy() for part in (a, b)
    )
    totals = np.concatenate([effects.moments(x).sum(axis=0) for x in (first, second)])
    d = float(effects.cohen_d(totals)[0])
    u, p = effects.rank_sum(first, second)
    n = len(first) + len(second)
    method = message(
        "Cohen's d of all scores, treated as independent, without CI; Mann-Whitney, U = {u:g}",
        message_id="method.naive_d",
        u=u,
    )
    reason = (
        ""
        if math.isfinite(d)
        else message("all scores of both systems are identical, or there are too few")
    )
    naive_estimate = Estimate(
        d,
        level=context.resampling.level,
        p=p,
        n_clusters=n,
        n_ratings=n,
        method=method,
        reason=reason,
    )
    note = message(
        "The test treats {n:,} clustered scores as independent; its p value is too small.",
        message_id="cases.clustered_scores",
        n=n,
    )
    yield row(
        context,
        keys,
        EstimateSummary(naive_estimate, notes=(note,)),
        kind="difference",
        versus=versus,
    )


@dataclass(frozen=True)
class Cells:
    """Cases by systems and levels."""

    means: Array
    """(n_cases, n_systems, n_levels); nan where there is no answer."""
    systems: tuple[str, ...]
    """The systems, sorted."""
    cases: tuple[str, ...]
    """The cases, sorted."""
    n_raters: int
    """Raters with a label."""
    n_ratings: int
    """Labels used."""

    @property
    def complete_cases(self) -> Array:
        """Those of the cases that have every cell."""
        return self.means[np.isfinite(self.means).all(axis=(1, 2))]


def _cells(context: Context, table: RatingTable) -> Cells:
    levels = context.analysis.options_as(CaseOptions).levels
    frame = with_levels(context, table)
    ladders: dict[str, Ladder] = {
        k["system"]: ladder(context, p, levels) for k, p in groups(frame, ["system"])
    }
    cases = sorted({c for system_ladder in ladders.values() for c in system_ladder.cases})
    grid = np.full((len(cases), len(ladders), len(levels)), np.nan)
    for n, system_ladder in enumerate(ladders.values()):
        grid[[cases.index(c) for c in system_ladder.cases], n] = system_ladder.scores
    n_raters = max((system_ladder.n_raters for system_ladder in ladders.values()), default=0)
    return Cells(
        grid,
        tuple(ladders),
        tuple(cases),
        n_raters,
        sum(system_ladder.n_ratings for system_ladder in ladders.values()),
    )


def _incomplete(cells: Cells) -> tuple[TranslatableMessage, ...]:
    n_incomplete = len(cells.cases) - len(cells.complete_cases)
    return (
        (
            message(
                "{n:,} of {all:,} cases lack a cell and were excluded.",
                n=n_incomplete,
                all=len(cells.cases),
            ),
        )
        if n_incomplete
        else ()
    )


def anova_rows(context: Context, table: RatingTable) -> Iterator[Row]:
    """Partial eta squared and F tests of an analysis of variance.

    The effects are system, level, their interaction, and the level within each system.

    valid: both within cases. paper: systems as if they had been given other cases.
    """
    for criterion_context in _each(context):
        cells = _cells(criterion_context, table)
        named = {"criterion": criterion_context.criterion.id} if context.also else {}
        terms = _terms(cells.systems, context.analysis.mode == "paper")
        if context.analysis.mode == "paper":
            yield from _mixed(criterion_context, cells, named, terms)
            continue
        sums = anova.products(cells.means.reshape(len(cells.cases), -1))
        for name, contrast in anova.contrasts(
            len(cells.systems), len(context.analysis.options_as(CaseOptions).levels)
        ).items():
            if not len(contrast) or (name == "level_of_0" and len(cells.systems) == 1):
                continue
            effect = anova.repeated_measures(sums.sum(axis=0), contrast)
            low, high = anova.eta_interval(effect, context.resampling.level)
            method = message(
                (
                    "repeated measures, F({df:.2f}, {error:.2f}) = {f:.2f}, Greenhouse-Geisser"
                    " ε = {epsilon:.3f}; CI by inversion of the F test"
                ),
                message_id="method.repeated_measures",
                df=effect.df,
                error=effect.df_error,
                f=effect.f,
                epsilon=effect.epsilon,
            )
            defined = math.isfinite(effect.f)
            effect_estimate = Estimate(
                effect.eta,
                low,
                high,
                context.resampling.level,
                p=effect.p,
                n_clusters=len(cells.complete_cases),
                n_ratings=cells.n_ratings,
                method=method if defined else "",
                reason="" if defined else message("fewer than two complete cases, or no variation"),
            )
            keys: dict[str, str] = {**named, "effect": terms[name]}
            yield row(
                criterion_context,
                keys,
                EstimateSummary(effect_estimate, notes=_incomplete(cells)),
                _used(cells, len(cells.complete_cases)),
            )


def _used(cells: Cells, n_units: int) -> Measure:
    """What was used, for the table."""
    return Measure(np.zeros((1, 1)), quotient, (), n_units, cells.n_raters, cells.n_ratings)


def _terms(systems: Sequence[str], paper: bool) -> dict[str, Term]:
    within = (
        {} if paper else {f"level_of_{n}": Term("level_within", s) for n, s in enumerate(systems)}
    )
    return {
        "system": Term("between_systems"),
        "level": Term("between_levels"),
        "interaction": Term("system_by_level"),
        **within,
    }


def _mixed(
    context: Context, cells: Cells, named: dict[str, str], terms: dict[str, Term]
) -> Iterator[Row]:
    if len(cells.complete_cases) < 2:
        return
    note = message(
        "All systems answered the same cases; a test for independent cases is inappropriate."
    )
    for name, effect in anova.mixed_anova(cells.complete_cases).items():
        method = message(
            (
                "mixed ANOVA, systems as between-subject factor, F({df:.0f}, {error:.0f}) ="
                " {f:.2f}; no CI"
            ),
            message_id="method.mixed_anova",
            df=effect.df,
            error=effect.df_error,
            f=effect.f,
        )
        defined = math.isfinite(effect.f)
        effect_estimate = Estimate(
            effect.eta,
            level=context.resampling.level,
            p=effect.p,
            n_clusters=len(cells.complete_cases),
            n_ratings=cells.n_ratings,
            method=method if defined else "",
            reason="" if defined else message("fewer than two complete cases, or no variation"),
        )
        yield row(
            context,
            {**named, "effect": terms[name]},
            EstimateSummary(effect_estimate, notes=(note, *_incomplete(cells))),
        )


def tukey_rows(context: Context, table: RatingTable) -> Iterator[Row]:
    """Differences between every two cells of system and level, adjusted for all of them.

    Those that share a system or a level are on the page.

    valid: paired by case, with the two cells' own error. paper: all cells as if they were of other
    cases.
    """
    for criterion_context in _each(context):
        cells = _cells(criterion_context, table)
        named = {"criterion": criterion_context.criterion.id} if context.also else {}
        places = [
            (s, k)
            for s in range(len(cells.systems))
            for k in range(len(criterion_context.analysis.options_as(CaseOptions).levels))
        ]
        estimates = (
            _independent(criterion_context, cells, places)
            if criterion_context.analysis.mode == "paper"
            else _ranges(criterion_context, cells, places)
        )
        pairs = zip(combinations(places, 2), estimates, strict=True)
        # First the levels within each system, then the systems at each level.
        for (x, y), summary in sorted(
            pairs, key=lambda pair: (pair[0][0][0] != pair[0][1][0], *pair[0])
        ):
            keys, versus = (
                {
                    **named,
                    "system": cells.systems[s],
                    LEVEL: criterion_context.analysis.options_as(CaseOptions).levels[k],
                }
                for s, k in (x, y)
            )
            used = _used(cells, 2 * len(cells.complete_cases))
            apart = x[0] != y[0] and x[1] != y[1]
            yield row(
                criterion_context,
                keys,
                EstimateSummary(summary, notes=_incomplete(cells)),
                used,
                kind="difference",
                versus=versus,
                detail=apart,
            )


def _ranges(
    context: Context, cells: Cells, places: Sequence[tuple[int, int]]
) -> Iterator[Estimate]:
    level, complete = context.resampling.level, cells.complete_cases
    method = message(
        (
            "Tukey's range test of {n} cells, paired by case, with a separate error term for"
            " each pair"
        ),
        message_id="method.paired_tukey",
        n=len(places),
    )
    for (s, k), (t, m) in combinations(places, 2):
        comparison = anova.paired_range_test(
            complete[:, s, k] - complete[:, t, m], len(places), level
        )
        yield _compared(comparison, context, cells, method)


def _independent(
    context: Context, cells: Cells, places: Sequence[tuple[int, int]]
) -> Iterator[Estimate]:
    level, complete = context.resampling.level, cells.complete_cases
    method = message(
        "Tukey's HSD of {n} cells, treated as independent",
        message_id="method.tukey",
        n=len(places),
    )
    for comparison in anova.tukey(complete.reshape(len(complete), len(places)), level):
        yield _compared(comparison, context, cells, method)


def _compared(
    comparison: anova.Comparison, context: Context, cells: Cells, method: TranslatableMessage
) -> Estimate:
    reason = (
        ""
        if math.isfinite(comparison.p)
        else message("the differences do not vary, or there are too few complete cases")
    )
    return Estimate(
        comparison.difference,
        comparison.low,
        comparison.high,
        context.resampling.level,
        p=comparison.p,
        n_clusters=len(cells.complete_cases),
        n_ratings=cells.n_ratings,
        method=method,
        reason=reason,
    )
