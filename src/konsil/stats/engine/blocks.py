"""Blocks of draws, each computed by itself: on the calling thread, or as the caller has it.

Blocks have random numbers of their own, and products and sorts of NumPy run beside one another, so
that the cores of a machine share a bootstrap without further processes or copies of the data.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Protocol, TypeVar

from konsil.stats.engine.weights import Remembered

B = TypeVar("B")
R = TypeVar("R")


class Each(Protocol):
    """Computes a function of each block."""

    def __call__(self, function: Callable[[B], R], blocks: Iterable[B], /) -> Iterator[R]:
        """The results in the order of the blocks, which are taken one by one on this thread."""


_EACH: ContextVar[Each] = ContextVar("each", default=map)
"""How blocks are computed; threads that compute some begin with `map`."""


@contextmanager
def computed_by(each: Each) -> Iterator[None]:
    """Have blocks computed by `each` within the context.

    >>> with computed_by(lambda function, blocks: map(function, blocks)):
    ...     list(in_blocks(abs, [-1, 2]))
    [1, 2]
    """
    before = _EACH.set(each)
    try:
        yield
    finally:
        _EACH.reset(before)


def in_blocks(function: Callable[[B], R], blocks: Iterable[B]) -> Iterator[R]:
    """The function of each block, in the order of the blocks.

    The function must depend on its block alone and change nothing.
    """
    return _EACH.get()(function, blocks)


def in_draws(
    function: Callable[[int, int, int], R],
    key: int,
    n_clusters: int,
    blocks: Iterable[tuple[int, int]],
    each: Each = in_blocks,
) -> Iterator[R]:
    """The function of a key and of each block's first and last draw, excluded.

    A `Remembered` key lends each block what it stores of it, and takes what is drawn anew: so no
    two threads share a store.

    >>> list(in_draws(lambda key, start, stop: key * (stop - start), 3, 10, [(0, 64), (64, 70)]))
    [192, 18]
    """
    if not isinstance(key, Remembered):
        yield from each(lambda block: function(key, *block), blocks)
        return

    def with_key(part: tuple[Remembered, tuple[int, int]]) -> tuple[Remembered, Any]:
        return part[0], function(part[0], *part[1])

    lent = ((key.lend(n_clusters, *block), block) for block in blocks)
    for borrowed, result in each(with_key, lent):
        key.take(borrowed)
        yield result
