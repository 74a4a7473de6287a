"""Tasks as columns: a million of them are ordered, counted and stored without an object each."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import compress
from operator import attrgetter
from typing import Any, overload

from konsil.records import Task, bulk_constructor

FIELDS = tuple(field.name for field in dataclasses.fields(Task))
"""The fields of a task in their order."""


class TaskColumns(Sequence[Task]):
    """A sequence of tasks stored as a list of values for each field.

    Tasks are created only where they are requested, each time anew.

    >>> tasks = TaskColumns.of(Task(f"t{n}", "p 1", "r1", "form", f"i{n}") for n in range(3))
    >>> tasks.column("item"), tasks[1].id, [t.id for t in tasks.where([True, False, True])]
    (['i0', 'i1', 'i2'], 't1', ['t0', 't2'])
    """

    def __init__(self, values: Mapping[str, list[Any]]) -> None:
        self._values = {name: values[name] for name in FIELDS}

    @classmethod
    def of(cls, tasks: Iterable[Task]) -> TaskColumns:
        """These tasks as columns."""
        if isinstance(tasks, TaskColumns):
            return tasks
        records = [*tasks]
        return cls({name: [*map(attrgetter(name), records)] for name in FIELDS})

    def column(self, name: str) -> list[Any]:
        """The values of one field, in the order of the tasks."""
        return self._values[name]

    def with_raters(self, raters: list[str]) -> TaskColumns:
        """The same tasks in other hands."""
        return TaskColumns({**self._values, "rater": raters})

    def where(self, is_chosen: Iterable[bool]) -> TaskColumns:
        """The tasks for which it is true."""
        choices = [*is_chosen]
        if all(choices):
            return self
        return TaskColumns({n: [*compress(v, choices)] for n, v in self._values.items()})

    def followed_by(self, tasks: Iterable[Task]) -> TaskColumns:
        """These tasks and others behind them."""
        others = TaskColumns.of(tasks)
        return TaskColumns({n: v + others.column(n) for n, v in self._values.items()})

    def __len__(self) -> int:
        return len(self._values["id"])

    def __iter__(self) -> Iterator[Task]:
        return map(bulk_constructor(Task), *self._values.values())

    @overload
    def __getitem__(self, place: int) -> Task: ...

    @overload
    def __getitem__(self, place: slice) -> TaskColumns: ...

    def __getitem__(self, place: int | slice) -> Task | TaskColumns:
        if isinstance(place, slice):
            return TaskColumns({n: v[place] for n, v in self._values.items()})
        return Task(*(values[place] for values in self._values.values()))

    def __eq__(self, other: object) -> bool:
        if isinstance(other, TaskColumns):
            return self._values == other._values
        return isinstance(other, tuple | list) and [*self] == [*other]

    def __repr__(self) -> str:
        return f"TaskColumns({len(self):,} tasks)"

    __hash__ = None  # type: ignore[assignment]
