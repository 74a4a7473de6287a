"""Self preference, plain and adjusted for leniency."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from konsil.stats.judges.self_preference import (
    adjusted_preference,
    advantage,
    comparable,
    plain_preference,
    preference_sums,
    strata_of_means,
)

STEPS = np.array([0.0, 0.25, 0.5, 0.75, 1.0])


def slots(seed: int, leniency: float, preference: float, n: int = 4000) -> tuple[np.ndarray, ...]:
    """A judge with its own answers, and six peers without; (judge, peers, own, stratum,
    clusters)."""
    rng = np.random.default_rng(seed)
    truth = rng.random((n, 5)) < 0.6
    own = np.zeros((n, 5), bool)
    own[:, 0] = True
    p = np.where(truth, 0.9, 0.2) + leniency * (1 - np.where(truth, 0.9, 0.2))
    judge = (rng.random((n, 5)) < np.clip(p + preference * own, 0, 1)).astype(float)
    peers = (rng.random((n, 5, 6)) < np.where(truth, 0.9, 0.2)[..., None]).astype(float)
    clusters = np.repeat(np.arange(n), 5)
    return judge.ravel(), peers.reshape(-1, 6), own.ravel(), truth.astype(int).ravel(), clusters


def totals_of(judge, peers, own, stratum, clusters, other=None, n_strata=2) -> np.ndarray:
    return preference_sums(
        judge, peers, own, ~own if other is None else other, stratum, clusters, n_strata
    ).sum(axis=0)


def by_frame(judge, peers, own, other, stratum) -> tuple[float, set[int]]:
    """The difference in differences from one table of (slot, peer), and the own slots that it
    uses."""
    frame = pd.DataFrame(
        [
            {
                "slot": s,
                "peer": k,
                "stratum": stratum[s],
                "gap": judge[s] - peers[s, k],
                "own": own[s],
            }
            for s in range(len(judge))
            for k in range(peers.shape[1])
            if (own[s] or other[s]) and stratum[s] >= 0
        ]
    ).dropna()
    total = weight = 0.0
    used: set[int] = set()
    for _, part in frame.groupby(["stratum", "peer"]):
        mine, others = part[part.own], part[~part.own]
        if len(mine) and len(others):
            total += len(mine) * (mine.gap.mean() - others.gap.mean())
            weight += len(mine)
            used |= set(mine.slot)
    return (total / weight if weight else float("nan")), used


def test_equals_plain_means_of_a_table() -> None:
    judge, peers, own, stratum, clusters = slots(1, 0.1, 0.1, 300)
    rng = np.random.default_rng(5)
    peers[::7, 2] = np.nan
    judge[::11] = np.nan
    stratum = np.where(rng.random(len(stratum)) < 0.05, -1, stratum * 2)
    stratum[np.flatnonzero(own)[:3]] = 1  # no other answer is in this stratum
    other = ~own & (np.arange(len(own)) % 5 != 4)  # the last system is a sibling
    expected = judge - np.array([np.nanmean(p) for p in peers])
    assert np.allclose(advantage(judge, peers), expected, equal_nan=True)
    totals = totals_of(judge, peers, own, stratum, clusters, other, 3)
    assert plain_preference(totals)[0] == pytest.approx(np.nanmean(expected[own]))
    value, used = by_frame(judge, peers, own, other, stratum)
    assert adjusted_preference(totals)[0] == pytest.approx(value, abs=1e-12)
    assert set(np.flatnonzero(comparable(judge, peers, own, other, stratum, 3))) == used
    assert len(used) < int((own & np.isfinite(expected) & (stratum >= 0)).sum())


def test_leniency_alone_fools_the_plain_difference_only() -> None:
    totals = totals_of(*slots(2, 0.3, 0.0))
    assert plain_preference(totals)[0] > 0.05
    assert abs(adjusted_preference(totals)[0]) < 0.03


def test_preference_is_found() -> None:
    assert adjusted_preference(totals_of(*slots(3, 0.0, 0.1)))[0] == pytest.approx(0.1, abs=0.03)


def test_undefined() -> None:
    assert np.isnan(plain_preference(np.zeros(10))[0])
    assert np.isnan(adjusted_preference(np.zeros(10))[0])
    assert np.isnan(
        adjusted_preference(np.array([1.0, 2, 1, 2, 0, 0, 0, 0, 0, 0]))[0]
    )  # no other answers


def test_strata_are_the_nearest_half_steps() -> None:
    means = np.array([0.0, 0.125, 0.3, 0.625, 1 / 3 + 1 / 3 + 1 / 3, np.nan])
    strata, n = strata_of_means(means, STEPS)
    assert (strata.tolist(), n) == ([0, 1, 2, 5, 8, -1], 9)
    assert strata_of_means(np.array([0.2, 0.25, 0.3, 0.8]), np.array([0.0, 1.0]))[0].tolist() == [
        0,
        0,
        1,
        2,
    ]
    many, n = strata_of_means(np.linspace(0, 100, 13), np.arange(101.0))
    assert (many.tolist(), n) == (list(range(13)), 13)


def two_self_judges(
    seed: int, preference: float, leniency: float, n: int = 60
) -> tuple[float, float]:
    """An unbiased judge-2 beside a judge-1 that prefers its own or is lenient: with the writer as a
    peer, and without.

    Two systems, one answer each to n items; the judges 1 and 2 are these systems, 3 and 4 are none.
    """
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 5, (n, 2))
    steps = (
        truth[..., None]
        + rng.choice([-1, 0, 0, 1], (n, 2, 4))
        + rng.choice([0, 1], (n, 2, 4), p=[0.5, 0.5])
    )
    steps[:, 0, 0] += rng.random(n) < preference
    steps[:, :, 0] += rng.random((n, 2)) < leniency
    scores = STEPS[np.clip(steps, 0, 4)].reshape(2 * n, 4)
    own = np.tile([False, True], n)
    judge, peers = scores[:, 1], scores[:, [0, 2, 3]]
    of_other_families = peers.copy()
    of_other_families[~own, 0] = np.nan
    stratum, clusters = truth.ravel(), np.repeat(np.arange(n), 2)
    return tuple(
        float(adjusted_preference(totals_of(judge, p, own, stratum, clusters, n_strata=5))[0])
        for p in (peers, of_other_families)
    )


@pytest.mark.parametrize(("preference", "leniency"), [(1.0, 0.0), (0.0, 1.0), (0.6, 0.6)])
def test_a_peer_gives_neither_its_own_preference_nor_its_leniency_to_an_unbiased_judge(
    preference, leniency
) -> None:
    values = np.array([two_self_judges(seed, preference, leniency) for seed in range(300)])
    with_writer, without = values.mean(axis=0)
    error = values[:, 1].std() / np.sqrt(len(values))
    assert abs(without) < 3 * error < 0.012
    if preference == 1.0:
        assert with_writer > 0.03  # what a peer's verdict on its own answers makes of it
