"""One system's standing among the others as plain data, and what a reader must know of it.

The comparisons of a table are those of one panel of a study, whose analyses make all intervals.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from konsil.analysis.model.context import Context
from konsil.analysis.model.frames import finite_or_none
from konsil.analysis.model.options import CriterionRef
from konsil.analysis.model.spec import Analysis, Resampling
from konsil.analysis.model.verdicts import p_words
from konsil.analysis.pairs.pair_estimates import by_bootstrap, linearised, never_compared
from konsil.analysis.pairs.vote_methods import (
    conditional,
    penalised,
    place_of_system,
    undefined_worths,
)
from konsil.analysis.pairs.vote_sentences import sentence
from konsil.analysis.pairs.worth_rows import (
    FittedWorths,
    fitted_worths,
    limited,
    ratio_to_best,
)
from konsil.analysis.standalone.preference_request import PreferenceRequest
from konsil.analysis.tabular.votes_table import Comparisons
from konsil.errors.message import listed, message
from konsil.instrument import Criterion, Scale
from konsil.stats.engine.contract import Estimate
from konsil.stats.engine.streams import stream_key
from konsil.stats.engine.weights import Remembered
from konsil.stats.inference.infer import FEW_CLUSTERS
from konsil.stats.pairs.preference import Preference, disagree, preferences
from konsil.stats.pairs.vote_cautions import (
    VoteCaution,
    is_about_these,
    vote_cautions,
)
from konsil.stats.pairs.votes import Clusterings, Votes, pair_members, totals
from konsil.stats.pairs.wins import VoteStatistic, mean_preference
from konsil.stats.pairs.worth_designs import Model, design

MATRIX = 40
"""Up to this many systems every two of them are reported."""


def context_of(request: PreferenceRequest, *, has_raters: bool) -> Context:
    """What the analyses of a table's comparisons share, as in a study with the same ratings."""
    statistic = "win_difference_strict" if request.strict else "win_difference"
    criterion = Criterion("outcome", "", Scale(("A", "tie", "B"), level="ordinal"), scope="pair")
    return Context(
        Analysis("preference", statistic, CriterionRef("outcome"), "raters", mode=request.mode),
        criterion,
        Remembered(stream_key(request.seed, "resamples")),
        Resampling(request.resamples, request.confidence),
        target="like these",
        has_known_raters=has_raters,
    )


def standing(
    context: Context, preference: Preference, n: int, *, is_of_two: bool
) -> dict[str, Any]:
    """One value with its intervals and tests.

    The two-way interval first; in paper mode, of a single rater and of unknown ones that of items.

    Outside of paper mode no interval by item is reported with flips that contradict it.
    """
    at, is_valid = preference.intervals, context.analysis.mode == "valid"
    two, by_item, by_rater = (
        linearised(context, preference, n, way) for way in ("two-way", "item", "rater")
    )
    item = by_bootstrap(context, preference, n, by_item)
    p_flip = math.nan if preference.flips is None else float(preference.flips.p[n])
    remark: dict[str, Any] = {}
    if is_valid and disagree(item.low, item.high, p_flip, item.level):
        conflict = message(
            (
                "the item-clustered CI and the permutation test lead to different"
                " conclusions about zero; only the p value of the test is reported"
            ),
            message_id="comparisons.item_interval_and_flips",
        )
        item = replace(item, low=math.nan, high=math.nan, se=math.nan, method="", reason=conflict)
        remark = {"reason": conflict}
    elif item.method != by_item.method:
        remark = {"n_undefined": item.n_undefined}
    if at.n_raters[n] == 1:
        item = replace(item, method=item.method and about_these(context, 1, item.method))
    by_items = interval_of(item) | remark
    head, others = (two, {"item": by_items}) if is_valid else (item, {"two_way": interval_of(two)})
    if at.n_raters[n] == 1:
        head = item
    out = {"value": finite_or_none(head.value)} | with_error(head)
    if preference.flips is not None:
        unit = "item" if preference.flips.unit == "question" else preference.flips.unit
        # Of a single rater the flips alone are adjusted, as there is no other p value.
        is_by_item = not is_valid or at.n_raters[n] == 1
        adjusted = preference.p_family if is_by_item else preference.p_joint
        out |= {
            "p": finite_or_none(two.p if is_valid else p_flip),
            "p_family": finite_or_none(float(adjusted[n])),
            "p_flip": finite_or_none(p_flip),
            "flips": f"whole {unit}s, {preference.flips.method[n]}",
        }
    reason = head.reason if math.isfinite(head.value) else never_compared(is_of_two=is_of_two)
    counts = _counts(context, preference, n)
    return out | others | {"rater": interval_of(by_rater), **counts, "reason": reason}


