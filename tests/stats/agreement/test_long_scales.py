"""Scales of many values: the same numbers as from tables, from fewer sums."""

import tracemalloc

import krippendorff
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from konsil.stats.agreement.kappa import measure_disagreements
from konsil.stats.agreement.long_scales import by_name
from konsil.stats.agreement.long_scales.coefficients import Chance
from konsil.stats.agreement.long_scales.disagreement import Disagreement, disagreement
from konsil.stats.agreement.long_scales.margins import label_sums
from konsil.stats.agreement.long_scales.rank_correlations import concordance
from konsil.stats.agreement.registry import STATISTICS, statistic
from konsil.stats.agreement.thin_pairs import by_shared_units
from konsil.stats.engine.contract import Codes
from konsil.stats.engine.distances import WEIGHTS, disagreements
from konsil.stats.inference.wald import linearised

NAMES = [name for name in STATISTICS if by_name.has_long_form(name)]
N_LABELS = 14


def codes_of(seed: int, *, missing: float, numbers: bool, n_raters: int = 3) -> Codes:
    """Correlated labels of 40 units in 10 clusters."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, N_LABELS, (40, 1)) + rng.integers(-2, 3, (40, n_raters))
    labels = np.clip(labels, 0, N_LABELS - 1)
    labels[rng.random(labels.shape) < missing] = -1
    values = tuple(np.sort(rng.gamma(2, 3, N_LABELS)).tolist()) if numbers else None
    return Codes(labels, np.repeat(np.arange(10), 4), N_LABELS, values)


def measured(seed: int, n_units: int, n_raters: int) -> tuple[np.ndarray, Codes]:
    """Measured values of units, almost all different, and the same as codes."""
    rng = np.random.default_rng(seed)
    x = rng.gamma(4, 10, (n_units, 1)) + rng.gamma(1, 3, (n_units, n_raters))
    x = np.round(x, 2)
    values, labels = np.unique(x, return_inverse=True)
    codes = Codes(labels.reshape(x.shape), np.arange(n_units), len(values), tuple(values.tolist()))
    return x, codes


def long_value(name: str, codes: Codes, level: str = "interval", weights=None) -> float:
    tally, finalise = by_name.long_form(name, codes, weights, level)
    return float(finalise(np.asarray(tally(codes).sum(axis=0)).ravel())[0])


def choices(name: str) -> list[tuple[object, str]]:
    """Weights and levels that change a statistic."""
    if name == "krippendorff_alpha":
        levels = [(None, level) for level in ("nominal", "ordinal", "interval", "ratio")]
        return [*levels, *((weights, "interval") for weights in WEIGHTS)]
    if STATISTICS[name].weighted:
        return [(None, "interval"), *((weights, "interval") for weights in WEIGHTS)]
    return [(None, "interval")]


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=5, deadline=None)
@given(seed=st.integers(0, 1000), missing=st.sampled_from([0.0, 0.3]), numbers=st.booleans())
def test_margins_give_the_numbers_of_tables(name, seed, missing, numbers):
    """Values of all clusters and of resamples, and influences, are those of the tables of labels.

    The influences compare derivatives in closed form with central differences.
    """
    codes = codes_of(seed, missing=missing, numbers=numbers)
    draws = np.random.default_rng(seed).multinomial(10, np.full(10, 0.1), 4).astype(float)
    for weights, level in choices(name):
        from_tables = statistic(name, codes, weights, level=level)
        tables = from_tables.tally(codes)
        tally, finalise = by_name.long_form(name, codes, weights, level)
        sums = tally(codes)
        expected = from_tables.finalise(draws @ tables)
        np.testing.assert_allclose(finalise(draws @ sums.toarray()), expected, atol=1e-12)
        influence = linearised(tables, from_tables.finalise)
        np.testing.assert_allclose(linearised(sums, finalise), influence, atol=1e-8)


@pytest.mark.parametrize("name", [name for name in NAMES if STATISTICS[name].needs == "pairs"])
def test_pairs_weigh_by_the_units_they_share(name):
    codes = codes_of(5, missing=0.4, numbers=False)
    from_tables = by_shared_units(statistic(name, codes), 3, N_LABELS)
    tables = from_tables.tally(codes)
    tally, finalise = by_name.long_form(name, codes, None, "interval", by_units=True)
    sums = tally(codes)
    expected = from_tables.finalise(tables.sum(axis=0))
    totals = np.asarray(sums.sum(axis=0)).ravel()
    np.testing.assert_allclose(finalise(totals), expected, atol=1e-12)
    influence = linearised(tables, from_tables.finalise)
    np.testing.assert_allclose(linearised(sums, finalise), influence, atol=1e-8)


def test_own_weights_keep_their_matrix():
    codes = codes_of(7, missing=0.2, numbers=False)
    own = 1 - disagreements("radical", N_LABELS)
    for name in ("cohen_kappa", "fleiss_kappa", "krippendorff_alpha"):
        from_tables = statistic(name, codes, own)
        expected = from_tables.finalise(from_tables.tally(codes).sum(axis=0))[0]
        assert long_value(name, codes, weights=own) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval", "ratio"])
def test_alpha_of_measured_values_is_that_of_krippendorff(level):
    """Against the package krippendorff, with gaps; level ratio by quadrature in konsil."""
    x, codes = measured(1, 130, 3)
    gaps = np.random.default_rng(2).random(x.shape) < 0.2
    x[gaps] = np.nan
    labels = codes.labels.copy()
    labels[gaps] = -1
    codes = Codes(labels, codes.clusters, codes.n_labels, codes.values)
    assert codes.n_labels > 300
    expected = krippendorff.alpha(reliability_data=x.T, level_of_measurement=level)
    assert long_value("krippendorff_alpha", codes, level) == pytest.approx(expected, abs=1e-12)


def test_ranks_of_measured_values_are_those_of_scipy():
    x, codes = measured(3, 2000, 2)
    rho = stats.spearmanr(x[:, 0], x[:, 1]).statistic
    tau = stats.kendalltau(x[:, 0], x[:, 1]).statistic
    assert long_value("spearman", codes) == pytest.approx(rho, abs=1e-12)
    assert long_value("kendall_tau_b", codes) == pytest.approx(tau, abs=1e-12)
    # W of two raters without ties within one is (1 + rho) / 2.
    assert long_value("kendall_w", codes) == pytest.approx((1 + rho) / 2, abs=1e-6)


def test_quadratic_kappa_and_interval_alpha_are_their_direct_formulas():
    x, codes = measured(4, 1500, 2)
    a, b = x.T
    kappa = 2 * np.cov(a, b, bias=True)[0, 1] / (a.var() + b.var() + (a.mean() - b.mean()) ** 2)
    assert long_value("cohen_kappa_quadratic", codes) == pytest.approx(kappa, abs=1e-12)
    observed, expected = ((a - b) ** 2).mean(), 2 * x.var(ddof=1)
    alpha = 1 - observed / expected
    assert long_value("krippendorff_alpha", codes) == pytest.approx(alpha, abs=1e-12)


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 1000))
def test_ordinal_alpha_is_interval_alpha_of_pooled_mid_ranks(seed):
    codes = codes_of(seed, missing=0.2, numbers=False)
    paired = (codes.labels >= 0).sum(axis=1) >= 2
    pooled = np.where(paired[:, None], codes.labels, -1)
    counts = np.bincount(pooled[pooled >= 0], minlength=N_LABELS)
    ranks = np.cumsum(counts) - counts / 2 + np.arange(N_LABELS) * 1e-9
    ranked = Codes(codes.labels, codes.clusters, N_LABELS, tuple(ranks.tolist()))
    interval = long_value("krippendorff_alpha", ranked, "interval")
    ordinal = long_value("krippendorff_alpha", codes, "ordinal")
    assert ordinal == pytest.approx(interval, abs=1e-8)


@pytest.mark.parametrize("name", NAMES)
def test_numbers_do_not_depend_on_the_order_of_units(name):
    codes = codes_of(11, missing=0.2, numbers=True)
    order = np.random.default_rng(1).permutation(40)
    shuffled = Codes(codes.labels[order], codes.clusters[order], N_LABELS, codes.values)
    assert long_value(name, shuffled) == pytest.approx(long_value(name, codes), abs=1e-12)


@pytest.mark.parametrize("name", ["cohen_kappa", "fleiss_kappa", "conger_kappa", "gwet_ac1"])
def test_nominal_numbers_do_not_depend_on_the_names_of_labels(name):
    codes = codes_of(12, missing=0.2, numbers=False)
    names = np.append(np.random.default_rng(2).permutation(N_LABELS), -1)
    renamed = Codes(names[codes.labels], codes.clusters, N_LABELS)
    assert long_value(name, renamed) == pytest.approx(long_value(name, codes), abs=1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_sums_of_clusters_are_those_of_their_parts(name):
    codes = codes_of(13, missing=0.3, numbers=False)
    if by_name.long_form(name, codes, None, "interval")[0].__name__ == "unit_members":
        pytest.skip("the sums are the units themselves")
    tally, _ = by_name.long_form(name, codes, None, "interval")
    first = Codes(codes.labels[:20], codes.clusters[:20], N_LABELS)
    second = Codes(codes.labels[20:], codes.clusters[20:] - 5, N_LABELS)
    parts = np.vstack([tally(first).toarray(), tally(second).toarray()])
    np.testing.assert_array_equal(tally(codes).toarray(), parts)


@pytest.mark.parametrize("kind", [*WEIGHTS, "within_one"])
def test_products_with_disagreements_are_those_with_their_matrix(kind):
    rng = np.random.default_rng(3)
    values = (0.0, *np.sort(rng.lognormal(0, 3, 299)).tolist())
    scale = disagreement(kind, 300, values)
    if kind == "within_one":
        matrix = measure_disagreements("within_one", 300)
    else:
        matrix = disagreements(kind, 300, values)
    margins = rng.random((2, 300))
    np.testing.assert_allclose(scale.times(margins), margins @ matrix, rtol=1e-12)
    a, b = rng.integers(0, 300, (2, 50))
    np.testing.assert_allclose(scale.between(a, b), matrix[a, b], atol=1e-14)
    assert scale.mean() == pytest.approx(matrix.mean(), rel=1e-12)
    assert (scale.matrix is None) == (kind != "radical")


def test_disagreements_without_distances_are_refused():
    with pytest.raises(ValueError, match="ratios need numbers of at least 0"):
        disagreement("ratio", 300, tuple(float(n - 1) for n in range(300)))
    with pytest.raises(ValueError, match="need distinct values"):
        disagreement("linear", 3, (2.0, 2.0, 2.0))


def test_concordance_counts_every_two_units():
    rng = np.random.default_rng(5)
    a, b, weights = rng.integers(0, 9, 60), rng.integers(0, 7, 60), rng.random(60)
    signs = np.sign(np.subtract.outer(a, a)) * np.sign(np.subtract.outer(b, b))
    np.testing.assert_allclose(concordance(a, b, weights), signs @ weights, atol=1e-12)


def test_chance_of_labels_within_one_step():
    codes = codes_of(14, missing=0.2, numbers=False)
    sums, finalise = label_sums(codes), Chance(Disagreement("within_one", N_LABELS))
    shares = sums.toarray().sum(axis=0) / sums.sum()
    near = np.abs(np.subtract.outer(np.arange(N_LABELS), np.arange(N_LABELS))) <= 1
    assert finalise(sums.toarray().sum(axis=0))[0] == pytest.approx(shares @ near @ shares)
    by_differences = linearised(sums, lambda totals: finalise(totals))
    np.testing.assert_allclose(linearised(sums, finalise), by_differences, atol=1e-9)


def test_which_scales_are_long():
    """More than 100 labels always; more than ten where tables would be large; ten only if wide."""
    labels = np.zeros((5000, 2), dtype=np.int64)
    units = np.arange(5000)
    assert not by_name.is_long(Codes(labels[:9], units[:9], 100), 10_000)
    assert by_name.is_long(Codes(labels[:9], units[:9], 101), 10_201)
    assert by_name.is_long(Codes(labels, units, 30), 900)
    assert not by_name.is_long(Codes(labels, units, 10), 900)
    assert by_name.is_long(Codes(labels, units, 10), 2_000_001)


@pytest.mark.parametrize("name", NAMES)
def test_memory_is_less_than_a_matrix_of_labels_by_labels(name):
    """Of 2,000 units with 4,000 values such a matrix would take 128 MB."""
    _, codes = measured(6, 2000, 2)
    labels = np.arange(4000).reshape(2000, 2)
    codes = Codes(labels, codes.clusters, 4000, tuple(float(n) for n in range(4000)))
    tally, finalise = by_name.long_form(name, codes, None, "ratio")
    tracemalloc.start()
    linearised(tally(codes), finalise)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 8e6


@pytest.mark.parametrize("name", NAMES)
def test_raters_without_a_common_unit_have_no_value(name):
    """Kills: sums of no units, whose number numpy cannot infer."""
    labels = np.full((N_LABELS, 2), -1)
    labels[::2, 0], labels[1::2, 1] = np.arange(0, N_LABELS, 2), np.arange(1, N_LABELS, 2)
    codes = Codes(labels, np.arange(N_LABELS), N_LABELS, tuple(map(float, range(N_LABELS))))
    assert np.isnan(long_value(name, codes))
