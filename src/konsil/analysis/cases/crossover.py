"""Whether the order of two systems reverses as cases are told with less, and how sure that is."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from konsil.analysis.cases.degradation import by_system, right
from konsil.analysis.cases.ladders import Ladder, ladder
from konsil.analysis.estimation.estimate import EstimateSummary
from konsil.analysis.estimation.measure import Measure, quotient
from konsil.analysis.estimation.rows.result_rows import row
from konsil.analysis.model import verdicts
from konsil.analysis.model.context import Context
from konsil.analysis.model.message import TranslatableMessage, message
from konsil.analysis.model.options import CaseOptions
from konsil.analysis.model.rows import Row
from konsil.analysis.model.terms import pair_of
from konsil.analysis.table.frame import RatingTable
from konsil.stats.cases.degradation import reversal, unanimous_interval
from konsil.stats.engine.arithmetic import ratio
from konsil.stats.engine.contract import Array, Estimate
from konsil.stats.inference import infer


@dataclass(frozen=True)
class Pair:
    """Two systems level by level."""

    names: tuple[str, str]
    """Whose they are: first minus second."""
    value: Array
    """(n_levels,) how much more of the cases the first has right."""
    low: Array
    """The intervals' lower ends, held for all levels together."""
    high: Array
    """Their upper ends."""
    n_clusters: int
    """Cases with an answer of both."""
    n_ratings: int
    """Labels used."""
    n_units: int
    """Answers with a score."""
    n_raters: int
    """Raters with a label."""

    @property
    def used(self) -> Measure:
        """What was used, for the table."""
        return Measure(np.zeros((1, 1)), quotient, (), self.n_units, self.n_raters, self.n_ratings)


def crossover_rows(context: Context, table: RatingTable) -> Iterator[Row]:
    """For every two systems the reversal of their order, and their difference at each level."""
    levels = context.analysis.options_as(CaseOptions).levels
    frames = by_system(context, table)
    others: dict[tuple[tuple[str, str], ...], dict[str, Ladder]] = {}
    for keys, part in frames:
        rest = tuple((k, v) for k, v in keys.items() if k != "system")
        others.setdefault(rest, {})[keys["system"]] = ladder(context, part, levels)
    for rest, ladders in others.items():
        for a, b in combinations(sorted(ladders), 2):
            pair = _pair(context, (a, b), ladders[a], ladders[b])
            yield from _rows(context, dict(rest), pair)


def _pair(context: Context, names: tuple[str, str], a: Ladder, b: Ladder) -> Pair:
    cases = sorted(set(a.cases) & set(b.cases))
    first, second = (right(context, x.scores[[x.cases.index(c) for c in cases]]) for x in (a, b))
    gap = first - second
    is_finite = np.isfinite(gap)
    n_levels = gap.shape[1]
    if not is_finite.any():
        nothing = np.full(n_levels, np.nan)
        return Pair(names, nothing, nothing, nothing, 0, 0, 0, 0)
    sums = np.concatenate([np.where(is_finite, gap, 0.0), is_finite.astype(np.float64)], axis=1)

    def finalise(totals: Array) -> Array:
        n = totals[..., n_levels:]
        return ratio(totals[..., :n_levels], n)

    # Each level at a share of the error: all of them hold together with the level asked for
    # (Bonferroni).
    each = 1 - (1 - context.resampling.level) / n_levels
    simultaneous = infer.infer(
        sums, finalise, draws=context.resampling.draws, level=each, key=context.key
    )
    alike = unanimous_interval(simultaneous.value, is_finite.sum(axis=0), each)
    # Where all cases agree the bootstrap has no width: exact limits take its place.
    flat = ~(simultaneous.low < simultaneous.high)
    low, high = (
        np.where(flat, b, x)
        for x, b in zip((simultaneous.low, simultaneous.high), alike, strict=True)
    )
    n_units = int(np.isfinite(a.scores).sum() + np.isfinite(b.scores).sum())
    return Pair(
        names,
        simultaneous.value,
        low,
        high,
        simultaneous.n_clusters,
        a.n_ratings + b.n_ratings,
        n_units,
        max(a.n_raters, b.n_raters),
    )


def _rows(context: Context, rest: dict[str, str], pair: Pair) -> Iterator[Row]:
    a, b = pair.names
    levels = context.analysis.options_as(CaseOptions).levels
    level = context.resampling.level
    value, (ahead, early, late) = reversal(pair.value, pair.value)
    low, sure = reversal(pair.low, pair.high)
    high, _ = reversal(pair.high, pair.low)
    method = message(
        (
            "simultaneous CIs of {n} levels (Bonferroni), {cluster}-cluster bootstrap, BCa,"
            " {draws:,} resamples"
        ),
        message_id="method.levels_at_once",
        n=len(levels),
        cluster=context.cluster,
        draws=context.resampling.draws,
    )
    reason = (
        ""
        if math.isfinite(value)
        else message("an information level has no case answered by both systems")
    )
    headline = Estimate(
        value,
        low,
        high,
        level,
        n_clusters=pair.n_clusters,
        n_ratings=pair.n_ratings,
        method=method,
        reason=reason,
    )
    first, second = (a, b) if ahead == 0 else (b, a)
    if verdicts.is_crossover(low):
        early, late = sure[1:]
        first, second = (a, b) if sure[0] == 0 else (b, a)
    finding = _finding(value, low, first, second, levels[early], levels[late])
    group = {"systems": pair_of(a, b), **rest}
    yield row(
        context, group, EstimateSummary(headline, notes=(finding,)), pair.used, finding=finding
    )
    for n, name in enumerate(levels):
        estimate = Estimate(
            float(pair.value[n]),
            float(pair.low[n]),
            float(pair.high[n]),
            level,
            n_clusters=pair.n_clusters,
            n_ratings=pair.n_ratings,
            method=method,
        )
        keys, versus = ({"system": system, **rest, "level": name} for system in (a, b))
        yield row(
            context, keys, EstimateSummary(estimate), pair.used, kind="difference", versus=versus
        )


def _finding(
    value: float, low: float, first: str, second: str, early: str, late: str
) -> TranslatableMessage:
    if not math.isfinite(value):
        return message("Rank reversal of {a} and {b}: not estimable.", a=first, b=second)
    if verdicts.is_crossover(low):
        return message(
            "Rank reversal: {a} leads at {early}, {b} at {late}; both simultaneous CIs exclude 0.",
            message_id="crossover.shown",
            a=first,
            b=second,
            early=early,
            late=late,
        )
    if value > 0:
        return message(
            "Rank reversal not shown: {a} leads at {early} and {b} at {late}, but at least"
            " one of the two simultaneous CIs includes 0.",
            message_id="crossover.not_shown",
            a=first,
            b=second,
            early=early,
            late=late,
        )
    return message(
        ("No rank reversal observed: {a} and {b} keep the same order at every information level."),
        message_id="crossover.none",
        a=first,
        b=second,
    )
