"""konsil close: batches whose ratings stand."""

from __future__ import annotations

from pathlib import Path

import click

from konsil.cli.folder import acting, on_folder
from konsil.cli.printout import Printout, with_json


@click.command(short_help="Close a batch (its ratings become final) or reopen it.")
@on_folder
@click.option("--batch", metavar="NAME", help="Batch; empty if the plan has none. [list batches]")
@click.option("--rater", default="", metavar="ID", help="Only this rater's batch. [all raters]")
@click.option("--reopen", is_flag=True, help="Reopen the batch; needs --reason.")
@click.option("--reason", default="", help="Reason for reopening, for the log.")
@acting("closes or reopens the batch")
@with_json
def command(
    folder: Path, database: str, batch: str | None, rater: str, reopen: bool, reason: str, by: str
) -> Printout:
    """Close a batch of the study in FOLDER.

    Raters can still read their ratings of a closed batch, but no longer change them. Without
    --batch, list the batches and their progress. Tie-breaks are not counted.
    """
    from konsil.api import open_folder
    from konsil.api.running.running import blocks, close
    from konsil.errors import StudyError

    opened = open_folder(folder, database=database)
    if batch is None:
        if rater or reopen or reason or by:
            raise StudyError("--batch: missing; state the batch, such as --batch 1")
        rows = [
            {"phase": phase or None, "batch": name or None, "tasks": tasks, "done": n_completed}
            for phase, name, tasks, n_completed in blocks(opened)
        ]
        lines = [
            f"{row['batch'] or row['phase'] or '(no batches)'}: {row['done']:,} of"
            f" {row['tasks']:,} tasks done"
            for row in rows
        ]
        return Printout({"batches": rows}, lines)
    changed = close(opened, batch, rater=rater, reopen=reopen, reason=reason, by=by)
    state = "open" if reopen else "closed"
    n_pending = sum(
        tasks - n_completed
        for phase, name, tasks, n_completed in blocks(opened)
        if batch in (name, f"{phase} {name}".strip())
    )
    # Of one rater nothing is counted here; what is left can be rated again once the batch is open.
    undone = (
        f"; tasks not done: {n_pending:,}"
        if n_pending and changed and not reopen and not rater
        else ""
    )
    whom = f" for {rater}" if rater else ""
    record = {
        "batch": batch,
        "rater": rater or None,
        "state": state,
        "is_changed": changed,
        "tasks_not_done": n_pending if undone else None,
    }
    was = "now" if changed else "was already"
    return Printout(record, [f"batch {batch!r}: {was} {state}{whom}{undone}"])
