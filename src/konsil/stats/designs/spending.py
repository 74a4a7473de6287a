"""Alpha spending functions: how much of the type I error may be used up to an interim analysis."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal, get_args

import numpy as np
from scipy import special

from konsil.stats.engine.contract import Array

Spending = Literal["obrien_fleming", "pocock", "power"]
"""The families: O'Brien-Fleming type and Pocock type of Lan and DeMets, and the power family."""
SOURCE = "Lan and DeMets (1983); power family: Kim and DeMets (1987)"


def spent(
    fractions: Sequence[float] | Array,
    *,
    spending: Spending = "obrien_fleming",
    alpha: float = 0.05,
    rho: float = 2.0,
) -> Array:
    """Two-sided type I error that may be spent up to each information fraction, shape (k,).

    Half of it belongs to each side, as in the tables of Lan and DeMets. With t = min(fraction, 1):

        obrien_fleming: 4 (1 - Phi(z / sqrt(t))), z the 1 - alpha/4 quantile of the normal
        pocock:         alpha log(1 + (e - 1) t)
        power:          alpha t^rho

    Each rises from 0 at t = 0 to alpha at t = 1. Raises ValueError where alpha is not between 0 and
    1, rho is not above 0, or a fraction is below 0. Source: Lan and DeMets (1983); Kim and DeMets
    (1987) for the power family.

    >>> spent([0.5, 1], spending="power", alpha=0.05, rho=2)
    array([0.0125, 0.05  ])
    """
    t = np.minimum(np.asarray(fractions, dtype=np.float64), 1.0)
    if not 0 < alpha < 1:
        raise ValueError(f"alpha {alpha}: expected a number between 0 and 1, such as 0.05")
    if spending not in get_args(Spending):
        raise ValueError(f"spending {spending!r}: expected one of {', '.join(get_args(Spending))}")
    if not rho > 0:
        raise ValueError(f"rho {rho}: expected a number above 0")
    if not (t >= 0).all():
        raise ValueError("fractions: expected numbers of 0 or more")
    if spending == "pocock":
        return np.asarray(alpha * np.log1p((math.e - 1) * t))
    if spending == "power":
        return np.asarray(alpha * t**rho)
    z = special.ndtri(1 - alpha / 4)
    root = np.sqrt(np.where(t > 0, t, np.nan))
    return np.where(t > 0, 4 * special.ndtr(-z / root), 0.0)
