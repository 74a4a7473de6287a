"""Two groups of comparisons: the differences of their win differences."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from konsil.analysis.model.message import message
from konsil.analysis.pairs.vote_sentences import no_interval
from konsil.analysis.standalone.ranking_summary import about_these, two_way_method
from konsil.analysis.tabular.votes_table import Comparisons
from konsil.stats.engine.contract import Array, IntArray
from konsil.stats.pairs.two_way_clusters import Crossed, Interval, crossed
from konsil.stats.pairs.vote_cautions import is_dominated
from konsil.stats.pairs.vote_contrasts import between_groups, side_by_side
from konsil.stats.pairs.votes import pair_members
from konsil.stats.pairs.wins import system_against_others


def compared(
    tables: Sequence[Comparisons], groups: tuple[str, ...], *, strict: bool, level: float
) -> tuple[dict[str, Any], list[str]]:
    """Each system's win difference in the first group minus that in the second, and notes.

    CIs and p values are two-way (items and raters): what two groups share is one cluster.
    """
    systems = tuple(sorted({name for table in tables for name in table.systems}))
    steps = max(table.votes.steps for table in tables)
    items = _numbers([table.items for table in tables])
    raters = _numbers([table.raters for table in tables])
    columns = [_columns(table, systems, items[n], raters[n]) for n, table in enumerate(tables)]
    both = side_by_side(columns[0], columns[1], n_systems=len(systems), steps=steps)
    statistic = system_against_others(2 * len(systems), steps, threshold=steps if strict else 1)
    estimates = crossed(both, between_groups(statistic, len(systems)), level=level)
    dominated = _dominated(tables, strict)
    differences = [
        _difference(name, estimates, n, dominated=name in dominated)
        for n, name in enumerate(systems)
    ]
    shared = [
        len({*a} & {*b})
        for a, b in ((tables[0].items, tables[1].items), (tables[0].raters, tables[1].raters))
    ]
    has_raters = all(table.has_raters for table in tables)
    notes: list[str] = []
    if not shared[0] and not (has_raters and shared[1]):
        notes.append(
            message(
                "The two groups share no item and no rater: they are independent samples.",
                message_id="comparisons.groups_independent",
            )
        )
    return {
        "groups": list(groups),
        "n_shared_items": shared[0],
        "n_shared_raters": shared[1] if has_raters else None,
        "differences": differences,
    }, notes


def _dominated(tables: Sequence[Comparisons], strict: bool) -> set[str]:
    """Systems of which one rater gave too many of a group's comparisons.

    Raters are no sample there.
    """
    names = set()
    for table in tables:
        steps = table.votes.steps
        values = crossed(
            table.votes,
            system_against_others(len(table.systems), steps, threshold=steps if strict else 1),
        )
        names |= {name for n, name in enumerate(table.systems) if is_dominated(values, n)}
    return names


def _difference(name: str, estimates: Crossed, n: int, *, dominated: bool) -> dict[str, Any]:
    """One system's difference as plain data; without variation, without CI and p value."""
    value = float(estimates.value[n])
    # Of a single rater no other raters are in question.
    is_alone = bool(estimates.n_raters[n] == 1)
    two = estimates.question if is_alone else estimates.two_way
    dominated = dominated or is_dominated(estimates, n)
    varies = bool(two.se[n] > _ROUNDING) and not dominated
    by_item = bool(estimates.question.se[n] > _ROUNDING) if dominated else varies
    reason = ""
    if not math.isfinite(value):
        reason = message(
            "The system is not in both groups.", message_id="comparisons.system_in_one_group"
        )
    elif dominated:
        reason = no_interval(dominated=True)
    elif not varies:
        reason = message(
            (
                "no CI from a single item, a single rater or groups that do not differ in any"
                " comparison"
            ),
            message_id="comparisons.no_variation",
        )
    method = about_these(1) if is_alone else two_way_method(float(two.df[n]))
    nothing: dict[str, float | None] = {"low": None, "high": None, "se": None}
    return {
        "system": name,
        "value": _finite_or_none(value),
        **(_interval(two, n) if varies else nothing),
        "p": _finite_or_none(two.p[n]) if varies else None,
        "method": "" if not varies else method,
        "item": {
            **(_interval(estimates.question, n) if by_item else nothing),
            "method": "cluster-robust Wald (item-clustered)",
        },
        "rater": {
            **(_interval(estimates.rater, n) if varies else nothing),
            "method": "cluster-robust Wald (rater-clustered)",
        },
        "n_comparisons": int(estimates.n_votes[n]),
        "reason": reason,
    }


_ROUNDING = 1e-12
"""Standard errors up to here are rounding errors of zero."""


def _numbers(names: Sequence[pl.Series]) -> list[IntArray]:
    """Each group's numbers of its names among the names of both."""
    number_by_name = {
        name: n for n, name in enumerate(sorted({name for group in names for name in group}))
    }
    return [np.array([number_by_name[name] for name in group], dtype=np.int64) for group in names]


def _columns(
    table: Comparisons, systems: Sequence[str], items: IntArray, raters: IntArray
) -> tuple[Array, Array, Array, Array, Array]:
    """A group's votes as columns, with indices of systems, items and raters over both groups."""
    votes = table.votes
    number = np.array([systems.index(name) for name in table.systems], dtype=np.int64)
    first, second = pair_members(votes.n_systems)
    columns = (
        number[first[votes.pairs]],
        number[second[votes.pairs]],
        votes.outcomes,
        items[votes.questions],
        raters[votes.raters],
    )
    a, b, y, q, r = (np.asarray(column, dtype=np.float64) for column in columns)
    return a, b, y, q, r


def _interval(interval: Interval, n: int) -> dict[str, float | None]:
    return {
        "low": _finite_or_none(interval.low[n]),
        "high": _finite_or_none(interval.high[n]),
        "se": _finite_or_none(interval.se[n]),
    }


def _finite_or_none(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
