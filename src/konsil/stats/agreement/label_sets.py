"""Krippendorff's alpha of ratings that are sets of labels, with distances between sets."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from konsil.stats.engine.contract import Array

Members = NDArray[np.bool_]
"""(n_sets, n_labels): which labels each set contains."""

JACCARD = "Jaccard, New Phytologist 1912;11:37-50"
PASSONNEAU = "Passonneau, Measuring Agreement on Set-valued Items (MASI), LREC 2006"


def jaccard_similarity(members: Members) -> Array:
    """The common labels of two sets as a proportion of all labels of both.

    |A and B| / |A or B|, from 0 (no common label) to 1 (equal sets); 1 for two empty sets, which
    are equal. One minus it is Jaccard's distance. Shape: (n_sets, n_labels) to (n_sets, n_sets).
    Source: Jaccard 1912.

    >>> jaccard_similarity(np.array([[1, 1, 0], [1, 0, 0], [0, 0, 1]], dtype=bool)).round(2)
    array([[1. , 0.5, 0. ],
           [0.5, 1. , 0. ],
           [0. , 0. , 1. ]])
    """
    similarity, sizes = _overlaps(members)
    union = np.add.outer(sizes, sizes)
    union -= similarity
    # Two empty sets are equal. In place, since there are as many cells as sets by sets.
    similarity[union == 0] = union[union == 0] = 1.0
    similarity /= union
    return similarity


def masi_similarity(members: Members) -> Array:
    """Jaccard's similarity of two sets times the kind of their overlap.

    The factor is 1 for equal sets, 2/3 where one contains the other, 1/3 where both have labels
    that the other has not, and 0 without a common label; 1 for two empty sets. One minus it is the
    distance MASI ("measuring agreement on set-valued items"). Shape: (n_sets, n_labels) to
    (n_sets, n_sets). Source: Passonneau 2006.

    >>> masi_similarity(np.array([[1, 1, 0], [1, 0, 0], [0, 1, 1]], dtype=bool)).round(3)
    array([[1.   , 0.333, 0.111],
           [0.333, 1.   , 0.   ],
           [0.111, 0.   , 1.   ]])
    """
    common, sizes = _overlaps(members)
    is_within = common == np.minimum.outer(sizes, sizes)
    is_equal = common == np.maximum.outer(sizes, sizes)
    del common
    similarity = jaccard_similarity(members)
    similarity[~is_within] *= 1 / 3
    similarity[is_within & ~is_equal] *= 2 / 3
    return similarity


def _overlaps(members: Members) -> tuple[Array, Array]:
    """How many labels two sets have in common, (n_sets, n_sets), and each has, (n_sets,)."""
    given = members.astype(np.float64)
    return given @ given.T, given.sum(axis=1)


@dataclass(frozen=True)
class SetStatistic:
    """Krippendorff's alpha of sets with one distance."""

    title: str
    """The name people read."""
    similarity: Callable[[Members], Array]
    """(n_sets, n_labels) -> (n_sets, n_sets): one minus the distance."""
    source: str
    """Where the distance comes from."""
    description: str
    """The interpretation, in plain words."""


SET_STATISTICS: Mapping[str, SetStatistic] = MappingProxyType(
    {
        "krippendorff_alpha_masi": SetStatistic(
            "Krippendorff's alpha, MASI distance",
            masi_similarity,
            PASSONNEAU,
            (
                "One minus the ratio of observed to expected disagreement, where two sets of labels"
                " disagree by the labels that they do not share, and less if one set contains the"
                " other."
            ),
        ),
        "krippendorff_alpha_jaccard": SetStatistic(
            "Krippendorff's alpha, Jaccard distance",
            jaccard_similarity,
            JACCARD,
            (
                "One minus the ratio of observed to expected disagreement, where two sets of labels"
                " disagree by the proportion of their labels that they do not share."
            ),
        ),
    }
)
"""The statistics of ratings that are sets, by name; no other statistic compares sets."""
