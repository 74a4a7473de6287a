"""Variance components against loops over pairs of ratings, textbook special cases, and known
components."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from konsil.stats.agreement.icc import icc1_incomplete, oneway_sums
from konsil.stats.designs.generalizability import (
    Components,
    components,
    product_sums,
    raters_needed,
    reliability,
)
from konsil.stats.engine.contract import Codes


def drawn(
    seed: int, n: int, raters: int, sentences: int, sds: tuple[float, float, float, float]
) -> np.ndarray:
    rng = np.random.default_rng(seed)
    shapes = ((n, 1, 1), (n, 1, sentences), (n, raters, 1), (n, raters, sentences))
    return np.asarray(
        sum(rng.normal(0, sd, shape) for sd, shape in zip(sds, shapes, strict=True)) + 3
    )


def of(numbers: np.ndarray) -> Components:
    return components(product_sums(numbers, np.arange(len(numbers)), len(numbers)).sum(0))


def test_components_are_those_of_loops_over_pairs():
    rng = np.random.default_rng(2)
    numbers = drawn(2, 15, 3, 4, (1, 0.5, 0.5, 0.7))
    numbers[rng.random(numbers.shape) < 0.2] = np.nan
    kinds: dict[tuple[bool, bool], list[float]] = {}
    means = []
    for answer in numbers:
        cells = [(r, j) for r in range(3) for j in range(4) if np.isfinite(answer[r, j])]
        own: dict[tuple[bool, bool], list[float]] = {}
        for (r, j), (q, k) in itertools.product(cells, cells):
            own.setdefault((r == q, j == k), []).append(answer[r, j] * answer[q, k])
        for kind, products in own.items():
            kinds.setdefault(kind, []).append(float(np.mean(products)))
        means.append(np.mean([answer[c] for c in cells]))
    square = np.mean([a * b for a, b in itertools.permutations(means, 2)])
    apart, sentence, rater, itself = (
        np.mean(kinds[k]) for k in ((False, False), (False, True), (True, False), (True, True))
    )
    found = of(numbers)
    expected = (apart - square, sentence - apart, rater - apart, itself - sentence - rater + apart)
    np.testing.assert_allclose(found[:4], np.maximum(expected, 0), atol=1e-12)


def test_components_are_found_again():
    found = of(drawn(1, 4000, 3, 5, (1.0, 0.8, 0.6, 0.9)))
    np.testing.assert_allclose(found[:4], (1.0, 0.64, 0.36, 0.81), atol=0.07)
    assert found.sentences == pytest.approx(5)


def test_whole_answers_have_spearman_and_browns_reliability_of_icc1():
    rng = np.random.default_rng(3)
    labels = np.clip(rng.integers(0, 3, (200, 1)) + rng.integers(-1, 2, (200, 3)), 0, 4)
    found = of(labels[:, :, None].astype(float))
    totals = oneway_sums(Codes(labels, np.arange(200), 5)).sum(0)
    single = icc1_incomplete().finalise(totals)[0]
    # One takes means over pairs, the other sums of squares: the same but for 1 / (n - 1).
    assert reliability(found, 1, 1) == pytest.approx(single, abs=0.003)
    for m in (2, 3, 7):
        assert reliability(found, m, 1) == pytest.approx(
            m * single / (1 + (m - 1) * single), abs=0.003
        )


@given(st.lists(st.floats(0.05, 2), min_size=4, max_size=4), st.integers(1, 6), st.integers(1, 9))
@settings(max_examples=60, deadline=None)
def test_more_raters_and_more_sentences_are_more_reliable_and_the_number_needed_is_enough(v, s, m):
    one = Components(*(np.array(x) for x in (*v, 6.0)))
    here = float(reliability(one, m, s))
    assert 0 < here <= 1
    assert reliability(one, m + 1, s) >= here
    assert reliability(one, m, s + 1) >= here - 1e-12
    needed = float(raters_needed(one, 0.8, s))
    limit = float(reliability(one, 1e9, s))
    if np.isnan(needed):
        assert limit <= 0.8 + 1e-6
    else:
        assert reliability(one, needed, s) >= 0.8 - 1e-9
        assert needed == 1 or reliability(one, needed, s) == pytest.approx(0.8)


def test_reliability_is_the_squared_correlation_with_the_true_mean():
    rng = np.random.default_rng(8)
    n, sds = 40_000, (0.7, 0.9, 0.5, 0.8)
    parts = [
        rng.normal(0, sd, s)
        for sd, s in zip(sds, ((n, 1, 1), (n, 1, 6), (n, 2, 1), (n, 2, 6)), strict=True)
    ]
    true = (parts[0] + parts[1]).mean(axis=(1, 2))
    seen = sum(parts)[:, :, :4].mean(axis=(1, 2))  # type: ignore[index]
    one = Components(*(np.array(sd**2) for sd in sds), np.array(6.0))
    assert reliability(one, 2, 4) == pytest.approx(np.corrcoef(true, seen)[0, 1] ** 2, abs=0.01)


def test_undefined_is_nan():
    assert np.isnan(of(np.full((1, 2, 1), 1.0)).answer)
    assert np.isnan(of(np.random.default_rng(1).normal(size=(9, 1, 4))).answer)
    assert np.isnan(reliability(of(np.ones((5, 2, 1))), 3, 1))


def test_one_constant_more_changes_nothing():
    numbers = drawn(4, 30, 3, 3, (1, 0.5, 0.5, 0.5))
    np.testing.assert_allclose(of(numbers), of(numbers + 5), atol=1e-9)


SHROUT = np.array(
    [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]],
    dtype=float,
)
"""Six targets by four judges: Shrout and Fleiss, Psychol Bull 86:420, 1979, table 2."""


def test_published_values_of_one_and_of_four_judges():
    found = of(SHROUT[:, :, None])
    # Their table 4: ICC(1,1) = .17 and ICC(1,4) = .44.
    assert round(float(reliability(found, 1, 1)), 2) == 0.17
    assert round(float(reliability(found, 4, 1)), 2) == 0.44
    # Balanced tables have one unbiased quadratic estimate: that of the mean squares 11.24 and 6.26.
    squares = (4 * SHROUT.mean(1).var(ddof=1), SHROUT.var(axis=1, ddof=1).mean())
    assert found.answer == pytest.approx((squares[0] - squares[1]) / 4)
    assert found.rest == pytest.approx(squares[1])
