from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from konsil.stats.agreement.kappa import cohen_kappa
from konsil.stats.agreement.long_scales.by_name import long_form
from konsil.stats.agreement.multirater import gwet_ac1
from konsil.stats.engine.cluster_sums import Sums
from konsil.stats.engine.contract import Codes
from konsil.stats.engine.tables import pair_tables, unit_agreement
from konsil.stats.inference import posterior
from konsil.stats.inference.both_ways import exchanged

TWO = Codes(np.array([[0, 0]] * 30 + [[1, 1]] * 4 + [[0, 1]] * 2), np.arange(36), 2)


def shares_of(*counts: int) -> np.ndarray:
    """Half observed with half a label more of each, half even over the labels in use."""
    observed = np.array(counts, dtype=float) + 0.5
    return (observed / observed.sum() + 1 / len(counts)) / 2


def prior_of(codes: Codes, tally: Callable[[Codes], Sums] = pair_tables) -> posterior.Prior:
    prior = posterior.prior(codes, tally)
    assert prior is not None
    return prior


def test_for_two_raters_each_limit_has_a_dirichlet_posterior_of_their_table():
    prior = prior_of(TWO)
    drawn = posterior.draws_of(
        pair_tables(TWO),
        prior,
        lambda totals: totals / totals.sum(-1, keepdims=True),
        draws=20_000,
        key=3,
    )
    no, yes = shares_of(62, 10)
    by_chance = np.array([no**2, no * yes, no * yes, yes**2])
    # Two of its raters disagree in 0.6 clusters.
    by_chance *= 0.6 / (2 * no * yes)
    for of_limit, added in zip(drawn, (by_chance, [0.5, 0, 0, 0.5]), strict=True):
        theirs = stats.dirichlet(np.array([30, 2, 1e-9, 4]) + added)
        assert of_limit.mean(0) == pytest.approx(theirs.mean(), abs=0.002)
        assert of_limit.var(0) == pytest.approx(theirs.var(), rel=0.05, abs=1e-6)


def test_the_share_of_agreement_has_clopper_and_pearsons_priors():
    drawn = posterior.draws_of(
        pair_tables(TWO),
        prior_of(TWO),
        lambda totals: totals[..., [0]] + totals[..., [3]],
        draws=40_000,
        key=5,
    )
    low, high = posterior.interval(drawn / 36, np.array([34 / 36]), 35)
    tail = stats.norm.cdf(-stats.t.ppf(0.975, 35))
    agreed = (shares_of(62, 10) ** 2).sum()
    agreed *= 0.6 / (1 - agreed)
    assert low[0] == pytest.approx(stats.beta(34 + agreed, 2.6).ppf(tail), abs=0.004)
    # A cluster in which both agree is Clopper and Pearson's prior of an upper limit.
    assert high[0] == pytest.approx(stats.beta(35, 2).ppf(1 - tail), abs=0.004)


@pytest.mark.parametrize(("n_raters", "n_labels"), [(2, 2), (3, 2), (3, 5), (2, 12), (7, 3)])
def test_each_limits_prior_is_worth_a_cluster_by_chance_or_of_agreement(
    n_raters: int, n_labels: int
):
    labels = np.random.default_rng(5).integers(0, n_labels, (60, n_raters))
    codes = Codes(labels, np.arange(60), n_labels)
    prior = prior_of(codes, unit_agreement)
    shares = shares_of(*np.bincount(labels.ravel(), minlength=n_labels))
    agreed = (shares**2).sum()
    assert prior.chance.weights.sum() == pytest.approx(max(1, 0.6 / (1 - agreed)))
    assert prior.agreement.weights.sum() == pytest.approx(1)
    for added, expected in ((prior.chance, agreed), (prior.agreement, 1)):
        same = added.rows[:, : n_labels**2].reshape(-1, n_labels, n_labels)[
            :, np.arange(n_labels), np.arange(n_labels)
        ]
        pairs = added.rows[:, : n_labels**2].sum(1)
        # Listed patterns are exact, sampled ones nearly so.
        share = np.average(same.sum(1), weights=added.weights) / pairs[0]
        assert share == pytest.approx(expected, abs=0.03)


def test_labels_that_nobody_used_have_no_weight():
    declared = replace(TWO, n_labels=5)
    small, large = (prior_of(codes, unit_agreement) for codes in (TWO, declared))
    assert large.chance.weights == pytest.approx(small.chance.weights)
    tables = large.chance.rows[:, :25].reshape(-1, 5, 5)
    assert not tables[:, 2:].any()
    assert not tables[:, :, 2:].any()


def test_where_all_labels_are_equal_the_next_might_have_been_used():
    prior = prior_of(Codes(np.ones((4, 2), np.int64), np.arange(4), 2))
    other, ones = (shares_of(0, 8)).tolist()
    expected = np.array([other**2, other * ones, other * ones, ones**2])
    assert prior.chance.weights == pytest.approx(expected * 0.6 / (2 * other * ones))
    assert prior.agreement.rows.tolist() == [[1, 0, 0, 0], [0, 0, 0, 1]]


