import numpy as np
import pytest
from scipy import sparse, stats

from konsil.stats.inference import infer as module
from konsil.stats.inference.infer import (
    FEW_CLUSTERS,
    cautions,
    concatenate,
    contrasted,
    difference,
    infer,
    jackknife_interval,
)
from konsil.stats.inference.intervals import percentile

METHODS = ["bca", "percentile", "studentised", "wald"]


def mean(totals):
    return totals[..., :-1] / totals[..., -1:]


def rows(n_clusters=60, seed=1, effect=0.0):
    generator = np.random.default_rng(seed)
    n = generator.integers(1, 6, n_clusters)
    item = generator.normal(size=n_clusters)
    p = 1 / (1 + np.exp(-item))
    q = 1 / (1 + np.exp(-item - effect))
    return np.column_stack([generator.binomial(n, p), generator.binomial(n, q), n]).astype(float)


@pytest.mark.parametrize("method", METHODS)
def test_every_method_brackets_the_value(method):
    result = infer(rows(), mean, draws=999, key=2, method=method)
    assert np.all(result.low < result.value) and np.all(result.value < result.high)
    assert result.method == method
    assert result.draws == (0 if method == "wald" else 999)
    widths = (result.high - result.low) / (result.wald_high - result.wald_low)
    assert widths == pytest.approx(1, abs=0.12)


@pytest.mark.parametrize("method", METHODS)
def test_the_order_of_clusters_changes_no_estimate_and_little_else(method):
    sums = rows()
    one = infer(sums, mean, draws=4000, key=2, method=method)
    other = infer(sums[::-1], mean, draws=4000, key=2, method=method)
    assert np.array_equal(one.value, other.value)
    assert other.se == pytest.approx(one.se, rel=1e-9)
    assert other.influence[::-1] == pytest.approx(one.influence, abs=1e-12)
    assert other.low == pytest.approx(one.low, abs=0.012)


def test_the_same_key_gives_the_same_numbers_and_another_key_others():
    one, again, other = (infer(rows(), mean, draws=500, key=key) for key in (2, 2, 3))
    assert np.array_equal(one.low, again.low)
    assert not np.array_equal(one.low, other.low)


def test_replicates_are_kept_on_request():
    assert infer(rows(), mean, draws=100).replicates is None
    kept = infer(rows(), mean, draws=100, keep_draws=True)
    assert kept.replicates is not None
    assert kept.replicates.shape == (100, 2)
    assert kept.ordered is not None
    assert percentile(kept.ordered)[0] == pytest.approx(
        infer(rows(), mean, draws=100, method="percentile").low
    )


def test_sparse_and_dense_rows_give_the_same_intervals():
    dense, wide = (
        infer(rows(), mean, draws=300, key=2),
        infer(sparse.csr_array(rows()), mean, draws=300, key=2),
    )
    for field in ("value", "low", "high", "se", "wald_low"):
        assert getattr(wide, field) == pytest.approx(getattr(dense, field), rel=1e-9)


def test_collapsed_patterns_give_the_intervals_of_the_rows(monkeypatch):
    sums = rows(n_clusters=3000)
    collapsed = infer(sums, mean, draws=4000, key=2)
    monkeypatch.setattr("konsil.stats.engine.cluster_sums._COLLAPSE_FROM", 10**9)
    plain = infer(sums, mean, draws=4000, key=2)
    assert collapsed.n_clusters == plain.n_clusters == 3000
    assert collapsed.influence == pytest.approx(plain.influence, abs=1e-12)
    assert collapsed.se == pytest.approx(plain.se, rel=1e-9)
    assert collapsed.low == pytest.approx(plain.low, abs=0.0015)
    assert not np.array_equal(collapsed.low, plain.low)


def test_one_cluster_has_a_value_and_no_interval():
    result = infer(np.array([[1.0, 2.0, 4.0]]), mean, draws=50)
    assert result.value.tolist() == [0.25, 0.5]
    assert np.isnan([result.low, result.high, result.se, result.wald_low, result.wald_high]).all()
    assert cautions(result)[0].code == "few-clusters"


def test_an_undefined_value_has_no_interval():
    sums = np.column_stack([rows()[:, 0], np.zeros(60)])
    result = infer(sums, mean, draws=50)
    assert np.isnan([result.value, result.low, result.high, result.se, result.wald_low]).all()
    assert result.n_undefined.tolist() == [50]
    assert cautions(result) == ()


