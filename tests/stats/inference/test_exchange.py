"""Studentised permutation tests: exact where small, of the right level, and inverted by their
intervals."""

from __future__ import annotations

import math
from itertools import combinations, product

import numpy as np
import pytest

from konsil.stats.agreement.kappa import cohen_kappa
from konsil.stats.engine.contract import Array, Codes
from konsil.stats.inference.exchange import permuted, swapped


def mean(totals: Array) -> Array:
    """First sum over the second."""
    with np.errstate(all="ignore"):
        return np.asarray(totals[..., :1] / totals[..., 1:])


def rows(numbers: Array, where: Array | None = None) -> Array:
    """One number a cluster and a one beside it; nothing where a cluster is not in the group."""
    out = np.column_stack([numbers, np.ones(len(numbers))])
    return out if where is None else out * where[:, None]


def t_of(d: Array) -> float:
    return float(abs(d.mean()) / (d.std(ddof=1) / math.sqrt(len(d))))


def test_few_pairs_are_swapped_in_every_way() -> None:
    rng = np.random.default_rng(1)
    a, b = rng.normal(0.8, 1, 9), rng.normal(0, 1, 9)
    every = [t_of((a - b) * np.array(signs)) for signs in product([1, -1], repeat=9)]
    result = swapped(rows(a), rows(b), mean)
    assert result.exact
    assert result.draws == 512
    assert result.p == pytest.approx(np.mean(np.array(every) >= t_of(a - b) - 1e-9))
    assert result.se == pytest.approx((a - b).std(ddof=1) / 3, rel=1e-6)


def test_labels_of_independent_groups_are_shuffled() -> None:
    rng = np.random.default_rng(2)
    numbers = rng.normal(size=9)
    numbers[:4] += 1.5
    first = np.arange(9) < 4
    by_hand = []
    for some in combinations(range(9), 4):
        x, y = numbers[list(some)], np.delete(numbers, some)
        pooled = sum(((g - g.mean()) ** 2).sum() / len(g) ** 2 for g in (x, y)) * 9 / 8
        by_hand.append(abs(x.mean() - y.mean()) / math.sqrt(pooled))
    expected = np.mean(np.array(by_hand) >= by_hand[0] - 1e-9)
    result = swapped(rows(numbers, first), rows(numbers, ~first), mean, draws=20_000)
    assert not result.exact
    assert result.p == pytest.approx(expected, abs=0.01)


def test_what_belongs_to_both_groups_stays_in_both() -> None:
    """Clusters of both groups swap, those of one alone are shuffled among themselves: sizes never
    change."""
    rng = np.random.default_rng(3)
    a, b = rng.normal(size=(2, 24))
    in_a, in_b = np.arange(24) < 16, np.arange(24) >= 8
    sizes = []

    def watched(totals: Array) -> Array:
        if len(totals) == 128:  # the draws, both groups of each
            sizes.append(totals[..., 1])
        return mean(totals)

    swapped(rows(a, in_a), rows(b, in_b), watched, draws=64)
    assert [set(some) for some in sizes] == [{16.0}]


@pytest.mark.parametrize("kind", ["pairs", "independent", "partly", "turned"])
def test_the_interval_leaves_out_zero_exactly_where_p_is_small(kind: str) -> None:
    rng = np.random.default_rng(4)
    crossed = 0
    for n in range(120):
        a, b = rng.binomial(3, [[0.5], [rng.choice([0.5, 0.8])]], (2, 24)).astype(float)
        number = np.arange(24)
        if kind == "turned":
            result = permuted([rows(a - b), rows(b - a)], mean, draws=199, level=0.9, key=n)
        else:
            in_a = {"pairs": number < 24, "independent": number < 12, "partly": number < 16}[kind]
            in_b = {"pairs": number < 24, "independent": number >= 12, "partly": number >= 8}[kind]
            result = swapped(rows(a, in_a), rows(b, in_b), mean, draws=199, level=0.9, key=n)
        outside = result.low > 0 or result.high < 0
        assert (result.p <= 0.1) == outside, result
        crossed += outside
    assert 10 < crossed < 110


def test_more_draws_continue_the_stream() -> None:
    rng = np.random.default_rng(5)
    a, b = rng.normal(size=(2, 30))
    few, many = (swapped(rows(a), rows(b), mean, draws=n, key=3) for n in (640, 1280))
    b_few, b_many = (round(f.p * (f.draws + 1)) - 1 for f in (few, many))
    assert 0 <= b_many - b_few <= 640
    assert few == swapped(rows(a), rows(b), mean, draws=640, key=3)


def test_nothing_to_exchange_and_too_little_of_it() -> None:
    same = rows(np.arange(6.0))
    alike = swapped(same, same, mean)
    assert alike.value == 0
    assert alike.p == 1
    assert math.isnan(alike.low)
    other = same.copy()
    other[:3, 0] += [1, 2, 4]  # 2 of 8 patterns are as far out as this one
    few = swapped(same, other, mean)
    assert few.exact
    assert few.p == 0.25
    assert math.isnan(few.low)
    empty = swapped(same, 0 * same, mean)
    assert math.isnan(empty.p)


def test_undefined_exchanges_are_counted_and_left_out() -> None:
    """Kappa is undefined where both raters give one label alone."""
    a = np.zeros((20, 4))
    a[:, 0] = 1
    b = a.copy()
    for row in range(4):
        a[row] = [0, 0, 0, 1]
        b[row] = [0, 1, 0, 0] if row < 2 else [0, 0, 0, 1]
    result = swapped(a, b, cohen_kappa(2, 2).finalise)
    assert result.exact
    assert result.draws + result.n_undefined == 4
    assert 0 < result.p <= 1


def test_a_number_far_from_its_linear_part_has_no_interval_in_their_proportion() -> None:
    """Where the linear part was all but zero, the interval was 10^13 wide."""
    signs = np.where(np.arange(30) < 16, 1.0, -1.0)
    rows = np.column_stack([signs, np.ones(30)])

    def bent(totals: np.ndarray) -> np.ndarray:
        ratio = totals[..., :1] / totals[..., 1:]
        return np.asarray(ratio + 100 * ratio**2)

    result = permuted([rows, rows * [-1, 1]], bent, draws=999)
    assert result.value == pytest.approx(2 / 30 + 100 * (2 / 30) ** 2)
    assert result.p > 0.05
    assert result.low <= 0 <= result.high
    assert result.high - result.low < 1.1


@pytest.mark.covering(1)
@pytest.mark.slow
@pytest.mark.parametrize(("cut", "n"), [(0.0, 15), (1.28, 15), (1.28, 30), (1.88, 60)])
def test_kappas_of_one_law_differ_in_at_most_one_set_of_twenty(cut: float, n: int) -> None:
    statistic = cohen_kappa(2, 2)
    rng = np.random.default_rng(6)
    rejected, defined = 0, 0
    for key in range(600):
        tables = []
        shared = rng.normal(size=n)
        for _ in range(2):
            z = np.sqrt(0.3) * shared + np.sqrt(0.7) * rng.normal(size=n)
            labels = (z[:, None] + 0.6 * rng.normal(size=(n, 2)) > cut * np.sqrt(1.36)).astype(
                np.int8
            )
            tables.append(statistic.tally(Codes(labels, np.arange(n), 2)))
        result = swapped(tables[0], tables[1], statistic.finalise, draws=499, key=key)
        defined += not math.isnan(result.p)
        rejected += result.p <= 0.05
    assert rejected <= 0.06 * defined + 2 * math.sqrt(0.06 * 0.94 * defined)
