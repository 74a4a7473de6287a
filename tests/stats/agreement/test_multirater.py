"""Many raters at once against statsmodels and irrCAC; Gwet's coefficients too."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from statsmodels.stats.inter_rater import fleiss_kappa as peer_fleiss

from konsil.stats.agreement import alpha, kappa, multirater
from konsil.stats.agreement import standard_errors as se
from konsil.stats.engine.contract import Codes, Statistic
from konsil.stats.engine.tables import unit_counts


def value(statistic: Statistic, codes: Codes) -> float:
    return float(statistic.finalise(np.asarray(statistic.tally(codes)).sum(0))[0])


def sample(
    seed: int, k: int = 4, n_raters: int = 5, n_units: int = 40, missing: float = 0.2
) -> Codes:
    g = np.random.default_rng(seed)
    truth = g.integers(0, k, n_units)
    labels = np.where(
        g.random((n_units, n_raters)) < 0.5, truth[:, None], g.integers(0, k, (n_units, n_raters))
    )
    labels[g.random(labels.shape) < missing] = -1
    labels[0, 0] = max(labels[0, 0], 0)
    return Codes(labels, np.arange(n_units), k, tuple(float(v) for v in range(1, k + 1)))


def irrcac(codes: Codes, method: str, weights: str) -> tuple[float, float]:
    """The peer's coefficient and standard error: it rounds both to five digits."""
    peer = pytest.importorskip("irrCAC.raw", reason="irrCAC is not installed; .ci/run installs it")
    kept = codes.labels[(codes.labels >= 0).any(1)]
    frame = pd.DataFrame(np.where(kept < 0, np.nan, kept + 1.0))
    name = "identity" if weights == "unweighted" else weights
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # pandas' and numpy's deprecations inside the peer
        result = getattr(
            peer.CAC(frame, weights=name, categories=list(codes.values or ())), method
        )()["est"]
    return float(result["coefficient_value"]), float(result["se"])


PAIRS: list[tuple[str, str, se.Coefficient]] = [
    ("gwet", "gwet_ac", "gwet_ac"),
    ("fleiss", "fleiss", "fleiss_kappa"),
    ("conger", "conger", "conger_kappa"),
    ("bp", "bp", "brennan_prediger"),
    ("krippendorff", "alpha", "krippendorff_alpha"),
]


@pytest.mark.parametrize("weights", ["unweighted", "linear", "quadratic", "ordinal"])
@pytest.mark.parametrize(("method", "ours", "error"), PAIRS)
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.slow  # The fast tests do without this peer, which no extra can name.
def test_coefficients_and_standard_errors_equal_irrcac(
    seed: int, method: str, ours: str, error: se.Coefficient, weights: str
) -> None:
    codes = sample(seed)
    k, m = codes.n_labels, codes.labels.shape[1]
    statistic = {
        "gwet_ac": multirater.gwet_ac2(k, weights, codes.values),
        "fleiss": multirater.fleiss_kappa(k, weights, codes.values),
        "conger": multirater.conger_kappa(m, k, weights, codes.values),
        "bp": multirater.brennan_prediger(k, weights, codes.values),
        "alpha": alpha.krippendorff_alpha_weighted(k, weights, codes.values),
    }[ours]
    coefficient, peer_error = irrcac(codes, method, weights)
    assert value(statistic, codes) == pytest.approx(coefficient, abs=1.1e-5)
    assert se.standard_error(error, codes, weights) == pytest.approx(peer_error, abs=1.1e-5)


@pytest.mark.parametrize("seed", range(5))
def test_fleiss_kappa_equals_statsmodels(seed: int) -> None:
    codes = sample(seed, missing=0)
    peer = peer_fleiss(unit_counts(codes), method="fleiss")
    assert value(multirater.fleiss_kappa(4), codes) == pytest.approx(peer, abs=1e-12)


def test_randolph_counts_declared_labels_where_statsmodels_counts_columns() -> None:
    """A trap: statsmodels takes the number of labels from the table's columns.

    Its own aggregate_raters makes columns of the observed labels only, so a declared label that
    nobody used changes its Randolph kappa. Ours takes the number that was declared."""
    codes = sample(1, k=3, missing=0)
    declared = Codes(codes.labels, codes.clusters, 5)
    observed_columns = peer_fleiss(unit_counts(codes), method="randolph")
    declared_columns = peer_fleiss(unit_counts(declared), method="randolph")
    assert value(multirater.randolph_kappa(3), codes) == pytest.approx(observed_columns)
    assert value(multirater.randolph_kappa(5), declared) == pytest.approx(declared_columns)
    assert declared_columns > observed_columns + 0.01


def test_conger_of_two_raters_is_cohens_kappa_and_fleiss_is_scotts_pi() -> None:
    codes = sample(3, n_raters=2, missing=0)
    assert value(multirater.conger_kappa(2, 4), codes) == pytest.approx(
        value(kappa.cohen_kappa(2, 4), codes)
    )
    assert value(multirater.fleiss_kappa(4), codes) == pytest.approx(
        value(kappa.scott_pi(2, 4), codes)
    )
    assert value(multirater.gwet_ac1(4), codes) == pytest.approx(
        float(kappa.gwet_ac_of(kappa.pair_tables(codes).sum(0), 1 - np.eye(4)))
    )


def test_a_rater_without_labels_does_not_count_for_conger() -> None:
    codes = sample(4)
    with_empty = Codes(np.column_stack([codes.labels, np.full(40, -1)]), codes.clusters, 4)
    assert value(multirater.conger_kappa(6, 4), with_empty) == pytest.approx(
        value(multirater.conger_kappa(5, 4), Codes(codes.labels, codes.clusters, 4))
    )


def test_constant_labels_and_lone_labels_are_undefined() -> None:
    constant = Codes(np.ones((5, 3), np.int64), np.arange(5), 3)
    lone = Codes(np.array([[0, -1, -1], [-1, 1, -1]]), np.arange(2), 3)
    for statistic in (multirater.fleiss_kappa(3), multirater.conger_kappa(3, 3)):
        assert np.isnan(value(statistic, constant))
    every = (
        multirater.fleiss_kappa(3),
        multirater.conger_kappa(3, 3),
        multirater.randolph_kappa(3),
        multirater.multirater_percent_agreement(3),
        multirater.unanimity(),
        multirater.gwet_ac1(3),
    )
    for statistic in every:
        assert np.isnan(value(statistic, lone)), statistic.name
    # Full agreement on one label is full agreement where chance is not taken from the labels used.
    assert value(multirater.randolph_kappa(3), constant) == 1
    assert value(multirater.gwet_ac1(3), constant) == 1
    single = Codes(np.zeros((5, 3), np.int64), np.arange(5), 1)
    for statistic in (
        multirater.randolph_kappa(1),
        multirater.gwet_ac1(1),
        multirater.brennan_prediger(1),
    ):
        assert np.isnan(value(statistic, single))


def test_unanimity_with_and_without_tolerance() -> None:
    codes = Codes(np.array([[0, 0, 0], [0, 1, 1], [0, 2, 1], [1, -1, 1]]), np.arange(4), 3)
    assert value(multirater.unanimity(), codes) == pytest.approx(1 / 3)
    assert value(multirater.unanimity(1), codes) == pytest.approx(2 / 3)
    assert value(multirater.unanimity(2), codes) == 1
