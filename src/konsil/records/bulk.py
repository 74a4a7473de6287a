"""Many records at once: making them, and what those have that are given twice."""

from __future__ import annotations

import contextlib
import dataclasses
import gc
import json
from collections.abc import Callable, Iterable, Iterator, MutableMapping, Sequence
from functools import cache, lru_cache
from operator import getitem
from typing import Any, TypeVar

from konsil.records.nouns import Rating, Span, Task

R = TypeVar("R")


@contextlib.contextmanager
def bulk_creation() -> Iterator[None]:
    """Switch off the search for reference cycles while many records are made.

    None of the records, up to hundreds of thousands, is part of a cycle.

    The search takes as long as making the records. Not for code that leaves many cycles behind.

    >>> with bulk_creation():
    ...     gc.isenabled()
    False
    """
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


@cache
def bulk_constructor(record: type[R]) -> Callable[..., R]:
    """A function that makes records of a frozen type of all their fields in a quarter of the time.

    The constructor of a frozen type sets each field by a call. A record is therefore made as one of
    a type with the same slots that is not frozen.

    >>> from konsil.records import Span
    >>> bulk_constructor(Span)(3, 7) == Span(3, 7)
    True
    """
    names = [field.name for field in dataclasses.fields(record)]  # type: ignore[arg-type]
    mutable: Any = dataclasses.make_dataclass(record.__name__, names, slots=True, eq=False)

    def create(*values: object) -> R:
        instance: Any = mutable(*values)
        instance.__class__ = record
        return instance  # type: ignore[no-any-return]

    return create


def ratings_of(rows: Iterable[Sequence[Any]]) -> Iterator[Rating]:
    """Ratings from rows in the order of their fields.

    Answers and spans are JSON, and no span is an empty text.

    >>> [rating] = ratings_of([("t", "R1", "correct", "q1", '["q1:a"]', "[0,4]", "rated", "yes")])
    >>> rating.answers, rating.span
    (('q1:a',), Span(start=0, end=4))
    """
    for task, rater, criterion, item, answers, span, *others in rows:
        place = Span(*json.loads(span)) if span else None
        yield Rating(task, rater, criterion, item, _texts(answers), place, *others)


def tasks_of(rows: Iterable[Sequence[Any]]) -> Iterator[Task]:
    """Tasks from rows in the order of their fields, with answers and spans as JSON.

    >>> [task] = tasks_of([("t", "t", "R1", "form", "q1", '["q1:a"]', "[[0,4]]")])
    >>> task.answers, task.spans
    (('q1:a',), (Span(start=0, end=4),))
    """
    for task, slot, rater, instrument, item, answers, spans, *others in rows:
        places = tuple(Span(*place) for place in json.loads(spans)) if spans != "[]" else ()
        yield Task(task, slot, rater, instrument, item, _texts(answers), places, *others)


@lru_cache(maxsize=1 << 16)
def _texts(answers: str) -> tuple[str, ...]:
    # Ratings of one answer share one tuple.
    return tuple(json.loads(answers))


def differences(
    rows: Iterable[R],
    key: str,
    fields: Sequence[str],
    first: MutableMapping[Any, R] | None = None,
    value: Callable[[Any, str], object] = getitem,
) -> Iterator[tuple[R, R, str]]:
    """Rows with other contents than the first of the same `key`: both, and a field that differs.

    A table refuses its rows by it, with their lines, before records are made of them; an admission
    refuses the records of a later file or source by it, which have no lines.

    >>> rows = [{"id": 1, "text": "a"}, {"id": 1, "text": "a"}, {"id": 1, "text": "b"}]
    >>> [(row["text"], before["text"], field) for row, before, field in
    ...  differences(rows, "id", ["text"])]
    [('b', 'a', 'text')]
    """
    first = {} if first is None else first
    for row in rows:
        before = first.setdefault(value(row, key), row)
        if before is row:
            continue
        field = next((f for f in fields if value(row, f) != value(before, f)), None)
        if field is not None:
            yield row, before, field
