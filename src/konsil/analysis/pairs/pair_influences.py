"""Influences of comparisons on the numbers of an analysis.

They serve families of tests and differences of numbers.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
import polars as pl

from konsil.analysis.model.context import Context
from konsil.analysis.pairs.pairwise import members, statistic_of, votes_by_group
from konsil.analysis.pairs.votes import Member, ratings_of
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
    """The raters' names by number."""
    people: bool
    """Whether people compared, not judges."""
    has_sampled_raters: bool
    """Whether raters are a source of chance: people of whom none gave most."""
    item: IntArray
    """Each comparison's cluster."""
    rater: IntArray
    """Each comparison's rater."""
    pair: IntArray
    """The pair of systems that it compares."""
    influence: Array
    """What it adds."""
    ratings: pl.DataFrame | None = None
    """The single ratings behind the comparisons, as in `votes.Member`."""

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
        yield from columns_of(context, member, ballot.clusters, people)


def columns_of(
    context: Context, member: Member, items: tuple[str, ...], people: bool
) -> Iterator[Column]:
    """Every defined number of one group; `items` are the names of its clusters by number."""
    votes = member.votes
    chosen = statistic_of(context.analysis.statistic, votes.n_systems, votes.steps)
    value = chosen.finalise(totals(votes))
    gradient = np.nan_to_num(chosen.gradient(totals(votes)))
    for n, names in member.rows:
        if math.isfinite(value[n]):
            used = np.flatnonzero(chosen.support[votes.pairs, n])
            several = people and effective_number(np.bincount(votes.raters[used])) >= LEAST_RATERS
            yield Column(
                {**member.keys, **names},
                float(value[n]),
                items,
                member.raters,
                people,
                several,
                votes.questions[used],
                votes.raters[used],
                votes.pairs[used],
                gradient[votes.cells[used], n],
                ratings_of(member.ratings, chosen.support[:, n]),
            )


def numbered(family: Sequence[Column]) -> tuple[list[IntArray], list[IntArray]]:
    """The comparisons' items and raters of each column, numbered alike in all of them."""
    items, raters = (
        _numbers([getattr(column, role) for column in family]) for role in ("items", "raters")
    )
    item = [items[id(column.items)][column.item] for column in family]
    rater = [raters[id(column.raters)][column.rater] for column in family]
    return item, rater


def _numbers(names: Sequence[tuple[str, ...]]) -> dict[int, IntArray]:
    """The numbers of each column's names among the names of all; columns may share their names."""
    different = {id(of_column): of_column for of_column in names}
    number = {name: n for n, name in enumerate(sorted({*chain(*different.values())}))}
    return {
        key: np.array([number[name] for name in of_column], dtype=np.int64)
        for key, of_column in different.items()
    }
