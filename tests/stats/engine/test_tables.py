"""Tallies against counting by hand, and that they add up."""

from __future__ import annotations

import time
from collections import Counter
from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from konsil.stats.engine import sparse_tables, tables
from konsil.stats.engine.contract import Codes


@st.composite
def codes(draw: st.DrawFn, max_units: int = 12) -> Codes:
    n_units, n_raters = draw(st.integers(1, max_units)), draw(st.integers(1, 5))
    k = draw(st.integers(1, 4))
    labels = np.array(
        draw(
            st.lists(
                st.integers(-1, k - 1), min_size=n_units * n_raters, max_size=n_units * n_raters
            )
        )
    )
    clusters = np.sort(
        np.unique(
            np.array(draw(st.lists(st.integers(0, 4), min_size=n_units, max_size=n_units))),
            return_inverse=True,
        )[1]
    )
    return Codes(labels.reshape(n_units, n_raters).astype(np.int8), clusters.astype(np.int64), k)


def dense(sums: object) -> np.ndarray:
    return sums.toarray() if sparse.issparse(sums) else np.asarray(sums)


@settings(deadline=None)
@given(codes())
def test_pair_tables_count_every_pair(c: Codes) -> None:
    n_raters, k = c.labels.shape[1], c.n_labels
    pairs = list(combinations(range(n_raters), 2))
    expected = np.zeros((c.n_clusters, len(pairs), k, k))
    for unit, cluster in zip(c.labels, c.clusters, strict=True):
        for p, (a, b) in enumerate(pairs):
            if unit[a] >= 0 and unit[b] >= 0:
                expected[cluster, p, unit[a], unit[b]] += 1
    got = tables.pair_tables(c)
    assert np.array_equal(got, expected.reshape(c.n_clusters, -1))
    assert np.array_equal(dense(sparse_tables.sparse_pair_tables(c)), got)


@settings(deadline=None)
@given(codes())
def test_coincidences_follow_the_definition(c: Codes) -> None:
    expected = np.zeros((c.n_clusters, c.n_labels, c.n_labels))
    for unit, cluster in zip(c.labels, c.clusters, strict=True):
        labels = [v for v in unit if v >= 0]
        for a, b in permutations(range(len(labels)), 2):
            expected[cluster, labels[a], labels[b]] += 1 / (len(labels) - 1)
    assert np.allclose(tables.coincidences(c), expected.reshape(c.n_clusters, -1), atol=1e-12)


@settings(deadline=None)
@given(codes())
def test_sparse_coincidences_are_the_same(c: Codes) -> None:
    assert np.allclose(
        dense(sparse_tables.sparse_coincidences(c)), tables.coincidences(c), atol=1e-12
    )


def test_a_scale_of_a_hundred_points_stays_small(monkeypatch: pytest.MonkeyPatch) -> None:
    g = np.random.default_rng(3)
    c = Codes(g.integers(-1, 101, (300, 4)), np.repeat(np.arange(100), 3), 101)
    for tally in (tables.coincidences, tables.unit_agreement, tables.unit_agreement_and_margins):
        monkeypatch.setattr(tables, "DENSE_CELLS", 1 << 24)
        expected = tally(c)
        monkeypatch.setattr(tables, "DENSE_CELLS", 2 << 20)
        assert np.allclose(tally(c), expected)
        monkeypatch.setattr(tables, "DENSE_CELLS", 1 << 19)
        assert sparse.issparse(tally(c))
        assert np.allclose(dense(tally(c)), expected)


@settings(deadline=None)
@given(codes())
def test_unit_agreement_gives_every_unit_the_same_weight(c: Codes) -> None:
    k = c.n_labels
    sums = tables.unit_agreement(c)
    twice = np.bincount(c.clusters, ((c.labels >= 0).sum(1) >= 2).astype(float), c.n_clusters)
    once = np.bincount(c.clusters, ((c.labels >= 0).sum(1) >= 1).astype(float), c.n_clusters)
    assert np.allclose(sums[:, : k * k].sum(1), twice)
    assert np.allclose(sums[:, k * k :].sum(1), once)


