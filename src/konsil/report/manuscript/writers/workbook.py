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
from konsil.report.manuscript.blocks import Manuscript, NumberedTable, Paragraph
from konsil.report.manuscript.writers.packing import EPOCH, packed

_LONGEST = 31
"""Characters of a sheet's name."""
_NUMBER = re.compile(r"-?\d+(\.\d+)?([eE][+-]?\d+)?")
_NO_NUMBERS = ("analysis", "group.", "versus.", "criterion", "raters", "statistic", "reason")
"""How the names of columns begin that are names even where they look like numbers."""
_WIDEST = 60.0
"""Characters of a column's width at most."""


def workbook(
    manuscript: Manuscript, stamp: str, estimates: bytes, words: Mapping[str, str]
) -> bytes:
    """The .xlsx file; `estimates` is estimates.csv, `words` are those of the first sheet."""
    book = Workbook()
    book.properties.creator, book.properties.title = "konsil", manuscript.title
    book.properties.created = book.properties.modified = datetime(*EPOCH)
    first = book.active
    if not isinstance(first, Worksheet):
        raise TypeError("a new workbook has a sheet")
    first.title = "README"
    names = {table.number: _sheet_name(table) for table in manuscript.tables}
    _readme(first, manuscript, words, names)
    for table in manuscript.tables:
        _table_sheet(book.create_sheet(names[table.number]), table, manuscript)
    _estimates_sheet(book.create_sheet("estimates"), estimates, stamp)
    out = io.BytesIO()
    book.save(out)
    return packed(out.getvalue())


def _sheet_name(table: NumberedTable) -> str:
    """A name that Excel takes; the number makes it unique."""
    return f"{table.number} {re.sub(r'[^A-Za-z0-9 -]', ' ', table.key)}"[:_LONGEST].strip()


def _write(
    sheet: Worksheet,
    row: int,
    texts: Sequence[str],
    *,
    is_bold: bool = False,
    is_harmless: bool = False,
) -> None:
    for n, text in enumerate(texts, start=1):
        cell = sheet.cell(row, n, text if is_harmless else harmless(text))
        cell.data_type = "s"
        cell.font = Font(bold=is_bold)
        cell.alignment = Alignment(vertical="top")


def _readme(
    sheet: Worksheet, manuscript: Manuscript, words: Mapping[str, str], names: Mapping[int, str]
) -> None:
    lines = [[manuscript.title]]
    lines += [[b.text] for b in manuscript.blocks if isinstance(b, Paragraph) and b.is_notice]
    lines += [[words["about"]], [], [words["sheet"], words["content"]]]
    n_head = len(lines)
    lines += [[names[t.number], t.table.caption] for t in manuscript.tables]
    lines += [["estimates", words["estimates"]]]
    for n, line in enumerate(lines, start=1):
        _write(sheet, n, line, is_bold=n in (1, n_head))
    sheet.column_dimensions["A"].width = 34
    sheet.column_dimensions["B"].width = _WIDEST


def _table_sheet(sheet: Worksheet, block: NumberedTable, manuscript: Manuscript) -> None:
    table = block.table
    _write(sheet, 1, [f"{manuscript.words.table} {block.number}. {table.caption}"], is_bold=True)
    _write(sheet, 2, [cell.text for cell in table.head], is_bold=True)
    for n, row in enumerate(table.rows, start=3):
        _write(sheet, n, [f"{c.text} {','.join(c.marks)}".strip() for c in row])
    for n, note in enumerate(table.notes, start=len(table.rows) + 4):
        _write(sheet, n, [f"{note.mark} {note.text}".strip()])
    sheet.freeze_panes = "A3"
    _set_widths(sheet, [[c.text for c in table.head], *([c.text for c in r] for r in table.rows)])


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
