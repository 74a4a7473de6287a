"""A real PostgreSQL server for the tests of several workers, and studies on it."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

_spec = importlib.util.spec_from_file_location(
    "store_fixtures_of_workers", Path(__file__).parents[2] / "store" / "conftest.py"
)
assert _spec is not None
assert _spec.loader is not None
_fixtures = importlib.util.module_from_spec(_spec)
sys.modules[_spec.name] = _fixtures
_spec.loader.exec_module(_fixtures)
server = _fixtures.server
sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture
def database(server: str) -> str:
    """An empty database of the server."""
    return str(_fixtures.new_database(server))


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.slow)])
def where(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A place for a store: what a lease is does not depend on the database."""
    if request.param == "sqlite":
        return str(tmp_path)
    return str(request.getfixturevalue("database"))
