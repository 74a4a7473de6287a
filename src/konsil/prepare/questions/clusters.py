"""Groups of texts that mean alike, from their embeddings.

Their dimensions are reduced; then dense regions, of any number, are found.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

DIMENSIONS = 10
"""Principal components that groups are looked for in."""
DECIMALS = 9
"""Decimals of a component that count; the rows have length 1."""
WORDS = 3
"""Words that stand for a group."""
_WORD = re.compile(r"[^\W\d_][\w-]{2,}")
# In few or short texts even these are unevenly spread; in two languages, each language's are.
_FUNCTION_WORDS = frozenset(
    re.findall(
        r"\w+",
        "about after and any are before best between but can could did does during for from has"
        " have her his how into may most much need next not off often one patient patients"
        " patienten patientin risk she should than that the their them then there these they this"
        " treat treatment use using versus was what when where which while who why will with"
        " without would you your aber als auch auf aus bei beim das dass dem den der des die ein"
        " eine einem einen einer eines für hat ich ist kann kein keine man mit nach nicht noch oder"
        " oft ohne sind soll sollte stelle und unter vom von vor wann war welche welchem welchen"
        " welcher welches wenn wer wie wird zum zur über",
    )
)


def clusters(vectors: NDArray[np.floating], smallest: int) -> list[list[int]]:
    """The groups among the rows, the largest first; rows that belong to none are in none.

    Principal components (at most ten) and HDBSCAN on them. Nothing is drawn at random: the same
    rows in the same order give the same groups.

    Args:
        vectors: shape (n_texts, n_dimensions); each of length 1.
        smallest: texts that make a group, at least.
    """
    import numpy as np
    from sklearn.cluster import HDBSCAN
    from sklearn.decomposition import PCA

    n = len(vectors)
    if n < max(2 * smallest, 4):
        return []
    points = np.asarray(vectors, dtype=np.float64)
    reduced = PCA(min(DIMENSIONS, n - 1, points.shape[1]), svd_solver="full").fit_transform(points)
    # The last digits depend on the processor, and texts that are all alike would differ in nothing
    # else.
    reduced = reduced.round(DECIMALS)
    if not reduced.any():
        return []
    fitted = HDBSCAN(
        min_cluster_size=max(smallest, 2), min_samples=max(smallest // 3, 1), copy=True
    ).fit(reduced)
    groups = [
        np.flatnonzero(fitted.labels_ == label).tolist()
        for label in range(fitted.labels_.max() + 1)
    ]
    return sorted(groups, key=lambda rows: (-len(rows), rows[0]))


def nearest_group(vectors: NDArray[np.floating], groups: Sequence[Collection[int]]) -> list[int]:
    """The group with the nearest centre for each row, by the cosine; of two as near, the first.

    >>> import numpy as np
    >>> nearest_group(np.array([[1.0, 0.0], [0.0, 1.0], [0.6, 0.8]]), [[0], [1]])
    [0, 1, 1]
    """
    import numpy as np

    points = np.asarray(vectors, dtype=np.float64)
    centres = np.stack([points[sorted(rows)].mean(axis=0) for rows in groups])
    lengths = np.linalg.norm(centres, axis=1, keepdims=True)
    near = points @ (centres / np.where(lengths > 0, lengths, 1.0)).T
    return [int(row) for row in near.argmax(axis=1)]


def telling_words(
    groups: Mapping[str, Sequence[str]], n: int = WORDS
) -> dict[str, tuple[str, ...]]:
    """Group -> the words that tell its texts from the other groups', the most telling first.

    A word weighs s log(s / m), where s is the share of the group's texts that have it and m the
    mean of this share over all groups: a tf-idf in which what all groups say alike weighs nothing.
    Case plays no part, and words such as "the" or "welche" are left out.

    >>> insulin, rash = ["the insulin dose", "the insulin pump"], ["the rash", "the itching rash"]
    >>> telling_words({"a": insulin, "b": rash}, 1)
    {'a': ('insulin',), 'b': ('rash',)}
    """
    shares: dict[str, dict[str, float]] = {}
    for name, texts in groups.items():
        for text in texts:
            for word in sorted(
                {match[0].casefold() for match in _WORD.finditer(text)} - _FUNCTION_WORDS
            ):
                share_by_group = shares.setdefault(word, {})
                share_by_group[name] = share_by_group.get(name, 0.0) + 1 / len(texts)
    words_by_group = {}
    for name in groups:
        weights = {
            word: (
                share_by_group[name]
                * math.log(share_by_group[name] * len(groups) / math.fsum(share_by_group.values()))
                if len(groups) > 1
                else share_by_group[name]
            )
            for word, share_by_group in shares.items()
            if name in share_by_group
        }
        best = sorted(weights, key=lambda word: (-round(weights[word], 12), word))
        words_by_group[name] = tuple(best[:n])
    return words_by_group
