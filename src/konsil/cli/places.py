"""konsil places: the places that people sign up for, and more of them."""

from __future__ import annotations

from pathlib import Path

import click

from konsil.cli.folder import acting, on_folder


@click.command(short_help="List the places that people sign up for, or add some after the plan.")
@on_folder
@click.option(
    "--add",
    type=click.IntRange(min=1),
    metavar="N",
    help="How many places to add. [only list them]",
)
@click.option(
    "--panel", default="", metavar="PANEL", help="The panel that they belong to. [the only one]"
)
@click.option(
    "--for",
    "profile",
    multiple=True,
    metavar="NAME=VALUE",
    help="What a profile must say; repeatable.",
)
@acting("adds them")
@click.option("--reason", default="", help="Why, for the log; no names.")
def command(
    folder: Path,
    database: str,
    add: int | None,
    panel: str,
    profile: tuple[str, ...],
    by: str,
    reason: str,
) -> None:
    """List the places of the study in FOLDER that people take by signing up, or add some after the plan was drawn.

    The tasks of places that are added are drawn anew from the seed; what was drawn before stays,
    byte for byte.
    """
    from konsil.api import open_folder
    from konsil.api.running.running import add_places, place_groups

    opened = open_folder(folder, database=database)
    if add is not None:
        done = add_places(opened, add, panel=panel, profile=profile, by=by, reason=reason)
        click.echo(
            f"{done.places.panel}: {len(done.slots):,} places added, {done.tasks:,} tasks drawn"
        )
    for one in place_groups(opened):
        who = ", ".join(f"{name}={value}" for name, value in one.strata.items())
        later = f", {one.added:,} of them added later" if one.added else ""
        click.echo(
            f"{one.panel}{f' ({who})' if who else ''}: {one.places:,} places{later}, {one.free:,}"
            " free"
        )
