"""Which rows an analysis of pairs of answers has; in paper mode, as Real-POCQi's authors."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import polars as pl

from konsil.analysis.estimation.estimate import EstimateSummary
from konsil.analysis.estimation.rows.result_rows import row
from konsil.analysis.model.catalogue.known import LENGTH, PREFERENCE, WINS, WORTHS
from konsil.analysis.model.context import Context
from konsil.analysis.model.rows import Row
from konsil.analysis.model.terms import LONGER, SHORTER
from konsil.analysis.pairs.pair_contrasts import contrast_rows
from konsil.analysis.pairs.pair_judging import (
    choice_rows,
    correlation_rows,
    own_rows,
    position_rows,
    rank_rows,
)
from konsil.analysis.pairs.pairwise import pair_rows
from konsil.analysis.pairs.vote_sentences import two_procedures
from konsil.analysis.pairs.votes import Ballot, ballot_of, jury_votes, longer_first, names_in
from konsil.analysis.table.encoding import groups
from konsil.analysis.table.frame import RatingTable
from konsil.analysis.table.lineage import Lineage
from konsil.errors.message import TranslatableMessage, message
from konsil.stats.engine.contract import Array, Estimate, IntArray
from konsil.stats.inference.infer import infer
from konsil.stats.pairs.paired_choice_agreement import are_shared
from konsil.stats.pairs.preference import disagree
from konsil.stats.pairs.published_pairs import (
    pair_weights,
    published_agreement,
    published_tables,
    published_wins,
)
from konsil.stats.pairs.votes import Votes, pair_members

PUBLISHED = ("win_difference", "win_difference_strict", "choice_agreement", "choice_kappa")
"""The statistics that have a paper mode of their own here."""
THEME = "theme"
"""The stratum within which the authors give rivals no weights."""


def is_of_pairs(context: Context) -> bool:
    """Whether an analysis is of comparisons.

    By its statistic, or self preference on a criterion about pairs.
    """
    statistic = context.analysis.statistic
    return statistic in PREFERENCE or (
        context.criterion.scope == "pair" and statistic == "self_preference"
    )


def pair_statistics(
    context: Context, table: RatingTable, frame: pl.DataFrame, lineage: Lineage
) -> Iterator[Row]:
    """The rows of an analysis of comparisons; `frame` has its ratings."""
    statistic = context.analysis.statistic
    if context.analysis.mode == "paper" and statistic in PUBLISHED:
        yield from published_rows(context, table, frame, lineage)
    elif statistic in {*WINS, *WORTHS}:
        yield from pair_rows(context, table, frame, lineage)
        if context.analysis.compare:
            yield from contrast_rows(context, table, lineage, context.also)
    elif statistic in {"choice_agreement", "choice_kappa"}:
        yield from choice_rows(context, frame)
    elif statistic == "position_bias":
        yield from position_rows(context, table, frame, lineage)
    elif statistic == "preference_correlation":
        yield from correlation_rows(context, table, [context.criterion, *context.also])
    elif statistic == "rank_agreement":
        yield from rank_rows(context, table, frame, [context.criterion, *context.also])
    else:
        yield from own_rows(context, table, frame, lineage)


def published_rows(
    context: Context, table: RatingTable, frame: pl.DataFrame, families: Lineage
) -> Iterator[Row]:
    """One row a system in every group, or one a group for agreement."""
    if context.analysis.statistic.startswith("choice_"):
        yield from _agreement(context, frame)
        return
    analysis = context.analysis
    people = any(
        families.judges[r].kind in {"human", "unknown"}
        for r in frame.get_column("rater").unique().to_list()
    )
    systems, clusters = names_in(context, frame)
    all_comparisons = _ballot(context, frame, systems, clusters)
    weighted = people and analysis.consensus != "mean" and THEME not in analysis.by
    weights = (
        pair_weights(all_comparisons.votes) if weighted else np.ones(len(all_comparisons.first))
    )
    number = {task: n for n, task in enumerate(all_comparisons.rows.get_column("task").to_list())}
    for keys, part in groups(frame, [column for column in analysis.by if column != LENGTH]):
        ballot = _ballot(context, part, systems, clusters)
        at = np.array(
            [number[task] for task in ballot.rows.get_column("task").to_list()], dtype=np.int64
        )
        if LENGTH in analysis.by:
            yield from _by_length(context, keys, table, ballot, weights[at])
        else:
            yield from _wins(context, keys, ballot, ballot.votes, weights[at], range(len(systems)))


def _ballot(
    context: Context, frame: pl.DataFrame, systems: tuple[str, ...], clusters: tuple[str, ...]
) -> Ballot:
    ballot = ballot_of(context, frame, systems, clusters)
    return (
        jury_votes(ballot, context.analysis.raters)
        if context.analysis.consensus == "mean"
        else ballot
    )


def _by_length(
    context: Context, keys: dict[str, str], table: RatingTable, ballot: Ballot, weights: Array
) -> Iterator[Row]:
    """Rows of the comparisons where a system had the longer answer, and the shorter."""
    is_longer, has_lengths = longer_first(ballot, table)
    for word, flag in ((LONGER, True), (SHORTER, False)):
        for n in range(len(ballot.systems)):
            # Of this system alone: its rival in the same comparison had the other length.
            of_length = ((ballot.first == n) & (is_longer == flag)) | (
                (ballot.second == n) & (is_longer != flag)
            )
            chosen = has_lengths & of_length
            if chosen.any():
                yield from _wins(
                    context, {**keys, LENGTH: word}, ballot, ballot.of(chosen), weights[chosen], [n]
                )


def _wins(
    context: Context,
    keys: dict[str, str],
    ballot: Ballot,
    all_votes: Votes,
    weights: Array,
    systems: range | list[int],
) -> Iterator[Row]:
    analysis, resampling = context.analysis, context.resampling
    by_rater = analysis.cluster == "rater"
    first, second = pair_members(all_votes.n_systems)
    for n in systems:
        # The questions (or raters) of a system's own comparisons are resampled, as for a report of
        # that system alone.
        of_system = (first[all_votes.pairs] == n) | (second[all_votes.pairs] == n)
        if not of_system.any():
            reason = message("no comparison with another system")
            yield row(
                context,
                {**keys, "system": ballot.systems[n]},
                EstimateSummary(Estimate(math.nan, level=resampling.level, reason=reason)),
            )
            continue
        votes = all_votes.only(of_system)
        wins = published_wins(
            votes,
            weights[of_system],
            votes.raters if by_rater else votes.questions,
            threshold=votes.steps if analysis.statistic.endswith("_strict") else 1,
            tested=analysis.test != "none",
            draws=resampling.draws,
            level=resampling.level,
            key=context.key,
        )
        estimate = Estimate(
            float(wins.value[n]),
            float(wins.low[n]),
            float(wins.high[n]),
            resampling.level,
            math.nan,
            float(wins.p[n]),
            len(np.unique(votes.raters if by_rater else votes.questions)),
            votes.n_votes,
            int(wins.n_undefined[n]),
            _method(context, resampling.draws, tested=math.isfinite(float(wins.p[n]))),
        )
        notes = (
            (two_procedures(estimate.p),)
            if disagree(estimate.low, estimate.high, estimate.p, resampling.level)
            else ()
        )
        made_row = row(
            context, {**keys, "system": ballot.systems[n]}, EstimateSummary(estimate, notes=notes)
        )
        yield _counted(made_row, votes)


def _counted(estimate_row: Row, votes: Votes) -> Row:
    return replace(
        estimate_row, n_units=len(np.unique(votes.questions)), n_raters=len(np.unique(votes.raters))
    )


def _method(context: Context, draws: int, *, tested: bool) -> TranslatableMessage:
    cluster = message("rater") if context.analysis.cluster == "rater" else context.cluster
    if not tested:
        return message(
            "as published: {cluster} bootstrap, percentiles, {draws:,} resamples, fixed pair"
            " weights",
            message_id="published.percentiles",
            cluster=cluster,
            draws=draws,
        )
    return message(
        (
            "as published: {cluster} bootstrap, percentiles, {draws:,} resamples, fixed pair"
            " weights; p: systems exchanged in single comparisons of every resample"
        ),
        message_id="published.percentiles_and_flips",
        cluster=cluster,
        draws=draws,
    )


def _agreement(context: Context, frame: pl.DataFrame) -> Iterator[Row]:
    """Agreement within one step, or kappa, of every two raters of one comparison and arm.

    The earlier one is first.
    """
    systems, clusters = names_in(context, frame)
    value = 1 if context.analysis.statistic == "choice_kappa" else 0
    resampling = context.resampling
    for keys, part in groups(frame, context.analysis.by):
        ballot = ballot_of(context, part, systems, clusters)
        arms = _numbers(ballot.rows.get_column("arm"))
        votes = ballot.votes.only(are_shared(ballot.votes, arms))
        sums = published_tables(ballot.votes, arms)
        sums = sums[sums.any(axis=1)]
        if not len(sums):
            reason = message("no two raters compared the same two answers")
            yield row(
                context,
                keys,
                EstimateSummary(Estimate(math.nan, level=resampling.level, reason=reason)),
            )
            continue
        agreement = infer(
            sums,
            published_agreement,
            draws=resampling.draws,
            level=resampling.level,
            key=context.key,
            method="percentile",
        )
        estimate = Estimate(
            float(agreement.value[value]),
            float(agreement.low[value]),
            float(agreement.high[value]),
            resampling.level,
            float(agreement.se[value]),
            n_clusters=agreement.n_clusters,
            n_ratings=votes.n_votes,
            n_undefined=int(agreement.n_undefined[value]),
            method=message(
                (
                    "as published: raters and sides in the given order, item bootstrap,"
                    " percentiles, {draws:,} resamples"
                ),
                message_id="published.agreement",
                draws=resampling.draws,
            ),
        )
        yield _counted(row(context, keys, EstimateSummary(estimate)), votes)


def _numbers(column: pl.Series) -> IntArray:
    return column.fill_null("").rank("dense").to_numpy().astype(np.int64)
