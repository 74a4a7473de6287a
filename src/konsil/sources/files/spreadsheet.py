"""XLSX: one sheet as a table; its first rows that are not empty have the names."""

from __future__ import annotations

import re
import zipfile
import zlib
from array import array
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from html import unescape
from itertools import chain, islice
from pathlib import Path
from typing import Any

import polars as pl

from konsil.errors import LISTED, SourceError, nearest
from konsil.errors.message import message
from konsil.records.source import FileSettings
from konsil.sources.files.cells import as_text
from konsil.sources.files.header import (
    FIRST_ROWS,
    are_values,
    joined,
    named,
    numbered_names,
    stacked,
    with_rows_of_names,
)
from konsil.sources.files.problems import LookOfCells

LARGEST = 1 << 29
"""Bytes a spreadsheet may have when unpacked; a zip bomb has more."""

LONGEST = 1_048_576
"""Rows of a sheet by its format; a file may claim more and have none of them."""
WIDEST, CELLS = 4_096, 100_000_000
"""Columns and cells a table may have, empty ones between others included: a few bytes can claim any
number of them."""

_MOST_BYTES_OF_NAMES = 1 << 20
_UNREADABLE = "\x1funreadable"
"""What stands for the names of columns that cannot be read."""
_MOST_SHEETS, _MOST_ABOVE = 100, 30
"""Sheets whose columns are compared with those of the sheet that is read, and their rows."""
_BETWEEN = "/"
"""What is between the names of several sheets; no name has this sign."""
SHEET = "sheet"
"""The column with the name of each row's sheet, where several are read."""
_CHUNK = 20_000
_OLE = bytes.fromhex("d0cf11e0a1b11ae1")
_NAME_OF_SHEET = re.compile(r'<(?:\w+:)?sheet\s[^>]{0,300}?name="([^"]*)"')
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


@dataclass(frozen=True)
class Sheet:
    """A sheet of a spreadsheet, read."""

    frame: pl.DataFrame
    """All cells as text."""
    lines: Sequence[int]
    """The number of each row, as the spreadsheet shows it."""
    name: str
    """The sheet."""
    names: Sequence[str]
    """All sheets of the spreadsheet, in order."""
    settings: FileSettings
    """The settings by which it was read."""
    hidden: tuple[str, ...] = ()
    """What a spreadsheet program does not show of the cells, in sentences."""
    columns_of_others: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """The columns of each sheet beside it, as far as it is a table by its first rows."""


def read_spreadsheet(path: Path, settings: FileSettings, where: str, as_is: bool = False) -> Sheet:
    """A sheet of a spreadsheet.

    `as_is`: rows above the names and rows of names are detected where the settings are the usual
    ones.
    """
    try:
        return _read(path, settings, where, as_is)
    except MemoryError:
        raise SourceError(
            message(
                "{where}: reading the spreadsheet takes more memory than it may; save it as CSV",
                message_id="file.spreadsheet_memory",
                where=where,
            )
        ) from None
    except _DAMAGED as error:
        raise SourceError(
            message(
                "{where}: the spreadsheet is damaged ({kind}: {error})",
                message_id="file.spreadsheet_damaged",
                where=where,
                kind=type(error).__name__,
                error=str(error),
            )
        ) from None


def check_spreadsheet(path: Path, where: str) -> int:
    """Refuse what is no spreadsheet, is locked or says itself that it unpacks to too much.

    Give the unpacked bytes.
    """
    with path.open("rb") as file:
        start = file.read(8)
    if start == _OLE:
        raise SourceError(
            message(
                "{where}: the spreadsheet is protected by a password or is an old .xls"
                " under a new name; save it as .xlsx without a password",
                message_id="file.spreadsheet_locked",
                where=where,
            )
        )
    if not start.startswith(b"PK"):
        raise SourceError(
            message(
                "{where}: this is not an .xlsx spreadsheet",
                message_id="file.no_spreadsheet",
                where=where,
            )
        )
    try:
        with zipfile.ZipFile(path) as packed:
            size = sum(entry.file_size for entry in packed.infolist())
    except (zipfile.BadZipFile, OSError, ValueError):
        raise SourceError(
            message(
                "{where}: the spreadsheet is damaged (its zip directory cannot be read)",
                message_id="file.spreadsheet_zip",
                where=where,
            )
        ) from None
    if size > LARGEST:
        raise SourceError(
            message(
                "{where}: unpacked the spreadsheet has {size:,} MiB, more than the"
                " {most:,} allowed; save the table as CSV or Parquet",
                message_id="file.spreadsheet_size",
                where=where,
                size=round(size / 2**20),
                most=LARGEST >> 20,
            )
        )
    return size


