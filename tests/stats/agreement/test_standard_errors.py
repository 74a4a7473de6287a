"""Textbook standard errors against the delta method by finite differences, and where they are
undefined."""

from __future__ import annotations

import numpy as np
import pytest

from konsil.stats.agreement import alpha, kappa, multirater
from konsil.stats.agreement import standard_errors as se
from konsil.stats.engine.contract import Codes, Statistic

TABLE = np.array([[13, 2, 0], [1, 20, 7], [0, 4, 53]])


def by_differences(statistic: Statistic, table: np.ndarray) -> float:
    """Delta method on a multinomial table, the derivatives by central differences."""
    p = table.ravel() / table.sum()

    def f(shares: np.ndarray) -> float:
        return float(statistic.finalise(shares * 1e9)[0])  # so many units that alpha's n - 1 is n

    step = 1e-5
    slopes = np.array(
        [(f(p + step * unit) - f(p - step * unit)) / (2 * step) for unit in np.eye(len(p))]
    )
    return float(np.sqrt(((p * slopes**2).sum() - (p @ slopes) ** 2) / table.sum()))


@pytest.mark.parametrize("weights", ["unweighted", "linear", "quadratic"])
def test_table_errors_are_the_delta_method(weights: str) -> None:
    cases: dict[se.Coefficient, Statistic] = {
        "percent_agreement": kappa.percent_agreement(2, 3, weights),
        "conger_kappa": kappa.cohen_kappa(2, 3, weights),
        "fleiss_kappa": kappa.scott_pi(2, 3, weights),
    }
    for coefficient, statistic in cases.items():
        expected = by_differences(statistic, TABLE)
        assert se.two_rater_standard_error(coefficient, TABLE, weights) == pytest.approx(
            expected, rel=1e-6
        )
    assert se.cohen_kappa_se(TABLE, weights) == pytest.approx(
        by_differences(cases["conger_kappa"], TABLE), rel=1e-6
    )


def by_jackknife(statistic: Statistic, codes: Codes) -> float:
    sums = np.asarray(statistic.tally(codes))
    without = statistic.finalise(sums.sum(0) - sums)[:, 0]
    n = len(without)
    return float(np.sqrt((n - 1) / n * np.square(without - without.mean()).sum()))


def test_raw_errors_are_near_the_jackknife_of_our_statistics() -> None:
    g = np.random.default_rng(1)
    truth = g.integers(0, 4, (400, 1))
    labels = np.where(g.random((400, 5)) < 0.6, truth, g.integers(0, 4, (400, 5)))
    codes = Codes(labels, np.arange(400), 4)
    cases: dict[se.Coefficient, Statistic] = {
        "percent_agreement": multirater.multirater_percent_agreement(4),
        "brennan_prediger": multirater.brennan_prediger(4),
        "fleiss_kappa": multirater.fleiss_kappa(4),
        "conger_kappa": multirater.conger_kappa(5, 4),
        "gwet_ac": multirater.gwet_ac1(4),
        "krippendorff_alpha": alpha.krippendorff_alpha(4),
    }
    assert set(cases) == set(se.COEFFICIENTS)
    for coefficient, statistic in cases.items():
        assert se.standard_error(coefficient, codes) == pytest.approx(
            by_jackknife(statistic, codes), rel=0.01
        )


def test_undefined_errors_are_nan() -> None:
    constant = Codes(np.ones((5, 3), np.int64), np.arange(5), 2)
    lone = Codes(np.array([[0, -1], [-1, 1]]), np.arange(2), 2)
    empty = Codes(np.full((2, 2), -1), np.arange(2), 2)
    for coefficient in se.COEFFICIENTS:
        assert np.isnan(se.standard_error(coefficient, lone))
        assert np.isnan(se.standard_error(coefficient, empty))
        assert np.isnan(se.two_rater_standard_error(coefficient, [[0, 0], [0, 0]]))
    for coefficient in ("fleiss_kappa", "conger_kappa", "krippendorff_alpha"):
        assert np.isnan(se.standard_error(coefficient, constant))


def test_wrong_tables_and_names_are_refused() -> None:
    with pytest.raises(ValueError, match="square table"):
        se.cohen_kappa_se([[1, 2, 3], [4, 5, 6]])
    with pytest.raises(ValueError, match="whole counts"):
        se.cohen_kappa_se([[1, 2.5], [4, 5]])
    with pytest.raises(ValueError, match="expected one of percent_agreement"):
        se.standard_error("kappa", se.codes_of_table(TABLE))
