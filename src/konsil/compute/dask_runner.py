"""Dask as the runner of the parts of a computation, on this machine or on many."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from typing import Any, TypeVar, cast

import dask
from distributed import Client, KilledWorker, LocalCluster

from konsil.compute.runners import ATTEMPTS, MEMORY, Payload, Work, in_order, of_shared
from konsil.errors import AnalysisError, option

S = TypeVar("S")
T = TypeVar("T")
R = TypeVar("R")

_SECONDS = 20
"""How long a scheduler may take to answer."""
_THREADS = ("POLARS_MAX_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
_OF_LOCAL_WORKERS = {
    "distributed.scheduler.allowed-failures": ATTEMPTS,
    # Dask's own environment also returns freed memory at once, which took a third of the time of
    # analyses: they request arrays of the same sizes again and again.
    "distributed.nanny.pre-spawn-environ": dict.fromkeys(_THREADS, "1"),
    # Samples of the workers' stacks, a hundred a second.
    "distributed.worker.profile.enabled": False,
}
"""Dask's settings for workers on this machine."""


class DaskRunner:
    """Computes on the workers of a Dask scheduler."""

    def __init__(self, client: Client, work: Work) -> None:
        self._client, self._work = client, work
        self._sent: tuple[object, Future[Payload]] | None = None

    def map(self, function: Callable[[T], R], parts: Sequence[T]) -> Iterator[R]:
        """The results in the order of the parts; Dask runs parts again whose worker dies."""
        return self._results(lambda part: self._submit(function, part), parts)

    def map_with(
        self, function: Callable[[S, T], R], shared: S, parts: Sequence[T], /
    ) -> Iterator[R]:
        """The same; the scheduler keeps the shared data, and each worker gets them once."""
        # Data that were scattered would be lost with their last worker: those of a task are made
        # again from what the scheduler has of it.
        if self._sent is None or self._sent[0] is not shared:
            self._sent = shared, self._submit(_unchanged, Payload.of(shared))
        payload = self._sent[1]
        return self._results(lambda part: self._submit(of_shared, payload, function, part), parts)

    def of(self, work: Work) -> DaskRunner:
        """The same workers for other work."""
        return DaskRunner(self._client, work)

    def _submit(self, function: Callable[..., Any], *arguments: object) -> Future[Any]:
        with warnings.catch_warnings():
            # That shared data of more than 10 MB are not scattered.
            warnings.filterwarnings("ignore", "Sending large graph", UserWarning)
            return cast("Future[Any]", self._client.submit(function, *arguments, pure=False))

    def _results(self, submit: Callable[[T], Future[R]], parts: Sequence[T]) -> Iterator[R]:
        n_workers = max(len(self._client.scheduler_info(n_workers=-1)["workers"]), 1)
        try:
            yield from in_order(submit, parts, n_workers)
        except KilledWorker:
            raise AnalysisError(
                f"{option('compute')}: {ATTEMPTS + 1} workers ended with the same"
                f" {self._work.part}, probably because it needs more memory than a worker has;"
                f" {self._work.advice}"
            ) from None


def _unchanged(payload: Payload) -> Payload:
    return payload


@contextmanager
def local(n: int, work: Work) -> Iterator[DaskRunner]:
    """`n` workers on this machine, each one process with one thread and limited memory."""
    with (
        _quiet(),
        dask.config.set(_OF_LOCAL_WORKERS),
        LocalCluster(  # type: ignore[no-untyped-call]
            n_workers=n,
            threads_per_worker=1,
            processes=True,
            memory_limit=MEMORY,
            dashboard_address=None,
            host="127.0.0.1",
            silence_logs=logging.CRITICAL,
            env=dict.fromkeys(_THREADS, "1"),
        ) as cluster,
        Client(cluster, set_as_default=False) as client,  # type: ignore[no-untyped-call]
    ):
        yield DaskRunner(client, work)


@contextmanager
def remote(address: str, work: Work) -> Iterator[DaskRunner]:
    """The workers of a scheduler; the versions of konsil there and here must be the same."""
    with _quiet():
        try:
            client = Client(  # type: ignore[no-untyped-call]
                address, timeout=_SECONDS, set_as_default=False
            )
        except (OSError, TimeoutError) as error:
            raise AnalysisError(
                f"{option('compute')} {address}: no Dask scheduler answers ({type(error).__name__})"
            ) from None
        with client:
            yield DaskRunner(client, work)


@contextmanager
def _quiet() -> Iterator[None]:
    """Dask's own messages are of no use to those who wait for a result."""
    logger = logging.getLogger("distributed")
    before = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        logger.setLevel(before)
