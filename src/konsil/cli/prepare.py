"""konsil prepare: which items are rated."""

from __future__ import annotations

from pathlib import Path

import click

from konsil.cli.folder import on_folder
from konsil.cli.printout import Printout, storing, with_json


@click.command(short_help="Select the items to rate (stratified random sample, item sets).")
@on_folder
@click.option("--dry-run", is_flag=True, help="Dry run: print the selection; store nothing.")
@with_json
def command(folder: Path, database: str, dry_run: bool) -> Printout:
    """Select the items of the study in FOLDER as its [prepare] specifies, and store the selection.

    The same protocol, seed, items and answers give the same selection. It can be repeated until
    tasks are assigned.
    """
    from konsil.api import open_folder
    from konsil.api.curation.duplicates import unsearched_lines
    from konsil.api.curation.preparing import draw_lines, prepare

    opened = open_folder(folder, database=database)
    prepared = prepare(opened, save=not dry_run)
    drawn = prepared.drawn
    record = {
        "items": drawn.pool,
        "size": drawn.size,
        "is_sample": drawn.sample,
        "sets": {
            name: {match: len(ids) for match, ids in parts.items()}
            for name, parts in drawn.drawn.items()
        },
        "excluded": drawn.lost,
        "fewer_than_requested": drawn.short,
        "by": drawn.by or None,
        "items_by_value": drawn.found,
        "is_changed": prepared.new,
        "is_stored": not dry_run,
    }
    lines = (*draw_lines(drawn), *unsearched_lines(opened))
    return Printout(record, [*lines, *storing(dry_run, prepared.new, "already selected")])
