"""Performance of systems as the information about cases is progressively masked.

Each case contributes one number; cases are the clusters.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from types import MappingProxyType

import numpy as np
import polars as pl

from konsil.analysis.cases.ladders import LEVEL, Ladder, ladder, with_levels
from konsil.analysis.estimation.group_estimates import Group
from konsil.analysis.estimation.measure import Measure, quotient
from konsil.analysis.estimation.rows.result_rows import estimates_of, row
from konsil.analysis.model import verdicts
from konsil.analysis.model.context import Context
from konsil.analysis.model.options import CaseOptions
from konsil.analysis.model.results import CaseScore
from konsil.analysis.model.rows import Row
from konsil.analysis.model.terms import RECOVERED, Term
from konsil.analysis.table.encoding import groups
from konsil.analysis.table.frame import RatingTable
from konsil.errors.message import TranslatableMessage, message
from konsil.stats.cases import degradation
from konsil.stats.engine.contract import Array, Estimate

LEAST = 0.05
"""How large a share of the cases must be hidden knowledge beyond doubt, where the analysis names no
margin."""

RIGHT: Mapping[str, Callable[[Array], Array]] = MappingProxyType(
    {
        "information_sensitivity": degradation.drop,
        "monotonicity_violation": degradation.violated,
        "diagnostic_potential": degradation.potential,
        "label_dependence": degradation.label_dependence,
        "stability": degradation.steps,
    }
)
"""Statistics of whether each level is right; the reasoning gap is the only one of the scores
themselves."""

SHARES = ("monotonicity_violation", "diagnostic_potential", "label_dependence")
"""Those that are shares of the cases, so that few cases have an interval of a share."""


def by_system(context: Context, table: RatingTable) -> list[tuple[dict[str, str], pl.DataFrame]]:
    """The analysis' ratings, with their level, by system and by the columns of `by`."""
    return groups(
        with_levels(context, table), list(dict.fromkeys(("system", *context.analysis.by)))
    )


def right(context: Context, scores: Array) -> Array:
    """Which scores reach the analysis' `correct`, 0 and 1; nan stays."""
    # A mean of raters is a fraction: what reaches the threshold must not fail it by a rounding
    # error.
    correct = context.analysis.options_as(CaseOptions).correct
    return np.where(np.isfinite(scores), scores >= correct - 1e-9, np.nan)


def degradation_groups(context: Context, table: RatingTable) -> list[Group]:
    """One row a system: the statistic over its cases, with intervals that resample cases."""
    parts = by_system(context, table)
    levels = context.analysis.options_as(CaseOptions).levels
    measures = [_measure(context, ladder(context, part, levels)) for _, part in parts]
    summaries = estimates_of(context, measures)
    return [Group(keys, m, t) for (keys, _), m, t in zip(parts, measures, summaries, strict=True)]


def case_scores(context: Context, table: RatingTable) -> Iterator[CaseScore]:
    """The scores that a fall over the levels is made of; cells without a score are left out."""
    levels = context.analysis.options_as(CaseOptions).levels
    for keys, part in by_system(context, table):
        system_ladder = ladder(context, part, levels)
        for case, scores in zip(system_ladder.cases, system_ladder.scores, strict=True):
            for level, value in zip(levels, scores, strict=True):
                if np.isfinite(value):
                    yield CaseScore(
                        context.analysis.name, keys["system"], case, level, float(value)
                    )


def _measure(context: Context, system_ladder: Ladder) -> Measure:
    analysis = context.analysis
    if analysis.statistic == "reasoning_gap":
        return from_cases(system_ladder, degradation.drop(system_ladder.scores))
    number = RIGHT[analysis.statistic]
    options = analysis.options_as(CaseOptions)
    recovered = options.denominator == "recovered"
    if recovered:
        number = partial(degradation.violated, recovered=True)
    measure = from_cases(
        system_ladder,
        number(right(context, system_ladder.scores)),
        share=analysis.statistic in SHARES,
    )
    if not recovered:
        return measure
    note = message("Only cases that are correct at {level}.", level=repr(options.levels[-1]))
    return replace(measure, notes=(note, *measure.notes))


