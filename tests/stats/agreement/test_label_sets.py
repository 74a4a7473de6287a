"""Agreement on sets of labels: the distances, and alpha with them."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from konsil.stats.agreement.alpha import krippendorff_alpha, krippendorff_alpha_weighted
from konsil.stats.agreement.label_sets import SET_STATISTICS, jaccard_similarity, masi_similarity
from konsil.stats.engine.contract import Codes

LABELS = range(4)
SETS = st.frozensets(st.sampled_from(LABELS))
Distance = Callable[[frozenset[int], frozenset[int]], Fraction]


def jaccard(a: frozenset[int], b: frozenset[int]) -> Fraction:
    """Jaccard's distance from the definition."""
    return 1 - Fraction(len(a & b), len(a | b)) if a | b else Fraction(0)


def masi(a: frozenset[int], b: frozenset[int]) -> Fraction:
    """Passonneau's distance from the definition."""
    if a == b:
        return Fraction(0)
    overlap = Fraction(2, 3) if a < b or b < a else Fraction(1, 3)
    return 1 - (1 - jaccard(a, b)) * overlap


def members(sets: list[frozenset[int]]) -> np.ndarray:
    return np.array([[label in one for label in LABELS] for one in sets], dtype=np.bool_)


def alpha(units: list[list[frozenset[int]]], distance: Distance) -> Fraction | None:
    """Alpha from all pairs of ratings, as Krippendorff defines it."""
    units = [unit for unit in units if len(unit) > 1]
    ratings = [rating for unit in units for rating in unit]
    n = len(ratings)
    observed = sum(
        (sum(distance(a, b) for a, b in permutations(unit, 2)) / Fraction(len(unit) - 1))
        for unit in units
    )
    expected = sum(distance(a, b) for a, b in permutations(ratings, 2))
    return 1 - (n - 1) * observed / expected if expected else None


@pytest.mark.parametrize(
    ("similarity", "distance"), [(jaccard_similarity, jaccard), (masi_similarity, masi)]
)
@given(sets=st.lists(SETS, min_size=1, max_size=6))
def test_similarities_are_one_minus_the_distances_of_the_papers(
    similarity: Callable[[np.ndarray], np.ndarray], distance: Distance, sets: list[frozenset[int]]
) -> None:
    """Kills: another factor, a smaller for a larger set, empty sets that are no sets."""
    expected = [[float(1 - distance(a, b)) for b in sets] for a in sets]
    assert similarity(members(sets)) == pytest.approx(np.array(expected), abs=1e-14)


@pytest.mark.parametrize("name", SET_STATISTICS)
def test_two_empty_sets_agree(name: str) -> None:
    """Kills: an empty union that is divided by, or that is a disagreement."""
    both = members([frozenset(), frozenset({0})])
    assert SET_STATISTICS[name].similarity(both).tolist() == [[1, 0], [0, 1]]


@given(
    units=st.lists(st.lists(st.none() | SETS, min_size=3, max_size=3), min_size=2, max_size=8),
    name=st.sampled_from(sorted(SET_STATISTICS)),
)
def test_alpha_of_sets_is_that_of_all_pairs_of_ratings(
    units: list[list[frozenset[int] | None]], name: str
) -> None:
    sets = sorted({s for unit in units for s in unit if s is not None}, key=sorted)
    labels = np.array([[-1 if s is None else sets.index(s) for s in unit] for unit in units])
    codes = Codes(labels, np.arange(len(units)), max(len(sets), 1))
    similarity = SET_STATISTICS[name].similarity(members(sets or [frozenset()]))
    statistic = krippendorff_alpha_weighted(codes.n_labels, similarity)
    value = float(statistic.finalise(statistic.tally(codes).sum(axis=0))[0])
    given_sets = [[s for s in unit if s is not None] for unit in units]
    expected = alpha(given_sets, masi if name.endswith("masi") else jaccard)
    if expected is None:
        assert np.isnan(value)
    else:
        assert value == pytest.approx(float(expected), abs=1e-9)


@pytest.mark.parametrize("name", SET_STATISTICS)
@given(labels=st.lists(st.lists(st.integers(-1, 3), min_size=3, max_size=3), min_size=2))
def test_sets_of_one_label_are_single_labels(name: str, labels: list[list[int]]) -> None:
    codes = Codes(np.array(labels), np.arange(len(labels)), 4)
    similarity = SET_STATISTICS[name].similarity(np.eye(4, dtype=np.bool_))
    values = [
        float(statistic.finalise(statistic.tally(codes).sum(axis=0))[0])
        for statistic in (krippendorff_alpha_weighted(4, similarity), krippendorff_alpha(4))
    ]
    assert values[0] == pytest.approx(values[1], abs=1e-12, nan_ok=True)
