"""When konsil says more than a number: which sentences are verdicts, and what each one needs.

A verdict is a sentence that a reader may quote as a conclusion. It is made from sound evidence
alone: an interval with a width, made of enough resamples; a p value that is adjusted for its
family; the quantity that the decision is about and no form that is derived from it; data from after
the plan was frozen where the sentence says "prespecified". `docs/verdicts.md` lists every verdict
with its condition; the tests hold that list against `VERDICTS`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Literal

import numpy as np

from konsil.analysis.model.catalogue.known import statistic_of
from konsil.analysis.model.rows import Row
from konsil.analysis.model.spec import Analysis
from konsil.errors.message import TranslatableMessage, message
from konsil.stats.engine.contract import Array, Estimate, RatersTarget
from konsil.stats.inference.infer import Caution
from konsil.stats.inference.multiplicity import holm

VERDICTS = (
    "equivalence",
    "design",
    "crossover",
    "hidden_knowledge",
    "best_ensemble",
    "fewest_hours",
    "order",
)
"""The identifiers of all verdicts, as `docs/verdicts.md` lists them."""

MOST_UNDEFINED = 0.05
"""Above this share of resamples without a value an interval is of those that have one, and carries
no verdict."""

NO_WIDTH = frozenset({"no-variation", "one-width"})
"""Cautions of an interval that is no evidence: nothing varied, or one of its two versions has no
width."""

Equivalence = Literal["shown", "not shown", "not judged"]

LEAST_PROBABILITY = 1e-4
"""The least number that is printed with four decimals; smaller ones are below it."""


def weakness(
    estimate: Estimate, draws: int, cautions: Sequence[Caution] = ()
) -> TranslatableMessage | None:
    """Why an interval can carry no verdict; None where it can.

    `draws`: the resamples that were asked for. Undefined values and limits, intervals without a
    width or with a caution that says so, and more than `MOST_UNDEFINED` of the resamples without a
    value carry none.
    """
    low, high = estimate.low, estimate.high
    if not (math.isfinite(estimate.value) and math.isfinite(low) and math.isfinite(high)):
        return message("no interval", message_id="verdict.no_interval")
    if not low < high or any(c.code in NO_WIDTH for c in cautions):
        return message("the interval has no width", message_id="verdict.no_width")
    if draws and estimate.n_undefined > MOST_UNDEFINED * draws:
        return message(
            "the statistic was not estimable in {n:,} of {all:,} resamples",
            message_id="verdict.undefined_resamples",
            n=estimate.n_undefined,
            all=draws,
        )
    return None


def equivalence(
    estimate: Estimate, margin: float, draws: int, cautions: Sequence[Caution] = ()
) -> Equivalence:
    """Whether a difference lies within the margin: two one-sided tests, each at half of 1 - level.

    A two-sided interval at `level` lies within (-margin, margin) exactly where both one-sided tests
    reject at (1 - level) / 2 (Schuirmann, J Pharmacokinet Biopharm 15:657, 1987). 'not judged'
    where `weakness` finds a reason.
    """
    if weakness(estimate, draws, cautions) is not None:
        return "not judged"
    return "shown" if -margin < estimate.low and estimate.high < margin else "not shown"


def equivalence_sentence(
    estimate: Estimate, margin: float, draws: int, cautions: Sequence[Caution] = ()
) -> TranslatableMessage:
    """The verdict in words, with the level of its tests."""
    verdict = equivalence(estimate, margin, draws, cautions)
    one_sided = (1 - estimate.level) / 2
    if verdict == "shown":
        return message(
            "Equivalent: the {level:.0%} CI lies within ±{margin:g} (two one-sided tests, each at"
            " {one_sided:.1%}).",
            message_id="verdict.equivalent",
            level=estimate.level,
            margin=margin,
            one_sided=one_sided,
        )
    if verdict == "not shown":
        return message(
            "Equivalence not shown: the {level:.0%} CI extends beyond ±{margin:g}"
            " (two one-sided tests, each at {one_sided:.1%}).",
            message_id="verdict.equivalence_not_shown",
            level=estimate.level,
            margin=margin,
            one_sided=one_sided,
        )
    return message(
        "Equivalence within ±{margin:g} not estimable: {reason}.",
        message_id="verdict.equivalence_not_judged",
        margin=margin,
        reason=weakness(estimate, draws, cautions) or "",
    )


POWER = 0.8
"""The power for which the smallest difference is stated that a design could have shown."""


def detectable_difference(estimate: Estimate) -> float:
    """The smallest true difference that a test shows with `POWER`, from its own standard error.

    (t of the level + normal quantile of the power) x SE; the first product is half the width of the
    interval. Without a standard error it is that half over the normal quantile of the level. nan
    without an interval.

    >>> round(detectable_difference(Estimate(0.1, -0.096, 0.296, se=0.1)), 3)
    0.28
    """
    half = (estimate.high - estimate.low) / 2
    if not half > 0:
        return math.nan
    level, power = (NormalDist().inv_cdf(q) for q in ((1 + estimate.level) / 2, POWER))
    # An error on another scale than the interval's, such as that of a logarithm, is none here.
    is_of_interval = estimate.se > 0 and 0.9 * level <= half / estimate.se <= 13
    return half + power * (estimate.se if is_of_interval else half / level)


def has_margin(analysis: Analysis) -> bool:
    """Whether the analysis has a number that a margin is about: a difference, or hidden knowledge.

    >>> has_margin(Analysis("a", "win_rate", "better", "experts", margin=0.1))
    False
    """
    entry = statistic_of(analysis.statistic)
    if analysis.compare or entry.is_difference or entry.margin == "rows":
        return True
    has_panel = analysis.against not in {None, "rest"} and analysis.consensus == "none"
    return has_panel and entry.margin == "panel"


@dataclass(frozen=True)
class DesignEvidence:
    """What one criterion's two designs are compared by."""

    agreement: tuple[Row, ...]
    """Differences in agreement of single ratings as they were given, first design minus second; no
    derived forms."""
    hours: Row | None
    """Hours to one reliability, all sentences of an answer minus whole answers; None where nobody
    asked."""
    sentences: Literal["first", "second", ""]
    """Which of the two designs rates sentences; empty where that is not known."""
    is_lopsided: bool = False
    """Whether one label makes up nearly all ratings under a design, so that agreement comes without
    looking."""


