"""CSV and TSV: text tables with a header."""

from __future__ import annotations

import codecs
import csv
import io
from array import array
from collections.abc import Iterator, Sequence
from itertools import islice

import numpy as np
import polars as pl

from konsil.errors import SourceError, key
from konsil.records.source import FileSettings
from konsil.sources.files.header import COMMENT, joined, named, numbered_names
from konsil.sources.files.problems import MOST, Problem, raise_if

_CHUNK_CELLS = 500_000
_HEAD, _FIRST, _FEWEST = 1 << 16, 40, 4
"""Bytes and records by which a table's settings are detected; of fewer records more bytes."""
# A field longer than this is a quotation mark that nobody closed.
_LONGEST = 1 << 24
WIDEST = 4_096
"""Columns that a table may have, as in a spreadsheet."""
CELLS = 16_000_000
"""Cells a table may have whatever its size; beyond them every cell takes two bytes at least."""
_WORDS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"}
AS_USUAL = FileSettings()
"""One row of names, and nothing above it."""


def read_delimited(
    data: bytes,
    separator: str,
    where: str,
    settings: FileSettings = AS_USUAL,
) -> tuple[pl.DataFrame, Sequence[int]]:
    """All cells of a UTF-8 text table as text, and each row's line in the file.

    Of the settings, those of rows and names are used.
    """
    if len(separator) != 1 or separator in '"\r\n':
        raise SourceError(f"{where}: the separator must be one character, got {separator!r}")
    if not data.strip():
        raise SourceError(f"{where}: the file is empty")
    if (settings.skip, settings.header, settings.comment) != (0, 1, ""):
        return _quoted(data, separator, where, settings)
    head = next(
        _records(data[: max(data.find(b"\n") + 1, 1 << 16)], separator, where, is_complete=False),
        (1, []),
    )[1]
    _right_separator(head, separator, where)
    check_width(len(head), where)
    check_cells(len(head) * (data.count(b"\n") + 1), len(data), where)
    frame = _read_unquoted(data, separator, len(head))
    if frame is not None:
        return named(frame, head, where, settings.numbered), range(2, frame.height + 2)
    return _quoted(data, separator, where, settings)


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


def _right_separator(head: Sequence[str | None], separator: str, where: str) -> None:
    only = (head[0] or "") if len(head) == 1 else ""
    for other, word in _WORDS.items():
        if other != separator and other in only:
            raise SourceError(
                f"{where}: the header is a single column {_short(only)}; the separator looks"
                f" like a {word}: set {key('separator', other)}"
            )


def _read_unquoted(data: bytes, separator: str, width: int) -> pl.DataFrame | None:
    """The fast way, for files without quotation marks, blank or ragged rows.

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
    without_cells = b"\n" + (width - 1) * sep
    if any(without_cells + end in data for end in (b"\n", b"\r")) or data.endswith(without_cells):
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
    data: bytes, separator: str, where: str, settings: FileSettings
) -> tuple[pl.DataFrame, Sequence[int]]:
    """The careful way: every record that has a cell with a value, with its line."""
    n_above = settings.skip + settings.header

    def records() -> Iterator[tuple[int, list[str]]]:
        for line, row in _records(data, separator, where):
            if not (settings.comment and row[0].startswith(settings.comment)):
                yield line, row

    head = joined([row for _, row in islice(records(), settings.skip, n_above)] or [[]])
    if not settings.header:
        head = numbered_names(len(next(islice(records(), settings.skip, None), (0, [""]))[1]))
    _right_separator(head, separator, where)
    width = len(head)
    check_width(width, where)
    check_cells(width * (data.count(b"\n") + 1), len(data), where)
    n_absent = _absent(islice(records(), n_above, None), width)
    lines, chunks, rows, problems = (
        array("Q"),
        list[pl.DataFrame](),
        list[list[str]](),
        list[Problem](),
    )
    count = 0
    for line, row in islice(records(), n_above, None):
        if len(row) <= width and not any(map(str.strip, row)):
            continue
        count += 1
        if len(row) != width - n_absent:
            check_width(len(row), where)
            fields = f"{len(row)} field{'' if len(row) == 1 else 's'}"
            problems.append(Problem(line, "", f"{fields} where the header has {width}"))
            if len(problems) == MOST:
                break
            continue
        lines.append(line)
        rows.append(row + [""] * n_absent)
        if len(rows) * width >= _CHUNK_CELLS:
            chunks.append(_frame(rows, width))
            rows = []
    raise_if(problems, where, count)
    if rows:
        chunks.append(_frame(rows, width))
    if not chunks:
        raise SourceError(f"{where}: there is a header but no row below it")
    return named(pl.concat(chunks, rechunk=True), head, where, settings.numbered), lines


def _absent(rows: Iterator[tuple[int, list[str]]], width: int) -> int:
    """How many cells every row leaves away at its end, as some programs do where they are empty.

    Where only some rows are shorter than the header, or there is a single one, they may be cut off:
    then none.
    """
    first = next(rows, (0, [""] * width))[1]
    if len(first) >= width:
        return 0
    widths = {len(row) for _, row in rows}
    return width - len(first) if widths == {len(first)} else 0


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


def first_records(data: bytes, separator: str) -> list[list[str]]:
    """The first records of a text table; none where the quotation marks do not fit."""
    size = _HEAD
    while True:
        try:
            records = _records(data[:size], separator, "", is_complete=False)
            rows = [row for _, row in islice(records, _FIRST)]
        except SourceError:
            return []
        # The last record may be cut off; three rows of names of a survey can be long.
        if len(rows) > _FEWEST or size >= len(data):
            return rows
        size *= 4


def detected_separator(text: bytes, usual: str) -> str:
    """The sign that divides the first records alike and into most fields.

    The usual sign of the file's ending wins where it does so as well.

    >>> lines = ["Fall;Groß;Jäger", "1;4,4;5,0", "2;1,6;2,4"]
    >>> detected_separator("".join(f"{line}{chr(10)}" for line in lines).encode(), ",")
    ';'
    """
    widths = {sign: _common_width(text, sign) for sign in dict.fromkeys((usual, *_WORDS))}
    # Where another sign divides all records, one that leaves the first whole has met no title.
    best = max(widths, key=lambda sign: (*widths[sign], sign == usual))
    return usual if widths[usual] == (True, widths[best][1]) else best


def _common_width(text: bytes, sign: str) -> tuple[bool, int]:
    """Whether a separator divides the first of the records too, and into how many fields.

    0 fields where their numbers differ. Titles above a table have a single field.
    """
    rows = first_records(text, sign)
    # The last record may be cut off where only the beginning of a file is read.
    rows = [row for row in rows[:-1] or rows if not row[0].startswith(COMMENT)]
    n = len(rows)
    while len(rows) > 1 and len(rows[0]) == 1 < len(rows[1]) == len({*rows[1]}):
        rows = rows[1:]
    widths = {len(row) for row in rows[1:]}
    if not rows or len(widths) > 1 or max(widths, default=1) > len(rows[0]) or len(rows[0]) == 1:
        return False, 0
    return len(rows) == n, len(rows[0])


def _quotation(error: csv.Error) -> str:
    if "expected after" in str(error):
        return (
            "text follows a closing quotation mark; a quotation mark within a quoted field is"
            " doubled"
        )
    return "a quotation mark opens a field and is never closed"


def _short(text: str) -> str:
    return repr(text if len(text) <= 60 else text[:57] + "...")
