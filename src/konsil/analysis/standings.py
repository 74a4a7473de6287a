"""One system's standing among the others as plain data, and what a reader must know of it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from konsil.analysis.comparisons import Comparisons
from konsil.analysis.said import Said, say
from konsil.analysis.spec import Mode
from konsil.stats import shares
from konsil.stats.crossed import Crossed, crossed
from konsil.stats.preference import Preference, VoteCaution, vote_cautions
from konsil.stats.ratios import against_reference, ratios_to_best
from konsil.stats.votes import pair_members, totals
from konsil.stats.worth_designs import Model, Ties, design
from konsil.stats.worths import fit, worths

MATRIX = 40
"""Up to so many systems every two of them are told."""


def standing(one: Preference, n: int, mode: Mode, level: float) -> dict[str, Any]:
    """One value with its intervals and tests; the two-way interval first, in paper mode that of items."""
    two, by_item, by_rater = one.found.two_way, one.found.question, one.found.rater
    value = float(one.found.value[n])
    boot = one.bootstrap
    item: dict[str, Any] = {
        "low": _number(by_item.low[n]),
        "high": _number(by_item.high[n]),
        "method": "item-cluster Wald",
    }
    if boot is not None:
        item = {
            "low": _number(boot.low[n]),
            "high": _number(boot.high[n]),
            "method": f"item-cluster bootstrap, {'BCa' if boot.method == 'bca' else boot.method}, {boot.draws:,} draws",
            "n_undefined": int(boot.n_undefined[n]),
        }
    two_way: dict[str, Any] = {
        "low": _number(two.low[n]),
        "high": _number(two.high[n]),
        "method": _two_way(int(two.df[n])),
    }
    if two.se[n] == 0:
        two_way = item = _without_variation(one, n, level)
    head, other = (two_way, {"item": item}) if mode == "valid" else (item, {"two_way": two_way})
    out: dict[str, Any] = {
        "value": _number(value),
        "low": head["low"],
        "high": head["high"],
        "se": _number((two if mode == "valid" else by_item).se[n]),
        "method": head["method"],
    }
    if one.flips is not None:
        out |= {
            "p": _number((two if mode == "valid" else by_item).p[n]) if mode == "valid" else _number(one.flips.p[n]),
            "p_flip": _number(one.flips.p[n]),
            "p_flip_family": _number(one.p_family[n]),
            "flips": f"whole {'item' if one.flips.unit == 'question' else one.flips.unit}s, {one.flips.how[n]}",
        }
    out |= other
    out["rater"] = {"low": _number(by_rater.low[n]), "high": _number(by_rater.high[n]), "method": "rater-cluster Wald"}
    out |= {
        "n_comparisons": int(one.found.n_votes[n]),
        "n_items": int(one.found.n_questions[n]),
        "n_raters": int(one.found.n_raters[n]),
        "reason": _reason(value, head["low"]),
    }
    return out


def _two_way(df: int) -> str:
    return f"linearised two-way Wald (item and rater), t with {df} degrees of freedom"


def _without_variation(one: Preference, n: int, level: float) -> dict[str, Any]:
    """Where every comparison says the same: the exact interval of a win rate, as if of one comparison an item."""
    value = float(one.found.value[n])
    if one.name != "head_to_head_win" or value not in (0.0, 1.0):
        return {"low": None, "high": None, "method": ""}
    items = int(one.found.n_questions[n])
    low, high = shares.interval(value * items, items, level)
    return {"low": float(low), "high": float(high), "method": "Clopper-Pearson, each item as one comparison"}


def _reason(value: float, low: float | None) -> str:
    if not math.isfinite(value):
        return "never compared"
    return "" if low is not None else "one item, one rater or comparisons that all say the same have no interval"


def worths_of(table: Comparisons, model: Model, ties: Ties, threshold: int, level: float) -> dict[str, Any]:
    """A model's log worths with two-way intervals, their ratios to the best, and its parameters."""
    made, k = table.votes, len(table.systems)
    chosen = design(k, made.steps, model, ties, threshold)
    cells = totals(made)
    fitted = fit(cells, chosen)
    statistic = worths(cells, chosen)
    best = ratios_to_best(fitted.log_worths, fitted.covariance, level=level)
    log = crossed(made, statistic, level=level)
    gaps = crossed(made, against_reference(statistic, max(best.best, 0)), level=level)
    rows = []
    for n, name in enumerate(table.systems):
        reference = n == best.best
        rows.append(
            {
                "system": name,
                "log_worth": _number(fitted.log_worths[n]),
                "se": _number(log.two_way.se[n]),
                "low": _number(log.two_way.low[n]),
                "high": _number(log.two_way.high[n]),
                "se_model": _number(math.sqrt(fitted.covariance[n, n])),
                "ratio_to_best": _number(best.value[n]),
                "ratio_low": None if reference else _number(math.exp(gaps.two_way.low[n])),
                "ratio_high": None if reference else _number(math.exp(gaps.two_way.high[n])),
                "ratio_low_model": _number(best.low[n]),
                "ratio_high_model": _number(best.high[n]),
            }
        )
    out: dict[str, Any] = {"worths": rows, "best": table.systems[best.best] if best.best >= 0 else None}
    if model == "davidson":
        out["tie"] = _number(math.exp(fitted.log_tie))
    out["covariance"] = None if fitted.why else fitted.covariance.tolist()
    return out | {"method": _two_way(int(log.two_way.df[0])), "reason": fitted.why}


