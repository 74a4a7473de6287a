"""True values of what becomes of systems as cases are told with less and less, by formulas written a second time."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from konsil.analysis import Analysis
from konsil.analysis.coding import labels_of
from konsil.instrument import Criterion
from konsil.simulate.population import Array

if TYPE_CHECKING:
    from konsil.simulate.expected import Expected, Rule

ENOUGH = 1e-9
"""A mean of raters is a fraction; what reaches a threshold must not miss it by its last bit."""


def case_rule(model: Expected, analysis: Analysis, criterion: Criterion, group: Mapping[str, str]) -> Rule | None:
    """The rule of one group of an analysis of cases; None where there is no formula here."""
    formula = LADDERS.get(analysis.statistic)
    if formula is None or not model.cases or "system" not in group or analysis.against is not None:
        return None

    def rule(batch: int) -> float:
        marks = ladder(model, analysis, criterion, group, batch)
        return formula(marks, marks >= analysis.correct - ENOUGH, analysis)

    return rule


def marks_of(
    model: Expected, analysis: Analysis, criterion: Criterion, panel: str, group: Mapping[str, str], batch: int
) -> Array:
    """The panel's mean number on every answer of the group, (n_units,)."""
    labels = labels_of(analysis, criterion)
    codes = model.selected(analysis, criterion, panel, group, batch, labels)
    given = codes >= 0
    numbers = np.where(given, np.asarray(labels.values, dtype=np.float64)[np.maximum(codes, 0)], 0.0)
    return np.asarray(numbers.sum(axis=1) / np.where(given.any(axis=1), given.sum(axis=1), np.nan))


def ladder(model: Expected, analysis: Analysis, criterion: Criterion, group: Mapping[str, str], batch: int) -> Array:
    """The marks of one system by case and level, (n_cases, n_levels)."""
    marks = marks_of(model, analysis, criterion, analysis.raters, group, batch)
    world = model.batches.world(batch)
    item_of = model.batches.item_of(criterion, batch)[model.batches.units(analysis, criterion, group, batch)]
    grid = np.full((int(world.case_of.max()) + 1, len(analysis.levels)), np.nan)
    levels = np.array([own.get("level", "") for own in world.strata])[item_of]
    for place, level in enumerate(analysis.levels):
        here = levels == level
        grid[world.case_of[item_of[here]], place] = marks[here]
    whole = np.isfinite(grid).all(axis=1)
    return np.asarray(grid[whole], dtype=np.float64)


Bools = np.ndarray[tuple[int, ...], np.dtype[np.bool_]]


def _rises(right: Bools) -> Bools:
    """Whether some level is right after a fuller one was wrong."""
    found = [
        (~right[:, full] & right[:, less]) for full in range(right.shape[1]) for less in range(full + 1, right.shape[1])
    ]
    return np.asarray(np.any(found, axis=0))


def _sensitivity(_: Array, right: Bools, __: Analysis) -> float:
    return float(right[:, 0].mean() - right[:, -1].mean())


def _violation(_: Array, right: Bools, analysis: Analysis) -> float:
    kept = right[:, -1] if analysis.denominator == "recovered" else np.ones(len(right), dtype=np.bool_)
    return float(_rises(right)[kept].mean())


def _potential(_: Array, right: Bools, __: Analysis) -> float:
    return 1 - float((~right).all(axis=1).mean())


def _dependence(_: Array, right: Bools, __: Analysis) -> float:
    return float((right[:, 0] != right[:, 1]).mean())


def _stability(_: Array, right: Bools, __: Analysis) -> float:
    return float(sum(right[:, : k + 1].all(axis=1).mean() for k in range(right.shape[1])))


def _gap(marks: Array, _: Bools, __: Analysis) -> float:
    return float(marks[:, 0].mean() - marks[:, -1].mean())


LADDERS: Mapping[str, Callable[[Array, Bools, Analysis], float]] = {
    "information_sensitivity": _sensitivity,
    "monotonicity_violation": _violation,
    "diagnostic_potential": _potential,
    "label_dependence": _dependence,
    "stability": _stability,
    "reasoning_gap": _gap,
}
CASES: Sequence[str] = tuple(LADDERS)
