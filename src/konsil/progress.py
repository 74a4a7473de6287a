"""Progress of long work, reported to whoever listens; nothing is shown or timed here.

A loop passes its values through `tracked`. Who has a terminal or a notebook listens; without a
listener nothing happens.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

T = TypeVar("T")
Listener = Callable[[str, int, int], None]
"""Called with a stage, how many of its steps are done, and how many there are."""

_LISTENER: ContextVar[Listener | None] = ContextVar("listener", default=None)


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Report all progress within the block to `listener`."""
    token = _LISTENER.set(listener)
    try:
        yield
    finally:
        _LISTENER.reset(token)


def is_listening() -> bool:
    """Whether progress is reported to somebody already."""
    return _LISTENER.get() is not None


def tracked(values: Sequence[T] | Iterable[T], stage: str, total: int | None = None) -> Iterator[T]:
    """The values one by one; before each, and after the last, the stage's progress is reported.

    >>> heard = []
    >>> with listening(lambda *step: heard.append(step)):
    ...     letters = list(tracked("ab", "letters"))
    >>> letters, heard
    (['a', 'b'], [('letters', 0, 2), ('letters', 1, 2), ('letters', 2, 2)])
    """
    n = total if total is not None else len(values) if isinstance(values, Sequence) else 0
    done = 0
    for value in values:
        _report(stage, done, n)
        yield value
        done += 1
    _report(stage, done, n)


def _report(stage: str, done: int, total: int) -> None:
    listener = _LISTENER.get()
    if listener is not None:
        listener(stage, done, total)
