"""konsil unblind: systems get their names."""

from __future__ import annotations

from pathlib import Path

import click

from konsil.cli.folder import on_folder
from konsil.cli.printout import Printout, with_json


@click.command(short_help="Unblind a study (requires a frozen analysis plan).")
@on_folder
@click.option(
    "--by", required=True, metavar="NAME", help="Pseudonym of the person who unblinds, for the log."
)
@click.option("--reason", required=True, help="Reason, for the log.")
@with_json
def command(folder: Path, database: str, by: str, reason: str) -> Printout:
    """Show the names of the systems in analyses, reports and exports of the study in FOLDER.

    Requires an analysis plan that was frozen with 'konsil freeze'.
    """
    from konsil.api import open_folder
    from konsil.api.folder.blinded import unblind

    event = unblind(open_folder(folder, database=database), by, reason)
    return Printout({"at": event.at}, [f"unblinded at {event.at}"])
