"""Parts of answers against loops over every subset, and what no order and no renaming may
change."""

from __future__ import annotations

import itertools
from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import spearmanr

from konsil.stats.designs.subsets import (
    MOST_SUBSETS,
    Points,
    overlap_alone,
    part_whole_points,
    rater_variances,
    spearman_of_points,
    subsets_of,
)
from konsil.stats.inference.infer import infer


def ratings(
    seed: int = 1, n: int = 40, raters: int = 3, most: int = 6, answer: float = 0.6
) -> np.ndarray:
    """Numbers of -1, 0 and 1; answers have one to `most` sentences, and some raters left some
    out."""
    rng = np.random.default_rng(seed)
    numbers = np.clip(
        np.round(rng.normal(0, answer, (n, 1, 1)) + rng.normal(0, 0.7, (n, raters, most))), -1, 1
    )
    for a in range(n):
        numbers[a, :, rng.integers(1, most + 1) :] = np.nan
    numbers[rng.random(numbers.shape) < 0.05] = np.nan
    return numbers


def scores_of(numbers: np.ndarray) -> np.ndarray:
    return np.array(
        [
            [np.mean(s[np.isfinite(s)]) if np.isfinite(s).any() else np.nan for s in a.T]
            for a in numbers
        ]
    )


def mixture(scores: np.ndarray, size: int, held_out: bool) -> float:
    """Spearman's rho of all (answer, subset) points, each answer with the same weight: points are
    repeated."""
    x, y = [], []
    for row in scores:
        own = row[np.isfinite(row)]
        if not len(own) or (held_out and len(own) <= size):
            continue
        subsets = list(itertools.combinations(range(len(own)), min(size, len(own))))
        for chosen in subsets:
            rest = [n for n in range(len(own)) if n not in chosen]
            against = own[rest] if held_out else own
            # 60 is a multiple of the number of subsets of up to six sentences.
            x += [round(float(np.mean(own[list(chosen)])), 9)] * (60 // len(subsets))
            y += [round(float(np.mean(against)), 9)] * (60 // len(subsets))
    return float(spearmanr(x, y).statistic)


@pytest.mark.parametrize("held_out", [False, True])
@pytest.mark.parametrize("size", [1, 2, 3, 5])
def test_part_and_whole_is_the_correlation_over_every_answer_and_subset(size: int, held_out: bool):
    scores = scores_of(ratings())
    points = part_whole_points(scores, np.arange(len(scores)), size, held_out=held_out)
    sums, finalise = spearman_of_points(points, len(scores))
    assert finalise(np.asarray(sums.sum(0)))[0] == pytest.approx(
        mixture(scores, size, held_out), abs=1e-9
    )


def test_the_mean_over_random_subsets_comes_near_it():
    scores, rng = scores_of(ratings(n=300)), np.random.default_rng(5)
    whole = np.nanmean(scores, axis=1).round(9)
    drawn = []
    for _ in range(60):
        part = [np.mean(rng.permutation(row[np.isfinite(row)])[:3]) for row in scores]
        drawn.append(spearmanr(np.round(part, 9), whole).statistic)
    sums, finalise = spearman_of_points(part_whole_points(scores, np.arange(300), 3), 300)
    assert finalise(np.asarray(sums.sum(0)))[0] == pytest.approx(np.mean(drawn), abs=0.005)


def test_the_whole_is_itself_and_overlap_alone_is_what_independent_sentences_give():
    scores = np.random.default_rng(3).normal(size=(400, 6))
    clusters = np.arange(400)
    sums, finalise = spearman_of_points(part_whole_points(scores, clusters, 6), 400)
    assert finalise(np.asarray(sums.sum(0)))[0] == pytest.approx(1)
    sums, finalise = spearman_of_points(part_whole_points(scores, clusters, 3), 400)
    alone = overlap_alone(scores, 3, key=1, shuffles=20)
    # Sentences that share nothing: the part correlates with the whole by the overlap, sqrt(3 / 6)
    # for normal scores.
    expected = 6 / np.pi * np.arcsin(np.sqrt(0.5) / 2)
    assert finalise(np.asarray(sums.sum(0)))[0] == pytest.approx(expected, abs=0.03)
    assert alone.mean() == pytest.approx(expected, abs=0.02)
    held = spearman_of_points(part_whole_points(scores, clusters, 3, held_out=True), 400)
    assert held[1](np.asarray(held[0].sum(0)))[0] == pytest.approx(0, abs=0.06)


@given(st.integers(0, 10_000), st.integers(1, 5))
@settings(max_examples=25, deadline=None)
def test_order_of_answers_sentences_and_raters_changes_nothing(seed: int, size: int):
    numbers = ratings(seed, n=12)
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(numbers))
    turned = numbers[order][:, rng.permutation(3)][:, :, rng.permutation(6)]
    for shape in (numbers, turned):
        assert np.isfinite(shape).sum() == np.isfinite(numbers).sum()
    a, b = (rater_variances(one, size) for one in (numbers, turned))
    np.testing.assert_allclose(a[order], b, atol=1e-12)
    found = []
    for one in (numbers, turned):
        sums, finalise = spearman_of_points(
            part_whole_points(scores_of(one), np.arange(12), size), 12
        )
        found.append(finalise(np.asarray(sums.sum(0)))[0])
    np.testing.assert_allclose(*found, atol=1e-9)


@pytest.mark.parametrize("size", [1, 2, 4, 6])
def test_variance_between_raters_is_that_of_loops(size: int):
    numbers = ratings(7, n=30)
    found = rater_variances(numbers, size)
    for answer, value in zip(numbers, found, strict=True):
        rated = np.isfinite(answer).any(axis=0)
        whole = [r[rated] for r in answer if np.isfinite(r[rated]).all() and rated.any()]
        if len(whole) < 2:
            assert np.isnan(value)
            continue
        subsets = itertools.combinations(range(int(rated.sum())), min(size, int(rated.sum())))
        each = [np.var([np.mean(r[list(chosen)]) for r in whole], ddof=1) for chosen in subsets]
        assert value == pytest.approx(np.mean(each))


def test_the_jackknife_is_the_recomputation_without_each_cluster():
    scores = scores_of(ratings(4, n=10))
    points = part_whole_points(scores, np.arange(10), 2)
    sums, finalise = spearman_of_points(points, 10)
    total = np.asarray(sums.sum(0))
    for c in range(10):
        kept = np.delete(scores, c, axis=0)
        alone, again = spearman_of_points(part_whole_points(kept, np.arange(9), 2), 9)
        np.testing.assert_allclose(
            finalise(total - sums[c]), again(np.asarray(alone.sum(0))), atol=1e-9
        )


def test_very_many_subsets_are_drawn_once_and_no_number_of_one_is_preferred():
    chosen = subsets_of(20, 10)
    assert chosen.shape == (MOST_SUBSETS, 20)
    assert (chosen.sum(1) == 10).all()
    assert abs(chosen.mean() - 0.5) < 1e-9
    assert chosen.mean(0) == pytest.approx(np.full(20, 0.5), abs=0.15)
    assert subsets_of(3, 5).tolist() == [[1, 1, 1]]


def test_undefined_is_nan():
    nothing = Points(np.zeros(0), np.zeros(0), np.zeros(0), np.zeros(0, dtype=np.int64))
    sums, finalise = spearman_of_points(nothing, 3)
    assert np.isnan(finalise(sums.sum(0)))[0]
    constant = part_whole_points(np.ones((4, 3)), np.arange(4), 2)
    sums, finalise = spearman_of_points(constant, 4)
    assert np.isnan(finalise(sums.sum(0)))[0]
    assert np.isnan(rater_variances(np.array([[[1.0, 2.0]]]), 1))[0]


def test_clusters_of_answers_are_drawn_together():
    scores, of = scores_of(ratings(9, n=60)), np.arange(60) // 3
    points = part_whole_points(scores, of, 2)
    sums, finalise = spearman_of_points(points, 20)
    by_cluster: dict[int, float] = defaultdict(float)
    for cluster, weight in zip(points.clusters, points.weights, strict=True):
        by_cluster[int(cluster)] += weight
    np.testing.assert_allclose(sums.sum(1), [by_cluster[c] for c in range(20)])
    found = infer(sums, finalise, draws=400, key=2)
    assert found.low[0] < found.value[0] < found.high[0]
