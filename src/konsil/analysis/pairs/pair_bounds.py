"""Bounds of a number for missing comparisons, all of them won or all of them lost."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
import polars as pl

from konsil.analysis.model.catalogue.known import LENGTH, WINS
from konsil.analysis.model.context import Context
from konsil.analysis.pairs.pairwise import members, statistic_of
from konsil.analysis.pairs.votes import (
    Ballot,
    ballot_of,
    jury_votes,
    names_in,
    shown_first,
    steps_of,
)
from konsil.analysis.table.encoding import select
from konsil.analysis.table.frame import RatingTable
from konsil.analysis.table.lineage import OWN, Lineage
from konsil.stats.pairs.votes import Votes, totals

Range = tuple[float, float]
UNKNOWN: Range = (math.nan, math.nan)
OF_SYSTEMS = ("system", "rival", LENGTH, "version")
"""What a row is about that is no column of the ratings: a rating is about two systems."""


def concerned(absent: pl.DataFrame, group: Mapping[str, str]) -> pl.DataFrame:
    """Those of the comparisons that are about a row's system, and its rival where it names one.

    >>> frame = pl.DataFrame({"system": ["a | b", "b | c"]})
    >>> pair = {"system": "b", "rival": "c"}
    >>> concerned(frame, {"system": "a"}).height, concerned(frame, pair).height
    (1, 1)
    """
    two = pl.col("system").str.split(" | ")
    for column in ("system", "rival"):
        if column in group:
            absent = absent.filter(two.list.contains(str(group[column])))
    return absent


def pair_range(
    context: Context,
    table: RatingTable,
    families: Lineage,
    frame: pl.DataFrame,
    absent: pl.DataFrame,
    group: Mapping[str, str],
) -> Range:
    """A number's least and greatest value over all labels of the missing comparisons.

    Wins of one system, and win differences, rise with every step in its favour and depend on its
    own comparisons alone; so all of them lost, and all of them won by the scale's outermost label,
    are the ends. The part of the side and what a judge makes of its own answers follow from the
    same. Worths, rankings and agreement are not told.
    """
    statistic = context.analysis.statistic
    if statistic in WINS:
        return _ends(context, table, frame, absent, group)
    if statistic == "position_bias":
        return _side(context, table, frame, absent)
    if statistic == "self_preference":
        return _own_system_range(context, table, families, frame, absent, group)
    return UNKNOWN


def _ends(
    context: Context,
    table: RatingTable,
    frame: pl.DataFrame,
    absent: pl.DataFrame,
    group: Mapping[str, str],
) -> Range:
    values = []
    for favour in (-1, 1):
        ballot = _filled(context, frame, absent, group["system"], favour)
        if context.analysis.consensus == "mean":
            ballot = jury_votes(ballot, context.analysis.raters)
        values.append(_value(context, table, ballot, group))
    return values[0], values[1]


def _filled(
    context: Context, frame: pl.DataFrame, absent: pl.DataFrame, system: str, favour: int
) -> Ballot:
    """All comparisons, the missing ones with the outermost label for or against a system."""
    steps = steps_of(context)
    highest, least = max(steps, key=lambda w: steps[w]), min(steps, key=lambda w: steps[w])
    first = pl.col("system").str.split(" | ").list.first() == system
    filled = absent.with_columns(
        pl.lit("rated", dtype=absent.schema["state"]).alias("state"),
        pl.when(first == (favour > 0))
        .then(pl.lit(highest))
        .otherwise(pl.lit(least))
        .alias("label"),
    )
    complete = pl.concat([frame, filled.select(frame.columns)])
    systems, clusters = names_in(context, complete)
    return ballot_of(context, complete, systems, clusters)


def _value(context: Context, table: RatingTable, ballot: Ballot, group: Mapping[str, str]) -> float:
    """The row's value of these comparisons, as the analysis computes it."""
    member = members(context, table, {}, ballot)
    at = [n for n, keys in member.rows if keys.items() <= group.items()]
    return _of(member.votes, context.analysis.statistic, at[0]) if at else math.nan


def _of(votes: Votes, statistic: str, at: int) -> float:
    return float(statistic_of(statistic, votes.n_systems, votes.steps).finalise(totals(votes))[at])


def _side(context: Context, table: RatingTable, frame: pl.DataFrame, absent: pl.DataFrame) -> Range:
    """Wins minus losses of the answer shown first, over all comparisons whose side is known."""
    systems, clusters = names_in(context, frame)
    ballot = ballot_of(context, frame, systems, clusters)
    side = shown_first(ballot, table)
    n, gaps = int((side != 0).sum()), absent.height
    total = float((np.sign(ballot.outcomes) * side).sum())
    return ((total - gaps) / (n + gaps), (total + gaps) / (n + gaps)) if n + gaps else UNKNOWN


def _own_system_range(
    context: Context,
    table: RatingTable,
    families: Lineage,
    frame: pl.DataFrame,
    absent: pl.DataFrame,
    group: Mapping[str, str],
) -> Range:
    """A judge's win difference for its own system less the experts', or less its peers' mean.

    Experts have no gaps.
    """
    judge = families.judges[group["rater"]]
    system, analysis = judge.strata.get(OWN, ""), context.analysis
    names = frame.get_column("rater").unique().sort().to_list()
    peers = (
        [n for n in names if families.judges[n].family != judge.family]
        if analysis.mode == "paper"
        else []
    )

    def range_of(name: str) -> Range:
        rated, missing = (part.filter(pl.col("rater") == name) for part in (frame, absent))
        ends = []
        for favour in (-1, 1):
            ballot = _filled(context, rated, concerned(missing, {"system": system}), system, favour)
            at = ballot.systems.index(system) if system in ballot.systems else -1
            ends.append(_of(ballot.votes, "win_difference", at) if at >= 0 else math.nan)
        return ends[0], ends[1]

    low, high = range_of(judge.id)
    others = [range_of(name) for name in peers]
    if others:
        return low - float(np.mean([h for _, h in others])), high - float(
            np.mean([bound for bound, _ in others])
        )
    if analysis.mode == "paper":
        return UNKNOWN
    theirs = select(table, analysis, str(analysis.against))
    if theirs.height == 0:
        return UNKNOWN
    systems, clusters = names_in(context, theirs)
    experts = ballot_of(context, theirs, systems, clusters)
    if system not in systems:
        return UNKNOWN
    level = _of(experts.votes, "win_difference", systems.index(system))
    return low - level, high - level