def test_undefined_draws_are_counted_and_left_out():
    sums = np.array([[1.0, 2.0], [0.0, 0.0], [1.0, 1.0], [0.0, 0.0], [0.0, 0.0]])
    result = infer(sums, mean, draws=2000, method="percentile", keep_draws=True)
    assert result.replicates is not None
    assert result.n_undefined[0] == np.isnan(result.replicates).sum() > 50
    assert result.low[0] == np.nanquantile(result.replicates, 0.025)
    assert result.n_clusters == 2
    assert "undefined-draws" in [caution.code for caution in cautions(result)]


def test_no_variation_is_said_and_not_sold():
    result = infer(np.column_stack([np.full(80, 3.0), np.full(80, 3.0)]), mean, draws=100)
    assert (result.low[0], result.high[0]) == (1, 1)
    assert [caution.code for caution in cautions(result)] == ["no-variation"]


def test_differing_widths_and_few_clusters_are_said():
    skewed = np.column_stack([np.r_[np.zeros(18), 30.0, 1.0], np.ones(20)])
    codes = [caution.code for caution in cautions(infer(skewed, mean, draws=2000))]
    assert codes == ["few-clusters", "widths-differ"]
    assert cautions(infer(rows(400), mean, draws=2000)) == ()


def test_atanh_keeps_the_linearised_bounds_inside():
    agreement = np.column_stack([np.r_[np.ones(29), 0.0], np.ones(30)])
    plain, scaled = (
        infer(agreement, mean, draws=100, scale=scale) for scale in ("identity", "atanh")
    )
    assert plain.wald_high[0] > 1 > scaled.wald_high[0]


@pytest.mark.parametrize("method", METHODS)
def test_a_paired_difference(method):
    sums = rows(150, effect=0.6)
    result = difference(
        sums, mean, np.array([[-1, 1], [1, -1], [1, 0]]), draws=2000, key=2, method=method
    )
    values = infer(sums, mean, draws=2000, key=2, method=method)
    assert result.value[0] == pytest.approx(values.value[1] - values.value[0])
    assert result.value[1] == -result.value[0]
    assert result.low[0] == pytest.approx(-result.high[1], abs=1e-3)
    assert result.p[0] == pytest.approx(result.p[1], rel=0.05)
    assert np.all(result.p > 0)
    assert (result.p[0] < 0.05) == (result.low[0] > 0)
    assert result.p[0] == pytest.approx(result.wald_p[0], abs=0.02)
    paired = result.se[0]
    unpaired = np.hypot(*values.se)
    assert paired < unpaired


def test_the_linearised_p_is_the_t_tests():
    x = np.random.default_rng(2).normal(0.3, 1, 40)
    sums = np.column_stack([x, np.zeros(40), np.ones(40)])
    result = difference(sums, mean, np.array([1, -1]), method="wald")
    assert result.wald_p[0] == pytest.approx(stats.ttest_1samp(x, 0).pvalue, rel=1e-6)
    assert result.p[0] == result.wald_p[0]


def test_an_undefined_value_does_not_enter_where_its_coefficient_is_zero():
    values = contrasted(
        lambda totals: np.concatenate([totals, totals * np.nan], axis=-1), np.array([[1, -1, 0, 0]])
    )
    assert values(np.array([[3.0, 1.0]])).tolist() == [[2.0]]
    with pytest.raises(ValueError, match="got 1 columns, expected 2"):
        contrasted(lambda totals: totals, np.array([[1.0]]))(np.ones((1, 2)))


def test_concatenated_statistics_are_paired():
    sums = rows()
    other = np.column_stack([sums[:, 0] * 2, sums[:, 2]])
    both, finalise = concatenate(
        [(sums, mean), (other, mean), (sums, lambda totals: 1 - mean(totals))]
    )
    assert both.shape == (60, 5)
    result = infer(both, finalise, draws=300, keep_draws=True)
    assert result.replicates is not None
    assert result.replicates.shape == (300, 5)
    assert result.replicates[:, 2] == pytest.approx(2 * result.replicates[:, 0])
    assert result.replicates[:, 4] == pytest.approx(1 - result.replicates[:, 1])
    with pytest.raises(ValueError, match="statistic 1: got 59 clusters"):
        concatenate([(sums, mean), (sums[1:], mean)])
    with pytest.raises(ValueError, match="no statistics"):
        concatenate([])


def test_a_statistic_of_ranks_has_an_interval_too():
    scores = np.random.default_rng(3).gamma(2.0, size=(41, 2))
    first = scores[:, 0] > scores[:, 1]
    result = infer(
        sparse.eye_array(41, format="csr"),
        lambda w: (w @ first)[..., None] / w.sum(-1, keepdims=True),
        draws=500,
    )
    assert result.value[0] == pytest.approx(first.mean())
    assert result.se[0] == pytest.approx(first.std(ddof=1) / np.sqrt(41), rel=1e-6)


