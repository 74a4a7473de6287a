import numpy as np
import pytest

from konsil.stats.engine.weights import bootstrap_weights
from konsil.stats.inference import infer


def test_pivots_by_recomputing_every_draw():
    generator = np.random.default_rng(1)
    sums = generator.integers(1, 9, (15, 3)).astype(float)

    def ratio(totals):
        return totals[..., :2] / totals[..., 2:]

    value = ratio(sums.sum(axis=0)[None])[0]
    weights = bootstrap_weights(4, 15, 0, 90, np.int64)
    expected = []
    for row in weights:
        drawn = np.repeat(sums, row, axis=0)
        total = drawn.sum(axis=0)
        here = total[:2] / total[2]
        influence = (drawn[:, :2] - drawn[:, 2:] * here) / total[2]
        expected.append((here - value) / np.sqrt((influence**2).sum(axis=0) * 15 / 14))
    assert infer.pivots(sums, ratio, value, draws=90, key=4) == pytest.approx(
        np.array(expected), rel=1e-6
    )


def test_a_draw_without_spread_is_undefined():
    sums = np.array([[1.0, 1.0], [3.0, 1.0]])
    pivots = infer.pivots(
        sums, lambda totals: totals[..., :1] / totals[..., 1:], np.array([2.0]), draws=200, key=1
    )
    one_cluster_only = (bootstrap_weights(1, 2, 0, 200) == 2).any(axis=1)
    assert np.array_equal(np.isnan(pivots[:, 0]), one_cluster_only)
