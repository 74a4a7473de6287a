"""konsil preference: any table of comparisons."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from konsil.analysis.standalone.preference_request import PreferenceRequest
from konsil.cli.opening import result_of
from konsil.cli.printout import Printout, with_json
from konsil.cli.reading import FileOrUrl, conditions, data_set_of, of_a_table
from konsil.cli.request_options import options_of
from konsil.cli.requirements import Requirement, requirement_option, unmet
from konsil.cli.unclear_tables import with_command
from konsil.errors import UnclearTableError
from konsil.records.source import FileSettings
from konsil.stats.engine.contract import Estimate

if TYPE_CHECKING:
    from konsil.analysis.standalone.preference_table import HeadToHead


@click.command(short_help="Compute preference statistics for a table of comparisons.")
@click.argument("files", type=FileOrUrl(), nargs=-1, required=True, metavar="FILE...")
@options_of(
    PreferenceRequest,
    convert={"where": conditions, "missing": lambda words: ("", *words)},
    after={"missing": of_a_table},
)
@requirement_option
@with_json
def command(
    files: tuple[Path | str, ...],
    settings: FileSettings,
    workers: str,
    request: PreferenceRequest,
    requirements: tuple[Requirement, ...],
) -> Printout:
    """Compute preference statistics for a table of comparisons, one per row, or counts of wins.

    The table is a CSV, TSV, JSONL, Parquet, XLSX, SPSS or Stata file, a tool's export, or a folder
    of Parquet files, which may be a URL (s3://BUCKET/FOLDER). Several files are read as one table,
    in which a column 'file' has their names. Results are win differences and win rates
    with item- and rater-clustered CIs, and strength parameters of the Davidson and Bradley-Terry
    models. Results that cannot be estimated are empty, with the reason.
    """
    try:
        result = _preference(files, settings, workers, request)
    except UnclearTableError as error:
        return Printout({"reading": error.reading}, (), error)

    def show() -> None:
        from konsil.cli import preference_tables

        preference_tables.show(result)

    return Printout(result.to_dict(), show, unmet(requirements, _numbers(result)))


def _numbers(result: HeadToHead) -> Iterator[tuple[str, list[str], Estimate]]:
    """The numbers of each system, or pair of systems: the statistic, its names and the estimate."""
    for group, part in (result.groups or {"": result}).items():
        for statistic in ("win_difference", "win_rate", "mean_preference"):
            for entry in getattr(part, statistic):
                sides = [entry[side] for side in ("system", "rival") if side in entry]
                ends = (entry.get(name) for name in ("value", "low", "high"))
                value, low, high = (math.nan if end is None else end for end in ends)
                yield statistic, [group, " over ".join(sides)], Estimate(value, low, high)


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
