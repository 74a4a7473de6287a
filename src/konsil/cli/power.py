"""konsil power: what a study will find, and how surely, before anybody is invited."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import click

from konsil.api.rehearsal.requests import PowerRequest
from konsil.cli.folder import on_folder
from konsil.cli.printout import Printout, with_json
from konsil.cli.request_options import options_of
from konsil.progress import verbosity

_MANY = 20
"""Studies from which starting further processes takes less time than they save."""


@click.command(short_help="Estimate precision and power by simulation of the whole study.")
@on_folder
@options_of(PowerRequest)
@click.option(
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write all results as .csv or .json.",
)
@with_json
def command(folder: Path, database: str, request: PowerRequest, output: Path | None) -> Printout:
    """Simulate the study in FOLDER many times with its plan and analyses, and summarise results.

    For each estimate: the mean, the mean and the 90th percentile of the CI width, and for tests the
    proportion of studies with p <= 0.05, with its 95% CI, before and after Holm adjustment. The
    study itself is not changed.
    """
    from rich.progress import track
    from rich.table import Table

    from konsil.api.rehearsal.power import Design, interval_lines, power_table, studies, write
    from konsil.cli.terminal import is_terminal, progress_console, table_console
    from konsil.simulate.power import power

    drawn = studies(Design(folder, _on_cores(request), database))
    quiet = progress_console()
    rows = power(
        track(
            drawn,
            "studies",
            total=request.studies,
            console=quiet,
            disable=not quiet.is_terminal or verbosity() == "quiet",
            transient=True,
        )
    )
    if output is not None:
        write(rows, output)

    def show() -> None:
        head, *lines = power_table(rows)
        table = Table(*head, box=None, pad_edge=False)
        for line in lines:
            table.add_row(*line)
        table_console(width=None if is_terminal() else 160).print(table)
        click.echo(
            f"{request.studies} simulated studies; power: proportion with p <= 0.05, with its 95%"
            " CI; Holm: after Holm adjustment"
        )
        for sentence in interval_lines(rows):
            click.echo(sentence)
        if output is not None:
            click.echo(f"{output}: all results")

    return Printout({"studies": request.studies, "rows": rows, "output": output}, show)


def _on_cores(request: PowerRequest) -> PowerRequest:
    """The request with a process for each core, unless it states the number or there are few."""
    from konsil.compute.cores import n_cores

    if request.processes is not None or request.studies < _MANY:
        return request
    return replace(request, processes=min(n_cores(), request.studies))
