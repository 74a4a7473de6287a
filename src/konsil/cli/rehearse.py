"""konsil rehearse: the whole study by simulated raters, through its pages."""

from __future__ import annotations

from pathlib import Path

import click

from konsil.api.rehearsal.requests import RehearsalRequest
from konsil.cli.folder import on_folder
from konsil.cli.printout import Printout, with_json
from konsil.cli.request_options import options_of
from konsil.cli.terminal import Note


@click.command(short_help="Run the study on a copy with simulated raters and write its report.")
@on_folder
@options_of(RehearsalRequest)
@with_json
def command(folder: Path, database: str, request: RehearsalRequest) -> Printout:
    """Run the study in FOLDER on a copy with simulated raters, before any rater is invited.

    A copy without ratings is served on this machine. One simulated rater for each person of the
    plan signs in by an invitation and rates on the pages, including tie-breaks. Ratings of LLM
    judges are simulated; no model is called. The report of the copy is marked as simulated
    throughout. The study itself is not changed. With --browser, some raters use a real browser by
    keyboard only.
    """
    from konsil.api import open_folder
    from konsil.api.rehearsal.rehearsing import rehearse, time_lines

    opened = open_folder(folder, database=database)
    rehearsed = rehearse(opened, request, say=lambda line: click.echo(Note(line), err=True))
    pages, faults = sum(rehearsed.outcome.handed_in.values()), rehearsed.outcome.times.faults
    lines = [
        *time_lines(rehearsed),
        f"{pages:,} of {rehearsed.planned:,} pages in {rehearsed.outcome.seconds:.1f} s;"
        f" {len(faults)} faults",
        *(f"  {fault}" for fault in faults[:10]),
    ]
    estimated, results = rehearsed.estimates or (0, 0)
    if rehearsed.report is not None:
        lines.append(f"report: {rehearsed.report}")
        if not estimated:
            lines.append(
                f"none of the {results:,} results of the report can be estimated from these"
                " ratings; rate more pages (--most) or more items (--items)"
            )
    record = {
        "folder": rehearsed.folder.path,
        "pages": pages,
        "planned": rehearsed.planned,
        "seconds": rehearsed.outcome.seconds,
        "requests": list(rehearsed.outcome.times.rows()),
        "faults": faults,
        "estimated": estimated,
        "results": results,
        "report": rehearsed.report,
    }
    return Printout(record, lines, SystemExit(1) if faults else None)
