"""Preference statistics of a study: win differences, win rates, margins, worths and ratios.

Each has one row a system or two systems.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from konsil.analysis.estimation.estimate import EstimateSummary
from konsil.analysis.estimation.rows.result_rows import row
from konsil.analysis.model.catalogue.known import LENGTH, WORTHS
from konsil.analysis.model.context import Context
from konsil.analysis.model.interval_methods import has, is_by_rater
from konsil.analysis.model.message import message
from konsil.analysis.model.rows import Row
from konsil.analysis.model.terms import LONGER, RATIO_TO_BEST, SHORTER
from konsil.analysis.pairs.pair_estimates import counted, linearised, resampled, value_rows
from konsil.analysis.pairs.vote_methods import undefined_worths
from konsil.analysis.pairs.vote_sentences import ratio_limits, sentence, worth_limits
from konsil.analysis.pairs.votes import (
    Ballot,
    Member,
    ballot_of,
    jury_votes,
    longer_first,
    names_in,
)
from konsil.analysis.table.encoding import groups
from konsil.analysis.table.frame import RatingTable
from konsil.analysis.table.lineage import Lineage
from konsil.stats.engine.contract import Array, Estimate
from konsil.stats.pairs.bradley_terry_davidson import fit, worths
from konsil.stats.pairs.preference import Preference, preferences
from konsil.stats.pairs.ratios import Ratios, against_reference, model_interval, ratios_to_best
from konsil.stats.pairs.vote_cautions import is_dominated, vote_cautions
from konsil.stats.pairs.votes import pair_members, totals
from konsil.stats.pairs.wins import Score, VoteStatistic, head_to_head, system_against_others
from konsil.stats.pairs.worth_designs import Model, design

MODELS: Mapping[str, Model] = {"davidson": "davidson", "bradley_terry": "bradley_terry"}


SCORES: Mapping[str, Score] = {
    "win_difference": "difference",
    "win_difference_strict": "difference",
    "win_rate": "win",
    "win_rate_strict": "win",
    "margin": "margin",
}
"""What a vote counts in each statistic."""


def pair_rows(
    context: Context, table: RatingTable, frame: pl.DataFrame, families: Lineage
) -> Iterator[Row]:
    """Rows of one system (or two systems, for win rates) in every group, with its intervals."""
    analysis = context.analysis
    people = any(
        families.judges[r].kind == "human" for r in frame.get_column("rater").unique().to_list()
    )
    for keys, ballot in votes_by_group(context, frame):
        if LENGTH in analysis.by and not longer_first(ballot, table)[1].any():
            reason = message("the lengths of the answers are not known")
            yield row(
                context,
                keys,
                EstimateSummary(Estimate(math.nan, level=context.resampling.level, reason=reason)),
            )
            continue
        member = members(context, table, keys, ballot)
        if analysis.statistic in WORTHS:
            yield from worth_rows(context, member, people)
        else:
            yield from _wins(context, member, len(ballot.systems), people)


def votes_by_group(
    context: Context, frame: pl.DataFrame
) -> Iterator[tuple[dict[str, str], Ballot]]:
    """The comparisons of each group of an analysis, a jury's as one vote each."""
    analysis = context.analysis
    systems, clusters = names_in(context, frame)
    for keys, part in groups(frame, [c for c in analysis.by if c != LENGTH]):
        ballot = ballot_of(context, part, systems, clusters)
        yield keys, jury_votes(ballot, analysis.raters) if analysis.consensus == "mean" else ballot


def members(context: Context, table: RatingTable, keys: dict[str, str], ballot: Ballot) -> Member:
    """The group's votes; by length each system counts as two.

    These are the longer and the shorter answer of a comparison.
    """
    by_length = LENGTH in context.analysis.by
    votes = ballot.votes
    if by_length:
        is_longer, has_lengths = longer_first(ballot, table)
        votes = ballot.of(has_lengths, by_length=is_longer)
    rows = places(context.analysis.statistic, ballot.systems, by_length=by_length)
    return Member(keys, votes, rows, ballot.names_of_raters)


