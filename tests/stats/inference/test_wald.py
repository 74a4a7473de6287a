import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse, stats

from konsil.stats.agreement import kappa
from konsil.stats.engine.contract import Codes
from konsil.stats.engine.tables import pair_tables
from konsil.stats.inference import wald


def ratio(totals):
    return totals[..., :2] / totals[..., 2:]


def test_the_influence_on_a_ratio_is_the_textbooks():
    sums = np.random.default_rng(1).integers(1, 9, (30, 3)).astype(float)
    total = sums.sum(axis=0)
    expected = (sums[:, :2] - sums[:, 2:] * (total[:2] / total[2])) / total[2]
    assert wald.linearised(sums, ratio) == pytest.approx(expected, abs=1e-9)
    assert wald.linearised(sparse.csr_array(sums), ratio) == pytest.approx(expected, abs=1e-9)


def test_over_sums_and_over_clusters_are_the_same():
    sums = np.random.default_rng(2).integers(0, 9, (20, 60)).astype(float)
    sums[:, 7] = 0

    def some(totals):
        return np.stack(
            [totals[..., :9].sum(-1) / totals.sum(-1), np.sqrt(totals[..., 0] * totals[..., 3])],
            axis=-1,
        )

    few = wald.linearised(sums, some)  # 20 clusters, 60 sums: over clusters
    many = wald.linearised(np.tile(sums, (4, 1)), some)[:20]  # 80 clusters: over sums
    assert few[:, 0] / 4 == pytest.approx(many[:, 0], rel=1e-6)
    assert few[:, 1] == pytest.approx(many[:, 1], rel=1e-6)
    assert few.sum(axis=0) == pytest.approx([0, 0], abs=1e-8)


def test_one_way_of_a_mean_is_the_t_interval():
    x = np.random.default_rng(3).normal(size=25)
    sums = np.column_stack([x, np.ones(25)])
    influence = wald.linearised(sums, lambda totals: totals[..., :1] / totals[..., 1:])
    result = wald.one_way(influence, np.array([x.mean()]))
    expected = stats.t.interval(0.95, 24, x.mean(), stats.sem(x))
    assert result.df == 24
    assert (result.low[0], result.high[0]) == pytest.approx(expected, abs=1e-8)


def test_a_step_into_the_undefined_goes_to_the_other_side():
    sums = np.array([[1.0, 4.0], [1.0, 2.0], [1.0, 3.0]])
    edge = 9.0

    def only_up_to_the_edge(totals):
        return np.where(totals[..., 1:] > edge, np.nan, totals[..., 1:] / totals[..., :1])

    expected = (sums[:, 1:] - 3.0) / 3
    assert wald.linearised(sums, only_up_to_the_edge) == pytest.approx(expected, abs=1e-5)
    assert np.isnan(
        wald.linearised(sums, lambda totals: np.full((*totals.shape[:-1], 1), np.nan))
    ).all()


def variance_by_loops(influence, groups):
    """V and Bell and McCaffrey's df of one mean, from the covariance of the adjusted residuals
    written out."""
    names, n = sorted(set(groups)), len(groups)
    shares = [sum(g == name for g in groups) / n for name in names]
    sums = [sum(x for x, g in zip(influence, groups, strict=True) if g == name) for name in names]
    v = sum(s * s / (1 - w) for s, w in zip(sums, shares, strict=True))
    b = [
        [w if i == k else -w * u / ((1 - w) * (1 - u)) ** 0.5 for k, u in enumerate(shares)]
        for i, w in enumerate(shares)
    ]
    return v, sum(b[i][i] for i in range(len(names))) ** 2 / sum(x * x for row in b for x in row)


def blended(df, groups, v, rows):
    """Between the degrees of freedom of independent rows and of rows that go together in their
    cluster."""
    shares = [groups.count(name) / len(groups) for name in set(groups)]
    alike = max(min(1 / sum(w * w for w in shares) - 1, df), 1)
    share = min(max(1 - rows / v, 0), 1)
    return 1 / ((1 - share) / df + share / alike)


