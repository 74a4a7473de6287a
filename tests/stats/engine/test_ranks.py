"""Rank statistics against scipy, by tables and by weights."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats as scipy_stats
from scipy.stats import kendalltau, spearmanr

from konsil.stats.engine import ranks
from konsil.stats.engine.contract import Codes, Statistic
from konsil.stats.engine.tables import identity, pair_tables


def value(statistic: Statistic, codes: Codes) -> float:
    return float(statistic.finalise(np.asarray(statistic.tally(codes)).sum(0))[0])


def sample(
    seed: int, k: int = 5, n_raters: int = 3, n_units: int = 40, missing: float = 0.15
) -> Codes:
    g = np.random.default_rng(seed)
    labels = np.clip(
        g.integers(0, k, (n_units, 1)) + g.integers(-1, 2, (n_units, n_raters)), 0, k - 1
    )
    labels[g.random(labels.shape) < missing] = -1
    return Codes(labels, np.repeat(np.arange(n_units // 2), 2), k)


@pytest.mark.parametrize("seed", range(5))
def test_tables_give_scipys_spearman_and_tau(seed: int) -> None:
    codes = sample(seed)
    totals = pair_tables(codes).sum(0)
    rho = ranks.spearman(3, 5, per_pair=True).finalise(totals)
    tau = ranks.kendall_tau_b(3, 5, per_pair=True).finalise(totals)
    for p, (a, b) in enumerate(zip(*np.triu_indices(3, 1), strict=True)):
        x, y = codes.labels[(codes.labels[:, [a, b]] >= 0).all(1)][:, [a, b]].T
        assert rho[p] == pytest.approx(spearmanr(x, y).statistic)
        assert tau[p] == pytest.approx(kendalltau(x, y).statistic)
    assert value(ranks.spearman(3, 5), codes) == pytest.approx(rho.mean())


@pytest.mark.parametrize("seed", range(5))
def test_w_equals_the_friedman_statistic(seed: int) -> None:
    codes = sample(seed)
    whole = codes.labels[(codes.labels >= 0).all(1)]
    n, m = whole.shape
    chi_square = scipy_stats.friedmanchisquare(
        *whole
    ).statistic  # ranks within raters, corrected for ties
    w = value(ranks.kendall_w(3, 5), codes)
    assert w == pytest.approx(chi_square / (m * (n - 1)))
    assert value(ranks.kendall_w(3, 5, ties=False), codes) < w


def test_w_without_ties_needs_no_correction() -> None:
    g = np.random.default_rng(0)
    labels = np.column_stack([g.permutation(8) for _ in range(3)])
    codes = Codes(labels, np.arange(8), 8)
    assert value(ranks.kendall_w(3, 8), codes) == pytest.approx(
        value(ranks.kendall_w(3, 8, ties=False), codes)
    )


def test_constant_raters_leave_ranks_undefined() -> None:
    constant = Codes(np.ones((5, 2), np.int64), np.arange(5), 3)
    half = Codes(np.array([[0, 1], [1, 1], [2, 1]]), np.arange(3), 3)
    for codes in (constant, half):
        assert np.isnan(value(ranks.spearman(2, 3), codes))
        assert np.isnan(value(ranks.kendall_tau_b(2, 3), codes))
    assert np.isnan(value(ranks.kendall_w(2, 3), constant))
    assert np.isnan(value(ranks.kendall_w(1, 3), Codes(np.array([[0], [1]]), np.arange(2), 3)))
    assert np.isnan(value(ranks.kendall_w(2, 3), Codes(np.array([[0, 1]]), np.arange(1), 3)))


SCORES = [(ranks.spearman_scores, spearmanr)]


@pytest.mark.parametrize(("make", "peer"), SCORES)
def test_weighted_scores_are_repeated_units(make: object, peer: object) -> None:
    g = np.random.default_rng(4)
    x = np.round(g.normal(size=30), 1)
    y = np.round(x + g.normal(size=30), 1)
    clusters = np.repeat(np.arange(10), 3)
    statistic = make(x, y, clusters)
    sums = np.asarray(identity(Codes(np.zeros((30, 1), np.int64), clusters, 1)).toarray())
    assert statistic.finalise(sums.sum(0))[0] == pytest.approx(peer(x, y).statistic)
    weights = g.multinomial(10, np.full(10, 0.1), 6)
    drawn = statistic.finalise(weights @ sums)
    assert drawn.shape == (6, 1)
    for row, got in zip(weights, drawn[:, 0], strict=True):
        times = row[clusters]
        assert got == pytest.approx(peer(np.repeat(x, times), np.repeat(y, times)).statistic)
    without = statistic.finalise(sums.sum(0) - sums)[2, 0]
    assert without == pytest.approx(peer(x[clusters != 2], y[clusters != 2]).statistic)


@pytest.mark.parametrize(("make", "peer"), SCORES)
def test_constant_scores_are_undefined(make: object, peer: object) -> None:
    statistic = make([0.1] * 7, np.arange(7) / 3, np.arange(7))
    assert np.isnan(statistic.finalise(np.ones(7))[0])
    assert np.isnan(statistic.finalise(np.zeros(7))[0])


def test_vectors_of_estimates_are_ranked_along_the_last_axis() -> None:
    g = np.random.default_rng(5)
    x, y = g.integers(0, 4, (6, 5)).astype(float), g.normal(size=(6, 5))
    x[0] = 1
    tau = ranks.tau_b(x, y)
    assert np.isnan(tau[0])
    for i in range(1, 6):
        assert tau[i] == pytest.approx(kendalltau(x[i], y[i]).statistic)
    y[3, 2] = np.nan
    assert np.isnan(ranks.tau_b(x, y)[3])
