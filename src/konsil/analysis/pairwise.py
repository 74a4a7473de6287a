"""Preference statistics of a study: win differences, win rates, margins and worths, one row a system or two systems."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from konsil.analysis.ballots import Ballot, as_jury, ballot_of, longer_first, names_in
from konsil.analysis.catalogue import LENGTH
from konsil.analysis.coding import groups
from konsil.analysis.estimate import Told
from konsil.analysis.frame import Long
from konsil.analysis.kinds import Context
from konsil.analysis.preference import Lineage
from konsil.analysis.results import Row
from konsil.analysis.rows import row
from konsil.analysis.said import Said, say
from konsil.analysis.standings import sentence
from konsil.stats.contract import Array, Estimate
from konsil.stats.crossed import Interval, crossed
from konsil.stats.preference import Preference, preferences, vote_cautions
from konsil.stats.ratios import against_reference, model_interval, ratios_to_best
from konsil.stats.votes import Votes, pair_members, totals
from konsil.stats.wins import Score, VoteStatistic, head_to_head, one_against_rest
from konsil.stats.worth_designs import Model, design
from konsil.stats.worths import fit, worths

SCORES: Mapping[str, Score] = {
    "win_difference": "difference",
    "win_difference_strict": "difference",
    "win_rate": "win",
    "win_rate_strict": "win",
    "margin": "margin",
}
"""What a vote counts in each statistic."""

MODELS: Mapping[str, Model] = {"davidson": "davidson", "bradley_terry": "bradley_terry"}


@dataclass(frozen=True)
class Member:
    """One group of an analysis: its keys, its votes, and which row each value has."""

    keys: dict[str, str]
    votes: Votes
    rows: tuple[tuple[int, dict[str, str]], ...]
    """Which value of the statistic, and the row's further keys."""


def pair_rows(context: Context, table: Long, frame: pl.DataFrame, families: Lineage) -> Iterator[Row]:
    """One row a system (or two systems, for win rates) in every group, with its intervals beside it."""
    analysis = context.analysis
    people = any(families.judges[r].kind == "human" for r in frame.get_column("rater").unique().to_list())
    for keys, ballot in voted(context, frame):
        if LENGTH in analysis.by and not longer_first(ballot, table)[1].any():
            why = say("the lengths of the answers are not known")
            yield row(context, keys, Told(Estimate(math.nan, level=context.resampling.level, reason=why)))
            continue
        member = members(context, table, keys, ballot)
        if analysis.statistic in MODELS:
            yield from _worths(context, member, people)
        else:
            yield from _wins(context, member, len(ballot.systems), people)


def voted(context: Context, frame: pl.DataFrame) -> Iterator[tuple[dict[str, str], Ballot]]:
    """The comparisons of each group of an analysis, a jury's as one vote each."""
    analysis = context.analysis
    systems, clusters = names_in(context, frame)
    for keys, part in groups(frame, [c for c in analysis.by if c != LENGTH]):
        ballot = ballot_of(context, part, systems, clusters)
        yield keys, as_jury(ballot, analysis.raters) if analysis.consensus == "mean" else ballot


def members(context: Context, table: Long, keys: dict[str, str], ballot: Ballot) -> Member:
    """The group's votes; by length every system is two, the longer and the shorter one of a comparison."""
    by_length = LENGTH in context.analysis.by
    made = ballot.votes
    if by_length:
        is_longer, known = longer_first(ballot, table)
        made = ballot.of(known, by_length=is_longer)
    return Member(keys, made, places(context.analysis.statistic, ballot.systems, by_length=by_length))


