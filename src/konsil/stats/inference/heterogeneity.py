"""Wald test of whether several numbers differ whose comparisons share items and raters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy

from konsil.stats.engine.contract import Array, IntArray
from konsil.stats.inference.cluster_variance import two_ways
from konsil.stats.inference.joint import summed_products
from konsil.stats.inference.wald import tally_of_rows


@dataclass(frozen=True, eq=False)
class Influences:
    """One number and each row's influence on it; arrays (n_rows,)."""

    value: float
    """The number."""
    influence: Array
    """Each row's influence on it."""
    items: IntArray
    """The row's item, with the same numbering in all groups that are compared."""
    raters: IntArray | None
    """The row's rater, with the same numbering in all groups; None where raters are no source of
    variance."""
    strata: IntArray
    """The row's stratum: the groups of rows that have a mean of their own."""


class Heterogeneity(NamedTuple):
    """Test of the hypothesis that k numbers are equal."""

    statistic: float
    """The F statistic."""
    df: float
    """k - 1."""
    df_error: float
    """The denominator's degrees of freedom."""
    p: float
    """nan where there are too few items or raters for the test."""


def heterogeneity(groups: Sequence[Influences]) -> Heterogeneity:
    """Wald test of the hypothesis that all numbers are equal.

    F = d' V^-1 d / (k - 1) * (df - k + 2) / df, with k - 1 and df - k + 2 degrees of freedom. d are
    the numbers minus their mean in k - 1 orthonormal contrasts, V their two-way covariance V1 + V2
    - V12, bounded from below by V1 and by V2 in every direction. Each number's variances are the
    bias-reduced ones of `cluster_variance`; df is the smallest of their degrees of freedom. nan
    where df <= k - 2, with fewer than two groups, and where nothing varies.

    Source: Hotelling (1931) for the distribution; Cameron, Gelbach and Miller (2011) for V.

    >>> g = np.random.default_rng(1)
    >>> rows = [
    ...     Influences(
    ...         v, g.normal(size=90) / 90, np.arange(90), np.arange(90) % 30, np.zeros(90, int)
    ...     )
    ...     for v in (0.0, 0.01, 0.9)
    ... ]
    >>> result = heterogeneity(rows)
    >>> bool(result.p < 0.001), round(result.df_error)
    (True, 28)
    """
    k = len(groups)
    nothing = Heterogeneity(np.nan, k - 1.0, np.nan, np.nan)
    if k < 2:
        return nothing
    two = all(g.raters is not None for g in groups)
    column = np.concatenate([np.full(len(g.influence), n) for n, g in enumerate(groups)])
    psi, items = (
        np.concatenate([g.influence for g in groups]),
        np.concatenate([g.items for g in groups]),
    )
    raters = np.concatenate(
        [np.zeros(len(g.items), np.int64) if g.raters is None else g.raters for g in groups]
    )
    ways = [items, raters, items * (int(raters.max(initial=0)) + 1) + raters] if two else [items]
    covariances, surveys = [], []
    for clusters in ways:
        tallies = [
            tally_of_rows(psi[column == n][:, None], clusters[column == n], g.strata)
            for n, g in enumerate(groups)
        ]
        variances = np.array([t.variance()[0] for t in tallies])
        plain = summed_products(clusters, column, psi, k)
        # The correlations are those of the plain products, at the variances corrected for few
        # clusters.
        scale = np.sqrt(
            np.divide(variances, np.diag(plain), out=np.ones(k), where=np.diag(plain) > 0)
        )
        covariances.append(plain * np.outer(scale, scale))
        surveys.append((variances, tallies))
    contrasts = _contrasts(k)
    parts = [contrasts @ v @ contrasts.T for v in covariances]
    covariance = parts[0]
    rest = surveys[-1][0] if two else None
    freedom = [
        np.array([t.df(None if rest is None else rest[[n]])[0] for n, t in enumerate(tallies)])
        for _, tallies in surveys
    ]
    df = float(freedom[0].min())
    if two:
        covariance = _at_least(_at_least(parts[0] + parts[1] - parts[2], parts[0]), parts[1])
        df = float(
            two_ways(surveys[0][0], freedom[0], surveys[1][0], freedom[1], surveys[2][0])[1].min()
        )
    d = contrasts @ np.array([g.value for g in groups])
    # Without a positive covariance F is any number: no test is better than a wild one.
    if not np.isfinite(d).all() or df <= k - 2 or np.linalg.eigvalsh(covariance).min() <= 0:
        return nothing
    error = df - k + 2
    statistic = float(d @ np.linalg.solve(covariance, d)) / (k - 1) * error / df
    p = float(scipy.special.fdtrc(k - 1, error, statistic))
    return Heterogeneity(statistic, k - 1.0, error, max(p, float(np.finfo(np.float64).tiny)))


def _contrasts(k: int) -> Array:
    """Orthonormal contrasts, (k - 1, k): each row sums to zero."""
    # Any orthonormal contrasts have the same F, and these favour no group as a reference.
    vectors = np.linalg.qr(np.column_stack([np.ones(k), np.eye(k)[:, : k - 1]]))[0]
    return np.asarray(vectors[:, 1:].T)


def _at_least(matrix: Array, bound: Array) -> Array:
    """The matrix, no smaller than the bound in any direction."""
    values, vectors = np.linalg.eigh(bound)
    size = np.sqrt(np.maximum(values, 1e-12 * max(float(values.max()), 1e-300)))
    root, inverse = vectors * size, vectors / size
    inner = inverse.T @ matrix @ inverse
    eigenvalues, turns = np.linalg.eigh((inner + inner.T) / 2)
    return np.asarray(root @ ((turns * np.maximum(eigenvalues, 1.0)) @ turns.T) @ root.T)