TALLIES = [
    tables.pair_tables,
    tables.complete_pair_tables,
    tables.coincidences,
    tables.unit_agreement,
    tables.unit_agreement_and_margins,
    tables.rater_margins,
    tables.unanimity_sums(1),
]


@pytest.mark.parametrize("tally", TALLIES)
@settings(max_examples=25, deadline=None)
@given(c=codes())
def test_a_tally_adds_up_over_clusters_and_shards(tally: object, c: Codes) -> None:
    whole = tally(c).sum(0)
    one = Codes(c.labels, np.zeros_like(c.clusters), c.n_labels)
    assert np.allclose(tally(one)[0], whole)
    half = len(c.clusters) // 2
    parts = [
        Codes(c.labels[s], np.zeros(len(c.labels[s]), np.int64), c.n_labels)
        for s in (slice(half), slice(half, None))
    ]
    assert np.allclose(sum(tally(p).sum(0) for p in parts), whole)


def test_rows_go_to_their_clusters_when_units_are_shuffled() -> None:
    g = np.random.default_rng(5)
    labels, clusters = g.integers(-1, 3, (60, 4)), np.repeat(np.arange(12), 5)
    order = g.permutation(60)
    for tally in TALLIES:
        assert np.allclose(
            tally(Codes(labels, clusters, 3)), tally(Codes(labels[order], clusters[order], 3))
        )


def test_many_units_and_few_pairs_are_handled_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    g = np.random.default_rng(1)
    c = Codes(g.integers(-1, 3, (500, 4)), np.repeat(np.arange(50), 10), 3)
    expected, counts = tables.pair_tables(c), tables.unit_counts(c)
    monkeypatch.setattr(tables, "_CHUNK", 100)
    assert np.array_equal(tables.pair_tables(c), expected)
    assert np.array_equal(tables.unit_counts(c), counts)


def test_wide_pair_tables_come_sparse(monkeypatch: pytest.MonkeyPatch) -> None:
    g = np.random.default_rng(1)
    c = Codes(g.integers(-1, 3, (50, 6)), np.arange(50), 3)
    expected = tables.pair_tables(c)
    monkeypatch.setattr(tables, "DENSE_CELLS", 10)
    sums = tables.pair_tables(c)
    assert sparse.issparse(sums)
    assert np.array_equal(dense(sums), expected)


def test_hundreds_of_raters_stay_small() -> None:
    g = np.random.default_rng(2)
    labels = np.where(g.random((3000, 300)) < 0.01, g.integers(0, 5, (3000, 300)), -1).astype(
        np.int8
    )
    sums = tables.pair_tables(Codes(labels, np.arange(3000), 5))
    assert sparse.issparse(sums)
    given_pairs = Counter(int(m * (m - 1) // 2) for m in (labels >= 0).sum(1))
    assert sums.sum() == sum(pairs * times for pairs, times in given_pairs.items())


def test_no_units_and_no_raters() -> None:
    empty = Codes(np.zeros((0, 3), np.int64), np.zeros(0, np.int64), 2)
    assert tables.pair_tables(empty).shape == (0, 12)
    assert tables.coincidences(empty).shape == (0, 4)
    alone = Codes(np.zeros((4, 1), np.int64), np.arange(4), 2)
    assert tables.pair_tables(alone).shape == (4, 0)


def test_the_tallies_are_fast() -> None:
    g = np.random.default_rng(0)
    panel = Codes(g.integers(-1, 2, (1000, 9)).astype(np.int8), np.repeat(np.arange(200), 5), 2)
    many = Codes(g.integers(-1, 5, (100_000, 10)).astype(np.int8), np.arange(100_000), 5)
    # Measured 0.6 and 23 ms; the limits are wide because the machine may be busy.
    assert best_seconds(lambda: tables.pair_tables(panel)) < 0.01
    assert best_seconds(lambda: tables.coincidences(many)) < 0.25


def best_seconds(work: object) -> float:
    times = []
    for _ in range(5):
        start = time.thread_time()
        work()
        times.append(time.thread_time() - start)
    return min(times)
