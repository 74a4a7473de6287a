"""konsil withdraw: a rater leaves."""

from __future__ import annotations

from pathlib import Path

import click

from konsil.cli.folder import acting, on_folder
from konsil.cli.printout import Printout, with_json


@click.command(short_help="Withdraw a rater and reassign unfinished tasks.")
@on_folder
@click.option("--rater", required=True, metavar="ID", help="Who leaves.")
@click.option("--reason", default="", help="Reason, for the log; no names.")
@acting("withdraws the rater")
@click.option(
    "--dry-run", is_flag=True, help="Dry run: print what happens to the tasks; change nothing."
)
@with_json
def command(
    folder: Path, database: str, rater: str, reason: str, by: str, dry_run: bool
) -> Printout:
    """Withdraw a rater of the study in FOLDER.

    The rater's links are revoked, completed ratings stay, and unfinished tasks are reassigned
    evenly within the panel. Tasks that no rater can take are cancelled.
    """
    from konsil.api import open_folder
    from konsil.api.running.running import withdraw

    handover = withdraw(
        open_folder(folder, database=database), rater, reason=reason, by=by, save=not dry_run
    )
    n_reassigned = handover.n_taken_over
    nothing = "; nothing changed" if dry_run else ""
    lapse = "left in the vacant slot" if handover.frees else "cancelled"
    lines = [
        f"{rater}: {handover.stay:,} tasks kept, {sum(n_reassigned.values()):,} reassigned,"
        f" {handover.lapsed:,} {lapse}{nothing}"
    ]
    lines += [
        f"  {other}: {before:,} unfinished before, {before + n_reassigned[other]:,} after"
        for other, before in handover.before.items()
    ]
    record = {
        "rater": rater,
        "kept": handover.stay,
        "reassigned": sum(n_reassigned.values()),
        "cancelled": 0 if handover.frees else handover.lapsed,
        "left_in_vacant_slot": handover.lapsed if handover.frees else 0,
        "unfinished": [
            {"rater": other, "before": before, "after": before + n_reassigned[other]}
            for other, before in handover.before.items()
        ],
        "is_stored": not dry_run,
    }
    return Printout(record, lines)
