"""Transactions that do not wait for the disk: what they note is there, and the next one waits
again."""

from __future__ import annotations

from pathlib import Path

import pytest
import sqlalchemy as sa

from konsil.store import Store
from konsil.store.engine import schema
from konsil.store.engine.engine import noting, reading, writing


def synchronous(store: Store) -> int:
    with reading(store.engine) as connection:
        return int(connection.exec_driver_sql("PRAGMA synchronous").scalar_one())


def note(key: str) -> sa.Insert:
    return sa.insert(schema.meta).values(key=key, value="x")


def test_what_is_noted_is_there_and_the_disk_is_waited_for_again(tmp_path: Path) -> None:
    with Store.open(tmp_path) as store:
        with noting(store.engine) as connection:
            connection.execute(note("a"))
            assert connection.exec_driver_sql("PRAGMA synchronous").scalar_one() == 1
        assert synchronous(store) == 2
        with pytest.raises(ZeroDivisionError), noting(store.engine) as connection:
            connection.execute(note("b"))
            raise ZeroDivisionError
        assert synchronous(store) == 2
        with writing(store.engine) as connection:
            assert connection.exec_driver_sql("PRAGMA synchronous").scalar_one() == 2
            keys = connection.execute(sa.select(schema.meta.c.key)).scalars().all()
        assert "a" in keys
        assert "b" not in keys
