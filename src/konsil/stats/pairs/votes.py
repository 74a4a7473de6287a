"""Comparisons of two systems as counts of pairs and outcomes, from which all statistics follow.

A vote is one rater's comparison of two systems' answers to one question. Its outcome is read from
the side of the system with the smaller number, whatever was shown first, so that slots never
matter. A cell is a pair of systems and an outcome; `n_cells` of them, pair by pair in the order of
itertools.combinations, outcomes rising in favour of the pair's first system.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from konsil.stats.engine.cluster_sums import Sparse, Sums
from konsil.stats.engine.contract import Array, IntArray
from konsil.stats.engine.tables import DENSE_CELLS

_CHUNK = 1 << 22
"""Votes whose codes are widened to 64 bits at once."""

_LAST_BITS = (1 << 20) - 1
_DENSE = 1 << 18
"""Up to this many counts they are stored dense."""
_DENSE_TO = 4
"""Up to this many counts for each vote they are counted dense and stored sparse."""
MANY = 1 << 17
"""From more clusters than this on, what costs much is computed in another order: the last bits of
the numbers of smaller studies stay as they are."""

Indices: TypeAlias = NDArray[np.signedinteger[Any]]
"""Codes of 32 or 64 bits."""


@dataclass(frozen=True, eq=False)
class Votes:
    """Comparisons as codes, one entry a vote; make them with `votes`."""

    cells: Indices
    """(n_votes,) pair * (2 steps + 1) + steps + outcome."""
    questions: Indices
    """(n_votes,) 0 .. n_questions - 1."""
    raters: Indices
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

    @cached_property
    def cell_totals(self) -> Array:
        """(n_cells,) how often each cell occurs."""
        counts = np.zeros(self.n_cells, dtype=np.int64)
        for at in range(0, self.n_votes, _CHUNK):
            counts += np.bincount(self.cells[at : at + _CHUNK], minlength=self.n_cells)
        out = counts.astype(np.float64)
        out.flags.writeable = False
        return out

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


def cell_counts(votes: Votes, clusters: Indices, n_clusters: int) -> Sums:
    """How often each cell occurs in each cluster, (n_clusters, n_cells).

    Sparse rows where the dense ones are large.

    >>> made = votes([0, 1, 0], [1, 0, 1], [1, -1, 0], [0, 1, 1], [0, 0, 1], n_systems=2)
    >>> cell_counts(made, made.questions, 2)
    array([[0., 0., 1.],
           [0., 1., 1.]])
    """
    if n_clusters * votes.n_cells > DENSE_CELLS:
        return cell_rows(votes, clusters, n_clusters)
    counts = np.zeros(n_clusters * votes.n_cells, dtype=np.int64)
    for keys in _keys(votes, clusters):
        counts += np.bincount(keys, minlength=len(counts))
    return counts.reshape(n_clusters, votes.n_cells).astype(np.float64)


def cell_rows(votes: Votes, clusters: Indices, n_clusters: int) -> Sparse:
    """How often each cell occurs in each cluster, as sparse rows (n_clusters, n_cells)."""
    small: Any = np.int32 if max(votes.n_cells, votes.n_votes) < 2**31 else np.int64
    shape = (n_clusters, votes.n_cells)
    if n_clusters * votes.n_cells <= _DENSE_TO * votes.n_votes:
        size = n_clusters * votes.n_cells
        dense = np.zeros(size, dtype=np.int32)
        # Counting costs as much as the counts, so that it is done for as many votes at once.
        for keys in _keys(votes, clusters, max(_CHUNK, size // _DENSE_TO)):
            dense += np.bincount(keys, minlength=size)
        counts = dense.reshape(shape)
        step = max(_CHUNK // votes.n_cells, 1)
        parts = [
            scipy.sparse.csr_array(counts[at : at + step], dtype=np.float64)
            for at in range(0, n_clusters, step)
        ]
        return scipy.sparse.vstack(parts, format="csr") if len(parts) > 1 else parts[0]
    at = (clusters.astype(small, copy=False), votes.cells.astype(small, copy=False))
    return scipy.sparse.coo_array((np.ones(votes.n_votes), at), shape=shape).tocsr()


def _keys(votes: Votes, clusters: Indices, step: int = _CHUNK) -> Iterator[IntArray]:
    """Cluster and cell of some votes at a time as numbers below n_clusters * n_cells."""
    for at in range(0, votes.n_votes, step):
        # Codes may have 32 bits, and their products need more.
        keys = clusters[at : at + step].astype(np.int64) * votes.n_cells
        keys += votes.cells[at : at + step]
        yield keys


def repeated_places(keys: IntArray) -> tuple[IntArray, IntArray, int]:
    """Where keys occur more than once: the places, the number of each key, how many keys repeat.

    The places are in order; equal keys have the same number, in the order of the keys.

    >>> repeated_places(np.array([7, 3, 7, 5, 3, 7]))
    (array([0, 1, 2, 4, 5]), array([1, 0, 1, 0, 1]), 3)
    """
    in_order = np.sort(keys)
    again = in_order[1:][in_order[1:] == in_order[:-1]]
    if not len(again):
        nothing = np.zeros(0, dtype=np.int64)
        return nothing, nothing, 0
    repeated = np.unique(again)
    # Most keys are excluded by their last bits, which is cheaper than a search.
    may_repeat = np.zeros(_LAST_BITS + 1, dtype=np.bool_)
    may_repeat[repeated & _LAST_BITS] = True
    places = np.flatnonzero(may_repeat[keys & _LAST_BITS])
    number = np.minimum(np.searchsorted(repeated, keys[places]), len(repeated) - 1)
    is_repeated = repeated[number] == keys[places]
    return places[is_repeated], number[is_repeated], len(again)


@dataclass(frozen=True, eq=False)
class Both:
    """The cells' counts by pairs of question and rater, where there are very many pairs."""

    single: Array
    """(n_cells,) the counts of the votes that share question and rater with no other vote."""
    rows: Sparse
    """(n, n_cells) the counts of every pair of question and rater with several votes."""


