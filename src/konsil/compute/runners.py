"""Runners of the parts of a computation in this process and on this machine's cores."""

from __future__ import annotations

import multiprocessing
import os
import sys
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
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
    """Computes in processes of this machine, each with limited memory."""

    def __init__(self, n: int) -> None:
        self.n = n

    def map(self, function: Callable[[T], R], parts: Sequence[T]) -> Iterator[R]:
        """The results in the order of the parts; parts of a process that dies run again."""
        n_computed, attempts = 0, 0
        while n_computed < len(parts):
            pool, is_broken = _pool(self.n), False
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
                    raise AnalysisError(
                        f"part {n_computed + 1} of {len(parts)}: its process ended {ATTEMPTS} times,"
                        f" probably because it needs more than {MEMORY >> 30} GB of memory; use"
                        " smaller Parquet files"
                    ) from None
            finally:
                # Processes of a pool that broke may never answer.
                pool.shutdown(wait=not is_broken, cancel_futures=True)


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


def _pool(n: int) -> ProcessPoolExecutor:
    # Fresh processes: a fork of a process with threads (Polars, BLAS) may hang.
    return ProcessPoolExecutor(
        n, mp_context=multiprocessing.get_context("spawn"), initializer=_limit, initargs=(MEMORY,)
    )


def _limit(memory: int) -> None:
    """Limit this process's memory and threads; the parts are what runs at once."""
    os.environ["POLARS_MAX_THREADS"] = "1"
    if sys.platform == "linux":
        import resource

        hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
        soft = memory if hard < 0 else min(memory, hard)
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))
