"""Many clusters are drawn in virtual blocks: the same bits for any number of partitions, and the
law of the multinomial."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
import scipy

from konsil.stats.engine import resample, weights
from konsil.stats.engine.resample import block_totals, bootstrap
from konsil.stats.engine.weights import (
    VIRTUAL_BLOCKS,
    VIRTUAL_FROM,
    block_weights,
    bootstrap_weights,
    virtual_edges,
)

MANY = VIRTUAL_FROM + 1000


@pytest.fixture
def few(monkeypatch):
    """Virtual blocks from a few clusters on."""
    monkeypatch.setattr(weights, "VIRTUAL_FROM", 1500)
    monkeypatch.setattr(resample, "VIRTUAL_FROM", 1500)


def sums(n: int, k: int = 3) -> np.ndarray:
    return np.random.default_rng(5).integers(0, 30, (n, k)).astype(np.float64)


def test_up_to_the_limit_weights_are_those_of_before():
    drawn = bootstrap_weights(7, 5, 0, 3)
    assert drawn.tolist() == [[1, 2, 0, 0, 2], [1, 2, 0, 1, 1], [0, 0, 3, 2, 0]]


@pytest.mark.slow
@pytest.mark.parametrize("n_partitions", [1, 7, 64])
def test_partitions_add_up_to_the_same_bits(n_partitions, few):
    rows = sums(3000)
    whole = bootstrap_weights(9, 3000, 3, 70).astype(np.float64) @ rows
    blocks = np.random.default_rng(n_partitions).permutation(VIRTUAL_BLOCKS)
    edges = virtual_edges(3000)
    total = np.zeros_like(whole)
    for own in np.array_split(blocks, n_partitions):
        part = np.zeros_like(rows)  # a worker has the sums of its own clusters alone
        for block in own:
            part[edges[block] : edges[block + 1]] = rows[edges[block] : edges[block + 1]]
        total += block_totals(part, 9, 3, 70, own.tolist())
    assert (total == whole).all()


@pytest.mark.slow
def test_fractions_and_sparse_sums_are_the_same_product(few):
    rows = sums(3000) / 7
    drawn = bootstrap_weights(9, 3000, 0, 70, np.float64)
    np.testing.assert_allclose(block_totals(rows, 9, 0, 70), drawn @ rows, rtol=1e-12)
    sparse = scipy.sparse.csr_array(sums(3000))
    assert (block_totals(sparse, 9, 0, 70) == drawn @ sums(3000)).all()


@pytest.mark.slow
def test_a_range_of_draws_begins_anywhere(few):
    rows = sums(3000)

    def mean(totals):
        return totals[..., :1] / totals[..., 1:2]

    every = bootstrap(rows, mean, draws=200, key=4)
    assert (bootstrap(rows, mean, draws=50, key=4, start=90) == every[90:140]).all()


@pytest.mark.slow
def test_the_law_is_the_multinomial(few):
    """Each cluster's mean is 1, its variance 1 - 1/n, and two clusters' covariance -1/n, within and
    between blocks; here with 4 standard errors of 1,280 draws."""
    n, draws = 2048, 1280
    drawn = bootstrap_weights(3, n, 0, draws, np.float64)
    assert (drawn.sum(axis=1) == n).all()
    some = drawn[:, :400]
    error = 1 / np.sqrt(draws * 400)
    assert abs(some.mean() - 1) < 4 * error
    assert abs(some.var(axis=0).mean() - (1 - 1 / n)) < 4 * np.sqrt(3) * error
    # The sum of m clusters has the variance m (1 - m / n): pairs in one block, and whole blocks.
    for m in (2, 400):
        variance = (
            drawn.reshape(draws, -1)[:, : n - n % m].reshape(draws, -1, m).sum(2).var(0).mean()
        )
        expected = m * (1 - m / n)
        assert abs(variance / expected - 1) < 4 * np.sqrt(2 / draws) / np.sqrt(n // m) + 0.01


def test_counts_of_blocks_then_within_blocks_are_the_multinomial_exactly():
    """The probability of a draw in two stages equals that in one, for all draws of 4 clusters in
    two blocks of 2."""
    n, sizes = 4, (2, 2)
    outcomes = [
        (a, b, c, n - a - b - c)
        for a in range(n + 1)
        for b in range(n + 1 - a)
        for c in range(n + 1 - a - b)
    ]
    multinomial = scipy.stats.multinomial
    for outcome in outcomes:
        blocks = (sum(outcome[:2]), sum(outcome[2:]))
        staged = multinomial.pmf(blocks, n, np.array(sizes) / n)
        for start, stop in pairwise((0, 2, 4)):
            part = outcome[start:stop]
            staged *= multinomial.pmf(part, sum(part), [0.5, 0.5])
        np.testing.assert_allclose(staged, multinomial.pmf(outcome, n, [0.25] * 4))


def test_beyond_the_limit_every_draw_has_all_clusters():
    totals = [drawn.sum(axis=1) for drawn, _ in block_weights(7, MANY, 0)]
    assert (np.sum(totals, axis=0) == MANY).all()
