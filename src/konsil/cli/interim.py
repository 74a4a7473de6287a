"""konsil interim: interim analyses while ratings are collected."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from konsil.cli.folder import acting, on_folder
from konsil.cli.printout import Printout, with_json

if TYPE_CHECKING:
    from konsil.api.running.interim import InterimState, LookReport
    from konsil.study.definition.interim import LookKind


@click.command(short_help="Make a planned interim analysis, or list them and what is due.")
@on_folder
@click.option("--look", "number", type=int, metavar="N", help="Make this look of the protocol.")
@click.option(
    "--unplanned",
    type=click.Choice(["pooled", "comparative"]),
    help="Make a look that is not in the protocol; it is exploratory.",
)
@click.option(
    "--last",
    is_flag=True,
    help="Declare data collection closed: the next report is the last analysis.",
)
@click.option("--reason", default="", help="Reason for an unplanned look or --last, for the log.")
@click.option(
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    help="New file of a comparative look, outside of FOLDER.",
)
@acting("makes the look")
@with_json
def command(
    folder: Path,
    database: str,
    number: int | None,
    unplanned: str | None,
    last: bool,
    reason: str,
    output: Path | None,
    by: str,
) -> Printout:
    """Make an interim analysis of the study in FOLDER, as its protocol plans it.

    Without --look or --unplanned, list the looks and what is due. A pooled look prints agreement
    and data quality over all systems, and the rules that apply. A comparative look is written to a
    file for the unblinded person named in the protocol (--by); only the decision is printed.

    --last declares that no further ratings come although not all of the planned ones are there:
    the comparison is confirmatory with these ratings, and exploratory with later ones.
    """
    from konsil.api import open_folder
    from konsil.api.running.interim import (
        close_collection,
        interim_state,
        take_look,
    )
    from konsil.api.running.interim import take_unplanned_look as take_unplanned
    from konsil.cli.interim_lines import state_lines
    from konsil.errors import StudyError

    opened = open_folder(folder, database=database)
    if (number is not None) + (unplanned is not None) + last > 1:
        raise StudyError("--look, --unplanned and --last: expected one of them")
    if last:
        return _closed(close_collection(opened, by=by, reason=reason).data)
    if number is not None:
        return _printed(take_look(opened, number, by=by, output=output))
    if unplanned is not None:
        kind: LookKind = "comparative" if unplanned == "comparative" else "pooled"
        return _printed(take_unplanned(opened, kind, by=by, reason=reason, output=output))
    if by or reason or output is not None:
        raise StudyError("--look: missing; state the look, such as --look 1")
    state = interim_state(opened)
    return Printout(_state_record(state), state_lines(state, folder))


def _closed(data: Mapping[str, object]) -> Printout:
    record = {key: data[key] for key in ("fraction", "rated", "tasks")}
    lines = [
        f"data collection is closed at {data['rated']:,} of {data['tasks']:,}",
        "the next report is the last analysis; further ratings make it exploratory",
    ]
    return Printout(record, lines)


def _printed(report: LookReport) -> Printout:
    from konsil.cli.interim_lines import quality_lines, rule_lines

    data = report.event.data
    record = {
        "look": report.event.subject,
        "kind": data["look"],
        "is_planned": data["is_planned"],
        "fraction": data["fraction"],
        "decision": data["decision"],
        "at": report.event.at,
        "criteria": report.qualities,
        "rules": data.get("rules", []),
        "file": report.file,
    }
    lines = [
        f"look {report.event.subject}: {data['look']}, at {data['rated']:,} of {data['tasks']:,}",
        *quality_lines(report.qualities),
        *rule_lines(report.rules),
    ]
    if not data["is_planned"]:
        lines.append("exploratory: not a look of a frozen protocol")
    if report.file is not None:
        lines.append(f"for the unblinded person only: {report.file}")
    return Printout(record, [*lines, f"decision: {data['decision']}"])


def _state_record(state: InterimState) -> dict[str, object]:
    return {
        "rated": state.progress.rated,
        "tasks": state.progress.tasks,
        "due": state.due,
        "looks": state.interim.looks,
        "made": state.previous,
        "last": state.last,
        "is_last_next": state.is_last_next,
    }
