"""konsil preference: any table of comparisons."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from konsil.analysis.standalone.preference_request import PreferenceRequest
from konsil.cli.printout import Printout, with_json
from konsil.cli.reading import FileOrUrl, check_data_set, conditions, of_a_table, table_of
from konsil.cli.request_options import options_of
from konsil.cli.unclear_tables import unclear_file, with_command, with_file_notes
from konsil.errors import UnclearTableError
from konsil.records.source import FileSettings

if TYPE_CHECKING:
    from konsil.analysis.standalone.preference_table import HeadToHead


@click.command(short_help="Compute preference statistics for a table of comparisons.")
@click.argument("file", type=FileOrUrl())
@options_of(
    PreferenceRequest,
    convert={"where": conditions, "missing": lambda words: ("", *words)},
    after={"missing": of_a_table},
)
@with_json
def command(
    file: Path | str,
    settings: FileSettings,
    workers: str,
    request: PreferenceRequest,
) -> Printout:
    """Compute preference statistics for a table of comparisons, one per row, or counts of wins.

    The table is a CSV, TSV, JSONL, Parquet or XLSX file, or a folder of Parquet files, which may be
    a URL (s3://BUCKET/FOLDER). Results are win differences and win rates with item- and
    rater-clustered CIs, and strength parameters of the Davidson and Bradley-Terry models. Results
    that cannot be estimated are empty, with the reason.
    """
    try:
        result = _preference(file, settings, workers, request)
    except UnclearTableError as error:
        return Printout({"reading": error.reading}, (), error)

    def show() -> None:
        from konsil.cli import preference_tables

        preference_tables.show(result)

    return Printout(result.to_dict(), show)


def _preference(
    file: Path | str, settings: FileSettings, workers: str, request: PreferenceRequest
) -> HeadToHead:
    from konsil.analysis.standalone.preference_table import estimate_preference
    from konsil.compute.cores import is_cores, on_cores
    from konsil.sources.files.datasets import is_data_set

    if (workers and not is_cores(workers)) or isinstance(file, str) or is_data_set(file):
        from konsil.api.datasets.preferences import preference_of_data_set

        check_data_set(file)
        with with_command(PreferenceRequest):
            return preference_of_data_set(file, request, workers)
    table = table_of(file, settings)
    options = replace(
        request.votes_options(),
        line=table.line,
        name=table.name,
        unclear=unclear_file(table, settings),
    )
    with on_cores(workers), with_command(PreferenceRequest, table):
        result = estimate_preference(table.frame, request, options)
    return with_file_notes(result, table, settings)
