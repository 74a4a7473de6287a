"""The fixtures of these tests, over a database of either kind: SQLite always, a PostgreSQL server
in the slow suite.

A test module that imports `opened` from here runs every one of its tests on both.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from konsil.store import Store
from store.conftest import new_database, server

from .conftest import hurried

__all__ = ["opened", "server"]


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.slow)])
def opened(request: pytest.FixtureRequest, tmp_path: Path, empty: Path) -> Iterator[Store]:
    if request.param == "postgresql":
        with Store.open(new_database(request.getfixturevalue("server"))) as store:
            yield store
        return
    shutil.copyfile(empty, tmp_path / "konsil.db")
    with Store.open(tmp_path) as store:
        hurried(store)
        yield store
