"""A lock for one run at a time, or for all workers of a study against everything else.

The operating system or the server releases it when the process ends, however it ends.
"""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from konsil.errors import StoreError
from konsil.store.engine import engine
from konsil.store.engine.private import mode_like
from konsil.store.log.db import Store

ENDING = "-run"
"""What the lock's file is called after the database's; the file stays, only the lock on it
counts."""
_KEY = zlib.crc32(b"konsil: one run at a time")
"""The lock's number in a database of PostgreSQL."""
_LETTERS = "konsil letters"
_LETTERS_ENDING = "-letters"
_LETTERS_KEY = zlib.crc32(b"konsil: letters are sent by one process at a time")
_HOLDER_BYTES = 1_000
_BYTE = 1 << 20
"""Where Windows locks a byte: nobody can read what is locked there, so it lies behind what is
told."""


def is_shared(store: Store) -> bool:
    """Whether several workers may collect at once: PostgreSQL keeps them apart."""
    return store.engine.dialect.name == "postgresql"


@contextmanager
def as_worker(store: Store, command: str, at: str) -> Iterator[None]:
    """Hold the study for a worker.

    On PostgreSQL other workers may hold it, too, but nothing that needs it alone; on SQLite it is
    held alone.
    """
    if is_shared(store):
        with _advisory(store, command, shared=True):
            yield
    else:
        with _flock(store, command, at):
            yield


@contextmanager
def without_workers(store: Store, command: str) -> Iterator[None]:
    """Hold the study for what must not change under workers, where there can be several."""
    if is_shared(store):
        with _advisory(store, command, shared=False):
            yield
    else:
        yield


@contextmanager
def alone(store: Store, command: str, at: str) -> Iterator[None]:
    """Hold the study for a run that calls models.

    A StoreError says since when another one is under way.

    `command` is the command, for the other one's message, and `at` the time. Nothing that is killed
    leaves a lock behind.
    """
    if store.engine.dialect.name == "postgresql":
        with _advisory(store, command, shared=False):
            yield
    else:
        with _flock(store, command, at):
            yield


@contextmanager
def sending_letters(store: Store, at: str) -> Iterator[None]:
    """Hold the study's letters: no two processes send them at once; models may be called."""
    if is_shared(store):
        with _advisory(store, _LETTERS, shared=False, key=_LETTERS_KEY):
            yield
    else:
        with _flock(store, _LETTERS, at, _LETTERS_ENDING):
            yield


def _refused(store: Store, other: str, since: str) -> StoreError:
    if other.startswith(_LETTERS):
        return StoreError(
            f"{store.name}: letters are being sent by another process; wait for its end"
        )
    return StoreError(
        f"{store.name}: another run{f' ({other})' if other else ''} is under"
        f" way{f' since {since}' if since else ''}; wait for its end, or stop it and start"
        " again: its completed calls are stored"
    )


@contextmanager
def _flock(store: Store, command: str, at: str, ending: str = ENDING) -> Iterator[None]:
    place = Path(f"{store.engine.url.database}{ending}")
    try:
        file = os.open(
            place, os.O_RDWR | os.O_CREAT, mode_like(Path(str(store.engine.url.database)))
        )
    except OSError as error:
        raise StoreError(
            f"{place}: cannot be opened: {error.strerror}; check the folder's permissions"
        ) from None
    try:
        if not _try_lock(file):
            raise _refused(store, *_read(file))
        os.ftruncate(file, 0)
        os.lseek(file, 0, os.SEEK_SET)
        os.write(
            file, json.dumps({"what": f"{command}, process {os.getpid()}", "since": at}).encode()
        )
        yield
        # After a clean end the file names no run any more.
        os.ftruncate(file, 0)
    finally:
        os.close(file)  # which is what gives the lock back, here as at any other end of the process


def _try_lock(file: int) -> bool:
    try:
        import fcntl
    except ImportError:
        return _try_lock_on_windows(file)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _try_lock_on_windows(file: int) -> bool:
    import msvcrt

    os.lseek(file, _BYTE, os.SEEK_SET)
    try:
        msvcrt.locking(file, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined,unused-ignore]
    except OSError:
        return False
    return True


def _read(file: int) -> tuple[str, str]:
    os.lseek(file, 0, os.SEEK_SET)
    try:
        holder = json.loads(os.read(file, _HOLDER_BYTES))
        return str(holder["what"]), str(holder["since"])
    except (ValueError, KeyError, TypeError):  # it has begun this very moment
        return "", ""


@contextmanager
def _advisory(store: Store, command: str, *, shared: bool, key: int = _KEY) -> Iterator[None]:
    with engine.translate_database_errors(store.engine.url), store.engine.connect() as opened:
        # A connection of its own, outside any transaction: the server drops the lock when the
        # connection ends.
        connection = opened.execution_options(isolation_level="AUTOCOMMIT")
        lock = sa.func.pg_try_advisory_lock_shared if shared else sa.func.pg_try_advisory_lock
        if not connection.execute(sa.select(lock(key))).scalar_one():
            holder, since = _holder(connection, key)
            # Its name is set a moment after the lock is held, and hidden from other accounts.
            raise _refused(store, _LETTERS if key == _LETTERS_KEY else holder, since)
        connection.execute(sa.select(sa.func.set_config("application_name", command[:60], False)))
        try:
            yield
        finally:
            # The server needs a moment to notice the end of a connection, and until then the next
            # command would be refused. Where the connection has failed, there is no lock any more.
            unlock = sa.func.pg_advisory_unlock_shared if shared else sa.func.pg_advisory_unlock
            with suppress(sa.exc.DBAPIError):
                connection.execute(sa.select(unlock(key)))
            # Never back to the pool: the name goes with the connection.
            opened.invalidate()


def _holder(connection: Connection, key: int) -> tuple[str, str]:
    """Who holds the lock and since when it has been connected, as far as this user may see it."""
    query = sa.text(
        "SELECT a.application_name, to_char(a.backend_start AT TIME ZONE 'UTC',"
        ' \'YYYY-MM-DD"T"HH24:MI:SS"Z"\') FROM pg_locks l JOIN pg_stat_activity a ON a.pid ='
        " l.pid JOIN pg_database d ON d.oid = l.database WHERE l.locktype = 'advisory' AND"
        " l.granted AND l.objid = :key AND d.datname = current_database()"
    )
    row = connection.execute(query, {"key": key}).first()
    return (str(row[0] or ""), str(row[1] or "")) if row is not None else ("", "")
