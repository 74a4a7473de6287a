"""konsil curation: what was decided before the study, and by whom."""

from __future__ import annotations

from pathlib import Path

import click

from konsil.cli.folder import on_folder
from konsil.cli.printout import Printout, with_json


@click.command(short_help="List the decisions made before data collection, and by whom.")
@on_folder
@click.option(
    "--table", type=click.Path(dir_okay=False, path_type=Path), help="Write the list as a table."
)
@with_json
def command(folder: Path, database: str, table: Path | None) -> Printout:
    """List the decisions on the items of the study in FOLDER.

    These are current decisions on screening, duplicates, rewritten questions, themes and marks.
    Each line states one decision, the number of items and the pseudonym of the person who decided.
    """
    from konsil.api import open_folder
    from konsil.api.curation.curation import (
        curation,
        duplicates_line,
        events_of,
        lines_of,
        names_of,
        write_table,
    )
    from konsil.cli.terminal import show

    opened = open_folder(folder, database=database)
    events, items = events_of(opened)
    rows = curation(events)
    lines = [show(line) for line in lines_of(events, items, names_of(opened))]
    if table is not None:
        write_table(rows, table)
        lines.append(str(table))
    record = {"decisions": rows, "independence": duplicates_line(events, items), "table": table}
    return Printout(record, lines)
