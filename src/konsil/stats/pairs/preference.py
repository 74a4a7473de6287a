"""Preference statistics of one set of votes with intervals and tests on the same resamples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import Literal

import numpy as np

from konsil.stats.engine.cluster_sums import prepare
from konsil.stats.engine.contract import Array, IntArray
from konsil.stats.engine.resample import bootstrap, jackknife
from konsil.stats.inference import intervals
from konsil.stats.inference.joint import joint_p
from konsil.stats.inference.permutation import flips_and_max_t
from konsil.stats.pairs.two_way_clusters import Crossed, covariance, crossed
from konsil.stats.pairs.vote_flips import SAMPLED, Unit, VoteFlips, vote_flips
from konsil.stats.pairs.votes import MANY, Clusterings, Votes, cell_counts, clusterings, totals
from konsil.stats.pairs.wins import VoteStatistic

Mode = Literal["valid", "paper"]

RESAMPLED = 30_000_000_000
"""From this product of cells, questions and draws on, nothing is resampled: several seconds or
more."""

WIDE = 30_000_000
"""From this product of cells and draws on, nothing is resampled either."""


TOGETHER = 200
"""Up to this many p values are adjusted together."""

_ROUNDING = 1e-12
"""The rounding error of 1 - level."""


@dataclass(frozen=True, eq=False)
class Bootstrap:
    """The question-cluster bootstrap of each value; arrays have the shape (m,)."""

    low: Array
    """Lower end."""
    high: Array
    """Upper end."""
    n_undefined: IntArray
    """Resamples in which the value was undefined; counted and excluded."""
    draws: int
    """The number of resamples."""
    method: Literal["bca", "percentile"]
    """The method of the interval."""


@dataclass(frozen=True, eq=False)
class Preference:
    """One statistic's values with their intervals and tests."""

    name: str
    """The statistic."""
    intervals: Crossed
    """Values, and their intervals by question, by rater and two-way; the two-way one is the
    headline."""
    bootstrap: Bootstrap | None
    """The alternative interval by question; None where resampling would take very long, or was not
    requested."""
    flips: VoteFlips | None
    """The permutation test; None where the values do not change sign with winner and loser, or
    nothing is tested."""
    p_family: Array
    """(m,) the flips' p, max-T adjusted over all tested values of the same call; nan otherwise."""
    p_joint: Array
    """(m,) the two-way p, adjusted over the same by their two-way correlations; nan otherwise."""


def preferences(
    votes: Votes,
    statistics: Sequence[VoteStatistic],
    *,
    draws: int = 10_000,
    key: int = 0,
    level: float = 0.95,
    mode: Mode = "valid",
    family: Sequence[str] | None = None,
    counts: Clusterings | None = None,
) -> list[Preference]:
    """Several statistics of the same votes, on the same resamples of questions and the same signs.

    valid: BCa over questions, flips of whole questions. paper: percentiles over questions, flips of
    single comparisons, whose type I error is too high where comparisons share questions or raters.
    `family` names the statistics whose p values are adjusted together; None: all that are tested.
    draws = 0 resamples nothing and tests nothing. `counts`: those of `clusterings`, if known.

    >>> from konsil.stats.pairs.votes import votes
    >>> from konsil.stats.pairs.wins import system_against_others
    >>> made = votes(
    ...     [0] * 6,
    ...     [1] * 6,
    ...     [1, 1, 0, -1, 1, 1],
    ...     [0, 1, 2, 3, 4, 5],
    ...     [0, 0, 1, 1, 2, 2],
    ...     n_systems=2,
    ... )
    >>> preferences(made, [system_against_others(2)], draws=100)[0].flips.p
    array([0.375, 0.375])
    """
    tally = Tally(votes, statistics, () if family is None else family, counts)
    return surveys([tally], draws=draws, key=key, level=level, mode=mode)[0]


