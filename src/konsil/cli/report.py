"""konsil report: the page."""

from __future__ import annotations

from pathlib import Path

import click

from konsil.cli.folder import another_place, on_folder


@click.command(short_help="Run the analyses and write the self-contained report.")
@on_folder
@click.option(
    "--output", type=click.Path(path_type=Path), help="The report's folder; default: FOLDER/report."
)
def command(folder: Path, database: str, output: Path | None) -> None:
    """Compute every analysis of the study in FOLDER and write its report.

    The report is FOLDER/report/index.html, with figures and estimates. Sources that were never
    imported are imported first. The same study gives the same bytes. An analysis that the ratings
    cannot give stops none of the others: the page and the end say why, and the exit code is 2.
    """
    from konsil.api import open_folder
    from konsil.api.rehearsal.rehearsal import write_report
    from konsil.cli.unmade import raise_for_unmade

    opened = open_folder(folder, database=database)
    opened.import_if_empty()
    with another_place():
        page, results = write_report(opened, output)
    click.echo(str(page))
    raise_for_unmade(results.refused)
