"""Which rows an analysis of judges has, and of whether raters could tell whose answers they saw."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from konsil.analysis.judges.abstention_slope import caution_rows
from konsil.analysis.judges.blinding import blinding_rows
from konsil.analysis.judges.ensembles import ensemble_rows
from konsil.analysis.judges.injections import injection_rows
from konsil.analysis.judges.preference import preference_rows
from konsil.analysis.judges.risk import risk_rows
from konsil.analysis.model.catalogue.known import statistic_of
from konsil.analysis.model.context import Context
from konsil.analysis.model.rows import Row
from konsil.analysis.table.frame import RatingTable
from konsil.analysis.table.lineage import Lineage


def judge_rows(
    context: Context, table: RatingTable, frame: pl.DataFrame, lineage: Lineage
) -> Iterator[Row]:
    """The rows of an analysis of judges; `frame` has its ratings."""
    match statistic_of(context.analysis.statistic).group:
        case "caution":
            yield from caution_rows(context, table, frame)
        case "ensembles":
            yield from ensemble_rows(context, table, frame)
        case "own":
            yield from preference_rows(context, table, frame, lineage)
        case "confidence":
            yield from risk_rows(context, table, frame)
        case "blinding":
            yield from blinding_rows(context, frame)
        case "injection":
            yield from injection_rows(context, table)