def places(statistic: str, names: Sequence[str], *, by_length: bool = False) -> tuple[tuple[int, dict[str, str]], ...]:
    """Which of a statistic's values is whose: its number and the keys that a row of it has beside those of its group.

    >>> [(n, *one.values()) for n, one in places("win_rate", ["a", "b"])]
    [(0, 'a', 'b'), (1, 'b', 'a')]
    """
    k = len(names)
    words = (say("longer"), say("shorter"))
    if not statistic.startswith("win_rate"):
        if not by_length:
            return tuple((n, {"system": name}) for n, name in enumerate(names))
        return tuple((m * k + n, {"system": name, LENGTH: word})
                     for m, word in enumerate(words) for n, name in enumerate(names))  # fmt: skip
    first, second = (side.tolist() for side in pair_members(2 * k if by_length else k))
    ordered = [*zip(first, second, strict=True), *zip(second, first, strict=True)]
    found = []
    for (a, b), n in sorted((two, n) for n, two in enumerate(ordered)):
        if not by_length:
            found.append((n, {"system": names[a], "rival": names[b]}))
        elif (a < k) != (b < k) and a % k != b % k:  # a longer one meets shorter ones only, and never itself
            found.append((n, {"system": names[a % k], "rival": names[b % k], LENGTH: words[a // k]}))
    return tuple(found)


def statistic_of(name: str, n_systems: int, steps: int) -> VoteStatistic:
    """The formula of a win statistic; strict ones count the outermost labels alone."""
    threshold = steps if name.endswith("_strict") else 1
    make = head_to_head if name.startswith("win_rate") else one_against_rest
    return make(n_systems, steps, SCORES[name], threshold)


def _wins(context: Context, member: Member, n_systems: int, people: bool) -> Iterator[Row]:
    made, resampling = member.votes, context.resampling
    chosen = statistic_of(context.analysis.statistic, made.n_systems, made.steps)
    if context.analysis.test == "none":
        chosen = replace(chosen, terms=None)
    draws = resampling.draws
    found = preferences(
        made, [chosen], draws=draws, key=context.key, level=resampling.level, mode=context.analysis.mode
    )[0]
    for n, own in member.rows:
        keys = {**member.keys, **own}
        if not np.isfinite(found.found.value[n]) and keys.get(LENGTH):
            continue  # a system that never had the longer answer has no such row
        yield from value_rows(context, keys, found, n, people and n_systems > 1)


def value_rows(context: Context, keys: dict[str, str], found: Preference, n: int, people: bool) -> Iterator[Row]:
    """The headline and what stands beside it, each as a row."""
    analysis, at = context.analysis, found.found
    two, item, rater = (_estimate(context, found, n, way) for way in ("two-way", "item", "rater"))
    by_item = _resampled(context, found, n, item)
    if not math.isfinite(at.value[n]):
        why = say("no comparison of the two") if "rival" in keys else say("no comparison with another system")
        told = Told(Estimate(math.nan, level=context.resampling.level, reason=why))
        yield _counted(row(context, keys, told), found, n)
        return
    alone = not people or at.n_raters[n] < 2
    if analysis.mode == "paper":
        headline, others = by_item, [two]
    elif analysis.cluster == "rater":
        headline, others = rater, [two]
    elif alone:  # of a single rater, or of models, no other raters are in question
        headline, others = by_item, [item]
    else:
        headline, others = two, [by_item, rater]
    if analysis.test == "flip" and found.flips is not None:
        headline = replace(headline, p=float(found.flips.p[n]))
    notes = [sentence(c) for c in vote_cautions(found, n) if not (alone and "raters" in c.code)]
    yield _counted(row(context, keys, Told(headline, notes=tuple(notes))), found, n)
    for other in others:
        if math.isfinite(other.low) and other.method != headline.method:
            p = float(found.p_family[n]) if other is by_item else math.nan
            yield replace(_counted(row(context, keys, Told(other), kind="companion"), found, n), p_adjusted=p)


def _counted(made: Row, found: Preference, n: int) -> Row:
    of = found.found
    estimate = replace(made.estimate, n_ratings=int(of.n_votes[n]), n_clusters=int(of.n_questions[n]))
    return replace(made, estimate=estimate, n_units=int(of.n_questions[n]), n_raters=int(of.n_raters[n]))


def _estimate(context: Context, found: Preference, n: int, way: str) -> Estimate:
    """A linearised interval as an estimate; p only where zero means something."""
    by: dict[str, Interval] = {"two-way": found.found.two_way, "item": found.found.question, "rater": found.found.rater}
    one, df = by[way], int(by[way].df[n])
    known = math.isfinite(one.low[n]) and one.se[n] > 0
    return Estimate(
        float(found.found.value[n]),
        float(one.low[n]) if known else math.nan,
        float(one.high[n]) if known else math.nan,
        context.resampling.level,
        float(one.se[n]),
        float(one.p[n]) if found.flips is not None else math.nan,
        method=_method(context, way, df) if known else "",
        reason="" if known else say("one item, one rater or comparisons that all say the same have no interval"),
    )


def _method(context: Context, way: str, df: int) -> Said:
    if way == "two-way":
        return say(
            "linearised two-way Wald ({cluster} and rater), t with {df} degrees of freedom",
            cluster=context.cluster,
            df=df,
        )
    cluster = context.cluster if way == "item" else say("rater")
    return say("linearised {cluster}-cluster Wald, t with {df} degrees of freedom", cluster=cluster, df=df)


def _resampled(context: Context, found: Preference, n: int, item: Estimate) -> Estimate:
    """The bootstrap by item with the flips' p, or the linearised interval where nothing was resampled."""
    p = math.nan if found.flips is None else float(found.flips.p[n])
    boot = found.bootstrap
    if boot is None or not boot.high[n] > boot.low[n]:
        return replace(item, p=p)
    if boot.method == "bca":
        method = say("{cluster}-cluster bootstrap, BCa, {draws:,} resamples", cluster=context.cluster, draws=boot.draws)
    else:
        method = say(
            "{cluster}-cluster bootstrap, percentiles, {draws:,} resamples", cluster=context.cluster, draws=boot.draws
        )
    return replace(
        item,
        low=float(boot.low[n]),
        high=float(boot.high[n]),
        p=p,
        n_undefined=int(boot.n_undefined[n]),
        method=_tested(method, found, n, boot.draws),
        reason="",
    )


def _tested(method: Said, found: Preference, n: int, draws: int) -> Said:
    """The interval's method with that of its p value, where there is one."""
    if found.flips is None or not math.isfinite(found.flips.p[n]):
        return method
    together, exact = found.flips.unit == "question", found.flips.how[n] == "exact"
    if together and exact:
        return say("{method}; p: all comparisons of an item change sides together, exact", method=method)
    if together:
        return say(
            "{method}; p: all comparisons of an item change sides together, {flips:,} flips", method=method, flips=draws
        )
    if exact:
        return say("{method}; p: single comparisons change sides, exact", method=method)
    return say("{method}; p: single comparisons change sides, {flips:,} flips", method=method, flips=draws)


def _worths(context: Context, member: Member, people: bool) -> Iterator[Row]:
    """Log worths with two-way intervals, the model's own interval beside them, and the ratio to the best below."""
    made, level = member.votes, context.resampling.level
    chosen = design(made.n_systems, made.steps, MODELS[context.analysis.statistic])
    cells = totals(made)
    fitted, statistic = fit(cells, chosen), worths(cells, chosen)
    if fitted.why:
        for _, keys in member.rows:
            yield row(context, {**member.keys, **keys}, Told(Estimate(math.nan, level=level, reason=_why(fitted.why))))
        return
    best = ratios_to_best(fitted.log_worths, fitted.covariance, level=level)
    log = preferences(made, [statistic], draws=0, level=level)[0]
    gaps = crossed(made, against_reference(statistic, best.best), level=level)
    model = model_interval(fitted.log_worths, fitted.covariance, level=level)
    alone = not people or made.n_raters < 2
    for n, own_keys in member.rows:
        keys = {**member.keys, **own_keys}
        way = "item" if alone else "rater" if context.analysis.cluster == "rater" else "two-way"
        headline = _estimate(context, log, n, way)
        own = replace(
            headline,
            low=float(model[0][n]),
            high=float(model[1][n]),
            se=math.sqrt(fitted.covariance[n, n]),
            method=say("by the model's information, votes taken as independent"),
        )
        notes = [sentence(c) for c in vote_cautions(log, n) if not (alone and "raters" in c.code)]
        if n == best.best and math.isfinite(fitted.log_tie):
            notes.append(say("Tie parameter: {d:.3f}.", d=math.exp(fitted.log_tie)))
        yield _counted(row(context, keys, Told(headline, notes=tuple(notes))), log, n)
        yield _counted(row(context, keys, Told(own), kind="companion"), log, n)
        gap = gaps.question if alone else gaps.two_way
        ratio = replace(
            headline,
            value=float(best.value[n]),
            low=math.nan if n == best.best else _exp(gap.low, n),
            high=math.nan if n == best.best else _exp(gap.high, n),
            se=math.nan,
            reason=say("the reference") if n == best.best else "",
        )
        version = {**keys, "version": say("ratio to the best")}
        yield _counted(row(context, version, Told(ratio), kind="companion"), log, n)


def _why(why: str) -> str:
    """Why worths are undefined, as a sentence that has a German form."""
    known = (
        say("there are no comparisons"),
        say("there is no tie, so that ties have no parameter; Bradley and Terry's model needs none"),
        say("every comparison is a tie"),
        say("some systems were never compared with the others, not even by way of third ones"),
        say("some systems lost to none of the others, directly or by way of third ones"),
        say("no comparison goes against the order of the others, so that the worths have no bounds"),
        say("the likelihood's maximum was not found"),
    )
    return next((one for one in known if one == why), why)


def _exp(ends: Array, n: int) -> float:
    return float(np.exp(ends[n]))
