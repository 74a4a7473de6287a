"""konsil themes: what the questions are about."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import click

from konsil.api.curation.requests import ThemesRequest
from konsil.cli.collecting import error_of, run_record
from konsil.cli.collecting import run_lines as called
from konsil.cli.folder import decider, on_folder
from konsil.cli.printout import Printout, storing, with_json
from konsil.cli.request_options import options_of


@click.command(short_help="Group the questions by theme and record reviewers' edits.")
@on_folder
@click.option(
    "--table",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write the themes as a table for reviewers.",
)
@click.option(
    "--tags",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write the theme of each question for reviewers.",
)
@options_of(ThemesRequest)
@with_json
def command(
    folder: Path, database: str, table: Path | None, tags: Path | None, request: ThemesRequest
) -> Printout:
    """Group the questions of the study in FOLDER by theme as its [prepare.themes] specifies.

    Questions with similar meaning form a theme, named by its most characteristic words; people
    rename, merge and drop themes, and move single questions. Each question has one theme, which is
    the stratum 'theme' in analyses. If [prepare.themes] names a model, it provides key phrases,
    names the themes and assigns the questions; people's decisions take precedence.
    """
    from konsil.api import open_folder
    from konsil.api.curation.themes import tag_items, theme_lines, write_tables

    if request.decisions:
        request = replace(request, by=decider(request.by, "--decisions"))
    tagged = tag_items(open_folder(folder, database=database), request)
    themed = tagged.themed
    record = {
        "questions": len(tagged.items),
        "themes": {name: len(ids) for name, ids in themed.tags.items()},
        "decided": {"themes": len(themed.decided), "questions": len(themed.moved)},
        "pending": tagged.n_pending,
        "is_changed": tagged.new,
        "is_stored": not request.dry_run and not tagged.n_pending,
        "table": None,
        "tags": None,
        "calls": [run_record(each.collected, request.dry_run) for each in tagged.runs],
    }
    lines: list[str] = []
    for replies in tagged.runs:
        lines += called(replies.collected, request.dry_run)
        if (error := error_of(replies.collected)) is not None:
            return Printout(record, lines, error)
    lines += theme_lines(tagged)
    if tagged.n_pending:
        return Printout(record, lines)
    write_tables(tagged, table, tags)
    record |= {"table": table, "tags": tags}
    lines += [
        f"{path}: write a theme's name (or 'drop') in the column decision and import the"
        " table with --decisions"
        for path in filter(None, (table, tags))
    ]
    return Printout(record, [*lines, *storing(request.dry_run, tagged.new, "already detected")])
