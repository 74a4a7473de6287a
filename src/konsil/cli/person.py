"""konsil person: everything that is stored about one person."""

from __future__ import annotations

import json
from pathlib import Path

import click

from konsil.cli.folder import on_named_folder


@click.command(short_help="Export all data that are stored about one person.")
@on_named_folder
@click.argument("who")
@click.argument("output", type=click.Path(path_type=Path, dir_okay=False))
@click.option(
    "--forget-name", is_flag=True, help="Erase the name and address afterwards; ratings stay."
)
def command(folder: Path, database: str, who: str, output: Path, forget_name: bool) -> None:
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
        counts = ", ".join(f"{len(rows):,} in {name}" for name, rows in data.items())
        click.echo(f"{output}: {counts}")
        if forget_name:
            erased = forget_person(store, who)
            click.echo("name and address erased" if erased else "no name or address is stored")
