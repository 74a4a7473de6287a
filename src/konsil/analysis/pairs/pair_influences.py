"""Influences of comparisons on the numbers of an analysis.

They serve families of tests and differences of numbers.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from konsil.analysis.model.context import Context
from konsil.analysis.pairs.pairwise import members, statistic_of, votes_by_group
from konsil.analysis.table.encoding import select
from konsil.analysis.table.frame import RatingTable
from konsil.analysis.table.lineage import Lineage
from konsil.stats.engine.contract import Array, IntArray
from konsil.stats.inference.cluster_variance import LEAST_RATERS, effective_number
from konsil.stats.pairs.votes import totals


@dataclass(frozen=True, eq=False)
class Column:
    """One number of a group and what each of its comparisons adds to it; arrays (n_votes,)."""

    keys: Mapping[str, str]
    """The row's group."""
    value: float
    """The number."""
    items: tuple[str, ...]
    """The names of the clusters by number."""
    raters: tuple[str, ...]
    """The raters' names by number; empty where raters are no source of chance, as with judges, or
    one gave most."""
    item: IntArray
    """Each comparison's cluster."""
    rater: IntArray
    """Each comparison's rater."""
    pair: IntArray
    """The pair of systems that it compares."""
    influence: Array
    """What it adds."""

    @property
    def n_items(self) -> int:
        """Clusters with a comparison."""
        return len(np.unique(self.item))


def columns(context: Context, table: RatingTable, families: Lineage) -> Iterator[Column]:
    """Every defined number of an analysis of wins, group by group."""
    frame = select(table, context.analysis, context.analysis.raters)
    if frame.height == 0:
        return
    people = any(
        families.judges[r].kind == "human" for r in frame.get_column("rater").unique().to_list()
    )
    for keys, ballot in votes_by_group(context, frame):
        member = members(context, table, keys, ballot)
        votes = member.votes
        chosen = statistic_of(context.analysis.statistic, votes.n_systems, votes.steps)
        value = chosen.finalise(totals(votes))
        gradient = np.nan_to_num(chosen.gradient(totals(votes)))
        for n, names in member.rows:
            if math.isfinite(value[n]):
                used = np.flatnonzero(chosen.support[votes.pairs, n])
                several = (
                    people and effective_number(np.bincount(votes.raters[used])) >= LEAST_RATERS
                )
                yield Column(
                    {**keys, **names},
                    float(value[n]),
                    ballot.clusters,
                    member.raters if several else (),
                    votes.questions[used],
                    votes.raters[used],
                    votes.pairs[used],
                    gradient[votes.cells[used], n],
                )


def numbered(family: Sequence[Column]) -> tuple[list[IntArray], list[IntArray]]:
    """The comparisons' items and raters of each column, numbered alike in all of them.

    Raters 0 where none count.
    """
    items = {
        name: n for n, name in enumerate(sorted({i for column in family for i in column.items}))
    }
    raters = {
        name: n for n, name in enumerate(sorted({r for column in family for r in column.raters}))
    }
    item = [
        np.array([items[name] for name in column.items], dtype=np.int64)[column.item]
        for column in family
    ]
    rater = [
        (
            np.array([raters[name] for name in column.raters], dtype=np.int64)[column.rater]
            if column.raters
            else np.zeros(len(column.item), dtype=np.int64)
        )
        for column in family
    ]
    return item, rater
