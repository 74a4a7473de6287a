"""Intervals of agreement for raters in general: of a plain mean they are the two-way analysis of
variance."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from konsil.stats.agreement.registry import statistic
from konsil.stats.engine.contract import Codes
from konsil.stats.inference import wald
from konsil.stats.inference.rater_jackknife import (
    LeftOut,
    NumberOf,
    by_raters,
    differences_without,
    items_and_raters,
    of_pairs,
    of_two_panels,
)


def of_table(y: np.ndarray):
    """A table's mean: its value, the items' influences, and both without each rater."""
    n, r = y.shape

    def influence(table):
        return ((table.mean(axis=1) - table.mean()) / n)[:, None]

    left = [np.delete(y, at, axis=1) for at in range(r)]
    return (
        np.array([y.mean()]),
        influence(y),
        [(t.mean(), influence(t)) for t in left],
        np.full(r, 1 / r),
    )


def test_of_a_mean_it_is_the_analysis_of_variance() -> None:
    g = np.random.default_rng(2)
    y = g.normal(size=(30, 1)) + g.normal(size=(1, 6)) + g.normal(size=(30, 6))
    interval = items_and_raters(*of_table(y))
    by_item = y.mean(axis=1).var(ddof=1) / 30
    by_rater = y.mean(axis=0).var(ddof=1) / 6
    rest = y - y.mean(axis=1, keepdims=True) - y.mean(axis=0, keepdims=True) + y.mean()
    both = (rest**2).sum() / (30 * 30 * 6 * 5)
    variance = max(by_item + by_rater - both, by_item, by_rater)
    assert interval.se[0] ** 2 == pytest.approx(variance)
    df = max(variance**2 / (by_item**2 / 29 + by_rater**2 / 5), 5)
    assert interval.df[0] == pytest.approx(df)
    assert interval.high[0] - interval.low[0] == pytest.approx(
        2 * stats.t.ppf(0.975, df) * interval.se[0]
    )


def test_two_raters_and_undefined_numbers_have_no_interval() -> None:
    y = np.random.default_rng(1).normal(size=(20, 3))
    assert np.isnan(items_and_raters(*of_table(y[:, :2])).low).all()
    value, influence, without, shares = of_table(y)
    without[0] = (np.nan, without[0][1])
    assert np.isnan(items_and_raters(value, influence, without, shares).low).all()


def test_items_in_unequal_clusters_bring_their_own_variance_and_degrees_of_freedom() -> None:
    parts = of_table(np.random.default_rng(2).normal(size=(30, 6)))
    plain, wide = items_and_raters(*parts), items_and_raters(*parts, items=(4.0, 3.0))
    assert wide.se[0] >= 2 > plain.se[0]
    assert wide.df[0] < 4 < plain.df[0]


def kappa(labels: np.ndarray):
    codes = Codes(labels, np.arange(len(labels)), 2, (0.0, 1.0))
    chosen = statistic("cohen_kappa", codes, None, level="nominal")
    sums = chosen.tally(codes)
    return chosen.finalise(sums.sum(axis=0)), wald.linearised(sums, chosen.finalise)


def draw(g, raters: int) -> np.ndarray:
    """Sixty items; raters differ in where they draw the line and in how noisy they are."""
    noise, line = np.exp(0.3 * g.standard_normal(raters)), 0.5 * g.standard_normal(raters)
    return (
        g.standard_normal((60, 1)) + 0.7 * noise * g.standard_normal((60, raters)) + line > 0.3
    ).astype(np.int64)


@pytest.mark.covering(1)
@pytest.mark.slow
@pytest.mark.parametrize("raters", [5, 9])
def test_a_kappa_of_raters_who_differ_is_covered(raters: int) -> None:
    g = np.random.default_rng(raters)
    truth = np.mean([kappa(draw(g, 12))[0][0] for _ in range(400)])
    covered, by_item = 0, 0
    for _ in range(400):
        labels = draw(g, raters)
        value, influence = kappa(labels)
        left = [kappa(np.delete(labels, at, axis=1)) for at in range(raters)]
        pairs = [(v[0], psi) for v, psi in left]
        two = items_and_raters(value, influence, pairs, np.full(raters, 1 / raters), scale="atanh")
        by_items = wald.one_way(influence, value, scale="atanh")
        covered += two.low[0] <= truth <= two.high[0]
        by_item += by_items.low[0] <= truth <= by_items.high[0]
    assert 0.92 <= covered / 400 <= 0.995
    assert by_item < covered


def parts(y: np.ndarray):
    value, influence, without, shares = of_table(y)
    return value, influence, by_raters(without, shares)


def test_of_two_means_it_is_welchs_test_of_raters_with_items_in_common() -> None:
    g = np.random.default_rng(4)
    item = g.normal(size=(30, 1))
    a, b = (
        item + spread * g.normal(size=(1, r)) + g.normal(size=(30, r))
        for r, spread in ((6, 1.0), (4, 3.0))
    )
    (first, psi_a, left_a), (second, psi_b, left_b) = parts(a), parts(b)
    interval = of_two_panels(first - second, psi_a - psi_b, left_a, left_b, n_items=30)
    means = [y.mean(axis=0) for y in (a, b)]
    by_rater = sum(m.var(ddof=1) / len(m) for m in means)
    rest = [
        y - y.mean(axis=1, keepdims=True) - y.mean(axis=0, keepdims=True) + y.mean() for y in (a, b)
    ]
    both = sum((e**2).sum() / (900 * e.shape[1] * (e.shape[1] - 1)) for e in rest)
    by_item = (a.mean(axis=1) - b.mean(axis=1)).var(ddof=1) / 30
    variance = max(by_item + by_rater - both, by_item, by_rater)
    assert interval.se[0] ** 2 == pytest.approx(variance)
    welch = stats.ttest_ind(*means, equal_var=False).df
    df = max(variance**2 / (by_item**2 / 29 + by_rater**2 / welch), min(29, welch))
    assert interval.df[0] == pytest.approx(df, rel=1e-6)
    assert interval.p[0] == pytest.approx(
        2 * stats.t.sf(abs(first - second)[0] / variance**0.5, df)
    )
    assert (interval.p[0] < 0.05) == (not interval.low[0] <= 0 <= interval.high[0])
    turned = of_two_panels(second - first, psi_b - psi_a, left_b, left_a, n_items=30)
    assert (turned.low[0], turned.high[0]) == pytest.approx((-interval.high[0], -interval.low[0]))
    assert np.isnan(of_two_panels(first - second, psi_a - psi_b, left_a, left_b, n_items=1).low[0])


@pytest.mark.slow
def test_two_panels_of_one_population_are_told_apart_no_more_often_than_stated() -> None:
    """150 studies: kappas of five raters and of five others; by items alone far more are told
    apart."""
    g = np.random.default_rng(12)
    rejected = np.zeros(2)
    for _ in range(150):
        labels = draw(g, 10)
        panels = []
        for columns in (range(5), range(5, 10)):
            panel_labels = labels[:, list(columns)]
            without = [kappa(np.delete(panel_labels, n, axis=1)) for n in range(5)]
            left = by_raters([(float(value[0]), psi) for value, psi in without], np.full(5, 0.2))
            panels.append((*kappa(panel_labels), left))
        (first, psi_a, a), (second, psi_b, b) = panels
        interval = of_two_panels(first - second, psi_a - psi_b, a, b, n_items=60)
        rejected += [
            interval.p[0] <= 0.05,
            wald.one_way(psi_a - psi_b, first - second).p[0] <= 0.05,
        ]
    assert rejected[0] / 150 <= 0.1
    assert rejected[1] > 2 * rejected[0] + 5, rejected


def number_of(y: np.ndarray, raters: str, items: np.ndarray, n_items: int) -> NumberOf:
    """A table's mean with what leaving out its raters makes of it, on `n_items` items."""
    value, psi, without, _ = of_table(y)
    influence = np.zeros((n_items, 1))
    influence[items] = psi
    n_ratings = np.full(len(raters), len(y))
    return NumberOf(float(value[0]), influence, LeftOut(tuple(raters), n_ratings, without), items)