def interval_of(estimate: Estimate) -> dict[str, Any]:
    """An interval as plain data."""
    return {
        "low": finite_or_none(estimate.low),
        "high": finite_or_none(estimate.high),
        "method": estimate.method,
    }


def with_error(estimate: Estimate) -> dict[str, Any]:
    """The same with the standard error."""
    return {
        "low": finite_or_none(estimate.low),
        "high": finite_or_none(estimate.high),
        "se": finite_or_none(estimate.se),
        "method": estimate.method,
    }


def _counts(context: Context, preference: Preference, n: int) -> dict[str, int | None]:
    at = preference.intervals
    return {
        "n_comparisons": int(at.n_votes[n]),
        "n_items": int(at.n_questions[n]),
        "n_raters": int(at.n_raters[n]) if context.has_known_raters else None,
    }


def about_these(context: Context, n_raters: int, way: str) -> str:
    """The method of an interval by item where no other raters are in question."""
    if n_raters == 1 and context.has_known_raters:
        return conditional(way)
    return message("{way}, about these raters", message_id="comparisons.about_these", way=way)


def _linearised(context: Context, preference: Preference, n: int) -> Estimate:
    """The two-way interval; by item where no other raters are in question."""
    if not is_about_these(preference.intervals, n):
        return linearised(context, preference, n, "two-way")
    by_item = linearised(context, preference, n, "item")
    n_raters = int(preference.intervals.n_raters[n])
    return replace(
        by_item, method=by_item.method and about_these(context, n_raters, by_item.method)
    )


def worths_of(
    context: Context,
    table: Comparisons,
    model: Model,
    request: PreferenceRequest,
    counts: Clusterings,
) -> dict[str, Any]:
    """A model's log worths with two-way intervals, their ratios to the best, and its parameters."""
    votes = table.votes
    threshold = votes.steps if request.strict else 1
    chosen = design(votes.n_systems, votes.steps, model, request.ties, threshold, request.penalty)
    worths = fitted_worths(context, votes, chosen, 0, counts)
    fitted, best = worths.model, worths.best
    undefined = undefined_worths(fitted.reason)
    rows: list[dict[str, Any]] = []
    # Every comparison concerns every worth, so that one rater dominates all of them or none.
    logs = [
        replace(e, method=penalised(e.method, request.penalty))
        for e in (_linearised(context, worths.log, n) for n in range(len(fitted.log_worths)))
    ]
    for system, name in enumerate(table.systems):
        place = worths.place(system)
        if place != "estimated":
            reason = place_of_system(place)
            nothing = dict.fromkeys(_WORTH)
            texts = {"method": "", "reason": reason, "ratio_reason": reason}
            rows.append({"system": name, **nothing, **texts, "place": place})
            continue
        n = worths.number(system)
        log = limited(logs[n])
        ratio = ratio_to_best(log, worths, n)
        rows.append(
            {
                "system": name,
                "log_worth": finite_or_none(log.value),
                **with_error(log),
                "reason": undefined or log.reason,
                "se_model": finite_or_none(math.sqrt(fitted.covariance[n, n])),
                "ratio_to_best": finite_or_none(ratio.value),
                "ratio_low": finite_or_none(ratio.low),
                "ratio_high": finite_or_none(ratio.high),
                "ratio_reason": undefined or ratio.reason,
                "ratio_low_model": finite_or_none(best.low[n]),
                "ratio_high_model": finite_or_none(best.high[n]),
                "place": "" if undefined else place,
            }
        )
    out: dict[str, Any] = {
        "worths": rows,
        "best": table.systems[worths.system(best.best)] if best.best >= 0 else None,
    }
    if model == "davidson":
        out["tie"] = finite_or_none(math.exp(fitted.log_tie))
    if request.penalty:
        out["penalty"] = request.penalty
        out["without_penalty"] = undefined_worths(worths.reason_alone)
    out["covariance"] = None if fitted.reason else _covariance(worths, votes.n_systems)
    return out | {"method": logs[0].method, "reason": undefined}


_WORTH = (
    "log_worth",
    "low",
    "high",
    "se",
    "method",
    "reason",
    "se_model",
    "ratio_to_best",
    "ratio_low",
    "ratio_high",
    "ratio_reason",
    "ratio_low_model",
    "ratio_high_model",
)
"""What a system has in the table of strengths; a system without an estimate has its place alone."""


