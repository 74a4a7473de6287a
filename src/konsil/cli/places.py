"""konsil places: rater slots for sign-up, and additional slots."""

from __future__ import annotations

from pathlib import Path

import click

from konsil.cli.folder import acting, on_folder
from konsil.cli.printout import Printout, with_json


@click.command(short_help="List rater slots for sign-up, or add rater slots after planning.")
@on_folder
@click.option(
    "--add",
    type=click.IntRange(min=1),
    metavar="N",
    help="Number of rater slots to add. [list rater slots]",
)
@click.option(
    "--panel", default="", metavar="PANEL", help=("Panel of the rater slots. [the only one]")
)
@click.option(
    "--for",
    "profile",
    multiple=True,
    metavar="NAME=VALUE",
    help="Required answer in the rater's profile; repeatable.",
)
@acting("adds the rater slots")
@click.option("--reason", default="", help="Reason, for the log; no names.")
@with_json
def command(
    folder: Path,
    database: str,
    add: int | None,
    panel: str,
    profile: tuple[str, ...],
    by: str,
    reason: str,
) -> Printout:
    """List the rater slots of the study in FOLDER that people fill by signing up, or add slots.

    Rater slots can be added after planning. Their tasks are randomly assigned from the seed;
    existing assignments do not change.
    """
    from konsil.api import open_folder
    from konsil.api.running.running import add_places, place_groups

    opened = open_folder(folder, database=database)
    lines, added = [], None
    if add is not None:
        addition = add_places(opened, add, panel=panel, profile=profile, by=by, reason=reason)
        lines.append(
            f"{addition.places.panel}: {len(addition.slots):,} rater slots added,"
            f" {addition.tasks:,} tasks assigned"
        )
        added = {
            "panel": addition.places.panel,
            "places": len(addition.slots),
            "tasks": addition.tasks,
        }
    groups = place_groups(opened)
    for group in groups:
        strata = ", ".join(f"{name}={value}" for name, value in group.strata.items())
        later = f", {group.added:,} of them added later" if group.added else ""
        lines.append(
            f"{group.panel}{f' ({strata})' if strata else ''}: {group.places:,} rater"
            f" slots{later}, {group.free:,} free"
        )
    return Printout({"groups": groups, "added": added}, lines)
