"""Older databases keep every rating, newer ones are refused."""

from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path

import pytest
import sqlalchemy as sa

from konsil.errors import StoreError
from konsil.records import Call, Rating
from konsil.store import Batch, Store
from konsil.store.calls.calls import Calls
from konsil.store.engine import migrate, schema
from konsil.store.engine.engine import writing

# An update is told; tests/test_stability.py has what is told.
pytestmark = pytest.mark.filterwarnings("ignore::konsil.notices.KonsilNotice")

AT = "2025-03-01T12:00:00Z"
CALL = Call(
    "w",
    1,
    "answer",
    "s1",
    "i1",
    "k",
    "local",
    "m",
    "ok",
    1,
    200,
    {"seed": 1},
    {},
    "m-1",
    at=AT,
    raw="{}",
)
HERE = Path(__file__).parents[1]


def test_migrations_and_tables_say_the_same(store: Store) -> None:
    from alembic.autogenerate import compare_metadata
    from alembic.migration import MigrationContext

    with store.engine.connect() as connection:
        context = MigrationContext.configure(
            connection, opts={"compare_type": True, "compare_server_default": True}
        )
        assert compare_metadata(context, schema.metadata) == []


def test_the_last_migration_is_this_versions_schema() -> None:
    numbers = [
        int(p.name.split("_")[0]) for p in (migrate.MIGRATIONS / "versions").glob("[0-9]*.py")
    ]
    assert sorted(numbers) == list(range(1, schema.SCHEMA + 1))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("number", "calls"), [(1, []), (2, [CALL]), (3, [CALL]), (4, [CALL]), (5, [CALL]), (6, [CALL])]
)
def test_a_database_of_an_older_schema_keeps_every_rating(
    number: int, calls: list[Call], tmp_path: Path, sample: Batch
) -> None:
    """The files were written by the versions of that time and are never made anew."""
    old = sqlite3.connect(tmp_path / "konsil.db")
    old.executescript((HERE / f"schema{number}.sql").read_bytes().decode())
    old.close()
    with Store.open(tmp_path) as store:
        assert store.batch() == _sorted(sample)
        assert store.verify_log() == ()
        assert store.add(sample, source="again", at=AT).total_new() == 0
        assert list(Calls(store).each()) == calls
        with writing(store.engine) as connection:
            Calls(store).append_new(connection, [CALL])
        assert list(Calls(store).each()) == [CALL]
        assert store.verify_log() == ()


NEXT = schema.SCHEMA + 1
_NEXT = f'''"""A test's next schema."""

import sqlalchemy as sa
from alembic import op

revision = "{NEXT:04d}"
down_revision = "{NEXT - 1:04d}"


def upgrade() -> None:
    op.add_column("ratings", sa.Column("device", sa.Text, nullable=False, server_default=""))
    {{failure}}
'''


def _next_version(tmp_path: Path, failure: str = "") -> Path:
    scripts = tmp_path / "scripts 100%"
    shutil.copytree(migrate.MIGRATIONS, scripts, ignore=shutil.ignore_patterns("__pycache__"))
    (scripts / "versions" / f"{NEXT:04d}_next.py").write_text(_NEXT.format(failure=failure))
    return scripts


def test_a_migration_keeps_every_rating(
    filled: Store, where: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = filled.batch()
    monkeypatch.setattr(schema, "SCHEMA", NEXT)
    monkeypatch.setattr(migrate.upgrade, "__defaults__", (_next_version(tmp_path),))
    with Store.open(where) as store:
        assert store.batch() == before
        assert store.verify_log() == ()
        with store.engine.connect() as connection:
            assert (
                connection.execute(
                    sa.text("SELECT count(*) FROM ratings WHERE device = ''")
                ).scalar()
                == 6
            )
            assert connection.execute(
                sa.text("SELECT value FROM meta WHERE key = 'schema'")
            ).scalar() == str(NEXT)
    monkeypatch.setattr(schema, "SCHEMA", NEXT - 1)
    with pytest.raises(
        StoreError,
        match=rf"by a newer konsil \(schema {NEXT}; this one supports up to {NEXT - 1}\)",
    ):
        Store.open(where)


def test_a_migration_that_fails_changes_nothing(
    filled: Store, where: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = filled.batch()
    scripts = _next_version(tmp_path, 'op.execute("INSERT INTO nowhere VALUES (1)")')
    with pytest.raises(StoreError), writing(filled.engine) as connection:
        migrate.upgrade(connection, scripts)
    with Store.open(where) as store:
        assert store.batch() == before
        columns = [c["name"] for c in sa.inspect(store.engine).get_columns("ratings")]
        assert "device" not in columns


def test_a_newer_schema_is_refused(filled: Store, where: str) -> None:
    with filled.engine.connect() as connection:
        connection.execute(
            sa.text("UPDATE meta SET value = :newer WHERE key = 'schema'"), {"newer": str(NEXT)}
        )
        connection.commit()
    with pytest.raises(
        StoreError,
        match=rf"was written by a newer konsil \(schema {NEXT}; this one supports up to",
    ):
        Store.open(where)


def _sorted(batch: Batch) -> Batch:
    def place(r: Rating) -> tuple[object, ...]:
        return (
            r.task,
            r.criterion,
            r.answers,
            r.span is not None,
            r.span and (r.span.start, r.span.end),
        )

    return Batch(
        batch.items,
        batch.answers,
        tuple(sorted(batch.raters, key=lambda r: r.id)),
        batch.tasks,
        tuple(sorted(batch.ratings, key=place)),
        batch.attempts,
        batch.events,
    )
