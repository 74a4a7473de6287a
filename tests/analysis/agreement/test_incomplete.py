"""Means over pairs of raters of which some share few units."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest

import konsil
from konsil.analysis.agreement.agreement_statistics import agreement, agreement_alone
from konsil.analysis.estimation.estimate import estimate
from konsil.analysis.estimation.measure import value
from konsil.analysis.model.sample import Sample
from konsil.analysis.model.spec import AsPublished, Resampling
from konsil.stats.agreement.kappa import percent_agreement
from konsil.stats.agreement.thin_pairs import FEWEST_SHARED, thin_pairs
from konsil.stats.engine.contract import Codes, Estimate
from konsil.stats.engine.tables import pair_tables
from konsil.stats.inference import posterior

OF_PAIRS = ("percent_agreement", "pabak", "cohen_kappa", "scott_pi", "light_kappa")


def labels_of(n: int, shared: int, seed: int = 1) -> np.ndarray:
    """Two raters who agree on seven units in ten, and a third who rates the first units like the
    first."""
    generator = np.random.default_rng(seed)
    first = generator.integers(0, 2, n)
    labels = np.stack([first, np.where(generator.random(n) < 0.3, 1 - first, first), first], axis=1)
    labels[shared:, 2] = -1
    return labels


def sample_of(labels: np.ndarray, clusters: np.ndarray | None = None) -> Sample:
    of = np.arange(len(labels)) if clusters is None else clusters
    names = (range(labels.shape[1]), range(len(labels)), range(int(of.max()) + 1))
    return Sample(Codes(labels, of, 2), *(tuple(f"{n:03}" for n in numbers) for numbers in names))


def frame_of(labels: np.ndarray) -> pl.DataFrame:
    words = np.where(labels < 0, "", np.where(labels > 0, "y", "n"))
    return pl.DataFrame({f"r{n}": words[:, n] for n in range(labels.shape[1])})


@pytest.mark.parametrize("name", OF_PAIRS)
def test_a_pair_that_agrees_in_all_of_five_units_widens_the_interval(name: str) -> None:
    sample = sample_of(labels_of(25, 5))
    measure = agreement(sample, name, "nominal")
    found = estimate(measure, key=1, resampling=Resampling(500), cluster="unit")
    assert "and every pair of raters" in found.headline.method
    assert (
        "t with 5.82 degrees of freedom from the clusters that pairs share" in found.headline.method
    )
    assert not found.companions
    assert found.headline.low < found.headline.value < found.headline.high
    # Its standard error is at least that of a mean whose two thin pairs vary as five units with a
    # prior of one do.
    scale = 1.0 if name == "percent_agreement" else 2.0
    assert found.headline.se > scale * 0.05
    paper = estimate(measure, key=1, resampling=AsPublished(500), cluster="unit")
    assert "bootstrap" in paper.headline.method


def test_pabak_follows_percent_agreement() -> None:
    result = konsil.agreement(frame_of(labels_of(25, 5)), labels=["n", "y"], resamples=400)
    share, other = result["percent_agreement"], result["pabak"]
    assert (other.low, other.high, other.se) == pytest.approx(
        (2 * share.low - 1, 2 * share.high - 1, 2 * share.se)
    )


def test_weights_by_shared_units_and_coefficients_of_all_raters_are_as_before() -> None:
    frame = frame_of(labels_of(25, 5))
    alike = konsil.agreement(frame, labels=["n", "y"], resamples=400)
    assert "every pair" not in alike["fleiss_kappa"].method + alike["krippendorff_alpha"].method
    by_units = konsil.agreement(frame, labels=["n", "y"], resamples=400, pair_weights="units")
    assert not [s for s in by_units.statistics if "every pair" in s.estimate.method]


@pytest.mark.parametrize(
    ("n", "shared", "is_thin"),
    [
        (30, 30, False),
        (30, 15, False),
        (30, 14, True),
        (200, FEWEST_SHARED, False),
        (200, FEWEST_SHARED - 1, True),
    ],
)
def test_a_pair_is_thin_below_fifty_clusters_and_half_of_all(
    n: int, shared: int, is_thin: bool
) -> None:
    assert (thin_pairs(Codes(labels_of(n, shared), np.arange(n), 2)) is not None) == is_thin


def test_what_pairs_share_is_counted_in_clusters() -> None:
    labels = labels_of(40, 6)
    thin = thin_pairs(Codes(labels, np.arange(40) // 2, 2))
    assert thin is not None
    assert thin.least == 3
    assert thin.effective == pytest.approx(3 / (1 / 20 + 2 / 3))


def test_pairs_that_share_nothing_and_two_raters_alone_are_not_thin() -> None:
    labels = labels_of(30, 0)
    assert thin_pairs(Codes(labels, np.arange(30), 2)) is None
    assert thin_pairs(Codes(labels[:, :2], np.arange(30), 2)) is None


def test_the_prior_counts_for_every_pair_that_shares_a_unit_and_for_no_other() -> None:
    labels = np.full((12, 4), -1)
    labels[:, :2] = 0
    labels[:4, 2] = 1
    labels[4:8, 3] = 0
    codes = Codes(labels, np.arange(12), 2)
    defined = posterior.of_defined_tables(pair_tables(codes), 4)
    virtual = posterior.prior(codes, pair_tables, defined=defined)
    assert virtual is not None
    added = virtual.agreement
    of_pairs = (added.weights @ added.rows).reshape(6, 4).sum(axis=1)
    assert of_pairs == pytest.approx([1, 1, 1, 1, 1, 0])
    drawn = posterior.draws_of(
        np.asarray(pair_tables(codes)), virtual, percent_agreement(4, 2).finalise, draws=100, key=1
    )
    assert np.isfinite(drawn).all()


def test_where_pairs_share_hardly_a_unit_there_is_no_interval_but_the_reason() -> None:
    labels = np.full((12, 12), -1)
    for unit in range(12):
        labels[unit, [unit, (unit + 1) % 12]] = unit % 2
    result = konsil.agreement(frame_of(labels), labels=["n", "y"], resamples=200)
    for name in ("percent_agreement", "pabak"):
        e = result[name]
        assert math.isnan(e.low)
        assert (
            e.reason
            == "no CI: pairs of raters share too few unit clusters (effectively 1.0 each; at"
            " least 2 are needed)"
        )


def test_longer_scales_have_the_same_interval_unless_their_tables_are_too_wide(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    generator = np.random.default_rng(2)
    numbers = generator.integers(0, 12, (40, 1)) + generator.integers(0, 3, (40, 3))
    words = numbers.astype(str)
    words[6:, 2] = ""
    frame = pl.DataFrame({f"r{n}": words[:, n] for n in range(3)})

    def kappa() -> Estimate:
        return konsil.agreement(
            frame, level="interval", statistics=["cohen_kappa_quadratic"], resamples=200
        )["cohen_kappa_quadratic"]

    assert "and every pair of raters" in kappa().method
    assert kappa().low < kappa().value < kappa().high
    monkeypatch.setattr(posterior, "WIDEST", 1000)
    found = kappa()
    assert math.isnan(found.low)
    assert found.reason.startswith("no CI: a pair of raters shares only 6 unit clusters")


def test_names_of_raters_move_no_limit() -> None:
    frame = frame_of(labels_of(25, 5))
    first = konsil.agreement(frame, labels=["n", "y"], resamples=300)["cohen_kappa"]
    other = konsil.agreement(frame.select("r2", "r0", "r1"), labels=["n", "y"], resamples=300)[
        "cohen_kappa"
    ]
    assert (first.low, first.high) == pytest.approx((other.low, other.high), abs=1e-9)


@pytest.mark.slow
def test_intervals_of_a_thin_design_cover() -> None:
    """Three raters, the third with a fifth of 25 items: .80 and .82 were covered, of .95."""
    generator, held = np.random.default_rng(5), {"percent_agreement": 0, "cohen_kappa": 0}
    truths = {"percent_agreement": 0.7628, "cohen_kappa": 0.5256}
    for study in range(150):
        labels = (
            generator.standard_normal((25, 1)) + 0.6 * generator.standard_normal((25, 3)) > 0
        ).astype(np.int64)
        labels[5:, 2] = -1
        for name, truth in truths.items():
            e = estimate(
                agreement(sample_of(labels), name, "nominal"),
                key=study,
                resampling=Resampling(200),
                cluster="unit",
            ).headline
            held[name] += e.low <= truth <= e.high
    assert min(held.values()) >= 0.92 * 150, held


@pytest.mark.parametrize("seed", range(4))
def test_pairs_in_clusters_share_what_a_plain_loop_counts(seed: int) -> None:
    generator = np.random.default_rng(seed)
    labels = np.where(generator.random((40, 5)) < 0.4, generator.integers(0, 2, (40, 5)), -1)
    clusters = generator.integers(0, 12, 40)
    shared = {
        (a, b): {
            int(of) for of, row in zip(clusters, labels, strict=True) if min(row[a], row[b]) >= 0
        }
        for a in range(5)
        for b in range(a + 1, 5)
    }
    sizes = [len(of) for of in shared.values() if of]
    found = thin_pairs(Codes(labels, clusters, 2))
    compared = len(set(clusters[(labels >= 0).sum(axis=1) >= 2]))
    if min(sizes) >= min(FEWEST_SHARED, 0.5 * compared):
        assert found is None
    else:
        assert found is not None
        assert found.least == min(sizes)
        assert found.effective == pytest.approx(len(sizes) / sum(1 / n for n in sizes))


@pytest.mark.parametrize("name", [*OF_PAIRS, "krippendorff_alpha", "fleiss_kappa"])
def test_the_number_alone_is_that_with_intervals(name: str) -> None:
    sample = sample_of(labels_of(25, 25))
    whole, alone = (make(sample, name, "nominal") for make in (agreement, agreement_alone))
    assert value(alone) == value(whole)
    assert alone.clusters == whole.clusters