def two_way_by_loops(influence, first, second):
    (one, df_one), (two, df_two) = (
        variance_by_loops(influence, list(first)),
        variance_by_loops(influence, list(second)),
    )
    both, _ = variance_by_loops(influence, list(zip(first, second, strict=True)))
    df_one, df_two = (
        blended(df, list(groups), v, both)
        for df, groups, v in ((df_one, first, one), (df_two, second, two))
    )
    v = max(one + two - both, one, two)
    return v**0.5, max(v**2 / (one**2 / df_one + two**2 / df_two), min(df_one, df_two))


@pytest.mark.parametrize("seed", range(4))
def test_two_way_as_straightforward_loops(seed):
    generator = np.random.default_rng(seed)
    first, second = generator.integers(0, 12, 90) * 3, generator.integers(0, 7, 90)
    influence = generator.normal(size=(90, 2)) + generator.normal(size=(40, 2))[first]
    value = np.array([0.2, -0.1])
    result = wald.two_way(influence, first, second, value)
    for j in range(2):
        expected = two_way_by_loops(influence[:, j].tolist(), first.tolist(), second.tolist())
        assert (result.se[j], result.df[j]) == pytest.approx(expected)
    assert result.p == pytest.approx(2 * stats.t.sf(np.abs(value) / result.se, result.df))
    reach = stats.t.ppf(0.975, result.df) * result.se
    assert result.low == pytest.approx(value - reach)
    assert result.high == pytest.approx(value + reach)


def test_equal_clusters_have_their_number_less_one_and_a_busy_one_leaves_few():
    influence = np.random.default_rng(3).normal(size=(120, 1))
    influence -= influence.mean()
    even = wald.by_cluster(influence, np.arange(120) % 12, np.zeros(1))
    assert even.df == pytest.approx(11)
    sums = np.array([influence[at::12].sum() for at in range(12)])
    assert even.se == pytest.approx((12 / 11 * (sums**2).sum()) ** 0.5)
    busy = wald.by_cluster(
        influence, np.where(np.arange(120) < 72, 0, np.arange(120) % 11 + 1), np.zeros(1)
    )
    assert 1 <= busy.df[0] < 3


def test_two_panels_of_three_have_four_degrees_of_freedom():
    """Each panel has a mean of its own: of six raters four differ freely, and each weighs a third
    of its panel."""
    influence = np.random.default_rng(4).normal(size=(60, 1))
    raters, panel = np.arange(60) % 6, np.arange(60) % 6 // 3
    influence -= np.where(panel == 0, influence[panel == 0].mean(), influence[panel == 1].mean())[
        :, None
    ]
    apart = wald.by_cluster(influence, raters, np.zeros(1), strata=panel)
    assert apart.df == pytest.approx(4, rel=0.05)
    sums = np.array([influence[raters == r].sum() for r in range(6)])
    assert apart.se == pytest.approx((1.5 * (sums**2).sum()) ** 0.5)


def test_two_equal_ways_are_one_way():
    influence = np.random.default_rng(5).normal(size=(40, 1))
    groups = np.repeat(np.arange(10), 4)
    sums = np.add.reduceat(influence, np.arange(0, 40, 4), axis=0)
    twice = wald.two_way(influence, groups, groups, np.zeros(1))
    assert twice.se == pytest.approx(wald.one_way(sums, np.zeros(1)).se)


def test_atanh_stays_inside_and_is_the_identity_for_small_widths():
    value, se = np.array([0.95, -0.95, 0.0, 1.0, np.nan]), np.array([0.2, 0.2, 1e-4, 0.0, 0.1])
    low, high = wald.interval(value, se, 30, scale="atanh")
    assert np.all(np.abs(low[:3]) < 1) and np.all(np.abs(high[:3]) < 1)
    plain = wald.interval(value, se, 30)
    assert (low[2], high[2]) == pytest.approx((plain[0][2], plain[1][2]), rel=1e-6)
    assert (low[3], high[3]) == (1, 1)
    assert np.isnan([low[4], high[4]]).all()