@pytest.mark.parametrize("wrong", [{"level": 95}, {"method": "normal"}, {"scale": "log"}])
def test_options_are_checked(wrong):
    with pytest.raises(ValueError, match="expected"):
        infer(rows(), mean, draws=10, **wrong)


def jackknife(sums, finalise):
    """Value, standard error and degrees of freedom, cluster by cluster."""
    n = len(sums)
    without = np.array([finalise(np.delete(sums, c, 0).sum(axis=0)) for c in range(n)])
    gaps = without - without.mean(axis=0)
    variance = (n - 1) / n * (gaps**2).sum(axis=0)
    kurtosis = (gaps**4).mean(axis=0) / (gaps**2).mean(axis=0) ** 2
    df = np.floor(np.minimum(n - 1, 2 * n / np.maximum(kurtosis - 1, 1e-9)))
    return finalise(sums.sum(axis=0)), np.sqrt(variance), df


@pytest.mark.parametrize("n_clusters", [3, 8, 12, 40, FEW_CLUSTERS - 1])
def test_few_clusters_have_the_jackknife_with_t(n_clusters):
    sums = np.vstack([rows(n_clusters, seed=n_clusters), np.zeros((4, 3))])
    value, se, df = jackknife(sums[:n_clusters], mean)
    at = jackknife_interval(infer(sums, mean, draws=100))
    assert at.se == pytest.approx(se)
    assert at.df == pytest.approx(df)
    assert at.low == pytest.approx(value - stats.t.ppf(0.975, df) * se)
    assert at.p == pytest.approx(2 * stats.t.sf(value / se, df))


def test_scores_of_equal_size_have_the_t_interval_of_their_mean():
    scores = np.arange(12.0)
    sums = np.column_stack([scores, np.ones(12)])
    at = jackknife_interval(infer(sums, mean, draws=100))
    t = stats.t.interval(0.95, 11, scores.mean(), stats.sem(scores))
    assert (at.low[0], at.high[0]) == pytest.approx(t)


def test_the_jackknife_is_for_few_clusters_and_not_without_variation():
    assert jackknife_interval(infer(rows(FEW_CLUSTERS), mean, draws=100)) is None
    assert jackknife_interval(infer(rows(1), mean, draws=100)) is None
    assert jackknife_interval(infer(rows(12), mean, draws=100, method="percentile")) is None
    alike = infer(np.ones((12, 2)), mean, draws=100)
    assert np.isnan(jackknife_interval(alike).low)

    def of_first(totals):
        # Undefined without the first cluster.
        return np.where(totals[..., :1] > 0, totals[..., 1:] / totals[..., :1], np.nan)

    sums = np.column_stack([np.eye(12)[0], np.arange(12.0)])
    assert np.isnan(jackknife_interval(infer(sums, of_first, draws=100)).low)


@pytest.mark.parametrize(("scale", "least"), [("atanh", -1), ("logit", 0)])
def test_few_clusters_stay_within_the_scale(scale, least):
    sums = np.column_stack([np.r_[np.ones(10), 0.4, 0.8], np.ones(12)])
    result = infer(sums, mean, draws=100, scale=scale)
    at = jackknife_interval(result)
    assert least < at.low[0] < result.value[0] < at.high[0] < 1
    assert jackknife_interval(infer(sums, mean, draws=100)).high[0] > at.high[0]


def test_t_p_value_is_never_zero_and_nan_without_spread():
    p = module.t_p_value(np.array([1e6, 1.0, 1.0]), np.array([1e-6, 0.0, np.nan]), 500)
    assert 0 < p[0] < 1e-100
    assert np.isnan(p[1:]).all()
    assert np.isnan(module.t_p_value(np.ones(1), np.ones(1), 0)).all()


@pytest.mark.slow
@pytest.mark.parametrize("method", ["bca", "percentile", "wald"])
def test_p_of_a_paired_difference_holds_its_level(method):
    generator = np.random.default_rng(5)
    rejected, agreeing = [], []
    for batch in range(20):
        n = generator.integers(1, 6, (100, 50))
        p = 1 / (1 + np.exp(-generator.normal(size=(100, 50))))
        wins = generator.binomial(n, p), generator.binomial(n, p)
        sums = np.hstack([*wins, n]).astype(float)

        def differences(totals):
            return (totals[..., :50] - totals[..., 50:100]) / totals[..., 100:]

        result = difference(sums, differences, np.eye(50), draws=1000, key=batch, method=method)
        rejected.append(result.p <= 0.05)
        agreeing.append((result.p <= 0.05) == ((result.low > 0) | (result.high < 0)))
    assert np.mean(agreeing) > 0.985
    assert 0.03 < np.mean(rejected) < 0.08
