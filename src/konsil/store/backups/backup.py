"""A copy of the database while raters go on rating: whole, checked, and never half-written."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from konsil.errors import StoreError
from konsil.store.backups.row_copy import copy_rows, is_unused
from konsil.store.engine.engine import (
    connect_plainly,
    make_engine,
    place,
    reading,
    redacted_url,
    translate_database_errors,
    writing,
)
from konsil.store.engine.leftovers import database_draft
from konsil.store.log.db import Store
from konsil.store.log.heads import head_of


@dataclass(frozen=True, slots=True)
class Backup:
    """What was found in the copy."""

    problems: tuple[str, ...]
    """What is wrong with its log, one sentence each."""
    head: str
    """The head of its log."""


def backup(store: Store, target: Path) -> Backup:
    """Copy the database to a new file of SQLite, and check the copy's log.

    The copy is one moment of the database, of SQLite by its online backup, of PostgreSQL row by
    row. A file that is there already is left alone.
    """
    if target.exists():
        raise StoreError(f"{target}: exists already; choose a new file")
    if not target.parent.is_dir():
        raise StoreError(f"{target}: the folder {str(target.parent)!r} does not exist")
    with database_draft(target) as draft:
        summary = copy_to(store, draft)
        try:
            # A link, because a rename would replace a file that came meanwhile.
            os.link(draft, target)
        except FileExistsError:
            raise StoreError(f"{target}: exists already; choose a new file") from None
    return summary


def copy_to(store: Store, draft: Path) -> Backup:
    """Copy the database to the empty file `draft`, on the disk, and check the copy's log."""
    if store.engine.dialect.name == "sqlite":
        with (
            translate_database_errors(store.engine.url),
            closing(connect_plainly(store.engine)) as source,
            closing(sqlite3.connect(draft)) as copy,
        ):
            # All at once: readers of a write-ahead log keep nobody from writing, and a copy in
            # pieces would begin anew at every rating.
            source.backup(copy)
    else:
        with Store.open(draft) as target:
            copy_store(store, target)
    with Store.open(draft, create=False) as copied:
        summary = Backup(copied.verify_log(), head_of(copied))
    # What opening left beside the draft belongs to it, and is in it once it is closed.
    with closing(sqlite3.connect(draft)) as copy:
        copy.execute("PRAGMA journal_mode = DELETE")
    with draft.open("rb") as file:
        os.fsync(file.fileno())
    return summary


def copy_store(source: Store, target: Store) -> dict[str, int]:
    """Copy all rows to a store without records, as one moment and all or nothing."""
    with reading(source.engine) as view, writing(target.engine) as connection:
        return copy_rows(view, connection)


def refuse_used(where: str) -> None:
    """Raise a StoreError if a database, by its URL, has a study already."""
    url = place(where)
    if url.drivername == "sqlite":
        if Path(str(url.database)).exists():
            raise StoreError(f"{url.database}: exists already; name a new file")
        return
    db_engine = make_engine(url)
    try:
        with reading(db_engine) as connection:
            if not is_unused(connection):
                raise StoreError(
                    f"{redacted_url(url)}: contains a study already; name an empty database"
                )
    finally:
        db_engine.dispose()