@dataclass(frozen=True)
class Recommendation:
    """Which design, or why none."""

    design: Literal["first", "second", ""]
    """The design that is recommended; empty: none."""
    p: float
    """The larger p value of two families: the decisions, and the declared analyses; nan where there
    is no decision."""
    reason: Literal["", "lopsided", "no hours", "not shown", "not estimable"]
    """Why none is recommended; 'not estimable': a part has no interval for raters like these."""
    raters: RatersTarget = "these"
    """Whom a recommendation is about: raters like these only where all its parts are."""


def recommendations(
    evidence: Sequence[DesignEvidence], *, draws: int, level: float
) -> list[Recommendation]:
    """One recommendation a criterion, decided in hours of raters to one reliability.

    Means of several ratings are more reliable than one rating, whatever is rated. So fewer hours
    alone recommend nothing: the single ratings, as they were given, must agree more under that
    design, too. What is derived from several ratings ("wrong if any sentence is wrong") takes no
    part, since its agreement differs by construction. The decision's p value is the largest of its
    parts (intersection-union: Berger, Technometrics 24:295, 1982), adjusted by Holm's method over
    the criteria. The parts' own p values are adjusted over another family, all declared analyses,
    and are printed beside the decision: it is never stronger than they are, so its p value is the
    larger of the two. Nothing rests on an interval that carries no verdict (`weakness`).
    """
    decisions = [_decision(criterion, draws) for criterion in evidence]
    family = [n for n, (_, p, _) in enumerate(decisions) if math.isfinite(p)]
    adjusted = (
        dict(zip(family, holm([decisions[n][1] for n in family]), strict=True)) if family else {}
    )
    out = []
    for n, (design, _, reason) in enumerate(decisions):
        p = max([float(adjusted[n]), *_declared(evidence[n])]) if n in adjusted else math.nan
        if design == "" or not p <= 1 - level:
            out.append(Recommendation("", p, reason or "not shown"))
            continue
        are_all_others = all(r.estimate.raters == "like these" for r in _parts(evidence[n]))
        out.append(Recommendation(design, p, "", "like these" if are_all_others else "these"))
    return out


