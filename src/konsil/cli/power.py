"""konsil power: what a study will find, and how surely, before anybody is invited."""

from __future__ import annotations

from pathlib import Path

import click

from konsil.api.rehearsal.requests import PowerRequest
from konsil.cli.folder import on_folder
from konsil.cli.request_options import options_of


@click.command(short_help="Estimate precision and power by simulation of the whole study.")
@on_folder
@options_of(PowerRequest)
@click.option(
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Every number, as .csv or .json.",
)
def command(folder: Path, database: str, request: PowerRequest, output: Path | None) -> None:
    """Simulate the study in FOLDER many times, with its plan and analyses, and sum up the results.

    For every estimate: its mean, the mean width of its interval, the width that nine in ten do not
    pass, and where it is tested the share of studies with p up to 0.05, with its own interval, and
    after Holm's adjustment. The study is only read.
    """
    from rich.progress import track
    from rich.table import Table

    from konsil.api.rehearsal.power import Design, power_table, studies, write
    from konsil.cli.terminal import is_terminal, progress_console, table_console
    from konsil.simulate.power import power

    drawn = studies(Design(folder, request, database))
    quiet = progress_console()
    rows = power(
        track(
            drawn,
            "studies",
            total=request.studies,
            console=quiet,
            disable=not quiet.is_terminal,
            transient=True,
        )
    )
    head, *lines = power_table(rows)
    table = Table(*head, box=None, pad_edge=False)
    for line in lines:
        table.add_row(*line)
    table_console(width=None if is_terminal() else 160).print(table)
    click.echo(
        f"{request.studies} drawn studies; power: share with p up to 0.05, with its 95 % interval;"
        " Holm: after adjustment"
    )
    if output is not None:
        write(rows, output)
        click.echo(f"{output}: every number")
