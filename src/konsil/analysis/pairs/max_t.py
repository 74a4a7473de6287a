"""One family of tests for all prespecified win differences.

They are adjusted by the covariance of their influences.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from konsil.analysis.model.catalogue.known import statistic_of
from konsil.analysis.model.context import Context
from konsil.analysis.model.rows import Row
from konsil.analysis.pairs.pair_influences import Column, columns, numbered
from konsil.analysis.table.frame import RatingTable
from konsil.analysis.table.lineage import Lineage
from konsil.stats.engine.contract import Array
from konsil.stats.inference.joint import joint_p, summed_products

Name = tuple[str, frozenset[tuple[str, str]]]
"""An analysis and the group of one of its rows."""

_INFLUENCES = 30_000_000
"""Up to so many influences of single comparisons the family is adjusted."""


def with_max_t(
    contexts: Sequence[Context],
    table_of: Callable[[Context], RatingTable],
    rows: Sequence[Row],
    families: Lineage,
) -> list[Row]:
    """The rows, with max-T adjusted p values where they are defined.

    These are prespecified and tested win differences and margins. Adjusted is the row's own p
    value, by the correlations of all numbers of the family over all criteria, groups and arms:
    those of the two-way covariance of their influences, of people by item and rater, of judges by
    item alone. Analyses by case and by item are families of their own. nan where the influences are
    too many.

    Source: Westfall and Young (1993); see `stats.joint.joint_p`.
    """
    tested = [c for c in contexts if in_family(c)]
    single_p = {_name(r.analysis, r.group): r.estimate.p for r in rows if r.kind == "estimate"}
    adjusted_p: dict[Name, float] = {}
    for kind in sorted({c.analysis.cluster for c in tested}):
        chosen = [c for c in tested if c.analysis.cluster == kind]
        # Sorted, so that the order of analyses changes no draw.
        family = sorted(
            (
                (_name(c.analysis.name, column.keys), column)
                for c in chosen
                for column in columns(c, table_of(c), families)
            ),
            key=lambda named: (named[0][0], *sorted(named[0][1])),
        )
        if family and sum(len(column.influence) for _, column in family) <= _INFLUENCES:
            covariance, df = _covariance([column for _, column in family])
            p = joint_p(
                np.array([single_p.get(name, math.nan) for name, _ in family]),
                covariance,
                df,
                key=chosen[0].key,
            )
            adjusted_p |= dict(zip((name for name, _ in family), p.tolist(), strict=True))
    return [
        (
            replace(r, p_max_t=adjusted_p.get(_name(r.analysis, r.group), math.nan))
            if adjusted_p and r.kind == "estimate"
            else r
        )
        for r in rows
    ]


def in_family(context: Context) -> bool:
    """Whether an analysis' tests are adjusted together with those of the others."""
    a = context.analysis
    return (
        statistic_of(a.statistic).is_of_one_system
        and a.prespecified
        and a.test != "none"
        and a.mode == "valid"
        and a.cluster != "rater"
    )


def _name(analysis: str, group: object) -> Name:
    return analysis, frozenset(dict(group).items())  # type: ignore[call-overload]


def _covariance(family: Sequence[Column]) -> tuple[Array, float]:
    """The two-way covariance of all columns, (m, m), and the least degrees of freedom of them."""
    item, rater = numbered(family)
    psi = np.concatenate([member.influence for member in family])
    column = np.concatenate([np.full(len(place), n) for n, place in enumerate(item)])
    has_rater = np.concatenate(
        [np.full(len(member.item), member.has_sampled_raters) for member in family]
    )
    first, second = np.concatenate(item), np.concatenate(rater)
    df = math.inf
    for member in family:
        for numbers in (member.item, member.rater) if member.has_sampled_raters else (member.item,):
            shares = np.bincount(numbers) / max(len(numbers), 1)
            df = min(df, 1 / max(float((shares**2).sum()), 1e-300) - 1)
    m, pairs = len(family), first * (int(second.max(initial=0)) + 1) + second
    total = summed_products(first, column, psi, m)
    if has_rater.any():
        total = total + summed_products(second[has_rater], column[has_rater], psi[has_rater], m)
        total = total - summed_products(pairs[has_rater], column[has_rater], psi[has_rater], m)
    return total, max(df, 1.0)
