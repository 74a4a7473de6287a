"""Preference statistics of one set of votes, each with its intervals and tests, all on the same resamples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from konsil.stats import intervals
from konsil.stats.contract import Array, IntArray
from konsil.stats.crossed import Crossed, crossed
from konsil.stats.permutation import max_t
from konsil.stats.resample import bootstrap, jackknife
from konsil.stats.rows import prepare
from konsil.stats.vote_flips import Unit, VoteFlips, vote_flips
from konsil.stats.votes import Votes, cell_counts
from konsil.stats.wins import VoteStatistic

Mode = Literal["valid", "paper"]

RESAMPLED = 200_000_000_000
"""Cells times questions times draws from which on nothing is resampled: half a minute or more."""

WIDE = 30_000_000
"""Cells times draws from which on the same holds."""

WIDER, FEW_RATERS, FEW_QUESTIONS, THIN = 1.1, 30, 50, 5
"""From where on raters widen the interval; below how many raters, questions, comparisons of a pair little is known."""


@dataclass(frozen=True, eq=False)
class Bootstrap:
    """The question-cluster bootstrap of each value; arrays have the shape (m,)."""

    low: Array
    """Lower end."""
    high: Array
    """Upper end."""
    n_undefined: IntArray
    """Draws in which the value was undefined; counted and left out."""
    draws: int
    """How many draws there were."""
    method: Literal["bca", "percentile"]
    """How the interval was made of them."""


@dataclass(frozen=True, eq=False)
class Preference:
    """One statistic's values with all that is known of their uncertainty."""

    name: str
    """The statistic."""
    found: Crossed
    """Values, and their intervals by question, by rater and two-way; the two-way one is the headline."""
    bootstrap: Bootstrap | None
    """By question, beside it; None where resampling would take very long, or was not asked for."""
    flips: VoteFlips | None
    """Their test; None where the values do not change sign with winner and loser, or nothing is tested."""
    p_family: Array
    """(m,) max-T adjusted over all values of all statistics of the same call that are tested; nan otherwise."""


def preferences(
    made: Votes,
    statistics: Sequence[VoteStatistic],
    *,
    draws: int = 10_000,
    key: int = 0,
    level: float = 0.95,
    mode: Mode = "valid",
    family: Sequence[str] | None = None,
) -> list[Preference]:
    """Several statistics of the same votes, on the same draws of questions and the same signs.

    valid: BCa over questions, flips of whole questions. paper: percentiles over questions, flips of single comparisons,
    whose type-I error is too high where comparisons share questions or raters. `family` names the statistics whose
    p values are adjusted together; None: all that are tested. draws = 0 resamples nothing and tests nothing.

    >>> from konsil.stats.votes import votes
    >>> from konsil.stats.wins import one_against_rest
    >>> made = votes([0] * 6, [1] * 6, [1, 1, 0, -1, 1, 1], [0, 1, 2, 3, 4, 5], [0, 0, 1, 1, 2, 2], n_systems=2)
    >>> preferences(made, [one_against_rest(2)], draws=100)[0].flips.p
    array([0.375, 0.375])
    """
    boots = _bootstraps(made, statistics, draws, key, level, mode)
    unit: Unit = "question" if mode == "valid" else "comparison"
    found = []
    for statistic, boot in zip(statistics, boots, strict=True):
        tested = draws > 0 and statistic.terms is not None and made.n_votes > 0
        flips = vote_flips(made, statistic, unit=unit, draws=draws, key=key) if tested else None
        values = crossed(made, statistic, level=level)
        found.append(Preference(statistic.name, values, boot, flips, np.full(len(values.value), np.nan)))
    return _with_family(found, [s.name for s in statistics] if family is None else family, draws, key)


def _with_family(found: list[Preference], names: Sequence[str], draws: int, key: int) -> list[Preference]:
    members = [n for n, one in enumerate(found) if one.name in names and one.flips is not None]
    columns = [found[n].flips.differences for n in members]  # type: ignore[union-attr]
    if not columns or draws * columns[0].size * len(columns) > RESAMPLED:
        return found
    values = np.concatenate([found[n].found.value for n in members])
    adjusted = max_t(np.where(np.isfinite(values), np.concatenate(columns, axis=1), np.nan), draws=draws, key=key)
    at = np.cumsum([0, *(c.shape[1] for c in columns)])
    for n, start, stop in zip(members, at[:-1], at[1:], strict=True):
        found[n] = replace(found[n], p_family=adjusted[start:stop])
    return found


def _bootstraps(
    made: Votes, statistics: Sequence[VoteStatistic], draws: int, key: int, level: float, mode: Mode
) -> list[Bootstrap | None]:
    cost = float(made.n_cells) * made.n_questions * draws
    if (
        not draws
        or cost > RESAMPLED
        or made.n_cells * draws > WIDE
        or made.n_questions < 2
        or not made.n_votes
        or not statistics
    ):
        return [None] * len(statistics)
    method: Literal["bca", "percentile"] = "bca" if mode == "valid" else "percentile"
    sums = cell_counts(made, made.questions, made.n_questions)
    widths = [s.support.shape[1] for s in statistics]

    def finalise(cell_totals: Array) -> Array:
        return np.concatenate([s.finalise(cell_totals) for s in statistics], axis=-1)

    # Not by `infer`, which would take numerical derivatives: the cells have their own.
    rows = prepare(sums)
    ordered = intervals.order(bootstrap(rows, finalise, draws=draws, key=key))
    if method == "bca":
        low, high = intervals.bca(ordered, finalise(rows.total), jackknife(rows, finalise), level=level)
    else:
        low, high = intervals.percentile(ordered, level=level)
    out: list[Bootstrap | None] = []
    for stop, width in zip(np.cumsum(widths), widths, strict=True):
        part = slice(stop - width, stop)
        out.append(Bootstrap(low[part], high[part], ordered.n_undefined[part], draws, method))
    return out


@dataclass(frozen=True)
class VoteCaution:
    """Something a reader of the intervals should know."""

    code: Literal["raters-matter", "few-raters", "few-questions", "thin-pairs", "rivals-not-met"]
    """What it is; `analysis` makes the sentence."""
    numbers: tuple[float, ...]
    """What the sentence names."""


def vote_cautions(one: Preference, index: int) -> tuple[VoteCaution, ...]:
    """What to say beside a value: raters that widen the interval, few raters, few questions.

    The limits are what the coverage simulations support (docs/coverage.md).
    """
    found: list[VoteCaution] = []
    if not np.isfinite(one.found.value[index]):
        return ()
    both, alone = one.found.two_way, one.found.question
    width, narrow = both.high[index] - both.low[index], alone.high[index] - alone.low[index]
    if narrow > 0 and width / narrow > WIDER:
        found.append(VoteCaution("raters-matter", (float(width / narrow) - 1,)))
    raters, questions = int(one.found.n_raters[index]), int(one.found.n_questions[index])
    if raters < FEW_RATERS:
        found.append(VoteCaution("few-raters", (raters, FEW_RATERS)))
    if questions < FEW_QUESTIONS:
        found.append(VoteCaution("few-questions", (questions, FEW_QUESTIONS)))
    if one.found.n_thinnest[index] < THIN:
        found.append(VoteCaution("thin-pairs", (float(one.found.n_thinnest[index]),)))
    return tuple(found)
