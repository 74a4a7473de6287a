"""Blocks of draws give the same bits, whoever computes them, and draw no random number twice."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pytest

from konsil.compute.cores import on_cores
from konsil.stats.engine import resample, weights
from konsil.stats.engine.blocks import in_blocks, in_draws
from konsil.stats.engine.cluster_sums import prepare
from konsil.stats.engine.resample import bootstrap
from konsil.stats.engine.weights import Remembered, draw_blocks, random_signs
from konsil.stats.inference.exchange import permuted, swapped
from konsil.stats.inference.infer import pivots
from konsil.stats.inference.permutation import flips_and_max_t

RANDOM = np.random.default_rng(5)


def ratio(totals):
    return totals[..., :1] / totals[..., 1:2]


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also small tables have many blocks, and are computed on threads."""
    monkeypatch.setattr(weights, "_BLOCK_WEIGHTS", 1)
    monkeypatch.setattr(resample, "_THREADS_FROM", 0)


@contextmanager
def threads_in_use() -> Iterator[set[str]]:
    """The names of the threads that draw."""
    names: set[str] = set()
    part_draws = weights._part_draws

    def recorded(*arguments):
        names.add(threading.current_thread().name)
        return part_draws(*arguments)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(weights, "_part_draws", recorded)
        yield names


@pytest.mark.parametrize("key", [7, Remembered(7)], ids=["number", "remembered"])
@pytest.mark.parametrize(
    "sums",
    [
        RANDOM.random((40, 3)) + 1,
        np.repeat(RANDOM.random((8, 3)) + 1, 300, axis=0),  # patterns
        # Groups of fewer draws than a part.
        pytest.param(RANDOM.random((30, 9000)) + 1, marks=pytest.mark.slow),
        # Virtual blocks.
        pytest.param(RANDOM.random((140_000, 2)) + 1, marks=pytest.mark.slow),
    ],
    ids=["clusters", "patterns", "wide", "virtual"],
)
def test_a_bootstrap_on_threads_has_the_same_bits(key, sums):
    draws = 130 if len(sums) > 100_000 else 1300
    alone = bootstrap(sums, ratio, draws=draws, key=7)
    with on_cores("cores:3"):
        assert bootstrap(sums, ratio, draws=draws, key=key).tobytes() == alone.tobytes()
        if isinstance(key, Remembered):  # with what the first call stored
            assert bootstrap(sums, ratio, draws=draws, key=key).tobytes() == alone.tobytes()


@pytest.mark.parametrize("key", [7, Remembered(7)], ids=["number", "remembered"])
def test_tests_on_threads_have_the_same_bits(key):
    first, second = RANDOM.random((2, 60, 2)) + 1
    second[:20] = 0  # clusters of one group alone

    def results(some_key):
        return repr(
            [
                swapped(first, second, ratio, draws=900, key=some_key),
                permuted([first, first[:, ::-1]], ratio, draws=900, key=some_key),
                flips_and_max_t(first - second, draws=900, key=some_key),
                pivots(first, ratio, np.ones(1), draws=200, key=some_key).tolist(),
            ]
        )

    alone = results(7)
    with on_cores("cores:3"):
        assert results(key) == alone


def test_the_draws_are_made_on_threads_once_and_stored():
    key = Remembered(3)
    sums = RANDOM.random((50, 2)) + 1
    with on_cores("cores:2"), threads_in_use() as names:
        bootstrap(sums, ratio, draws=2560, key=key)
    assert names
    assert all(name.startswith("konsil-blocks") for name in names)
    assert key._bytes == 2560 * 50
    with on_cores("cores:2"), threads_in_use() as names:
        bootstrap(sums, ratio, draws=2560, key=key)
    assert not names
    assert key._bytes == 2560 * 50
    with on_cores("cores:1"), threads_in_use() as names:
        bootstrap(sums[1:], ratio, draws=256, key=key)
    assert names == {threading.current_thread().name}


def test_small_bootstraps_start_no_thread(monkeypatch):
    monkeypatch.undo()
    with on_cores("cores:2"), threads_in_use() as names:
        bootstrap(RANDOM.random((50, 2)) + 1, ratio, draws=2560, key=Remembered(3))
    assert names == {threading.current_thread().name}


def test_a_block_draws_a_part_once_though_little_is_stored(monkeypatch):
    """Tiles are smaller than the parts that are drawn at once."""
    monkeypatch.setattr(weights, "_KEPT_BYTES", 256 * 40)
    monkeypatch.setattr(resample, "_TILE_BYTES", 8 * 40 * 10)
    n_drawn = 0
    drawn = weights._drawn

    def counted(key, n_clusters, start, stop, dtype):
        nonlocal n_drawn
        n_drawn += stop - start
        return drawn(key, n_clusters, start, stop, dtype)

    monkeypatch.setattr(weights, "_drawn", counted)
    bootstrap(RANDOM.random((40, 2)) + 1, ratio, draws=1000, key=Remembered(1))
    assert n_drawn == 1024


def test_lent_keys_store_their_own_draws_within_the_limit(monkeypatch):
    key = Remembered(9)
    monkeypatch.setattr(weights, "_KEPT_BYTES", 256 * 10 * 2)
    blocks = draw_blocks(0, 1024, 10)
    assert blocks == [(0, 256), (256, 512), (512, 768), (768, 1024)]
    keys = list(in_draws(lambda own, start, stop: (own, start, stop), key, 10, blocks))
    assert [own for own, *_ in keys] == [key] * 4
    assert all(own is not key for own, *_ in keys)
    sums = in_draws(
        lambda own, start, stop: random_signs(own, 10, start, stop).sum(axis=0), key, 10, blocks
    )
    assert (np.sum(list(sums), axis=0) == random_signs(9, 10, 0, 1024).sum(axis=0)).all()
    assert sorted(key._signs[1]) == [0, 1]


def test_an_error_of_a_block_ends_the_computation():
    def refused(block):
        if block == 5:
            raise ValueError("block 5")
        return block

    with on_cores("cores:2"):
        results = in_blocks(refused, range(100))
        assert [next(results) for _ in range(5)] == [0, 1, 2, 3, 4]
        with pytest.raises(ValueError, match="block 5"):
            next(results)


def test_blocks_within_blocks_are_computed_on_the_same_thread():
    """Threads that wait for others of their own number would wait for ever."""

    def inner(_):
        return list(in_blocks(lambda _: threading.current_thread().name, range(2)))

    with on_cores("cores:2"):
        outer = list(in_blocks(inner, range(4)))
    assert all(first == second for first, second in outer)
    assert all(first.startswith("konsil-blocks") for first, _ in outer)


def test_prepared_rows_are_not_changed():
    rows = prepare(RANDOM.random((40, 3)) + 1)
    with on_cores("cores:2"):
        first = bootstrap(rows, ratio, draws=600, key=2)
        assert np.array_equal(bootstrap(rows, ratio, draws=600, key=2), first)
