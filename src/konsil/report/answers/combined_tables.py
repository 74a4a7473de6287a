"""A table of several tables that the protocol lays out, one below the other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from konsil.analysis.model.message import listed, message
from konsil.report.material.overview import Material
from konsil.report.material.tables import Cell, Table, table

N_UNITS = "n"
"""The head of the column with the number of rated units, in every language."""


def combined(material: Material, caption: str, parts: Sequence[tuple[str, Table]]) -> Table:
    """The rows of several tables, each with the title of its table.

    The last heading column stays where all parts have it; other headings share one column. Columns
    of the same head are one column; a part that lacks a column has a dash there. The number of
    rated units stays the last column. A note that is not about all parts names its parts.
    """
    shown = [(name, part) for name, part in parts if part.rows]
    last_heads = {part.head[part.row_heads - 1].text for _name, part in shown}
    last = last_heads.pop() if len(last_heads) == 1 else ""
    columns = list(
        dict.fromkeys(cell.text for _name, part in shown for cell in part.head[part.row_heads :])
    )
    if N_UNITS in columns:
        columns.append(columns.pop(columns.index(N_UNITS)))
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
    notes = list(_notes(material, shown))
    return table(caption, [*head, *columns], body, row_heads=len(head), general=notes)


def _notes(material: Material, parts: Sequence[tuple[str, Table]]) -> Iterator[str]:
    """The notes without a mark, each once; one that only some parts have is about these."""
    translate = material.numbers.translated
    titles_by_note: dict[str, list[str]] = {}
    for title, part in parts:
        for text in dict.fromkeys(note.text for note in part.notes if not note.mark):
            quoted = translate(message("“{title}”", message_id="layout.quoted", title=title))
            titles_by_note.setdefault(text, []).append(quoted)
    for text, titles in titles_by_note.items():
        if len(titles) == len(parts):
            yield text
        else:
            yield translate(
                message(
                    "In {parts}: {note}",
                    message_id="layout.note_of_parts",
                    parts=listed(titles),
                    note=text,
                )
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
