"""A database by path or URL, with the settings that make a commit durable.

Its errors are sentences.
"""

from __future__ import annotations

import logging
import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

import sqlalchemy as sa
from sqlalchemy import event
from sqlalchemy.engine import URL, Connection, Engine, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, SQLAlchemyError
from sqlalchemy.pool import ConnectionPoolEntry

from konsil.errors import StoreError, installation
from konsil.store.engine.private import create_private

FILE = "konsil.db"
"""The database's name in a study's folder."""
BUSY_SECONDS = 60.0
"""How long a writer waits for another one."""
# As many as the pages have threads: a connection beyond would be opened anew for every request.
# Parameters are names, addresses and labels: messages of the database, which end in logs, are to
# quote none.
_POOL: dict[str, Any] = {"pool_size": 40, "max_overflow": 10, "hide_parameters": True}
_WRITERS = 7_221_460_193
"""The advisory lock of PostgreSQL under which one writes at a time; a number of ours alone."""
SQLITE_ENDINGS = (".db", ".sqlite", ".sqlite3")


def _is_no_interrupt(record: logging.LogRecord) -> bool:
    """Ctrl+C while SQLAlchemy closes a connection is raised, and need not be logged as well."""
    return record.exc_info is None or record.exc_info[0] is not KeyboardInterrupt


if logging.lastResort is not None:
    logging.lastResort.addFilter(_is_no_interrupt)


def place(where: str | Path) -> URL:
    """Turn a study's folder, a database file or a URL into a URL.

    A StoreError where it can be none of them.
    """
    if isinstance(where, str) and "://" in where:
        return _url(where)
    path = Path(where)
    if path.is_dir():
        path = path / FILE
    elif path.suffix not in SQLITE_ENDINGS and not path.is_file():
        raise StoreError(
            f"{path}: there is no such folder; a study is a folder with a study.toml in it"
        )
    if not path.parent.is_dir():
        raise StoreError(f"{path}: the folder {str(path.parent)!r} does not exist")
    return URL.create("sqlite", database=str(path.absolute()))


def _url(text: str) -> URL:
    try:
        url = make_url(text)
    except ArgumentError:
        raise StoreError(
            "the database's URL cannot be read; expected postgresql://user@host/database"
        ) from None
    if url.drivername in ("postgresql", "postgres", "postgresql+psycopg"):
        return url.set(drivername="postgresql+psycopg")
    if url.drivername == "sqlite" and url.database:
        return place(Path(url.database))
    raise StoreError(
        f"{url.drivername}: not a database that konsil supports; expected a folder, a .db file or"
        " postgresql://"
    )


def redacted_url(url: URL) -> str:
    """Name the database in messages: a path, or a URL without its password."""
    if url.drivername == "sqlite":
        return str(url.database)
    # The driver is our choice: readers know the URL that they have typed.
    return url.set(drivername="postgresql").render_as_string(hide_password=True)


def make_engine(url: URL) -> Engine:
    """Make the engine; nothing is opened yet."""
    try:
        if (
            url.drivername == "sqlite"
            and (file := Path(str(url.database))).is_file()
            and not _may_be_written(file)
        ):
            return _make_reader(url, file)
        if url.drivername == "sqlite":
            engine = sa.create_engine(url, connect_args={"timeout": BUSY_SECONDS}, **_POOL)
            event.listen(engine, "connect", _sqlite_settings)
            event.listen(engine, "begin", _sqlite_begin)
            return engine
        return sa.create_engine(url, **_POOL)
    except ImportError:
        raise StoreError(
            "PostgreSQL needs a driver that is not installed; install it with"
            f" {installation('postgres')}"
        ) from None


def _may_be_written(file: Path) -> bool:
    """Whether SQLite can write this database: the file, and its own files beside it."""
    return os.access(file, os.W_OK) and os.access(file.parent, os.W_OK | os.X_OK)


def _make_reader(url: URL, file: Path) -> Engine:
    """An engine for a database that may only be read.

    Nothing is created or changed, in the file or beside it.
    """
    log, index = file.with_name(f"{file.name}-wal"), file.with_name(f"{file.name}-shm")
    if log.exists() and log.stat().st_size and not index.exists():
        raise StoreError(
            f"{file}: is read-only, and {log.name} next to it has changes that need write"
            " permission to apply; ask for a backup"
        )
    engine = sa.create_engine(
        url, creator=lambda: _connect_reader(file), execution_options={_READ_ONLY: True}, **_POOL
    )
    event.listen(engine, "begin", _sqlite_begin)
    event.listen(engine, "connect", _reader_settings)
    return engine