def test_one_cluster_has_no_interval():
    assert np.isnan(wald.one_way(np.zeros((1, 1)), np.ones(1)).low).all()
    assert np.isnan(
        wald.two_way(np.zeros((3, 1)), np.zeros(3, int), np.arange(3), np.ones(1)).se
    ).all()
    with pytest.raises(ValueError, match="influence of 3 rows"):
        wald.two_way(np.zeros((3, 1)), np.zeros(2, int), np.arange(3), np.ones(1))


@pytest.mark.parametrize("name", ["cohen_kappa", "percent_agreement", "gwet_ac1", "scott_pi"])
@pytest.mark.parametrize("dense", [True, False])
def test_a_mean_of_tables_has_the_influence_of_any_finalise(name: str, dense: bool) -> None:
    generator = np.random.default_rng(3)
    labels = np.where(generator.random((60, 7)) < 0.45, generator.integers(0, 3, (60, 7)), -1)
    labels[:, 6] = -1  # a rater without labels: pairs without units
    labels[:, 5] = np.where(np.arange(60) < 3, 1, -1)  # and one with a single label
    codes = Codes(labels.astype(np.int8), np.arange(60) // 2, 3)
    mean = kappa.MeanOfTables(name, kappa.measure_disagreements(name, 3))  # type: ignore[arg-type]
    sums = pair_tables(codes)
    found = wald.linearised(sums if dense else sparse.csr_array(sums), mean)
    np.testing.assert_allclose(found, wald.linearised(sums, lambda totals: mean(totals)), atol=1e-8)
    assert found.any()


def test_a_mean_of_undefined_tables_has_no_influence() -> None:
    mean = kappa.MeanOfTables("cohen_kappa", kappa.measure_disagreements("cohen_kappa", 2))
    assert np.isnan(wald.linearised(np.array([[2.0, 0, 0, 0], [1.0, 0, 0, 0]]), mean)).all()


@given(st.integers(0, 2**32 - 1), st.integers(3, 60), st.floats(0.5, 3))
@settings(max_examples=60, deadline=None)
def test_the_degrees_of_a_variance_follow_the_kurtosis_of_the_influences(seed, n, power):
    """Kills: a kurtosis around 3, no limit at C - 1, clusters without information that count."""
    u = np.random.default_rng(seed).standard_normal(n)
    u = np.sign(u) * np.abs(u) ** power
    u -= u.mean()
    of_scipy = 2 * n / (stats.kurtosis(u, fisher=False) - 1)
    degrees = wald.variance_degrees(np.stack([u, 7 * u[::-1]], axis=1), n)
    assert degrees.tolist() == [min(math.floor(of_scipy + 1e-9), n - 1)] * 2
    padded = np.concatenate([np.zeros(5), u])[:, None]
    assert wald.variance_degrees(padded, n).tolist() == degrees[:1].tolist()


def test_the_degrees_of_a_variance_are_twice_its_square_over_its_variance():
    """The variances of 4,000 samples of a Laplace distribution, whose kurtosis is 6."""
    draws = np.random.default_rng(1).laplace(size=(4_000, 400))
    variances = draws.var(axis=1, ddof=1)
    simulated = 2 * variances.mean() ** 2 / variances.var()
    assert wald.variance_degrees(draws.reshape(-1, 1), draws.size)[0] / draws.size == (
        pytest.approx(2 / 5, rel=0.03)
    )
    assert simulated == pytest.approx(400 * 2 / 5, rel=0.1)


def test_influences_without_variation_have_all_degrees():
    assert wald.variance_degrees(np.zeros((9, 1)), 9).tolist() == [8]
    assert wald.variance_degrees(np.ones((2, 1)), 2).tolist() == [1]
