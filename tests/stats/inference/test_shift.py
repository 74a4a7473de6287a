"""Permutation test of a shift between groups of clusters."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from konsil.stats.inference.shift import chi_square, shift_test, variance_of_means


def test_chi_square_is_pearsons():
    table = np.array([[12.0, 5, 3], [7, 9, 4]])
    assert chi_square(table) == pytest.approx(stats.chi2_contingency(table, correction=False)[0])


def test_p_is_that_of_all_allocations():
    """Three clusters a group: 20 allocations, counted one by one."""
    counts = np.array([[3.0, 0], [2, 1], [3, 1], [0, 3], [1, 2], [1, 1]])
    observed = chi_square(np.array([counts[:3].sum(0), counts[3:].sum(0)]))
    spreads = []
    for chosen in itertools.combinations(range(6), 3):
        mask = np.isin(np.arange(6), chosen)
        spreads.append(chi_square(np.array([counts[mask].sum(0), counts[~mask].sum(0)])))
    exact = np.mean(np.array(spreads) >= observed - 1e-9)
    result = shift_test(counts, np.repeat([0, 1], 3), chi_square, draws=3999, key=2)
    assert result.statistic == pytest.approx(observed)
    assert result.p == pytest.approx(exact, abs=0.02)


@pytest.mark.slow
def test_the_level_is_kept_where_labels_are_correlated_within_clusters():
    generator = np.random.default_rng(4)
    p_values = []
    for n in range(150):
        shares = generator.beta(0.5, 0.5, size=24)
        hits = generator.binomial(6, shares).astype(float)
        rows = np.column_stack([hits, 6 - hits])
        p_values.append(shift_test(rows, np.arange(24) % 3, chi_square, draws=99, key=n).p)
    # Pearson's own test rejects about a third of such tables.
    assert np.mean(np.array(p_values) <= 0.05) <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / 150)


def test_variance_of_means_weighs_groups_by_their_units():
    assert variance_of_means(np.array([[2.0, 4], [6, 6]])) == pytest.approx(
        0.4 * (0.5 - 0.8) ** 2 + 0.6 * (1 - 0.8) ** 2
    )


@pytest.mark.parametrize(
    ("rows", "groups"),
    [
        (np.zeros((0, 2)), np.zeros(0, int)),
        (np.ones((4, 2)), np.zeros(4, int)),
        (np.ones((4, 2)), np.array([0, 0, 0, 1])),
        (np.zeros((4, 2)), np.array([0, 0, 1, 1])),
    ],
)
def test_undefined_is_nan(rows, groups):
    assert all(math.isnan(value) for value in shift_test(rows, groups, chi_square))
    assert math.isnan(variance_of_means(np.zeros((2, 2))))
