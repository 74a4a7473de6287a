"""Every example in a docstring gives what it shows."""

from __future__ import annotations

import doctest
import importlib
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "konsil"
MODULES = sorted(
    ".".join(("konsil", *path.relative_to(SOURCE).with_suffix("").parts))
    for path in SOURCE.rglob("*.py")
    # The migrations run inside Alembic only.
    if path.name != "__init__.py"
    and "migrations" not in path.parts
    and ">>>" in path.read_text("utf-8")
)


@pytest.mark.parametrize("name", MODULES)
def test_examples(name: str) -> None:
    found = doctest.testmod(importlib.import_module(name))
    assert found.attempted
    assert not found.failed
