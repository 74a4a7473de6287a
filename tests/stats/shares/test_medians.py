"""Medians in clusters: order statistics of independent ratings, clusters as units, undefined cases."""

from __future__ import annotations

import math

import numpy as np
import scipy
from hypothesis import given, settings
from hypothesis import strategies as st

from konsil.stats.shares.medians import clustered_median, label_counts


def test_eight_independent_values_have_the_interval_of_the_sign_test() -> None:
    """From the least to the greatest: Conover (1999), table A3, n = 8 at 0.95."""
    interval = clustered_median(np.arange(8), np.arange(8), np.arange(1.0, 9.0))
    assert interval == (4.5, 1.0, 8.0)


def inverted(labels: np.ndarray, values: np.ndarray, level: float) -> tuple[float, float]:
    """The limits by Wilson's interval with t, written a second time, for one rating a cluster."""
    n = len(labels)
    t = scipy.stats.t.ppf((1 + level) / 2, n - 1)

    def wilson(p: float) -> tuple[float, float]:
        if p in (0, 1):
            k = round(p * n)
            low = scipy.stats.beta.ppf((1 - level) / 2, k, n - k + 1) if k else 0.0
            high = scipy.stats.beta.ppf((1 + level) / 2, k + 1, n - k) if k < n else 1.0
            return low, high
        # The variance between clusters is n / (n - 1) times the binomial one, at most n outcomes.
        size = min(p * (1 - p) / (p * (1 - p) / (n - 1)), n)
        centre = (p + t * t / (2 * size)) / (1 + t * t / size)
        reach = t / (1 + t * t / size) * math.sqrt(p * (1 - p) / size + t * t / (4 * size**2))
        return max(0, centre - reach), min(1, centre + reach)

    possible = [
        values[v]
        for v in range(len(values))
        if wilson((labels <= v).mean())[1] >= 0.5 and wilson((labels < v).mean())[0] <= 0.5
    ]
    return min(possible), max(possible)


@given(st.lists(st.integers(0, 4), min_size=5, max_size=60))
@settings(deadline=None)
def test_the_interval_inverts_the_tests_of_proportions(labels: list[int]) -> None:
    codes, values = np.array(labels), np.array([1.0, 2.0, 3.0, 5.0, 9.0])
    median, low, high = clustered_median(codes, np.arange(len(codes)), values)
    assert median == np.median(values[codes])
    assert (low, high) == inverted(codes, values, 0.95)
    assert low <= median <= high


def test_equal_ratings_of_a_cluster_are_one() -> None:
    """Four copies of each rating change nothing but their number."""
    labels, clusters = np.array([0, 1, 1, 2, 3, 2, 4, 3, 2, 1]), np.arange(10)
    values = np.arange(1.0, 6.0)
    alone = clustered_median(labels, clusters, values)
    assert clustered_median(np.repeat(labels, 4), np.repeat(clusters, 4), values) == alone
    independent = clustered_median(np.repeat(labels, 4), np.arange(40), values)
    assert independent[2] - independent[1] < alone[2] - alone[1]


def test_undefined_without_ratings_and_limits_without_two_clusters() -> None:
    none, values = np.array([], dtype=np.int64), np.array([1.0, 2.0])
    assert np.isnan(clustered_median(none, none, values)).all()
    median, *limits = clustered_median(np.array([0, 1]), np.array([0, 0]), values)
    assert median == 1.5
    assert np.isnan(limits).all()


def test_a_lower_level_has_no_wider_interval() -> None:
    labels = np.random.default_rng(3).integers(0, 7, 60)
    values = np.arange(7.0)
    _, low, high = clustered_median(labels, np.arange(60), values, 0.5)
    _, least, greatest = clustered_median(labels, np.arange(60), values)
    assert least <= low <= high <= greatest
    assert (low, high) != (least, greatest)


def test_labels_are_counted_by_cluster() -> None:
    counts = label_counts(np.array([0, 2, 2]), np.array([0, 1, 1]), (2, 3))
    assert np.asarray(counts.todense()).tolist() == [[1, 0, 0], [0, 0, 2]]
