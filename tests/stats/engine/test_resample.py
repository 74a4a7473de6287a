import math
import tracemalloc

import numpy as np
import pytest
from scipy import sparse

from konsil.stats.engine.cluster_sums import prepare
from konsil.stats.engine.resample import (
    bootstrap,
    evaluate,
    jackknife,
)
from konsil.stats.engine.weights import bootstrap_weights

KINDS = ["whole", "quarters", "fractions", "large"]


def rows(kind, n_clusters, seed=1, k=4):
    generator = np.random.default_rng(seed)
    whole = generator.integers(1, 5, (n_clusters, k)).astype(float)
    return {
        "whole": whole,
        "quarters": whole / 4,
        "fractions": whole / 3,
        "large": whole * 2**20 + 1,
    }[kind]


def ratios(totals):
    matrix = np.linspace(0.1, 1, (totals.shape[-1] - 1) * 3).reshape(
        -1, 3
    )  # a product whose rounding may see shapes
    return (totals[..., 1:] @ matrix) / totals[..., :1]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n_clusters", [1, 37, 2000])
def test_tiles_and_ranges_change_no_bit(kind, n_clusters):
    sums = rows(kind, n_clusters)
    whole = bootstrap(sums, ratios, draws=300, key=9)
    for tile in (1, 5, 64, 100, 10_000):
        assert np.array_equal(bootstrap(sums, ratios, draws=300, key=9, tile=tile), whole)
    simple = lambda totals: totals[..., 1:] / totals[..., :1]  # noqa: E731
    whole = bootstrap(sums, simple, draws=300, key=9)
    parts = [
        bootstrap(sums, simple, draws=n, key=9, start=at) for at, n in ((0, 70), (70, 1), (71, 229))
    ]
    assert np.array_equal(np.concatenate(parts), whole)


@pytest.mark.parametrize("kind", ["whole", "fractions"])
def test_many_groups_of_wide_rows_change_no_bit(kind):
    sums = rows(kind, 30, k=9000)
    whole = bootstrap(sums, lambda totals: totals[..., :2] / totals[..., 2:4], draws=200, key=9)
    assert prepare(sums).group == 64
    tiled = bootstrap(
        sums, lambda totals: totals[..., :2] / totals[..., 2:4], draws=200, key=9, tile=7
    )
    assert np.array_equal(tiled, whole)


@pytest.mark.parametrize("kind", KINDS)
def test_sparse_rows_give_what_dense_rows_give(kind):
    sums = rows(kind, 90) * (np.random.default_rng(2).random((90, 4)) < 0.5)
    simple = lambda totals: totals[..., 1:] / totals[..., :1]  # noqa: E731
    dense, wide = (
        bootstrap(sums, simple, draws=130, key=4),
        bootstrap(sparse.csr_array(sums), simple, draws=130, key=4),
    )
    assert wide == pytest.approx(dense, rel=1e-12)
    assert np.array_equal(bootstrap(sparse.csr_array(sums), simple, draws=130, key=4, tile=9), wide)
    assert jackknife(sparse.csr_matrix(sums), simple) == pytest.approx(
        jackknife(sums, simple), rel=1e-12
    )


@pytest.mark.parametrize("kind", KINDS)
def test_a_draw_is_the_statistic_of_the_drawn_clusters(kind):
    sums = rows(kind, 25)
    weights = bootstrap_weights(3, 25, 0, 20, np.float64)
    drawn = np.stack([np.repeat(sums, row.astype(int), axis=0).sum(axis=0) for row in weights])
    assert bootstrap(sums, ratios, draws=20, key=3) == pytest.approx(ratios(drawn), rel=1e-12)


def test_a_doubled_cluster_equals_weight_two():
    sums = rows("whole", 12)
    weights = np.ones(12)
    weights[4] = 2
    doubled = np.concatenate([sums, sums[4:5]])
    assert np.array_equal(ratios((weights @ sums)[None]), ratios(doubled.sum(axis=0)[None]))


def test_single_precision_changes_no_bit():
    sums = rows("whole", 500)
    ready = prepare(sums)
    assert ready.factor.dtype == np.float32
    totals = bootstrap_weights(3, 500, 0, 100, np.float64) @ sums
    assert np.array_equal(ready.product(ready.draw(3, 0, 100)), totals)
    assert prepare(sums * 2**20).factor.dtype == np.float64
    assert prepare(sums / 3).factor.dtype == np.float64
    assert prepare(sums / 16).factor.dtype == np.float32


