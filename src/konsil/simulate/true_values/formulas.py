"""Plain formulas of true values: codes, distances of labels, proportions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from konsil.analysis import Analysis
from konsil.analysis.table.labels import Labels
from konsil.instrument import Criterion
from konsil.records import Rater
from konsil.simulate import population
from konsil.simulate.population import Array, Matrix


def code_table(analysis: Analysis, criterion: Criterion, labels: Labels) -> Matrix:
    """From the scale's label numbers to the analysis' codes.

    The last two places are missing and abstained.
    """
    numbers = labels.codes()
    abstained = numbers.get(labels.abstain, -1) if labels.abstain is not None else -1
    codes = [
        numbers.get(analysis.collapse.get(label, label), -1) for label in criterion.scale.labels
    ]
    return np.array([*codes, -1, abstained], dtype=np.int64)


def steps_of(labels: Labels) -> Array:
    """The distances of labels: those of an ordinal scale are steps apart, whatever their numbers.

    Weighted kappa uses them in this way.
    """
    if labels.level in {"nominal", "ordinal"}:
        return np.arange(len(labels.names), dtype=np.float64)
    return np.asarray(labels.values, dtype=np.float64)


def proportion(
    name: str, codes: Matrix, consensus: str, k: int, values: Array, successes: Sequence[int]
) -> float:
    """The proportion of successes, or the mean of numbers, by label or by the raters of an item."""
    if consensus == "majority":
        codes = population.majority(codes, k)[:, None]
    rated = codes >= 0
    numbers = (
        np.isin(codes, successes).astype(np.float64)
        if name == "share"
        else values[np.maximum(codes, 0)]
    )
    if consensus == "mean":
        some = rated.any(axis=1)
        return float(
            (np.where(rated, numbers, 0.0).sum(axis=1)[some] / rated.sum(axis=1)[some]).mean()
        )
    return float(numbers[rated].mean())


def systems_of_family(rater: Rater, families: Mapping[str, str]) -> set[str]:
    """The systems of a judge's own family, and the system that it is itself."""
    kin = {s for s, f in families.items() if f and f == rater.family}
    return (kin | {rater.strata.get("system", "")}) - {""}
