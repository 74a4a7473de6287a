"""How much two labels disagree: agreement weights by name, and Krippendorff's difference functions.

Two families carry the word *ordinal* and are not the same. `agreement_weights("ordinal")` are
Gwet's ordinal weights: a fixed function of the ranks' distance. Krippendorff's ordinal metric
depends on how often the labels between two others were used, so it lives in `alpha.py`. On
Krippendorff's four-coder table they give 0.834 and 0.815.
"""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from konsil.stats.engine.contract import Array

WeightsName = Literal["unweighted", "linear", "quadratic", "ordinal", "radical", "ratio"]
Weights = WeightsName | ArrayLike
"""A named set of agreement weights, or an own symmetric matrix with ones on its diagonal."""

WEIGHTS: tuple[WeightsName, ...] = get_args(WeightsName)


def label_values(n_labels: int, values: ArrayLike | None) -> Array:
    """Return the labels' numbers, (n_labels,): the declared ones, or 0, 1, 2, ... where none are.

    Example:
        >>> label_values(3, None)
        array([0., 1., 2.])
    """
    if values is None:
        return np.arange(n_labels, dtype=np.float64)
    x = np.asarray(values, dtype=np.float64)
    if x.shape != (n_labels,):
        raise ValueError(
            f"values: got {x.size} numbers for {n_labels} labels; expected one number a label"
        )
    return x


def agreement_weights(weights: Weights, n_labels: int, values: ArrayLike | None = None) -> Array:
    """Return how much of an agreement each pair of labels is, 1 on the diagonal.

    With x the labels' values, D = max x - min x and d = |x_i - x_j|: linear 1 - d/D; quadratic 1 -
    (d/D)^2; radical 1 - sqrt(d/D); ratio 1 - ((x_i - x_j)/(x_i + x_j))^2, the square divided by
    that of the two extreme values; ordinal (Gwet) 1 - C(|i - j| + 1, 2)/C(n_labels, 2), from the
    ranks alone.

    Shape: (n_labels, n_labels). Source: Gwet, Handbook of Inter-Rater Reliability, 4th ed. 2014,
    chapter 3.

    Example:
        >>> agreement_weights("quadratic", 3)
        array([[1.  , 0.75, 0.  ],
               [0.75, 1.  , 0.75],
               [0.  , 0.75, 1.  ]])
    """
    if not isinstance(weights, str):
        return _own_matrix(weights, n_labels)
    if weights not in WEIGHTS:
        raise ValueError(
            f"weights: got {weights!r}; expected one of {', '.join(WEIGHTS)} or a matrix"
        )
    if weights == "unweighted" or n_labels < 2:
        return np.eye(n_labels)
    x = label_values(n_labels, values)
    # Ordinal weights count categories, whatever numbers the labels have.
    if weights == "ordinal":
        x = np.arange(n_labels, dtype=np.float64)
    gap = np.abs(x[:, None] - x)
    if weights == "ordinal":
        distance = gap * (gap + 1) / 2
    elif weights == "ratio":
        distance = ratio_distances(x)
    else:
        distance = gap ** {"linear": 1.0, "quadratic": 2.0, "radical": 0.5}[weights]
    widest = distance.max()
    if not np.isfinite(widest) or widest <= 0:
        raise ValueError(f"weights: {weights} weights need distinct values, got {x.tolist()}")
    return np.asarray(1 - distance / widest, dtype=np.float64)


def disagreements(weights: Weights, n_labels: int, values: ArrayLike | None = None) -> Array:
    """Return 1 - agreement_weights, (n_labels, n_labels).

    The diagonal is exactly 0, so that a sum of disagreements is 0 only if every term is.

    Example:
        >>> disagreements("linear", 3)[0]
        array([0. , 0.5, 1. ])
    """
    return np.asarray(1 - agreement_weights(weights, n_labels, values), dtype=np.float64)


def ratio_distances(values: ArrayLike) -> Array:
    """Return Krippendorff's ratio difference ((a - b)/(a + b))^2 of every two values.

    0 for two equal values.

    Example:
        >>> ratio_distances([1, 3])
        array([[0.  , 0.25],
               [0.25, 0.  ]])
    """
    x = np.asarray(values, dtype=np.float64)
    gap, total = x[:, None] - x, x[:, None] + x
    # A ratio needs a meaningful zero: numbers below it have no distance of this kind.
    if (np.minimum.outer(x, x) < 0).any() or ((total == 0) & (gap != 0)).any():
        raise ValueError(f"values: ratios need numbers of at least 0, got {x.tolist()}")
    return np.asarray(
        np.square(np.divide(gap, total, out=np.zeros_like(gap), where=total != 0)), dtype=np.float64
    )


def _own_matrix(weights: ArrayLike, n_labels: int) -> Array:
    w = np.asarray(weights, dtype=np.float64)
    if w.shape != (n_labels, n_labels):
        raise ValueError(
            f"weights: got a matrix of shape {w.shape}; expected ({n_labels}, {n_labels})"
        )
    if not np.array_equal(w, w.T) or (np.diag(w) != 1).any() or (w > 1).any() or (w < 0).any():
        raise ValueError(
            "weights: expected a symmetric matrix with ones on the diagonal and values from 0 to 1"
        )
    return w
