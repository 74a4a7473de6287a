import itertools
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from konsil.stats.engine import weights as module
from konsil.stats.engine.streams import stream_key
from konsil.stats.engine.weights import Remembered, bootstrap_weights, pattern_weights, random_signs


def test_the_key_is_the_same_in_another_process():
    here = stream_key(2024, "kappa of the cardiologists")
    code = (
        "from konsil.stats.engine.streams import stream_key; print(stream_key(2024, 'kappa of the"
        " cardiologists'))"
    )
    there = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout
    assert here == int(there)
    assert 0 <= here < 2**64


def test_keys_differ_by_seed_and_by_name():
    keys = {stream_key(seed, name) for seed in (0, 1, 11) for name in ("", "1", "a", "b")}
    assert len(keys) == 12


@settings(max_examples=40, deadline=None)
@given(
    n_clusters=st.sampled_from([1, 2, 40, 257, 700, 5000]),
    cuts=st.lists(st.integers(0, 150), max_size=5),
    key=st.integers(0, 2**64 - 1),
)
def test_any_cut_of_the_draws_gives_the_same_bits(n_clusters, cuts, key):
    whole = bootstrap_weights(key, n_clusters, 0, 150)
    edges = [0, *sorted(cuts), 150]
    parts = [
        bootstrap_weights(key, n_clusters, low, high) for low, high in itertools.pairwise(edges)
    ]
    assert np.array_equal(np.concatenate(parts), whole)
    assert np.all(whole.sum(axis=1) == n_clusters)


def test_the_stream_is_pinned():
    assert bootstrap_weights(7, 10, 63, 65, np.int64).tolist() == [
        [1, 1, 4, 0, 0, 1, 1, 0, 0, 2],
        [0, 1, 1, 2, 3, 0, 0, 1, 1, 1],
    ]


@pytest.mark.parametrize("n_clusters", [3, 100, 6000])
def test_the_law_is_multinomial(n_clusters):
    n_draws = 20_000 if n_clusters < 1000 else 400
    weights = bootstrap_weights(5, n_clusters, 0, n_draws, np.float64)
    share = 1 / n_clusters
    assert weights.var() == pytest.approx(1 - share, rel=0.03)
    clusters = weights.sum(axis=0) / n_draws
    standard = (clusters - 1) / np.sqrt((1 - share) / n_draws)
    assert np.abs(standard).max() < 5
    assert n_clusters == 3 or np.mean(standard**2) == pytest.approx(1, rel=0.4)
    covariance = np.cov(weights[:, 0], weights[:, 1])[0, 1]
    assert covariance == pytest.approx(-share, abs=5 / np.sqrt(n_draws))


def test_patterns_have_the_law_of_the_clusters_they_stand_for():
    counts = np.array([50, 30, 19, 1])
    by_cluster = bootstrap_weights(1, 100, 0, 20_000, np.float64)
    summed = np.add.reduceat(by_cluster, np.cumsum([0, *counts[:-1]]), axis=1)
    by_pattern = pattern_weights(1, counts, 0, 20_000, np.float64)
    assert np.all(by_pattern.sum(axis=1) == 100)
    assert by_pattern.mean(axis=0) == pytest.approx(counts, abs=0.2)
    assert np.cov(by_pattern.T) == pytest.approx(np.cov(summed.T), abs=0.8)
    parts = [pattern_weights(1, counts, 0, 70), pattern_weights(1, counts, 70, 200)]
    assert np.array_equal(np.concatenate(parts), pattern_weights(1, counts, 0, 200))


def test_signs_are_fair_and_independent_of_cuts():
    signs = random_signs(3, 37, 0, 4000)
    assert set(np.unique(signs)) == {-1.0, 1.0}
    assert np.abs(signs.mean(axis=0)).max() < 5 / np.sqrt(4000)
    assert np.abs(np.corrcoef(signs.T) - np.eye(37)).max() < 6 / np.sqrt(4000)
    assert np.array_equal(
        np.concatenate([random_signs(3, 37, 0, 65), random_signs(3, 37, 65, 200)]), signs[:200]
    )


def test_no_clusters_and_wrong_ranges_are_refused():
    with pytest.raises(ValueError, match="expected at least one"):
        bootstrap_weights(1, 0, 0, 5)
    with pytest.raises(ValueError, match="start <= stop"):
        bootstrap_weights(1, 5, 5, 4)


@pytest.mark.parametrize("kept_bytes", [0, 5_000, 64 << 20])
def test_a_key_that_remembers_draws_what_the_number_draws(
    monkeypatch: pytest.MonkeyPatch, kept_bytes: int
) -> None:
    monkeypatch.setattr(module, "_KEPT_BYTES", kept_bytes)
    key = Remembered(11)
    for n_clusters, start, stop in (
        (12, 0, 700),
        (40, 250, 260),
        (12, 100, 513),
        (40, 0, 300),
        (12, 0, 700),
    ):
        drawn = bootstrap_weights(key, n_clusters, start, stop, np.int64)
        assert drawn.tolist() == bootstrap_weights(11, n_clusters, start, stop, np.int64).tolist()
    assert (
        key._bytes
        == sum(part.size for parts in key._kept.values() for part in parts.values())
        <= kept_bytes
    )


def test_a_key_that_remembers_draws_once(monkeypatch: pytest.MonkeyPatch) -> None:
    key = Remembered(11)
    before = bootstrap_weights(key, 30, 0, 600)
    monkeypatch.setattr(module, "_drawn", None)
    assert bootstrap_weights(key, 30, 0, 600).tolist() == before.tolist()


def test_remembered_signs_are_the_plain_ones():
    key = Remembered(5)
    for start, stop, width in ((0, 700, 9), (100, 300, 9), (0, 64, 5), (250, 260, 9)):
        assert (random_signs(key, width, start, stop) == random_signs(5, width, start, stop)).all()
    assert random_signs(key, 9, 0, 3, np.float64).dtype == np.float64
