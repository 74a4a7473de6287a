"""The rows of a restored study in another database, which is empty again if the restore fails."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from sqlalchemy.engine import Connection

from konsil.errors import StoreError
from konsil.store.backups.backup import copy_store, refuse_used
from konsil.store.backups.row_copy import drop_tables, has_records
from konsil.store.engine.engine import make_engine, place, redacted_url, writing
from konsil.store.engine.leftovers import DATABASE_ENDINGS
from konsil.store.log.db import Store


class DatabaseCopy:
    """One copy of a study's rows in a database that had none."""

    def __init__(self, where: str) -> None:
        """`where`: the URL; a StoreError where it contains a study already."""
        self._where, self._is_begun, self._is_ours = where, False, False
        refuse_used(where)

    def fill(self, source: Store, verify: Callable[[Store], object]) -> None:
        """Copy all rows of the source, and verify the copy."""
        # Again, because unpacking took time and another restore may have been faster.
        refuse_used(self._where)
        self._is_begun = True
        with Store.open(self._where) as target:
            copy_store(source, target)
            self._is_ours = True
            verify(target)

    def undo(self, error: BaseException) -> None:
        """Remove the copy after an error; where that fails, an error that states both."""
        if not self._is_begun:
            return
        try:
            self._remove()
        except StoreError as second:
            raise StoreError(
                f"{error}; the copy in {redacted_url(place(self._where))} could not be removed"
                f" ({second}); name another database next time"
            ) from error

    def _remove(self) -> None:
        url = place(self._where)
        if url.drivername == "sqlite":
            database = Path(str(url.database))
            for ending in DATABASE_ENDINGS:
                database.with_name(database.name + ending).unlink(missing_ok=True)
            return
        engine = make_engine(url)
        try:
            with writing(engine) as connection:
                if self._may_drop(connection):
                    drop_tables(connection)
        finally:
            engine.dispose()

    def _may_drop(self, connection: Connection) -> bool:
        """Whether no row is another's: ours are there all or none, by one transaction."""
        return self._is_ours or not has_records(connection)
