"""konsil duplicates: questions that are asked more than once."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import click

from konsil.api.curation.requests import DuplicatesRequest
from konsil.cli.folder import decider, on_folder
from konsil.cli.printout import Printout, storing, with_json
from konsil.cli.request_options import options_of


@click.command(short_help="Detect duplicate questions and record reviewers' decisions.")
@on_folder
@click.option(
    "--table",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write the groups as a table for reviewers.",
)
@options_of(DuplicatesRequest)
@with_json
def command(
    folder: Path, database: str, table: Path | None, request: DuplicatesRequest
) -> Printout:
    """Search the items of the study in FOLDER for duplicates.

    These are exact copies, questions with the same words, near duplicates and translations. People
    decide which to exclude. The report states how many items are in groups of duplicates.
    """
    from konsil.api import open_folder
    from konsil.api.curation.duplicates import lines_of, search_duplicates, write_table

    if request.decisions is not None or request.leave_one:
        option = "--decisions" if request.decisions is not None else "--leave-one"
        request = replace(request, by=decider(request.by, option))
    searched = search_duplicates(open_folder(folder, database=database), request)
    lines = list(lines_of(searched))
    if table is not None:
        write_table(searched, table)
        lines.append(
            f"{table}: write 'duplicate' or 'apart' in the column decision and import the table"
            " with --decisions"
        )
    duplicates = searched.duplicates
    record = {
        "items": duplicates.pool,
        "in_groups": duplicates.n_items,
        "groups": duplicates.groups,
        "likeness": duplicates.how,
        "searched": duplicates.searched,
        "declared_distinct": len(duplicates.apart),
        "excluded_as_duplicates": len(searched.out),
        "excluded_for_another_reason": len(searched.excluded),
        "is_changed": searched.new,
        "is_stored": not request.dry_run,
        "table": table,
    }
    return Printout(record, [*lines, *storing(request.dry_run, searched.new, "already searched")])
