"""Krippendorff's alpha against the krippendorff package, and where it is undefined."""

from __future__ import annotations

import krippendorff
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from konsil.stats.agreement import alpha
from konsil.stats.engine.contract import Codes
from konsil.stats.engine.tables import coincidences


def value(c: Codes, level: alpha.Level) -> float:
    statistic = alpha.krippendorff_alpha(c.n_labels, level, c.values)
    return float(statistic.finalise(statistic.tally(c).sum(0))[0])


@pytest.mark.parametrize("level", alpha.LEVELS)
@settings(max_examples=60, deadline=None)
@given(
    st.integers(0, 2**32),
    st.integers(2, 5),
    st.integers(2, 5),
    st.integers(2, 15),
    st.floats(0, 0.6),
)
def test_alpha_equals_the_krippendorff_package(
    level: alpha.Level, seed: int, k: int, n_raters: int, n_units: int, missing: float
) -> None:
    g = np.random.default_rng(seed)
    values = np.cumsum(g.integers(1, 4, k)).astype(float)
    labels = g.integers(0, k, (n_units, n_raters))
    labels[g.random(labels.shape) < missing] = -1
    pairable = labels[(labels >= 0).sum(1) >= 2]
    assume(np.unique(pairable[pairable >= 0]).size > 1)
    numbers = np.where(labels < 0, np.nan, values[labels])
    peer = krippendorff.alpha(numbers.T, level_of_measurement=level, value_domain=values)
    assert value(Codes(labels, np.arange(n_units), k, tuple(values)), level) == pytest.approx(
        peer, abs=1e-9
    )


@pytest.mark.parametrize("level", alpha.LEVELS)
def test_alpha_is_undefined_for_constant_single_or_no_labels(level: alpha.Level) -> None:
    for labels in ([[1, 1], [1, 1]], [[1, -1], [-1, 0]], [[-1, -1]], [[0], [1]]):
        labels = np.array(labels)
        assert np.isnan(value(Codes(labels, np.arange(len(labels)), 2, (1.0, 2.0)), level))
        assert np.isnan(value(Codes(labels, np.arange(len(labels)), 3, (0.1, 0.7, 0.9)), level))


def test_full_agreement_is_one_and_disagreement_is_negative() -> None:
    agree = Codes(np.array([[0, 0], [1, 1], [2, 2]]), np.arange(3), 3)
    disagree = Codes(np.array([[0, 2], [2, 0], [0, 2]]), np.arange(3), 3)
    for level in alpha.LEVELS:
        assert value(agree, level) == pytest.approx(1)
        assert value(disagree, level) < 0


def test_interval_alpha_does_not_see_shift_and_scale_nor_ratio_alpha_the_scale() -> None:
    g = np.random.default_rng(3)
    labels = g.integers(-1, 4, (30, 3))
    x = np.array([1.0, 2.0, 4.0, 9.0])

    def with_values(v: np.ndarray, level: alpha.Level) -> float:
        return value(Codes(labels, np.arange(30), 4, tuple(v)), level)

    assert with_values(x, "interval") == pytest.approx(
        with_values(1e6 + 7 * x, "interval"), abs=1e-6
    )
    assert with_values(x, "ratio") == pytest.approx(with_values(7 * x, "ratio"))
    assert with_values(x, "ordinal") == pytest.approx(with_values(x**2, "ordinal"))


def test_draws_with_fractional_weights_keep_the_value() -> None:
    g = np.random.default_rng(3)
    sums = coincidences(Codes(g.integers(-1, 4, (30, 3)), np.arange(30), 4))
    statistic = alpha.krippendorff_alpha(4, "ordinal")
    weights = g.dirichlet(np.ones(30), 7) * 30
    together = statistic.finalise(weights @ sums)
    assert together.shape == (7, 1)
    assert np.allclose(together[2], statistic.finalise(weights[2] @ sums))


def test_weighted_alpha_is_alpha_where_weights_and_levels_coincide() -> None:
    g = np.random.default_rng(4)
    c = Codes(g.integers(-1, 4, (30, 3)), np.arange(30), 4, (1.0, 2.0, 3.0, 4.0))
    totals = coincidences(c).sum(0)
    for weights, level in (
        ("unweighted", "nominal"),
        ("quadratic", "interval"),
        ("ratio", "ratio"),
    ):
        weighted = alpha.krippendorff_alpha_weighted(4, weights, c.values).finalise(totals)
        assert weighted == pytest.approx(value(c, level))


def test_unknown_levels_are_named() -> None:
    with pytest.raises(ValueError, match="expected one of nominal"):
        alpha.krippendorff_alpha(2, "metric")
