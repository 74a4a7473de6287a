"""Systems compared on the means of their cases: effect sizes with rank tests, analysis of variance, Tukey's test."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
import polars as pl

from konsil.analysis.cases.scores import LEVEL, Ladder, ladder, scores, with_levels
from konsil.analysis.estimation.context import Context
from konsil.analysis.estimation.estimate import EstimateSummary, estimate
from konsil.analysis.estimation.measure import Measure, quotient
from konsil.analysis.estimation.rows.result_rows import row
from konsil.analysis.model.message import TranslatableMessage, message
from konsil.analysis.model.results import Row
from konsil.analysis.table.encoding import groups, select
from konsil.analysis.table.frame import RatingTable
from konsil.stats.cases import anova, effects
from konsil.stats.engine.contract import Array, Estimate


def effect_rows(context: Context, table: RatingTable) -> Iterator[Row]:
    """For every two systems, criterion by criterion, Cohen's d and a rank test.

    valid: of the cases' means, paired by case (Wilcoxon) and, beside it, unpaired (Mann-Whitney).
    paper: of all scores as if they were independent.
    """
    for one in _each(context):
        frame = select(table, one.analysis, one.analysis.raters)
        for keys, part in groups(frame, one.analysis.by):
            named = {**keys, "criterion": one.criterion.id} if context.also else keys
            by = {k["system"]: p for k, p in groups(part, ["system"])}
            for a, b in combinations(sorted(by), 2):
                make = _naive if context.analysis.mode == "paper" else _paired
                yield from make(one, {**named, "system": a}, {**named, "system": b}, by[a], by[b])


def _each(context: Context) -> Iterator[Context]:
    for criterion in (context.criterion, *context.also):
        yield replace(context, also=()).of(criterion)


def _case_means(context: Context, frame: pl.DataFrame) -> dict[str, float]:
    own = scores(context, frame).group_by("case").agg(pl.col("score").mean())
    return dict(own.iter_rows())


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
    told = _estimate(context, shared)
    how = message(
        "paired d of case means, {interval}; Wilcoxon's signed ranks, W = {w:g}",
        interval=told.method,
        w=w,
    )
    yield row(
        context,
        keys,
        EstimateSummary(replace(told, p=p, method=how)),
        shared,
        kind="difference",
        versus=versus,
    )
    beside = _estimate(context, replace(shared, sums=sums, finalise=effects.cohen_d))
    how = message(
        "Cohen's d of case means, unpaired, {interval}; Mann-Whitney, U = {u:g}",
        interval=beside.method,
        u=u,
    )
    told_beside = EstimateSummary(replace(beside, p=p_unpaired, method=how))
    yield row(context, keys, told_beside, shared, kind="companion", versus=versus)


def _estimate(context: Context, measure: Measure) -> Estimate:
    why = message("the case means do not differ from one another or are too few")
    return estimate(
        measure, key=context.key, resampling=context.resampling, cluster=context.cluster, reason=why
    ).headline


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
        "Cohen's d of all scores as if they were independent, without an interval; Mann-Whitney, U"
        " = {u:g}",
        u=u,
    )
    reason = "" if math.isfinite(d) else message("all scores of both are the same, or too few")
    told = Estimate(
        d,
        level=context.resampling.level,
        p=p,
        n_clusters=n,
        n_ratings=n,
        method=method,
        reason=reason,
    )
    note = message(
        "{n:,} scores of few cases are not {n:,} observations: this p value is far too small.", n=n
    )
    yield row(context, keys, EstimateSummary(told, notes=(note,)), kind="difference", versus=versus)


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
    analysis = context.analysis
    frame = with_levels(context, table)
    found: dict[str, Ladder] = {
        k["system"]: ladder(context, p, analysis.levels) for k, p in groups(frame, ["system"])
    }
    cases = sorted({c for one in found.values() for c in one.cases})
    grid = np.full((len(cases), len(found), len(analysis.levels)), np.nan)
    for n, one in enumerate(found.values()):
        grid[[cases.index(c) for c in one.cases], n] = one.scores
    n_raters = max((one.n_raters for one in found.values()), default=0)
    return Cells(
        grid, tuple(found), tuple(cases), n_raters, sum(one.n_ratings for one in found.values())
    )


def _incomplete(cells: Cells) -> tuple[TranslatableMessage, ...]:
    gone = len(cells.cases) - len(cells.complete_cases)
    return (
        (
            message(
                "{n:,} of {all:,} cases lack a cell and are left out.", n=gone, all=len(cells.cases)
            ),
        )
        if gone
        else ()
    )


def anova_rows(context: Context, table: RatingTable) -> Iterator[Row]:
    """Partial eta squared and F test of system, level and both, and of the level within each system.

    valid: both within cases. paper: systems as if they had been given other cases.
    """
    for one in _each(context):
        cells = _cells(one, table)
        named = {"criterion": one.criterion.id} if context.also else {}
        titles = _titles(cells.systems, context.analysis.mode == "paper")
        if context.analysis.mode == "paper":
            yield from _mixed(one, cells, named, titles)
            continue
        sums = anova.products(cells.means.reshape(len(cells.cases), -1))
        for name, contrast in anova.contrasts(
            len(cells.systems), len(context.analysis.levels)
        ).items():
            if not len(contrast) or (name == "level of 0" and len(cells.systems) == 1):
                continue
            found = anova.repeated_measures(sums.sum(axis=0), contrast)
            low, high = anova.eta_interval(found, context.resampling.level)
            how = message(
                "repeated measures, F({df:.2f}, {error:.2f}) = {f:.2f}, Greenhouse-Geisser ε ="
                " {epsilon:.3f}; the interval inverts the F test",
                df=found.df,
                error=found.df_error,
                f=found.f,
                epsilon=found.epsilon,
            )
            defined = math.isfinite(found.f)
            told = Estimate(
                found.eta,
                low,
                high,
                context.resampling.level,
                p=found.p,
                n_clusters=len(cells.complete_cases),
                n_ratings=cells.n_ratings,
                method=how if defined else "",
                reason="" if defined else message("fewer than two whole cases, or nothing varies"),
            )
            keys: dict[str, str] = {**named, "effect": titles[name]}
            yield row(
                one,
                keys,
                EstimateSummary(told, notes=_incomplete(cells)),
                _used(cells, len(cells.complete_cases)),
            )


def _used(cells: Cells, n_units: int) -> Measure:
    """What was used, for the table."""
    return Measure(np.zeros((1, 1)), quotient, (), n_units, cells.n_raters, cells.n_ratings)


def _titles(systems: Sequence[str], paper: bool) -> dict[str, str]:
    within = (
        {}
        if paper
        else {
            f"level of {n}": message("level within {system}", system=s)
            for n, s in enumerate(systems)
        }
    )
    return {
        "system": message("between systems"),
        "level": message("between levels"),
        "interaction": message("system × level"),
        **within,
    }


def _mixed(
    context: Context, cells: Cells, named: dict[str, str], titles: dict[str, str]
) -> Iterator[Row]:
    if len(cells.complete_cases) < 2:
        return
    note = message(
        "The same cases were given to all systems: taken as others, the test of the system is not"
        " the right one."
    )
    for name, found in anova.mixed_anova(cells.complete_cases).items():
        method = message(
            "mixed, systems between, F({df:.0f}, {error:.0f}) = {f:.2f}; no interval",
            df=found.df,
            error=found.df_error,
            f=found.f,
        )
        defined = math.isfinite(found.f)
        told = Estimate(
            found.eta,
            level=context.resampling.level,
            p=found.p,
            n_clusters=len(cells.complete_cases),
            n_ratings=cells.n_ratings,
            method=method if defined else "",
            reason="" if defined else message("fewer than two whole cases, or nothing varies"),
        )
        yield row(
            context,
            {**named, "effect": titles[name]},
            EstimateSummary(told, notes=(note, *_incomplete(cells))),
        )


def tukey_rows(context: Context, table: RatingTable) -> Iterator[Row]:
    """Every two cells of system and level, adjusted for all: those that share a system or a level on the page.

    valid: paired by case, with the two cells' own error. paper: all cells as if they were of other
    cases.
    """
    for one in _each(context):
        cells = _cells(one, table)
        named = {"criterion": one.criterion.id} if context.also else {}
        places = [
            (s, k) for s in range(len(cells.systems)) for k in range(len(one.analysis.levels))
        ]
        found = (
            _independent(one, cells, places)
            if one.analysis.mode == "paper"
            else _ranges(one, cells, places)
        )
        pairs = zip(combinations(places, 2), found, strict=True)
        # First the levels within each system, then the systems at each level.
        for (x, y), told in sorted(pairs, key=lambda one: (one[0][0][0] != one[0][1][0], *one[0])):
            keys, versus = (
                {**named, "system": cells.systems[s], LEVEL: one.analysis.levels[k]}
                for s, k in (x, y)
            )
            used = _used(cells, 2 * len(cells.complete_cases))
            apart = x[0] != y[0] and x[1] != y[1]
            yield row(
                one,
                keys,
                EstimateSummary(told, notes=_incomplete(cells)),
                used,
                kind="difference",
                versus=versus,
                detail=apart,
            )


def _ranges(
    context: Context, cells: Cells, places: Sequence[tuple[int, int]]
) -> Iterator[Estimate]:
    level, whole = context.resampling.level, cells.complete_cases
    method = message(
        "Tukey's range test of {n} cells, paired by case, each two with their own error",
        n=len(places),
    )
    for (s, k), (t, m) in combinations(places, 2):
        one = anova.paired_range_test(whole[:, s, k] - whole[:, t, m], len(places), level)
        yield _compared(one, context, cells, method)


def _independent(
    context: Context, cells: Cells, places: Sequence[tuple[int, int]]
) -> Iterator[Estimate]:
    level, whole = context.resampling.level, cells.complete_cases
    method = message("Tukey's HSD of {n} cells as if they were of other cases", n=len(places))
    for one in anova.tukey(whole.reshape(len(whole), len(places)), level):
        yield _compared(one, context, cells, method)


def _compared(
    one: anova.Comparison, context: Context, cells: Cells, method: TranslatableMessage
) -> Estimate:
    reason = (
        ""
        if math.isfinite(one.p)
        else message("the differences do not vary, or there are too few whole cases")
    )
    return Estimate(
        one.difference,
        one.low,
        one.high,
        context.resampling.level,
        p=one.p,
        n_clusters=len(cells.complete_cases),
        n_ratings=cells.n_ratings,
        method=method,
        reason=reason,
    )
