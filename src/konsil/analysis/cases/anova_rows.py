"""Analyses of variance over systems and levels, and Tukey's test of their cells."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from konsil.analysis.cases.effects import each_criterion
from konsil.analysis.cases.ladders import LEVEL, Ladder, ladder, with_levels
from konsil.analysis.estimation.estimate import EstimateSummary
from konsil.analysis.estimation.measure import Measure, quotient
from konsil.analysis.estimation.rows.result_rows import row
from konsil.analysis.model.context import Context
from konsil.analysis.model.message import TranslatableMessage, message
from konsil.analysis.model.options import CaseOptions
from konsil.analysis.model.rows import Row
from konsil.analysis.model.terms import Term
from konsil.analysis.table.encoding import groups
from konsil.analysis.table.frame import RatingTable
from konsil.stats.cases import anova
from konsil.stats.engine.contract import Array, Estimate


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
    for criterion_context in each_criterion(context):
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
            # With one system, the level within it is the effect of level, which has its row.
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
    for criterion_context in each_criterion(context):
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
