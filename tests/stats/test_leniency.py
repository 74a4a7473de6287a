"""Self preference, plain and adjusted for leniency."""

from __future__ import annotations

import numpy as np
import pytest

from konsil.stats.leniency import adjusted_preference, advantage, plain_preference, preference_sums


def slots(seed: int, leniency: float, preference: float, n: int = 4000) -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng(seed)
    truth = rng.random((n, 5)) < 0.6
    own = np.zeros((n, 5), bool)
    own[:, 0] = True
    p = np.where(truth, 0.9, 0.2) + leniency * (1 - np.where(truth, 0.9, 0.2))
    judge = (rng.random((n, 5)) < np.clip(p + preference * own, 0, 1)).astype(float)
    peers = (rng.random((n, 5, 6)) < np.where(truth, 0.9, 0.2)[..., None]).astype(float)
    clusters = np.repeat(np.arange(n), 5)
    return judge.ravel(), peers.reshape(-1, 6), own.ravel(), truth.astype(int).ravel(), clusters


def test_equals_plain_means() -> None:
    judge, peers, own, expert, clusters = slots(1, 0.1, 0.1, 300)
    peers[::7, 2] = np.nan
    judge[::11] = np.nan
    difference = advantage(judge, peers)
    expected = judge - np.array([np.nanmean(p) for p in peers])
    assert np.allclose(difference, expected, equal_nan=True)
    totals = preference_sums(difference, own, expert, clusters, 2).sum(axis=0)
    assert plain_preference(totals)[0] == pytest.approx(np.nanmean(expected[own]))
    parts, weight = [], []
    for label in (0, 1):
        mine, others = expected[own & (expert == label)], expected[~own & (expert == label)]
        weight.append(np.isfinite(mine).sum())
        parts.append(np.nanmean(mine) - np.nanmean(others))
    assert adjusted_preference(totals)[0] == pytest.approx(np.average(parts, weights=weight))


def test_leniency_alone_fools_the_plain_difference_only() -> None:
    judge, peers, own, expert, clusters = slots(2, 0.3, 0.0)
    totals = preference_sums(advantage(judge, peers), own, expert, clusters, 2).sum(axis=0)
    assert plain_preference(totals)[0] > 0.05
    assert abs(adjusted_preference(totals)[0]) < 0.03


def test_preference_is_found() -> None:
    judge, peers, own, expert, clusters = slots(3, 0.0, 0.1)
    totals = preference_sums(advantage(judge, peers), own, expert, clusters, 2).sum(axis=0)
    assert adjusted_preference(totals)[0] == pytest.approx(0.1, abs=0.03)


def test_undefined() -> None:
    assert np.isnan(plain_preference(np.zeros(12))[0])
    assert np.isnan(adjusted_preference(np.zeros(12))[0])
    only_own = np.array([1.0, 2, 0, 0, 1, 2, 0, 0, 0, 0, 0, 0])
    assert np.isnan(adjusted_preference(only_own)[0])
