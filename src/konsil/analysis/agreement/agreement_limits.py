"""Limits of agreement: tables too large to be tallied, and too few units for a value."""

from __future__ import annotations

from konsil.analysis.estimation.own_weights import Weights
from konsil.stats.agreement.long_scales.by_name import MOST_COLUMNS, has_long_form, is_long
from konsil.stats.agreement.long_scales.disagreement import MOST_CELLS
from konsil.stats.agreement.registry import OF_NUMBERS, STATISTICS
from konsil.stats.engine.contract import Codes

MOST_PAIRS = 4_000_000
"""Pairs of ratings of one unit beyond which a long scale is not tallied: half a gigabyte."""

LEAST_UNITS = 5
"""With fewer units that have two ratings, a one-way ICC is not estimable: units that differ and
units that are rated differently are not told apart by a few."""


def columns(name: str, n_raters: int, n_labels: int) -> int:
    """How many sums a cluster has: a table of labels by labels, once or for each pair of raters."""
    needs = STATISTICS[name].needs
    if needs in OF_NUMBERS:
        return n_raters + 3
    table = n_labels * n_labels
    return (
        table * (n_raters * (n_raters - 1) // 2)
        if needs in {"pairs", "complete_pairs"}
        else table + n_labels
    )


def computed_from_margins(codes: Codes, name: str) -> bool:
    """Whether the statistic is computed from margins.

    Comparisons have three labels, and are counted both ways round from tables.
    """
    return (
        has_long_form(name)
        and codes.reverse is None
        and is_long(codes, columns(name, codes.labels.shape[1], codes.n_labels))
    )


def is_too_large(codes: Codes, name: str, weights: Weights = "") -> bool:
    """Whether a statistic is not tallied, as its sums or its matrix would take gigabytes."""
    n_columns = columns(name, codes.labels.shape[1], codes.n_labels)
    if not computed_from_margins(codes, name):
        return n_columns > MOST_COLUMNS
    if not isinstance(weights, str) or weights == "radical":
        return codes.n_labels**2 > MOST_CELLS
    n_given = (codes.labels >= 0).sum(axis=1)
    return int((n_given * (n_given - 1) // 2).sum()) > MOST_PAIRS


def has_too_few_units(codes: Codes, name: str) -> bool:
    """Whether a one-way ICC has fewer than LEAST_UNITS units with two ratings."""
    return STATISTICS[name].needs == "one_way" and n_rated_twice(codes) < LEAST_UNITS


def n_rated_twice(codes: Codes) -> int:
    """How many units have two ratings or more."""
    return int(((codes.labels >= 0).sum(axis=1) > 1).sum())
