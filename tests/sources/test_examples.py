"""The examples in the docstrings run."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

import konsil.sources

MODULES = [f"konsil.sources.{m.name}" for m in pkgutil.iter_modules(konsil.sources.__path__)]


@pytest.mark.parametrize("name", MODULES)
def test_docstrings(name: str) -> None:
    assert doctest.testmod(importlib.import_module(name)).failed == 0