@dataclass(frozen=True, eq=False)
class Clusterings:
    """The cells' counts by question, by rater and by both."""

    by_question: Sums
    """(n_questions, n_cells)."""
    by_rater: Sums
    """(n_raters, n_cells)."""
    by_both: Sums | Both | None
    """(n_pairs_of_both, n_cells); None where no two votes share both."""

    @cached_property
    def question_columns(self) -> Sparse:
        """`by_question`, column after column."""
        return scipy.sparse.csc_array(self.by_question)

    @cached_property
    def rater_columns(self) -> Sparse:
        """`by_rater`, column after column."""
        return scipy.sparse.csc_array(self.by_rater)


def clusterings(votes: Votes) -> Clusterings:
    """The cells' counts by question, by rater and by both."""
    ways = ((votes.questions, votes.n_questions), (votes.raters, votes.n_raters))
    # Small ones dense: a sparse product costs more to prepare than they cost to multiply.
    by_question, by_rater = (_counts(votes, clusters, n) for clusters, n in ways)
    return Clusterings(by_question, by_rater, _by_both(votes))


def _counts(votes: Votes, clusters: Indices, n: int) -> Sums:
    return (cell_counts if n * votes.n_cells <= _DENSE else cell_rows)(votes, clusters, n)


def _by_both(votes: Votes) -> Sums | Both | None:
    both = votes.questions.astype(np.int64)
    both *= votes.n_raters
    both += votes.raters
    places, number, n_again = repeated_places(both)
    if not n_again:
        return None
    n_both = votes.n_votes - n_again
    if n_both <= MANY:
        pairs = np.unique(both, return_inverse=True)[1].ravel()
        return _counts(votes, pairs, n_both)
    several = replace(
        votes,
        cells=votes.cells[places],
        questions=votes.questions[places],
        raters=votes.raters[places],
    )
    rows = cell_rows(several, number, int(number.max()) + 1)
    return Both(totals(votes) - totals(several), rows)


def totals(votes: Votes) -> Array:
    """How often each cell occurs, (n_cells,).

    >>> totals(votes([0, 1, 0], [1, 0, 1], [1, -1, 0], [0, 1, 1], [0, 0, 1], n_systems=2))
    array([0., 1., 2.])
    """
    return votes.cell_totals


def mirrored(cell_totals: Array, n_outcomes: int) -> Array:
    """The totals (..., n_cells) with winner and loser of every vote exchanged.

    >>> mirrored(np.array([0.0, 1.0, 2.0]), 3)
    array([2., 1., 0.])
    """
    shape = cell_totals.shape
    return cell_totals.reshape(*shape[:-1], -1, n_outcomes)[..., ::-1].reshape(shape)
