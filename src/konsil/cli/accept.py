"""konsil accept: forms whose wording was changed."""

from __future__ import annotations

from pathlib import Path

import click

from konsil.cli.folder import on_folder
from konsil.cli.printout import Printout, with_json
from konsil.errors import KonsilError
from konsil.records import Event


@click.command(short_help="Accept a change of a form's wording after ratings were collected.")
@on_folder
@click.option(
    "--reason",
    required=True,
    metavar="TEXT",
    help="Reason why ratings keep their meaning, for the report.",
)
@click.option(
    "--by",
    required=True,
    metavar="NAME",
    help="Pseudonym of the person who accepts it, for the log.",
)
@click.option(
    "--former",
    type=click.Path(path_type=Path),
    help="Former study.toml, if the log does not contain the form.",
)
@with_json
def command(folder: Path, database: str, reason: str, by: str, former: Path | None) -> Printout:
    """Accept forms of the study in FOLDER whose wording was changed after they were used.

    Only words may differ: questions, guidance, titles, the codebook and added criteria. Changed
    labels or scopes and removed criteria are refused. The change is stored in the audit log and
    stated in the report.
    """
    from konsil.api import open_folder
    from konsil.api.running.accepting import accept

    events: list[Event] = []
    refusal: KonsilError | None = None
    try:
        events.extend(accept(open_folder(folder, database=database), by, reason, former))
    except KonsilError as error:
        refusal = error  # the forms accepted before are stored, and are printed
    record = [
        {"form": event.subject, "at": event.at, "ratings": event.data["ratings"]}
        for event in events
    ]
    lines = [
        f"form {event.subject!r} accepted at {event.at} for {event.data['ratings']:,} ratings"
        for event in events
    ]
    return Printout({"accepted": record}, lines, refusal)