def test_which_of_two_answers_comes_first_changes_no_prior():
    codes = Codes(np.array([[0, 0], [0, 1], [2, 0]]), np.arange(3), 3, reverse=(2, 1, 0))
    mirrored = exchanged(codes)
    assert prior_of(codes).chance.weights == pytest.approx(prior_of(mirrored).chance.weights)


def test_many_patterns_are_drawn_with_the_gaps_of_the_units():
    labels = np.random.default_rng(1).integers(0, 2, (40, 12))
    labels[::2, :6] = -1
    prior = prior_of(Codes(labels, np.arange(40), 2))
    for added in (prior.chance, prior.agreement):
        assert len(added.rows) == posterior.MOST_PATTERNS / 2
        pairs = added.rows.sum(1)
        assert set(pairs) == {15.0, 66.0}  # pairs of six and of twelve raters
        assert np.mean(pairs == 15) == pytest.approx(0.5, abs=0.02)


def test_a_pattern_stands_for_a_cluster_of_the_mean_size():
    prior = prior_of(Codes(TWO.labels, np.arange(36) // 3, 2))
    assert prior.chance.rows.sum(1) == pytest.approx([3, 3, 3, 3])
    assert prior.agreement.rows.sum(1) == pytest.approx([3, 3])


def test_a_long_scale_has_the_same_prior_from_its_margins():
    labels = np.random.default_rng(3).integers(0, 11, (12, 2))
    codes = Codes(labels, np.arange(12), 11)
    tally, finalise = long_form("cohen_kappa_quadratic", codes, None, "interval")
    of_tables = cohen_kappa(2, 11, "quadratic")
    tabled, margins = (
        posterior.draws_of(np.asarray(sums), prior_of(codes, kind), formula, draws=50, key=1)
        for sums, kind, formula in (
            (pair_tables(codes), pair_tables, of_tables.finalise),
            (tally(codes).toarray(), tally, finalise),
        )
    )
    assert np.quantile(margins, 0.5) == pytest.approx(np.quantile(tabled, 0.5), abs=0.1)


def test_there_is_none_for_one_label_for_single_raters_and_for_too_wide_sums():
    assert posterior.prior(Codes(np.zeros((4, 2), np.int64), np.arange(4), 1), pair_tables) is None
    assert (
        posterior.prior(Codes(np.array([[0, -1], [-1, 1]]), np.arange(2), 2), pair_tables) is None
    )
    wide = Codes(np.random.default_rng(0).integers(0, 400, (9, 2)), np.arange(9), 400)
    assert posterior.prior(wide, pair_tables) is None


def test_draws_depend_on_the_key_alone():
    prior = prior_of(TWO)
    sums, finalise = pair_tables(TWO), cohen_kappa(2, 2).finalise
    once, again, longer, other = (
        posterior.draws_of(sums, prior, finalise, draws=n, key=key)
        for n, key in ((100, 1), (100, 1), (150, 1), (100, 2))
    )
    assert np.array_equal(once, again)
    assert np.array_equal(once, longer[:, :100])
    assert not np.array_equal(once, other)


def test_the_interval_holds_the_value_and_needs_two_clusters():
    drawn = np.tile(np.linspace(0.2, 0.8, 1001)[:, None], (2, 1, 1))
    low, high = posterior.interval(drawn, np.array([1.0]), 29)
    assert low[0] > 0.2
    assert high[0] == 1
    assert np.isnan(posterior.interval(drawn, np.array([0.5]), 0)).all()
    lower, upper = posterior.interval(drawn - [[[0.1]], [[0]]], np.array([0.5]), 29)
    assert upper[0] - 0.5 == pytest.approx(0.4 - lower[0], abs=1e-3)
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
        sums = unit_agreement(codes)
        prior = prior_of(codes, unit_agreement)
        drawn = posterior.draws_of(sums, prior, statistic.finalise, draws=640, key=key)
        low, high = posterior.interval(drawn, statistic.finalise(sums.sum(0)), n - 1)
        held += bool(low[0] <= truth <= high[0])
    assert least - 0.025 < held / 600


def test_labels_of_comparisons_have_one_orientation_whichever_answer_comes_first() -> None:
    """Otherwise the order of the raters, and with it each draw, follows from systems' names."""
    generator = np.random.default_rng(8)
    labels = generator.integers(-1, 3, (60, 4))
    codes = Codes(labels, np.arange(60), 3, reverse=(2, 1, 0))
    turned = np.where(labels >= 0, 2 - labels, labels)
    exchanged = np.where(generator.random((60, 1)) < 0.5, turned, labels)
    assert not np.array_equal(exchanged, labels)
    oriented = posterior._oriented_labels(codes)
    assert np.array_equal(oriented, posterior._oriented_labels(replace(codes, labels=exchanged)))
    assert np.array_equal(posterior._oriented_labels(replace(codes, reverse=None)), labels)
    # Raters who differ in a unit still do, unless they only mirror each other.
    assert len({oriented[:, rater].tobytes() for rater in range(4)}) == 4