def _declared(evidence: DesignEvidence) -> list[float]:
    """The p values of a decision's parts as the study's declared family adjusts them.

    None of what is exploratory.
    """
    return [r.p_adjusted for r in _parts(evidence) if math.isfinite(r.p_adjusted)]


def _parts(evidence: DesignEvidence) -> list[Row]:
    """The rows that a decision rests on."""
    return [*evidence.agreement, *([evidence.hours] if evidence.hours is not None else [])]


def _decision(
    evidence: DesignEvidence, draws: int
) -> tuple[
    Literal["first", "second", ""],
    float,
    Literal["", "lopsided", "no hours", "not shown", "not estimable"],
]:
    """Which design all parts favour, the largest of their p values, and why none is favoured."""
    if evidence.is_lopsided:
        return "", math.nan, "lopsided"
    if evidence.hours is None or not evidence.sentences or not evidence.agreement:
        return "", math.nan, "no hours"
    parts = _parts(evidence)
    if any(r.estimate.raters == "like these" and math.isnan(r.estimate.low) for r in parts):
        return "", math.nan, "not estimable"
    if any(
        weakness(r.estimate, draws) is not None or not math.isfinite(r.estimate.p) for r in parts
    ):
        return "", math.nan, "not shown"
    whole_answers: Literal["first", "second"] = (
        "first" if evidence.sentences == "second" else "second"
    )
    favoured: set[Literal["first", "second"]] = {
        "first" if r.estimate.value > 0 else "second" for r in evidence.agreement
    }
    favoured.add(evidence.sentences if evidence.hours.estimate.value < 0 else whole_answers)
    p = max(r.estimate.p for r in parts)
    return (favoured.pop(), p, "") if len(favoured) == 1 else ("", 1.0, "not shown")


def is_crossover(low: float) -> bool:
    """Whether the order of two systems reverses, by the lower limit of a simultaneous CI.

    The CI covers all levels at once.
    """
    return low > 0


def is_hidden_knowledge(low: float, margin: float, luck: float) -> bool:
    """Whether there is hidden knowledge: more such cases than by chance.

    Such a case is incorrect with all the information and correct with less.
    """
    return low > margin and low > luck


def best_after_choice(p: Sequence[float]) -> Array:
    """Two-sided p values of the best of several against one comparator.

    They are adjusted for the choice of the best (Bonferroni).

    >>> best_after_choice([0.004, 0.5])
    array([0.008, 1.   ])
    """
    return np.minimum(np.asarray(p, dtype=np.float64) * len(p), 1.0)


def is_order_shown(p_adjusted: float, level: float) -> bool:
    """Whether two systems differ in a ranking, by the adjusted p value, never by a CI alone."""
    return p_adjusted <= 1 - level


def p_words(p: float, *, is_precise: bool = False) -> TranslatableMessage:
    """A p value in a sentence, which is never 0: three decimals, or four where it is precise.

    >>> p_words(0.25), p_words(1e-9), p_words(0.00049, is_precise=True)
    ('p = 0.250', 'p < 0.001', 'p = 0.0005')
    """
    if is_precise:
        if p < LEAST_PROBABILITY:
            return message("p < {p:.4f}", message_id="p.precisely_below", p=LEAST_PROBABILITY)
        return message("p = {p:.4f}", message_id="p.precise", p=p)
    if p < 0.001:
        return message("p < {p:.3f}", message_id="p.below", p=0.001)
    return message("p = {p:.3f}", message_id="p.equal", p=p)


def probability_words(value: float) -> TranslatableMessage:
    """A probability with four decimals in a sentence, never 0 where it is above 0.

    >>> probability_words(0.0250001), probability_words(0.00004), probability_words(0)
    ('0.0250', '< 0.0001', '0.0000')
    """
    if 0 < value < LEAST_PROBABILITY:
        least = LEAST_PROBABILITY
        return message("< {value:.4f}", message_id="p.probability_below", value=least)
    return message("{value:.4f}", message_id="p.probability", value=value)
