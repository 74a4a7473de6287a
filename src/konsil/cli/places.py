"""konsil places: the places that people sign up for, and more of them."""

from __future__ import annotations

from pathlib import Path

import click

from konsil.cli.folder import acting, on_folder


@click.command(short_help="List the sign-up places of a panel, or add places after planning.")
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
    """List the places of the study in FOLDER that people take by signing up, or add places.

    Places can be added after the plan was drawn. The tasks of places that are added are drawn anew
    from the seed; what was drawn before stays, byte for byte.
    """
    from konsil.api import open_folder
    from konsil.api.running.running import add_places, place_groups

    opened = open_folder(folder, database=database)
    if add is not None:
        addition = add_places(opened, add, panel=panel, profile=profile, by=by, reason=reason)
        click.echo(
            f"{addition.places.panel}: {len(addition.slots):,} places added, {addition.tasks:,}"
            f" tasks drawn"
        )
    for group in place_groups(opened):
        strata = ", ".join(f"{name}={value}" for name, value in group.strata.items())
        later = f", {group.added:,} of them added later" if group.added else ""
        click.echo(
            f"{group.panel}{f' ({strata})' if strata else ''}: {group.places:,} places{later},"
            f" {group.free:,}"
            " free"
        )
