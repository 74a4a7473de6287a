"""The results of a study with interim analyses: looks, and the estimate adjusted for them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from konsil.analysis import Results, Row
from konsil.analysis.model.message import message
from konsil.analysis.table.frame import Data
from konsil.errors import AnalysisError
from konsil.records import Event
from konsil.study.data.interim import (
    early_warning,
    final_estimate,
    interim_sentences,
    progress_of,
    taken_looks,
)
from konsil.study.definition.protocol import Study


def with_looks(results: Results, study: Study, data: Data, events: Sequence[Event]) -> Results:
    """The results with the looks that were made, and the primary analysis adjusted for them.

    The tables keep the estimates of the analysis, with a note. Where looks were made and the
    analysis has no adjusted estimate, it is exploratory. Results of studies without interim
    analyses stay as they are.
    """
    if study.interim is None:
        return results
    progress = progress_of(study, study.interim, data)
    early = early_warning(progress, events) if study.interim.comparative else None
    warnings = (*results.warnings, *(() if early is None else (early,)))
    adjusted = None
    try:
        adjusted = final_estimate(study, events, results.rows, progress)
    except (AnalysisError, ValueError) as error:
        warnings = (*warnings, str(error))
    taken = taken_looks(events)
    if adjusted is None and any(look.kind == "comparative" for look in taken):
        results = _exploratory(results, study.interim.analysis)
    note = message(
        "Not adjusted for the interim analyses; the adjusted estimate is in the methods.",
        message_id="interim.unadjusted_row",
    )
    rows = results.rows
    if adjusted is not None:
        rows = tuple(
            _with_note(row, note) if row.analysis == adjusted.analysis else row for row in rows
        )
    sentences = interim_sentences(study, events, adjusted) if taken else ()
    return replace(
        results,
        rows=rows,
        warnings=warnings,
        methods=(*results.methods, *sentences),
        sequential=adjusted,
    )


def _with_note(row: Row, note: str) -> Row:
    return replace(row, warnings=(*row.warnings, note)) if row.kind != "companion" else row


def _exploratory(results: Results, analysis: str) -> Results:
    rows = tuple(
        replace(row, prespecified=False) if row.analysis == analysis else row
        for row in results.rows
    )
    return replace(results, rows=rows, plan={**results.plan, analysis: "exploratory"})
