"""Statistics that other packages add, by the entry point `konsil.statistics`.

An entry point gives an `Addition`. konsil makes its groups, intervals, tests and differences, as of
its own statistics:

    [project.entry-points."konsil.statistics"]
    commonest_label = "konsil_extra:COMMONEST_LABEL"
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from types import MappingProxyType

from konsil.analysis.model.catalogue.entry import Statistic
from konsil.analysis.model.options import OPTIONS, Options
from konsil.errors import AnalysisError
from konsil.stats.engine import contract

GROUP = "konsil.statistics"
"""The entry point's group."""
FAMILIES = ("agreement", "shares")
"""Families that a statistic can be added to: those whose numbers are made of the labels of a
group's raters."""


@dataclass(frozen=True, slots=True)
class Addition:
    """A statistic of another package."""

    statistic: Statistic
    """What it is called, says and takes; its family is one of `FAMILIES`."""
    formula: Callable[..., contract.Statistic]
    """Labels as codes -> sums over clusters, and what to make of their totals. Where the statistic
    has options of its own, they are the second argument."""
    words: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """Language -> title and sentence in it."""

    def formula_of(self, codes: contract.Codes, options: Options) -> contract.Statistic:
        """The formula for these labels and these options."""
        has_own = self.statistic.options is not None
        return self.formula(codes, options) if has_own else self.formula(codes)


@cache
def additions() -> Mapping[str, Addition]:
    """Every added statistic by its name.

    An AnalysisError names the package that adds what cannot be used.
    """
    # Not from konsil itself: its own statistics need no detour.
    loaded = [
        (point, _loaded(point))
        for point in sorted(entry_points(group=GROUP), key=lambda point: point.name)
    ]
    return MappingProxyType({addition.statistic.id: addition for _, addition in loaded})


def _loaded(point: EntryPoint) -> Addition:
    where = f"{point.dist.name if point.dist else point.value}: the statistic {point.name!r}"
    try:
        addition = point.load()
    except Exception as error:  # noqa: BLE001 - another package's module may raise anything
        raise AnalysisError(f"{where} cannot be loaded: {type(error).__name__}: {error}") from None
    if not isinstance(addition, Addition):
        raise AnalysisError(f"{where} is not an Addition but {type(addition).__name__}")
    if addition.statistic.id != point.name:
        raise AnalysisError(f"{where} has another name in its entry, {addition.statistic.id!r}")
    if addition.statistic.family not in FAMILIES:
        families = " or ".join(repr(name) for name in FAMILIES)
        raise AnalysisError(
            f"{where} is of the family {addition.statistic.family!r}; expected {families}"
        )
    inherited = OPTIONS[addition.statistic.family]
    if not issubclass(addition.statistic.options_kind, inherited):
        raise AnalysisError(
            f"{where} has the options {addition.statistic.options_kind.__name__}; expected a"
            f" dataclass that inherits from {inherited.__name__}"
        )
    return addition
