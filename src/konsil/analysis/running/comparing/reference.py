"""Differences to one group, in place of those of all pairs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from konsil.analysis.model.rows import Row
from konsil.stats.engine.contract import Estimate
from konsil.stats.inference.multiplicity import holm


def against_reference(rows: Sequence[Row], reference: str) -> tuple[Row, ...]:
    """The rows with the differences of each other group minus the reference alone.

    The p values are Holm-adjusted over these differences; all else is as in the rows of all pairs.
    """
    chosen = [turned(row, reference) for row in rows]
    remaining = [row for row in chosen if row is not None]
    tested = [
        n
        for n, row in enumerate(remaining)
        if row.kind == "difference" and math.isfinite(row.estimate.p)
    ]
    for n, p in zip(tested, holm([remaining[n].estimate.p for n in tested]), strict=True):
        remaining[n] = replace(remaining[n], p_adjusted=float(p))
    return tuple(remaining)


def turned(row: Row, reference: str) -> Row | None:
    """A row as it is; a difference with the reference subtracted; None: of two other groups."""
    if not row.versus:
        return row
    if reference in row.versus.values():
        return row
    if reference not in row.group.values():
        return None
    return replace(
        row,
        group=row.versus,
        versus=row.group,
        n_units=row.n_units_versus,
        n_units_versus=row.n_units,
        estimate=negative(row.estimate),
    )


def negative(estimate: Estimate) -> Estimate:
    """The estimate of the opposite difference.

    >>> e = negative(Estimate(0.2, 0.1, 0.4))
    >>> e.value, e.low, e.high
    (-0.2, -0.4, -0.1)
    """
    return replace(estimate, value=-estimate.value, low=-estimate.high, high=-estimate.low)
