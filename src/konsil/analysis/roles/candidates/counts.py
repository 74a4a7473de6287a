"""Columns that may be numbers of raters, each for a label."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property

from konsil.analysis.roles.columns import Column
from konsil.analysis.roles.evidence import Draft
from konsil.analysis.roles.names import fit, kinds

_FEWEST = 5
"""Rows from which on a constant sum is hardly chance."""


@dataclass(frozen=True, eq=False)
class Counts:
    """Columns that may be numbers of raters, and the columns beside them."""

    names: Sequence[str]
    columns: Sequence[Column]
    rest: Sequence[Column]

    @cached_property
    def has_same_sums(self) -> bool:
        """Whether all rows have the same sum, as counts of the raters of each unit have."""
        if not all(c.is_whole and c.is_full for c in self.columns) or len(self.sums) < _FEWEST:
            return False
        sums = {*self.sums}
        return len(sums) == 1 and sums.pop() > 1 and any(len(c.distinct) > 1 for c in self.columns)

    @cached_property
    def sums(self) -> tuple[float, ...]:
        """The sums of the rows of numbers, in which an empty cell is 0."""
        return tuple(map(sum, zip(*map(_numbers, self.columns), strict=True)))

    @cached_property
    def has_label_words(self) -> bool:
        """Whether the names are words for labels: numbers can be those of raters as well."""
        return all(kinds(name)["label"] == 1 and not name.strip().isdigit() for name in self.names)

    def weigh(self, draft: Draft, *, may_be_labels: bool) -> bool:
        """Whether the cells are numbers of raters."""
        shown = ", ".join(self.names)
        if not all(c.is_whole and c.range[0] >= 0 for c in self.columns):
            return False
        number = next((c for c in self.rest if c.is_whole and _numbers(c) == self.sums), None)
        if number is not None:
            draft.roles[number.name] = "sum"
            draft.add(10.0 if self._is_often_unanimous else 0.5, "sum_beside", number.name)
        if self.has_same_sums:
            draft.add(8 if may_be_labels else 4, "same_sum", shown)
            numbers = {n for column in self.columns for n in column.numbers}
            points = _SHARES if are_shares(numbers) else _ASKED
            draft.add(points * self._may_be_percent, "percent", shown)
        elif number is None and not (self.has_label_words and self._has_one_panel):
            draft.add(-2.0 if self.has_label_words else -3.0, "other_sums", shown)
        return True

    @cached_property
    def _is_often_unanimous(self) -> bool:
        """Whether most rows have one sum, and often all of it in one column, as votes have."""
        several = Counter(total for total in self.sums if total > 1)
        rows = zip(*map(_numbers, self.columns), strict=True)
        n_unanimous = sum(max(row) == sum(row) > 1 for row in rows)
        is_even = 2 * max(several.values(), default=0) >= len(self.sums)
        return is_even and 5 * n_unanimous >= several.total() > 0

    @cached_property
    def _may_be_percent(self) -> bool:
        """Whether each row has the sum 100, up to roundings."""
        return all(abs(total - _ALL) <= 1 for total in self.sums)

    @cached_property
    def _has_one_panel(self) -> bool:
        """Whether most rows have the largest sum: some raters of a panel leave out some units."""
        largest = max(self.sums)
        return largest > 1 and 2 * self.sums.count(largest) >= len(self.sums)


def are_of_systems(column: Column) -> bool:
    """Whether the rows of a column are systems, so that counts may be those of their answers.

    >>> are_of_systems(Column("", ("GPT-4", "Claude"))), are_of_systems(Column("", ("q1", "q2")))
    (True, False)
    >>> are_of_systems(Column("Modell", ("A", "B"))), are_of_systems(Column("model answer", ("1",)))
    (True, False)
    """
    names = [cell for cell in column.distinct[:_MOST_SYSTEMS] if kinds(cell)["system"]]
    are_named = len(column.distinct) <= _MOST_SYSTEMS and 2 * len(names) > len(column.distinct)
    return are_named or fit(column.name, "system") == 1


_MOST_SYSTEMS = 20
"""Rows up to which names of systems are no names of their answers, such as gpt-q17."""


def are_shares(numbers: Collection[float]) -> bool:
    """Whether all numbers are shares of one panel of at most 20 raters, in per cent.

    >>> are_shares({0, 33, 67, 100}), are_shares({0, 1, 2, 47})
    (True, False)
    """
    panels = range(1, _PANEL + 1)
    return any({*numbers} <= {round(_ALL * k / n) for k in range(n + 1)} for n in panels)


_ALL, _PANEL = 100, 20
_SHARES, _ASKED = -13.0, -0.1
"""Points of shares, which are never counts, and of numbers that only may be shares."""


def _numbers(column: Column) -> tuple[float, ...]:
    """The number of each row; 0 where it has none."""
    numbers = iter(column.numbers)
    return tuple(0.0 if cell.casefold() in column.empty else next(numbers) for cell in column.cells)
