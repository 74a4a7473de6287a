"""konsil adjudication: what raters who differ look at together, and the end of a round."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from konsil.cli.folder import decider, deciding, on_folder
from konsil.cli.printout import Printout, with_json

if TYPE_CHECKING:
    from konsil.store.tasks.adjudications import Round


@click.command(short_help="List, open or close the adjudication of disagreements.")
@on_folder
@click.option("--open", "opens", is_flag=True, help="Open all pending disagreements; needs --by.")
@click.option(
    "--close",
    "closes",
    is_flag=True,
    help="Close the open round (labels become final); needs --by.",
)
@deciding
@with_json
def command(folder: Path, database: str, opens: bool, closes: bool, by: str) -> Printout:
    """List the adjudication rounds of the study in FOLDER, and the items of the open round.

    When a round is closed, its labels become final; undecided tasks keep their previous label.
    """
    from konsil.api import open_folder
    from konsil.api.running.adjudication import adjudication, close_round, lines_of, open_waiting
    from konsil.cli.terminal import show
    from konsil.errors import StudyError

    opened = open_folder(folder, database=database)
    if opens and closes:
        raise StudyError("--open and --close: expected one of them")
    if by and not (opens or closes):
        raise StudyError("--by: is for --open and --close; without them nothing is written")
    if opens:
        n = open_waiting(opened, decider(by, "--open"))
        return Printout(
            {"opened": n}, [f"opened: {n:,} {'disagreement' if n == 1 else 'disagreements'}"]
        )
    if closes:
        ended = close_round(opened, decider(by, "--close"))
        line = (
            f"round {ended.number}: now closed; {ended.n_decided:,} of {len(ended.screens):,}"
            f" tasks decided, {ended.ratings:,} ratings collected before"
        )
        return Printout({"closed": _record(ended)}, [line])
    state = adjudication(opened)
    record = {"rounds": [_record(each) for each in state.rounds], "waiting": state.waiting}
    return Printout(record, map(show, lines_of(state)))


def _record(ended: Round) -> dict[str, object]:
    """A round in numbers."""
    return {
        "number": ended.number,
        "tasks": len(ended.screens),
        "decided": ended.n_decided,
        "ratings_before": ended.ratings,
        "opened_at": ended.opened_at,
        "closed_at": ended.closed_at or None,
        "by": ended.by or None,
    }
