"""What a result has to be for a command to end with exit code 0: --require."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import click

from konsil.errors import AnalysisError, KonsilError, UnmetRequirementError, nearest
from konsil.stats.engine.contract import Estimate

F = TypeVar("F", bound=Callable[..., Any])
_COMPARISONS: Mapping[str, Callable[[float, float], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
}
_FIELDS = ("value", "low", "high")
_PATTERN = re.compile(
    r"\s*(\w+)(?:\[([^\]]+)\])?(?:\.(\w+))?"
    r"\s*(>=|<=|>|<)\s*([-+]?\d*\.?\d+(?:[eE][-+]?\d+)?)\s*"
)


@dataclass(frozen=True)
class Requirement:
    """One number of a statistic, and what it has to be."""

    text: str
    """As it was stated."""
    statistic: str
    """The statistic."""
    of: str
    """The system or group whose number it is; empty: every one's."""
    field: str
    """value, low or high."""
    comparison: str
    """>=, <=, > or <."""
    limit: float
    """The number that it is compared with."""

    def is_met(self, estimate: Estimate) -> bool:
        """Whether an estimate meets it; a number that is not estimable meets none."""
        number = float(getattr(estimate, self.field))
        return math.isfinite(number) and _COMPARISONS[self.comparison](number, self.limit)


def requirement(text: str) -> Requirement:
    """The requirement that a text states; refuse what is none.

    >>> requirement("cohen_kappa.low >= 0.6").field, requirement("share[model B]>.5").of
    ('low', 'model B')
    """
    match = _PATTERN.fullmatch(text)
    if match is None:
        raise KonsilError(
            f"--require {text!r}: expected a statistic, a group in brackets where one is meant,"
            " value, low or high, a comparison and a number, such as 'cohen_kappa.low >= 0.6' or"
            " 'win_rate[A over B].low > 0.5'"
        )
    statistic, of, field, comparison, limit = match.groups()
    if field not in (None, *_FIELDS):
        raise KonsilError(
            f"--require {text!r}: {field!r} is not one of {', '.join(_FIELDS)};"
            f" {nearest(field, _FIELDS)}"
        )
    return Requirement(
        text, statistic, (of or "").strip(), field or "value", comparison, float(limit)
    )


def requirement_option(function: F) -> F:
    """Add --require, which passes the requirements as `requirements`."""
    return click.option(
        "--require",
        "requirements",
        multiple=True,
        metavar="CONDITION",
        callback=lambda _context, _parameter, texts: tuple(map(requirement, texts)),
        help="Exit code 1 unless met, such as 'cohen_kappa.low >= 0.6'; repeatable.",
    )(function)


def unmet(
    requirements: Sequence[Requirement],
    estimates: Iterable[tuple[str, Sequence[str], Estimate]],
    full_name: Callable[[str, str], str] = lambda name, _where: name,
) -> UnmetRequirementError | None:
    """The error that names the requirements which a result does not meet; None where it meets all.

    Args:
        requirements: as stated.
        estimates: the statistic, the names of the group and the estimate of each number.
        full_name: a statistic's name from what a user wrote, and where it was written.
    """
    by_name: dict[str, list[tuple[list[str], Estimate]]] = {}
    for statistic, names, estimate in estimates:
        by_name.setdefault(statistic, []).append(([name for name in names if name], estimate))
    sentences = []
    for each in requirements:
        where = f"--require {each.text!r}"
        name = each.statistic if each.statistic in by_name else full_name(each.statistic, where)
        if name not in by_name:
            raise AnalysisError(
                f"{where}: the result has no statistic {name!r}; {nearest(name, by_name)}"
            )
        groups = {group for names, _ in by_name[name] for group in names}
        if each.of and each.of not in groups:
            raise AnalysisError(
                f"{where}: {name} has no group {each.of!r}; {nearest(each.of, sorted(groups))}"
            )
        for names, estimate in by_name[name]:
            if (not each.of or each.of in names) and not each.is_met(estimate):
                number = float(getattr(estimate, each.field))
                shown = f"{number:.3f}" if math.isfinite(number) else "not estimable"
                of_group = f" of {', '.join(names)}" if names else ""
                sentences.append(f"{each.text}: {each.field}{of_group} is {shown}")
    return UnmetRequirementError(f"required: {'; '.join(sentences)}") if sentences else None
