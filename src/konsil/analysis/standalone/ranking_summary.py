"""One system's standing among the others as plain data, and what a reader must know of it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from konsil.analysis.model.catalogue.limits import Mode
from konsil.analysis.model.message import TranslatableMessage, listed, message
from konsil.analysis.model.verdicts import p_words
from konsil.analysis.pairs.vote_methods import undefined_worths, votes_method
from konsil.analysis.pairs.vote_sentences import (
    no_interval,
    ratio_limits,
    sentence,
    worth_limits,
)
from konsil.analysis.tabular.votes_table import Comparisons
from konsil.stats.pairs.bradley_terry_davidson import fit, worths
from konsil.stats.pairs.preference import Preference, disagree
from konsil.stats.pairs.ratios import against_reference, ratios_to_best
from konsil.stats.pairs.two_way_clusters import Crossed, Interval, crossed
from konsil.stats.pairs.vote_cautions import (
    VoteCaution,
    is_about_these,
    is_dominated,
    vote_cautions,
)
from konsil.stats.pairs.votes import Clusterings, pair_members, totals
from konsil.stats.pairs.wins import mean_preference
from konsil.stats.pairs.worth_designs import Model, Ties, design

_EXPONENT = 700.0
"""Beyond it a double's exponential overflows."""

_BY_ITEM = "cluster-robust Wald (item-clustered)"
"""What a linearised interval by item is called."""

MATRIX = 40
"""Up to this many systems every two of them are reported."""


def standing(preference: Preference, n: int, mode: Mode, level: float) -> dict[str, Any]:
    """One value with its intervals and tests.

    The two-way interval first, in paper mode that of items.

    Outside of paper mode no interval by item is reported with flips that contradict it: the
    linearised interval replaces the bootstrap's, and there is none where it contradicts them, too.
    """
    two, by_item, by_rater = (
        preference.intervals.two_way,
        preference.intervals.question,
        preference.intervals.rater,
    )
    value = float(preference.intervals.value[n])
    boot = preference.bootstrap
    item = _interval(by_item, n, "item", _BY_ITEM)
    if (
        boot is not None
        and (mode == "paper" or by_item.method[n] == "wald")
        and boot.high[n] > boot.low[n]
    ):
        item = {
            "low": _finite_or_none(boot.low[n]),
            "high": _finite_or_none(boot.high[n]),
            "method": (
                f"item-cluster bootstrap, {'BCa' if boot.method == 'bca' else boot.method},"
                f" {boot.draws:,} resamples"
            ),
            "n_undefined": int(boot.n_undefined[n]),
        }
    if mode == "valid" and _contradicts(preference, n, item, level):
        item = _interval(by_item, n, "item", _BY_ITEM)
        if _contradicts(preference, n, item, level):
            reason = message(
                (
                    "the item-clustered CI and the permutation test lead to different"
                    " conclusions about zero; only the p value of the test is reported"
                ),
                message_id="comparisons.item_interval_and_flips",
            )
            item = {"low": None, "high": None, "method": "", "reason": reason}
    two_way = _interval(two, n, "two-way", two_way_method(float(two.df[n])))
    head, other = (two_way, {"item": item}) if mode == "valid" else (item, {"two_way": two_way})
    if preference.intervals.n_raters[n] == 1 and item["low"] is not None:
        head = {**item, "method": _about_this(item["method"])}
    out: dict[str, Any] = {
        "value": _finite_or_none(value),
        "low": head["low"],
        "high": head["high"],
        "se": _finite_or_none((by_item if head is not two_way else two).se[n]) or None,
        "method": head["method"],
    }
    if preference.flips is not None:
        out |= {
            "p": (
                _finite_or_none((two if mode == "valid" else by_item).p[n])
                if mode == "valid"
                else _finite_or_none(preference.flips.p[n])
            ),
            "p_family": _finite_or_none(preference.p_joint[n])
            if mode == "valid"
            else _finite_or_none(preference.p_family[n]),
            "p_flip": _finite_or_none(preference.flips.p[n]),
            "flips": (
                f"whole "
                f"{'item' if preference.flips.unit == 'question' else preference.flips.unit}s,"
                f" {preference.flips.method[n]}"
            ),
        }
    out |= other
    out["rater"] = _interval(by_rater, n, "rater", "cluster-robust Wald (rater-clustered)")
    out |= {
        "n_comparisons": int(preference.intervals.n_votes[n]),
        "n_items": int(preference.intervals.n_questions[n]),
        "n_raters": int(preference.intervals.n_raters[n]),
        "reason": _reason(
            value, head["low"], dominated=mode == "valid" and is_dominated(preference.intervals, n)
        ),
    }
    return out


def _contradicts(preference: Preference, n: int, interval: Mapping[str, Any], level: float) -> bool:
    return (
        preference.flips is not None
        and interval["low"] is not None
        and disagree(interval["low"], interval["high"], float(preference.flips.p[n]), level)
    )


