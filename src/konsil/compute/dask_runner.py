"""Dask as the runner of the parts of a computation, on this machine or on many."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from typing import TypeVar, cast

import dask
from distributed import Client, KilledWorker, LocalCluster

from konsil.compute.runners import ATTEMPTS, MEMORY, Work, in_order
from konsil.errors import AnalysisError, option

T = TypeVar("T")
R = TypeVar("R")

_SECONDS = 20
"""How long a scheduler may take to answer."""
_THREADS = ("POLARS_MAX_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


class DaskRunner:
    """Computes on the workers of a Dask scheduler."""

    def __init__(self, client: Client, work: Work) -> None:
        self._client, self._work = client, work

    def map(self, function: Callable[[T], R], parts: Sequence[T]) -> Iterator[R]:
        """The results in the order of the parts; Dask runs parts again whose worker dies."""
        n_workers = max(len(self._client.scheduler_info(n_workers=-1)["workers"]), 1)
        try:
            yield from in_order(
                lambda part: cast("Future[R]", self._client.submit(function, part, pure=False)),
                parts,
                n_workers,
            )
        except KilledWorker:
            raise AnalysisError(
                f"{option('compute')}: {ATTEMPTS + 1} workers ended with the same"
                f" {self._work.part}, probably because it needs more memory than a worker has;"
                f" {self._work.advice}"
            ) from None


@contextmanager
def local(n: int, work: Work) -> Iterator[DaskRunner]:
    """`n` workers on this machine, each one process with one thread and limited memory."""
    with (
        _quiet(),
        dask.config.set({"distributed.scheduler.allowed-failures": ATTEMPTS}),
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
