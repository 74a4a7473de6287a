"""konsil agreement: any table of ratings."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from konsil.analysis.roles.reading import StatedRoles
from konsil.analysis.standalone.agreement_request import AgreementRequest
from konsil.cli.printout import Printout, with_json
from konsil.cli.reading import (
    FileOrUrl,
    check_data_set,
    conditions,
    of_a_table,
    recoding,
    table_and_export_of,
    weights_of,
)
from konsil.cli.request_options import options_of
from konsil.cli.unclear_tables import file_notes, unclear_file, with_command
from konsil.errors import UnclearTableError
from konsil.records.source import FileSettings

if TYPE_CHECKING:
    from konsil.analysis.standalone.agreement_result import Agreement


@click.command(short_help="Compute agreement statistics for a table of ratings.")
@click.argument("file", type=FileOrUrl())
@options_of(
    AgreementRequest,
    convert={
        "where": conditions,
        "recode": recoding,
        "weights": weights_of,
        "missing": lambda words: ("", *words),
    },
    after={"missing": of_a_table},
)
@with_json
def command(
    file: Path | str,
    settings: FileSettings,
    workers: str,
    request: AgreementRequest,
) -> Printout:
    """Compute agreement statistics for a table of ratings, with cluster-robust CIs.

    The table is a CSV, TSV, JSONL, Parquet or XLSX file, or a folder of Parquet files, which may be
    a URL (s3://BUCKET/FOLDER). Statistics that cannot be estimated are empty, with the reason; they
    are never printed as 0 or 1.
    """
    try:
        result = _agreement(file, settings, workers, request)
    except UnclearTableError as error:
        return Printout({"reading": error.reading}, (), error)

    def show() -> None:
        from konsil.cli import agreement_tables

        agreement_tables.show(result)

    return Printout(result.to_dict(), show)


def _agreement(
    file: Path | str, settings: FileSettings, workers: str, request: AgreementRequest
) -> Agreement:
    from konsil.analysis.standalone.agreement import estimate_agreement
    from konsil.compute.cores import is_cores, on_cores
    from konsil.sources.files.datasets import is_data_set

    if (workers and not is_cores(workers)) or isinstance(file, str) or is_data_set(file):
        from konsil.api.datasets.agreements import agreement_of_data_set

        check_data_set(file)
        with with_command(AgreementRequest):
            return agreement_of_data_set(file, request, workers)
    table, export = table_and_export_of(file, settings)
    options = replace(
        request.table_options(),
        line=table.line,
        place=table.place,
        name=table.name,
        unclear=unclear_file(table, settings),
    )
    if export is not None:
        roles = StatedRoles(
            layout=export.layout,
            units=export.units,
            raters=export.raters,
            labels=export.labels,
            unused=export.unused,
        )
        options = replace(options, tool_roles=roles, question=export.question)
    with on_cores(workers), with_command(AgreementRequest, table):
        result = estimate_agreement(table.frame, request, options)
    notes = [*file_notes(table, settings), *([] if export is None else [export.statement])]
    reading = "; ".join(text for text in (*notes, result.reading) if text)
    return replace(result, reading=reading)
