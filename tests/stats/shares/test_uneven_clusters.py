"""Agreement in clusters of very unequal size: the variance of shares, and of what is no share."""

from __future__ import annotations

import numpy as np
import pytest

from konsil.stats.agreement.kappa import cohen_kappa, percent_agreement
from konsil.stats.engine.contract import Codes
from konsil.stats.shares.shares import reduced_variance
from konsil.stats.shares.uneven_clusters import uneven_clusters

ONE_LARGE = np.repeat(np.arange(60), [3] * 59 + [118])
"""One of sixty clusters holds 40 % of the units."""


def labels(seed: int = 1, n: int = len(ONE_LARGE)) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 2, (n, 2))


def test_percent_agreement_has_the_variance_of_a_share() -> None:
    drawn, statistic = labels(), percent_agreement(2, 2)
    uneven = uneven_clusters(Codes(drawn, ONE_LARGE, 2), statistic.tally, statistic.finalise)
    assert uneven is not None
    hits = np.bincount(ONE_LARGE, drawn[:, 0] == drawn[:, 1]).astype(np.float64)
    variance, df = reduced_variance(hits, np.bincount(ONE_LARGE).astype(np.float64))
    assert (uneven.variance, uneven.df) == pytest.approx((variance, df))
    assert uneven.effective == pytest.approx(1 / (0.4**2 + 0.6**2 / 59))
    assert uneven.n_clusters == 60 and uneven.is_extreme


def test_units_that_one_rater_labelled_do_not_count() -> None:
    drawn, statistic = labels(), cohen_kappa(2, 2)
    alone = np.concatenate([drawn, np.column_stack([np.ones(200, np.int64), np.full(200, -1)])])
    clusters = np.concatenate([ONE_LARGE, np.full(200, 5)])
    with_them = uneven_clusters(Codes(alone, clusters, 2), statistic.tally, statistic.finalise)
    without = uneven_clusters(Codes(drawn, ONE_LARGE, 2), statistic.tally, statistic.finalise)
    assert with_them is not None and without is not None
    assert (with_them.variance, with_them.df) == pytest.approx((without.variance, without.df))


def test_clusters_that_are_worth_half_their_number_are_not_uneven() -> None:
    statistic = cohen_kappa(2, 2)
    even = Codes(labels(n=180), np.repeat(np.arange(60), 3), 2)
    assert uneven_clusters(even, statistic.tally, statistic.finalise) is None
    ten = np.repeat(np.arange(10), [1, 1, 1, 1, 1, 2, 2, 3, 6, 12])
    uneven = uneven_clusters(Codes(labels(n=30), ten, 2), statistic.tally, statistic.finalise)
    assert uneven is not None and not uneven.is_extreme


def test_where_nothing_varies_the_clusters_are_worth_their_effective_number() -> None:
    statistic = percent_agreement(2, 2)
    uneven = uneven_clusters(
        Codes(np.zeros((295, 2), np.int64), ONE_LARGE, 2), statistic.tally, statistic.finalise
    )
    assert uneven is not None
    assert uneven.variance == 0
    assert uneven.df == pytest.approx(uneven.effective - 1)
