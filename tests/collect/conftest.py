"""Stores with items to ask about; makes made_works.py importable, as in importlib mode a test's
folder is not."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from konsil.records import Item
from konsil.store import Batch, Store

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path) as opened:
        yield opened


@pytest.fixture
def items(store: Store) -> tuple[Item, ...]:
    found = tuple(Item(f"i{n}", f"Question {n}?", f"answer {n}") for n in range(40))
    store.add(Batch(items=found), source="items", at="2025-03-01T12:00:00Z")
    return store.items()
