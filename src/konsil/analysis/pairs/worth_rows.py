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
from konsil.analysis.model.options import PairOptions
from konsil.analysis.model.rows import Row
from konsil.analysis.model.terms import RATIO_TO_BEST
from konsil.analysis.pairs.pair_estimates import (
    conditional_on_rater,
    counted,
    counting_ratings,
    linearised,
    resampled,
)
from konsil.analysis.pairs.vote_methods import (
    estimable_with_penalty,
    penalised,
    penalised_without_interval,
    place_of_system,
    undefined_worths,
)
from konsil.analysis.pairs.vote_sentences import ratio_limits, sentence, worth_limits
from konsil.analysis.pairs.votes import Member, ratings_of
from konsil.errors.message import message
from konsil.stats.engine.contract import Array, Estimate
from konsil.stats.pairs.bradley_terry_davidson import Worths, fit, penalty_variances, worths
from konsil.stats.pairs.preference import Preference, preferences
from konsil.stats.pairs.ratios import Ratios, against_reference, model_interval, ratios_to_best
from konsil.stats.pairs.strong_parts import (
    Place,
    StrongPart,
    design_within,
    strong_part,
    votes_within,
)
from konsil.stats.pairs.two_way_clusters import with_added_variance
from konsil.stats.pairs.vote_cautions import is_dominated, vote_cautions
from konsil.stats.pairs.votes import Clusterings, Votes, pair_members, totals
from konsil.stats.pairs.worth_designs import Design, Model, WhyUndefined, design

MODELS: Mapping[str, Model] = {"davidson": "davidson", "bradley_terry": "bradley_terry"}


@dataclass(frozen=True, eq=False)
class FittedWorths:
    """The worths of a set of votes, with what their intervals are made of.

    Where only some of the systems have an estimate, all numbers are of these, in their order.
    """

    model: Worths
    """The model."""
    best: Ratios
    """The ratios to the best, with the model's own intervals."""
    log: Preference
    """The log worths."""
    gap: Preference
    """The log worths minus that of the best."""
    part: StrongPart | None = None
    """The systems with an estimate where others have none; None: all systems, or none."""
    reason_alone: WhyUndefined = ""
    """Why the strengths would be undefined without a penalty."""

    def place(self, system: int) -> Place:
        """Where a system is among those with an estimate, by its number among all."""
        return "estimated" if self.part is None else self.part.places[system]

    def number(self, system: int) -> int:
        """The number in all arrays of a system that has an estimate, from that among all."""
        return system if self.part is None else int(np.searchsorted(self.part.systems, system))

    def system(self, number: int) -> int:
        """The same the other way round."""
        return number if self.part is None else int(self.part.systems[number])


def fitted_worths(
    context: Context,
    votes: Votes,
    chosen: Design,
    draws: int,
    counts: Clusterings | None = None,
) -> FittedWorths:
    """The worths of a model; with `draws` = 0 without the bootstrap by item.

    Where some systems never lost to the others, or never won, only the others have an estimate.
    Where the model has none, nothing is resampled and all numbers are nan.
    """
    cells, level, part = totals(votes), context.resampling.level, None
    model = fit(cells, chosen)
    if model.reason in {"undefeated", "unconnected"}:
        part = strong_part(cells, chosen)
    if part is not None:
        some, of_some = (
            votes_within(votes, part.systems),
            design_within(chosen, len(part.systems)),
        )
        of_part = fit(totals(some), of_some)
        if of_part.reason:
            part = None
        else:
            votes, chosen, cells, model, counts = some, of_some, totals(some), of_part, None
    statistic = worths(cells, chosen)
    best = ratios_to_best(model.log_worths, model.covariance, level=level)
    log, gap = preferences(
        votes,
        [statistic, against_reference(statistic, max(best.best, 0))],
        # The resamples of a penalised fit leave out the variance of its virtual comparisons.
        draws=0 if model.reason or chosen.penalty else draws,
        key=context.key,
        level=level,
        mode=context.analysis.mode,
        counts=counts,
    )
    if chosen.penalty and not model.reason:
        log, gap = (
            replace(of, intervals=with_added_variance(of.intervals, added, level=level))
            for of, added in zip((log, gap), penalty_variances(model, best.best), strict=True)
        )
    reason_alone = fit(cells, replace(chosen, penalty=0.0)).reason if chosen.penalty else ""
    return FittedWorths(model, best, log, gap, part, reason_alone)


