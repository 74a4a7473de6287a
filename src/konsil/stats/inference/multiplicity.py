"""Holm's adjustment of a family of tests; `permutation` and `joint` have the max-T adjustments."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from konsil.stats.engine.contract import Array


def holm(p: ArrayLike) -> Array:
    """Holm's step-down adjusted p values, (n,).

    The sorted p_(i) are multiplied by n - i + 1 and made monotone, at most 1. An undefined p stays
    nan and is no member of the family.

    Source: Holm (1979), A simple sequentially rejective multiple test procedure.

    >>> holm([0.01, 0.04, 0.03])
    array([0.03, 0.06, 0.06])
    """
    raw = np.asarray(p, dtype=np.float64)
    if raw.ndim != 1:
        raise ValueError(f"p values: got shape {raw.shape}, expected one dimension")
    adjusted = np.full(raw.shape, np.nan)
    defined = np.flatnonzero(~np.isnan(raw))
    # Stable: equal p values keep their order on every machine.
    ascending = defined[np.argsort(raw[defined], kind="stable")]
    factors = np.arange(len(ascending), 0, -1)
    # A larger p value never gets a smaller adjusted one.
    adjusted[ascending] = np.minimum(np.maximum.accumulate(raw[ascending] * factors), 1.0)
    return adjusted
