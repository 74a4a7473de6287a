"""The best of many on the data and out of bag."""

from __future__ import annotations

import numpy as np
import pytest

from konsil.stats.engine.weights import bootstrap_weights
from konsil.stats.judges.selection import best_index, best_of


def shares(totals: np.ndarray) -> np.ndarray:
    return totals[..., :-1] / totals[..., -1:]


def equal_candidates(seed: int, n: int, m: int, p: float = 0.7) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.column_stack([(rng.random((n, m)) < p).astype(float), np.ones(n)])


def test_equals_a_loop_over_draws() -> None:
    rows = equal_candidates(1, 30, 5)
    found = best_of(rows, shares, draws=70, key=9)
    weights = bootstrap_weights(9, 30, 0, 70, np.float64)
    whole = rows[:, :5].mean(axis=0)
    outs, gains, chosen = [], [], np.zeros(5, int)
    for w in weights:
        inside = (w @ rows)[:5] / (w @ rows)[5]
        pick = int(np.argmax(inside))
        left = rows[w == 0]
        outs.append(left[:, pick].mean())
        gains.append(inside[pick] - whole[pick])
        chosen[pick] += 1
    assert found.out_of_bag == pytest.approx(np.mean(outs), abs=1e-12)
    assert found.optimism == pytest.approx(np.mean(gains), abs=1e-12)
    assert found.chosen.tolist() == chosen.tolist()
    assert (found.best, found.value) == (int(np.argmax(whole)), pytest.approx(whole.max()))
    assert found.corrected == pytest.approx(found.value - found.optimism)


def test_the_best_of_equals_is_optimistic_and_out_of_bag_is_not() -> None:
    found = [
        best_of(equal_candidates(seed, 60, 40), shares, draws=128, key=seed) for seed in range(60)
    ]
    naive = np.mean([f.value for f in found]) - 0.7
    out = np.mean([f.out_of_bag for f in found]) - 0.7
    assert naive > 0.08
    # Out of bag the chosen one is as good as any: only its regression to the mean is left.
    assert abs(out) < 0.06
    assert abs(out) < naive / 2


def test_undefined_is_counted() -> None:
    nothing = best_of(np.zeros((4, 3)), shares, draws=64)
    assert (nothing.best, nothing.n_undefined) == (-1, 64)
    assert np.isnan(nothing.value)
    one = best_of(np.array([[1.0, 0.0, 1.0]]), shares, draws=64)
    assert (one.best, one.n_undefined) == (0, 64)
    assert np.isnan(one.out_of_bag)
    assert best_index(np.array([np.nan, 1.0])) == 1
