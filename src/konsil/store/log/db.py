"""The store: one study's records in one database."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from sqlalchemy.engine import Connection, Engine

from konsil.errors import StoreError
from konsil.errors.message import message, placed
from konsil.records import Answer, Attempt, Event, Item, Rater, Rating, Task
from konsil.store.engine import engine, migrate, read
from konsil.store.engine.rows import KINDS, KindName
from konsil.store.log import audit, covering, noting, replacing, write
from konsil.store.log.write import Added, Batch

if TYPE_CHECKING:
    from konsil.analysis.table.columns import Columns


@dataclass(frozen=True, slots=True)
class View:
    """One consistent view of the store: everything read through it was true at the same moment."""

    connection: Connection
    """The open reading transaction."""

    def each(self, kind: KindName) -> Iterator[Any]:
        """Stream the records of one kind in the order of their identity."""
        return read.each(self.connection, kind)

    def columns(self, kind: KindName) -> Columns[Any]:
        """Read the records of one kind as columns.

        They become records only where one is requested.
        """
        from konsil.store.engine import frames

        return frames.columns(self.connection, KINDS[kind])

    def counts(self) -> dict[str, int]:
        """Count the records of each kind."""
        return {name: read.count(self.connection, name) for name in KINDS}

    def study_digest(self) -> str:
        """Give the digest of the protocol last noted; empty where none was."""
        return noting.study_digest(self.connection)


class Store:
    """Records of one study, kept durably.

    Open it with `Store.open` and close it, or use it in a `with`.
    """

    def __init__(self, opened: Engine) -> None:
        self.engine = opened

    @classmethod
    def open(cls, where: str | Path, *, create: bool = True) -> Self:
        """Open a study's folder, a .db file or a postgresql:// URL.

        With `create` a database that is not there yet is made; without, a StoreError is raised. An
        older schema is brought up to date, a newer one is refused.
        """
        url = engine.place(where)
        if url.drivername == "sqlite" and not create and not Path(str(url.database)).exists():
            raise StoreError(
                placed(
                    str(url.database),
                    message(
                        "there is no such database; import something first",
                        message_id="check.no_database",
                    ),
                )
            )
        db_engine = engine.make_engine(url)
        try:
            if url.drivername == "sqlite" and create:
                engine.create_file(url)
            migrate.prepare(db_engine, create=create)
        # A pool that nobody closes would keep the file open.
        except BaseException:
            db_engine.dispose()
            raise
        return cls(db_engine)

    @classmethod
    def is_made(cls, where: str | Path) -> bool:
        """Whether a study's tables are there.

        Whoever is killed while making them leaves an empty database.
        """
        url = engine.place(where)
        if url.drivername == "sqlite" and not Path(str(url.database)).exists():
            return False
        db_engine = engine.make_engine(url)
        try:
            with engine.reading(db_engine) as connection:
                return migrate.stored_schema(connection, engine.redacted_url(url)) > 0
        finally:
            db_engine.dispose()

    def close(self) -> None:
        """Close every connection."""
        self.engine.dispose()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def is_read_only(self) -> bool:
        """Whether this database may only be read."""
        return engine.is_read_only(self.engine)

    @property
    def name(self) -> str:
        """Name the database for messages: its path, or its URL without the password."""
        return engine.redacted_url(self.engine.url)

    def add(
        self,
        batch: Batch,
        *,
        source: str,
        digest: str = "",
        at: str,
        files: Mapping[str, str] | None = None,
        by: str = "",
        entries: Sequence[tuple[str, Mapping[str, object]]] = (),
    ) -> Added:
        """Write the records that are new, all or nothing, and say how many were.

        The same record again is counted as unchanged. A record of the same identity that says
        something else raises a ConflictError naming both, and nothing is written. `source` and
        `digest` say where the records come from, `files` which bytes each file had, `at` when they
        were imported (ISO 8601, UTC), `by` who did it, where no event of them has that. `entries`
        are kinds and data of further entries of the audit log, written with the records or not at
        all.
        """
        with engine.writing(self.engine) as connection:
            added = write.add(
                connection, batch, source=source, digest=digest, at=at, files=files, by=by
            )
            for kind, data in entries:
                audit.append(connection, kind, data, at)
            return added

    def replace_imports(
        self, batch: Batch, *, source: str, digest: str, at: str, files: Mapping[str, str]
    ) -> Added:
        """Remove all that was imported and write these records instead, all or nothing.

        A StoreError is raised where anything but imports is recorded.
        """
        with engine.writing(self.engine) as connection:
            removed = replacing.remove_imports(connection, at=at)
            added = write.add(connection, batch, source=source, digest=digest, at=at, files=files)
            return replace(added, removed=removed)

    def import_sources(self) -> tuple[str, ...]:
        """What each import was of, in their order."""
        with engine.reading(self.engine) as connection:
            return replacing.import_sources(connection)

    def obstacles_to_replacement(self) -> tuple[str, ...]:
        """What is recorded besides imports of files, so that these cannot be replaced."""
        with engine.reading(self.engine) as connection:
            return replacing.obstacles(connection)

    def revise(self, ratings: Sequence[Rating], *, at: str, event_id: str) -> Added:
        """Replace the current values of ratings, keeping what they said before.

        New ratings are written.

        The same revision under the same `event_id` again changes nothing.
        """
        with engine.writing(self.engine) as connection:
            return write.revise(connection, ratings, at=at, event_id=event_id)

    def audit(self, kind: str, data: Mapping[str, object], at: str) -> int:
        """Append an entry of its own to the audit log and give its number."""
        with engine.writing(self.engine) as connection:
            return audit.append(connection, kind, data, at)

    def note_study(
        self, digest: str, at: str, forms: Mapping[str, Mapping[str, object]] | None = None
    ) -> bool:
        """Note the protocol's digest in the store and the log.

        Say whether it was another one than before.

        `forms`: what the log keeps of its forms, by their digests, so that a later change can be
        told from a change of wording alone.
        """
        with engine.writing(self.engine) as connection:
            return noting.note_study(connection, digest, at, forms or {})

    def noted_forms(self) -> Mapping[str, Mapping[str, Any]]:
        """The forms that were noted with the study, by their digests."""
        with engine.reading(self.engine) as connection:
            return noting.noted_forms(connection)

    def noted_digests(self) -> frozenset[str]:
        """The digests of every protocol that was noted."""
        with engine.reading(self.engine) as connection:
            return noting.noted_digests(connection)

    def verify_log(self) -> tuple[str, ...]:
        """Check the audit log and the records it covers: every problem as one sentence.

        Empty when all is well.
        """
        with engine.reading(self.engine) as connection:
            return (*audit.problems(connection), *covering.problems(connection))

    def cover_log(self, at: str) -> None:
        """Bring the log up to date.

        Rows of the pages that changed since an entry covered them are covered by one.

        A database that may only be read stays as it is.
        """
        if not self.is_read_only:
            covering.cover_all(self.engine, at)

    def log_gap(self) -> int:
        """Count the rows that no entry covers as they are now.

        Screens that are being worked on, mostly.
        """
        with engine.reading(self.engine) as connection:
            return covering.count_uncovered(connection)

    def erased(self) -> tuple[int, int]:
        """How many records of how many raters were erased."""
        with engine.reading(self.engine) as connection:
            entries = audit.entries(connection, audit.ERASURE)
        numbers = [n for data in entries if isinstance(n := data.get("erased"), int)]
        return sum(numbers), len(numbers)

    def log_since(self, digest: str) -> int | None:
        """Count the entries after the one with this hash.

        All entries if it is that of an empty log; None: it is not in this log.
        """
        with engine.reading(self.engine) as connection:
            return audit.entries_since(connection, digest)

    def log_head(self) -> tuple[int, str]:
        """The number of entries of the audit log, and its last hash."""
        with engine.reading(self.engine) as connection:
            return audit.head(connection)

    @contextmanager
    def view(self) -> Iterator[View]:
        """Open one consistent view for streaming reads, while others go on writing."""
        with engine.reading(self.engine) as connection:
            yield View(connection)

    def counts(self) -> dict[str, int]:
        """Count the records of each kind."""
        with self.view() as view:
            return view.counts()

    def study_digest(self) -> str:
        """Give the digest of the protocol last noted; empty where none was."""
        with self.view() as view:
            return view.study_digest()

    def items(self) -> tuple[Item, ...]:
        """All items, by id."""
        return self._all("items")

    def answers(self) -> tuple[Answer, ...]:
        """All answers, by id."""
        return self._all("answers")

    def raters(self) -> tuple[Rater, ...]:
        """All raters, by id."""
        return self._all("raters")

    def tasks(self) -> tuple[Task, ...]:
        """All tasks, by id."""
        return self._all("tasks")

    def ratings(self) -> tuple[Rating, ...]:
        """All ratings as they stand, by task, criterion, answers and span."""
        return self._all("ratings")

    def attempts(self) -> tuple[Attempt, ...]:
        """All attempts, by id."""
        return self._all("attempts")

    def events(self) -> tuple[Event, ...]:
        """All events, by id."""
        return self._all("events")

    def batch(self) -> Batch:
        """Everything at one moment."""
        with self.view() as view:
            return Batch(**{name: tuple(view.each(name)) for name in KINDS})

    def _all(self, kind: KindName) -> tuple[Any, ...]:
        with self.view() as view:
            return tuple(view.each(kind))
