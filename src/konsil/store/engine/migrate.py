"""Bringing a database to this version's schema: new ones, older ones; newer ones are refused."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from functools import cache
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine

from konsil import notices
from konsil.errors import StoreError
from konsil.errors.message import message, placed
from konsil.store.engine import engine as engines
from konsil.store.engine import page_schema, schema
from konsil.store.engine.leftovers import database_draft
from konsil.store.engine.private import restrict

if TYPE_CHECKING:
    from alembic.script import ScriptDirectory

MIGRATIONS = Path(__file__).parents[1] / "migrations"
# Any fixed number: two programs that create the same PostgreSQL database must wait for each other.
_LOCK = 5_667_741


def prepare(engine: Engine, *, create: bool) -> None:
    """Make sure that the database has this version's schema.

    Otherwise a StoreError states the reason.
    """
    where = engines.redacted_url(engine.url)
    with engines.reading(engine) as connection:
        version = stored_schema(connection, where)
    if version == schema.SCHEMA:
        return
    if version and engines.is_read_only(engine):
        raise StoreError(
            f"{where}: has the older schema {version} and is read-only; run 'konsil status'"
            " with write permission to update it, or open a copy"
        )
    if version == 0 and not create:
        raise StoreError(
            placed(
                str(where),
                message(
                    "contains no study yet; import something first", message_id="check.no_study"
                ),
            )
        )
    if version and engine.dialect.name == "sqlite":
        # Databases of older versions were readable by every account of the machine.
        restrict(Path(str(engine.url.database)))
    with engines.writing(engine) as connection:
        if connection.dialect.name == "postgresql":
            connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_LOCK)))
        # Asked again under the lock: another program may have been faster.
        version = stored_schema(connection, where)
        if version == schema.SCHEMA:
            return
        # Under the lock nobody writes, so that nothing comes between the copy and the update.
        former = _keep_former(engine, version) if version else None
        try:
            upgrade(connection)
        except BaseException:
            # The database is as it was: each further try would add one more copy of it.
            if former is not None:
                former.unlink(missing_ok=True)
            raise
    if version:
        retained_copy = f"; the former database is {former.name}" if former is not None else ""
        notices.tell(f"{where}: updated from schema {version} to {schema.SCHEMA}{retained_copy}")


def _keep_former(engine: Engine, version: int) -> Path | None:
    """Copy an SQLite database as the former version of konsil can open it.

    PostgreSQL has backups of its own: None.
    """
    if engine.dialect.name != "sqlite":
        return None
    database = Path(str(engine.url.database))
    stem = f"{database.stem}-schema{version}"
    names = (stem if n == 1 else f"{stem}-{n}" for n in count(1))
    target = next(
        path
        for name in names
        if not (path := database.with_name(f"{name}{database.suffix}")).exists()
    )
    try:
        with database_draft(target) as draft:
            with (
                closing(engines.connect_plainly(engine)) as source,
                closing(sqlite3.connect(draft)) as copy,
            ):
                source.backup(copy)
                # Without a write-ahead log the copy is one file.
                copy.execute("PRAGMA journal_mode = DELETE")
            with draft.open("rb") as file:
                os.fsync(file.fileno())
            draft.rename(target)
    except (OSError, sqlite3.Error) as error:
        raise StoreError(
            f"{target}: the copy before the update cannot be written:"
            f" {getattr(error, 'strerror', None) or error}; nothing was updated"
        ) from None
    return target


@cache
def _revisions(scripts: Path) -> ScriptDirectory:
    from alembic.script import ScriptDirectory

    return ScriptDirectory(scripts)


def stored_schema(connection: Connection, where: str) -> int:
    """Read the database's schema: 0 where it is empty.

    A StoreError where it is newer or something else.
    """
    tables = set(sa.inspect(connection).get_table_names())
    if not tables & page_schema.TABLES:
        return 0
    version = None
    if "meta" in tables and "alembic_version" in tables:
        query = sa.select(schema.meta.c.value).where(schema.meta.c.key == "schema")
        version = connection.execute(query).scalar_one_or_none()
    if version is None or not version.isdigit():
        raise StoreError(f"{where}: is not a konsil database")
    if int(version) > schema.SCHEMA:
        raise StoreError(
            f"{where}: was written by a newer konsil (schema {version}; this one supports up to"
            f" {schema.SCHEMA})"
        )
    return int(version)


def upgrade(connection: Connection, scripts: Path = MIGRATIONS) -> None:
    """Run the migrations that are missing, inside the caller's transaction."""
    from alembic.config import Config
    from alembic.runtime.environment import EnvironmentContext

    revisions = _revisions(scripts)
    config = Config()
    config.attributes["connection"] = connection
    # What alembic's command does, but for reading the scripts anew for every database.
    with EnvironmentContext(
        config,
        revisions,
        fn=lambda revision, _: revisions._upgrade_revs("head", revision),
        destination_rev="head",
    ):
        revisions.run_env()
    number = str(int(revisions.get_current_head() or 0))
    meta = schema.meta
    updated = connection.execute(sa.update(meta).where(meta.c.key == "schema").values(value=number))
    if updated.rowcount == 0:
        connection.execute(sa.insert(meta).values(key="schema", value=number))