@dataclass(frozen=True, eq=False)
class Tally:
    """Votes and the statistics that are computed from them."""

    votes: Votes
    """The votes."""
    statistics: Sequence[VoteStatistic]
    """The statistics."""
    family: Sequence[str] = ()
    """The statistics whose p values are adjusted together; empty: all that are tested."""
    counts: Clusterings | None = None
    """Those of `clusterings`, where they are known."""

    def tested(self, statistic: VoteStatistic) -> bool:
        """Whether flips test a statistic."""
        return statistic.terms is not None and self.votes.n_votes > 0


def surveys(
    tallies: Sequence[Tally],
    *,
    draws: int = 10_000,
    key: int = 0,
    level: float = 0.95,
    mode: Mode = "valid",
) -> list[list[Preference]]:
    """Many sets of votes on the same questions, such as criteria, arms or strata.

    The questions are resampled once and flipped once for all sets. The numbers are those of
    `preferences` of each set by itself; each set has its own family of tests.
    """
    unit: Unit = "question" if mode == "valid" else "comparison"
    boots = _bootstraps(tallies, draws, key, level, mode)
    results: list[list[Preference]] = []
    for tally, resampled in zip(tallies, boots, strict=True):
        tally_results = []
        counts = clusterings(tally.votes) if tally.counts is None else tally.counts
        large = tally.votes.n_questions > MANY
        for statistic, boot in zip(tally.statistics, resampled, strict=True):
            flips = None
            if draws and tally.tested(statistic):
                flips = vote_flips(
                    tally.votes,
                    statistic,
                    unit=unit,
                    draws=draws,
                    key=key,
                    sample=False,
                    counts=counts if large else None,
                )
            values = crossed(tally.votes, statistic, level=level, counts=counts)
            nothing = np.full(len(values.value), np.nan)
            tally_results.append(Preference(statistic.name, values, boot, flips, nothing, nothing))
        results.append(
            _jointly(tally_results, tally, counts, key) if mode == "valid" else tally_results
        )
    _test(results, tallies, draws, key)
    return results


def _jointly(
    results: list[Preference], tally: Tally, counts: Clusterings, key: int
) -> list[Preference]:
    """The preferences of one set of votes with the two-way p values of its family adjusted.

    The adjustment uses the correlations of the estimates.
    """
    family = [
        n
        for n, result in enumerate(results)
        if result.flips is not None and result.name in (tally.family or [result.name])
    ]
    if not family or sum(len(results[n].p_joint) for n in family) > TOGETHER:
        return results
    spread, df = covariance(tally.votes, [tally.statistics[n] for n in family], counts)
    adjusted = joint_p(
        np.concatenate([results[n].intervals.two_way.p for n in family]), spread, df, key=key
    )
    for n in family:
        results[n], adjusted = (
            replace(results[n], p_joint=adjusted[: len(results[n].p_joint)]),
            adjusted[len(results[n].p_joint) :],
        )
    return results


def _test(results: list[list[Preference]], tallies: Sequence[Tally], draws: int, key: int) -> None:
    """Fill in the p values by sampled flips, and those adjusted within each family.

    Both use the same signs.
    """
    places = [
        (i, j)
        for i, tally_results in enumerate(results)
        for j, result in enumerate(tally_results)
        if result.flips is not None
    ]
    together: dict[int, list[tuple[int, int]]] = {}
    # Statistics with as many clusters share their random signs and are tested in one pass.
    for i, j in places:  # in paper mode each set of votes flips comparisons of its own
        together.setdefault(
            len(results[i][j].flips.differences),  # type: ignore[union-attr]
            [],
        ).append((i, j))
    for members in together.values():
        tests = [f for i, j in members if (f := results[i][j].flips) is not None]
        # More random signs than this would take minutes: p stays undefined.
        if draws * sum(t.differences.size for t in tests) > SAMPLED:
            continue
        values = np.concatenate([results[i][j].intervals.value for i, j in members])
        differences = np.where(
            np.isfinite(values), np.concatenate([t.differences for t in tests], axis=1), np.nan
        )
        families = np.concatenate(
            [
                np.full(
                    t.differences.shape[1],
                    i if results[i][j].name in (tallies[i].family or [results[i][j].name]) else -1,
                )
                for (i, j), t in zip(members, tests, strict=True)
            ]
        )
        p_known = np.concatenate([t.p for t in tests])
        p, adjusted = flips_and_max_t(
            differences, draws=draws, key=key, p=p_known, families=families
        )
        at = np.cumsum([0, *(t.differences.shape[1] for t in tests)])
        for (i, j), t, (start, stop) in zip(members, tests, pairwise(at), strict=True):
            results[i][j] = replace(
                results[i][j], flips=replace(t, p=p[start:stop]), p_family=adjusted[start:stop]
            )