def worth_rows(context: Context, member: Member, people: bool) -> Iterator[Row]:
    """Log worths with two-way intervals, and the ratio to the best.

    The bootstrap and the model's own intervals are reported, too.
    """
    votes, level = member.votes, context.resampling.level
    chosen = design(
        votes.n_systems,
        votes.steps,
        MODELS[context.analysis.statistic],
        penalty=context.analysis.options_as(PairOptions).penalty,
    )
    fit_of_votes = fitted_worths(context, votes, chosen, context.resampling.draws)
    first, second = (side.tolist() for side in pair_members(votes.n_systems))
    is_used = [
        fit_of_votes.place(a) == fit_of_votes.place(b) == "estimated"
        for a, b in zip(first, second, strict=True)
    ]
    ratings = ratings_of(member.ratings, np.array(is_used))
    for system, own_keys in member.rows:
        keys = {**member.keys, **own_keys}
        reason = undefined_worths(fit_of_votes.model.reason) or place_of_system(
            fit_of_votes.place(system)
        )
        if reason:
            undefined = Estimate(math.nan, level=level, reason=reason)
            yield row(context, keys, EstimateSummary(undefined))
        else:
            number = fit_of_votes.number(system)
            for worth in _rows_of_system(
                context, member, fit_of_votes, number, keys, people=people
            ):
                yield counting_ratings(worth, ratings)


def _rows_of_system(
    context: Context,
    member: Member,
    fit_of_votes: FittedWorths,
    n: int,
    keys: dict[str, str],
    *,
    people: bool,
) -> Iterator[Row]:
    """The log worth of one system, by its number among those with an estimate."""
    fitted, best, log = fit_of_votes.model, fit_of_votes.best, fit_of_votes.log
    penalty = context.analysis.options_as(PairOptions).penalty
    alone = not people or int(log.intervals.n_raters[n]) < 2
    headline, *others = (
        replace(e, method=penalised(e.method, penalty))
        for e in _headline(context, fit_of_votes, n, people=people, alone=alone)
    )
    notes = [
        sentence(c, member.raters)
        for c in vote_cautions(log, n)
        if not (alone and "raters" in c.code)
    ]
    if fit_of_votes.part is not None:
        notes.append(
            message(
                "Estimated from the comparisons of {n} of {all} systems: the others never lost"
                " to them, or never won, so that the strengths sum to zero over the {n}.",
                message_id="worths.of_some",
                n=len(fit_of_votes.part.systems),
                all=len(fit_of_votes.part.places),
            )
        )
    if penalty and not headline.method:
        notes.append(penalised_without_interval(penalty))
    if fit_of_votes.reason_alone:
        notes.append(estimable_with_penalty(fit_of_votes.reason_alone))
    if n == best.best and math.isfinite(fitted.log_tie):
        notes.append(message("Tie parameter: {d:.3f}.", d=math.exp(fitted.log_tie)))
    yield counted(row(context, keys, EstimateSummary(headline, notes=tuple(notes))), log, n)
    for other in others:
        if math.isfinite(other.low) and other.method != headline.method:
            yield counted(row(context, keys, EstimateSummary(other), kind="companion"), log, n)
    ratio = EstimateSummary(ratio_to_best(headline, fit_of_votes, n))
    version = {**keys, "version": RATIO_TO_BEST}
    yield counted(row(context, version, ratio, kind="companion"), log, n)


def _headline(
    context: Context, fit_of_votes: FittedWorths, n: int, *, people: bool, alone: bool
) -> tuple[Estimate, ...]:
    """The intervals of one log worth, the primary one first."""
    fitted, log, analysis = fit_of_votes.model, fit_of_votes.log, context.analysis
    model = model_interval(fitted.log_worths, fitted.covariance, level=context.resampling.level)
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
    n_raters = int(log.intervals.n_raters[n])
    ways[1], by_item = (
        conditional_on_rater(context, e, n_raters, people=people) for e in (ways[1], by_item)
    )
    two, item, rater, by_item, model_estimate = (
        limited(estimate) for estimate in (*ways, by_item, model_estimate)
    )
    if analysis.mode == "paper":
        return model_estimate, by_item, two
    if analysis.cluster == "rater":
        return rater, two, model_estimate
    if alone:
        return by_item, item, model_estimate
    if context.target == "these" or is_dominated(log.intervals, n):
        return item, by_item, two, model_estimate
    return two, by_item, model_estimate


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


def ratio_to_best(headline: Estimate, fit_of_votes: FittedWorths, n: int) -> Estimate:
    """A worth over the best one's, with the headline's kind of interval.

    It is the interval of their difference, covariance included.
    """
    best, gap = fit_of_votes.best, fit_of_votes.gap
    if n == best.best:
        low = high = math.nan
    elif has(headline.method, "model"):
        low, high = float(best.low[n]), float(best.high[n])
    elif has(headline.method, "bootstrap") and gap.bootstrap is not None:
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
