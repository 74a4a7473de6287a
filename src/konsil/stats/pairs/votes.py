"""Comparisons of two systems as counts of pairs and outcomes, from which all statistics follow.

A vote is one rater's comparison of two systems' answers to one question. Its outcome is read from
the side of the system with the smaller number, whatever was shown first, so that slots never
matter. A cell is a pair of systems and an outcome; `n_cells` of them, pair by pair in the order of
itertools.combinations, outcomes rising in favour of the pair's first system.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from konsil.stats.engine.cluster_sums import Sparse, Sums
from konsil.stats.engine.contract import Array, IntArray
from konsil.stats.engine.tables import DENSE_CELLS


@dataclass(frozen=True, eq=False)
class Votes:
    """Comparisons as codes, one entry a vote; make them with `votes`."""

    cells: IntArray
    """(n_votes,) pair * (2 steps + 1) + steps + outcome."""
    questions: IntArray
    """(n_votes,) 0 .. n_questions - 1."""
    raters: IntArray
    """(n_votes,) 0 .. n_raters - 1."""
    n_systems: int
    """How many systems there are, compared or not."""
    steps: int
    """The largest outcome: 1 for win, tie, loss; 2 where "much" and "somewhat" differ."""
    n_questions: int
    """How many questions there are, voted on or not."""
    n_raters: int
    """How many raters there are, voting or not."""

    @property
    def n_votes(self) -> int:
        """How many votes there are."""
        return len(self.cells)

    @property
    def n_outcomes(self) -> int:
        """The number of outcomes that a vote can have."""
        return 2 * self.steps + 1

    @property
    def n_cells(self) -> int:
        """The number of pairs times outcomes."""
        return n_pairs(self.n_systems) * self.n_outcomes

    @property
    def pairs(self) -> IntArray:
        """(n_votes,) which pair of systems was compared."""
        return self.cells // self.n_outcomes

    @property
    def outcomes(self) -> IntArray:
        """(n_votes,) -steps .. steps from the side of the pair's first system."""
        return self.cells % self.n_outcomes - self.steps

    def among(self, *, n_questions: int | None = None, n_raters: int | None = None) -> Votes:
        """The same votes among so many questions and raters, some of whom cast none."""
        return replace(
            self,
            n_questions=self.n_questions if n_questions is None else n_questions,
            n_raters=self.n_raters if n_raters is None else n_raters,
        )

    def only(self, selected: NDArray[np.bool_]) -> Votes:
        """Some of the votes, with questions and raters numbered as before."""
        return Votes(
            self.cells[selected],
            self.questions[selected],
            self.raters[selected],
            self.n_systems,
            self.steps,
            self.n_questions,
            self.n_raters,
        )


def n_pairs(n_systems: int) -> int:
    """How many pairs of systems there are."""
    return n_systems * (n_systems - 1) // 2


def pair_members(n_systems: int) -> tuple[IntArray, IntArray]:
    """The pairs' first and second systems, (n_pairs,) each, as itertools.combinations."""
    first, second = np.triu_indices(n_systems, 1)
    return first.astype(np.int64), second.astype(np.int64)


def votes(
    first: ArrayLike,
    second: ArrayLike,
    outcomes: ArrayLike,
    questions: ArrayLike,
    raters: ArrayLike,
    *,
    n_systems: int,
    steps: int = 1,
) -> Votes:
    """Votes from columns (n_votes,): two systems, outcome, question and rater.

    The two systems' numbers, the outcome from the first's side, question and rater.

    Exchanging the two systems of a vote and the sign of its outcome changes nothing. There are as
    many questions and raters as the highest numbers say; `Votes.among` states others.

    >>> made = votes([0, 1], [1, 0], [1, -1], [0, 1], [0, 0], n_systems=2)
    >>> made.cells, made.outcomes
    (array([2, 2]), array([1, 1]))
    """
    a, b, y, q, r = (
        np.asarray(c, dtype=np.int64) for c in (first, second, outcomes, questions, raters)
    )
    if not len(a) == len(b) == len(y) == len(q) == len(r):
        raise ValueError(
            f"votes: got columns of {len(a)}, {len(b)}, {len(y)}, {len(q)} and {len(r)}; expected"
            " as many"
        )
    if len(a) and (
        min(a.min(), b.min()) < 0 or max(a.max(), b.max()) >= n_systems or (a == b).any()
    ):
        raise ValueError(f"votes: expected two different systems of 0 .. {n_systems - 1} in each")
    if len(y) and np.abs(y).max() > steps:
        raise ValueError(
            f"votes: got an outcome of {np.abs(y).max()}, expected at most {steps} steps"
        )
    # A pair is stored in one direction: an outcome seen from the other side changes its sign.
    swapped = a > b
    low, high = np.where(swapped, b, a), np.where(swapped, a, b)
    pair = low * n_systems - low * (low + 1) // 2 + high - low - 1
    cells = pair * (2 * steps + 1) + steps + np.where(swapped, -y, y)
    return Votes(
        cells,
        q,
        r,
        n_systems,
        steps,
        int(q.max(initial=-1)) + 1,
        int(r.max(initial=-1)) + 1,
    )


def cell_counts(votes: Votes, clusters: NDArray[np.signedinteger[Any]], n_clusters: int) -> Sums:
    """How often each cell occurs in each cluster, (n_clusters, n_cells).

    Sparse rows where the dense ones are large.

    >>> made = votes([0, 1, 0], [1, 0, 1], [1, -1, 0], [0, 1, 1], [0, 0, 1], n_systems=2)
    >>> cell_counts(made, made.questions, 2)
    array([[0., 0., 1.],
           [0., 1., 1.]])
    """
    if n_clusters * votes.n_cells > DENSE_CELLS:
        return cell_rows(votes, clusters, n_clusters)
    counts = np.bincount(
        clusters * votes.n_cells + votes.cells, minlength=n_clusters * votes.n_cells
    )
    return counts.reshape(n_clusters, votes.n_cells).astype(np.float64)


def cell_rows(votes: Votes, clusters: NDArray[np.signedinteger[Any]], n_clusters: int) -> Sparse:
    """How often each cell occurs in each cluster, as sparse rows (n_clusters, n_cells)."""
    # Cluster after cluster, so that the rows are contiguous: a coordinate matrix would hold three
    # copies of the votes.
    order = np.argsort(clusters, kind="stable")
    starts = np.concatenate([[0], np.cumsum(np.bincount(clusters, minlength=n_clusters))])
    small: Any = np.int32 if max(votes.n_cells, votes.n_votes) < 2**31 else np.int64
    columns = votes.cells[order].astype(small)
    rows: Sparse = scipy.sparse.csr_array(
        (np.ones(len(order)), columns, starts.astype(small)), shape=(n_clusters, votes.n_cells)
    )
    rows.sum_duplicates()
    return rows


def totals(votes: Votes) -> Array:
    """How often each cell occurs, (n_cells,).

    >>> totals(votes([0, 1, 0], [1, 0, 1], [1, -1, 0], [0, 1, 1], [0, 0, 1], n_systems=2))
    array([0., 1., 2.])
    """
    return cast("Array", np.bincount(votes.cells, minlength=votes.n_cells).astype(np.float64))


def mirrored(cell_totals: Array, n_outcomes: int) -> Array:
    """The totals (..., n_cells) with winner and loser of every vote exchanged.

    >>> mirrored(np.array([0.0, 1.0, 2.0]), 3)
    array([2., 1., 0.])
    """
    shape = cell_totals.shape
    return cell_totals.reshape(*shape[:-1], -1, n_outcomes)[..., ::-1].reshape(shape)
