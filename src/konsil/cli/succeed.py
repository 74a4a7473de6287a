"""konsil succeed: somebody new takes over a place that nobody has."""

from __future__ import annotations

from pathlib import Path

import click

from konsil.cli.folder import acting, on_folder


@click.command(short_help="List vacant rater slots or assign a successor.")
@on_folder
@click.option("--slot", metavar="SLOT", help="Which place. [only list them]")
@click.option("--rater", metavar="ID", help="Who takes it over: a new pseudonym, never a name.")
@acting("names them")
def command(folder: Path, database: str, slot: str | None, rater: str | None, by: str) -> None:
    """Give a place of the study in FOLDER that nobody has since somebody withdrew to somebody new.

    All that waits in it is then theirs, and they can be invited. Without --slot, the places that
    wait.
    """
    from konsil.api import open_folder
    from konsil.api.running.running import succeed, vacant
    from konsil.errors import StudyError

    opened = open_folder(folder, database=database)
    if slot is None:
        if rater is not None:
            raise StudyError("--slot: name the place that --rater takes over")
        if by:
            raise StudyError(
                "--slot: name the slot that somebody takes over; without it nothing is written"
            )
        for vacancy in vacant(opened):
            # How many tie-breaks wait is an outcome, and is not said.
            screens = (
                f"{vacancy.screens:,} screens wait"
                if vacancy.screens or not vacancy.breaks_ties
                else "tie-breaks may wait"
            )
            click.echo(f"{vacancy.slot}: {screens}")
        return
    if rater is None:
        raise StudyError(f"--rater: name who takes over {slot!r}")
    succeed(opened, slot, rater, by=by)
    click.echo(f"{slot}: now {rater.strip()}'s; next: konsil invite {folder} --who {rater.strip()}")
