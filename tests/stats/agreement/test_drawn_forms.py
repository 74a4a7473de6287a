"""Forms of coefficients that a posterior draws in their place."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from konsil.stats.agreement.drawn_forms import drawn_form
from konsil.stats.agreement.long_scales.by_name import long_form
from konsil.stats.agreement.multirater import fleiss_kappa, gwet_ac1, gwet_ac2
from konsil.stats.agreement.registry import statistic
from konsil.stats.engine.contract import Array, Codes

RNG = np.random.default_rng(8)
CODES = Codes(RNG.integers(0, 4, (30, 3)), np.arange(30), 4)


def totals(codes: Codes, name: str) -> tuple[Array, Array]:
    sums = np.asarray(statistic(name, codes, level="interval").tally(codes), dtype=np.float64)
    return sums, sums.sum(axis=0)


@pytest.mark.parametrize("name", ["cohen_kappa", "light_kappa", "conger_kappa"])
def test_common_shares_of_complete_ratings_give_fleiss_kappa_moved_to_the_estimate(name: str):
    finalise = statistic(name, CODES, level="nominal").finalise
    sums, total = totals(CODES, name)
    form = drawn_form(finalise, sums, 0.25)
    assert form is not None
    assert form(total)[0] == pytest.approx(0.25)
    other = replace(CODES, labels=RNG.integers(0, 4, (30, 3)))
    fleiss = fleiss_kappa(4)
    change = [fleiss.finalise(np.asarray(fleiss.tally(c)).sum(0))[0] for c in (other, CODES)]
    moved = form(totals(other, name)[1])[0]
    assert moved == pytest.approx(0.25 + change[0] - change[1])


@pytest.mark.parametrize(
    "name",
    ["cohen_kappa", "cohen_kappa_linear", "cohen_kappa_quadratic", "conger_kappa", "gwet_ac2"],
)
def test_the_form_from_margins_is_that_from_tables(name: str):
    tally, finalise = long_form(name, CODES, None, "interval")
    long_sums = tally(CODES)
    sums, total = totals(CODES, name)
    of_tables = drawn_form(statistic(name, CODES, level="interval").finalise, sums, 0.3)
    of_margins = drawn_form(finalise, long_sums, 0.3)
    assert of_tables is not None
    assert of_margins is not None
    weights = RNG.standard_exponential((5, 30))
    assert of_margins(weights @ long_sums.toarray()) == pytest.approx(of_tables(weights @ sums))
    assert of_margins(np.asarray(long_sums.sum(0)).ravel()) == pytest.approx(of_tables(total))


def test_ac1_has_twice_the_variance_of_the_shares_of_labels_in_its_chance_agreement():
    codes = Codes(np.array([[0, 0]] * 12 + [[1, 1]] * 4 + [[0, 1]] * 4), np.arange(20), 2)
    sums = np.asarray(gwet_ac1(2).tally(codes), dtype=np.float64)
    form = drawn_form(gwet_ac1(2).finalise, sums, 0.0)
    assert form is not None
    share = codes.labels.mean(axis=1)
    variance = 2 * share.var(ddof=1) / 20
    p = share.mean()
    chance = 2 * p * (1 - p) + 2 * variance
    assert form(sums.sum(axis=0))[0] == pytest.approx((0.8 - chance) / (1 - chance))


def test_clusters_count_once_in_the_variance_of_shares():
    labels = np.repeat([[0, 0], [0, 1], [0, 0], [0, 0], [1, 1], [0, 0]], 3, axis=0)
    codes = Codes(labels, np.arange(18) // 3, 4)
    alone = replace(codes, labels=codes.labels[::3], clusters=np.arange(6))
    of_clusters, of_units = (
        drawn_form(gwet_ac2(4).finalise, np.asarray(gwet_ac2(4).tally(c), dtype=np.float64), 0.0)
        for c in (codes, alone)
    )
    assert of_clusters is not None
    assert of_units is not None
    total = np.asarray(gwet_ac2(4).tally(alone), dtype=np.float64).sum(axis=0)
    assert of_clusters(total) == pytest.approx(of_units(total))


@pytest.mark.parametrize(
    "name", ["percent_agreement", "fleiss_kappa", "krippendorff_alpha", "icc2"]
)
def test_other_statistics_are_drawn_themselves(name: str):
    assert (
        drawn_form(statistic(name, CODES, level="interval").finalise, totals(CODES, name)[0], 0.1)
        is None
    )
