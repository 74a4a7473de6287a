"""konsil rehearse: the whole study by simulated raters, through its pages."""

from __future__ import annotations

from pathlib import Path

import click

from konsil.api.rehearsal.requests import RehearsalRequest
from konsil.cli.folder import on_folder
from konsil.cli.request_options import options_of


@click.command(short_help="Run the study on a copy with simulated raters and write its report.")
@on_folder
@options_of(RehearsalRequest)
def command(folder: Path, database: str, request: RehearsalRequest) -> None:
    """Rehearse the study in FOLDER before anybody is invited, in a new folder beside it.

    A copy without ratings is served on this machine. One simulated rater for each person of the
    plan comes in by an invitation and rates through the pages, tie-breaks included. What judges say
    is drawn: no model is asked. The report of the copy says everywhere that its ratings are
    simulated. The study itself is only read. With --browser some of them sit at a real browser and
    use its keyboard alone.
    """
    from konsil.api import open_folder
    from konsil.api.rehearsal.rehearsing import rehearse, time_lines

    opened = open_folder(folder, database=database)
    rehearsed = rehearse(opened, request, say=lambda line: click.echo(line, err=True))
    for line in time_lines(rehearsed):
        click.echo(line)
    pages, faults = sum(rehearsed.outcome.handed_in.values()), rehearsed.outcome.times.faults
    click.echo(
        f"{pages:,} of {rehearsed.planned:,} pages in {rehearsed.outcome.seconds:.1f} s;"
        f" {len(faults)} faults"
    )
    for fault in faults[:10]:
        click.echo(f"  {fault}")
    if rehearsed.report is not None:
        click.echo(f"report: {rehearsed.report}")
    if faults:
        raise SystemExit(1)
