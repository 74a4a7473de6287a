"""Ctrl-C while models are called: the first lets what is under way end, as it is paid for.

The second stops at once.
"""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from konsil.collect.running.runner import Runner


@contextmanager
def interruptible(runner: Runner) -> Iterator[None]:
    """Take Ctrl-C while the block runs.

    Outside the main thread, and on systems without signals, nothing changes.
    """
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    before = signal.getsignal(signal.SIGINT)

    def interrupted() -> None:
        if runner.progress.is_interrupted:
            assert task is not None
            task.cancel()
            return
        runner.progress.is_interrupted = True
        n = runner.wind_down("by Ctrl-C")
        sys.stderr.write(
            f"\nwaiting for {n:,} {'call' if n == 1 else 'calls'} under way; Ctrl-C again stops at"
            " once\n"
        )
        sys.stderr.flush()

    try:
        loop.add_signal_handler(signal.SIGINT, interrupted)
    # Windows and threads have no such handlers: there Ctrl-C ends the program at once.
    except (NotImplementedError, RuntimeError, ValueError):
        yield
        return
    try:
        yield
    finally:
        loop.remove_signal_handler(signal.SIGINT)
        signal.signal(signal.SIGINT, before)
