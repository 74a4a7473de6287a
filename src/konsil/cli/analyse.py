"""konsil analyse: the estimates as files."""

from __future__ import annotations

from pathlib import Path

import click

from konsil.cli.folder import another_place, on_folder, on_workers
from konsil.cli.printout import Printout, with_json
from konsil.cli.terminal import Note


@click.command(short_help="Run the analyses of study.toml and write the estimates.")
@on_folder
@click.option(
    "--output",
    type=click.Path(path_type=Path),
    help="Folder for estimates.csv and .json; default: FOLDER.",
)
@on_workers
@with_json
def command(folder: Path, database: str, output: Path | None, compute: str) -> Printout:
    """Compute all analyses of the study in FOLDER.

    Estimates are written as CSV and JSON with 12 significant digits.

    If an analysis cannot be computed from the ratings, its row states the reason, the others are
    computed, and the exit code is 2; it is 3 if every rating is excluded.
    """
    from konsil.api import open_folder
    from konsil.cli.unmade import error_of_unmade, notes_of_unmade
    from konsil.report import write_estimates

    opened = open_folder(folder, database=database)
    results = opened.results(compute=compute)
    with another_place():
        table, data = write_estimates(output or opened.path, opened.study, results)
    warnings = (*((results.played,) if results.played else ()), *results.warnings)
    lines = [
        f"{len(results.rows)} estimates: {table}, {data}",
        *results.inference[:1],
        *(Note(f"note: {warning}") for warning in warnings),
        *notes_of_unmade(results),
    ]
    if results.log not in results.warnings:
        lines.append(results.log)
    record = {
        "estimates": len(results.rows),
        "table": table,
        "data": data,
        "target": next(iter(results.inference), None),
        "log": results.log,
        "not_computed": results.refused,
        "without_result": results.reasons_without_result,
    }
    return Printout(record, lines, error_of_unmade(results))
