"""Shared fixtures: where the optional real data lie."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# Under importlib mode a test's folder is not on the path; pocqi_tables.py is used by several folders.
sys.path.append(str(Path(__file__).parent))

DATA = Path(os.environ.get("KONSIL_TEST_DATA", str(Path(__file__).resolve().parents[2] / "shared" / "data")))


# A busy machine is no fault of a property: neither the time of one example nor that of making it is a failure.
_BUSY = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("thorough", _BUSY)
settings.register_profile("quick", _BUSY, max_examples=25)


def pytest_configure(config: pytest.Config) -> None:
    """A quarter of the examples where the slow tests are left out; the whole suite tries all of them."""
    settings.load_profile("quick" if "not slow" in str(config.option.markexpr) else "thorough")


def real_data(name: str) -> Path:
    """The folder of a real data set, or a skip where it is absent."""
    folder = DATA / name
    if not folder.exists():
        pytest.skip(f"real data {name} is not on this machine")
    return folder


@pytest.fixture(scope="session")
def data() -> object:
    """Call it with a data set's name to get its folder; skips where it is absent."""
    return real_data
