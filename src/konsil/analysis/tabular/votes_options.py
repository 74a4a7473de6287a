"""How a table of comparisons is read once the roles of its columns are known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from konsil.analysis.roles.outcomes import sense_of
from konsil.analysis.roles.reading import TableFile
from konsil.errors import AnalysisError

if TYPE_CHECKING:
    from konsil.analysis.roles.reading import TableReading


@dataclass(frozen=True)
class VotesOptions(TableFile):
    """How the table is to be read."""

    columns: Mapping[str, str] = field(default_factory=dict)
    """item, rater, first, second, outcome and second_outcome -> column; without a column for items
    every comparison has one of its own, without one for raters they are unknown."""
    counted: Mapping[str, str] = field(default_factory=dict)
    """won, lost and tied -> column, where rows count wins in place of an outcome."""
    scale: tuple[str, ...] = ()
    """The outcomes in order, from the first system's side to the second's; empty: a winner or a
    tie."""
    ends: tuple[float, float] | None = None
    """Outcomes as numbers: that of a full preference for the first system, and for the second."""
    missing: tuple[str, ...] = ("",)
    """Words that mean: not rated."""
    axes: tuple[str, ...] = ()
    """The columns that may be criteria, for each of which comparisons are repeated."""
    raters: tuple[str, ...] = ()
    """The columns of each rater's outcomes, where these are not in one column."""
    has_results: bool = False
    """Whether the columns of the two systems have the ones that won and that lost."""
    senses: tuple[int, ...] = (1, 1)
    """For the outcomes of each order: -1 where they are the systems that lost."""
    swapped: str | None = None
    """Where words for a side are those of the other order: the second column of outcomes, rows with
    COLUMN=VALUE, or those with the second system in COLUMN; '-' or None: nowhere."""

    @property
    def named(self) -> frozenset[str]:
        """All columns that are read."""
        names = (*self.columns.values(), *self.counted.values(), *self.axes, *self.raters)
        return frozenset((*names, *(self.swapped or "").split("=")[:1]))

    @property
    def is_second_swapped(self) -> bool:
        """Whether words for a side are for the other order in the second column of outcomes."""
        second = self.columns.get("second_outcome")
        return second is not None and self.swapped == second

    @property
    def swapped_rows(self) -> tuple[str, str | None] | None:
        """The column by which rows have their systems in the other order, and its value there.

        No value where it has the system that was shown first.
        """
        if self.swapped in (None, "-") or "second_outcome" in self.columns:
            return None
        column, sign, value = str(self.swapped).partition("=")
        return column.strip(), value.strip() if sign else None

    @property
    def unknown_roles(self) -> tuple[str, ...]:
        """The roles of items and raters that have no column."""
        return tuple(role for role in ("item", "rater") if role not in self.columns)


def by_reading(options: VotesOptions, reading: TableReading, axes: tuple[str, ...]) -> VotesOptions:
    """The options of a table that is read so; `axes`: columns that may be criteria."""
    sides = reading.sides
    if sides is None:
        raise AnalysisError(f"{options.name}: expected comparisons of two systems")
    columns = {
        "item": reading.units[0] if reading.units else None,
        "rater": reading.rater,
        "first": sides[0],
        "second": sides[1],
        "outcome": reading.outcome,
        "second_outcome": reading.second_outcome,
    }
    names = (*reading.outcomes, *reading.outcomes)
    return replace(
        options,
        columns={role: name for role, name in columns.items() if name is not None},
        counted=reading.wins,
        ends=reading.ends,
        axes=axes,
        raters=reading.rated,
        has_results=reading.names_winners,
        senses=tuple(sense_of(name) or 1 for name in names) if reading.names_losers else (1, 1),
    )
