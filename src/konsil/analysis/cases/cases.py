"""The rows of an analysis of cases in several versions; variance and correlations."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from types import MappingProxyType

import numpy as np
import polars as pl

from konsil.analysis.cases.approval import approval_groups, strictness_groups
from konsil.analysis.cases.degradation import degradation_groups, hidden_rows, recovery_rows
from konsil.analysis.cases.effects import crossover_rows, each_criterion, effect_rows
from konsil.analysis.cases.ladders import LEVEL, Ladder, ladder, with_levels
from konsil.analysis.cases.mismatch import UNIT, failure_rows, outcome_groups
from konsil.analysis.estimation.estimate import EstimateSummary
from konsil.analysis.estimation.group_estimates import Group, estimate_of
from konsil.analysis.estimation.measure import Measure, quotient
from konsil.analysis.estimation.rows.group_differences import differences
from konsil.analysis.estimation.rows.result_rows import estimate_rows, no_result, row
from konsil.analysis.model.catalogue.known import DEGRADATION
from konsil.analysis.model.context import Context
from konsil.analysis.model.options import CaseOptions
from konsil.analysis.model.rows import Row
from konsil.analysis.model.terms import Term
from konsil.analysis.table.answer_scores import scores
from konsil.analysis.table.encoding import groups, select
from konsil.analysis.table.frame import RatingTable
from konsil.analysis.table.lineage import Lineage
from konsil.errors.message import TranslatableMessage, message
from konsil.stats.cases import anova
from konsil.stats.engine.contract import Array, Codes, Estimate
from konsil.stats.engine.ranks import spearman, spearman_scores


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


MOST_VALUES = 25
"""Up to so many different scores a pair's joint table holds everything; beyond, ranks are drawn
anew each time."""


def correlation_rows(context: Context, table: RatingTable) -> Iterator[Row]:
    """Rows for pairs of criteria: Spearman's rho of the panel's mean scores over the answers."""
    every = [context.of(criterion) for criterion in (context.criterion, *context.also)]
    parts = {
        criterion_context.criterion.id: dict(
            _groups(
                criterion_context,
                select(table, criterion_context.analysis, criterion_context.analysis.raters),
            )
        )
        for criterion_context in every
    }
    for a, b in combinations(parts, 2):
        for group in parts[a]:
            if group in parts[b]:
                keys = {
                    "criterion": a,
                    "other": b,
                    **dict(zip(context.analysis.by, group, strict=True)),
                }
                measure = _measure(parts[a][group], parts[b][group])
                summary = estimate_of(
                    context,
                    measure,
                    message("one criterion has a constant score, or no answer has both scores"),
                )
                yield from estimate_rows(context, keys, summary, measure)


def _groups(
    context: Context, frame: pl.DataFrame
) -> Iterator[tuple[tuple[str, ...], pl.DataFrame]]:
    for keys, part in groups(frame, context.analysis.by):
        yield tuple(keys.values()), scores(context, part)


def _measure(a: pl.DataFrame, b: pl.DataFrame) -> Measure:
    other = b.select(*UNIT, pl.col("score").alias("other"))
    both = a.join(other, on=UNIT, how="inner", nulls_equal=True).sort(*UNIT)
    cases = both.get_column("case").unique().sort().to_list()
    place = {case: n for n, case in enumerate(cases)}
    clusters = np.array([place[c] for c in both.get_column("case")], dtype=np.int64)
    # Equal means must stay ties, whatever the order of their sums.
    x, y = (both.get_column(c).to_numpy().round(12) for c in ("score", "other"))
    values = np.unique(np.concatenate([x, y]))
    # Tables of few values are much faster than ranks of points, and give the same.
    if len(values) <= MOST_VALUES:
        codes = np.column_stack([np.searchsorted(values, v) for v in (x, y)])
        statistic = spearman(2, max(len(values), 1))
    else:
        codes = np.zeros((len(x), 2), dtype=np.int64)
        statistic = spearman_scores(x, y, clusters)
    sums = statistic.tally(Codes(codes, clusters, max(len(values), 1)))
    n_raters = int(both.get_column("n_raters").max() or 0) if both.height else 0  # type: ignore[arg-type]
    return Measure(
        sums,
        statistic.finalise,
        tuple(cases),
        both.height,
        n_raters,
        2 * both.height,
        scale="atanh",
    )


Groups = Callable[[Context, RatingTable], list[Group]]
Rows = Callable[[Context, RatingTable], Iterator[Row]]

GROUPS: Mapping[str, Groups] = MappingProxyType(
    {
        **dict.fromkeys(DEGRADATION, degradation_groups),
        "accuracy": outcome_groups,
        "illusion_gap": outcome_groups,
        "mismatch": outcome_groups,
        "hallucination": outcome_groups,
        "approval": approval_groups,
        "strictness": strictness_groups,
    }
)
"""Statistics with one number a group, which can be compared."""

ROWS: Mapping[str, Rows] = MappingProxyType(
    {
        "crossover": crossover_rows,
        "mann_whitney": effect_rows,
        "anova": anova_rows,
        "tukey": tukey_rows,
        "criteria_correlation": correlation_rows,
    }
)
"""Statistics that are comparisons themselves."""

BESIDE: Mapping[str, Rows] = MappingProxyType(
    {
        "diagnostic_potential": hidden_rows,
        "monotonicity_violation": recovery_rows,
        "mismatch": failure_rows,
        "hallucination": failure_rows,
    }
)
"""What else stands below a statistic's numbers."""


def case_rows(
    context: Context,
    table: RatingTable,
    frame: pl.DataFrame,  # noqa: ARG001
    lineage: Lineage,  # noqa: ARG001
) -> Iterator[Row]:
    """The rows of an analysis of cases."""
    name = context.analysis.statistic
    if name in ROWS:
        rows = list(ROWS[name](context, table))
        yield from rows or [no_result(context, message("no ratings selected"))]
        return
    members = GROUPS[name](context, table)
    if not members:
        yield no_result(context, message("no ratings selected"))
    for group in members:
        yield from estimate_rows(context, group.keys, group.summary, group.measure)
    if name in BESIDE:
        yield from BESIDE[name](context, table)
    if context.analysis.compare:
        yield from differences(context, members)
