from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from konsil.stats.agreement.kappa import cohen_kappa
from konsil.stats.agreement.multirater import gwet_ac1
from konsil.stats.engine.contract import Codes
from konsil.stats.engine.tables import pair_tables, unit_agreement
from konsil.stats.inference import posterior

TWO = Codes(np.array([[0, 0]] * 30 + [[1, 1]] * 4 + [[0, 1]] * 2), np.arange(36), 2)


def test_for_two_raters_it_is_the_dirichlet_posterior_of_their_table():
    prior = posterior.prior(TWO, pair_tables)
    assert prior is not None
    assert prior.weights == pytest.approx([0.75, 0.25, 0.25, 0.75])
    drawn = posterior.draws_of(
        pair_tables(TWO),
        prior,
        lambda totals: totals / totals.sum(-1, keepdims=True),
        draws=20_000,
        key=3,
    )
    theirs = stats.dirichlet([30.75, 2.25, 0.25, 4.75])
    assert drawn.mean(0) == pytest.approx(theirs.mean(), abs=0.002)
    assert drawn.var(0) == pytest.approx(theirs.var(), rel=0.05)


def test_the_share_of_agreement_has_beta_quantiles():
    prior = posterior.prior(TWO, pair_tables)
    assert prior is not None
    agreeing = posterior.draws_of(
        pair_tables(TWO),
        prior,
        lambda totals: totals[..., [0]] + totals[..., [3]],
        draws=40_000,
        key=5,
    )
    drawn = agreeing / 36
    low, high = posterior.interval(drawn, np.array([34 / 36]), 35)
    tail = stats.norm.cdf(-stats.t.ppf(0.975, 35))
    assert (low[0], high[0]) == pytest.approx(
        stats.beta(35.5, 2.5).ppf([tail, 1 - tail]), abs=0.004
    )


@pytest.mark.parametrize(("n_raters", "n_labels"), [(2, 2), (3, 2), (3, 5), (2, 10)])
def test_the_prior_is_an_urn_of_patterns_worth_two_clusters(n_raters: int, n_labels: int):
    codes = Codes(np.zeros((4, n_raters), np.int64), np.arange(4), n_labels)
    prior = posterior.prior(codes, unit_agreement)
    assert prior is not None
    assert prior.weights.sum() == pytest.approx(2)
    # Two raters of one unit have the same label with (1 / k + 1) / 2: the urn's first draw, then
    # one more ball of it.
    same = prior.rows[:, : n_labels**2].reshape(-1, n_labels, n_labels)[
        :, np.arange(n_labels), np.arange(n_labels)
    ]
    assert (same.sum(1) * prior.weights).sum() / 2 == pytest.approx((1 / n_labels + 1) / 2)


def test_many_patterns_are_drawn_with_the_gaps_of_the_units():
    labels = np.random.default_rng(1).integers(0, 2, (40, 12))
    labels[::2, :6] = -1
    prior = posterior.prior(Codes(labels, np.arange(40), 2), pair_tables)
    assert prior is not None
    assert len(prior.rows) == posterior.MOST_PATTERNS
    pairs = prior.rows.sum(1)
    assert set(pairs) == {15.0, 66.0}  # pairs of six and of twelve raters
    assert np.mean(pairs == 15) == pytest.approx(0.5, abs=0.02)


def test_a_pattern_stands_for_a_cluster_of_the_mean_size():
    codes = Codes(TWO.labels, np.arange(36) // 3, 2)
    prior = posterior.prior(codes, pair_tables)
    assert prior is not None
    assert prior.rows.sum(1) == pytest.approx([3, 3, 3, 3])


def test_there_is_none_for_one_label_for_many_and_for_single_raters():
    assert posterior.prior(Codes(np.zeros((4, 2), np.int64), np.arange(4), 1), pair_tables) is None
    assert posterior.prior(Codes(np.zeros((4, 2), np.int64), np.arange(4), 11), pair_tables) is None
    assert (
        posterior.prior(Codes(np.array([[0, -1], [-1, 1]]), np.arange(2), 2), pair_tables) is None
    )


def test_draws_depend_on_the_key_alone():
    prior = posterior.prior(TWO, pair_tables)
    assert prior is not None
    sums, finalise = pair_tables(TWO), cohen_kappa(2, 2).finalise
    once, again, longer, other = (
        posterior.draws_of(sums, prior, finalise, draws=n, key=key)
        for n, key in ((100, 1), (100, 1), (150, 1), (100, 2))
    )
    assert np.array_equal(once, again)
    assert np.array_equal(once, longer[:100])
    assert not np.array_equal(once, other)


def test_the_interval_holds_the_value_and_needs_two_clusters():
    drawn = np.linspace(0.2, 0.8, 1001)[:, None]
    low, high = posterior.interval(drawn, np.array([1.0]), 29)
    assert low[0] > 0.2
    assert high[0] == 1
    assert np.isnan(posterior.interval(drawn, np.array([0.5]), 0)).all()
    few, many = (posterior.interval(drawn, np.array([0.5]), n)[1][0] for n in (4, 499))
    assert few > many


@pytest.mark.covering(1)
@pytest.mark.slow
@pytest.mark.parametrize(
    ("prevalence", "n_raters", "n", "least"), [(0.02, 2, 100, 0.93), (0.05, 3, 100, 0.93)]
)
def test_it_covers_where_a_label_is_rare(prevalence: float, n_raters: int, n: int, least: float):
    rng = np.random.default_rng(2)
    cut = stats.norm.isf(prevalence) * np.sqrt(1.25)

    def labels(n: int) -> np.ndarray:
        return (
            rng.standard_normal((n, 1)) + 0.5 * rng.standard_normal((n, n_raters)) > cut
        ).astype(np.int64)

    statistic = gwet_ac1(2)
    big = Codes(labels(1_000_000), np.zeros(1_000_000, np.int64), 2)
    truth = statistic.finalise(statistic.tally(big).sum(0))[0]
    held = 0
    for key in range(600):
        codes = Codes(labels(n), np.arange(n), 2)
        prior, sums = posterior.prior(codes, unit_agreement), unit_agreement(codes)
        assert prior is not None
        drawn = posterior.draws_of(sums, prior, statistic.finalise, draws=640, key=key)
        low, high = posterior.interval(drawn, statistic.finalise(sums.sum(0)), n - 1)
        held += bool(low[0] <= truth <= high[0])
    assert least - 0.025 < held / 600
