"""`python -m konsil`, and Ctrl+C at any moment: while modules are imported, and within a command."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from konsil.version import __version__

_INTERRUPTED = """
import runpy, signal, sys

# A parent in the background ignores the signal, and its children would too.
signal.signal(signal.SIGINT, signal.default_int_handler)

class Interrupting:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            signal.raise_signal(signal.SIGINT)

sys.meta_path.insert(0, Interrupting())
sys.argv = ["konsil", "agreement", "ratings.csv", "--resamples", "100"]
runpy.run_module("konsil", run_name="__main__", alter_sys=True)
"""
"""Ctrl+C as a module begins to be imported."""


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    (folder / "ratings.csv").write_text("item,ann,ben\n1,a,b\n2,a,a\n3,b,b\n")
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_the_package_is_a_program(tmp_path: Path) -> None:
    result = run(tmp_path, "-m", "konsil", "--version")
    assert (result.returncode, result.stdout) == (0, f"konsil, version {__version__}\n")


@pytest.mark.parametrize(
    "module", ["click", "konsil.cli.main", "konsil.cli.agreement", "polars", "numpy"]
)
def test_an_interrupt_while_a_module_is_imported_stops(tmp_path: Path, module: str) -> None:
    result = run(tmp_path, "-c", _INTERRUPTED.format(module=module))
    assert (result.returncode, result.stdout) == (130, "")
    assert result.stderr.split() == ["stopped"]