def _covariance(worths: FittedWorths, n_systems: int) -> list[list[float | None]]:
    """The model's covariance of all systems; None for those without an estimate."""
    covariance = np.full((n_systems, n_systems), np.nan)
    systems = [worths.system(n) for n in range(len(worths.model.log_worths))]
    covariance[np.ix_(systems, systems)] = worths.model.covariance
    return [[finite_or_none(value) for value in line] for line in covariance.tolist()]


def mean_preferences(context: Context, table: Comparisons) -> list[dict[str, Any]]:
    """The mean preference for each system against each other; none where outcomes are labels.

    The interval is two-way (items and raters), with one rater by item.
    """
    if table.preferences is None:
        return []
    k, names = len(table.systems), table.systems
    statistic = mean_preference(k, table.preferences.sides)
    values = _without_resamples(context, table.preferences.votes, statistic)
    first, second = (side.tolist() for side in pair_members(k))
    rows = []
    for n, (system, rival) in enumerate(zip(first + second, second + first, strict=True)):
        mean = _linearised(context, values, n)
        has_value = math.isfinite(mean.value)
        rows.append(
            {
                "system": names[system],
                "rival": names[rival],
                "value": finite_or_none(mean.value),
                **with_error(mean),
                **_counts(context, values, n),
                "reason": mean.reason if has_value else never_compared(is_of_two=True),
            }
        )
    return rows


def position(context: Context, shown: Votes, statistic: VoteStatistic) -> dict[str, Any]:
    """The win difference of whatever stood in the first column."""
    values = _without_resamples(context, shown, statistic)
    bias = _linearised(context, values, 0)
    at = values.intervals
    way = at.question if is_about_these(at, 0) else at.two_way
    return {"value": finite_or_none(bias.value), **with_error(bias), "p": finite_or_none(way.p[0])}


def _without_resamples(context: Context, votes: Votes, statistic: VoteStatistic) -> Preference:
    level = context.resampling.level
    return preferences(votes, [statistic], draws=0, key=context.key, level=level)[0]


def _disagreements(context: Context, systems: Sequence[str], preference: Preference) -> list[str]:
    """Warnings of systems whose bootstrap by item and permutation test disagree.

    The question is whether the win difference is zero.
    """
    boot, flips = preference.bootstrap, preference.flips
    if boot is None or flips is None:
        return []
    # Of few items the item-clustered CI is the Wald CI in any case.
    least = 0 if context.analysis.mode == "paper" else FEW_CLUSTERS
    at = [
        n
        for n in range(len(systems))
        if preference.intervals.n_questions[n] >= least
        and disagree(boot.low[n], boot.high[n], float(flips.p[n]), context.resampling.level)
    ]
    if not at:
        return []
    names = listed([f"{systems[n]} ({p_words(float(flips.p[n]))})" for n in at])
    if context.analysis.mode == "paper":
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
    context: Context,
    table: Comparisons,
    preference: Preference,
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
    sentences += _disagreements(context, table.systems, preference)
    if k > MATRIX:
        sentences.append(
            f"The matrix of pairwise win rates is omitted for more than {MATRIX} systems."
        )
    if context.analysis.mode == "paper":
        sentences.append(
            "Mode paper: permutation tests of single comparisons reject too often where"
            " comparisons share items or raters; they do not support conclusions."
        )
    names = ("davidson", "bradley_terry")
    return sentences + [
        f"{name}: {text}"
        for name, model in zip(names, models, strict=True)
        for text in (
            [f"not estimable: {model['reason']}"] if model["reason"] else without_estimate(model)
        )
    ]


def without_estimate(model: Mapping[str, Any]) -> list[str]:
    """The systems of a model that have no estimate where others have one, with their place."""
    by_reason: dict[str, list[str]] = {}
    for entry in model["worths"]:
        if entry["place"] not in {"", "estimated"}:
            by_reason.setdefault(entry["reason"], []).append(entry["system"])
    return [f"{', '.join(systems)}: {reason}" for reason, systems in by_reason.items()]


def _rivals_met(table: Comparisons) -> list[int]:
    k = len(table.systems)
    compared = totals(table.votes).reshape(-1, table.votes.n_outcomes).sum(axis=1) > 0
    first, second = pair_members(k)
    return [int(compared[(first == n) | (second == n)].sum()) for n in range(k)]