_READ_ONLY = "konsil_read_only"


def _connect_reader(file: Path) -> sqlite3.Connection:
    # Where nobody has the database open, SQLite needs no files beside it; otherwise it reads those
    # that are there.
    mode = "mode=ro" if file.with_name(f"{file.name}-shm").exists() else "mode=ro&immutable=1"
    place = f"{file.absolute().as_uri()}?{mode}"
    return sqlite3.connect(place, uri=True, timeout=BUSY_SECONDS, check_same_thread=False)


def connect_plainly(engine: Engine) -> sqlite3.Connection:
    """A connection of the driver's own to the file of an SQLite database.

    The file is not changed through it.
    """
    file = Path(str(engine.url.database))
    return _connect_reader(file) if is_read_only(engine) else sqlite3.connect(file)


def is_read_only(engine: Engine) -> bool:
    """Whether this database may only be read."""
    return bool(engine.get_execution_options().get(_READ_ONLY))


# The connection is of the driver's type.
def _reader_settings(connection: Any, _entry: ConnectionPoolEntry) -> None:  # noqa: ANN401
    connection.isolation_level = None


def create_file(url: URL) -> None:
    """Create the file of a new SQLite database, readable by its owner alone.

    SQLite's files beside it are alike.
    """
    try:
        create_private(Path(str(url.database)))
    except OSError as error:
        raise StoreError(
            f"{url.database}: cannot be created: {error.strerror}; check the folder's permissions"
        ) from None


# The connection is of the driver's type.
def _sqlite_settings(connection: Any, _entry: ConnectionPoolEntry) -> None:  # noqa: ANN401
    # The driver would begin transactions by its own rules; we begin them ourselves, below.
    connection.isolation_level = None
    cursor = connection.cursor()
    try:
        cursor.execute("PRAGMA foreign_keys = ON")
        # Asked first: setting the mode needs a lock, which an everyday opening should not wait for.
        if cursor.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
            cursor.execute("PRAGMA journal_mode = WAL")
        # What is deleted is overwritten: an erased name is not to stay in the file's free pages.
        cursor.execute("PRAGMA secure_delete = ON")
        # FULL: an acknowledged rating survives a power cut and not only a crash of the program.
        cursor.execute("PRAGMA synchronous = FULL")
    except UnicodeDecodeError:  # even the text of the error is damaged
        raise sqlite3.DatabaseError("malformed") from None
    finally:
        cursor.close()


def _sqlite_begin(connection: Connection) -> None:
    # A writer takes the lock at once: one that reads first and writes later cannot wait and would
    # fail as "locked".
    writing = connection.get_execution_options().get("konsil_write", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writing else "BEGIN")


@contextmanager
def reading(engine: Engine) -> Iterator[Connection]:
    """Open one consistent view of the database: what others write meanwhile is not seen."""
    with translate_database_errors(engine.url), engine.connect() as connection:
        if engine.dialect.name == "postgresql":
            connection = connection.execution_options(
                isolation_level="REPEATABLE READ", postgresql_readonly=True
            )
        with connection.begin():
            yield connection


@contextmanager
def writing(engine: Engine, *, alone: bool = True) -> Iterator[Connection]:
    """Open one transaction that writes: all of it or nothing, one writer at a time.

    So what it reads stays true until it ends. `alone` False: on PostgreSQL it neither waits for
    other writers nor lets them wait, and locks the rows itself that it reads and then changes, as
    `noting` does.
    """
    _refuse_reader(engine)
    with translate_database_errors(engine.url), _turn(engine), engine.connect() as connection:
        connection = connection.execution_options(konsil_write=True)
        with connection.begin():
            if alone and connection.dialect.name == "postgresql":
                # The first statement: what was committed while it waited is seen by the next one.
                connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_WRITERS})")
            yield connection


def _refuse_reader(engine: Engine) -> None:
    if is_read_only(engine):
        raise StoreError(
            f"{redacted_url(engine.url)}: is read-only, but this command writes to it; run it"
            " with write permission, or on a copy"
        )


@contextmanager
def noting(engine: Engine) -> Iterator[Connection]:
    """Open one transaction that writes, but whose end does not wait for the disk.

    For what nobody was told is kept, such as that a page was opened: a power cut may lose the last
    seconds of it, a killed process loses none. Whatever `writing` keeps afterwards brings this to
    the disk too.
    """
    _refuse_reader(engine)
    with translate_database_errors(engine.url), _turn(engine), engine.connect() as connection:
        connection = connection.execution_options(konsil_write=True)
        with _unhurried(connection), connection.begin():
            if engine.dialect.name == "postgresql":
                connection.exec_driver_sql("SET LOCAL synchronous_commit TO OFF")
            yield connection


