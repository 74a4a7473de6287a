"""Numbers of very many sums as means over clusters of their linearised parts."""

import numpy as np
import pytest
from scipy import stats

from konsil.analysis.agreement.agreement_statistics import agreement
from konsil.analysis.estimation.estimate import estimate
from konsil.analysis.estimation.measure import Measure, is_linearised, joint, linear, pair, value
from konsil.analysis.model.sample import Sample
from konsil.analysis.model.spec import Resampling
from konsil.stats.engine.contract import Codes
from konsil.stats.inference import wald


def measured(n_clusters: int, name: str = "krippendorff_alpha") -> Measure:
    """Agreement of two raters on clusters of two units, of which the first ten are empty."""
    rng = np.random.default_rng(n_clusters)
    x = rng.normal(50, 15, (2 * n_clusters, 1)) + rng.normal(0, 5, (2 * n_clusters, 2))
    values, labels = np.unique(x.round(6), return_inverse=True)
    labels = labels.reshape(x.shape)
    labels[:20] = -1
    clusters = np.repeat(np.arange(n_clusters), 2)
    codes = Codes(labels, clusters, len(values), tuple(values.tolist()))
    names = tuple(f"c{n:04}" for n in range(n_clusters))
    units = tuple(f"u{n}" for n in range(2 * n_clusters))
    return agreement(Sample(codes, ("a", "b"), units, names), name, "interval")


def test_numbers_are_linearised_from_200_clusters_or_1000_ratings_on():
    assert not is_linearised(measured(199))
    assert is_linearised(measured(200))
    assert not is_linearised(measured(200, "icc2"))


@pytest.mark.parametrize("name", ["krippendorff_alpha", "spearman"])
def test_the_parts_have_the_value_and_the_variance_of_the_sums(name):
    measure = measured(260, name)
    parts = linear(measure)
    assert parts.sums.shape == (260, 2)
    assert not parts.sums[:10].any()
    assert value(parts) == pytest.approx(value(measure), abs=1e-12)
    of_sums = wald.linearised(measure.sums, measure.finalise)
    of_parts = wald.linearised(parts.sums, parts.finalise)
    np.testing.assert_allclose(of_parts[10:], of_sums[10:], atol=1e-5)


def test_joined_and_paired_measures_have_few_sums():
    measures = [measured(260), measured(260, "cohen_kappa_linear")]
    assert measures[0].sums.shape[1] > 900
    joined = joint(measures)
    assert joined[0].sums.shape == (260, 4)
    assert joined[0].sums is joined[1].sums
    both = pair(*measures)
    assert both.sums.shape == (260, 4)
    expected = [value(m) for m in measures]
    assert [value(m) for m in joined] == pytest.approx(expected, abs=1e-12)
    np.testing.assert_allclose(both.finalise(both.sums.sum(axis=0)), expected, atol=1e-12)


def test_few_clusters_that_make_the_variance_widen_the_interval():
    """Kills: t with the clusters less 1 where the tails of the measured values are heavy."""
    degrees, reach = [], []
    for spread in (0.1, 1.5):
        rng = np.random.default_rng(5)
        x = np.exp(spread * (rng.normal(size=(300, 1)) + rng.normal(size=(300, 2)) / 2))
        values, labels = np.unique(x, return_inverse=True)
        codes = Codes(labels.reshape(x.shape), np.arange(300), len(values), tuple(values.tolist()))
        units = tuple(f"u{n:04}" for n in range(300))
        measure = agreement(
            Sample(codes, ("a", "b"), units, units), "krippendorff_alpha", "interval"
        )
        headline = estimate(measure, key=1, resampling=Resampling(100), cluster="unit").headline
        [n_degrees] = wald.variance_degrees(wald.linearised(measure.sums, measure.finalise), 300)
        assert f"t with {n_degrees:.0f} degrees" in headline.method
        degrees.append(n_degrees)
        half = (np.arctanh(headline.high) - np.arctanh(headline.low)) / 2
        reach.append(half * (1 - headline.value**2) / headline.se)
    assert degrees[1] < 20 < 50 < degrees[0]
    assert reach == pytest.approx(stats.t.ppf(0.975, degrees))
