"""The manuscript's tables as an Excel workbook, one sheet a table, and all estimates unrounded."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping, Sequence
from datetime import datetime

from openpyxl import Workbook
from openpyxl.styles import Alignment, Font
from openpyxl.utils import get_column_letter
from openpyxl.worksheet.worksheet import Worksheet

from konsil.records.formulas import harmless
from konsil.report.manuscript.blocks import Manuscript, NumberedTable, Paragraph, Words
from konsil.report.manuscript.writers.number_cells import number_parts
from konsil.report.manuscript.writers.packing import EPOCH, packed
from konsil.report.material.language import Language

_LONGEST = 31
"""Characters of a sheet's name."""
_FORBIDDEN = re.compile(r"[\[\]:*?/\\]")
"""Characters that the name of a sheet must not have."""
_NUMBER = re.compile(r"-?\d+(\.\d+)?([eE][+-]?\d+)?")
_NO_NUMBERS = ("analysis", "group.", "versus.", "criterion", "raters", "statistic", "reason")
"""How the names of columns begin that are names even where they look like numbers."""
_WIDEST = 60.0
"""Characters of a column's width at most."""


def workbook(
    manuscripts: Sequence[Manuscript],
    stamp: str,
    estimates: bytes,
    words: Mapping[str, str],
    language: Language,
) -> bytes:
    """The .xlsx file of a manuscript and its supplement.

    `estimates` is estimates.csv, `words` are those of the first sheet.
    """
    manuscript = manuscripts[0]
    book = Workbook()
    book.properties.creator, book.properties.title = "konsil", manuscript.title
    book.properties.created = book.properties.modified = datetime(*EPOCH)
    first = book.active
    if not isinstance(first, Worksheet):
        raise TypeError("a new workbook has a sheet")
    first.title = "README"
    tables = [(_sheet_name(t, m.words), t, m.words) for m in manuscripts for t in m.tables]
    _readme(first, manuscript, words, [(name, t.table.caption) for name, t, _words in tables])
    for name, table, of_document in tables:
        _table_sheet(book.create_sheet(name), table, of_document, language)
    _estimates_sheet(book.create_sheet("estimates"), estimates, stamp)
    out = io.BytesIO()
    book.save(out)
    return packed(out.getvalue())


def _sheet_name(table: NumberedTable, words: Words) -> str:
    """A name that Excel takes, in words; the number makes it unique."""
    name = f"{words.table} {words.prefix}{table.number}"
    for word in _FORBIDDEN.sub(" ", table.name).rstrip(".").split():
        if len(f"{name} {word}") > _LONGEST:
            break
        name = f"{name} {word}"
    return name.strip(" ',")


def _write(
    sheet: Worksheet,
    row: int,
    values: Sequence[str | float | None],
    *,
    is_bold: bool = False,
    is_harmless: bool = False,
) -> None:
    for n, value in enumerate(values, start=1):
        if isinstance(value, str):
            cell = sheet.cell(row, n, value if is_harmless else harmless(value))
            cell.data_type = "s"
        else:
            cell = sheet.cell(row, n, value)
        cell.font = Font(bold=is_bold)
        cell.alignment = Alignment(vertical="top")


def _readme(
    sheet: Worksheet,
    manuscript: Manuscript,
    words: Mapping[str, str],
    captions: Sequence[tuple[str, str]],
) -> None:
    lines = [[manuscript.title]]
    lines += [[b.text] for b in manuscript.blocks if isinstance(b, Paragraph) and b.is_notice]
    lines += [[words["about"]], [], [words["sheet"], words["content"]]]
    n_head = len(lines)
    lines += [list(line) for line in captions]
    lines += [["estimates", words["estimates"]]]
    for n, line in enumerate(lines, start=1):
        _write(sheet, n, line, is_bold=n in (1, n_head))
    sheet.column_dimensions["A"].width = 34
    sheet.column_dimensions["B"].width = _WIDEST


def _table_sheet(sheet: Worksheet, block: NumberedTable, words: Words, language: Language) -> None:
    """The table; what is a number on the page is a number here, each in a cell of its own."""
    table = block.table
    columns = [
        number_parts([row[n].text for row in table.rows], language) if head.number else None
        for n, head in enumerate(table.head)
    ]
    head: list[str] = []
    for cell, parts in zip(table.head, columns, strict=True):
        names = [""] if parts is None else parts.names
        head += [f"{cell.text}: {name}" if name else cell.text for name in names]
    has_marks = any(cell.marks for row in table.rows for cell in row)
    title = f"{words.table} {words.prefix}{block.number}. {table.caption}"
    _write(sheet, 1, [title], is_bold=True)
    _write(sheet, 2, [*head, *([language.gettext("Notes")] if has_marks else [])], is_bold=True)
    for n, row in enumerate(table.rows):
        values: list[str | float | None] = []
        for cell, parts in zip(row, columns, strict=True):
            values += [cell.text] if parts is None else parts.rows[n]
        marks = ", ".join(dict.fromkeys(mark for cell in row for mark in cell.marks))
        _write(sheet, n + 3, [*values, *([marks] if has_marks else [])])
    for n, note in enumerate(table.notes, start=len(table.rows) + 4):
        _write(sheet, n, [f"{note.mark} {note.text}".strip()])
    sheet.freeze_panes = "A3"
    _set_widths(sheet, [head, *([c.text for c in r] for r in table.rows if len(r) == len(head))])


def _estimates_sheet(sheet: Worksheet, estimates: bytes, stamp: str) -> None:
    """Every row of estimates.csv; numbers are numbers, nothing is rounded."""
    head, *rows = list(csv.reader(io.StringIO(estimates.decode(), newline="")))
    start = 1
    if stamp:
        _write(sheet, 1, [stamp], is_bold=True)
        start = 2
    _write(sheet, start, head, is_bold=True)
    for n, row in enumerate(rows, start=start + 1):
        # Its texts are harmless already.
        _write(sheet, n, row, is_harmless=True)
        for column, (name, text) in enumerate(zip(head, row, strict=True), start=1):
            if _NUMBER.fullmatch(text) and not name.startswith(_NO_NUMBERS):
                sheet.cell(n, column).value = float(text)
    sheet.freeze_panes = f"A{start + 1}"
    _set_widths(sheet, [head])


def _set_widths(sheet: Worksheet, lines: Sequence[Sequence[str]]) -> None:
    for n, cells in enumerate(zip(*lines, strict=True), start=1):
        width = min(_WIDEST, max(map(len, cells)) + 2.0)
        sheet.column_dimensions[get_column_letter(n)].width = width
