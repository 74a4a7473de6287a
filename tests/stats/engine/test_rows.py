from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from konsil.stats.engine.cluster_sums import exact_precision, on_grid, prepare


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.floats(-1e9, 1e9, allow_subnormal=False), min_size=1, max_size=30),
    st.lists(st.integers(0, 30), min_size=30, max_size=30),
)
def test_totals_on_the_grid_are_exact_whatever_the_order(numbers, drawn):
    rows = prepare(np.array(numbers)[:, None])
    weights = np.zeros(len(numbers))
    np.add.at(weights, np.array(drawn[: len(numbers)]) % len(numbers), 1)
    forward = exact = 0
    for weight, row in zip(weights, rows.patterns[:, 0], strict=True):
        forward += weight * row
        exact += Fraction(weight) * Fraction(row)
    assert Fraction(forward) == exact
    backward = sum(
        weight * row for weight, row in zip(weights[::-1], rows.patterns[::-1, 0], strict=True)
    )
    assert backward == forward == rows.product(weights[None].astype(rows.factor.dtype))[0, 0]


@settings(max_examples=100, deadline=None)
@given(st.lists(st.floats(-1e9, 1e9, allow_subnormal=False), min_size=1, max_size=50))
def test_the_grid_moves_a_total_less_than_it_promises(numbers):
    rows = prepare(np.array(numbers)[:, None])
    n, largest = len(numbers), max(abs(x) for x in numbers)
    moved = abs(Fraction(rows.total[0]) - sum(Fraction(x) for x in numbers))
    assert moved <= n * n * Fraction(largest) / 2**53


def test_columns_have_grids_of_their_own():
    sums = np.random.default_rng(1).random((50, 3)) * [1e-12, 1.0, 1e12]
    assert prepare(sums).total == pytest.approx(sums.sum(axis=0), rel=1e-13)
    assert prepare(sparse.csr_array(sums)).total.tolist() == prepare(sums).total.tolist()


def test_the_order_of_clusters_changes_no_bit_of_the_total():
    sums = np.random.default_rng(2).random((500, 4)) / 3
    assert np.array_equal(prepare(sums).total, prepare(sums[::-1]).total)


@pytest.mark.parametrize(
    ("numbers", "bound", "expected"),
    [
        ([1.0, 5.0], 100, np.float32),
        ([1.0, 5.0], 2**24, np.float64),
        ([0.25, 1.5], 1000, np.float32),
        ([0.25, 1.5], 2**22, np.float64),
        ([0.1], 1, None),
        ([2.0**50], 2**54, None),
    ],
)
def test_the_cheapest_exact_precision(numbers, bound, expected):
    assert exact_precision(np.array(numbers), bound) is expected


def test_the_users_array_is_left_alone():
    sums = np.random.default_rng(3).random((20, 2))
    before = sums.copy()
    prepare(sums)
    assert np.array_equal(sums, before)
    assert on_grid(np.array([0.0]), np.array([0.0])) == [0]


def test_informative_clusters_are_those_with_anything():
    sums = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 0.5]])
    assert prepare(sums).informative == prepare(sparse.csr_array(sums)).informative == 2
    assert prepare(np.tile(sums, (2000, 1))).informative == 4000


@pytest.mark.parametrize("unit", [1.0, 1 / 16, 2.0**20, 1 / 3])
def test_a_wide_product_in_parts_has_the_bits_of_a_plain_one(unit):
    rng = np.random.default_rng(3)
    whole = rng.integers(0, 5, (1100, 6)).astype(np.float64)
    sums = np.column_stack([whole, whole[:, 2] * unit, rng.random(1100), whole[:, :4], whole * 0])
    rows = prepare(sums)
    weights = rows.draw(7, 0, 50)
    totals = rows.product(weights)
    assert rows.factor.first.shape[1] < sums.shape[1]
    assert np.array_equal(totals, weights.astype(np.float64) @ np.asarray(rows.patterns))
    assert totals.flags.c_contiguous


def test_columns_that_single_precision_rounds_have_double():
    counts = np.random.default_rng(4).integers(0, 5, (1100, 3)).astype(np.float64)
    factor = prepare(np.column_stack([counts, counts[:, :1] / 3])).factor
    assert factor.dtype == np.float32
    assert factor.second is not None
    assert factor.second.shape == (1100, 1)
