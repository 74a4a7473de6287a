"""konsil agreement: any table of ratings."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from konsil.analysis.standalone.agreement_request import AgreementRequest
from konsil.cli.opening import result_of
from konsil.cli.printout import Printout, with_json
from konsil.cli.reading import (
    FileOrUrl,
    conditions,
    data_set_of,
    of_a_table,
    recoding,
    weights_of,
)
from konsil.cli.request_options import options_of
from konsil.cli.requirements import Requirement, requirement_option, unmet
from konsil.cli.unclear_tables import with_command
from konsil.errors import UnclearTableError, UnmetRequirementError
from konsil.records.source import FileSettings

if TYPE_CHECKING:
    from konsil.analysis.standalone.agreement_result import Agreement


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
    after={"seed": of_a_table},
)
@requirement_option
@with_json
def command(
    files: tuple[Path | str, ...],
    settings: FileSettings,
    workers: str,
    request: AgreementRequest,
    requirements: tuple[Requirement, ...],
) -> Printout:
    """Compute agreement statistics for a table of ratings, with cluster-robust CIs.

    The table is a CSV, TSV, JSONL, Parquet, XLSX, SPSS or Stata file, a tool's export, or a folder
    of Parquet files, which may be a URL (s3://BUCKET/FOLDER). Several files are read as one table,
    in which a column 'file' has their names. Statistics that cannot be estimated are
    empty, with the reason; they are never printed as 0 or 1.
    """
    try:
        result = _agreement(files, settings, workers, request)
    except UnclearTableError as error:
        return Printout({"reading": error.reading}, (), error)

    def show() -> None:
        from konsil.cli import agreement_tables

        agreement_tables.show(result)

    return Printout(result.to_dict(), show, _unmet(result, requirements))


def _unmet(result: Agreement, requirements: Sequence[Requirement]) -> UnmetRequirementError | None:
    if not requirements:
        return None
    from konsil.analysis.agreement.agreement_statistics import full_name

    results = result.groups or {"": result}
    named = ((s.name, [group], s.estimate) for group, r in results.items() for s in r.statistics)
    return unmet(requirements, named, full_name)


def _agreement(
    files: Sequence[Path | str], settings: FileSettings, workers: str, request: AgreementRequest
) -> Agreement:
    from konsil.analysis.standalone.agreement import estimate_agreement
    from konsil.compute.cores import on_cores

    data_set = data_set_of(files, workers)
    if data_set is not None:
        from konsil.api.datasets.agreements import agreement_of_data_set

        with with_command(AgreementRequest):
            return agreement_of_data_set(data_set, request, workers)
    with on_cores(workers):
        return result_of([Path(file) for file in files], settings, request, estimate_agreement)
