"""Pivots of the studentised bootstrap.

A pivot is a resample's deviation in units of that resample's own linearised standard error.
"""

from __future__ import annotations

import numpy as np

from konsil.stats.engine.blocks import in_draws
from konsil.stats.engine.cluster_sums import Rows, Sums, prepare
from konsil.stats.engine.contract import Array, Finalise
from konsil.stats.engine.resample import evaluate
from konsil.stats.engine.weights import BLOCK

_STEP = float(np.finfo(np.float64).eps) ** (1 / 3)


def pivots(sums: Sums | Rows, finalise: Finalise, value: Array, *, draws: int, key: int) -> Array:
    """The studentised deviations (finalise(T*) - value) / se*, (draws, m).

    They are computed on the resamples of `resample.bootstrap` with the same key. se*^2 = C / (C -
    1) * sum over clusters of weight * (gradient at T* . (s_c - T* / C))^2 is the linearised
    variance in the resample. nan where the statistic is undefined in the resample or the resample
    has no spread. The cost is draws x clusters x sums x values operations, so that it suits
    statistics of few sums.

    Source: Davison and Hinkley (1997), 2.7 and 5.2.
    """
    rows = prepare(sums)
    n_patterns = rows.patterns.shape[0]
    m = len(value)
    steps = _STEP * np.maximum(np.abs(rows.total), rows.largest)
    active = np.flatnonzero(steps)
    tile = max((1 << 21) // max(n_patterns * m, 2 * rows.k * max(len(active), 1)), 1)

    def block(key: int, at: int, stop: int) -> Array:
        weights = rows.draw(key, at, at + BLOCK)[: stop - at]
        totals = rows.product(rows.draw(key, at, at + BLOCK))[: stop - at]
        tiles = [slice(low, low + tile) for low in range(0, len(totals), tile)]
        return np.concatenate(
            [
                _pivots(
                    rows, finalise, value, totals[some], weights[some].astype(np.float64), steps
                )
                for some in tiles
            ]
        )

    blocks = [(at, min(at + BLOCK, draws)) for at in range(0, draws, BLOCK)]
    return np.concatenate(list(in_draws(block, key, rows.n_clusters, blocks)))


def _pivots(
    rows: Rows, finalise: Finalise, value: Array, totals: Array, weights: Array, steps: Array
) -> Array:
    """The pivots of a tile of draws, (n, m).

    `totals` (n, k), `weights` (n, n_patterns), `steps` (k,).
    """
    n, k = totals.shape
    active = np.flatnonzero(steps)
    moves = np.zeros((len(active), k))
    moves[np.arange(len(active)), active] = steps[active]
    around = np.concatenate(
        [totals[:, None, :] + moves, totals[:, None, :] - moves, totals[:, None, :]], axis=1
    )
    values = evaluate(finalise, around.reshape(-1, k)).reshape(n, 2 * len(active) + 1, -1)
    up, down, at_totals = values[:, : len(active)], values[:, len(active) : -1], values[:, -1]
    slopes = (up - down) / (2 * steps[active][:, None])
    # At the edge of the domain one of the two steps is undefined: the other one alone is taken.
    one_sided = (
        np.where(np.isnan(down), up - at_totals[:, None], at_totals[:, None] - down)
        / steps[active][:, None]
    )
    slopes = np.where(np.isnan(slopes), one_sided, slopes)
    gradient = np.zeros((n, k, len(value)))
    gradient[:, active] = slopes
    pushed = np.asarray(rows.patterns @ gradient.transpose(1, 0, 2).reshape(k, -1)).reshape(
        -1, n, len(value)
    )
    centred = pushed - np.einsum("nk,nkm->nm", totals, gradient) / rows.n_clusters
    variance = np.einsum("nc,cnm->nm", weights, centred**2) * (
        rows.n_clusters / (rows.n_clusters - 1)
    )
    # Relative to the value: a resample without variation has no t, not an infinite one.
    spread = variance > 1e-24 * (1 + at_totals**2)
    return np.where(spread, (at_totals - value) / np.sqrt(np.where(spread, variance, 1.0)), np.nan)
