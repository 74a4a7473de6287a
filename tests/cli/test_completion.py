"""Completion in shells, as docs/howto-commands.md states it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "howto-commands.md"


def completion(**variables: str) -> str:
    """What konsil prints to a shell that sets these variables."""
    code = "import sys; sys.argv[0] = 'konsil'; from konsil.cli import main; main()"
    run = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    return run.stdout


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_the_documented_variable_gives_the_shells_script(shell: str) -> None:
    documented = re.findall(r"_KONSIL_COMPLETE=(\w+)_source", PAGE.read_text("utf-8"))
    assert documented == ["bash", "zsh", "fish"]
    script = completion(_KONSIL_COMPLETE=f"{shell}_source")
    assert f"_KONSIL_COMPLETE={shell}_complete" in script


def test_the_start_of_a_command_is_completed() -> None:
    completed = completion(
        _KONSIL_COMPLETE="bash_complete", COMP_WORDS="konsil ver", COMP_CWORD="1"
    )
    assert completed == "plain,verify-log\n"
