"""Comparisons of every two systems on case means: effect sizes, rank tests, reversed orders."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
import polars as pl

from konsil.analysis.cases.degradation import by_system, right
from konsil.analysis.cases.ladders import Ladder, ladder
from konsil.analysis.estimation.estimate import EstimateSummary
from konsil.analysis.estimation.interval_rules import without_limits
from konsil.analysis.estimation.measure import Measure, quotient
from konsil.analysis.estimation.rows.result_rows import differences_of, row
from konsil.analysis.model import verdicts
from konsil.analysis.model.context import Context
from konsil.analysis.model.options import CaseOptions
from konsil.analysis.model.rows import Row
from konsil.analysis.model.terms import pair_of
from konsil.analysis.table.answer_scores import scores
from konsil.analysis.table.encoding import groups, select
from konsil.analysis.table.frame import RatingTable
from konsil.errors.message import TranslatableMessage, message
from konsil.stats.cases import effects
from konsil.stats.cases.degradation import reversal, unanimous_interval
from konsil.stats.engine.contract import Array, Estimate
from konsil.stats.inference import infer


def effect_rows(context: Context, table: RatingTable) -> Iterator[Row]:
    """For every two systems, criterion by criterion, Cohen's d and a rank test.

    valid: of the cases' means, paired by case, with interval and p value of one procedure; beside
    it the rank tests, paired (Wilcoxon) and unpaired (Mann-Whitney).
    paper: of all single scores as if they were independent; a composite score is taken apart into
    those of its criteria.
    """
    is_naive = context.analysis.mode == "paper"
    for criterion_context in each_criterion(context):
        analysis = criterion_context.analysis
        frame = (
            _single_scores(criterion_context, table)
            if is_naive
            else select(table, analysis, analysis.raters)
        )
        for keys, part in groups(frame, analysis.by):
            named = {**keys, "criterion": criterion_context.criterion.id} if context.also else keys
            by = {k["system"]: p for k, p in groups(part, ["system"])}
            for a, b in combinations(sorted(by), 2):
                make = _naive if is_naive else _paired
                yield from make(
                    criterion_context, {**named, "system": a}, {**named, "system": b}, by[a], by[b]
                )


def _single_scores(context: Context, table: RatingTable) -> pl.DataFrame:
    """One row a score of each rater: a composite's criteria one by one, as they were published."""
    composite = table.composites.get(context.criterion.id)
    criteria = (context.criterion,) if composite is None else composite.parts.get("", ())
    parts = []
    for each in map(context.of, criteria):
        frame = select(table, each.analysis, each.analysis.raters)
        parts.append(scores(each, frame, "rater"))
    return pl.concat(parts)


def each_criterion(context: Context) -> Iterator[Context]:
    """The context of each criterion of an analysis, alone."""
    for criterion in (context.criterion, *context.also):
        yield replace(context, also=()).of(criterion)


def _case_means(context: Context, frame: pl.DataFrame) -> dict[str, float]:
    answer_scores = scores(context, frame).group_by("case").agg(pl.col("score").mean())
    return dict(answer_scores.iter_rows())