def test_identical_rows_are_collapsed_with_the_same_law():
    few = np.random.default_rng(1).integers(0, 2, (3000, 3)).astype(float)
    few[:, 0] = 1
    ready = prepare(few)
    assert ready.counts is not None
    assert len(ready.counts) == 4
    assert ready.counts.sum() == 3000
    assert np.array_equal(ready.clusters(), few)
    mean = lambda totals: totals[..., 1:] / totals[..., :1]  # noqa: E731
    collapsed = bootstrap(few, mean, draws=4000, key=1)
    expected = few[:, 1:].std(axis=0) / math.sqrt(3000)
    assert collapsed.std(axis=0) == pytest.approx(expected, rel=0.05)
    assert collapsed.mean(axis=0) == pytest.approx(
        few[:, 1:].mean(axis=0), abs=5 * expected.max() / math.sqrt(4000)
    )
    shuffled = np.random.default_rng(2).permutation(few)
    assert np.array_equal(bootstrap(shuffled, mean, draws=100, key=1), collapsed[:100])
    assert np.array_equal(
        np.sort(jackknife(shuffled, mean), axis=0), np.sort(jackknife(few, mean), axis=0)
    )


def test_rows_that_are_all_different_are_not_collapsed():
    assert prepare(np.random.default_rng(1).random((3000, 2))).counts is None
    assert prepare(np.array([[0.0, 1.0]] * 2000 + [[-0.0, 1.0]] * 2000)).patterns.tolist() == [
        [0.0, 1.0]
    ]


@pytest.mark.parametrize("n_clusters", [2, 30, 2000])
def test_the_jackknife_is_the_recomputation(n_clusters):
    sums = rows("whole", n_clusters)
    without = np.stack(
        [ratios(np.delete(sums, c, axis=0).sum(axis=0)[None])[0] for c in range(n_clusters)]
    )
    assert jackknife(sums, ratios) == pytest.approx(without, rel=1e-12)


def test_undefined_stays_nan():
    sums = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    draws = bootstrap(sums, lambda totals: totals[..., :1] / totals[..., 1:], draws=400, key=1)
    never_drawn = bootstrap_weights(1, 3, 0, 400)[:, 2] == 0
    assert np.array_equal(np.isnan(draws[:, 0]), never_drawn)
    assert never_drawn.any()


def test_a_median_goes_the_way_of_the_weights():
    scores = np.random.default_rng(3).gamma(2.0, size=31)
    order = np.argsort(scores)

    def weighted_median(weights):
        reached = np.cumsum(weights[:, order], axis=1) >= weights.sum(axis=1, keepdims=True) / 2
        return scores[order][reached.argmax(axis=1)][:, None]

    units = sparse.eye_array(31, format="csr")
    draws = bootstrap(units, weighted_median, draws=200, key=5)
    weights = bootstrap_weights(5, 31, 0, 200, np.int64)
    by_hand = [np.sort(np.repeat(scores, row))[15] for row in weights]
    assert draws[:, 0].tolist() == by_hand
    assert np.array_equal(bootstrap(units, weighted_median, draws=200, key=5, tile=3), draws)
    assert jackknife(units, weighted_median).shape == (31, 1)


@pytest.mark.parametrize(
    ("sums", "message"),
    [
        (np.ones(3), r"expected \(n_clusters, k\)"),
        (np.ones((0, 2)), "at least one cluster"),
        (np.array([[np.nan, 1.0]]), "expected finite sums"),
    ],
)
def test_sums_are_checked_at_the_door(sums, message):
    with pytest.raises(ValueError, match=message):
        prepare(sums)


def test_calls_are_checked_at_the_door():
    sums = np.ones((3, 2))
    with pytest.raises(ValueError, match="0 draws"):
        bootstrap(sums, ratios, draws=0, key=1)
    with pytest.raises(ValueError, match="tile of 0"):
        bootstrap(sums, ratios, draws=5, key=1, tile=0)
    with pytest.raises(ValueError, match=r"expected \(4, m\)"):
        evaluate(lambda totals: totals[..., 0], np.ones((4, 2)))


def test_very_many_clusters_take_little_memory_and_change_no_bit():
    tracemalloc.start()
    sums = np.random.default_rng(1).random((200_000, 2))
    simple = lambda totals: totals[..., 1:] / totals[..., :1]  # noqa: E731
    whole = bootstrap(sums, simple, draws=70, key=9)
    assert tracemalloc.get_traced_memory()[1] < 80e6
    tracemalloc.stop()
    assert np.array_equal(bootstrap(sums, simple, draws=30, key=9, start=40, tile=3), whole[40:])
