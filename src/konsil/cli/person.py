"""konsil person: everything that is stored about one person."""

from __future__ import annotations

import json
from pathlib import Path

import click

from konsil.cli.folder import on_named_folder
from konsil.cli.printout import Printout, with_json


@click.command(short_help="Export all data that are stored about one person.")
@on_named_folder
@click.argument("who")
@click.argument("output", type=click.Path(path_type=Path, dir_okay=False))
@click.option(
    "--forget-name", is_flag=True, help="Erase the name and address afterwards; ratings stay."
)
@with_json
def command(folder: Path, database: str, who: str, output: Path, forget_name: bool) -> Printout:
    """Write all data about WHO, a rater's identifier, in the study in FOLDER to OUTPUT, as JSON.

    Texts of items and answers are not included because they are not about the person. Only the
    file's owner can read it.
    """
    from konsil.api import open_folder
    from konsil.store.engine.private import write_private
    from konsil.store.people.people import forget_person
    from konsil.store.privacy.own_data import own_data

    with open_folder(folder, database=database).store() as store:
        data = own_data(store, who)
        write_private(output, (json.dumps(data, ensure_ascii=False, indent=2) + "\n").encode())
        is_forgotten = forget_person(store, who) if forget_name else None
    records = {name: len(rows) for name, rows in data.items()}
    counts = ", ".join(f"{n:,} in {name}" for name, n in records.items())
    lines = [f"{output}: {counts}"]
    if is_forgotten is not None:
        lines.append("name and address erased" if is_forgotten else "no name or address is stored")
    record = {"file": output, "records": records, "is_name_erased": is_forgotten}
    return Printout(record, lines)
