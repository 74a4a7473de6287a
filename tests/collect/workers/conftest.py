"""A real PostgreSQL server for the tests of several workers, and studies on it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from store.conftest import new_database, server  # noqa: F401  a fixture

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture
def database(server: str) -> str:
    """An empty database of the server."""
    return new_database(server)


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.slow)])
def where(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A place for a store: what a lease is does not depend on the database."""
    if request.param == "sqlite":
        return str(tmp_path)
    return str(request.getfixturevalue("database"))
