"""Durable writes in groups: what waits while the disk is busy is written in one commit."""

from __future__ import annotations

import asyncio
import contextlib
import queue
import threading
from collections.abc import Callable, Sequence

from konsil.records import Call

MOST = 1_000
"""Calls of one commit, at most."""

_Waiting = tuple[Call, asyncio.Future[None]]


class Writer:
    """A thread that writes calls; `add` returns when its call survives a power cut.

    One thread and a transaction for each group: the cost of a commit, which is the disk's, is
    shared by all calls that came meanwhile.
    """

    def __init__(self, write: Callable[[Sequence[Call]], None]) -> None:
        self._write = write
        self._queue: queue.SimpleQueue[_Waiting | None] = queue.SimpleQueue()
        self._loop = asyncio.get_running_loop()
        self._thread = threading.Thread(target=self._run, name="konsil-writer", daemon=True)
        self._thread.start()

    async def add(self, call: Call) -> None:
        """Write a call and wait until it is durable; raises what the store raised."""
        written = self._loop.create_future()
        self._queue.put((call, written))
        await written

    def close(self) -> None:
        """Write what is waiting and end the thread."""
        self._queue.put(None)
        self._thread.join()

    def _run(self) -> None:
        while True:
            group, last = self._group()
            if group:
                error: Exception | None = None
                try:
                    self._write([call for call, _ in group])
                # Handed to those who wait, whatever it is.
                except Exception as caught:  # noqa: BLE001
                    error = caught
                # Where the loop is closed nobody waits any more, and the calls are written.
                with contextlib.suppress(RuntimeError):
                    self._loop.call_soon_threadsafe(_notify, group, error)
            if last:
                return

    def _group(self) -> tuple[list[_Waiting], bool]:
        first = self._queue.get()
        if first is None:
            return [], True
        group = [first]
        # All that waits goes into one transaction, which takes as long as that of one call.
        while len(group) < MOST:
            try:
                more = self._queue.get_nowait()
            except queue.Empty:
                break
            if more is None:
                return group, True
            group.append(more)
        return group, False


def _notify(group: Sequence[_Waiting], error: Exception | None) -> None:
    for _, written in group:
        if written.done():  # cancelled meanwhile
            continue
        if error is None:
            written.set_result(None)
        else:
            written.set_exception(error)
