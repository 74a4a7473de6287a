"""konsil agreement: any table of ratings."""

from __future__ import annotations

from collections.abc import Sequence
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
    other_settings,
    recoding,
    table_and_export_of,
    weights_of,
)
from konsil.cli.request_options import options_of
from konsil.cli.unclear_tables import unclear_file, with_command, with_file_notes
from konsil.errors import SourceError, UnclearTableError
from konsil.records.source import FileSettings

if TYPE_CHECKING:
    from konsil.analysis.standalone.agreement_result import Agreement
    from konsil.sources.exports.export import Export
    from konsil.sources.files.table import Table


@click.command(short_help="Compute agreement statistics for a table of ratings.")
@click.argument("files", type=FileOrUrl(), nargs=-1, required=True, metavar="FILE...")
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
    files: tuple[Path | str, ...],
    settings: FileSettings,
    workers: str,
    request: AgreementRequest,
) -> Printout:
    """Compute agreement statistics for a table of ratings, with cluster-robust CIs.

    The table is a CSV, TSV, JSONL, Parquet or XLSX file, or a folder of Parquet files, which may be
    a URL (s3://BUCKET/FOLDER). Several files are read as one table, in which a column 'file' has
    their names. Statistics that cannot be estimated are empty, with the reason; they are never
    printed as 0 or 1.
    """
    try:
        result = _agreement(files, settings, workers, request)
    except UnclearTableError as error:
        return Printout({"reading": error.reading}, (), error)

    def show() -> None:
        from konsil.cli import agreement_tables

        agreement_tables.show(result)

    return Printout(result.to_dict(), show)


def _agreement(
    files: Sequence[Path | str], settings: FileSettings, workers: str, request: AgreementRequest
) -> Agreement:
    from konsil.compute.cores import is_cores
    from konsil.sources.files.datasets import is_data_set

    for file in files:
        if (workers and not is_cores(workers)) or isinstance(file, str) or is_data_set(file):
            from konsil.api.datasets.agreements import agreement_of_data_set

            check_data_set(file)
            if len(files) > 1:
                raise SourceError(f"{file}: expected one data set, or several files, got both")
            with with_command(AgreementRequest):
                return agreement_of_data_set(file, request, workers)
    paths = [Path(file) for file in files]
    table, export = table_and_export_of(paths, settings)
    try:
        return _of_table(table, export, settings, workers, request)
    except UnclearTableError as error:
        others = other_settings(table, settings)
        if others == settings or (error.arguments and not others.path):
            raise
        try:
            table, export = table_and_export_of(paths, others)
        except SourceError:
            # The sheets, or the records, are not tables of the same columns.
            raise error from None
    return _of_table(table, export, settings, workers, request)


def _of_table(
    table: Table,
    export: Export | None,
    settings: FileSettings,
    workers: str,
    request: AgreementRequest,
) -> Agreement:
    from konsil.analysis.standalone.agreement import estimate_agreement
    from konsil.compute.cores import on_cores

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
    elif table.stacked_by:
        roles = StatedRoles(layout="long", raters=(table.stacked_by,))
        question = f"Is each {table.stacked_by} that of one rater?"
        options = replace(options, tool_roles=roles, question=question)
    with on_cores(workers), with_command(AgreementRequest, table):
        result = estimate_agreement(table.frame, request, options)
    if export is not None:
        texts = (export.statement, result.reading)
        result = replace(result, reading="; ".join(filter(None, texts)))
    return with_file_notes(result, table, settings)