def places(
    statistic: str, names: Sequence[str], *, by_length: bool = False
) -> tuple[tuple[int, dict[str, str]], ...]:
    """The indices of a statistic's values with their keys.

    A row has these keys in addition to those of its group.

    >>> [(n, *one.values()) for n, one in places("win_rate", ["a", "b"])]
    [(0, 'a', 'b'), (1, 'b', 'a')]
    """
    k = len(names)
    words = (LONGER, SHORTER)
    if not statistic.startswith("win_rate"):
        if not by_length:
            return tuple((n, {"system": name}) for n, name in enumerate(names))
        return tuple(
            (m * k + n, {"system": name, LENGTH: word})
            for m, word in enumerate(words)
            for n, name in enumerate(names)
        )
    first, second = (side.tolist() for side in pair_members(2 * k if by_length else k))
    ordered = [*zip(first, second, strict=True), *zip(second, first, strict=True)]
    positions = []
    for (a, b), n in sorted((two, n) for n, two in enumerate(ordered)):
        if not by_length:
            positions.append((n, {"system": names[a], "rival": names[b]}))
        elif (a < k) != (
            b < k
        ) and a % k != b % k:  # a longer one meets shorter ones only, and never itself
            positions.append(
                (n, {"system": names[a % k], "rival": names[b % k], LENGTH: words[a // k]})
            )
    return tuple(positions)


def statistic_of(name: str, n_systems: int, steps: int) -> VoteStatistic:
    """The formula of a win statistic; strict ones count the outermost labels alone."""
    threshold = steps if name.endswith("_strict") else 1
    make = head_to_head if name.startswith("win_rate") else system_against_others
    return make(n_systems, steps, SCORES[name], threshold)


def _wins(context: Context, member: Member, n_systems: int, people: bool) -> Iterator[Row]:
    votes, resampling = member.votes, context.resampling
    chosen = statistic_of(context.analysis.statistic, votes.n_systems, votes.steps)
    if context.analysis.test == "none":
        chosen = replace(chosen, terms=None)
    draws = resampling.draws
    preference = preferences(
        votes,
        [chosen],
        draws=draws,
        key=context.key,
        level=resampling.level,
        mode=context.analysis.mode,
    )[0]
    for n, value_keys in member.rows:
        keys = {**member.keys, **value_keys}
        if not np.isfinite(preference.intervals.value[n]) and keys.get(LENGTH):
            continue  # a system that never had the longer answer has no such row
        yield from value_rows(context, keys, preference, n, people and n_systems > 1, member.raters)


def worth_rows(context: Context, member: Member, people: bool) -> Iterator[Row]:
    """Log worths with two-way intervals, and the ratio to the best.

    The bootstrap and the model's own intervals are reported, too.
    """
    votes, analysis, level = member.votes, context.analysis, context.resampling.level
    chosen = design(votes.n_systems, votes.steps, MODELS[analysis.statistic])
    cells = totals(votes)
    fitted, statistic = fit(cells, chosen), worths(cells, chosen)
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
    best = ratios_to_best(fitted.log_worths, fitted.covariance, level=level)
    both = [statistic, against_reference(statistic, best.best)]
    draws = context.resampling.draws
    log, gap = preferences(
        votes, both, draws=draws, key=context.key, level=level, mode=analysis.mode
    )
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
        two, item, rater, by_item, model_estimate = (
            _limited(estimate) for estimate in (*ways, by_item, model_estimate)
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
                EstimateSummary(_ratio(headline, best, gap, n, alone)),
                kind="companion",
            ),
            log,
            n,
        )


def _limited(estimate: Estimate) -> Estimate:
    """A log worth without limits that have no width or are too far apart.

    Beyond that distance no ratio is informative.
    """
    if estimate.reason or not math.isfinite(estimate.low):
        return estimate
    low, high, reason = worth_limits(estimate.low, estimate.high)
    return replace(
        estimate, low=low, high=high, method=estimate.method if not reason else "", reason=reason
    )


def _ratio(headline: Estimate, best: Ratios, gap: Preference, n: int, alone: bool) -> Estimate:
    """A worth over the best one's, with the headline's kind of interval.

    It is the interval of their difference, covariance included.
    """
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
    low, high, reason = ratio_limits(low, high)
    reason = message("the reference", message_id="worths.reference") if n == best.best else reason
    return replace(
        headline, value=float(best.value[n]), low=low, high=high, se=math.nan, reason=reason
    )


def _exp(ends: Array, n: int) -> float:
    return float(np.exp(ends[n]))
