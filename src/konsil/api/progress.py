"""A bar for work of more than two seconds: in a terminal on standard error, or in a notebook.

Where everything is to be shown, the seconds of each stage are written to standard error instead.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from konsil.progress import is_listening, listening, verbosity

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

PATIENCE = 2.0
"""Seconds without a bar: most work has ended by then."""
PAUSE = 0.1
"""Seconds between two drawings of a stage: steps can be short."""


class Bar:
    """One bar, which appears once the work has taken longer than `PATIENCE`."""

    def __init__(self, patience: float = PATIENCE) -> None:
        self._due = time.monotonic() + patience
        self._bar: Progress | None = None
        self._rows: dict[str, TaskID] = {}
        self._drawn: dict[str, float] = {}

    def __call__(self, stage: str, n_completed: int, total: int) -> None:
        """Show a stage's progress."""
        if self._bar is None:
            if time.monotonic() < self._due:
                return
            self._bar = _bar()
            self._bar.start()
        if stage not in self._rows:
            self._rows[stage] = self._bar.add_task(stage, total=total or None)
        elif n_completed != total and time.monotonic() < self._drawn[stage] + PAUSE:
            return
        self._drawn[stage] = time.monotonic()
        self._bar.update(self._rows[stage], completed=n_completed, total=total or None)

    def close(self) -> None:
        """Take the bar away."""
        if self._bar is not None:
            self._bar.stop()


class StageTimes:
    """Writes to standard error how many seconds each stage took, when it ends."""

    def __init__(self) -> None:
        self._start: dict[str, float] = {}

    def __call__(self, stage: str, n_completed: int, total: int) -> None:
        """Begin a stage, or end it with its last step."""
        start = self._start.setdefault(stage, time.monotonic())
        if total and n_completed == total:
            seconds = time.monotonic() - start
            steps = f" ({total:,})" if total > 1 else ""
            sys.stderr.write(f"{stage}{steps}: {seconds:.1f} s\n")
            del self._start[stage]

    def close(self) -> None:
        """Forget the stages that have not ended."""
        self._start.clear()


@contextmanager
def progress() -> Iterator[None]:
    """Show the progress of the block where somebody watches; within another such block that one."""
    if is_listening() or not (verbosity() == "verbose" or is_watched()):
        yield
        return
    bar = StageTimes() if verbosity() == "verbose" else Bar()
    try:
        with listening(bar):
            yield
    finally:
        bar.close()


def is_watched() -> bool:
    """Whether progress is seen: on a terminal or in a notebook that is not to be quiet."""
    return verbosity() != "quiet" and (sys.stderr.isatty() or is_notebook())


def is_notebook() -> bool:
    """Whether a Jupyter kernel runs the code; nothing is imported to know it."""
    shell = sys.modules.get("IPython")
    running = shell.get_ipython() if shell is not None else None
    return type(running).__name__ == "ZMQInteractiveShell"


def _bar() -> Progress:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        console=Console() if is_notebook() else Console(stderr=True),
        transient=True,
    )
