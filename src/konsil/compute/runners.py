"""Runners of the parts of a computation in this process and on this machine's cores."""

from __future__ import annotations

import hashlib
import multiprocessing
import os
import pickle
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol, TypeVar

from konsil.errors import AnalysisError

S = TypeVar("S")
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

    def map_with(
        self, function: Callable[[S, T], R], shared: S, parts: Sequence[T], /
    ) -> Iterator[R]:
        """The same of a function that also takes data that all parts share.

        A worker gets them once; they must not change.
        """

    def of(self, work: Work) -> Runner:
        """The same runner for other work, which its errors name."""


@dataclass(frozen=True)
class Payload:
    """Shared data on their way to workers, as bytes."""

    content: bytes
    """The pickled data."""
    digest: str
    """Their SHA-256."""

    @classmethod
    def of(cls, shared: object) -> Payload:
        """The data as they are now."""
        content = pickle.dumps(shared, pickle.HIGHEST_PROTOCOL)
        return cls(content, hashlib.sha256(content).hexdigest())

    def read(self) -> Any:  # noqa: ANN401  whatever was pickled
        """The data, which a process makes once and uses for all parts."""
        if self.digest not in _READ:
            _READ.clear()
            _READ[self.digest] = pickle.loads(self.content)  # noqa: S301  our own command's
        return _READ[self.digest]


_READ: dict[str, Any] = {}
"""The data that this process read last, by their digest."""


def of_shared(payload: Payload, function: Callable[[S, T], R], part: T) -> R:
    """The function of the shared data and a part, in a worker."""
    shared: S = payload.read()
    return function(shared, part)


class ThisProcess:
    """Computes in this process, one part after the other."""

    def map(self, function: Callable[[T], R], parts: Sequence[T]) -> Iterator[R]:
        """The results in the order of the parts."""
        return map(function, parts)

    def map_with(
        self, function: Callable[[S, T], R], shared: S, parts: Sequence[T], /
    ) -> Iterator[R]:
        """The results in the order of the parts."""
        return (function(shared, part) for part in parts)

    def of(self, _: Work) -> Runner:
        """The runner itself, which has no errors of its own."""
        return self


class Cores:
    """Computes in processes of this machine, each with limited memory; 0: without a limit."""

    def __init__(self, n: int, work: Work = PIECES, *, memory: int = MEMORY) -> None:
        self.n, self.work, self.memory = n, work, memory

    def map(self, function: Callable[[T], R], parts: Sequence[T]) -> Iterator[R]:
        """The results in the order of the parts; parts of a process that dies run again."""
        return self._map(function, parts, None)

    def map_with(
        self, function: Callable[[S, T], R], shared: S, parts: Sequence[T], /
    ) -> Iterator[R]:
        """The same; every process gets the shared data when it starts."""
        return self._map(partial(_of_own, function), parts, Payload.of(shared))

    def of(self, work: Work) -> Runner:
        """As many processes for other work."""
        return Cores(self.n, work, memory=self.memory)

    def _map(
        self, function: Callable[[T], R], parts: Sequence[T], payload: Payload | None
    ) -> Iterator[R]:
        n_computed, attempts = 0, 0
        while n_computed < len(parts):
            pool, is_broken = self._pool(min(self.n, len(parts) - n_computed), payload), False
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

    def _pool(self, n: int, payload: Payload | None) -> ProcessPoolExecutor:
        # Fresh processes: a fork of a process with threads (Polars, BLAS) may hang.
        return ProcessPoolExecutor(
            n,
            mp_context=multiprocessing.get_context("spawn"),
            initializer=_start,
            initargs=(self.memory, payload),
        )


def in_order(submit: Callable[[T], Future[R]], parts: Iterable[T], n_workers: int) -> Iterator[R]:
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


_OWN: list[Payload] = []
"""The shared data of this process, if it is a worker that got some."""


def _of_own(function: Callable[[S, T], R], part: T) -> R:
    """The function of this worker's shared data and of a part."""
    return of_shared(_OWN[-1], function, part)


def _start(memory: int, payload: Payload | None) -> None:
    """Limit this process's memory and threads; the parts are what runs at once."""
    if payload is not None:
        _OWN.append(payload)
    os.environ["POLARS_MAX_THREADS"] = "1"
    if memory and sys.platform == "linux":
        import resource

        hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
        soft = memory if hard < 0 else min(memory, hard)
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))
