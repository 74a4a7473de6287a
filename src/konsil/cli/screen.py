"""konsil screen: which of the collected questions may be rated."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import click

from konsil.api.curation.requests import ScreeningRequest
from konsil.cli.folder import decider, on_folder
from konsil.cli.printout import Printout, storing, with_json
from konsil.cli.request_options import options_of


@click.command(short_help="Flag ineligible questions and record reviewers' decisions.")
@on_folder
@click.option(
    "--table",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write the flagged items as a table for reviewers.",
)
@options_of(ScreeningRequest)
@with_json
def command(folder: Path, database: str, table: Path | None, request: ScreeningRequest) -> Printout:
    """Screen the items of the study in FOLDER as its [prepare.screen] specifies.

    Rules flag possible identifiers, follow-up turns, other languages and texts that ask for no
    decision; people decide. If [prepare.screen] names a model, the model flags items too, with its
    evidence. Excluded items stay in the database with the reason; 'konsil prepare' selects from the
    others.
    """
    from konsil.api import open_folder
    from konsil.api.curation.duplicates import unsearched_lines
    from konsil.api.curation.screening import screen_items, screening_lines, write_table
    from konsil.cli.collecting import error_of, run_record
    from konsil.cli.collecting import run_lines as called

    if request.decisions is not None:
        request = replace(request, by=decider(request.by, "--decisions"))
    opened = open_folder(folder, database=database)
    looked = screen_items(opened, request)
    run = None if looked.replies is None else looked.replies.collected
    excluded = {reason: len(items) for reason, items in looked.screened.out.items()}
    is_pending = looked.replies is not None and looked.replies.n_pending > 0
    record = {
        "items": len(looked.items),
        "excluded": excluded,
        "eligible": None if is_pending else len(looked.items) - sum(excluded.values()),
        "flagged_by_model_only": len(looked.screened.by_model),
        "decided": len(looked.screened.decided),
        "is_changed": looked.new,
        "is_stored": not (request.dry_run or is_pending),
        "table": None,
        "calls": None if run is None else run_record(run, request.dry_run),
    }
    lines = [] if run is None else list(called(run, request.dry_run))
    if run is not None and (error := error_of(run)) is not None:
        return Printout(record, lines, error)
    lines += [*screening_lines(looked), *unsearched_lines(opened)]
    if is_pending:
        return Printout(record, lines)
    if table is not None:
        write_table(looked, table)
        record["table"] = table
        lines.append(
            f"{table}: flagged items; write 'keep' or a reason in the column decision and"
            " import the table with --decisions"
        )
    return Printout(record, [*lines, *storing(request.dry_run, looked.new, "already screened")])
