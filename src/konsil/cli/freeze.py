"""konsil freeze: the plan of analyses stands."""

from __future__ import annotations

from pathlib import Path

import click

from konsil.cli.folder import on_folder
from konsil.cli.printout import Printout, with_json
from konsil.cli.terminal import Note


@click.command(short_help="Freeze the analysis plan; the report lists later changes.")
@on_folder
@click.option(
    "--by",
    default="",
    metavar="NAME",
    help="Pseudonym of the person who freezes it, for the log.",
)
@click.option("--note", default="", help="Note for readers of the log.")
@click.option(
    "--preregistration",
    "files",
    multiple=True,
    type=click.Path(dir_okay=False, path_type=Path),
    help="Also write a preregistration text to this new .md or .docx file.",
)
@click.option(
    "--power",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Power calculation for that text, made by 'konsil power --output'.",
)
@click.option(
    "--preview", is_flag=True, help="Write the preregistration text only; freeze nothing."
)
@with_json
def command(
    folder: Path,
    database: str,
    by: str,
    note: str,
    files: tuple[Path, ...],
    power: Path | None,
    preview: bool,
) -> Printout:
    """Freeze the analysis plan of the study in FOLDER: store its checksums in the audit log.

    Analyses that are added or changed later are exploratory, and the report states which.

    With --preregistration, a text in the order of the standard form of OSF states the protocol's
    design, sampling, variables and analyses, and marks what the authors must write; --preview
    writes it before the freeze, or once more after it.
    """
    from konsil.api import open_folder
    from konsil.api.running.power_files import power_lines
    from konsil.api.running.preregistering import (
        freeze_and_preregister,
        write_preregistration,
    )

    if (preview or power is not None) and not files:
        used = "--preview" if preview else "--power"
        raise click.UsageError(f"{used}: needs --preregistration FILE with it")
    if preview == bool(by):
        raise click.UsageError(
            "--by: is for a freeze, and --preview freezes nothing; leave one of them out"
            if preview
            else "Missing option '--by'."
        )
    opened = open_folder(folder, database=database)
    if preview:
        known = power_lines(power, opened.study) if power is not None else ()
        write_preregistration(opened, files, known)
        return Printout({"files": files}, map(str, files))
    event = freeze_and_preregister(opened, by, note, files, power)
    n_analyses, n_ratings = len(opened.study.analyses), event.data["ratings"]
    lines: list[str] = []
    if n_ratings:
        verb = "rating is" if n_ratings == 1 else "ratings are"
        lines.append(Note(f"note: {n_ratings:,} {verb} already stored; the report states this"))
    with opened.store() as store:
        if not store.counts()["items"]:
            lines.append(
                Note(
                    "note: no items are imported yet; the frozen plan applies to ratings imported"
                    " later"
                )
            )
    lines.append(
        f"{n_analyses} {'analysis' if n_analyses == 1 else 'analyses'} frozen at {event.at};"
        f" checksum (SHA-256) {event.data['plan']}"
    )
    record = {
        "analyses": n_analyses,
        "at": event.at,
        "digest": event.data["plan"],
        "ratings": n_ratings,
        "files": files,
    }
    return Printout(record, [*lines, *map(str, files)])