def about_these(n_raters: int) -> TranslatableMessage:
    """The method of intervals by item where no other raters are in question."""
    if n_raters == 1:
        return _about_this(_BY_ITEM)
    return message("{way}, about these raters", message_id="comparisons.about_these", way=_BY_ITEM)


def _about_this(way: str) -> TranslatableMessage:
    """A method by item where there is a single rater."""
    return message("{way}, for this rater", message_id="comparisons.about_this", way=way)


def two_way_method(df: float) -> str:
    """How a two-way interval is made, in words; empty where it has no degree of freedom."""
    return (
        f"two-way cluster-robust Wald (item and rater), t with {df:.3g} degrees of freedom"
        if df >= 1
        else ""
    )


def _interval(interval: Interval, n: int, way: str, linearised: str) -> dict[str, Any]:
    """An interval without resamples as plain data.

    `linearised` is what the linearised one is called.
    """
    kind, df = str(interval.method[n]), float(interval.df[n])
    if kind != "wald":
        method = str(votes_method("item", way, kind, df)) if math.isfinite(interval.low[n]) else ""
        return {
            "low": _finite_or_none(interval.low[n]),
            "high": _finite_or_none(interval.high[n]),
            "method": method,
        }
    if interval.se[n] == 0 or not math.isfinite(interval.low[n]):
        return {"low": None, "high": None, "method": ""}
    return {
        "low": _finite_or_none(interval.low[n]),
        "high": _finite_or_none(interval.high[n]),
        "method": linearised,
    }


def _reason(value: float, low: float | None, *, dominated: bool) -> str:
    if not math.isfinite(value):
        return "never compared"
    return "" if low is not None else no_interval(dominated=dominated)


def worths_of(
    table: Comparisons,
    model: Model,
    ties: Ties,
    threshold: int,
    level: float,
    counts: Clusterings,
) -> dict[str, Any]:
    """A model's log worths with two-way intervals, their ratios to the best, and its parameters."""
    votes, k = table.votes, len(table.systems)
    chosen = design(k, votes.steps, model, ties, threshold)
    cells = totals(votes)
    fitted = fit(cells, chosen)
    statistic = worths(cells, chosen)
    best = ratios_to_best(fitted.log_worths, fitted.covariance, level=level)
    log = crossed(votes, statistic, level=level, counts=counts)
    against = against_reference(statistic, max(best.best, 0))
    gaps = crossed(votes, against, level=level, counts=counts)
    # Every comparison concerns every worth, so that one rater dominates all of them or none.
    alone = len(log.value) > 0 and is_about_these(log, 0)
    way, gap = (log.question, gaps.question) if alone else (log.two_way, gaps.two_way)
    rows = []
    for n, name in enumerate(table.systems):
        reference = n == best.best
        low, high, reason = worth_limits(float(way.low[n]), float(way.high[n]))
        ends = (math.exp(min(float(end[n]), _EXPONENT)) for end in (gap.low, gap.high))
        ratio_low, ratio_high, ratio_reason = ratio_limits(*ends)
        undefined = undefined_worths(fitted.reason)
        reason, ratio_reason = undefined or reason, undefined or ratio_reason
        rows.append(
            {
                "system": name,
                "log_worth": _finite_or_none(fitted.log_worths[n]),
                "se": _finite_or_none(way.se[n]) or None,
                "low": _finite_or_none(low),
                "high": _finite_or_none(high),
                "reason": reason,
                "se_model": _finite_or_none(math.sqrt(fitted.covariance[n, n])),
                "ratio_to_best": _finite_or_none(best.value[n]),
                "ratio_low": None if reference else _finite_or_none(ratio_low),
                "ratio_high": None if reference else _finite_or_none(ratio_high),
                "ratio_reason": message("the reference", message_id="worths.reference")
                if reference
                else ratio_reason,
                "ratio_low_model": _finite_or_none(best.low[n]),
                "ratio_high_model": _finite_or_none(best.high[n]),
            }
        )
    out: dict[str, Any] = {
        "worths": rows,
        "best": table.systems[best.best] if best.best >= 0 else None,
    }
    if model == "davidson":
        out["tie"] = _finite_or_none(math.exp(fitted.log_tie))
    out["covariance"] = None if fitted.reason else fitted.covariance.tolist()
    method = about_these(len(table.raters)) if alone else two_way_method(float(way.df[0]))
    return out | {"method": method, "reason": undefined_worths(fitted.reason)}


