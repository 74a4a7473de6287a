"""Ensembles of judges against voting by hand."""

from __future__ import annotations

import time

import numpy as np
import pytest

from konsil.stats.agreement.consensus import majority, with_consensus
from konsil.stats.agreement.kappa import cohen_kappa_of
from konsil.stats.engine.contract import Codes
from konsil.stats.judges import ensembles


def sample(missing: float = 0.1, n_judges: int = 5) -> Codes:
    g = np.random.default_rng(2)
    truth = g.integers(-1, 2, (60, 1))
    judges = np.where(
        g.random((60, n_judges)) < 0.7, np.maximum(truth, 0), g.integers(0, 2, (60, n_judges))
    )
    judges[g.random(judges.shape) < missing] = -1
    return Codes(with_consensus(truth[:, 0], judges), np.repeat(np.arange(12), 5), 2)


def test_there_are_256_odd_ensembles_of_nine() -> None:
    subsets = ensembles.odd_subsets(9)
    assert len(subsets) == len(set(subsets)) == 256
    assert all(len(subset) % 2 for subset in subsets)


def test_ensembles_vote_like_a_majority() -> None:
    judges = sample().labels[:, 1:]
    votes = ensembles.ensemble_labels(judges)
    for column, subset in enumerate(ensembles.odd_subsets(5)):
        assert np.array_equal(votes[:, column], majority(judges[:, list(subset)]))


def test_each_ensemble_on_its_own_or_on_common_slots() -> None:
    codes = sample()
    truth, votes = codes.labels[:, 0], ensembles.ensemble_labels(codes.labels[:, 1:])
    everywhere = (truth >= 0) & (votes >= 0).all(1)
    for common in (False, True):
        statistic = ensembles.ensembles(5, "cohen_kappa", common=common)
        got = statistic.finalise(statistic.tally(codes).sum(0))
        for column in range(16):
            slots = everywhere if common else (truth >= 0) & (votes[:, column] >= 0)
            table = np.bincount(2 * votes[slots, column] + truth[slots], minlength=4).astype(float)
            assert got[column] == pytest.approx(float(cohen_kappa_of(table, 1 - np.eye(2))))


def test_the_tally_is_per_cluster() -> None:
    codes = sample()
    sums = ensembles.ensemble_tables(codes)
    assert sums.shape == (12, 64)
    part = Codes(codes.labels[:5], np.zeros(5, np.int64), 2)
    assert np.array_equal(ensembles.ensemble_tables(part)[0], sums[0])


def test_only_two_labels() -> None:
    with pytest.raises(ValueError, match="got 3 labels; expected two"):
        ensembles.ensemble_tables(Codes(np.zeros((2, 4), np.int64), np.arange(2), 3))


def test_256_ensembles_are_tallied_in_milliseconds() -> None:
    g = np.random.default_rng(0)
    codes = Codes(g.integers(0, 2, (1000, 10)).astype(np.int8), np.repeat(np.arange(200), 5), 2)
    times = []
    for _ in range(5):
        start = time.thread_time()
        ensembles.common_ensemble_sums(codes)
        times.append(time.thread_time() - start)
    assert min(times) < 0.05  # measured 2 ms; the limit is wide because the machine may be busy
