"""A process that ends with the one that started it, however that one ends."""

from __future__ import annotations

import os
import signal
import sys
import threading


def end_with_parent() -> None:
    """End this process and those that it started as soon as its standard input is closed.

    The parent holds the other end and nobody else: the operating system closes it when the parent
    is killed.
    """
    threading.Thread(target=_wait, daemon=True).start()


def _wait() -> None:
    try:
        while os.read(sys.stdin.fileno(), 1):
            pass
    finally:
        # The process leads a session of its own, so its workers are its group.
        (
            os.killpg(os.getpgrp(), signal.SIGTERM)
            if hasattr(os, "killpg")
            else os.kill(os.getpid(), signal.SIGTERM)
        )