def mean_preferences(table: Comparisons, level: float) -> list[dict[str, Any]]:
    """The mean preference for each system against each other; none where outcomes are labels.

    The interval is two-way (items and raters), with one rater by item.
    """
    if table.preferences is None:
        return []
    k, names = len(table.systems), table.systems
    statistic = mean_preference(k, table.preferences.sides)
    values = crossed(table.preferences.votes, statistic, level=level)
    first, second = (side.tolist() for side in pair_members(k))
    rows = []
    for n, (system, rival) in enumerate(zip(first + second, second + first, strict=True)):
        alone = is_about_these(values, n)
        way = values.question if alone else values.two_way
        method = (
            about_these(int(values.n_raters[n]))
            if alone
            else two_way_method(float(values.two_way.df[n]))
        )
        interval = _interval(way, n, "item" if alone else "two-way", method)
        rows.append(
            {
                "system": names[system],
                "rival": names[rival],
                "value": _finite_or_none(values.value[n]),
                **interval,
                "se": _finite_or_none(way.se[n]) or None,
                "n_comparisons": int(values.n_votes[n]),
                "n_items": int(values.n_questions[n]),
                "n_raters": int(values.n_raters[n]),
                "reason": _reason(values.value[n], interval["low"], dominated=False),
            }
        )
    return rows


def position(shown: Crossed) -> dict[str, Any]:
    """The win difference of whatever stood in the first column."""
    two, alone = shown.two_way, is_about_these(shown, 0)
    interval = _interval(two, 0, "two-way", two_way_method(float(two.df[0])))
    if alone:
        method = about_these(int(shown.n_raters[0]))
        interval = _interval(shown.question, 0, "item", method)
    return {
        "value": _finite_or_none(shown.value[0]),
        "low": interval["low"],
        "high": interval["high"],
        "se": _finite_or_none((shown.question if alone else two).se[0]) or None,
        "p": _finite_or_none(two.p[0]),
        "method": interval["method"],
    }


def _disagreements(
    systems: Sequence[str], preference: Preference, mode: Mode, level: float
) -> list[str]:
    """Warnings of systems whose bootstrap by item and permutation test disagree.

    The question is whether the win difference is zero.
    """
    boot, flips = preference.bootstrap, preference.flips
    if boot is None or flips is None:
        return []
    at = [
        n
        for n in range(len(systems))
        if disagree(boot.low[n], boot.high[n], float(flips.p[n]), level)
    ]
    if not at:
        return []
    names = listed([f"{systems[n]} ({p_words(float(flips.p[n]))})" for n in at])
    if mode == "paper":
        return [
            message(
                (
                    "The CI and the p value are from different procedures and lead to"
                    " different conclusions about zero: {names}."
                ),
                message_id="comparisons.two_procedures",
                names=names,
            )
        ]
    return [
        message(
            (
                "The item bootstrap and the permutation test lead to different conclusions"
                " about zero: {names}. The item-clustered CI is therefore the cluster-robust"
                " Wald CI, or omitted where that differs as well."
            ),
            message_id="comparisons.disagreement",
            names=names,
        )
    ]


def warnings_of(
    table: Comparisons,
    preference: Preference,
    mode: Mode,
    level: float,
    models: tuple[Mapping[str, Any], ...],
) -> list[str]:
    """Warnings for all systems together: the extreme of each kind of caution and its systems."""
    k = len(table.systems)
    by_code: dict[str, list[tuple[VoteCaution, str]]] = {}
    for n, (name, n_rivals) in enumerate(zip(table.systems, _rivals_met(table), strict=True)):
        cautions = [
            c for c in vote_cautions(preference, n) if table.has_raters or "raters" not in c.code
        ]
        if n_rivals < k - 1:
            cautions.append(VoteCaution("rivals-not-met", (float(n_rivals), k - 1.0)))
        for caution in cautions:
            by_code.setdefault(caution.code, []).append((caution, name))
    sentences = []
    for code, members in by_code.items():
        pick = max if code in {"raters-matter", "raters-unequal", "raters-dominated"} else min
        worst = pick(members, key=lambda member: member[0].numbers[0])
        alike = len({member[0].numbers for member in members}) == 1
        others = len(members) - 1
        concerned = (
            ""
            if len(members) == k and alike
            else f" ({worst[1]}{f' most, of {others + 1} systems' * (others > 0)})"
        )
        sentences.append(f"{str(sentence(worst[0], table.raters)).removesuffix('.')}{concerned}.")
    if preference.bootstrap is None and table.votes.n_questions > 1 and table.votes.n_votes:
        sentences.append(
            "The bootstrap was omitted because of the size of the data; CIs are"
            " cluster-robust Wald CIs."
        )
    sentences += _disagreements(table.systems, preference, mode, level)
    if k > MATRIX:
        sentences.append(
            f"The matrix of pairwise win rates is omitted for more than {MATRIX} systems."
        )
    if mode == "paper":
        sentences.append(
            "Mode paper: permutation tests of single comparisons reject too often where"
            " comparisons share items or raters; they do not support conclusions."
        )
    names = ("davidson", "bradley_terry")
    return sentences + [
        f"{n}: not estimable: {m['reason']}"
        for n, m in zip(names, models, strict=True)
        if m["reason"]
    ]


def _rivals_met(table: Comparisons) -> list[int]:
    k = len(table.systems)
    compared = totals(table.votes).reshape(-1, table.votes.n_outcomes).sum(axis=1) > 0
    first, second = pair_members(k)
    return [int(compared[(first == n) | (second == n)].sum()) for n in range(k)]


def _finite_or_none(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
