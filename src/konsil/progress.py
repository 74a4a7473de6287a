"""Progress of long work, reported to whoever listens; nothing is shown or timed here.

A loop passes its values through `tracked`, and work in one piece is within a `stage`. Who has a
terminal or a notebook listens; without a listener nothing happens. How much is to be shown at all
is the `verbosity`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Literal, TypeVar

T = TypeVar("T")
Listener = Callable[[str, int, int], None]
"""Called with a stage, how many of its steps are done, and how many there are."""

Verbosity = Literal["quiet", "normal", "verbose"]
"""How much is shown: results and errors; notes and progress too; the seconds of each stage too."""

_COUNTS: ContextVar[Counter[str] | None] = ContextVar("counts", default=None)
_LISTENER: ContextVar[Listener | None] = ContextVar("listener", default=None)
_VERBOSITY: ContextVar[Verbosity] = ContextVar("verbosity", default="normal")


def verbosity() -> Verbosity:
    """How much is to be shown."""
    return _VERBOSITY.get()


def set_verbosity(level: Verbosity) -> None:
    """Show so much from now on, within the nearest `own_verbosity`."""
    _VERBOSITY.set(level)


@contextmanager
def own_verbosity() -> Iterator[None]:
    """Begin with the normal verbosity; what is set within the block ends with it.

    >>> with own_verbosity():
    ...     set_verbosity("quiet")
    ...     verbosity()
    'quiet'
    >>> verbosity()
    'normal'
    """
    token = _VERBOSITY.set("normal")
    try:
        yield
    finally:
        _VERBOSITY.reset(token)


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Report all progress within the block to `listener`."""
    token, counts = _LISTENER.set(listener), _COUNTS.set(Counter())
    try:
        yield
    finally:
        _LISTENER.reset(token)
        _COUNTS.reset(counts)


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
    n_completed = 0
    for value in values:
        advance(stage, n_completed, n)
        yield value
        n_completed += 1
    advance(stage, n_completed, n)


@contextmanager
def stage(name: str) -> Iterator[None]:
    """Report work in one piece: one step, which is done when the block ends.

    >>> heard = []
    >>> with listening(lambda *step: heard.append(step)), stage("records"):
    ...     heard.append("reading")
    >>> heard
    [('records', 0, 1), 'reading', ('records', 1, 1)]
    """
    advance(name, 0, 1)
    yield
    advance(name, 1, 1)


def advance(stage: str, n_completed: int, total: int) -> None:
    """Report how many of a stage's steps are done; `total` is 0 where it is unknown.

    >>> heard = []
    >>> with listening(lambda *step: heard.append(step)):
    ...     advance("ratings stored", 5_000, 18_448)
    >>> heard
    [('ratings stored', 5000, 18448)]
    """
    listener = _LISTENER.get()
    if listener is not None:
        listener(stage, n_completed, total)


def count(stage: str) -> None:
    """Report one more step of a stage, of which nobody knows how many it has.

    >>> heard = []
    >>> with listening(lambda *step: heard.append(step)):
    ...     count("figures"), count("figures")
    (None, None)
    >>> heard
    [('figures', 1, 0), ('figures', 2, 0)]
    """
    counts = _COUNTS.get()
    if counts is not None:
        counts[stage] += 1
        advance(stage, counts[stage], 0)
