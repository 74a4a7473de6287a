import numpy as np
import pytest
from statsmodels.stats.proportion import proportion_confint

from konsil.stats import shares
from konsil.stats.shares import clopper_pearson, interval, wilson

COUNTS = [(k, n) for n in (1, 2, 7, 30, 1000) for k in sorted({0, 1, n // 3, n - 1, n})]


@pytest.mark.parametrize("level", [0.9, 0.95])
@pytest.mark.parametrize(("ours", "theirs"), [(wilson, "wilson"), (clopper_pearson, "beta")])
def test_as_statsmodels(ours, theirs, level):
    k, n = np.array(COUNTS).T
    low, high = ours(k, n, level)
    for i, (some, all_) in enumerate(COUNTS):
        expected = proportion_confint(some, all_, alpha=1 - level, method=theirs)
        assert (low[i], high[i]) == pytest.approx(expected, abs=1e-12)


def test_the_interval_beside_a_share_is_exact_at_none_and_all():
    low, high = interval([0, 2, 5, 0], [4, 2, 9, 0])
    assert (low[0], high[0]) == tuple(float(bound) for bound in clopper_pearson(0, 4))
    assert (low[1], high[1]) == tuple(float(bound) for bound in clopper_pearson(2, 2))
    assert (low[2], high[2]) == tuple(float(bound) for bound in wilson(5, 9))
    assert np.isnan([low[3], high[3]]).all()
    assert low[0] == 0 and high[1] == 1


def test_shapes_broadcast():
    low, high = interval(np.arange(6).reshape(2, 3), 5)
    assert low.shape == high.shape == (2, 3)
    assert np.all(low < high)


def test_counts_are_checked():
    with pytest.raises(ValueError, match="0 <= k <= n"):
        interval(3, 2)


def test_clusters_of_one_outcome_are_wilsons_but_for_the_quantile():
    hits = np.array([1.0] * 30 + [0.0] * 70)
    low, high = shares.clustered_interval(hits, np.ones(100))
    plain_low, plain_high = shares.wilson(30, 100)
    assert (low, high) == pytest.approx((float(plain_low), float(plain_high)), abs=0.003)
    assert low < float(plain_low)
    assert high > float(plain_high)


def test_outcomes_that_are_alike_within_their_clusters_are_worth_one_each():
    hits = np.array([5.0] * 12 + [0.0] * 48)
    one = np.array([1.0] * 12 + [0.0] * 48)
    five_each = shares.clustered_interval(hits, np.full(60, 5.0))
    assert five_each == pytest.approx(shares.clustered_interval(one, np.ones(60)))


def test_none_or_all_count_every_cluster_once():
    assert shares.clustered_interval(np.zeros(16), np.full(16, 5.0)) == pytest.approx((0.0, 0.2059), abs=1e-4)
    assert shares.clustered_interval(np.full(16, 5.0), np.full(16, 5.0)) == pytest.approx((0.7941, 1.0), abs=1e-4)
    empty = np.append(np.full(16, 5.0), 0.0)
    assert shares.clustered_interval(np.zeros(17), empty) == pytest.approx((0.0, 0.2059), abs=1e-4)
    assert np.isnan(shares.clustered_interval(np.array([1.0]), np.array([5.0]))).all()


@pytest.mark.parametrize(("n_clusters", "share"), [(16, 0.015), (45, 0.02), (45, 0.1)])
def test_rare_outcomes_in_clusters_are_covered(n_clusters: int, share: float):
    rng = np.random.default_rng(5)
    chances = rng.beta(share * 20, (1 - share) * 20, (600, n_clusters))
    covered = [
        low <= share <= high
        for hits in rng.binomial(5, chances).astype(float)
        for low, high in [shares.clustered_interval(hits, np.full(n_clusters, 5.0))]
    ]
    assert 0.925 <= np.mean(covered) <= 0.99
