"""What holds for every statistic of the registry."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from konsil.stats.agreement.alpha import LEVELS
from konsil.stats.agreement.registry import STATISTICS, statistic
from konsil.stats.engine.contract import Codes, Statistic

NAMES = sorted(STATISTICS)
SYMMETRIC_IN_LABELS = [name for name in NAMES if STATISTICS[name].levels == LEVELS]


def sample(
    seed: int, k: int = 4, n_raters: int = 4, n_clusters: int = 12, missing: float = 0.1
) -> Codes:
    g = np.random.default_rng(seed)
    n_units = 3 * n_clusters
    truth = g.integers(0, k, (n_units, 1))
    labels = np.where(
        g.random((n_units, n_raters)) < 0.5, truth, g.integers(0, k, (n_units, n_raters))
    )
    labels[g.random(labels.shape) < missing] = -1
    return Codes(
        labels,
        np.repeat(np.arange(n_clusters), 3),
        k,
        tuple(float(v) for v in np.arange(1, k + 1) ** 2),
    )


def tallied(s: Statistic, codes: Codes) -> np.ndarray:
    sums = s.tally(codes)
    return sums.toarray() if sparse.issparse(sums) else np.asarray(sums)


def value(name: str, codes: Codes, level: str = "interval") -> float:
    s = statistic(name, codes, level=level)
    got = s.finalise(tallied(s, codes).sum(0))
    assert got.shape == (1,)
    return float(got[0])


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_order_of_units_and_raters_changes_nothing(name: str, seed: int) -> None:
    codes = sample(seed)
    g = np.random.default_rng(seed)
    units, raters = g.permutation(len(codes.labels)), g.permutation(4)
    shuffled = Codes(
        codes.labels[units][:, raters], codes.clusters[units], codes.n_labels, codes.values
    )
    assert value(name, shuffled) == pytest.approx(value(name, codes), abs=1e-9, nan_ok=True)


@pytest.mark.parametrize("name", SYMMETRIC_IN_LABELS)
@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_renaming_nominal_labels_changes_nothing(name: str, seed: int) -> None:
    codes = sample(seed)
    new = np.append(np.random.default_rng(seed).permutation(4), -1)  # -1 stays -1
    renamed = Codes(new[codes.labels], codes.clusters, 4)
    plain = Codes(codes.labels, codes.clusters, 4)
    assert value(name, renamed, "nominal") == pytest.approx(
        value(name, plain, "nominal"), abs=1e-9, nan_ok=True
    )


@pytest.mark.parametrize("name", NAMES)
def test_reversing_the_scale_changes_nothing(name: str) -> None:
    codes = sample(3)
    labels = np.where(codes.labels < 0, -1, 3 - codes.labels)
    flipped = Codes(labels, codes.clusters, 4)
    plain = Codes(codes.labels, codes.clusters, 4)
    assert value(name, flipped) == pytest.approx(value(name, plain), abs=1e-9)


@pytest.mark.parametrize("name", NAMES)
def test_a_doubled_data_set_equals_weight_two(name: str) -> None:
    codes = sample(1)
    twice = Codes(
        np.vstack([codes.labels] * 2), np.tile(codes.clusters, 2), codes.n_labels, codes.values
    )
    s = statistic(name, codes, level="interval")
    assert np.allclose(
        s.finalise(2 * tallied(s, codes).sum(0)), s.finalise(tallied(s, twice).sum(0))
    )


@pytest.mark.parametrize("name", NAMES)
def test_leaving_a_cluster_out_equals_recomputing(name: str) -> None:
    codes = sample(2)
    s = statistic(name, codes, level="ordinal")
    sums = tallied(s, codes)
    without = s.finalise(sums.sum(0) - sums)
    assert without.shape == (12, 1)
    for cluster in (0, 7):
        kept = codes.clusters != cluster
        relabelled = np.unique(codes.clusters[kept], return_inverse=True)[1]
        fewer = Codes(codes.labels[kept], relabelled, codes.n_labels, codes.values)
        assert without[cluster, 0] == pytest.approx(value(name, fewer, "ordinal"), abs=1e-9)


@pytest.mark.parametrize("name", NAMES)
def test_values_lie_in_the_range_and_full_agreement_is_the_highest(name: str) -> None:
    low, high = STATISTICS[name].range
    for seed in range(20):
        assert low - 1e-9 <= value(name, sample(seed)) <= high + 1e-9
    column = np.random.default_rng(0).integers(0, 4, (30, 1))
    perfect = Codes(np.repeat(column, 4, axis=1), np.arange(30), 4, (1.0, 2.0, 3.0, 4.0))
    assert value(name, perfect) == pytest.approx(high)


@pytest.mark.parametrize("name", NAMES)
def test_nothing_to_compare_is_nan_and_not_zero(name: str) -> None:
    alone = Codes(np.array([[0], [1], [2]]), np.arange(3), 4, (1.0, 2.0, 3.0, 4.0))
    apart = Codes(np.array([[0, -1], [-1, 1], [2, -1]]), np.arange(3), 4, (1.0, 2.0, 3.0, 4.0))
    nobody = Codes(np.full((3, 2), -1), np.arange(3), 4, (1.0, 2.0, 3.0, 4.0))
    assert np.isnan(value(name, apart))
    assert np.isnan(value(name, nobody))
    if name != "unanimity":  # one rater is trivially unanimous
        assert np.isnan(value(name, alone))


@pytest.mark.parametrize("name", NAMES)
def test_finalise_can_be_sent_to_another_process(name: str) -> None:
    codes = sample(1)
    s = statistic(name, codes, level="ratio")
    totals = tallied(s, codes).sum(0)
    assert np.array_equal(pickle.loads(pickle.dumps(s.finalise))(totals), s.finalise(totals))


def test_entries_are_complete() -> None:
    for name, entry in STATISTICS.items():
        assert entry.name == name
        assert entry.title
        assert entry.source
        assert entry.description.endswith(".")
        assert entry.levels


def test_names_by_level() -> None:
    nominal = {
        "percent_agreement",
        "cohen_kappa",
        "pabak",
        "fleiss_kappa",
        "randolph_kappa",
        "gwet_ac1",
    }
    ordinal = {
        "cohen_kappa_linear",
        "cohen_kappa_quadratic",
        "gwet_ac2",
        "within_one",
        "kendall_w",
        "icc2",
    }
    at = {level: {n for n, e in STATISTICS.items() if level in e.levels} for level in LEVELS}
    assert nominal <= at["nominal"]
    assert not ordinal & at["nominal"]
    for level in ("ordinal", "interval", "ratio"):
        assert nominal | ordinal <= at[level]


def test_weights_are_passed_on_or_refused() -> None:
    codes = sample(1)
    for name, entry in STATISTICS.items():
        if entry.weighted:
            s = statistic(name, codes, "linear")
            assert not np.allclose(
                s.finalise(tallied(s, codes).sum(0)), value(name, codes, "nominal")
            )
        else:
            with pytest.raises(ValueError, match="got weights"):
                statistic(name, codes, "linear")
    with pytest.raises(ValueError, match="expected one of percent_agreement"):
        statistic("kappa", codes)


def test_statistics_that_share_sums_share_the_tally() -> None:
    codes = sample(1)
    pairwise = ("percent_agreement", "cohen_kappa", "pabak", "scott_pi", "spearman", "within_one")
    assert len({statistic(name, codes).tally for name in pairwise}) == 1
    counted = ("fleiss_kappa", "randolph_kappa", "gwet_ac1", "gwet_ac2", "brennan_prediger")
    assert len({statistic(name, codes).tally for name in counted}) == 1
