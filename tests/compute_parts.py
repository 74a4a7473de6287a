"""What the tests of runners compute, in a module that processes of other cores can import."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from konsil.errors import AnalysisError

if TYPE_CHECKING:
    from konsil.analysis.running.rows.parts import RunData


def square(part: int) -> int:
    return part * part


def square_after_a_death(part: int, *, folder: Path) -> int:
    """The worker that computes part 3 for the first time is killed."""
    mark = folder / "killed"
    if part == 3 and not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return part * part


def scaled_after_a_death(factors: list[int], part: int, *, folder: Path) -> tuple[int, int, int]:
    """The product with the first factor, the process, and which of its parts this was; as above."""
    product = factors[0] * square_after_a_death(part, folder=folder)
    factors.append(part)
    return product, os.getpid(), len(factors) - 1


def refused_with(_shared: object, part: int) -> int:
    return refused(part)


def outcome_after_a_death(data: RunData, part: Any, *, function: Any, folder: Path) -> Any:
    """What a function of a run's data gives; the first worker to reach the third part is killed."""
    mark = folder / "killed"
    if part == 2 and not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return function(data, part)


def killed(part: int) -> int:
    os.kill(os.getpid(), signal.SIGKILL)
    return part


def refused(part: int) -> int:
    raise AnalysisError(f"part {part}: refused")