def sheets_of(path: Path) -> tuple[str, ...]:
    """The names of a workbook's sheets, in order, without its cells; none of another file."""
    try:
        with zipfile.ZipFile(path) as packed, packed.open("xl/workbook.xml") as part:
            text = part.read(_MOST_BYTES_OF_NAMES).decode(errors="replace")
    except _DAMAGED:
        return ()
    return tuple(unescape(name) for name in _NAME_OF_SHEET.findall(text))


def _read(path: Path, settings: FileSettings, where: str, as_is: bool) -> Sheet:
    # Imported here, since it takes a third of a second and most tables are text.
    import openpyxl

    stated, sheet = settings, settings.sheet
    # Opened here: the library leaves a damaged file open.
    with path.open("rb") as file:
        book = openpyxl.load_workbook(file, read_only=True, data_only=True)
        try:
            names = [page.title for page in book.worksheets]
            if not names:
                raise SourceError(
                    message(
                        "{where}: the spreadsheet has no sheet with cells",
                        message_id="file.no_sheet",
                        where=where,
                    )
                )
            chosen = _chosen(sheet, names, where)
            frames, rows = dict[str, pl.DataFrame](), array("Q")
            try:
                for name in chosen:
                    page = book[name]
                    # The stated size may be wrong either way: some programs write A1, some the
                    # whole grid.
                    page.reset_dimensions()
                    faults = LookOfCells.of(path, page, where)
                    if as_is and not frames:
                        first_rows = [row for _, row in islice(_rows(page, where), FIRST_ROWS)]
                        settings = with_rows_of_names(settings, first_rows)
                    frames[name], numbers = _table(page, where, settings, faults)
                    if as_is and settings.header == 1 and are_values(frames[name]):
                        settings = replace(settings, header=0, numbered=False)
                        frames[name], numbers = _table(page, where, settings, faults)
                    rows.extend(numbers)
            except SourceError as error:
                # The first sheet may be a cover.
                if sheet or len(names) == 1:
                    raise
                raise SourceError(
                    message(
                        "{error}; other sheets: {sheets}",
                        message_id="file.other_sheets",
                        error=error.sentence,
                        sheets=_listed(names[1:]),
                    )
                ) from None
            if is_pattern(sheet):
                return Sheet(_as_one(frames, where), rows, sheet, names, settings)
            frame = frames[chosen[0]]
            hidden = faults.hidden_words(rows, frame.width)
            others = {
                name: columns
                for name in names[:_MOST_SHEETS]
                if name != chosen[0] and (columns := _columns(book[name], where, stated, as_is))
            }
            return Sheet(frame, rows, chosen[0], names, settings, hidden, others)
        finally:
            book.close()


def _chosen(sheet: str, names: Sequence[str], where: str) -> Sequence[str]:
    """The sheets that are read: the first one, or those of the stated names and patterns."""
    if not sheet:
        return names[:1]
    parts = [part.strip() for part in sheet.split(_BETWEEN)]
    for part in parts:
        if not any(fnmatchcase(name, part) for name in names):
            raise SourceError(_no_sheet(part, names, where))
    return [name for name in names if any(fnmatchcase(name, part) for part in parts)]


def is_pattern(sheet: str) -> bool:
    """Whether several sheets are meant: names of sheets have none of these signs."""
    return any(sign in sheet for sign in ("*", "?", "[", _BETWEEN))


def _as_one(frames: dict[str, pl.DataFrame], where: str) -> pl.DataFrame:
    """The rows of all sheets; if only some have the same columns, the error names these."""
    try:
        return stacked(frames, SHEET, where)
    except SourceError as error:
        columns = {name: frozenset(frame.columns) for name, frame in frames.items()}
        usual, n = Counter(columns.values()).most_common(1)[0]
        if not 1 < n < len(frames):
            raise
        alike = _BETWEEN.join(name for name in frames if columns[name] == usual)
        raise SourceError(f"{error}; the sheet {alike!r} means those that have") from None


