"""Judges against a panel: each of them, the ceiling that the panel sets itself, and the difference of the two."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from konsil.analysis import panels
from konsil.analysis.coding import groups, select
from konsil.analysis.estimate import Told
from konsil.analysis.frame import Long
from konsil.analysis.kinds import Context, sample_of
from konsil.analysis.measure import Measure
from konsil.analysis.results import Row
from konsil.analysis.rows import differences_of, estimates_of, row, told_rows
from konsil.analysis.said import say
from konsil.stats.contract import Array, Estimate, Finalise


def against_panel_rows(context: Context, table: Long, frame: pl.DataFrame) -> Iterator[Row]:
    """Judges against a panel: each judge (or their mean), the ceiling, and the paired difference."""
    analysis = context.analysis
    panel_name = str(analysis.against)
    panel_frame = select(table, analysis, panel_name)
    if panel_frame.height == 0:
        told = Told(
            Estimate(
                math.nan,
                level=context.resampling.level,
                reason=say("panel {panel} has no ratings", panel=repr(panel_name)),
            )
        )
        yield row(context, {}, told)
        return
    by = [column for column in analysis.by if column != "rater"]
    judges = dict(_keyed(frame, by))
    experts = tuple(panel_frame.get_column("rater").unique().sort().to_list())
    names = tuple(frame.get_column("rater").unique().sort().to_list())
    for keys, part in groups(panel_frame, by):
        theirs = judges.get(tuple(keys.values()))
        if theirs is None:
            continue
        panel_sample = sample_of(context, part, experts)
        judge_sample = sample_of(context, theirs, names)
        found = panels.against_panel(panel_sample, judge_sample, analysis, analysis.mode, context.level)
        if "rater" not in analysis.by:
            found = [_mean_of(found)]
        # All of them stand on the same sums: three resamplings serve any number of judges.
        judged, ceilings = (estimates_of(context, [f[part] for f in found]) for part in (1, 2))  # type: ignore[misc]
        gaps = differences_of(context, [f[3] for f in found])
        for (name, judge, ceiling, minus), told, above, gap in zip(found, judged, ceilings, gaps, strict=True):
            mine = {**keys, "rater": name} if name else keys
            yield from told_rows(context, mine, told, judge)
            yield row(context, mine, gap, minus, kind="difference", versus={**keys, "rater": say("rest")})
            rest = {**keys, "rater": say("{panel}, leave one out", panel=panel_name)}
            yield row(context, rest, above, ceiling, kind="companion")


def _keyed(frame: pl.DataFrame, by: Sequence[str]) -> Iterator[tuple[tuple[str, ...], pl.DataFrame]]:
    for keys, part in groups(frame, by):
        yield tuple(keys.values()), part


def _mean_of(found: list[tuple[str, Measure, Measure, Measure]]) -> tuple[str, Measure, Measure, Measure]:
    """The judges' mean: one number of the whole panel of judges."""

    def averaged(position: int) -> Measure:
        members: list[Measure] = [(f[1], f[2], f[3])[position] for f in found]
        parts: list[Finalise] = [m.finalise for m in members]

        def finalise(totals: Array) -> Array:
            return np.asarray(np.mean([p(totals) for p in parts], axis=0), dtype=np.float64)

        return replace(members[0], finalise=finalise, n_ratings=sum(m.n_ratings for m in members))

    return "", averaged(0), averaged(1), averaged(2)