def _bootstraps(
    tallies: Sequence[Tally], draws: int, key: int, level: float, mode: Mode
) -> list[list[Bootstrap | None]]:
    """Each statistic's bootstrap; sets with equally many questions are resampled together."""
    out: list[list[Bootstrap | None]] = [[None] * len(tally.statistics) for tally in tallies]
    together: dict[int, list[int]] = {}
    for n, tally in enumerate(tallies):
        if draws and _resampled(tally.votes, draws) and tally.statistics:
            together.setdefault(tally.votes.n_questions, []).append(n)
    method: Literal["bca", "percentile"] = "bca" if mode == "valid" else "percentile"
    for members in together.values():
        parts = [_used(tallies[n].votes) for n in members]
        starts = np.cumsum([0, *(len(used) for _, used in parts)])
        finalise = partial(
            _values, [tallies[n] for n in members], [used for _, used in parts], starts
        )
        # Not by `infer`, which would take numerical derivatives: the cells have their own.
        rows = prepare(
            np.hstack([counts for counts, _ in parts]) if len(parts) > 1 else parts[0][0]
        )
        ordered = intervals.order_parts(
            (
                bootstrap(rows, finalise, draws=min(rows.group, draws - at), key=key, start=at)
                for at in range(0, draws, rows.group)
            ),
            draws,
        )
        if method == "bca":
            low, high = intervals.bca(
                ordered, finalise(rows.total), jackknife(rows, finalise), level=level
            )
        else:
            low, high = intervals.percentile(ordered, level=level)
        at = 0
        for n in members:
            for m, statistic in enumerate(tallies[n].statistics):
                part = slice(at, at := at + statistic.support.shape[1])
                out[n][m] = Bootstrap(
                    low[part], high[part], ordered.n_undefined[part], draws, method
                )
    return out


def _resampled(votes: Votes, draws: int) -> bool:
    """Whether resampling is worth its time."""
    cells = float(votes.n_cells) * draws
    return (
        cells <= WIDE
        and cells * votes.n_questions <= RESAMPLED
        and votes.n_questions > 1
        and votes.n_votes > 0
    )


def _used(votes: Votes) -> tuple[Array, IntArray]:
    """Counts of the cells that occur, and which cells these are.

    The other cells are excluded from the products with the weights.
    """
    used = np.flatnonzero(totals(votes))
    counts: Array = cell_counts(votes, votes.questions, votes.n_questions)
    return counts[:, used], used


def _values(
    tallies: Sequence[Tally], used: Sequence[IntArray], starts: IntArray, totals: Array
) -> Array:
    """All statistics of all sets of votes, from the totals of the cells that occur; (..., m)."""
    out = []
    for tally, cells, start in zip(tallies, used, starts[:-1], strict=True):
        full_totals = np.zeros((*totals.shape[:-1], tally.votes.n_cells))
        full_totals[..., cells] = totals[..., start : start + len(cells)]
        out += [s.finalise(full_totals) for s in tally.statistics]
    return np.concatenate(out, axis=-1)


def disagree(low: float, high: float, p: float, level: float) -> bool:
    """Whether an interval excludes zero and a test does not reject zero, or the other way round.

    False where a number is nan.

    >>> disagree(-0.8, -0.1, 0.062, 0.95), disagree(-0.8, 0.1, 0.062, 0.95)
    (True, False)
    """
    is_defined = np.isfinite([low, high, p]).all()
    return bool(is_defined and (low > 0 or high < 0) != (p <= 1 - level + _ROUNDING))