@contextmanager
def _unhurried(connection: Connection) -> Iterator[None]:
    """SQLite's setting is the connection's, and the connection is used again.

    It is put back, or thrown away.
    """
    raw = connection.connection.driver_connection if connection.dialect.name == "sqlite" else None
    if raw is None or raw.execute("PRAGMA synchronous").fetchone()[0] != _FULL:
        yield
        return
    raw.execute("PRAGMA synchronous = NORMAL")
    try:
        yield
    finally:
        try:
            raw.execute("PRAGMA synchronous = FULL")
        except sqlite3.Error:
            connection.invalidate()
            raise


_FULL = 2


def empty_log(engine: Engine) -> bool:
    """Bring SQLite's write-ahead log into the database and empty it.

    So no deleted text stays in it.

    Return False where another program is reading what the log holds; the log is emptied when the
    last one ends.
    """
    if engine.dialect.name != "sqlite":
        return True
    with translate_database_errors(engine.url), _turn(engine), engine.connect() as connection:
        raw: Any = connection.connection.driver_connection
        raw.execute(f"PRAGMA busy_timeout = {_SHORT_WAIT}")
        try:
            return not raw.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
        finally:
            raw.execute(f"PRAGMA busy_timeout = {int(1000 * BUSY_SECONDS)}")


def rewrite_files(engine: Engine) -> bool:
    """Write the database's files anew.

    Nothing of rows that were deleted, however old, remains in them.

    Return False where other programs use the database meanwhile, so that remnants may still be
    there.
    """
    try:
        with translate_database_errors(engine.url), _turn(engine), engine.connect() as connection:
            raw: Any = connection.connection.driver_connection
            if engine.dialect.name == "sqlite":
                raw.execute(f"PRAGMA busy_timeout = {_SHORT_WAIT}")
                try:
                    raw.execute("VACUUM")
                finally:
                    raw.execute(f"PRAGMA busy_timeout = {int(1000 * BUSY_SECONDS)}")
            else:
                rewriting = connection.execution_options(isolation_level="AUTOCOMMIT")
                rewriting.exec_driver_sql(f"SET lock_timeout = {_SHORT_WAIT}")
                rewriting.exec_driver_sql("VACUUM (FULL)")
                connection.invalidate()
    except StoreError:
        return False
    return empty_log(engine)


_SHORT_WAIT = 2_000
"""Milliseconds to wait for readers where nothing is lost by giving up."""


def _turn(engine: Engine) -> AbstractContextManager[object]:
    """Wait for the writers of this process.

    SQLite lets them wait by trying again, which is slow and unfair.
    """
    if engine.dialect.name != "sqlite":
        return nullcontext()
    with _turns_lock:
        return _turns.setdefault(engine, threading.RLock())


_turns: WeakKeyDictionary[Engine, AbstractContextManager[object]] = WeakKeyDictionary()
_turns_lock = threading.Lock()


@contextmanager
def translate_database_errors(url: URL) -> Iterator[None]:
    """Turn the database's errors into StoreErrors of one sentence."""
    try:
        yield
    except (DBAPIError, sqlite3.Error) as error:
        raise StoreError(f"{redacted_url(url)}: {_sentence(error)}") from error
    except SQLAlchemyError as error:
        raise StoreError(f"{redacted_url(url)}: {str(error).splitlines()[0]}") from error


def _sentence(error: Exception) -> str:
    lines = str(getattr(error, "orig", None) or error).strip().splitlines()
    text = lines[0] if lines else type(error).__name__
    for sign, sentence in (
        ("database or disk is full", "the disk is full; nothing was written"),
        ("disk I/O error", "the disk reports an error; nothing was written"),
        (
            "database is locked",
            f"is busy: another program has been writing to it for {BUSY_SECONDS:g} seconds",
        ),
        ("file is not a database", "is not a database"),
        ("malformed", "the database is damaged; restore a backup"),
        ("readonly database", "may be read but not written"),
        ("unable to open database file", "cannot be opened; check the folder's permissions"),
    ):
        if sign in text:
            return sentence
    return text


def answers(engine: Engine) -> bool:
    """Whether the database can be read."""
    try:
        with reading(engine) as connection:
            connection.execute(sa.text("SELECT count(*) FROM meta"))
    except (StoreError, SQLAlchemyError):
        return False
    return True
