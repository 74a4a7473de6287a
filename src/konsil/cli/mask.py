"""konsil mask: versions of cases that tell less and less."""

from __future__ import annotations

from pathlib import Path

import click

from konsil.cli.folder import decider, deciding, on_folder
from konsil.cli.printout import Printout, storing, with_json


@click.command(short_help=("Create masked case versions from marks; report residual disclosure."))
@on_folder
@click.option(
    "--table",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write all marks as a table for reviewers.",
)
@click.option(
    "--marks",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Import marks: one row per mark, by offsets or by the marked text.",
)
@deciding
@click.option(
    "--approve",
    is_flag=True,
    help="Approve all marked cases without residual disclosure.",
)
@click.option(
    "--despite",
    nargs=2,
    multiple=True,
    metavar="CASE REASON",
    help="Approve this case despite residual disclosure; repeatable.",
)
@click.option(
    "--dry-run",
    is_flag=True,
    help="Dry run: print residual disclosure and progress; store nothing.",
)
@with_json
def command(
    folder: Path,
    database: str,
    table: Path | None,
    marks: Path | None,
    by: str,
    approve: bool,
    despite: tuple[tuple[str, str], ...],
    dry_run: bool,
) -> Printout:
    """Create masked versions of the cases of the study in FOLDER as [prepare.mask] specifies.

    People mark the diagnosis, the ranked cues and other words that disclose it, in a table or on
    the pages of 'konsil serve', and approve the marks. The five versions of an approved case become
    items; after that, its marks can no longer change.
    """
    from konsil.api import open_folder
    from konsil.api.curation.masking import mask_cases, progress_lines, write_table

    option = "--marks" if marks is not None else "--approve" if approve else "--despite"
    decided_by = decider(by, option) if marks is not None or approve or despite else by
    opened = open_folder(folder, database=database)
    masked = mask_cases(
        opened, marks, by=decided_by, approve=approve, despite=dict(despite), save=not dry_run
    )
    lines = list(progress_lines(masked))
    if table is not None:
        write_table(masked, table)
        lines.append(f"{table}: all marks; add or change rows and import the table with --marks")
    record = {
        "cases": len(masked.items),
        "marked": len(masked.markings),
        "approved": sum(marking.approved for marking in masked.markings.values()),
        "with_versions": masked.n_done,
        "residual_disclosure": [
            {"case": case, "sentence": residual.description(), "stops": residual.stops}
            for case, residuals in masked.leftovers.items()
            for residual in residuals
        ],
        "refused": masked.refused,
        "is_stored": not dry_run,
        "table": table,
    }
    return Printout(record, [*lines, *storing(dry_run, True, "")])
