"""Weights of partial agreement that a user states for every two labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from konsil.errors import AnalysisError, nearest, option

Matrix = tuple[tuple[float, ...], ...]
"""A weight for every two labels, in the order of the scale: a row for each."""

Weights = str | Matrix
"""The name of weights, empty: those of the statistic; or a weight for every two labels."""

PairWeights = Literal["alike", "units"]
"""A pair of raters counts like every other, or by the units that it shares."""


@dataclass(frozen=True)
class OwnWeights:
    """Weight of partial agreement for every two labels.

    1 on the diagonal, from 0 to 1 elsewhere, symmetric.
    """

    labels: tuple[str, ...]
    """The labels, in any order."""
    rows: Matrix
    """One row a label, one number for each label."""

    def of(self, names: Sequence[str]) -> Matrix:
        """The weights in the order of a scale's labels.

        Labels that the scale does not have are left out.

        >>> own_weights({"b": {"a": 0.5, "b": 1}, "a": {"a": 1, "b": 0.5}}).of(["a", "b"])
        ((1.0, 0.5), (0.5, 1.0))
        """
        for name in names:
            if name not in self.labels:
                raise AnalysisError(
                    f"{option('weights')}: there is no row for the label {name!r};"
                    f" {nearest(name, self.labels)}"
                )
        places = [self.labels.index(name) for name in names]
        return tuple(tuple(self.rows[a][b] for b in places) for a in places)


def own_weights(table: Mapping[str, Mapping[str, float]]) -> OwnWeights:
    """The weights of a table label -> label -> weight, checked.

    An AnalysisError states what is wrong with it.
    """
    labels = tuple(str(name) for name in table)
    weight_of = {
        (str(a), str(b)): float(weight) for a, row in table.items() for b, weight in row.items()
    }
    for a in labels:
        for b in labels:
            if (a, b) not in weight_of:
                raise AnalysisError(
                    f"{option('weights')}: there is no weight of {a!r} and {b!r}; expected one for"
                    " every two labels"
                )
            if not 0 <= weight_of[a, b] <= 1:
                raise AnalysisError(
                    f"{option('weights')}: {a!r} and {b!r} have {weight_of[a, b]:g}; expected from"
                    " 0 to 1"
                )
            if weight_of[a, b] != weight_of.get((b, a), weight_of[a, b]):
                raise AnalysisError(
                    f"{option('weights')}: {a!r} and {b!r} have {weight_of[a, b]:g}, {b!r} and"
                    f" {a!r} {weight_of[b, a]:g}; expected the same"
                )
        if weight_of[a, a] != 1:
            raise AnalysisError(
                f"{option('weights')}: {a!r} with itself has {weight_of[a, a]:g}; expected 1"
            )
    return OwnWeights(labels, tuple(tuple(weight_of[a, b] for b in labels) for a in labels))
