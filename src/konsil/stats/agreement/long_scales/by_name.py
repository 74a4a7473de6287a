"""Which agreement statistics are computed from margins, and how, by their names."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any, cast

from konsil.stats.agreement.long_scales import margins, ranks
from konsil.stats.agreement.long_scales.coefficients import (
    Alpha,
    OverPairs,
    OverUnits,
    PairMeasure,
    UnitMeasure,
)
from konsil.stats.agreement.long_scales.disagreement import Disagreement, disagreement
from konsil.stats.agreement.long_scales.rank_correlations import RankCorrelation
from konsil.stats.engine.contract import Codes, Finalise
from konsil.stats.engine.distances import Weights

LONG = 100
"""Scales with more labels are long, whatever the number of clusters."""

SHORT = 10
"""Scales with at most this many labels are never long, if their tables have MOST_COLUMNS sums."""

MOST_COLUMNS = 2_000_000
"""Sums of a cluster beyond which tables are not made: a gigabyte for every 64 resamples."""

MOST_CELLS = 1 << 22
"""Sums of all clusters beyond which margins take the place of tables of more than SHORT labels."""

_PAIRS: Mapping[str, tuple[PairMeasure, Weights]] = MappingProxyType(
    {
        "percent_agreement": ("percent", "unweighted"),
        "within_one": ("percent", cast("Weights", "within_one")),
        "cohen_kappa": ("cohen", "unweighted"),
        "cohen_kappa_linear": ("cohen", "linear"),
        "cohen_kappa_quadratic": ("cohen", "quadratic"),
        "light_kappa": ("cohen", "unweighted"),
        "pabak": ("uniform", "unweighted"),
        "scott_pi": ("scott", "unweighted"),
    }
)
"""Measure and own weights of the means over pairs of raters."""

_UNITS: Mapping[str, tuple[UnitMeasure, Weights]] = MappingProxyType(
    {
        "multirater_percent_agreement": ("percent", "unweighted"),
        "fleiss_kappa": ("fleiss", "unweighted"),
        "conger_kappa": ("conger", "unweighted"),
        "randolph_kappa": ("uniform", "unweighted"),
        "brennan_prediger": ("uniform", "unweighted"),
        "gwet_ac1": ("gwet", "unweighted"),
        "gwet_ac2_linear": ("gwet", "linear"),
        "gwet_ac2": ("gwet", "quadratic"),
    }
)
"""Measure and own weights of the coefficients of several raters."""

_LEVELS: Mapping[str, Weights] = MappingProxyType(
    {"nominal": "unweighted", "interval": "quadratic", "ratio": "ratio"}
)
"""The disagreement of Krippendorff's alpha at a level; the ordinal one is that of mid-ranks."""

_RANKS = frozenset({"kendall_w", "spearman", "kendall_tau_b"})


def has_long_form(name: str) -> bool:
    """Whether a statistic has a form for long scales.

    >>> has_long_form("cohen_kappa"), has_long_form("icc2")
    (True, False)
    """
    return name in _PAIRS or name in _UNITS or name in _RANKS or name == "krippendorff_alpha"


def is_long(codes: Codes, columns: int) -> bool:
    """Whether a table of `columns` sums a cluster is to be replaced by margins.

    That is so on scales of more than LONG labels, and on those of more than SHORT where the tables
    of all units or clusters would be larger than a few megabytes.
    """
    k, rows = codes.n_labels, max(len(codes.labels), codes.n_clusters)
    return k > LONG or columns > MOST_COLUMNS or (k > SHORT and rows * columns > MOST_CELLS)


def long_form(
    name: str, codes: Codes, weights: Weights | None, level: str, *, by_units: bool = False
) -> tuple[Callable[[Codes], Any], Finalise]:
    """The tally and the finalise of a statistic on a long scale.

    `by_units`: a mean over pairs of raters weighs them by the units that they share.
    """
    n_raters = codes.labels.shape[1]
    n_pairs = n_raters * (n_raters - 1) // 2
    if name in _RANKS or (name == "krippendorff_alpha" and level == "ordinal" and weights is None):
        labels = ranks.compared(codes).labels
        if name == "kendall_w":
            return ranks.unit_members, ranks.Concordance(labels, codes.n_labels)
        if name == "krippendorff_alpha":
            return ranks.unit_members, ranks.OrdinalAlpha(labels, codes.n_labels)
        tau = name == "kendall_tau_b"
        return ranks.unit_members, RankCorrelation(labels, codes.n_labels, tau, by_units)
    if name in _PAIRS:
        pair_measure, default = _PAIRS[name]
        kind, place, n_kinds, tally = _kind(default if weights is None else weights, codes, "pairs")
        return tally, OverPairs(pair_measure, kind, place, n_kinds, n_pairs, by_units)
    if name in _UNITS:
        unit_measure, default = _UNITS[name]
        kind, place, n_kinds, tally = _kind(default if weights is None else weights, codes, "units")
        return tally, OverUnits(unit_measure, kind, place, n_kinds, n_raters)
    kind, place, n_kinds, tally = _kind(
        _LEVELS[level] if weights is None else weights, codes, "alpha"
    )
    return tally, Alpha(kind, place, n_kinds)


def _kind(
    weights: Weights, codes: Codes, tallied: str
) -> tuple[Disagreement, int, int, Callable[[Codes], Any]]:
    """The disagreement, its place among those of the tally, how many these are, and the tally."""
    kind = disagreement(weights, codes.n_labels, codes.values)
    sums = {
        "pairs": (margins.pair_margins, margins.pair_sums),
        "units": (margins.unit_margins, margins.unit_sums),
        "alpha": (margins.paired_labels, margins.coincidence_sums),
    }[tallied]
    if not isinstance(weights, str):
        return kind, 0, 1, partial(sums[1], kinds=[kind])
    kinds = margins.kinds_with(weights)
    return kind, kinds.index(weights), len(kinds), sums[0](kinds)
