"""konsil freeze: the plan of analyses stands."""

from __future__ import annotations

from pathlib import Path

import click

from konsil.cli.folder import on_folder


@click.command(short_help="Freeze the analysis plan; the report lists later changes.")
@on_folder
@click.option("--by", required=True, metavar="NAME", help="Who freezes it, for the log.")
@click.option("--note", default="", help="What a reader of the log should know.")
def command(folder: Path, database: str, by: str, note: str) -> None:
    """Keep the plan of analyses of the study in FOLDER, by its digests, in the audit log.

    Analyses that are added or changed afterwards are exploratory, and the report says which.
    """
    from konsil.api import open_folder
    from konsil.api.folder.blinded import freeze

    opened = open_folder(folder, database=database)
    event = freeze(opened, by, note)
    if n := event.data["ratings"]:
        click.echo(
            f"note: {n:,} {'rating is' if n == 1 else 'ratings are'} there already; the report"
            " says so"
        )
    with opened.store() as store:
        if not store.counts()["items"]:
            click.echo(
                "note: no items are imported yet; the frozen plan holds for the ratings that come"
                " in later"
            )
    click.echo(
        f"{len(opened.study.analyses)} analyses frozen at {event.at}; digest {event.data['plan']}"
    )
