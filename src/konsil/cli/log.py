"""konsil log: the audit log to read."""

from __future__ import annotations

from dataclasses import asdict, fields
from pathlib import Path

import click

from konsil.cli.folder import on_folder
from konsil.errors import StudyError


@click.command(short_help="List the audit log: who did what, when and why.")
@on_folder
@click.option(
    "--kind", default="", help="Only entries of this kind, such as 'import' or 'submission'."
)
@click.option("--last", type=click.IntRange(min=1), help="Only the last N entries.")
@click.option(
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write a table (.csv or .jsonl) instead.",
)
def command(folder: Path, database: str, kind: str, last: int | None, output: Path | None) -> None:
    """List the entries of the audit log of the study in FOLDER, oldest first.

    Names are listed with pseudonyms if the database has them; a table written with --output
    contains pseudonyms only.
    """
    from konsil.api import open_folder
    from konsil.cli.terminal import show
    from konsil.store.engine.cells import dumps
    from konsil.store.engine.engine import reading
    from konsil.store.log.entries import Entry, read_entries
    from konsil.store.people.staff import names

    if output is not None and output.suffix not in (".csv", ".jsonl"):
        raise StudyError(f"--output {str(output)!r}: expected a file that ends in .csv or .jsonl")
    with (
        open_folder(folder, database=database).store() as store,
        reading(store.engine) as connection,
    ):
        rows = read_entries(connection, kind=kind, last=last)
        if output is None:
            # On the machine of those who run the study; a table that may be passed on has
            # pseudonyms alone.
            named = names(connection)
            for row in rows:
                subject, author = (
                    f"{account} ({named[account]})" if account in named else account
                    for account in (row.subject, row.who)
                )
                parts = (
                    row.kind,
                    subject,
                    author and f"by {author}",
                    row.records,
                    row.why and f"({row.why})",
                )
                click.echo(
                    f"{row.seq:>6}  {row.at}  " + "  ".join(show(part) for part in parts if part)
                )
            return
        if output.suffix == ".jsonl":
            lines = "".join(f"{dumps(asdict(row))}\n" for row in rows).encode()
        else:
            from konsil.api.curation.decision_tables import cells

            columns = [f.name for f in fields(Entry)]
            lines = cells(columns, ([str(asdict(row)[n]) for n in columns] for row in rows))
    from konsil.store.engine.private import write_private

    write_private(output, lines)
    click.echo(str(output))
