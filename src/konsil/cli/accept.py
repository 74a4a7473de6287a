"""konsil accept: forms whose wording was changed."""

from __future__ import annotations

from pathlib import Path

import click

from konsil.cli.folder import on_folder


@click.command(short_help="Accept a change of a form's wording after ratings were collected.")
@on_folder
@click.option(
    "--reason",
    required=True,
    metavar="TEXT",
    help="Why the ratings still mean the same, for the report.",
)
@click.option("--by", required=True, metavar="NAME", help="Who accepts it, for the log.")
@click.option(
    "--former",
    type=click.Path(path_type=Path),
    help="The study.toml as it was, where the log does not keep the form.",
)
def command(folder: Path, database: str, reason: str, by: str, former: Path | None) -> None:
    """Accept forms of the study in FOLDER whose wording alone was changed after they were used.

    They ask the same in other words as when ratings were given on them. Only words may differ:
    questions, guidance, titles, the codebook, and criteria that were added. Other labels, other
    scopes and criteria that are gone are refused. It is kept in the audit log, and the report tells
    it.
    """
    from konsil.api import open_folder
    from konsil.api.running.accepting import accept

    for event in accept(open_folder(folder, database=database), by, reason, former):
        click.echo(
            f"form {event.subject!r} accepted at {event.at} for {event.data['ratings']:,} ratings"
        )
