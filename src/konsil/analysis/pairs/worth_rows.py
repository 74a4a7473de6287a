"""Worths of systems as rows: log worths with their intervals, and their ratios to the best."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from konsil.analysis.estimation.estimate import EstimateSummary
from konsil.analysis.estimation.rows.result_rows import row
from konsil.analysis.model.context import Context
from konsil.analysis.model.interval_methods import has, is_by_rater
from konsil.analysis.model.rows import Row
from konsil.analysis.model.terms import RATIO_TO_BEST
from konsil.analysis.pairs.pair_estimates import counted, linearised, resampled
from konsil.analysis.pairs.vote_methods import conditional, undefined_worths
from konsil.analysis.pairs.vote_sentences import ratio_limits, sentence, worth_limits
from konsil.analysis.pairs.votes import Member
from konsil.errors.message import message
from konsil.stats.engine.contract import Array, Estimate
from konsil.stats.pairs.bradley_terry_davidson import Worths, fit, worths
from konsil.stats.pairs.preference import Preference, preferences
from konsil.stats.pairs.ratios import Ratios, against_reference, model_interval, ratios_to_best
from konsil.stats.pairs.vote_cautions import is_dominated, vote_cautions
from konsil.stats.pairs.votes import Clusterings, Votes, totals
from konsil.stats.pairs.worth_designs import Design, Model, design

MODELS: Mapping[str, Model] = {"davidson": "davidson", "bradley_terry": "bradley_terry"}


@dataclass(frozen=True, eq=False)
class FittedWorths:
    """The worths of a set of votes, with what their intervals are made of."""

    model: Worths
    """The model."""
    best: Ratios
    """The ratios to the best, with the model's own intervals."""
    log: Preference
    """The log worths."""
    gap: Preference
    """The log worths minus that of the best."""


def fitted_worths(
    context: Context,
    votes: Votes,
    chosen: Design,
    draws: int,
    counts: Clusterings | None = None,
) -> FittedWorths:
    """The worths of a model; with `draws` = 0 without the bootstrap by item.

    Where the model has no estimate, nothing is resampled and all numbers are nan.
    """
    cells, level = totals(votes), context.resampling.level
    model, statistic = fit(cells, chosen), worths(cells, chosen)
    best = ratios_to_best(model.log_worths, model.covariance, level=level)
    log, gap = preferences(
        votes,
        [statistic, against_reference(statistic, max(best.best, 0))],
        draws=0 if model.reason else draws,
        key=context.key,
        level=level,
        mode=context.analysis.mode,
        counts=counts,
    )
    return FittedWorths(model, best, log, gap)


def worth_rows(context: Context, member: Member, people: bool) -> Iterator[Row]:
    """Log worths with two-way intervals, and the ratio to the best.

    The bootstrap and the model's own intervals are reported, too.
    """
    votes, analysis, level = member.votes, context.analysis, context.resampling.level
    chosen = design(votes.n_systems, votes.steps, MODELS[analysis.statistic])
    fit_of_votes = fitted_worths(context, votes, chosen, context.resampling.draws)
    fitted, best, log = fit_of_votes.model, fit_of_votes.best, fit_of_votes.log
    if fitted.reason:
        for _, keys in member.rows:
            yield row(
                context,
                {**member.keys, **keys},
                EstimateSummary(
                    Estimate(math.nan, level=level, reason=undefined_worths(fitted.reason))
                ),
            )
        return
    model = model_interval(fitted.log_worths, fitted.covariance, level=level)
    alone = not people or votes.n_raters < 2
    for n, own_keys in member.rows:
        keys = {**member.keys, **own_keys}
        ways = [linearised(context, log, n, way) for way in ("two-way", "item", "rater")]
        by_item = resampled(context, log, n, ways[1])
        model_estimate = replace(
            ways[1],
            low=float(model[0][n]),
            high=float(model[1][n]),
            se=math.sqrt(fitted.covariance[n, n]),
            method=message(
                "model-based (Fisher information), comparisons treated as independent",
                message_id="method.model",
            ),
            reason="",
        )
        if context.has_known_raters and log.intervals.n_raters[n] == 1:
            ways[1], by_item = (
                replace(e, method=e.method and conditional(e.method, people=people))
                for e in (ways[1], by_item)
            )
        two, item, rater, by_item, model_estimate = (
            limited(estimate) for estimate in (*ways, by_item, model_estimate)
        )
        headline, others = (two, [by_item, model_estimate])
        if analysis.mode == "paper":
            headline, others = model_estimate, [by_item, two]
        elif analysis.cluster == "rater":
            headline, others = rater, [two, model_estimate]
        elif alone:
            headline, others = by_item, [item, model_estimate]
        elif context.target == "these" or is_dominated(log.intervals, n):
            headline, others = item, [by_item, two, model_estimate]
        notes = [
            sentence(c, member.raters)
            for c in vote_cautions(log, n)
            if not (alone and "raters" in c.code)
        ]
        if n == best.best and math.isfinite(fitted.log_tie):
            notes.append(message("Tie parameter: {d:.3f}.", d=math.exp(fitted.log_tie)))
        yield counted(row(context, keys, EstimateSummary(headline, notes=tuple(notes))), log, n)
        for other in others:
            if math.isfinite(other.low) and other.method != headline.method:
                yield counted(row(context, keys, EstimateSummary(other), kind="companion"), log, n)
        version = {**keys, "version": RATIO_TO_BEST}
        yield counted(
            row(
                context,
                version,
                EstimateSummary(ratio_to_best(headline, fit_of_votes, n, alone=alone)),
                kind="companion",
            ),
            log,
            n,
        )


def limited(estimate: Estimate) -> Estimate:
    """A log worth without limits that have no width or are too far apart.

    Beyond that distance no ratio is informative.
    """
    if estimate.reason or not math.isfinite(estimate.low):
        return estimate
    low, high, reason = worth_limits(estimate.low, estimate.high)
    return replace(
        estimate, low=low, high=high, method=estimate.method if not reason else "", reason=reason
    )


def ratio_to_best(
    headline: Estimate, fit_of_votes: FittedWorths, n: int, *, alone: bool
) -> Estimate:
    """A worth over the best one's, with the headline's kind of interval.

    It is the interval of their difference, covariance included.
    """
    best, gap = fit_of_votes.best, fit_of_votes.gap
    if n == best.best:
        low = high = math.nan
    elif has(headline.method, "model"):
        low, high = float(best.low[n]), float(best.high[n])
    elif alone and gap.bootstrap is not None:  # as the headline of a single rater, or of models
        low, high = _exp(gap.bootstrap.low, n), _exp(gap.bootstrap.high, n)
    else:
        by_items = headline.raters == "these"
        ends = (
            gap.intervals.question
            if by_items
            else gap.intervals.rater
            if is_by_rater(headline.method)
            else gap.intervals.two_way
        )
        low, high = _exp(ends.low, n), _exp(ends.high, n)
    has_limits = math.isfinite(low)
    low, high, reason = ratio_limits(low, high)
    if n == best.best:
        reason = message("the reference", message_id="worths.reference")
    elif not has_limits and headline.reason:
        reason = headline.reason
    return replace(
        headline, value=float(best.value[n]), low=low, high=high, se=math.nan, reason=reason
    )


def _exp(ends: Array, n: int) -> float:
    return float(np.exp(min(float(ends[n]), _EXPONENT)))


_EXPONENT = 700.0
"""Beyond it a double's exponential overflows."""
