"""True values of means and standard deviations of composite scores.

Their formulas are written a second time, apart from those of the analyses.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from konsil.analysis import Analysis, CompositeScore, Row
from konsil.analysis.table.labels import labels_of
from konsil.instrument import Criterion
from konsil.simulate.population import Array
from konsil.simulate.true_values.expected_cases import ENOUGH, Expected, Rule

FORMULAS: Mapping[str, Callable[[Array], float]] = {
    "mean": lambda scores: float(np.nanmean(scores)),
    "standard_deviation": lambda scores: float(np.nanstd(scores, ddof=1)),
}
"""Of the scores of all raters, nan where one has none."""


def row_rule(model: Expected, analysis: Analysis, score: CompositeScore, row: Row) -> Rule | None:
    """The rule of one row of an analysis of a score; None where there is no formula here."""
    minuend = score_rule(model, analysis, score, row.group)
    if minuend is None or row.kind != "difference":
        return minuend
    subtrahend = score_rule(model, analysis, score, {**row.group, **row.versus})
    if subtrahend is None:
        return None
    return lambda batch: minuend(batch) - subtrahend(batch)


def score_rule(
    model: Expected, analysis: Analysis, score: CompositeScore, group: Mapping[str, str]
) -> Rule | None:
    """The rule of one group of an analysis of a score; None where there is no formula here."""
    formula = FORMULAS.get(analysis.statistic)
    parts = [model.criterion(analysis, group, name) for name in score.of]
    criteria = [part for part in parts if part is not None]
    if formula is None or analysis.consensus != "none" or len(criteria) < len(parts):
        return None
    if analysis.spans != "each" or analysis.against is not None:
        return None

    def rule(batch: int) -> float:
        numbers = [_numbers(model, analysis, part, group, batch) for part in criteria]
        return formula(_combined(score, criteria, np.stack(numbers)))

    return rule


def _numbers(
    model: Expected, analysis: Analysis, part: Criterion, group: Mapping[str, str], batch: int
) -> Array:
    """(n_units, n_raters) the numbers of the labels on one criterion."""
    labels = labels_of(analysis, part)
    codes = model.selected(analysis, part, analysis.raters, group, batch, labels)
    values = np.asarray(labels.values, dtype=np.float64)
    return np.where(codes >= 0, values[np.maximum(codes, 0)], np.nan)


def _combined(score: CompositeScore, parts: list[Criterion], numbers: Array) -> Array:
    """The parts' numbers, (k, n_units, n_raters), as one; nan where too few are there."""
    counted = np.isfinite(numbers)
    weights = np.asarray(score.weights or (1.0,) * len(parts))[:, None, None]
    if score.combine == "share":
        numbers = np.where(counted, _hits(score, parts, numbers), np.nan)
    if score.combine == "minimum":
        combined = np.where(counted, numbers, np.inf).min(axis=0)
    else:
        combined = np.where(counted, numbers * weights, 0.0).sum(axis=0)
        if score.combine != "sum":
            total = (counted * weights).sum(axis=0)
            combined = combined / np.where(total > 0, total, np.nan)
    least = len(parts) if score.missing == "complete" else score.min_parts
    return np.where(counted.sum(axis=0) >= least, combined, np.nan)


def _hits(score: CompositeScore, parts: list[Criterion], numbers: Array) -> Array:
    if score.at_least is not None:
        return (numbers >= score.at_least - ENOUGH).astype(np.float64)
    hits = [
        np.isin(
            of_part,
            [
                number
                for label, number in zip(part.scale.labels, part.scale.numbers(), strict=True)
                if label in score.labels
            ],
        )
        for part, of_part in zip(parts, numbers, strict=True)
    ]
    return np.stack(hits).astype(np.float64)
