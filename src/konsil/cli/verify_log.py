"""konsil verify-log: the audit log's chain."""

from __future__ import annotations

from pathlib import Path

import click

from konsil.cli.folder import on_folder
from konsil.cli.printout import Printout, with_json


@click.command(short_help="Verify the audit log's hash chain and the records it covers.")
@on_folder
@click.option(
    "--expect", metavar="HEAD", help="Earlier head of the log; verify that this log continues it."
)
@with_json
def command(folder: Path, database: str, expect: str | None) -> Printout:
    """Verify that no audit log entry or covered record was edited, removed or reordered.

    The last line is the head of the log: the number of entries and the last hash. A person who can
    write to the database can also replace the log; only a head that was noted elsewhere reveals
    that. Compare it with --expect.

    If FOLDER is the folder of a study centre, its own log is verified: sign-ins that were refused,
    and the studies that it has served. So are the logs of these studies, each of which must
    continue the head that it had when the centre served the study for the first time.
    """
    from konsil.api import open_folder
    from konsil.api.serving.centre_logs import compare_logs, log_of_centre
    from konsil.store.log.heads import anchor_notes, check_head, head_of

    centre = None if database else log_of_centre(folder)
    opened = open_folder(folder, database=database).store() if centre is None else centre
    with opened as store:
        problems = [*store.verify_log(), *(check_head(store, expect) if expect is not None else ())]
        uncovered, head, erased = store.log_gap(), head_of(store), store.erased()
        notes = list(anchor_notes(store, expect))
        compared = None if centre is None else compare_logs(folder, store)
    record = {
        "is_intact": not problems,
        "problems": problems,
        "head": head,
        "uncovered": uncovered,
        "erased": {"records": erased[0], "raters": erased[1]},
        "anchors": notes,
    }
    if compared is not None:
        problems += compared.problems
        record |= {
            "is_intact": not problems,
            "problems": problems,
            "studies": compared.studies,
            "notes": compared.notes,
        }
    if problems:
        for problem in problems:
            click.echo(f"konsil: {problem}", err=True)
        return Printout(record, error=SystemExit(2))
    lines = [f"audit log verified: chain and records intact{_erased(*erased)}", *notes]
    if uncovered:
        rows = "1 row" if uncovered == 1 else f"{uncovered:,} rows"
        lines.append(
            f"not covered yet: {rows} of tasks, visits, changes, invitations or calls, written"
            " since"
        )
    if compared is not None:
        lines += [
            f"{study}: audit log verified; continues the head at its adoption"
            for study in compared.studies
        ]
        lines += compared.notes
    return Printout(record, [*lines, f"head: {head}"])


def _erased(records: int, raters: int) -> str:
    if not raters:
        return ""
    people = "1 rater" if raters == 1 else f"{raters:,} raters"
    return f", {records:,} {'record' if records == 1 else 'records'} of {people} erased"
