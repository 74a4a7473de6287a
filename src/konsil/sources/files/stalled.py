"""Child processes that wait without end.

A library in Rust that runs out of memory may wait for a lock that it holds itself.

Such a child neither ends nor uses the processor, so that no limit of its memory and time ever ends
it.
"""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

TICK, TICKS = 1.0, 20
"""Seconds between two looks at a child, and looks at which it must have done nothing to be
ended."""


class Watch:
    """Whether the child was ended because it stalled."""

    stalled = False


@contextmanager
def watched(child: subprocess.Popen[bytes]) -> Iterator[Watch]:
    """End a child that sleeps without end within the context.

    Without /proc, no child is watched.
    """
    watch, over = Watch(), threading.Event()

    def look() -> None:
        idle, before = 0, ""
        # Counted in looks, so that time in which this process was stopped is none in which the
        # child did nothing.
        while not over.wait(TICK) and child.poll() is None:
            state, used = _activity(child.pid)
            idle = idle + 1 if state == "S" and used == before else 0
            before = used
            if idle >= TICKS:
                watch.stalled = True
                child.kill()
                return

    if sys.platform != "linux":
        yield watch
        return
    thread = threading.Thread(target=look, daemon=True)
    thread.start()
    try:
        yield watch
    finally:
        over.set()
        thread.join()


def _activity(pid: int) -> tuple[str, str]:
    """A process's state (S: it sleeps; D would be a wait for a disk) and its processor time."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text("utf-8", "replace").rpartition(")")[2].split()
    except OSError:
        return "", ""
    return fields[0], f"{fields[11]} {fields[12]}"
