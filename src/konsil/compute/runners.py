"""Runners of the parts of a computation in this process and on this machine's cores."""

from __future__ import annotations

import multiprocessing
import os
import sys
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from typing import Protocol, TypeVar

from konsil.errors import AnalysisError

T = TypeVar("T")
R = TypeVar("R")

MEMORY = 2 << 30
"""Bytes of memory that a worker on this machine may take."""
ATTEMPTS = 3
"""How often a part is computed when its worker dies."""
IN_FLIGHT = 2
"""Parts at once for each worker: results that wait take memory."""


@dataclass(frozen=True)
class Work:
    """What the parts of a computation are, for errors."""

    part: str
    """A part."""
    advice: str
    """What to do where a part needs more memory than there is."""


PIECES = Work("piece of the table", "use smaller Parquet files")
"""Pieces of data sets."""


class Runner(Protocol):
    """Computes a function of each part."""

    def map(self, function: Callable[[T], R], parts: Sequence[T]) -> Iterator[R]:
        """The results in the order of the parts."""


class ThisProcess:
    """Computes in this process, one part after the other."""

    def map(self, function: Callable[[T], R], parts: Sequence[T]) -> Iterator[R]:
        """The results in the order of the parts."""
        return map(function, parts)


class Cores:
    """Computes in processes of this machine, each with limited memory; 0: without a limit."""

    def __init__(self, n: int, work: Work = PIECES, *, memory: int = MEMORY) -> None:
        self.n, self.work, self.memory = n, work, memory

    def map(self, function: Callable[[T], R], parts: Sequence[T]) -> Iterator[R]:
        """The results in the order of the parts; parts of a process that dies run again."""
        n_computed, attempts = 0, 0
        while n_computed < len(parts):
            pool, is_broken = self._pool(), False
            try:
                for result in in_order(
                    lambda part, pool=pool: pool.submit(function, part),  # type: ignore[misc]
                    parts[n_computed:],
                    self.n,
                ):
                    n_computed, attempts = n_computed + 1, 0
                    yield result
            except BrokenProcessPool:
                is_broken, attempts = True, attempts + 1
                if attempts == ATTEMPTS:
                    limit = f" than {self.memory >> 30} GB" if self.memory else ""
                    raise AnalysisError(
                        f"{self.work.part} {n_computed + 1} of {len(parts)}: its process ended"
                        f" {ATTEMPTS} times, probably because it needs more memory{limit};"
                        f" {self.work.advice}"
                    ) from None
            finally:
                # Processes of a pool that broke may never answer.
                pool.shutdown(wait=not is_broken, cancel_futures=True)

    def _pool(self) -> ProcessPoolExecutor:
        # Fresh processes: a fork of a process with threads (Polars, BLAS) may hang.
        return ProcessPoolExecutor(
            self.n,
            mp_context=multiprocessing.get_context("spawn"),
            initializer=_limit,
            initargs=(self.memory,),
        )


def in_order(submit: Callable[[T], Future[R]], parts: Sequence[T], n_workers: int) -> Iterator[R]:
    """The results in the order of the parts, with few parts at once."""
    waiting: deque[Future[R]] = deque()
    try:
        for part in parts:
            waiting.append(submit(part))
            if len(waiting) >= IN_FLIGHT * n_workers:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        for future in waiting:
            future.cancel()


def _limit(memory: int) -> None:
    """Limit this process's memory and threads; the parts are what runs at once."""
    os.environ["POLARS_MAX_THREADS"] = "1"
    if memory and sys.platform == "linux":
        import resource

        hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
        soft = memory if hard < 0 else min(memory, hard)
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))