def test_of_two_means_of_the_same_raters_it_is_the_mean_of_their_differences() -> None:
    g = np.random.default_rng(8)
    severity = 5 * g.normal(size=(1, 6))
    a, b = (severity + g.normal(size=(1, 6)) + g.normal(size=(30, 6)) for _ in range(2))
    every = np.arange(30)
    turned = number_of(b[:, ::-1], "fedcba", every, 30)
    without, shares = differences_without(number_of(a, "abcdef", every, 30), turned)
    value, psi, of_difference, same = of_table(a - b)
    assert shares == pytest.approx(same)
    for (t, influence), (expected, of_item) in zip(without, of_difference, strict=True):
        assert t == pytest.approx(expected)
        assert influence == pytest.approx(of_item)
    interval = items_and_raters(value, psi, without, shares)
    # Severity in both groups cancels out; of two panels it would not.
    panels = of_two_panels(value, psi, parts(a)[2], parts(b)[2], n_items=30)
    assert interval.se[0] < panels.se[0] / 3


def test_a_rater_of_one_group_alone_leaves_the_other_number_as_it_is() -> None:
    g = np.random.default_rng(9)
    a, b = g.normal(size=(20, 4)), g.normal(size=(12, 3))
    of_a = number_of(a, "abcd", np.arange(20), 32)
    of_b = number_of(b, "bcd", np.arange(20, 32), 32)
    without, shares = differences_without(of_a, of_b)
    assert [t for t, _ in without] == pytest.approx(
        [a[:, 1:].mean() - b.mean()]
        + [np.delete(a, n, 1).mean() - np.delete(b, n - 1, 1).mean() for n in (1, 2, 3)]
    )
    assert without[0][1][20:] == pytest.approx(-of_table(b)[1])
    assert shares == pytest.approx([1 / 8, *[(1 / 4 + 1 / 3) / 2] * 3])


def test_the_factor_of_pairs_widens_the_part_of_the_raters_alone() -> None:
    y = np.random.default_rng(10).normal(size=(1, 5)) * np.ones((20, 1))
    plain, scaled = (items_and_raters(*of_table(y), times=t) for t in (1.0, of_pairs(5)))
    assert of_pairs(5) == pytest.approx(4 / 3)
    assert scaled.se[0] ** 2 == pytest.approx(4 / 3 * plain.se[0] ** 2)
    assert scaled.df[0] == pytest.approx(plain.df[0])
