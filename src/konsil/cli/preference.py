"""konsil preference: any table of comparisons."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from konsil.analysis.standalone.preference_request import PreferenceRequest
from konsil.cli.opening import result_of
from konsil.cli.printout import Printout, with_json
from konsil.cli.reading import FileOrUrl, conditions, data_set_of, of_a_table
from konsil.cli.request_options import options_of
from konsil.cli.unclear_tables import with_command
from konsil.errors import UnclearTableError
from konsil.records.source import FileSettings

if TYPE_CHECKING:
    from konsil.analysis.standalone.preference_table import HeadToHead


@click.command(short_help="Compute preference statistics for a table of comparisons.")
@click.argument("files", type=FileOrUrl(), nargs=-1, required=True, metavar="FILE...")
@options_of(
    PreferenceRequest,
    convert={"where": conditions, "missing": lambda words: ("", *words)},
    after={"missing": of_a_table},
)
@with_json
def command(
    files: tuple[Path | str, ...],
    settings: FileSettings,
    workers: str,
    request: PreferenceRequest,
) -> Printout:
    """Compute preference statistics for a table of comparisons, one per row, or counts of wins.

    The table is a CSV, TSV, JSONL, Parquet or XLSX file, or a folder of Parquet files, which may be
    a URL (s3://BUCKET/FOLDER), or a tool's export; several files are read as one table, in which a
    column 'file' has their names. Results are win differences and win rates with item- and
    rater-clustered CIs, and strength parameters of the Davidson and Bradley-Terry models. Results
    that cannot be estimated are empty, with the reason.
    """
    try:
        result = _preference(files, settings, workers, request)
    except UnclearTableError as error:
        return Printout({"reading": error.reading}, (), error)

    def show() -> None:
        from konsil.cli import preference_tables

        preference_tables.show(result)

    return Printout(result.to_dict(), show)


def _preference(
    files: Sequence[Path | str], settings: FileSettings, workers: str, request: PreferenceRequest
) -> HeadToHead:
    from konsil.analysis.standalone.preference_table import estimate_preference
    from konsil.compute.cores import on_cores

    data_set = data_set_of(files, workers)
    if data_set is not None:
        from konsil.api.datasets.preferences import preference_of_data_set

        with with_command(PreferenceRequest):
            return preference_of_data_set(data_set, request, workers)
    with on_cores(workers):
        return result_of([Path(file) for file in files], settings, request, estimate_preference)
