"""konsil answer: let models answer the items."""

from __future__ import annotations

from pathlib import Path

import click

from konsil.api.calls import BatchCallRequest
from konsil.cli.collecting import callees, error_of, run_lines, run_record
from konsil.cli.folder import on_folder
from konsil.cli.printout import Printout, with_json
from konsil.cli.request_options import options_of


@click.command(short_help="Collect the answers of systems that have a model.")
@on_folder
@callees("system")
@options_of(BatchCallRequest, "calls")
@with_json
def command(
    folder: Path, database: str, only: tuple[str, ...], calls: BatchCallRequest
) -> Printout:
    """Collect answers from the systems of the study in FOLDER to all items.

    The command can be stopped at any time: run it again to continue. Completed calls are not
    repeated.
    """
    from konsil.api import open_folder
    from konsil.collect.jobs.systems import answer

    opened = open_folder(folder, database=database)
    with opened.store() as store:
        collected = answer(opened.study, store, calls.options(only, dry_run=calls.dry_run))
    return Printout(
        {"answers": run_record(collected, calls.dry_run)},
        run_lines(collected, calls.dry_run),
        error_of(collected),
    )
