"""XLSX: one sheet as a table, its first row that is not empty the header."""

from __future__ import annotations

import re
import zipfile
import zlib
from array import array
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any

import polars as pl

from konsil.errors import LISTED, SourceError, nearest
from konsil.sources.files.cells import as_text
from konsil.sources.files.header import named

LARGEST = 1 << 29
"""Bytes a spreadsheet may have when unpacked; a zip bomb has more."""

LONGEST = 1_048_576
"""Rows of a sheet by its format; a file may claim more and have none of them."""
WIDEST, CELLS = 4_096, 100_000_000
"""Columns and cells a table may have, empty ones between others included: a few bytes can claim any
number of them."""

_CHUNK = 20_000
_OLE = bytes.fromhex("d0cf11e0a1b11ae1")
_MERGED = re.compile(rb'<(?:\w+:)?mergeCell\s[^>]{0,200}?ref="([A-Z]+\d+:[A-Z]+\d+)"')
_UNCOMPUTED = re.compile(
    rb'<c r="([A-Z]+\d+)"[^>]{0,200}><f[^>]{0,200}>[^<]{0,9000}</f>(?:<v\s*/>|<v></v>)?</c>'
)
_DAMAGED = (
    zipfile.BadZipFile,
    zlib.error,
    SyntaxError,  # of XML, by the parser of Python or of lxml
    KeyError,
    ValueError,
    TypeError,
    IndexError,
    AttributeError,
    EOFError,
    OSError,
    NotImplementedError,
    RuntimeError,
)


def read_spreadsheet(path: Path, sheet: str, where: str) -> tuple[pl.DataFrame, Sequence[int], str]:
    """All cells of a sheet as text, the number of each row, and the name of the sheet.

    Rows have the numbers that the spreadsheet shows.
    """
    try:
        return _read(path, sheet, where)
    except MemoryError:
        raise SourceError(
            f"{where}: reading the spreadsheet takes more memory than it may; save it as CSV"
        ) from None
    except _DAMAGED as error:
        raise SourceError(
            f"{where}: the spreadsheet is damaged ({type(error).__name__}: {error})"
        ) from None


def check_spreadsheet(path: Path, where: str) -> int:
    """Refuse what is no spreadsheet, is locked or says itself that it unpacks to too much.

    Give the unpacked bytes.
    """
    with path.open("rb") as file:
        start = file.read(8)
    if start == _OLE:
        raise SourceError(
            f"{where}: the spreadsheet is protected by a password or is an old .xls under a new"
            " name; save it as .xlsx without a password"
        )
    if not start.startswith(b"PK"):
        raise SourceError(f"{where}: this is not an .xlsx spreadsheet")
    try:
        with zipfile.ZipFile(path) as packed:
            size = sum(entry.file_size for entry in packed.infolist())
    except (zipfile.BadZipFile, OSError, ValueError):
        raise SourceError(
            f"{where}: the spreadsheet is damaged (its zip directory cannot be read)"
        ) from None
    if size > LARGEST:
        raise SourceError(
            f"{where}: unpacked the spreadsheet has {size / 2**20:,.0f} MiB, more than the"
            f" {LARGEST >> 20:,} allowed; save the table as CSV or Parquet"
        )
    return size


def _read(path: Path, sheet: str, where: str) -> tuple[pl.DataFrame, Sequence[int], str]:
    # Imported here, since it takes a third of a second and most tables are text.
    import openpyxl

    # Opened here: the library leaves a damaged file open.
    with path.open("rb") as file:
        book = openpyxl.load_workbook(file, read_only=True, data_only=True)
        try:
            names = [page.title for page in book.worksheets]
            if sheet and sheet not in names:
                raise SourceError(_no_sheet(sheet, names, where))
            if not names:
                raise SourceError(f"{where}: the spreadsheet has no sheet with cells")
            page = book[sheet] if sheet else book.worksheets[0]
            # The stated size may be wrong either way: some programs write A1, some the whole grid.
            page.reset_dimensions()
            try:
                _refuse_empty_looking_cells(path, page, where)
                frame, rows = _table(page, where)
            except SourceError as error:
                # The first sheet may be a cover.
                others = "" if sheet or len(names) == 1 else other_sheets(names[1:])
                raise SourceError(f"{error}{others}") from None
            return frame, rows, page.title
        finally:
            book.close()


