"""Interim analyses as the protocol states them: pooled and comparative ones, and their rules.

Pure functions.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from konsil.analysis.model.spec import SequentialRules, SpendingName

LookKind = Literal["pooled", "comparative"]
Measure = Literal["agreement", "abstention", "standard_deviation", "label_drift", "agreement_drift"]
DRIFT = ("label_drift", "agreement_drift")
"""Measures that are p values of tests between batches or weeks."""
SMALLEST_DRIFT = 0.001
"""The least p value of a test of drift, before its adjustment."""
End = Literal["value", "low", "high", "half_width"]
Action = Literal["stop", "retrain", "extend"]

CLOSEST = 0.01
"""The least difference between the fractions of two comparative looks."""


@dataclass(frozen=True, slots=True)
class Look:
    """One interim analysis."""

    fraction: float
    """The proportion of the panel's main tasks, or of its ratings, before it; between 0 and 1."""
    kind: LookKind = "pooled"
    """Of all systems together, which spends no alpha, or of the comparison."""
    futility: float = 0.0
    """Of comparative looks: the study may stop for futility where |z| is below it; 0: never."""


@dataclass(frozen=True, slots=True)
class InterimRule:
    """What follows from a pooled look."""

    measure: Measure
    """Agreement of the panel, its proportion of abstentions, the standard deviation of its ratings
    as numbers, or the adjusted p value of a drift of labels or agreement over batches or weeks."""
    criterion: str
    """Of which criterion."""
    action: Action
    """Stop the study, train the raters again, or extend the sample."""
    end: End = "value"
    """Which number is compared: the estimate, an end of its confidence interval, or the half-width
    of the interval as expected at all planned tasks or ratings."""
    below: float | None = None
    """The rule applies where the number is below this."""
    above: float | None = None
    """The rule applies where the number is above this."""
    maximum: int | None = None
    """Of action 'extend': the most tasks, or ratings, to which the sample is extended in proportion
    to the square of number / above; None: no number of them is computed."""
    text: str = ""
    """What is done then, in the words of the study."""


@dataclass(frozen=True, slots=True)
class Interim:
    """The interim analyses of a study."""

    panel: str
    """The panel whose ratings are used, and whose main tasks are counted."""
    ratings: int | None = None
    """Of studies without a plan: how many ratings the panel will give in all; None: its main tasks
    are counted."""
    looks: tuple[Look, ...] = ()
    """When, in the order of their fractions."""
    rules: tuple[InterimRule, ...] = ()
    """What follows from pooled looks."""
    analysis: str = ""
    """The primary analysis, which comparative looks compute; it has one difference or test."""
    unblinded: str = ""
    """The pseudonym of the person who may see comparative looks."""
    spending: SpendingName = "obrien_fleming"
    """The function by which comparative looks spend the type I error."""
    alpha: float = 0.05
    """The two-sided type I error of the primary analysis."""
    rho: float = 2.0
    """The exponent of spending = 'power'."""
    binding: bool = False
    """Whether a stop for futility is obligatory, so that the critical values rely on it."""

    @property
    def comparative(self) -> tuple[Look, ...]:
        """The comparative looks."""
        return tuple(look for look in self.looks if look.kind == "comparative")

    @property
    def sequential(self) -> SequentialRules:
        """The rules of the group sequential test."""
        return SequentialRules(self.spending, self.alpha, self.rho, self.binding)


def interim_problems(interim: Interim, where: str) -> Iterator[str]:
    """Problems of the interim analyses within themselves, one sentence each."""
    comparative = interim.comparative
    yield from _order_problems(interim, f"{where}.looks")
    for key, value in (("analysis", interim.analysis), ("unblinded", interim.unblinded)):
        if comparative and not value.strip():
            yield f"{where}.{key}: missing; comparative looks need it"
        elif value and not comparative:
            yield f"{where}.{key}: is of comparative looks; there is none"
    if not 0 < interim.alpha < 1:
        yield f"{where}.alpha: expected a number between 0 and 1, got {interim.alpha:g}"
    if not interim.rho > 0:
        yield f"{where}.rho: expected a number above 0, got {interim.rho:g}"
    if interim.binding and not any(look.futility for look in comparative):
        yield f"{where}.binding: no comparative look has a bound of futility"
    if interim.rules and len(comparative) == len(interim.looks):
        yield f"{where}.rules: are of pooled looks; there is none"
    for n, rule in enumerate(interim.rules):
        yield from _rule_problems(rule, f"{where}.rules[{n}]")
        yield from _extension_problems(interim, rule, f"{where}.rules[{n}]")


