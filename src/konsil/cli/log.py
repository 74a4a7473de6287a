"""konsil log: the audit log to read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, fields
from pathlib import Path
from typing import TYPE_CHECKING

import click

from konsil.cli.folder import on_folder
from konsil.cli.printout import Printout, with_json
from konsil.errors import StudyError

if TYPE_CHECKING:
    from konsil.store.log.entries import Entry


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
@with_json
def command(
    folder: Path, database: str, kind: str, last: int | None, output: Path | None
) -> Printout:
    """List the entries of the audit log of the study in FOLDER, oldest first.

    Names are listed with pseudonyms if the database has them; a table written with --output
    contains pseudonyms only.
    """
    from konsil.api import open_folder
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
        rows = list(read_entries(connection, kind=kind, last=last))
        if output is None:
            # On the machine of those who run the study; a table that may be passed on has
            # pseudonyms alone.
            named = names(connection)
            lines = [_line(row, named) for row in rows]
            return Printout({"entries": list(map(_record, rows))}, lines)
        if output.suffix == ".jsonl":
            table = "".join(f"{dumps(asdict(row))}\n" for row in rows).encode()
        else:
            from konsil.api.curation.decision_tables import cells

            columns = [f.name for f in fields(Entry)]
            table = cells(columns, ([str(asdict(row)[n]) for n in columns] for row in rows))
    from konsil.store.engine.private import write_private

    write_private(output, table)
    return Printout({"entries": len(rows), "output": output}, [str(output)])


def _record(row: Entry) -> dict[str, object]:
    """An entry with pseudonyms; its details and its hash are in the table of --output."""
    return {name: value for name, value in asdict(row).items() if name not in ("details", "hash")}


def _line(row: Entry, names: Mapping[str, str]) -> str:
    """An entry for people, with names where the database has them."""
    from konsil.cli.terminal import show

    subject, author = (
        f"{account} ({names[account]})" if account in names else account
        for account in (row.subject, row.who)
    )
    parts = (
        row.kind,
        subject,
        author and f"by {author}",
        row.records,
        row.why and f"({row.why})",
    )
    return f"{row.seq:>6}  {row.at}  " + "  ".join(show(part) for part in parts if part)
