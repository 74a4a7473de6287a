"""One value of comparisons as rows: its headline, and the other intervals and tests beside it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

import polars as pl

from konsil.analysis.estimation.estimate import EstimateSummary
from konsil.analysis.estimation.rows.result_rows import row
from konsil.analysis.model.context import Context
from konsil.analysis.model.rows import Row
from konsil.analysis.pairs.vote_methods import conditional, votes_method
from konsil.analysis.pairs.vote_sentences import (
    no_interval,
    sentence,
    two_procedures,
    why_no_interval,
)
from konsil.errors.message import TranslatableMessage, message
from konsil.stats.engine.contract import Estimate
from konsil.stats.inference.infer import FEW_CLUSTERS
from konsil.stats.pairs.preference import Preference, disagree
from konsil.stats.pairs.two_way_clusters import Interval
from konsil.stats.pairs.vote_cautions import is_dominated, vote_cautions


def value_rows(
    context: Context,
    keys: dict[str, str],
    preference: Preference,
    n: int,
    people: bool,
    raters: Sequence[str],
) -> Iterator[Row]:
    """The primary estimate and the alternative intervals, each as a row.

    `raters` are the raters' names by number.
    """
    analysis, at = context.analysis, preference.intervals
    two, item, rater = (
        linearised(context, preference, n, way) for way in ("two-way", "item", "rater")
    )
    by_item = resampled(context, preference, n, item)
    item, by_item = (
        conditional_on_rater(context, e, int(at.n_raters[n]), people=people)
        for e in (item, by_item)
    )
    if not math.isfinite(at.value[n]):
        reason = never_compared(is_of_two="rival" in keys)
        undefined = EstimateSummary(
            Estimate(math.nan, level=context.resampling.level, reason=reason)
        )
        yield counted(row(context, keys, undefined), preference, n)
        return
    alone = not people or at.n_raters[n] < 2
    if analysis.mode == "paper":
        headline, others = by_item, [two]
    elif analysis.cluster == "rater":
        headline, others = rater, [two]
    elif alone:  # of a single rater, or of models, no other raters are in question
        headline, others = by_item, [item]
    elif context.target == "these" or is_dominated(at, n):
        headline, others = item, [by_item, two, rater]
    else:
        headline, others = two, [by_item, rater]
    if analysis.test == "flip" and preference.flips is not None:
        headline = replace(headline, p=float(preference.flips.p[n]))
    notes = [
        sentence(c, raters)
        for c in vote_cautions(preference, n)
        if not (alone and "raters" in c.code)
    ]
    if disagree(headline.low, headline.high, headline.p, headline.level):
        notes.append(two_procedures(headline.p))
    yield counted(row(context, keys, EstimateSummary(headline, notes=tuple(notes))), preference, n)
    for other in others:
        if math.isfinite(other.low) and other.method != headline.method:
            p = (
                float(preference.p_family[n])
                if other is by_item
                and preference.flips is not None
                and other.p == preference.flips.p[n]
                else math.nan
            )
            yield replace(
                counted(
                    row(context, keys, EstimateSummary(other), kind="companion"), preference, n
                ),
                p_adjusted=p,
            )


def conditional_on_rater(
    context: Context, by_item: Estimate, n_raters: int, *, people: bool
) -> Estimate:
    """An interval by item, which names the rater, judge or jury that it is about, if it is one."""
    if not (by_item.method and context.has_known_raters and n_raters == 1):
        return by_item
    is_jury = context.analysis.consensus == "mean"
    return replace(by_item, method=conditional(by_item.method, people=people, is_jury=is_jury))


def never_compared(*, is_of_two: bool) -> TranslatableMessage:
    """Why a value of one system, or of two, is undefined."""
    if is_of_two:
        return message("no comparison of the two")
    return message("no comparison with another system")


def counted(result_row: Row, preference: Preference, n: int) -> Row:
    """A row with the comparisons, items and raters that its value is computed from."""
    of = preference.intervals
    estimate = replace(result_row.estimate, n_ratings=int(of.n_votes[n]))
    return replace(
        result_row, estimate=estimate, n_units=int(of.n_questions[n]), n_raters=int(of.n_raters[n])
    )


def counting_ratings(result_row: Row, ratings: pl.DataFrame | None) -> Row:
    """A row of votes with the items, raters and number of the single ratings behind them.

    The votes of a jury are of several ratings, those of a case of several items; `ratings` as in
    `votes.Member`, None where the votes are the ratings.
    """
    if ratings is None:
        return result_row
    return replace(
        result_row,
        n_units=ratings.get_column("item").n_unique(),
        n_raters=ratings.get_column("rater").n_unique(),
        estimate=replace(result_row.estimate, n_ratings=ratings.height),
    )


def linearised(context: Context, preference: Preference, n: int, way: str) -> Estimate:
    """A linearised interval as an estimate; p only where zero means something."""
    at = preference.intervals
    by: dict[str, Interval] = {
        "two-way": at.two_way,
        "item": at.question,
        "rater": at.rater,
    }
    interval, kind = by[way], str(by[way].method[n])
    # Where all comparisons went one way there is no variance: only the exact interval has a width.
    has_interval = math.isfinite(interval.low[n]) and (interval.se[n] > 0 or kind == "exact")
    return Estimate(
        float(at.value[n]),
        float(interval.low[n]) if has_interval else math.nan,
        float(interval.high[n]) if has_interval else math.nan,
        context.resampling.level,
        float(interval.se[n]) if interval.se[n] > 0 else math.nan,
        float(interval.p[n]) if preference.flips is not None else math.nan,
        n_clusters=int((at.n_raters if way == "rater" else at.n_questions)[n]),
        method=votes_method(context.cluster, way, kind, float(interval.df[n]))
        if has_interval
        else "",
        reason=(
            ""
            if has_interval
            else no_interval(
                why_no_interval(
                    way,
                    int(at.n_questions[n]),
                    int(at.n_raters[n]),
                    dominated=is_dominated(at, n),
                )
            )
        ),
        raters="these" if way == "item" else "like these",
    )


def resampled(context: Context, preference: Preference, n: int, item: Estimate) -> Estimate:
    """The interval of `by_bootstrap`, whose method also names that of its p value."""
    by_item = by_bootstrap(context, preference, n, item)
    if preference.bootstrap is None or by_item.method == item.method:
        return by_item
    return replace(
        by_item, method=_tested(by_item.method, preference, n, preference.bootstrap.draws)
    )


def by_bootstrap(context: Context, preference: Preference, n: int, item: Estimate) -> Estimate:
    """The bootstrap by item with the flips' p.

    The interval without resamples where there are none, and of shares.

    Where there are few items, or the two disagree about zero, outside of paper mode the linearised
    interval with the p value that it inverts.
    """
    p = math.nan if preference.flips is None else float(preference.flips.p[n])
    boot, is_share = preference.bootstrap, preference.intervals.question.method[n] == "wilson"
    if boot is None or not boot.high[n] > boot.low[n] or (is_share and boot.method == "bca"):
        return replace(item, p=p)
    has_few_items = preference.intervals.n_questions[n] < FEW_CLUSTERS
    if boot.method == "bca" and (
        has_few_items or disagree(float(boot.low[n]), float(boot.high[n]), p, item.level)
    ):
        return item
    if boot.method == "bca":
        method = message(
            "{cluster}-cluster bootstrap, BCa, {draws:,} resamples",
            message_id="method.bootstrap",
            cluster=context.cluster,
            draws=boot.draws,
        )
    else:
        method = message(
            "{cluster}-cluster bootstrap, percentiles, {draws:,} resamples",
            message_id="method.percentiles",
            cluster=context.cluster,
            draws=boot.draws,
        )
    return replace(
        item,
        low=float(boot.low[n]),
        high=float(boot.high[n]),
        p=p,
        n_undefined=int(boot.n_undefined[n]),
        method=method,
        reason="",
    )


def _tested(method: str, preference: Preference, n: int, draws: int) -> str:
    """The interval's method with that of its p value, where there is one."""
    if preference.flips is None or not math.isfinite(preference.flips.p[n]):
        return method
    together, exact = preference.flips.unit == "question", preference.flips.method[n] == "exact"
    if together and exact:
        return message(
            (
                "{method}; p: exact permutation test exchanging the systems in all comparisons"
                " of an item"
            ),
            message_id="method.flips_of_items_exact",
            method=method,
        )
    if together:
        return message(
            (
                "{method}; p: permutation test exchanging the systems in all comparisons of an"
                " item, {flips:,} permutations"
            ),
            message_id="method.flips_of_items",
            method=method,
            flips=draws,
        )
    if exact:
        return message(
            "{method}; p: exact permutation test exchanging the systems in single comparisons",
            message_id="method.flips_exact",
            method=method,
        )
    return message(
        (
            "{method}; p: permutation test exchanging the systems in single comparisons,"
            " {flips:,} permutations"
        ),
        message_id="method.flips",
        method=method,
        flips=draws,
    )
