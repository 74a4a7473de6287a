"""Preference statistics of a study: win differences, win rates, margins and worths.

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
from konsil.analysis.model.rows import Row
from konsil.analysis.model.terms import LONGER, SHORTER
from konsil.analysis.pairs.pair_estimates import counting_ratings, value_rows
from konsil.analysis.pairs.votes import (
    Ballot,
    Member,
    ballot_of,
    jury_votes,
    longer_first,
    names_in,
    ratings_of,
    with_known_raters,
)
from konsil.analysis.pairs.worth_rows import worth_rows
from konsil.analysis.table.encoding import groups
from konsil.analysis.table.frame import RatingTable
from konsil.analysis.table.lineage import Lineage
from konsil.errors.message import message
from konsil.stats.engine.contract import Estimate
from konsil.stats.pairs.preference import preferences
from konsil.stats.pairs.votes import pair_members
from konsil.stats.pairs.wins import Score, VoteStatistic, head_to_head, system_against_others

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
    votes, ratings = ballot.votes, ballot.ratings
    number = np.arange(votes.n_votes)
    if by_length:
        is_longer, has_lengths = longer_first(ballot, table)
        votes = ballot.of(has_lengths, by_length=is_longer)
        number = np.where(has_lengths, np.cumsum(has_lengths) - 1, -1)
    if ratings is not None:
        place = number[ratings.get_column("vote").to_numpy()]
        ratings = ratings.filter(pl.Series(place >= 0)).with_columns(
            pl.Series("pair", votes.pairs[place[place >= 0]])
        )
    rows = places(context.analysis.statistic, ballot.systems, by_length=by_length)
    names = ballot.names_of_raters if context.has_known_raters else ("",)
    return Member(keys, with_known_raters(context, votes), rows, names, ratings)


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
        of_people = people and n_systems > 1
        ratings = ratings_of(member.ratings, chosen.support[:, n])
        for value_row in value_rows(context, keys, preference, n, of_people, member.raters):
            yield counting_ratings(value_row, ratings)
