"""konsil power: what a study will find, and how surely, before anybody is invited."""

from __future__ import annotations

from pathlib import Path

import click

from konsil.cli.folder import on_folder


@click.command(short_help="Estimate precision and power by simulation of the whole study.")
@on_folder
@click.option(
    "--studies",
    "n",
    default=200,
    type=click.IntRange(2),
    show_default=True,
    help="Studies to draw.",
)
@click.option(
    "--truth",
    type=click.Path(path_type=Path),
    help="What is assumed; default: FOLDER/simulation.toml.",
)
@click.option(
    "--items",
    type=click.IntRange(1),
    help="Number of simulated items to use instead of the study's own.",
)
@click.option("--exploratory", is_flag=True, help="Analyses that are not prespecified, too.")
@click.option("--seed", type=int, help="Another seed than the study's.")
@click.option(
    "--resamples",
    default=400,
    type=click.IntRange(40),
    show_default=True,
    help="Resamples of each study.",
)
@click.option(
    "--processes", default=1, type=click.IntRange(1), show_default=True, help="Processes that draw."
)
@click.option(
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Every number, as .csv or .json.",
)
def command(
    folder: Path,
    database: str,
    n: int,
    truth: Path | None,
    items: int | None,
    exploratory: bool,
    seed: int | None,
    resamples: int,
    processes: int,
    output: Path | None,
) -> None:
    """Simulate the study in FOLDER many times, with its plan and analyses, and sum up the results.

    For every estimate: its mean, the mean width of its interval, the width that nine in ten do not
    pass, and where it is tested the share of studies with p up to 0.05, with its own interval, and
    after Holm's adjustment. The study is only read.
    """
    from rich.progress import track
    from rich.table import Table

    from konsil.api import open_folder
    from konsil.api.rehearsal.power import Design, power_table, studies, write
    from konsil.cli.terminal import is_terminal, progress_console, table_console
    from konsil.simulate.power import power

    design = Design(folder, database, truth, items, exploratory, resamples)
    first = open_folder(folder, database=database).study.seed if seed is None else seed
    drawn = studies(design, n, first, processes)
    quiet = progress_console()
    rows = power(
        track(
            drawn, "studies", total=n, console=quiet, disable=not quiet.is_terminal, transient=True
        )
    )
    head, *lines = power_table(rows)
    table = Table(*head, box=None, pad_edge=False)
    for line in lines:
        table.add_row(*line)
    table_console(width=None if is_terminal() else 160).print(table)
    click.echo(
        f"{n} drawn studies; power: share with p up to 0.05, with its 95 % interval; Holm: after"
        " adjustment"
    )
    if output is not None:
        write(rows, output)
        click.echo(f"{output}: every number")
