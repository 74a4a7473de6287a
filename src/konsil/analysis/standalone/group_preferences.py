"""Two groups of comparisons: the differences of their win differences."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from konsil.analysis.estimation.interval_rules import without_limits
from konsil.analysis.model.context import Context
from konsil.analysis.model.frames import finite_or_none, whom
from konsil.analysis.pairs.pair_contrasts import difference_estimates
from konsil.analysis.pairs.pair_influences import Column, columns_of, numbered
from konsil.analysis.pairs.pairwise import places
from konsil.analysis.pairs.vote_sentences import no_interval
from konsil.analysis.pairs.votes import Member
from konsil.analysis.standalone.ranking_summary import about_these, with_error
from konsil.analysis.tabular.votes_table import Comparisons
from konsil.errors.message import message
from konsil.stats.engine.contract import Estimate


def compared(
    context: Context, tables: Sequence[Comparisons], groups: tuple[str, ...]
) -> tuple[dict[str, Any], list[str]]:
    """Each system's win difference in the first group minus that in the second, and notes.

    CIs and p values are two-way (items and raters): what two groups share is one cluster.
    """
    named = [_item_names(table, group) for table, group in zip(tables, groups, strict=True)]
    by_group = [_columns(context, *group) for group in zip(tables, named, strict=True)]
    columns = [column for of_group in by_group for column in of_group.values()]
    numbers = dict(zip(map(id, columns), zip(*numbered(columns), strict=True), strict=True))
    differences = []
    for system in sorted({name for table in tables for name in table.systems}):
        both = [of_group[system] for of_group in by_group if system in of_group]
        if len(both) < 2:
            reason = message(
                "The system is not in both groups.", message_id="comparisons.system_in_one_group"
            )
            absent = Estimate(math.nan, reason=reason)
            differences.append(_plain(system, absent, absent, absent))
            continue
        a, b = both
        (items_a, raters_a), (items_b, raters_b) = numbers[id(a)], numbers[id(b)]
        clusters = (items_a, items_b), (raters_a, raters_b)
        estimates = difference_estimates(context, a, b, *clusters)
        head, item = next(iter(estimates.values())), estimates["item"]
        if len(np.unique(np.concatenate((raters_a, raters_b)))) == 1:
            item = replace(item, method=item.method and about_these(context, 1, item.method))
            head = item
        elif "two-way" not in estimates:
            head = replace(without_limits(head, no_interval("dominated")), method="")
        rater = estimates.get("rater", Estimate(math.nan))
        differences.append(_plain(system, head, item, rater))
    n_items = 0
    if all(table.items is not None for table in tables):
        n_items = int(np.all([table.is_compared for table in tables], axis=0).sum())
    n_raters = len(set.intersection(*({*table.raters} for table in tables)))
    n_all = len(set().union(*(table.raters for table in tables)))
    has_raters = all(table.has_raters for table in tables)
    notes: list[str] = []
    if not n_items and not (has_raters and n_raters):
        notes.append(
            message(
                "The two groups share no item and no rater: they are independent samples.",
                message_id="comparisons.groups_independent",
            )
        )
    return {
        "groups": list(groups),
        "n_shared_items": n_items,
        "n_shared_raters": n_raters if has_raters else None,
        "target": whom("like these" if n_all > 1 else "these") if has_raters else None,
        "differences": differences,
    }, notes


def _item_names(table: Comparisons, group: str) -> tuple[str, ...]:
    """The items' names; of unknown items each comparison has its own."""
    if table.items is None:
        return tuple(f"{group} {n}" for n in range(table.votes.n_votes))
    return tuple(table.items)


def _columns(context: Context, table: Comparisons, items: tuple[str, ...]) -> dict[str, Column]:
    """Each system's win difference in a group, with the influences of its comparisons."""
    rows = places(context.analysis.statistic, table.systems)
    member = Member({}, table.votes, rows, tuple(table.raters))
    columns = columns_of(context, member, items, people=True)
    return {column.keys["system"]: column for column in columns}


def _plain(system: str, head: Estimate, item: Estimate, rater: Estimate) -> dict[str, Any]:
    """One system's difference as plain data."""
    return {
        "system": system,
        "value": finite_or_none(head.value),
        **with_error(head),
        "p": finite_or_none(head.p),
        "item": with_error(item),
        "rater": with_error(rater),
        "n_comparisons": head.n_ratings,
        "reason": head.reason,
    }
