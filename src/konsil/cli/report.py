"""konsil report: the page."""

from __future__ import annotations

from pathlib import Path

import click

from konsil.cli.folder import another_place, on_folder, on_workers
from konsil.cli.printout import Printout, with_json
from konsil.cli.request_options import options_of
from konsil.cli.terminal import Note
from konsil.report.files.edited import FOLDER, ON_REQUEST, PRINT
from konsil.report.manuscript.request import LEGIBLE, ReportRequest

_AGAIN = {FOLDER: "--to", PRINT: "--figures"}
"""Folder on request -> the option that makes it."""


@click.command(short_help="Run the analyses and write the self-contained report.")
@on_folder
@click.option(
    "--output",
    type=click.Path(path_type=Path),
    help="Folder for the report; default: FOLDER/report.",
)
@options_of(ReportRequest)
@on_workers
@with_json
def command(
    folder: Path, database: str, output: Path | None, request: ReportRequest, compute: str
) -> Printout:
    """Compute all analyses of the study in FOLDER and write its report.

    The report is FOLDER/report/index.html, with figures and estimates. Sources that were not yet
    imported are imported first. The same study gives an identical report. If an analysis cannot be
    computed from the ratings, the report states the reason, the others are computed, and the exit
    code is 2; it is 3 if every rating is excluded.

    With --to, the folder report/manuscript has the declared analyses as a manuscript, with methods,
    tables, figures and references; --to can be repeated. With --figures, the folder
    report/print-figures has all figures.

    With --quick, FOLDER/preliminary/index.html has only the answers to the protocol's questions,
    marked as preliminary: no p value is adjusted, and the audit log is not verified.
    """
    from konsil.api import open_folder
    from konsil.api.rehearsal.rehearsal import write_report
    from konsil.cli.unmade import error_of_unmade, notes_of_unmade

    opened = open_folder(folder, database=database)
    opened.import_if_empty()
    place = opened.path / "report" if output is None else output
    before = {name for name in ON_REQUEST if (place / name).is_dir() and not request.quick}
    with another_place():
        page, results = write_report(opened, output, request, compute=compute)
    manuscript = page.parent / "manuscript" if request.to else None
    figures = page.parent / "print-figures" if request.figures else None
    removed = sorted(name for name in before if not (page.parent / name).is_dir())
    lines = [
        str(page),
        *(
            Note(
                f"note: the folder {name} of the earlier report was removed, since the"
                f" report changed; {_AGAIN[name]} makes it again"
            )
            for name in removed
        ),
        *(str(path) for path in (manuscript, figures) if path is not None),
    ]
    lines += notes_of_unmade(results)
    if request.figures and request.letters() < LEGIBLE:
        lines.append(
            Note(
                f"figures of {request.width_mm():g} mm have letters from {request.letters():.1f}"
                f" points; journals ask for {LEGIBLE:g} or more: choose a larger --width"
            )
        )
    record = {
        "page": page,
        "manuscript": manuscript,
        "figures": figures,
        "removed": removed,
        "estimates": len(results.rows),
        "not_computed": results.refused,
        "without_result": results.reasons_without_result,
    }
    return Printout(record, lines, error_of_unmade(results))
