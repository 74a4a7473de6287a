"""konsil freeze: the plan of analyses stands."""

from __future__ import annotations

from pathlib import Path

import click

from konsil.cli.folder import on_folder


@click.command(short_help="Freeze the analysis plan; the report lists later changes.")
@on_folder
@click.option(
    "--by",
    required=True,
    metavar="NAME",
    help="Pseudonym of the person who freezes it, for the log.",
)
@click.option("--note", default="", help="Note for readers of the log.")
def command(folder: Path, database: str, by: str, note: str) -> None:
    """Freeze the analysis plan of the study in FOLDER: store its checksums in the audit log.

    Analyses that are added or changed later are exploratory, and the report states which.
    """
    from konsil.api import open_folder
    from konsil.api.folder.blinded import freeze

    opened = open_folder(folder, database=database)
    event = freeze(opened, by, note)
    if n := event.data["ratings"]:
        click.echo(
            f"note: {n:,} {'rating is' if n == 1 else 'ratings are'} already stored; the report"
            " states this"
        )
    with opened.store() as store:
        if not store.counts()["items"]:
            click.echo(
                "note: no items are imported yet; the frozen plan applies to ratings imported later"
            )
    click.echo(
        f"{len(opened.study.analyses)} analyses frozen at {event.at}; digest {event.data['plan']}"
    )