def from_cases(system_ladder: Ladder, numbers: Array, *, share: bool = False) -> Measure:
    """The mean of one number a case as a measure.

    A share of the cases where the numbers are 0 and 1.
    """
    is_finite = np.isfinite(numbers)
    sums = np.column_stack([np.where(is_finite, numbers, 0.0), is_finite.astype(np.float64)])
    lacking = system_ladder.lacking
    note = message(
        "{n:,} of {all:,} cases lack an information level and may be excluded.",
        n=lacking,
        all=len(system_ladder.cases),
    )
    return Measure(
        sums=sums,
        finalise=quotient,
        clusters=system_ladder.cases,
        n_units=int(np.isfinite(system_ladder.scores).sum()),
        n_raters=system_ladder.n_raters,
        n_ratings=system_ladder.n_ratings,
        trials=sums[:, 1] if share else None,
        hits=sums[:, 0] if share else None,
        notes=(note,) if lacking else (),
    )


def recovery_rows(context: Context, table: RatingTable) -> Iterator[Row]:
    """The proportion of cases that recover at each level, for each system.

    A case recovers where it is correct after a level with more information was incorrect.
    """
    options = context.analysis.options_as(CaseOptions)
    if options.denominator == "recovered":
        return
    levels = options.levels
    for keys, part in by_system(context, table):
        system_ladder = ladder(context, part, levels)
        at = degradation.recovered_at(right(context, system_ladder.scores))
        measures = [from_cases(system_ladder, at[:, n], share=True) for n in range(1, len(levels))]
        for level, measure, summary in zip(
            levels[1:], measures, estimates_of(context, measures), strict=True
        ):
            yield row(
                context,
                {**keys, LEVEL: level, "version": RECOVERED},
                summary,
                measure,
                kind="companion",
            )


def hidden_rows(context: Context, table: RatingTable) -> Iterator[Row]:
    """The proportion of cases with hidden knowledge, for each system.

    Such a case is incorrect with all the information and correct with less of it. This share is
    never below 0, so that an interval above 0 shows nothing: the finding asks for more than
    `margin`, and for more than answers would give that are right by luck as often as those of each
    level are.
    """
    levels = context.analysis.options_as(CaseOptions).levels
    for keys, part in by_system(context, table):
        system_ladder = ladder(context, part, levels)
        measure = from_cases(
            system_ladder, degradation.hidden(right(context, system_ladder.scores)), share=True
        )
        [summary] = estimates_of(context, [measure])
        version = Term("hidden", levels[0])
        luck = degradation.hidden_by_luck(right(context, system_ladder.scores))
        finding = _hidden(context, keys["system"], summary.headline, luck)
        summary = replace(summary, notes=(*summary.notes, finding))
        yield row(
            context,
            {**keys, LEVEL: levels[0], "version": version},
            summary,
            measure,
            kind="companion",
            finding=finding,
        )


def _hidden(context: Context, system: str, estimate: Estimate, luck: float) -> TranslatableMessage:
    first = context.analysis.options_as(CaseOptions).levels[0]
    margin = LEAST if context.analysis.margin is None else context.analysis.margin
    if not np.isfinite(estimate.low):
        return message(
            (
                "Hidden knowledge of {system}: not estimable, because no case has all"
                " information levels."
            ),
            system=system,
        )
    reason = verdicts.weakness(estimate, context.resampling.draws)
    if reason is not None:
        return message(
            "Hidden knowledge of {system} not estimable: {reason}.",
            message_id="verdict.hidden_not_judged",
            system=system,
            reason=reason,
        )
    if margin < estimate.low <= luck:
        return message(
            "Hidden knowledge not distinguishable from chance: {system} was incorrect at"
            " {level} but correct with less information in {value:.0%} of cases (lower"
            " limit {low:.0%}; expected by chance {luck:.0%}).",
            message_id="potential.chance",
            system=system,
            value=estimate.value,
            level=first,
            luck=luck,
            low=estimate.low,
        )
    if verdicts.is_hidden_knowledge(estimate.low, margin, luck):
        return message(
            (
                "Hidden knowledge: {system} was incorrect at {level} but correct with less"
                " information in {value:.0%} of cases; the CI lies above {margin:.0%}"
                " (expected by chance: {luck:.0%})."
            ),
            system=system,
            value=estimate.value,
            level=first,
            margin=margin,
            luck=luck,
        )
    return message(
        (
            "Hidden knowledge not shown: {system} was incorrect at {level} but correct with"
            " less information in {value:.0%} of cases; the lower limit of the CI, {low:.0%},"
            " is not above {margin:.0%}."
        ),
        system=system,
        value=estimate.value,
        level=first,
        low=estimate.low,
        margin=margin,
    )
