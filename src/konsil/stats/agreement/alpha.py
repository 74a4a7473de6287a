"""Krippendorff's alpha, for every level of measurement, with missing labels."""

from __future__ import annotations

from functools import partial
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from konsil.stats.engine.arithmetic import ratio
from konsil.stats.engine.contract import Array, Statistic
from konsil.stats.engine.distances import Weights, disagreements, label_values, ratio_distances
from konsil.stats.engine.tables import coincidences, table_margins

Level = Literal["nominal", "ordinal", "interval", "ratio"]
LEVELS: tuple[Level, ...] = get_args(Level)
KRIPPENDORFF = "Krippendorff, Computing Krippendorff's Alpha-Reliability, 2011"


def krippendorff_alpha(
    n_labels: int, level: Level = "nominal", values: ArrayLike | None = None
) -> Statistic:
    """Krippendorff's alpha for any number of raters: 1 - observed / expected disagreement.

    alpha = 1 - (n - 1) sum(o d) / sum(n_c n_k d) with the coincidences o, their margins n_c and
    total n, and the squared difference d of the level: nominal 0 or 1; ordinal, the distance of the
    labels' mid-ranks in this very data; interval (a - b)^2; ratio ((a - b)/(a + b))^2. Units with
    one label or none do not count.

    Sums: coincidences. Values: (..., 1). nan if fewer than two labels can be paired or all of them
    are the same. The ordinal difference is Krippendorff's and not Gwet's ordinal weights: see
    krippendorff_alpha_weighted. Source: Krippendorff 2011.

    Example:
        >>> krippendorff_alpha(2).finalise(np.array([4.0, 1.0, 1.0, 4.0]))
        array([0.64])
    """
    if level not in LEVELS:
        raise ValueError(f"level: got {level!r}; expected one of {', '.join(LEVELS)}")
    x = label_values(n_labels, values)
    name = f"krippendorff_alpha_{level}"
    # These distances do not depend on the data. Ordinal ones do: their scores are mid-ranks, which
    # every resample has anew.
    if level in ("nominal", "ratio"):
        d = ratio_distances(x) if level == "ratio" else 1 - np.eye(n_labels)
        return Statistic(name, coincidences, partial(_from_distances, d=d), KRIPPENDORFF)
    scores = x - x.mean() if level == "interval" else None
    return Statistic(
        name, coincidences, partial(_from_scores, n_labels=n_labels, scores=scores), KRIPPENDORFF
    )


def krippendorff_alpha_weighted(
    n_labels: int, weights: Weights, values: ArrayLike | None = None
) -> Statistic:
    """Krippendorff's alpha with agreement weights in the place of a level's difference.

    The difference is d = 1 - weights. "ordinal" means Gwet's ordinal weights here, as in irrCAC.
    Sums: coincidences. Values: (..., 1); undefined like krippendorff_alpha. Source: Gwet, Handbook
    of Inter-Rater Reliability, 4th ed. 2014, chapter 3.

    Example:
        >>> krippendorff_alpha_weighted(2, "unweighted").finalise(np.array([4.0, 1.0, 1.0, 4.0]))
        array([0.64])
    """
    name = f"krippendorff_alpha[{weights if isinstance(weights, str) else 'own weights'}]"
    d = disagreements(weights, n_labels, values)
    return Statistic(name, coincidences, partial(_from_distances, d=d), "Gwet 2014, chapter 3")


def _from_distances(totals: Array, d: Array) -> Array:
    """Alpha for a fixed difference d, (..., k * k) to (..., 1)."""
    totals = np.asarray(totals, dtype=np.float64)
    counts = table_margins(totals, len(d))[0]
    n = counts.sum(-1)
    expected = np.einsum("...i,...i->...", counts @ d, counts)
    # Weighted draws can leave n between 0 and 1; n - 1 must not turn the sign of an undefined
    # value.
    return np.asarray(
        1 - ratio((n - 1) * (totals @ d.ravel()), np.where(n > 1, expected, 0.0))[..., None]
    )


def _from_scores(totals: Array, n_labels: int, scores: Array | None) -> Array:
    """Alpha for squared differences of scores (mid-ranks if None), (..., k * k) to (..., 1)."""
    totals = np.asarray(totals, dtype=np.float64)
    k = n_labels
    counts = table_margins(totals, k)[0]
    n = counts.sum(-1)
    v = (
        np.cumsum(counts, -1) - counts / 2
        if scores is None
        else np.broadcast_to(scores, counts.shape)
    )
    # Centred, so that no digits cancel below.
    v = v - ratio(np.einsum("...i,...i->...", counts, v), n)[..., None]
    squares = np.einsum("...i,...i->...", counts, v * v)
    together = np.einsum(
        "...ij,...i,...j->...", totals.reshape(*totals.shape[:-1], k, k), v, v, optimize=True
    )
    # Constant labels leave the centred scores at rounding error, not at zero.
    defined = (n > 1) & ((counts > 0).sum(-1) > 1)
    return np.asarray(
        1 - ratio((n - 1) * (squares - together), np.where(defined, n * squares, 0.0))[..., None]
    )
