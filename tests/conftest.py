"""Shared fixtures: where the optional real data lie."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

DATA = Path(os.environ.get("KONSIL_TEST_DATA", str(Path(__file__).resolve().parents[2] / "shared" / "data")))


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