def _no_sheet(sheet: str, names: Sequence[str], where: str) -> str:
    hint = nearest(sheet, names)
    others = "" if hint.startswith("known: ") else f" (sheets: {_listed(names)})"
    return f"{where}: there is no sheet {sheet!r}; {hint}{others}"


def other_sheets(names: Sequence[str]) -> str:
    """End of an error's sentence on the first sheet: the other ones."""
    return f"; other sheets: {_listed(names)}" if names else ""


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - LISTED:,} more" if len(names) > LISTED else ""
    return ", ".join(map(repr, names[:LISTED])) + more


# openpyxl has no types.
def _table(page: Any, where: str) -> tuple[pl.DataFrame, Sequence[int]]:  # noqa: ANN401
    rows = _rows(page, where)
    _, head = next(rows, (0, []))
    if not head:
        raise SourceError(f"{where}: sheet {page.title!r} is empty")
    width = len(head)
    numbers, chunks, chunk = array("Q"), list[pl.DataFrame](), list[list[str | None]]()
    for number, row in rows:
        width = max(width, len(row))
        numbers.append(number)
        chunk.append(row)
        if len(chunk) == _CHUNK:
            chunks.append(_frame(chunk))
            chunk = []
    if chunk:
        chunks.append(_frame(chunk))
    if not chunks:
        raise SourceError(f"{where}: sheet {page.title!r} has a header but no row below it")
    frame = pl.concat(chunks, how="diagonal", rechunk=True)
    absent = [
        pl.lit(None, pl.String).alias(f"c{i}") for i in range(width) if f"c{i}" not in frame.columns
    ]
    frame = frame.with_columns(absent).select(f"c{i}" for i in range(width))
    return named(frame, [*head, *[None] * (width - len(head))], where), numbers


# openpyxl has no types.
def _rows(page: Any, where: str) -> Iterator[tuple[int, list[str | None]]]:  # noqa: ANN401
    """Each row that is not empty, with its number, empty cells at its end cut off."""
    cells = 0
    for number, cells_of_row in enumerate(page.iter_rows(values_only=True), start=1):
        width = len(cells_of_row)
        while width and cells_of_row[width - 1] is None:
            width -= 1
        cells += width
        if number > LONGEST:
            raise SourceError(
                f"{where}: sheet {page.title!r} has rows beyond {LONGEST:,}, the last possible row"
            )
        if width > WIDEST or cells > CELLS:
            raise SourceError(
                f"{where}: sheet {page.title!r}: row {number:,} reaches to column {width:,}; a"
                f" table may have {WIDEST:,} columns and {CELLS:,} cells; move separate content"
                " to another sheet"
            )
        row = [as_text(cell) for cell in cells_of_row[:width]]
        while row and row[-1] is None:
            row.pop()
        if row:
            yield number, row


def _frame(rows: list[list[str | None]]) -> pl.DataFrame:
    width = max(map(len, rows))
    return pl.DataFrame(
        {f"c{i}": [row[i] if i < len(row) else None for row in rows] for i in range(width)},
        schema={f"c{i}": pl.String for i in range(width)},
    )


# openpyxl has no types.
def _refuse_empty_looking_cells(path: Path, page: Any, where: str) -> None:  # noqa: ANN401
    """Refuse merged cells and formulas without a result.

    Both would be read as empty cells, that is, as not rated.

    The read-only sheet reports neither, and the full one takes fifty times the memory.
    """
    with zipfile.ZipFile(path) as packed, packed.open(page._worksheet_path) as xml:
        match = _first(xml)
    if match is None:
        return
    kind, ref = match
    if kind == "merged":
        first = int(re.sub(r"\D", "", ref.split(":")[0]))
        cell_kind = "header cells" if first == 1 else "cells"
        raise SourceError(
            f"{where}: sheet {page.title!r}: the {cell_kind} {ref} are merged; unmerge them and"
            " write the value into each"
        )
    raise SourceError(
        f"{where}: sheet {page.title!r}: cell {ref} is a formula without a stored result;"
        " open the file in a spreadsheet program and save it, or write the value"
    )


def _first(xml: IO[bytes]) -> tuple[str, str] | None:
    tail = b""
    while piece := xml.read(1 << 20):
        window = tail + piece
        for kind, pattern in (("formula", _UNCOMPUTED), ("merged", _MERGED)):
            match = pattern.search(window)
            if match:
                return kind, match.group(1).decode()
        tail = window[-(1 << 14) :]
    return None