def _no_sheet(sheet: str, names: Sequence[str], where: str) -> str:
    hint = nearest(sheet, names)
    if hint.startswith("known: "):
        return message(
            "{where}: there is no sheet {sheet!r}; {hint}",
            message_id="file.sheet_of_none",
            where=where,
            sheet=sheet,
            hint=hint,
        )
    return message(
        "{where}: there is no sheet {sheet!r}; {hint} (sheets: {sheets})",
        message_id="file.sheet_of_others",
        where=where,
        sheet=sheet,
        hint=hint,
        sheets=_listed(names),
    )


def _listed(names: Sequence[str]) -> str:
    shown, n_more = ", ".join(map(repr, names[:LISTED])), len(names) - LISTED
    if n_more <= 0:
        return shown
    return message("{names} and {n:,} more", message_id="file.some", names=shown, n=n_more)


# openpyxl has no types.
def _table(
    page: Any,  # noqa: ANN401
    where: str,
    settings: FileSettings,
    faults: LookOfCells,
) -> tuple[pl.DataFrame, Sequence[int]]:
    rows: Iterator[tuple[int, list[str | None]]] = (
        row
        for row in _rows(page, where)
        if not (settings.comment and (row[1][0] or "").startswith(settings.comment))
    )
    heads = list(islice(rows, settings.skip + max(1, settings.header)))[settings.skip :]
    if not heads:
        raise SourceError(
            message(
                "{where}: sheet {sheet!r} is empty",
                message_id="file.sheet_empty",
                where=where,
                sheet=page.title,
            )
        )
    faults.refuse(above=heads[-1][0] if settings.header > 1 else heads[0][0] - 1)
    head = joined([row for _, row in heads])
    if not settings.header:
        rows, head = chain(heads, rows), numbered_names(len(head))
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
        raise SourceError(
            message(
                "{where}: sheet {sheet!r} has a header but no row below it",
                message_id="file.sheet_without_rows",
                where=where,
                sheet=page.title,
            )
        )
    frame = pl.concat(chunks, how="diagonal", rechunk=True)
    absent = [
        pl.lit(None, pl.String).alias(f"c{i}") for i in range(width) if f"c{i}" not in frame.columns
    ]
    frame = frame.with_columns(absent).select(f"c{i}" for i in range(width))
    return named(frame, [*head, *[None] * (width - len(head))], where, settings.numbered), numbers


# openpyxl has no types.
def _columns(
    page: Any,  # noqa: ANN401
    where: str,
    settings: FileSettings,
    as_is: bool,
) -> Sequence[str]:
    """The names of a sheet's columns by its first rows; none where it has no rows below them.

    What cannot be read of a sheet that nobody has asked for is no fault of the file, but such a
    sheet is not empty.
    """
    page.reset_dimensions()
    try:
        rows = [row for _, row in _rows(page, where, _MOST_ABOVE)]
        settings = with_rows_of_names(settings, rows) if as_is else settings
        end = settings.skip + max(1, settings.header)
        if len(rows) <= end:
            return ()
        heads = rows[settings.skip : end]
        names = joined(heads) if settings.header else numbered_names(len(heads[0]))
        return named(_frame(heads), names, where, settings.numbered).columns
    except (SourceError, MemoryError, *_DAMAGED):
        return (_UNREADABLE,)


# openpyxl has no types.
def _rows(
    page: Any,  # noqa: ANN401
    where: str,
    last: int | None = None,
) -> Iterator[tuple[int, list[str | None]]]:
    """Each row that is not empty, with its number, empty cells at its end cut off.

    `last`: the last row that is read.
    """
    cells = 0
    numbered = enumerate(page.iter_rows(max_row=last, values_only=True), start=1)
    for number, cells_of_row in numbered:
        width = len(cells_of_row)
        while width and cells_of_row[width - 1] is None:
            width -= 1
        cells += width
        if number > LONGEST:
            raise SourceError(
                message(
                    "{where}: sheet {sheet!r} has rows beyond {most:,}, the last possible row",
                    message_id="file.sheet_too_long",
                    where=where,
                    sheet=page.title,
                    most=LONGEST,
                )
            )
        if width > WIDEST or cells > CELLS:
            raise SourceError(
                message(
                    "{where}: sheet {sheet!r}: row {number:,} reaches to column {width:,}; a"
                    " table may have {most:,} columns and {cells:,} cells; move separate"
                    " content to another sheet",
                    message_id="file.sheet_too_wide",
                    where=where,
                    sheet=page.title,
                    number=number,
                    width=width,
                    most=WIDEST,
                    cells=CELLS,
                )
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
