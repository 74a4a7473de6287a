from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats

from konsil.stats.engine.resample import bootstrap, jackknife
from konsil.stats.inference import intervals


def mean(totals):
    return totals[..., :1] / totals[..., 1:]


def skewed(n=60, seed=1):
    return np.random.default_rng(seed).gamma(1.0, size=n)


def test_bca_on_the_same_draws_as_scipys_formula():
    """SciPy gets our draws back as its own: its interval must then be ours, not only alike."""
    x = skewed()
    sums = np.column_stack([x, np.ones(60)])
    draws = bootstrap(sums, mean, draws=999, key=3)
    ours = intervals.bca(
        intervals.order(draws), np.array([x.mean()]), jackknife(sums, mean), level=0.9
    )
    given = SimpleNamespace(bootstrap_distribution=draws[:, 0])
    theirs = stats.bootstrap(
        (x,), np.mean, n_resamples=0, method="BCa", confidence_level=0.9, bootstrap_result=given
    ).confidence_interval
    assert (ours[0][0], ours[1][0]) == pytest.approx((theirs.low, theirs.high), rel=1e-12)


def test_bca_as_scipys_within_monte_carlo_error():
    x = skewed(seed=2)
    sums = np.column_stack([x, np.ones(60)])
    draws = bootstrap(sums, mean, draws=20_000, key=3)
    ours = intervals.bca(intervals.order(draws), np.array([x.mean()]), jackknife(sums, mean))
    theirs = stats.bootstrap(
        (x,), np.mean, n_resamples=20_000, method="BCa", random_state=1
    ).confidence_interval
    assert (ours[0][0], ours[1][0]) == pytest.approx((theirs.low, theirs.high), abs=0.012)


def test_the_percentile_interval_of_a_mean_is_the_normal_one():
    x = np.random.default_rng(4).normal(size=400)
    sums = np.column_stack([x, np.ones(400)])
    low, high = intervals.percentile(intervals.order(bootstrap(sums, mean, draws=20_000, key=3)))
    reach = 1.959964 * x.std() / 20
    assert (low[0], high[0]) == pytest.approx((x.mean() - reach, x.mean() + reach), abs=0.003)


def test_percentile_is_numpys_quantile_of_the_defined_draws():
    draws = np.random.default_rng(5).normal(size=(501, 3))
    draws[::7, 1] = np.nan
    draws[:, 2] = np.nan
    ordered = intervals.order(draws)
    low, high = intervals.percentile(ordered, level=0.8)
    assert low[:2] == pytest.approx(np.nanquantile(draws[:, :2], 0.1, axis=0), rel=1e-12)
    assert high[:2] == pytest.approx(np.nanquantile(draws[:, :2], 0.9, axis=0), rel=1e-12)
    assert np.isnan([low[2], high[2]]).all()
    assert ordered.n_undefined.tolist() == [0, 72, 501]


def test_shares_below_count_ties_half_even_in_their_last_bit():
    draws = np.array([0.1 + 0.2, 0.3, 0.2, 0.4, np.nan])[:, None]
    assert intervals.order(draws).share_below(np.array([0.3])) == pytest.approx([0.5])


def test_constant_draws_give_their_value():
    ordered = intervals.order(np.full((50, 1), 0.25))
    low, high = intervals.bca(ordered, np.array([0.25]), np.full((9, 1), 0.25))
    assert (low[0], high[0]) == (0.25, 0.25)


def test_acceleration_leaves_out_undefined_clusters():
    values = np.random.default_rng(6).gamma(1.0, size=(20, 1))
    extended = np.concatenate([values, [[np.nan]]])
    assert intervals.acceleration(extended) == pytest.approx(intervals.acceleration(values))
    assert intervals.acceleration(np.ones((5, 1))) == [0]


@pytest.mark.parametrize("corrected", [False, True])
def test_p_inverts_the_interval(corrected):
    x = skewed() - 0.75
    sums = np.column_stack([x, np.ones(60)])
    ordered = intervals.order(bootstrap(sums, mean, draws=4000, key=3))
    value, without = np.array([x.mean()]), jackknife(sums, mean)
    p = intervals.p_value(ordered, value, jackknife=without if corrected else None)[0]
    level = 1 - p
    bounds = (
        intervals.bca(ordered, value, without, level=level)
        if corrected
        else intervals.percentile(ordered, level=level)
    )
    assert min(abs(bounds[0][0]), abs(bounds[1][0])) < 0.01
    assert 0.001 < p < 0.5


def test_p_is_never_zero_and_nan_where_undefined():
    ordered = intervals.order(
        np.column_stack([np.linspace(1, 2, 99), np.full(99, np.nan), np.linspace(-1, 1, 99)])
    )
    p = intervals.p_value(ordered, np.array([1.5, np.nan, 0.0]))
    assert p[0] == 2 / 100
    assert np.isnan(p[1])
    assert p[2] == 1


def test_beyond_the_pole_of_the_acceleration_the_outermost_draw_is_the_bound():
    draws = np.linspace(0, 1, 101)[:, None]
    extreme = np.r_[np.zeros(3), -1.0][
        :, None
    ]  # acceleration 1/6 * (3 * .25^3 ... ) is large with few clusters
    high = intervals.bca(intervals.order(draws), np.array([0.99]), extreme, level=0.99)[1]
    assert high[0] == 1
    p = intervals.p_value(intervals.order(draws + 1), np.array([1.99]), jackknife=-extreme)
    assert 0 < p[0] <= 1