def _paired(
    context: Context, keys: dict[str, str], versus: dict[str, str], a: pl.DataFrame, b: pl.DataFrame
) -> Iterator[Row]:
    means = [_case_means(context, part) for part in (a, b)]
    # The cases of both systems: one that a system lacks has no difference, but a mean.
    cases = sorted(set(means[0]) | set(means[1]))
    first, second = (np.array([m.get(c, np.nan) for c in cases]) for m in means)
    gap = first - second
    n = a.height + b.height
    shared = Measure(
        effects.moments(gap),
        effects.paired_d,
        tuple(cases),
        int(np.isfinite(gap).sum()),
        max(p.get_column("rater").n_unique() for p in (a, b)),
        n,
    )
    sums = np.concatenate([effects.moments(first), effects.moments(second)], axis=1)
    undefined_reason = message("the case means do not vary, or there are too few")
    [summary] = differences_of(context, [shared])
    paired = summary.headline
    if not math.isfinite(paired.value):
        paired = replace(paired, reason=undefined_reason)
    elif paired.method:
        method = message(
            "paired d of case means, {interval}",
            message_id="method.paired_d",
            interval=paired.method,
        )
        paired = replace(paired, method=method)
    yield row(
        context,
        keys,
        EstimateSummary(paired, cautions=summary.cautions),
        shared,
        kind="difference",
        versus=versus,
    )
    # The rank test of a standardised difference is another procedure than that of its interval,
    # and the two could contradict each other in one row.
    w, p = effects.signed_rank(gap)
    u, p_unpaired = effects.rank_sum(first, second)
    unpaired = float(effects.cohen_d(sums.sum(axis=0))[0])
    n_cases = int(np.isfinite(gap).sum())
    for d, p_of_ranks, n_ranked, test in (
        (
            paired.value,
            p,
            n_cases,
            message(
                "paired d of case means, without CI; Wilcoxon's signed ranks, W = {w:g}",
                message_id="method.signed_rank",
                w=w,
            ),
        ),
        (
            unpaired,
            p_unpaired,
            len(cases),
            message(
                "Cohen's d of case means, unpaired, without CI; Mann-Whitney, U = {u:g}",
                message_id="method.unpaired_d",
                u=u,
            ),
        ),
    ):
        if math.isfinite(p_of_ranks):
            reason = "" if math.isfinite(d) else undefined_reason
            estimate = replace(
                without_limits(paired, reason),
                value=d,
                p=p_of_ranks,
                n_clusters=n_ranked,
                n_undefined=0,
                method=test,
            )
            yield row(
                context, keys, EstimateSummary(estimate), shared, kind="companion", versus=versus
            )


def _naive(
    context: Context, keys: dict[str, str], versus: dict[str, str], a: pl.DataFrame, b: pl.DataFrame
) -> Iterator[Row]:
    first, second = (part.get_column("score").to_numpy() for part in (a, b))
    totals = np.concatenate([effects.moments(x).sum(axis=0) for x in (first, second)])
    d = float(effects.cohen_d(totals)[0])
    u, p = effects.rank_sum(first, second)
    n = len(first) + len(second)
    method = message(
        "Cohen's d of all scores, treated as independent, without CI; Mann-Whitney, U = {u:g}",
        message_id="method.naive_d",
        u=u,
    )
    reason = (
        ""
        if math.isfinite(d)
        else message("all scores of both systems are identical, or there are too few")
    )
    naive_estimate = Estimate(
        d,
        level=context.resampling.level,
        p=p,
        n_clusters=n,
        n_ratings=n,
        method=method,
        reason=reason,
    )
    note = message(
        "The test treats {n:,} clustered scores as independent; its p value is too small.",
        message_id="cases.clustered_scores",
        n=n,
    )
    yield row(
        context,
        keys,
        EstimateSummary(naive_estimate, notes=(note,)),
        kind="difference",
        versus=versus,
    )


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
    sums = np.stack([np.where(is_finite, gap, 0.0), is_finite.astype(np.float64)], axis=2)
    # Each level at a share of the error: all of them hold together with the level asked for
    # (Bonferroni).
    each = 1 - (1 - context.resampling.level) / n_levels
    # Level by level: each has its own number of cases.
    estimates = [
        infer.infer(of_level, quotient, draws=context.resampling.draws, level=each, key=context.key)
        for of_level in sums.transpose(1, 0, 2)
    ]
    n_clusters = int(is_finite.any(axis=1).sum())
    limits = [
        (infer.jackknife_interval(e) or e) if n_clusters < infer.FEW_CLUSTERS else e
        for e in estimates
    ]
    value = np.concatenate([e.value for e in estimates])
    alike = unanimous_interval(value, is_finite.sum(axis=0), each)
    # Where all cases agree neither interval has a width: exact limits take its place.
    ends = [np.concatenate(parts) for parts in zip(*((e.low, e.high) for e in limits), strict=True)]
    flat = ~(ends[0] < ends[1])
    # Differences of two proportions: t of very few cases would reach beyond them.
    low, high = (np.where(flat, b, np.clip(x, -1, 1)) for x, b in zip(ends, alike, strict=True))
    n_units = int(np.isfinite(a.scores).sum() + np.isfinite(b.scores).sum())
    return Pair(
        names,
        value,
        low,
        high,
        n_clusters,
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
    if pair.n_clusters < infer.FEW_CLUSTERS:
        method = message(
            "simultaneous CIs of {n} levels (Bonferroni), {cluster}-cluster jackknife, t",
            message_id="method.levels_by_jackknife",
            n=len(levels),
            cluster=context.cluster,
        )
    else:
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
