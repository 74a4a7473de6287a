"""One family of tests for all prespecified win differences: one coin an item for every criterion and every group."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from konsil.analysis.coding import select
from konsil.analysis.frame import Long
from konsil.analysis.kinds import Context
from konsil.analysis.pair_rules import FLIPPED
from konsil.analysis.pairwise import members, statistic_of, voted
from konsil.analysis.results import Row
from konsil.stats.contract import Array
from konsil.stats.permutation import max_t
from konsil.stats.vote_flips import SAMPLED, flip_differences
from konsil.stats.votes import totals

Name = tuple[str, frozenset[tuple[str, str]]]
"""An analysis and the group of one of its rows."""
Column = tuple[Name, dict[str, float]]
"""A row, and what each item adds to its value: whose signs flip."""


def with_max_t(contexts: Sequence[Context], table: Long, rows: Sequence[Row]) -> list[Row]:
    """The rows, those of prespecified and tested win differences and margins with their max-T adjusted p.

    All comparisons of an item change sides by one coin, on all criteria, in all groups and arms at once, so that the
    dependence between the tests is kept. Analyses by case and by item are families of their own. nan where more
    would have to be sampled than is worth its time.

    Source: Westfall and Young (1993); see `stats.permutation.max_t`.
    """
    tested = [c for c in contexts if in_family(c)]
    found: dict[Name, float] = {}
    for kind in sorted({c.analysis.cluster for c in tested}):
        chosen = [c for c in tested if c.analysis.cluster == kind]
        columns = [column for c in chosen for column in _columns(c, table)]
        if columns:
            p = _adjusted([added for _, added in columns], chosen[0])
            found |= dict(zip((name for name, _ in columns), p.tolist(), strict=True))
    return [
        replace(r, p_max_t=found.get(_name(r.analysis, r.group), math.nan)) if found and r.kind == "estimate" else r
        for r in rows
    ]


def in_family(context: Context) -> bool:
    """Whether an analysis' tests are adjusted together with those of the others."""
    a = context.analysis
    flipped = a.statistic in FLIPPED and a.statistic != "position_bias"
    return flipped and a.prespecified and a.test != "none" and a.mode == "valid" and a.cluster != "rater"


def _name(analysis: str, group: object) -> Name:
    return analysis, frozenset(dict(group).items())  # type: ignore[call-overload]


def _columns(context: Context, table: Long) -> Iterator[Column]:
    frame = select(table, context.analysis, context.analysis.raters)
    if frame.height == 0:
        return
    for keys, ballot in voted(context, frame):
        member = members(context, table, keys, ballot)
        chosen = statistic_of(context.analysis.statistic, member.votes.n_systems, member.votes.steps)
        value, added = chosen.finalise(totals(member.votes)), flip_differences(member.votes, chosen)
        for n, own in member.rows:
            if math.isfinite(value[n]):
                each = added[:, n]
                at = np.flatnonzero(each)
                items = {ballot.clusters[i]: float(each[i]) for i in at.tolist()}
                yield _name(context.analysis.name, {**keys, **own}), items


def _adjusted(columns: Sequence[dict[str, float]], context: Context) -> Array:
    """Max-T over all columns, an item that a column does not have adding nothing to it."""
    items = {item: n for n, item in enumerate(sorted({item for one in columns for item in one}))}
    draws = context.resampling.draws
    if not items or draws * len(items) * len(columns) > SAMPLED:
        return np.full(len(columns), math.nan)
    differences = np.zeros((len(items), len(columns)))
    for n, one in enumerate(columns):
        differences[[items[item] for item in one], n] = list(one.values())
    return max_t(differences, draws=draws, key=context.key)