def _order_problems(interim: Interim, where: str) -> Iterator[str]:
    if not interim.looks:
        yield f"{where}: expected at least one look, such as fraction = 0.5"
    for n, look in enumerate(interim.looks):
        yield from _look_problems(look, f"{where}[{n}]")
    if any(b.fraction <= a.fraction for a, b in itertools.pairwise(interim.looks)):
        yield f"{where}: expected rising fractions"
    comparative = interim.comparative
    if any(b.fraction - a.fraction < CLOSEST - 1e-9 for a, b in itertools.pairwise(comparative)):
        yield f"{where}: expected comparative looks {CLOSEST:g} or more apart"


def _look_problems(look: Look, where: str) -> Iterator[str]:
    if not CLOSEST <= look.fraction < 1:
        yield f"{where}.fraction: expected {CLOSEST:g} or more and below 1, got {look.fraction:g}"
    if look.futility < 0:
        yield f"{where}.futility: expected 0 or more, got {look.futility:g}"
    elif look.futility and look.kind == "pooled":
        yield f"{where}.futility: is of comparative looks; this one is pooled"


def _rule_problems(rule: InterimRule, where: str) -> Iterator[str]:
    if (rule.below is None) == (rule.above is None):
        yield f"{where}: expected either below or above"
    if rule.end == "half_width" and rule.above is None:
        yield f"{where}: expected above with end = 'half_width'"
    if rule.measure in DRIFT and rule.below is None:
        yield f"{where}: expected below with {rule.measure!r}, which is a p value"
    if rule.measure in ("standard_deviation", *DRIFT) and rule.end != "value":
        yield f"{where}.end: {rule.measure!r} has no confidence interval here; expected 'value'"


def _extension_problems(interim: Interim, rule: InterimRule, where: str) -> Iterator[str]:
    """Problems of the number to which a sample is extended.

    The fractions of comparative looks are of the planned number, so that it changes before them.
    """
    if rule.maximum is None:
        return
    has_square = rule.end == "half_width" or rule.measure == "standard_deviation"
    if rule.action != "extend" or not has_square or not (rule.above or 0) > 0:
        yield (
            f"{where}.maximum: expected with action = 'extend' and above, of end = 'half_width' or"
            " of 'standard_deviation'"
        )
    if rule.maximum <= (interim.ratings or 0):
        yield f"{where}.maximum: expected more than the planned number, got {rule.maximum}"
    kinds = [look.kind for look in interim.looks]
    if "comparative" not in kinds:
        return
    if interim.ratings is not None:
        yield (
            f"{where}.maximum: a study without [[plan]] has a fixed number of ratings for its"
            " comparative looks; expected no extension, or no comparative look"
        )
    elif "pooled" in kinds[kinds.index("comparative") :]:
        yield f"{where}.maximum: expected all pooled looks before the first comparative one"


def extended_to(rule: InterimRule, number: float, planned: int) -> int | None:
    """How many tasks or ratings a sample needs in all, before the maximum of the rule.

    n = planned (number / above)^2, rounded up: half-widths fall with the square root of the number
    of ratings, and a planned power needs n in proportion to the variance. None where the rule does
    not apply or states no maximum. Source: Kieser and Friede (2003), Simple procedures for blinded
    sample size adjustment that do not affect the type I error rate.

    >>> rule = InterimRule(
    ...     "agreement", "correct", "extend", end="half_width", above=0.1, maximum=900
    ... )
    >>> extended_to(rule, 0.125, 400), extended_to(rule, 0.09, 400)
    (625, None)
    """
    if rule.maximum is None or rule.above is None or not applies(rule, number):
        return None
    # Rounding errors of the square add no task.
    return math.ceil(planned * (number / rule.above) ** 2 - 1e-9)


def applies(rule: InterimRule, number: float) -> bool | None:
    """Whether a rule applies to the number that it compares; None where that is undefined.

    >>> applies(InterimRule("agreement", "correct", "retrain", below=0.4), 0.3)
    True
    >>> applies(InterimRule("agreement", "correct", "retrain", below=0.4), float("nan"))
    """
    if not math.isfinite(number):
        return None
    if rule.below is not None:
        return number < rule.below
    return rule.above is not None and number > rule.above
