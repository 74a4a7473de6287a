import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

from konsil.stats.shares import shares
from konsil.stats.shares.shares import clopper_pearson, interval, wilson

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
    assert shares.clustered_interval(np.zeros(16), np.full(16, 5.0)) == pytest.approx(
        (0.0, 0.2059), abs=1e-4
    )
    assert shares.clustered_interval(np.full(16, 5.0), np.full(16, 5.0)) == pytest.approx(
        (0.7941, 1.0), abs=1e-4
    )
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


def uneven_outcomes(generator: np.random.Generator, share: float) -> tuple[np.ndarray, np.ndarray]:
    """60 clusters whose outcomes go together; one of them has two of five outcomes."""
    trials = np.append(np.full(59, 3), 118)
    cluster = np.repeat(np.arange(60), trials)
    noise = np.sqrt(0.3) * generator.normal(size=60)[cluster] + np.sqrt(0.7) * generator.normal(
        size=len(cluster)
    )
    return np.bincount(cluster, weights=noise > stats.norm.isf(share), minlength=60), trials.astype(
        float
    )


@pytest.mark.parametrize("share", [0.1, 0.5])
def test_one_cluster_with_much_of_the_outcomes_is_covered(share: float) -> None:
    """The plain variance with the sizes' degrees of freedom covers .84 (10 %) and .87 (50 %)."""
    generator, sets = np.random.default_rng(4), 400
    held = 0
    for _ in range(sets):
        low, high = shares.clustered_interval(*uneven_outcomes(generator, share))
        held += low <= share <= high
    assert 0.91 < held / sets < 0.99


def test_the_rule_for_uneven_clusters() -> None:
    assert not shares.uneven(np.array([1.0]))
    assert not shares.uneven(np.array([2.0, 3.0, 4.0, 0.0, 0.0, 0.0, 0.0]))
    assert shares.uneven(np.array([1.0, 1.0, 1.0, 8.0]))
    # Between them the plain variance stays: what differs little in size changes no number.
    hits, trials = np.array([1.0, 2, 0, 3, 1]), np.array([3.0, 4, 3, 5, 4])
    p = hits.sum() / trials.sum()
    variance = 5 / 4 * ((hits - p * trials) ** 2).sum() / trials.sum() ** 2
    plain = shares.effective_interval(p, variance, trials.sum(), shares.degrees_of_freedom(trials))
    assert shares.clustered_interval(hits, trials) == pytest.approx(plain)


def test_the_reduced_variance_is_the_usual_one_of_equal_clusters() -> None:
    hits = np.array([1.0, 2, 0, 3])
    p = hits.sum() / 16
    variance, df = shares.reduced_variance(hits, np.full(4, 4.0))
    assert variance == pytest.approx(4 / 3 * ((hits - 4 * p) ** 2).sum() / 256)
    assert df == pytest.approx(3)
    by_hand = sum((h - 0.4 * t) ** 2 / 100 / (1 - t / 10) for h, t in ((1, 5), (2, 3), (1, 2)))
    assert shares.reduced_variance(np.array([1.0, 2, 1]), np.array([5.0, 3, 2]))[
        0
    ] == pytest.approx(by_hand)
