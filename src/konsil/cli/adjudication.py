"""konsil adjudication: what raters who differ look at together, and the end of a round."""

from __future__ import annotations

from pathlib import Path

import click

from konsil.cli.folder import decider, deciding, on_folder


@click.command(short_help="List, open or close the adjudication of disagreements.")
@on_folder
@click.option("--open", "opens", is_flag=True, help="Open all pending disagreements; needs --by.")
@click.option(
    "--close",
    "closes",
    is_flag=True,
    help="Close the open round (labels become final); needs --by.",
)
@deciding
def command(folder: Path, database: str, opens: bool, closes: bool, by: str) -> None:
    """List the adjudication rounds of the study in FOLDER, and the items of the open round.

    When a round is closed, its labels become final; undecided tasks keep their previous label.
    """
    from konsil.api import open_folder
    from konsil.api.running.adjudication import adjudication, close_round, lines_of, open_waiting
    from konsil.cli.terminal import show
    from konsil.errors import StudyError

    opened = open_folder(folder, database=database)
    if opens and closes:
        raise StudyError("--open and --close: expected one of them")
    if by and not (opens or closes):
        raise StudyError("--by: is for --open and --close; without them nothing is written")
    if opens:
        n = open_waiting(opened, decider(by, "--open"))
        click.echo(f"opened: {n:,} {'disagreement' if n == 1 else 'disagreements'}")
    elif closes:
        ended = close_round(opened, decider(by, "--close"))
        click.echo(
            f"round {ended.number}: now closed; {ended.n_decided:,} of {len(ended.screens):,}"
            f" tasks decided, {ended.ratings:,} ratings collected before"
        )
    else:
        for line in lines_of(adjudication(opened)):
            click.echo(show(line))
