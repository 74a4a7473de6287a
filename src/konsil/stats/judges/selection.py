"""Selection bias of the best of several estimates, and its out-of-bag correction."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from konsil.stats.engine.cluster_sums import Rows, Sums, prepare
from konsil.stats.engine.contract import Array, Finalise, IntArray
from konsil.stats.engine.resample import evaluate
from konsil.stats.engine.weights import BLOCK, bootstrap_weights


@dataclass(frozen=True, eq=False)
class Selection:
    """The best of several values, and its value on clusters that did not choose it."""

    best: int
    """The index of the largest value over all clusters; -1 where all are undefined."""
    value: float
    """Its value over all clusters, which also chose it."""
    out_of_bag: float
    """The mean, over resamples, of the resample's own best on the clusters it did not draw."""
    low: float
    """Lower end of the out-of-bag values' percentile interval; as wide as a third of the clusters
    makes it."""
    high: float
    """Upper end."""
    optimism: float
    """The mean, over resamples, of the best's value in the resample minus its value over all
    clusters."""
    chosen: IntArray
    """(m,) how often each value was its resample's best."""
    n_undefined: int
    """Resamples without a best or without an out-of-bag value, counted and left out."""

    @property
    def corrected(self) -> float:
        """The chosen value minus its optimism (Efron's correction)."""
        return self.value - self.optimism


def best_of(
    sums: Sums | Rows, finalise: Finalise, *, draws: int = 1_000, key: int = 0, level: float = 0.95
) -> Selection:
    """The largest of m values, chosen in every resample and evaluated on the clusters not drawn.

    In resample b with weights w: pick_b = argmax finalise(w @ sums); in-bag value finalise(w @
    sums)[pick_b]; out-of-bag value finalise((w == 0) @ sums)[pick_b]; optimism = mean over b of
    in-bag value minus finalise(total)[pick_b]. The first of equal values is chosen. nan, with best
    = -1, where no value is defined or no resample has both parts.

    `sums` (n_clusters, k); `finalise` (..., k) -> (..., m).

    Source: Efron (1983), Estimating the error rate of a prediction rule; Breiman (1996), Out-of-bag
    estimation.

    >>> rows = np.array([[1.0, 0, 1], [0, 1, 1], [1, 1, 1], [0, 1, 1], [1, 0, 1], [1, 1, 1]])
    >>> found = best_of(rows, lambda totals: totals[..., :2] / totals[..., 2:], draws=200, key=1)
    >>> found.best, round(found.value, 3), bool(found.out_of_bag < found.value)
    (0, 0.667, True)
    """
    rows = prepare(sums)
    values = evaluate(finalise, rows.total[None])[0]
    m = len(values)
    if not np.isfinite(values).any():
        nan = float("nan")
        return Selection(-1, nan, nan, nan, nan, nan, np.zeros(m, np.int64), draws)
    # Exact in this precision, whatever the draw.
    clusters = rows.clusters().astype(rows.dtype, copy=False)
    chosen = np.zeros(m, np.int64)
    gains, outs = [], []
    for start in range(0, draws, BLOCK):
        stop = min(start + BLOCK, draws)
        weights = bootstrap_weights(key, rows.n_clusters, start, stop, clusters.dtype)
        inside = evaluate(finalise, (weights @ clusters).astype(np.float64, copy=False))
        left_out = (weights == 0).astype(clusters.dtype)
        outside = evaluate(finalise, (left_out @ clusters).astype(np.float64, copy=False))
        usable = np.isfinite(inside).any(axis=1)
        pick = np.argmax(np.where(np.isfinite(inside), inside, -np.inf), axis=1)
        at = np.arange(stop - start)
        usable &= np.isfinite(outside[at, pick]) & np.isfinite(values[pick])
        np.add.at(chosen, pick[usable], 1)
        gains.append((inside[at, pick] - values[pick])[usable])
        outs.append(outside[at, pick][usable])
    gain, out = np.concatenate(gains), np.concatenate(outs)
    best = best_index(values)
    if not len(out):
        nan = float("nan")
        return Selection(best, float(values[best]), nan, nan, nan, nan, chosen, draws)
    low, high = np.quantile(out, [(1 - level) / 2, (1 + level) / 2])
    return Selection(
        best,
        float(values[best]),
        float(out.mean()),
        float(low),
        float(high),
        float(gain.mean()),
        chosen,
        draws - len(out),
    )


def best_index(values: Array) -> int:
    """The index of the largest defined value, -1 where there is none; the first of equals.

    >>> best_index(np.array([np.nan, 0.2, 0.2])), best_index(np.array([np.nan]))
    (1, -1)
    """
    return int(np.nanargmax(values)) if np.isfinite(values).any() else -1
