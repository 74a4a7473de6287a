"""Parts of a computation, each computed by itself: here, or where the caller has them computed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol, TypeVar

S = TypeVar("S")
P = TypeVar("P")
R = TypeVar("R")


class Compute(Protocol):
    """Computes a function of shared data and of a part, for each part."""

    def __call__(
        self, function: Callable[[S, P], R], shared: S, parts: Sequence[P], /
    ) -> Iterator[R]:
        """The results in the order of the parts."""


def in_this_process(function: Callable[[S, P], R], shared: S, parts: Sequence[P], /) -> Iterator[R]:
    """The results, computed one after the other, each when it is needed.

    >>> list(in_this_process(lambda shared, part: shared * part, 2, [1, 2, 3]))
    [2, 4, 6]
    """
    return (function(shared, part) for part in parts)
