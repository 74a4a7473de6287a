"""konsil analyse: the estimates as files."""

from __future__ import annotations

from pathlib import Path

import click

from konsil.cli.folder import another_place, on_folder


@click.command(short_help="Run the analyses of study.toml and write the estimates.")
@on_folder
@click.option(
    "--output",
    type=click.Path(path_type=Path),
    help="Folder for estimates.csv and .json; default: FOLDER.",
)
def command(folder: Path, database: str, output: Path | None) -> None:
    """Compute all analyses of the study in FOLDER.

    Estimates are written as CSV and JSON with 12 significant digits.

    If an analysis cannot be computed from the ratings, its row states the reason, the others are
    computed, and the exit code is 2.
    """
    from konsil.api import open_folder
    from konsil.cli.unmade import raise_for_unmade
    from konsil.report import write_estimates

    opened = open_folder(folder, database=database)
    results = opened.results()
    with another_place():
        table, data = write_estimates(output or opened.path, opened.study, results)
    click.echo(f"{len(results.rows)} estimates: {table}, {data}")
    for sentence in results.inference[:1]:
        click.echo(sentence)
    for warning in (*((results.played,) if results.played else ()), *results.warnings):
        click.echo(f"note: {warning}")
    if results.log not in results.warnings:
        click.echo(results.log)
    raise_for_unmade(results.refused)
