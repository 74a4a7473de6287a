"""A sample of the kills: every command that writes is among them, and after a kill nothing is lost
or doubled."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).resolve().parents[1] / "benchmarks" / "kills.py"
LEFT_OUT = "import sys; sys.path.insert(0, sys.argv[1]); import kills; print(kills.left_out())"


def test_no_command_is_forgotten() -> None:
    done = subprocess.run(
        [sys.executable, "-c", LEFT_OUT, PROGRAM.parent], capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="forks processes that have loaded libraries")
def test_killed_commands_and_a_killed_server_lose_and_double_nothing() -> None:
    chosen = ("import", "plan", "places", "mask", "withdraw", "server")
    command = [
        sys.executable,
        PROGRAM,
        "--kills",
        "12",
        "--seed",
        "7",
        *(w for c in chosen for w in ("--command", c)),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=500)
    assert done.returncode == 0, done.stderr
    counts = [int(count) for count in done.stdout.splitlines()[-1].split(" | ")[1:]]
    assert counts[0] > 6
    assert counts[1:] == [0, 0, 0, 0]
