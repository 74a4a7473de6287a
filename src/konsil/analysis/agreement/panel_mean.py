"""Judges against a panel's average: the mean number of its labels and the nearest label."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl

from konsil.analysis.agreement.groups import agreement_of
from konsil.analysis.estimation.group_estimates import Group
from konsil.analysis.model.context import Context
from konsil.analysis.model.message import message
from konsil.analysis.model.sample import Sample, judges_and_panel
from konsil.analysis.table.encoding import groups, sample_of, select
from konsil.analysis.table.frame import RatingTable
from konsil.stats.engine.contract import Array, IntArray


def average_groups(context: Context, table: RatingTable, frame: pl.DataFrame) -> list[Group]:
    """Each judge, or all judges averaged as one rater, with the panel's average label, by group."""
    analysis = context.analysis
    panel_frame = select(table, analysis, str(analysis.against))
    by = [column for column in analysis.by if column != "rater"]
    judged = {tuple(keys.values()): part for keys, part in groups(frame, by)}
    mean_groups = []
    for keys, part in groups(panel_frame, by) if panel_frame.height else ():
        theirs = judged.get(tuple(keys.values()))
        if theirs is None:
            continue
        panel = _sample(context, part)
        judges = _sample(context, theirs)
        codes, names = judges_and_panel(panel, judges)
        n = len(panel.raters)
        ours, halves = nearest_label(
            panel.codes.labels, np.asarray(panel.codes.values, dtype=np.float64)
        )
        columns = {name: codes.labels[:, n + m] for m, name in enumerate(names)}
        if "rater" not in analysis.by and len(names) > 1:
            columns = {
                "": nearest_label(codes.labels[:, n:], np.asarray(codes.values, dtype=np.float64))[
                    0
                ]
            }
        note = message(
            (
                "{n:,} of {all:,} units were excluded because the mean of {panel} is halfway"
                " between two labels."
            ),
            n=int(halves.sum()),
            all=len(panel.units),
            panel=repr(analysis.against),
        )
        for name, column in columns.items():
            two = replace(panel.codes, labels=np.column_stack([ours, column]).astype(np.int32))
            group_keys = {**keys, "rater": name} if "rater" in analysis.by else keys
            sample = replace(
                panel, codes=two, raters=(str(analysis.against), name or analysis.raters)
            )
            group = agreement_of(context, group_keys, sample)
            notes = (*group.summary.notes, *([note] if halves.any() else []))
            mean_groups.append(replace(group, summary=replace(group.summary, notes=notes)))
    return mean_groups


def nearest_label(
    labels: IntArray | np.ndarray[tuple[int, ...], np.dtype[np.signedinteger]], values: Array
) -> tuple[IntArray, np.ndarray[tuple[int, ...], np.dtype[np.bool_]]]:
    """The label nearest to the mean of each unit's labels, -1 if none; and if it is halfway.

    `labels` (n_units, n_raters), -1 where a rater gave none; `values` rise. A mean halfway between
    two labels has no nearest label.

    >>> nearest_label(np.array([[0, 0, 1], [0, 1, -1]]), np.array([0.0, 1.0]))
    (array([ 0, -1]), array([False,  True]))
    """
    is_labelled = labels >= 0
    n = is_labelled.sum(axis=1)
    mean = np.where(is_labelled, values[np.maximum(labels, 0)], 0.0).sum(axis=1) / np.maximum(n, 1)
    far = np.abs(mean[:, None] - values)
    best = far.argmin(axis=1)
    # Halfway but for rounding is halfway.
    halfway = (n > 0) & ((far <= far.min(axis=1, keepdims=True) + 1e-9).sum(axis=1) > 1)
    return np.where((n > 0) & ~halfway, best, -1).astype(np.int64), halfway


def _sample(context: Context, frame: pl.DataFrame) -> Sample:
    return sample_of(context, frame, tuple(frame.get_column("rater").unique().sort().to_list()))
