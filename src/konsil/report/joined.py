"""Rows of estimates as tables and figures need them: with their companions, their columns, their contrasts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from konsil.analysis import Row
from konsil.report.overview import Material
from konsil.report.tables import MINUS


@dataclass(frozen=True)
class Joined:
    """A row with the companions that follow it."""

    row: Row
    companions: tuple[Row, ...]


def join(rows: Sequence[Row]) -> list[Joined]:
    """Companions with the row before them; one of another group (a panel beside its judges) is a row of its own."""
    joined: list[Joined] = []
    for row in rows:
        before = joined[-1].row if joined else None
        if row.kind == "companion" and before and (row.group, row.versus) == (before.group, before.versus):
            joined[-1] = Joined(before, (*joined[-1].companions, row))
        elif row.kind != "companion" or all(one.row != row for one in joined):
            joined.append(Joined(row, ()))
    return joined


def columns_of(rows: Sequence[Joined]) -> list[str]:
    """The group columns in the order in which the rows name them."""
    return list(dict.fromkeys(column for one in rows for column in (*one.row.group, *one.row.versus)))


def contrast(row: Row, column: str) -> str:
    """One value where both groups share it, else: this minus that."""
    here, there = row.group.get(column, ""), row.versus.get(column, "")
    return here if here == there or not there else f"{here} {MINUS} {there}"


def value_head(material: Material, rows: Sequence[Joined]) -> str:
    """The heading of the column of values, with the intervals' level where they share one."""
    _ = material.language.gettext
    levels = {one.row.estimate.level for one in rows}
    level = material.numbers.level(levels.pop()) if len(levels) == 1 else ""
    difference = rows[0].row.kind == "difference"
    word = _("Difference") if difference else _("Estimate")
    return _("%(word)s [%(level)s interval]") % {"word": word, "level": level} if level else word
