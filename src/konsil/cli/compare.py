"""konsil compare: proportions, means and differences of any table of ratings."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from konsil.analysis.running.comparing.compare_request import CompareRequest
from konsil.cli.opening import result_of
from konsil.cli.printout import Printout, with_json
from konsil.cli.reading import conditions, of_a_table, recoding
from konsil.cli.request_options import options_of
from konsil.cli.requirements import Requirement, requirement_option, unmet
from konsil.errors import KonsilError, UnclearTableError
from konsil.records.source import FileSettings
from konsil.report.manuscript.request import Form

if TYPE_CHECKING:
    from konsil.analysis.running.comparing.compare_result import GroupComparison


@click.command(short_help="Compare systems or groups of a table of ratings.")
@click.argument(
    "files", type=click.Path(path_type=Path), nargs=-1, required=True, metavar="FILE..."
)
@options_of(
    CompareRequest,
    convert={
        "where": conditions,
        "recode": recoding,
        "missing": lambda words: ("", *words),
    },
    after={"seed": of_a_table},
)
@click.option(
    "--to",
    "forms",
    multiple=True,
    type=click.Choice(("docx", "latex", "markdown", "xlsx")),
    help="Also write Table 2, figures and methods in this format; repeatable.",
)
@click.option(
    "--output",
    type=click.Path(path_type=Path),
    help="Folder of these files; default: comparison.",
)
@requirement_option
@with_json
def command(
    files: tuple[Path, ...],
    settings: FileSettings,
    workers: str,
    request: CompareRequest,
    forms: tuple[Form, ...],
    output: Path | None,
    requirements: tuple[Requirement, ...],
) -> Printout:
    """Compare the systems or groups of a table of ratings, with cluster-robust CIs.

    Proportions of a success, or means with standard deviations and medians of numbers, and the
    differences of all pairs or to a reference, with p values (Holm). Units that were rated for
    several systems are compared as paired. The numbers are those of a study with the same ratings.
    The table is a CSV, TSV, JSONL, Parquet, XLSX, SPSS or Stata file, or a tool's export; several
    files are read as one table, in which a column 'file' has their names.
    """
    if output is not None and not forms:
        raise KonsilError("--output: nothing is written without --to; expected both")
    from konsil.analysis.model.rows import group_text

    try:
        result = _comparison(files, settings, workers, request)
    except UnclearTableError as refusal:
        return Printout({"reading": refusal.reading}, (), refusal)
    named = [(row.statistic, [group_text(row)], row.estimate) for row in result.estimates]
    named += [("difference", [group_text(row)], row.estimate) for row in result.differences]
    error = unmet(requirements, named)
    paths = []
    if forms:
        from konsil.report.manuscript.comparison import write_comparison

        paths = write_comparison(result, files[0].name, forms, output or Path("comparison"))

    def show() -> None:
        from konsil.cli import comparison_tables

        comparison_tables.show(result, paths)

    record = {**result.to_dict(), "files": [str(path) for path in paths]}
    return Printout(record, show, error)


def _comparison(
    files: Sequence[Path], settings: FileSettings, workers: str, request: CompareRequest
) -> GroupComparison:
    from konsil.analysis.running.comparing.compare import compare_groups
    from konsil.compute.cores import is_cores, on_cores

    if workers and not is_cores(workers):
        raise KonsilError(f"--compute {workers}: comparisons are computed here; expected cores:N")
    with on_cores(workers):
        return result_of(files, settings, request, compare_groups)
