"""CSV and TSV: text tables with a header."""

from __future__ import annotations

import codecs
import csv
import io
from array import array
from collections.abc import Iterator, Sequence

import numpy as np
import polars as pl

from konsil.errors import SourceError, key
from konsil.sources.files.header import named
from konsil.sources.files.problems import MOST, Problem, raise_if

_CHUNK_CELLS = 500_000
# A field longer than this is a quotation mark that nobody closed.
_LONGEST = 1 << 24
WIDEST = 4_096
"""Columns that a table may have, as in a spreadsheet."""
CELLS = 16_000_000
"""Cells a table may have whatever its size; beyond them every cell takes two bytes at least."""
_WORDS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"}


def read_delimited(
    data: bytes, separator: str, where: str, numbered: bool = False
) -> tuple[pl.DataFrame, Sequence[int]]:
    """All cells of a UTF-8 text table as text, and each row's line in the file.

    `numbered`: see `named`.
    """
    if len(separator) != 1 or separator in '"\r\n':
        raise SourceError(f"{where}: the separator must be one character, got {separator!r}")
    if not data.strip():
        raise SourceError(f"{where}: the file is empty")
    head = next(
        _records(data[: max(data.find(b"\n") + 1, 1 << 16)], separator, where, is_complete=False),
        (1, []),
    )[1]
    _right_separator(head, separator, where)
    check_width(len(head), where)
    check_cells(len(head) * (data.count(b"\n") + 1), len(data), where)
    frame = _read_unquoted(data, separator, len(head))
    if frame is not None:
        return named(frame, head, where, numbered), range(2, frame.height + 2)
    return _quoted(data, separator, where, numbered)


def check_width(width: int, where: str) -> None:
    """Refuse a table with more columns than people make; each of them takes memory of its own."""
    if width > WIDEST:
        raise SourceError(f"{where}: the table has {width:,} columns; expected {WIDEST:,} or fewer")


def check_cells(cells: int, size: int, where: str) -> None:
    """Refuse a table of very many, nearly empty cells.

    Each cell takes sixteen bytes when it is read.
    """
    if cells > CELLS + size // 2:
        raise SourceError(
            f"{where}: the table has {cells:,} cells in {size:,} bytes; a table of this size"
            f" may have {CELLS + size // 2:,}"
        )


def _right_separator(head: Sequence[str], separator: str, where: str) -> None:
    if len(head) != 1:
        return
    for other, word in _WORDS.items():
        if other != separator and other in head[0]:
            raise SourceError(
                f"{where}: the header is a single column {_short(head[0])}; the separator looks"
                f" like a {word}: set {key('separator', other)}"
            )


def _read_unquoted(data: bytes, separator: str, width: int) -> pl.DataFrame | None:
    """The fast way, for files without quotation marks, blank lines and ragged rows.

    None for any other.
    """
    sep = separator.encode()
    body = data.find(b"\n") + 1
    if not body or b'"' in data or len(sep) > 1 or data.count(b"\r") != data.count(b"\r\n"):
        return None
    if data.startswith((b"\n", b"\r")) or b"\n\n" in data or b"\n\r\n" in data:
        return None
    lines = data.count(b"\n") + (not data.endswith(b"\n"))
    # Polars drops a byte order mark where its data begin, and no other.
    if lines < 2 or data.count(sep) != (width - 1) * lines or b"\n" + codecs.BOM_UTF8 in data:
        return None
    # The treatment of ragged rows depends on the version of Polars.
    characters = np.frombuffer(data, np.uint8)
    ends = np.flatnonzero(characters == ord("\n"))
    before = np.searchsorted(np.flatnonzero(characters == sep[0]), ends)
    if not (before == (width - 1) * np.arange(1, len(ends) + 1)).all():
        return None
    try:
        frame = pl.read_csv(
            data[body:],
            has_header=False,
            schema={f"c{i}": pl.String for i in range(width)},
            separator=separator,
            quote_char=None,
            infer_schema=False,
        )
    except pl.exceptions.PolarsError:
        return None
    return frame if frame.height == lines - 1 else None


def _quoted(
    data: bytes, separator: str, where: str, numbered: bool
) -> tuple[pl.DataFrame, Sequence[int]]:
    """The careful way: every record with its line."""
    records = _records(data, separator, where)
    _, head = next(records, (1, []))
    width = len(head)
    lines, chunks, rows, problems = (
        array("Q"),
        list[pl.DataFrame](),
        list[list[str]](),
        list[Problem](),
    )
    count = 0
    for line, row in records:
        count += 1
        if len(row) != width:
            check_width(len(row), where)
            fields = f"{len(row)} field{'' if len(row) == 1 else 's'}"
            problems.append(Problem(line, "", f"{fields} where the header has {width}"))
            if len(problems) == MOST:
                break
            continue
        lines.append(line)
        rows.append(row)
        if len(rows) * width >= _CHUNK_CELLS:
            chunks.append(_frame(rows, width))
            rows = []
    raise_if(problems, where, count)
    if rows:
        chunks.append(_frame(rows, width))
    if not chunks:
        raise SourceError(f"{where}: there is a header but no row below it")
    return named(pl.concat(chunks, rechunk=True), head, where, numbered), lines


def _frame(rows: list[list[str]], width: int) -> pl.DataFrame:
    columns = dict(zip((f"c{i}" for i in range(width)), zip(*rows, strict=True), strict=True))
    text = pl.DataFrame(columns, schema=dict.fromkeys(columns, pl.String))
    return text.with_columns(pl.when(pl.all() != "").then(pl.all()))


def _records(
    data: bytes, separator: str, where: str, is_complete: bool = True
) -> Iterator[tuple[int, list[str]]]:
    """Each record that is not blank, with the line it begins on.

    `whole`: the data end where the file ends.
    """
    text = io.TextIOWrapper(
        io.BytesIO(data), encoding="utf-8", errors="strict" if is_complete else "ignore", newline=""
    )
    reader = csv.reader(text, delimiter=separator, strict=is_complete)
    previous = csv.field_size_limit(_LONGEST)
    line = 1
    try:
        for row in reader:
            if row:
                # Files that were joined have such marks within: no part of a text.
                row[0] = row[0].removeprefix("\ufeff")
                yield line, row
            line = reader.line_num + 1
    except csv.Error as error:
        raise SourceError(f"{where}: line {line:,}: {_quotation(error)}") from None
    finally:
        csv.field_size_limit(previous)


def _quotation(error: csv.Error) -> str:
    if "expected after" in str(error):
        return (
            "text follows a closing quotation mark; a quotation mark within a quoted field is"
            " doubled"
        )
    return "a quotation mark opens a field and is never closed"


def _short(text: str) -> str:
    return repr(text if len(text) <= 60 else text[:57] + "...")
