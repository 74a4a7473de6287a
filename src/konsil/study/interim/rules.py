"""The stop and extension rules of interim analyses, applied to what was computed."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from konsil.records import Event
from konsil.study.definition.interim import Interim, InterimRule, applies, extended_to
from konsil.study.interim.last import repetition_problem
from konsil.study.interim.looks import CONTINUE, Progress, taken_looks

if TYPE_CHECKING:
    from konsil.analysis.running.interim.pooled import CriterionQuality


@dataclass(frozen=True, slots=True)
class AppliedRule:
    """A rule with the number that it compares."""

    rule: InterimRule
    """The rule."""
    number: float
    """The number; nan where it is undefined."""
    applies: bool | None
    """Whether the rule applies; None where the number is undefined."""
    needed: int | None = None
    """Of an extension: how many tasks or ratings are needed in all; None: no number is stated."""
    present: int = 0
    """How many tasks there are, or ratings are planned or there."""

    @property
    def advised(self) -> int | None:
        """What is needed, at most the rule's maximum, and never fewer than there are."""
        most = self.rule.maximum or self.needed or 0
        return None if self.needed is None else max(min(self.needed, most), self.present)

    @property
    def is_extended(self) -> bool:
        """Whether an extension has as many tasks as it needs, or as its maximum permits."""
        return self.advised is not None and self.advised <= self.present


def applied_rules(
    interim: Interim,
    qualities: Sequence[CriterionQuality],
    progress: Progress,
    events: Iterable[Event] = (),
) -> tuple[AppliedRule, ...]:
    """Every rule with the number that it compares.

    The half-width expected at all planned tasks or ratings is the observed one times the square
    root of the fraction that is rated, and the number needed is of the tasks that there are. That
    of a standard deviation is of the tasks at the first look, as they were planned: of an extended
    sample it would be extended once more. After a comparative look or the last analysis no number
    is needed any more: the fraction of that look is of the tasks that there were.
    """
    present = progress.tasks + progress.surplus
    history = tuple(events)
    is_compared = repetition_problem(history) is not None or any(
        look.kind == "comparative" for look in taken_looks(history)
    )
    # How many there were at the first look.
    planned = next((look.tasks for look in taken_looks(history)), 0) or present
    by_criterion = {quality.criterion: quality for quality in qualities}
    out = []
    for rule in interim.rules:
        quality = by_criterion.get(rule.criterion)
        estimate = None if quality is None else getattr(quality, rule.measure)
        number = math.nan
        if isinstance(estimate, float):
            number = estimate
        elif estimate is not None and rule.end == "half_width":
            number = (estimate.high - estimate.low) / 2 * math.sqrt(progress.fraction)
        elif estimate is not None:
            number = float(getattr(estimate, rule.end))
        base = planned if rule.measure == "standard_deviation" else present
        needed = None if is_compared else extended_to(rule, number, base)
        out.append(AppliedRule(rule, number, applies(rule, number), needed, present))
    return tuple(out)


def decision_of(rules: Sequence[AppliedRule]) -> str:
    """The actions of the rules that apply, in their order; 'continue' where none does.

    A sample that is extended already is not extended again.
    """
    actions = dict.fromkeys(r.rule.action for r in rules if r.applies and not r.is_extended)
    return ", ".join(actions) or CONTINUE
