"""konsil probe: how much masked cases still give away."""

from __future__ import annotations

from pathlib import Path

import click

from konsil.api.calls import CallRequest
from konsil.cli.collecting import error_of, run_lines, run_record
from konsil.cli.folder import on_folder
from konsil.cli.printout import Printout, with_json
from konsil.cli.request_options import options_of


@click.command(short_help="Test whether a model can guess the diagnosis from masked cases.")
@on_folder
@click.option(
    "--model", required=True, metavar="ENDPOINT:NAME", help="Model that guesses the diagnosis."
)
@click.option(
    "--table",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write the guesses, one row per version.",
)
@options_of(CallRequest, "calls")
@with_json
def command(
    folder: Path, database: str, model: str, table: Path | None, calls: CallRequest
) -> Printout:
    """Test whether a model can guess the diagnosis of the marked cases of the study in FOLDER.

    The model guesses at each information level. The proportion of correct guesses by level shows
    the residual disclosure. After marks are corrected, run the command again; only changed texts
    are sent.
    """
    from konsil.api import open_folder
    from konsil.api.curation.probe import lines_of, probe, shares, write_table

    probed = probe(
        open_folder(folder, database=database), model, calls.options(dry_run=calls.dry_run)
    )
    run = probed.replies.collected
    record = {
        "calls": run_record(run, calls.dry_run),
        "invalid_replies": probed.replies.unreadable,
        "unmarked_cases": probed.unmarked,
        "pending": probed.replies.n_pending,
        "levels": [
            {"level": level, "guessed": k, "versions": n, "share": k / n, "low": low, "high": high}
            for level, (k, n, low, high) in shares(probed.guesses).items()
        ],
        "table": None,
    }
    lines = list(run_lines(run, calls.dry_run))
    if (error := error_of(run)) is not None:
        return Printout(record, lines, error)
    lines += lines_of(probed)
    if table is not None:
        write_table(probed, table)
        record["table"] = table
        lines.append(str(table))
    return Printout(record, lines)
