"""How many cores of this machine a command uses, and the threads on which it computes blocks."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from konsil.compute.runners import in_order
from konsil.errors import AnalysisError

B = TypeVar("B")
R = TypeVar("R")

CORES = "KONSIL_CORES"
"""Environment variable with the number of cores that a command may use."""
_PLACE = re.compile(r"cores:([1-9][0-9]{0,3})")
_QUOTA = Path("/sys/fs/cgroup/cpu.max")
"""The processor time that a container may take, and of how much: microseconds, or max."""
_DEFAULT_LIMIT = 8
"""Cores that are used unasked: each takes up to 130 MB where there are very many clusters."""


def is_cores(place: str) -> bool:
    """Whether a place is this machine's cores: cores:N.

    >>> is_cores("cores:2"), is_cores("local:2"), is_cores("")
    (True, False, False)
    """
    return _PLACE.fullmatch(place) is not None


def n_cores(place: str = "") -> int:
    """The number of cores: that of cores:N, else of the environment, else of this process.

    An AnalysisError where the environment has no number.
    """
    match = _PLACE.fullmatch(place)
    if match:
        return int(match[1])
    stated = os.environ.get(CORES, "").strip()
    if not stated:
        return min(_available(), _DEFAULT_LIMIT)
    if not (stated.isascii() and stated.isdigit() and int(stated)):
        raise AnalysisError(f"{CORES}: got {stated!r}, expected a number of cores such as 2")
    return int(stated)


@contextmanager
def on_cores(place: str = "") -> Iterator[None]:
    """Compute large blocks of draws on threads, as many as there are cores for it."""
    n = n_cores(place)
    if n < 2:
        yield
        return
    # Workers that only code tables need no statistics.
    from konsil.stats.engine.blocks import computed_by

    with ThreadPoolExecutor(n, "konsil-blocks") as pool, computed_by(_Threads(pool, n)):
        yield


@dataclass(frozen=True)
class _Threads:
    """Computes blocks on threads of this process."""

    pool: ThreadPoolExecutor
    """The threads."""
    n: int
    """How many there are."""

    def __call__(self, function: Callable[[B], R], blocks: Iterable[B], /) -> Iterator[R]:
        """The results in the order of the blocks, of which few are computed ahead."""
        return in_order(lambda block: self.pool.submit(function, block), blocks, self.n)


def _available() -> int:
    """The cores that this process may use."""
    n = os.cpu_count() or 1
    if hasattr(os, "sched_getaffinity"):  # not on every system
        n = len(os.sched_getaffinity(0))
    try:
        quota, period = _QUOTA.read_text("ascii").split()
        return max(min(n, int(quota) // int(period)), 1)
    except (OSError, ValueError):  # no container, or one without a limit
        return n
