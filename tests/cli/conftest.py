"""A command called as from a shell."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from konsil.cli import main

Call = Callable[..., tuple[int, str, str]]


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str]) -> Call:
    def run(*arguments: object) -> tuple[int, str, str]:
        """Exit code, standard output, standard error."""
        code = 0
        try:
            main([str(a) for a in arguments])
        except SystemExit as stop:
            code = int(stop.code or 0)
        out, err = capsys.readouterr()
        return code, out, err

    return run
