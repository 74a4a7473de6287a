"""Databases of every older schema, half-filled pages included, on either kind of server: no cell is
lost on the way."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from konsil.store import Batch, Store
from konsil.store.engine import migrate, page_schema
from konsil.store.engine.engine import reading
from konsil.store.people.access import Access, hashed
from konsil.store.people.people import people
from konsil.store.tasks import drafts, screens

# An update is told; tests/test_stability.py has what is told.
pytestmark = pytest.mark.filterwarnings("ignore::konsil.notices.KonsilNotice")

HERE = Path(__file__).parents[1]
OLDER = sorted(int(p.stem.removeprefix("schema")) for p in HERE.glob("schema*.sql"))
AT, LATER = "2025-03-01T12:00:00Z", "2025-06-01T12:00:00Z"
PAGES: dict[str, tuple[tuple[Any, ...], ...]] = {
    "invitations": ((hashed("secret"), "R1", "rater", AT, LATER, 1, None, AT, None),),
    "visitors": ((hashed("cookie"), "R1", "rater", "csrf", "de", AT, LATER),),
    "screens": (("t1", "public-name-1", "R1", AT, 2, 2, None, None),),
    "visits": (("v1", "t1", "R1", AT, 20.5, 10.25, 1.0),),
    "draft_events": (
        ("e1", "t1", "R1", "accuracy.a1", "3", 0, 1, AT, AT),
        ("e2", "t1", "R1", "accuracy.a1", "4", 1, 2, AT, AT),
    ),
    "drafts": (("t1", "accuracy.a1", "4", 2, "e2"),),
    "renderings": (("digest", "an older renderer", "<p>as it was seen</p>"),),
    "people": (("R1", "Ada May", "ada@clinic.example"),),
}
"""Rows of the pages' tables as schema 3 made them; a schema before it has only people."""
Tables = dict[str, tuple[tuple[str, ...], list[tuple[Any, ...]]]]


def test_every_older_schema_has_its_dump() -> None:
    from konsil.store.engine.schema import SCHEMA

    assert [*range(1, SCHEMA)] == OLDER, "a new schema leaves the one before as a file here"


def old_database(number: int) -> sqlite3.Connection:
    old = sqlite3.connect(":memory:")
    old.executescript((HERE / f"schema{number}.sql").read_bytes().decode())
    for table, rows in PAGES.items():
        if number >= 3 or table == "people":
            # Columns that came later stand behind these, and may be empty.
            columns = [c[1] for c in old.execute(f"PRAGMA table_info({table})")][: len(rows[0])]
            marks = ",".join("?" * len(columns))
            old.executemany(f"INSERT INTO {table} ({_quoted(columns)}) VALUES ({marks})", rows)
    old.commit()
    return old


def content(old: sqlite3.Connection) -> Tables:
    names = [
        name
        for (name,) in old.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name"
        )
    ]
    found: Tables = {}
    for name in names:
        cursor = old.execute(f'SELECT * FROM "{name}"')
        found[name] = (tuple(c[0] for c in cursor.description), cursor.fetchall())
    return found


def _quoted(columns: tuple[str, ...]) -> str:
    return ",".join(f'"{name}"' for name in columns)


def put(where: str, number: int, old: sqlite3.Connection) -> None:
    """The old database at this place: as a file, or its rows in tables that the migrations of then
    make."""
    if "://" not in where:
        with sqlite3.connect(Path(where) / "konsil.db") as file:
            old.backup(file)
        file.close()
        return
    from alembic import command
    from alembic.config import Config

    engine = sa.create_engine(where.replace("postgresql://", "postgresql+psycopg://"))
    with engine.begin() as connection:
        config = Config()
        config.set_main_option("script_location", str(migrate.MIGRATIONS).replace("%", "%%"))
        config.set_main_option("path_separator", "newline")
        config.attributes["connection"] = connection
        command.upgrade(config, f"{number:04d}")
        # As a restored dump: rows come as they are, in any order.
        connection.execute(sa.text("SET session_replication_role = replica"))
        for name, (columns, rows) in content(old).items():
            if name == "alembic_version":
                continue
            connection.execute(sa.text(f"DELETE FROM {name}"))
            marks = ",".join(f":c{n}" for n in range(len(columns)))
            for row in rows:
                values = {f"c{n}": cell for n, cell in enumerate(row)}
                connection.execute(
                    sa.text(f"INSERT INTO {name} ({_quoted(columns)}) VALUES ({marks})"), values
                )
        connection.execute(sa.text("SET session_replication_role = DEFAULT"))
    engine.dispose()


@pytest.mark.parametrize("number", OLDER)
def test_no_cell_is_lost(number: int, where: str, sample: Batch) -> None:
    old = old_database(number)
    before = content(old)
    put(where, number, old)
    old.close()
    with Store.open(where) as store:
        with reading(store.engine) as connection:
            for name, (columns, rows) in before.items():
                if name == "alembic_version":
                    continue
                query = sa.text(f"SELECT {_quoted(columns)} FROM {name}")
                now = sorted(map(repr, (tuple(row) for row in connection.execute(query))))
                then = sorted(map(repr, rows))
                if name == "meta":
                    now, then = ([r for r in side if "'schema'" not in r] for side in (now, then))
                assert now == then, name
        assert {repr(r) for r in store.ratings()} == {repr(r) for r in sample.ratings}
        assert store.verify_log() == ()
        assert people(store)["R1"].name == "Ada May"
        if number >= 3:
            _as_the_pages_read_it(store)


def _as_the_pages_read_it(store: Store) -> None:
    """Whoever was half-way through goes on: the link works, the page has its address and what was
    typed."""
    access = Access(store)
    assert access.invitation("secret", AT) is not None
    visitor = access.visitor("cookie", AT)
    assert visitor is not None
    assert visitor.who == "R1"
    with reading(store.engine) as connection:
        state = screens.public(connection, "public-name-1")
        assert state is not None
        assert (state.task, state.rev, state.deferred) == ("t1", 2, 2)
        assert {f: v.value for f, v in drafts.values(connection, "t1").items()} == {
            "accuracy.a1": "4"
        }
        assert [change.value for change, _ in drafts.history(connection, "t1")] == ["3", "4"]
        assert [visit.active for _, visit in screens.visits(connection, "t1")] == [10.25]
        html = connection.execute(sa.select(page_schema.renderings.c.html)).scalar_one()
    assert html == "<p>as it was seen</p>"
