"""What the tests of runners compute, in a module that processes of other cores can import."""

from __future__ import annotations

import os
import signal
from pathlib import Path

from konsil.errors import AnalysisError


def square(part: int) -> int:
    return part * part


def square_after_a_death(part: int, *, folder: Path) -> int:
    """The worker that computes part 3 for the first time is killed."""
    mark = folder / "killed"
    if part == 3 and not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return part * part


def killed(part: int) -> int:
    os.kill(os.getpid(), signal.SIGKILL)
    return part


def refused(part: int) -> int:
    raise AnalysisError(f"part {part}: refused")
