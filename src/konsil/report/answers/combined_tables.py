"""A table of several tables that the protocol lays out, one below the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from konsil.analysis.model.message import message
from konsil.report.material.overview import Material
from konsil.report.material.tables import Cell, Table, table


def combined(material: Material, title: str, parts: Sequence[tuple[str, Table]]) -> Table:
    """The rows of several tables, each with the title of its table.

    The last heading column stays where all parts have it; other headings share one column. Columns
    of the same head are one column; a part that lacks a column has a dash there.
    """
    shown = [(name, part) for name, part in parts if part.rows]
    last_heads = {part.head[part.row_heads - 1].text for _name, part in shown}
    last = last_heads.pop() if len(last_heads) == 1 else ""
    columns = list(
        dict.fromkeys(cell.text for _name, part in shown for cell in part.head[part.row_heads :])
    )
    lines = [
        (name, _heads(row[: part.row_heads], last), _by_column(part, row))
        for name, part in shown
        for row in part.rows
    ]
    has_groups = any(group for _name, (group, _own), _cells in lines)
    translate = material.numbers.translated
    head = [
        translate(message("Part", message_id="layout.part")),
        *([translate(message("Group", message_id="layout.group"))] if has_groups else []),
        *([last] if last else []),
    ]
    body = [
        (
            Cell(name),
            *([Cell(group or "–")] if has_groups else []),
            *([own] if last else []),
            *(cells.get(column, Cell("–", number=True)) for column in columns),
        )
        for name, (group, own), cells in lines
    ]
    notes = dict.fromkeys(n.text for _name, part in shown for n in part.notes if not n.mark)
    return table(
        material.caption(title), [*head, *columns], body, row_heads=len(head), general=notes
    )


def _heads(cells: Sequence[Cell], last: str) -> tuple[str, Cell]:
    """The group of a row, and the cell of the last heading column where that stays."""
    own = replace(cells[-1], marks=(), same=False)
    words = [cell.text for cell in (cells[:-1] if last else cells)]
    return ", ".join(words), own


def _by_column(part: Table, row: Sequence[Cell]) -> dict[str, Cell]:
    """Head of a column -> the row's cell, whose footnotes are numbered anew."""
    return {
        head.text: replace(cell, marks=(), same=False)
        for head, cell in zip(part.head[part.row_heads :], row[part.row_heads :], strict=True)
    }
