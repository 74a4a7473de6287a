"""Two-rater agreement against scikit-learn, and where it is undefined."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

from konsil.stats.agreement import kappa
from konsil.stats.engine.contract import Codes, Statistic
from konsil.stats.engine.tables import pair_tables


def value(statistic: Statistic, codes: Codes) -> float:
    return float(statistic.finalise(statistic.tally(codes).sum(0))[0])


def sample(k: int, n_raters: int = 4, n_units: int = 80, seed: int = 0) -> Codes:
    g = np.random.default_rng(seed)
    truth = g.integers(0, k, n_units)
    noise = g.integers(0, k, (n_units, n_raters))
    labels = np.where(g.random((n_units, n_raters)) < 0.6, truth[:, None], noise)
    labels[g.random(labels.shape) < 0.1] = -1
    return Codes(labels, np.repeat(np.arange(n_units // 4), 4), k)


@pytest.mark.parametrize("k", [2, 3, 5])
@pytest.mark.parametrize("weights", ["unweighted", "linear", "quadratic"])
def test_kappa_equals_scikit_learn_pair_by_pair(k: int, weights: str) -> None:
    c = sample(k)
    per_pair = kappa.cohen_kappa(4, k, weights, per_pair=True).finalise(pair_tables(c).sum(0))
    peers = []
    for a, b in zip(*np.triu_indices(4, 1), strict=True):
        both = (c.labels[:, [a, b]] >= 0).all(1)
        peer_weights = None if weights == "unweighted" else weights
        peers.append(
            cohen_kappa_score(
                c.labels[both, a], c.labels[both, b], labels=range(k), weights=peer_weights
            )
        )
    assert np.allclose(per_pair, peers, atol=1e-12)
    assert value(kappa.cohen_kappa(4, k, weights), c) == pytest.approx(np.mean(peers))


@settings(deadline=None)
@given(st.lists(st.integers(0, 9), min_size=4, max_size=4))
def test_two_labels_take_a_shorter_way_to_the_same_number(cells: list[int]) -> None:
    table = np.array(cells, dtype=float)
    wide = np.zeros((3, 3))
    wide[:2, :2] = table.reshape(2, 2)
    two = kappa.cohen_kappa(2, 2).finalise(table)
    three = kappa.cohen_kappa(2, 3).finalise(wide.ravel())
    assert np.allclose(two, three, equal_nan=True)


def test_pabak_counts_the_declared_labels() -> None:
    c = sample(2, 3)
    agreement = value(kappa.percent_agreement(3, 2), c)
    assert value(kappa.pabak(3, 2), c) == pytest.approx(2 * agreement - 1)
    wider = Codes(c.labels, c.clusters, 4)
    assert value(kappa.pabak(3, 4), wider) == pytest.approx((4 * agreement - 1) / 3)


def test_within_one_counts_neighbours() -> None:
    c = sample(5)
    first, second = c.labels[:, 0], c.labels[:, 1]
    both = (first >= 0) & (second >= 0)
    per_pair = kappa.within_one(4, 5, per_pair=True).finalise(pair_tables(c).sum(0))
    assert per_pair[0] == pytest.approx((np.abs(first - second) <= 1)[both].mean())


def test_scott_pi_equals_its_formula() -> None:
    table = np.array([[13.0, 0, 0], [0, 20, 7], [0, 4, 56]])
    margin = (table.sum(0) + table.sum(1)) / 200
    chance = (margin**2).sum()
    expected = (0.89 - chance) / (1 - chance)
    assert kappa.scott_pi(2, 3).finalise(table.ravel()) == pytest.approx(expected)


def test_gwet_on_a_table_equals_the_paradox_value() -> None:
    assert kappa.gwet_ac_of(np.array([80.0, 10, 5, 5]), 1 - np.eye(2)) == pytest.approx(0.808)


FACTORIES = [kappa.cohen_kappa, kappa.scott_pi]


@pytest.mark.parametrize("factory", FACTORIES)
def test_constant_labels_leave_kappa_undefined(factory: object) -> None:
    constant = Codes(np.ones((6, 3), np.int64), np.arange(6), 2)
    assert np.isnan(value(factory(3, 2), constant))
    assert np.isnan(value(factory(3, 3), Codes(constant.labels, constant.clusters, 3)))
    assert value(kappa.percent_agreement(3, 2), constant) == 1


def test_pairs_without_common_units_are_left_out_and_counted() -> None:
    labels = np.array([[0, 0, -1], [1, 1, -1], [0, 1, -1], [-1, -1, 1]])
    c = Codes(labels, np.arange(4), 2)
    for factory in (kappa.cohen_kappa, kappa.percent_agreement, kappa.pabak, kappa.scott_pi):
        per_pair = factory(3, 2, per_pair=True)
        assert np.isnan(per_pair.finalise(pair_tables(c).sum(0))).tolist() == [False, True, True]
        assert value(kappa.undefined_pairs(per_pair), c) == 2
        assert value(factory(3, 2), c) == pytest.approx(per_pair.finalise(pair_tables(c).sum(0))[0])


@pytest.mark.parametrize(
    "factory", [kappa.percent_agreement, kappa.cohen_kappa, kappa.pabak, kappa.light_kappa]
)
def test_a_single_rater_has_no_agreement(factory: object) -> None:
    c = Codes(np.array([[0], [1]]), np.arange(2), 2)
    assert np.isnan(value(factory(1, 2), c))


def test_a_single_declared_label_has_no_chance_correction() -> None:
    c = Codes(np.zeros((3, 2), np.int64), np.arange(3), 1)
    assert np.isnan(value(kappa.pabak(2, 1), c))
    assert np.isnan(value(kappa.cohen_kappa(2, 1), c))


def test_values_are_vectorised_over_leading_axes() -> None:
    sums = pair_tables(sample(3))
    totals = np.random.default_rng(1).multinomial(20, np.full(20, 0.05), (2, 5)) @ sums
    for statistic in (
        kappa.cohen_kappa(4, 3, "quadratic"),
        kappa.pabak(4, 3),
        kappa.scott_pi(4, 3),
    ):
        together = statistic.finalise(totals)
        assert together.shape == (2, 5, 1)
        assert np.allclose(together[1, 3], statistic.finalise(totals[1, 3]), equal_nan=True)


def test_unknown_measures_are_named() -> None:
    with pytest.raises(ValueError, match="expected one of percent_agreement"):
        kappa.measure_disagreements("kapa", 2)
