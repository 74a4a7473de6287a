"""How long every kind of request took, and what went wrong."""

from __future__ import annotations

import math
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Row:
    """One kind of request."""

    kind: str
    """come in, before, next task, save, submit, look again, file; go on: handing in and the page
    that follows."""
    count: int
    """How many there were."""
    p50: float
    """Half were answered within so many seconds."""
    p95: float
    """Nineteen of twenty were."""
    p99: float
    """Ninety-nine of a hundred were."""
    largest: float
    """All were."""
    size: float
    """Bytes of an answer, on average."""


class Times:
    """Seconds by kind of request, from any number of threads."""

    def __init__(self) -> None:
        self._seconds: dict[str, list[float]] = {}
        self._bytes: dict[str, int] = {}
        self._lock = threading.Lock()
        self.faults: list[str] = []
        """What went wrong, one sentence each."""

    def took(self, kind: str, seconds: float, size: int = 0) -> None:
        """Note one request."""
        with self._lock:
            self._seconds.setdefault(kind, []).append(seconds)
            self._bytes[kind] = self._bytes.get(kind, 0) + size

    def fault(self, sentence: str) -> None:
        """Note what went wrong."""
        with self._lock:
            self.faults.append(sentence)

    def seconds(self) -> Mapping[str, Sequence[float]]:
        """Kind -> seconds of every request."""
        with self._lock:
            return {kind: tuple(durations) for kind, durations in self._seconds.items()}

    def rows(self) -> tuple[Row, ...]:
        """One row a kind, in the order in which they came first."""
        return tuple(self._row(kind, seconds) for kind, seconds in self.seconds().items())

    def _row(self, kind: str, seconds: Sequence[float]) -> Row:
        p50, p95, p99, largest = (quantile(seconds, share) for share in (0.5, 0.95, 0.99, 1.0))
        return Row(kind, len(seconds), p50, p95, p99, largest, self._bytes[kind] / len(seconds))


def quantile(values: Sequence[float], share: float) -> float:
    """The smallest value that a share of the values does not exceed; nan of none.

    >>> quantile([3.0, 1.0, 2.0], 0.5), quantile([3.0, 1.0, 2.0], 1.0)
    (2.0, 3.0)
    """
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)] if ordered else math.nan
