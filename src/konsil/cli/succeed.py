"""konsil succeed: somebody new takes over a place that nobody has."""

from __future__ import annotations

from pathlib import Path

import click

from konsil.cli.folder import acting, on_folder
from konsil.cli.printout import Printout, with_json


@click.command(short_help="List vacant rater slots or assign a successor.")
@on_folder
@click.option("--slot", metavar="SLOT", help="Vacant rater slot. [list vacant slots]")
@click.option("--rater", metavar="ID", help="Successor: a new pseudonym, never a name.")
@acting("assigns the successor")
@with_json
def command(folder: Path, database: str, slot: str | None, rater: str | None, by: str) -> Printout:
    """Assign a vacant rater slot of the study in FOLDER to a successor.

    The successor gets all pending tasks of the slot and can be invited. Without --slot, list the
    vacant slots.
    """
    from konsil.api import open_folder
    from konsil.api.running.running import succeed, vacant
    from konsil.errors import StudyError

    opened = open_folder(folder, database=database)
    if slot is None:
        if rater is not None:
            raise StudyError("--slot: missing; state the slot that --rater takes over")
        if by:
            raise StudyError(
                "--slot: missing; state the slot to assign; without it nothing is written"
            )
        vacancies = vacant(opened)
        lines = []
        for vacancy in vacancies:
            # How many tie-breaks wait is an outcome, and is not said.
            screens = (
                f"{vacancy.screens:,} tasks pending"
                if vacancy.screens or not vacancy.breaks_ties
                else "tie-breaks may be pending"
            )
            lines.append(f"{vacancy.slot}: {screens}")
        rows = [
            {
                "slot": vacancy.slot,
                "panel": vacancy.panel,
                "tasks": vacancy.screens,
                "breaks_ties": vacancy.breaks_ties,
            }
            for vacancy in vacancies
        ]
        return Printout({"vacant": rows}, lines)
    if rater is None:
        raise StudyError(f"--rater: missing; state the successor for {slot!r}")
    succeed(opened, slot, rater, by=by)
    line = (
        f"{slot}: assigned to {rater.strip()}; next: konsil invite {folder} --who {rater.strip()}"
    )
    return Printout({"slot": slot, "rater": rater.strip()}, [line])
