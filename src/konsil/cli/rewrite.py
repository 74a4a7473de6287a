"""konsil rewrite: questions in better words, by a model, and what people think of it."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import click

from konsil.api.curation.requests import RewritingRequest
from konsil.cli.collecting import error_of, run_lines, run_record
from konsil.cli.folder import decider, on_folder
from konsil.cli.printout import Printout, with_json
from konsil.cli.request_options import options_of


@click.command(short_help="Rewrite questions with a model and record reviewers' decisions.")
@on_folder
@click.option(
    "--table",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write original and rewritten questions for reviewers.",
)
@options_of(RewritingRequest)
@with_json
def command(folder: Path, database: str, table: Path | None, request: RewritingRequest) -> Printout:
    """Rewrite the questions of the study in FOLDER with the model of [prepare.rewrite].

    People accept, edit or reject each rewritten question, in the table or on the pages of 'konsil
    serve'; the study shows the accepted text, and both texts are stored. The command can be stopped
    at any time: run it again to continue.
    """
    from konsil.api import open_folder
    from konsil.api.curation.rewriting import progress_lines, rewrite_items, write_table

    opened = open_folder(folder, database=database)
    if request.decisions is not None:
        request = replace(request, by=decider(request.by, "--decisions"))
    reworded = rewrite_items(opened, request)
    run, dry_run = reworded.run, request.calls.dry_run
    verdicts = Counter(decision.verdict for decision in reworded.decided.values())
    record = {
        "questions": len(reworded.items),
        "rewritten": len(reworded.proposed),
        "invalid_replies": reworded.unreadable,
        "decided": {verdict: verdicts[verdict] for verdict in ("accept", "edit", "keep")},
        "undecided": len(reworded.open),
        "new_decisions": reworded.new,
        "table": None,
        "calls": None if run is None else run_record(run, dry_run),
    }
    lines = [] if run is None else list(run_lines(run, dry_run))
    if run is not None and (error := error_of(run)) is not None:
        return Printout(record, lines, error)
    lines += progress_lines(reworded)
    if table is not None:
        write_table(reworded, table)
        record["table"] = table
        lines.append(
            f"{table}: write 'accept' or 'keep' in the column decision and import the table"
            " with --decisions"
        )
    if request.decisions is not None and not reworded.new:
        lines.append("already decided; nothing has changed")
    return Printout(record, lines)