def position(shown: Crossed) -> dict[str, Any]:
    """The win difference of whatever stood in the first column."""
    two = shown.two_way
    return {
        "value": _number(shown.value[0]),
        "low": _number(two.low[0]),
        "high": _number(two.high[0]),
        "se": _number(two.se[0]),
        "p": _number(two.p[0]),
        "method": _two_way(int(two.df[0])),
    }


def sentence(caution: VoteCaution) -> Said:
    """What a reader must know of a preference statistic's interval, in words."""
    a, b = (*caution.numbers, 0, 0)[:2]
    match caution.code:
        case "raters-matter":
            return say(
                "With raters as a second source of chance the interval is {wider:.0%} wider than that by items alone.",
                wider=a,
            )
        case "few-raters":
            return say(
                "The {n:.0f} raters are fewer than {few:.0f}: of raters in general so few tell little.", n=a, few=b
            )
        case "thin-pairs":
            return say(
                "It was compared only {n:.0f} times with some other system: intervals of so few are too narrow.", n=a
            )
        case "few-questions":
            return say("The interval rests on {n:.0f} items, fewer than {few:.0f}.", n=a, few=b)
        case "rivals-not-met":
            return say("It met {n:.0f} of the {all:.0f} other systems; the others do not enter its mean.", n=a, all=b)


def warnings_of(table: Comparisons, one: Preference, mode: Mode, models: tuple[Mapping[str, Any], ...]) -> list[str]:
    """What a reader must know, once for all systems: the extreme of each kind of caution, and whom it concerns."""
    k = len(table.systems)
    told: dict[str, list[tuple[VoteCaution, str]]] = {}
    for n, (name, met) in enumerate(zip(table.systems, _rivals_met(table), strict=True)):
        own = [c for c in vote_cautions(one, n) if table.has_raters or "raters" not in c.code]
        if met < k - 1:
            own.append(VoteCaution("rivals-not-met", (float(met), k - 1.0)))
        for caution in own:
            told.setdefault(caution.code, []).append((caution, name))
    found = []
    for code, members in told.items():
        pick = max if code == "raters-matter" else min
        worst = pick(members, key=lambda member: member[0].numbers[0])
        alike = len({member[0].numbers for member in members}) == 1
        others = len(members) - 1
        who = "" if len(members) == k and alike else f" ({worst[1]}{f' most, of {others + 1} systems' * (others > 0)})"
        found.append(f"{str(sentence(worst[0])).removesuffix('.')}{who}.")
    if one.bootstrap is None:
        found.append("Resampling would take long at this size: intervals are linearised, which needs none.")
    if k > MATRIX:
        found.append(f"With more than {MATRIX} systems the win rates of every two are left out.")
    if mode == "paper":
        found.append(
            "Mode paper: flips of single comparisons reject too often where comparisons share items or raters; not for"
            " conclusions."
        )
    names = ("davidson", "bradley_terry")
    return found + [f"{n}: undefined: {m['reason']}" for n, m in zip(names, models, strict=True) if m["reason"]]


def _rivals_met(table: Comparisons) -> list[int]:
    k = len(table.systems)
    compared = np.bincount(table.votes.pairs, minlength=k * (k - 1) // 2) > 0
    first, second = pair_members(k)
    return [int(compared[(first == n) | (second == n)].sum()) for n in range(k)]


def _number(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
