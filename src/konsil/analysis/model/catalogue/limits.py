"""Settings of an analysis that a statistic does not take, or that it must have.

All analyses have these settings, whatever their statistic: groups, panels, clusters, tests. A
statistic's entry in the catalogue states its limits as data; one function compares an analysis with
them, and `konsil statistics` lists them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal

Mode = Literal["valid", "paper"]

MODES: tuple[Mode, ...] = ("valid", "paper")
"""The recommended method, and that of a publication."""
DEFAULTS: Mapping[str, object] = MappingProxyType(
    {
        "against": None,
        "arm": None,
        "by": (),
        "cluster": "item",
        "collapse": {},
        "compare": "",
        "consensus": "none",
        "labels": (),
        "spans": "each",
        "test": "interval",
        "where": {},
    }
)
"""Setting -> its value where an analysis does not state it, which no statistic refuses."""
NO_PANEL = (None, "rest")
"""Values of `against` that name no panel."""
UNSUPPORTED = "{statistic!r} does not support this option"


@dataclass(frozen=True, slots=True)
class Refusal:
    """A setting that a statistic does not take."""

    key: str
    """The setting."""
    values: tuple[str, ...] = ()
    """The values that are refused (of `by`: columns); empty: all but the default and `allowed`."""
    allowed: tuple[str, ...] = ()
    """Values that are taken although `values` is empty."""
    reason: str = UNSUPPORTED
    """Why, and what is expected, with {statistic} and {value}."""
    modes: tuple[Mode, ...] = MODES
    """The modes in which it is refused."""
    is_whole: bool = False
    """For `by`: whether one sentence is about all columns and not about each."""


@dataclass(frozen=True, slots=True)
class Need:
    """A setting or option that a statistic cannot do without."""

    key: str
    """The setting; `against` needs a panel, all others a value."""
    reason: str
    """What it is needed for, with {statistic}."""
    modes: tuple[Mode, ...] = MODES
    """The modes in which it is needed."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What a statistic refuses and needs."""

    refusals: tuple[Refusal, ...] = ()
    """Settings that it does not take."""
    needs: tuple[Need, ...] = ()
    """Settings and options that it cannot do without."""

    def __add__(self, other: Limits) -> Limits:
        """The limits of both."""
        return Limits((*self.refusals, *other.refusals), (*self.needs, *other.needs))

    @property
    def refused_keys(self) -> tuple[str, ...]:
        """Settings of which no value but the default is taken, in alphabetical order."""
        return tuple(
            sorted(
                refusal.key
                for refusal in self.refusals
                if not refusal.values and not refusal.allowed and refusal.modes == MODES
            )
        )

    @property
    def needed_keys(self) -> tuple[str, ...]:
        """Settings and options that must be stated, in alphabetical order."""
        return tuple(sorted(need.key for need in self.needs))

    def problems(self, stated: Stated) -> Iterator[str]:
        """Each contradiction as 'key: what is wrong'.

        >>> limits = Limits((Refusal("compare"),), (Need("against", "state the panel"),))
        >>> for problem in limits.problems(Stated("anova", "valid", {"compare": "system"})):
        ...     print(problem)
        against: state the panel
        compare: 'anova' does not support this option
        """
        for need in self.needs:
            if stated.mode in need.modes and stated.lacks(need.key):
                yield f"{need.key}: {need.reason.format(statistic=stated.statistic)}"
        for refusal in self.refusals:
            if stated.mode in refusal.modes:
                yield from _refused(refusal, stated)


@dataclass(frozen=True, slots=True)
class Stated:
    """What an analysis states, as its limits see it."""

    statistic: str
    """Its statistic's name."""
    mode: Mode
    """The recommended method or the published one."""
    settings: Mapping[str, object] = field(default_factory=dict)
    """Setting or option -> value; one that is not there has its default."""

    def of(self, key: str) -> object:
        """The value of a setting, or its default."""
        return self.settings.get(key, DEFAULTS.get(key))

    def lacks(self, key: str) -> bool:
        """Whether a setting that is needed has no value."""
        return self.of(key) in NO_PANEL if key == "against" else not self.of(key)


def _refused(refusal: Refusal, stated: Stated) -> Iterator[str]:
    value = stated.of(refusal.key)
    if isinstance(value, tuple) and refusal.key == "by":
        refused = [(n, column) for n, column in enumerate(value) if _is_refused(refusal, column)]
        for n, column in refused[:1] if refusal.is_whole else refused:
            place = "by" if refusal.is_whole else f"by[{n}]"
            yield f"{place}: {refusal.reason.format(statistic=stated.statistic, value=column)}"
    elif value != DEFAULTS[refusal.key] and _is_refused(refusal, value):
        yield f"{refusal.key}: {refusal.reason.format(statistic=stated.statistic, value=value)}"


def _is_refused(refusal: Refusal, value: object) -> bool:
    return value in refusal.values if refusal.values else value not in refusal.allowed


ONLY_MEANS = Refusal(
    "spans",
    values=("mean",),
    reason="'mean' yields numbers; only the statistic 'mean' accepts them, not {statistic!r}",
)
"""Of all statistics but the mean."""
NO_LENGTH = Refusal(
    "by",
    values=("length",),
    reason="'length' belongs to win differences, win rates and margins, not to {statistic!r}",
    is_whole=True,
)
"""Of all statistics but those of wins."""
NO_CONSENSUS = Refusal(
    "consensus", reason="belongs to the statistics 'share' and 'mean', not to {statistic!r}"
)
"""Of all statistics that are not computed of majorities or means of a panel."""
LIMITS = Limits((ONLY_MEANS, NO_LENGTH, NO_CONSENSUS))
"""Those of a statistic that states no others."""
