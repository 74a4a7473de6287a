"""Any table of the world as a frame of texts, with each row's place in its file."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, cast

import polars as pl

from konsil.errors import SourceError, key, nearest
from konsil.errors.message import message
from konsil.errors.places import Place
from konsil.records.source import FileSettings
from konsil.sources.files.apart import read_apart
from konsil.sources.files.cells import detected_decimal, with_decimal_point
from konsil.sources.files.delimited import (
    AS_USUAL,
    detected_separator,
    first_records,
    read_delimited,
)
from konsil.sources.files.encoding import looks_like, to_utf8
from konsil.sources.files.header import are_values, with_rows_of_names
from konsil.sources.files.jsontable import (
    TOP,
    is_object,
    path_of_records,
    read_json,
    read_jsonl,
    read_nested,
)
from konsil.sources.files.labelled import SAVED, read_labelled
from konsil.sources.files.parquet import check_parquet
from konsil.sources.files.spreadsheet import SHEET, check_spreadsheet, is_pattern

Rows = tuple[pl.DataFrame, Sequence[int]]
"""The cells of a text table, and each row's line."""

_SEPARATORS = {".csv": ",", ".tsv": "\t", ".tab": "\t", ".txt": ","}
"""Ending of a delimited text -> its separator, unless another one is stated."""
TEXTS: Mapping[str, Callable[[bytes, str], Rows]] = MappingProxyType(
    {".jsonl": read_jsonl, ".ndjson": read_jsonl, ".json": read_json}
)
"""Ending of another text format -> its reader, of the file's bytes as UTF-8 and its name."""
_SPREADSHEETS = (".xlsx", ".xlsm")
ENDINGS = (*_SEPARATORS, *TEXTS, ".parquet", *_SPREADSHEETS, *SAVED)
"""The endings that are read."""

_GRIDS = (*_SEPARATORS, *_SPREADSHEETS)
_SETTINGS_OF: Mapping[str, Collection[str]] = MappingProxyType(
    {
        "sheet": _SPREADSHEETS,
        "encoding": (*_SEPARATORS, *TEXTS),
        "separator": _SEPARATORS,
        "path": (*TEXTS,),
        **dict.fromkeys(("decimal", "skip", "header", "numbered", "comment"), _GRIDS),
    }
)
"""Setting of a file -> the endings of the files that it concerns."""

_AS_XLSX = message(
    "open the file in a spreadsheet program and save it as .xlsx", message_id="file.save_as_xlsx"
)
_IN_R = message(
    "read the file in R and save the table with write.csv(table, 'table.csv', row.names = FALSE)",
    message_id="file.save_in_r",
)
_RANKED = message(
    "write a .csv with one row per rater and item and the item's rank", message_id="file.ranked"
)
_COPIED = message(
    "copy the table to a spreadsheet and save it as .xlsx or .csv", message_id="file.copied"
)
_SAVED_BY = {
    ".xls": _AS_XLSX,
    ".ods": _AS_XLSX,
    ".numbers": message(
        "export the table from Numbers as .xlsx or .csv", message_id="file.save_in_numbers"
    ),
    ".rda": _IN_R,
    ".rdata": _IN_R,
    ".rds": _IN_R,
    ".toc": _RANKED,
    ".soc": _RANKED,
    ".docx": _COPIED,
    ".pdf": _COPIED,
}
"""Ending of files that other programs write -> how a file that is read is made of one."""

_MAGIC = (
    (b"PK\x03\x04", message("a spreadsheet or a zip archive", message_id="file.is_zip")),
    (b"\x1f\x8b", message("compressed by gzip", message_id="file.is_gzip")),
    (b"PAR1", message("a Parquet file", message_id="file.is_parquet")),
    (b"%PDF", message("a PDF", message_id="file.is_pdf")),
    (bytes.fromhex("d0cf11e0"), message("an old .xls spreadsheet", message_id="file.is_xls")),
)


def settings_of(name: str) -> frozenset[str]:
    """The settings that concern a file of this name."""
    ending = Path(name).suffix.lower()
    return frozenset(setting for setting, endings in _SETTINGS_OF.items() if ending in endings)


@dataclass(frozen=True)
class Table:
    """A file's table: every column as text, null where a cell is empty."""

    frame: pl.DataFrame
    """The cells, by the header's names."""
    path: Path
    """The file."""
    sheet: str = ""
    """The sheet it was read from, in a spreadsheet."""
    lines: Sequence[int] = ()
    """Each row's line (text) or number (spreadsheet, Parquet)."""
    place: Place = "line"
    """Whether `lines` are lines of a text or rows of a grid."""
    settings: FileSettings = AS_USUAL
    """The settings by which it was read, those that were detected included."""
    sheets: tuple[str, ...] = ()
    """All sheets of a spreadsheet, in order."""
    columns_of_others: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """The columns of each sheet beside it, as far as it is a table."""

    stacked_by: str = ""
    """The column with the names of the sheets or files that are read as one table."""
    title: str = ""
    """The name in errors of several files."""
    hidden: tuple[str, ...] = ()
    """What a spreadsheet program does not show of the cells, in sentences."""

    @property
    def name(self) -> str:
        """The table's name in errors: the file's name, and the sheet's."""
        if self.title:
            return self.title
        return f"{self.path.name}[{self.sheet}]" if self.sheet else self.path.name

    def line(self, row_index: int) -> int:
        """The place in the file of a row of the frame.

        A header is line 1, quoted line breaks are counted.
        """
        return self.lines[row_index] if self.lines else row_index + 2


def read_table(
    path: str | Path, settings: FileSettings = AS_USUAL, *, as_is: bool = False
) -> Table:
    """Read a CSV, TSV, JSON Lines, JSON, Parquet or XLSX file, or one of SPSS or Stata.

    Every fault is one SourceError in one sentence.

    Numbers become the text a person would write: 3 for 3.0, 2.5, true. Lists and objects become
    JSON.
    `as_is`: for tables that nobody has described. Settings that are not stated are detected, an
    empty encoding included; the table's `settings` have them.
    """
    path = Path(path)
    ending = path.suffix.lower()
    where = path.name
    check_readable(path)
    check_ending(where)
    _refuse_idle(settings, ending, where)
    if ending in _SPREADSHEETS:
        unpacked = check_spreadsheet(path, where)
        stated = json.dumps((asdict(settings), as_is))
        frame, lines, header = read_apart("spreadsheet", path, stated, where, unpacked)
        used = FileSettings(**cast(dict[str, Any], header["settings"]))
        sheets = tuple(cast(Sequence[str], header["sheets"]))
        by = SHEET if is_pattern(settings.sheet) else ""
        table = Table(frame, path, str(header["sheet"]), lines, "row", used, sheets, stacked_by=by)
        hidden = tuple(cast(Sequence[str], header["hidden"]))
        others = cast(Mapping[str, Sequence[str]], header["columns_of_others"])
        return _with_decimal(replace(table, hidden=hidden, columns_of_others=others), as_is)
    if ending == ".parquet":
        unpacked = check_parquet(path, where)
        frame, lines, _ = read_apart("parquet", path, "", where, unpacked)
        return Table(frame, path, lines=lines, place="row", settings=settings)
    if ending in SAVED:
        frame, lines = read_labelled(path, where)
        return Table(frame, path, lines=lines, place="row", settings=settings)
    data = read_bytes(path)
    if as_is and not settings.encoding:
        encoding = looks_like(data) or ""
        settings = replace(settings, encoding="" if encoding == "utf-8" else encoding)
    text = text_of(data, settings.encoding or "utf-8", where)
    place: Place
    if settings.path:
        is_lines = ending != ".json"
        frame, lines = read_nested(text, where, settings.path, is_lines=is_lines)
        place = "line" if is_lines else "row"
        return Table(frame, path, lines=lines, place=place, settings=settings)
    if ending in TEXTS:
        frame, lines = TEXTS[ending](text, where)
        place = "row" if ending == ".json" and is_object(text) else "line"
        return Table(frame, path, lines=lines, place=place, settings=settings)
    usual = _SEPARATORS[ending]
    if as_is:
        settings = _detected(text, settings, usual)
    frame, lines = read_delimited(text, settings.separator or usual, where, settings)
    if as_is and settings.header == 1 and are_values(frame):
        settings = replace(settings, header=0, numbered=False)
        frame, lines = read_delimited(text, settings.separator or usual, where, settings)
    return _with_decimal(Table(frame, path, lines=lines, settings=settings), as_is)


def check_ending(where: str) -> None:
    """Refuse a file's name whose ending is not read."""
    ending = Path(where).suffix.lower()
    if ending in _SAVED_BY:
        raise SourceError(
            message(
                "{where}: {ending} files are not read; {advice}",
                message_id="file.other_program",
                where=where,
                ending=ending,
                advice=_SAVED_BY[ending],
            )
        )
    if ending not in ENDINGS:
        raise SourceError(
            message(
                "{where}: unsupported file extension {ending!r}; expected one of {endings}",
                message_id="file.extension",
                where=where,
                ending=ending,
                endings=", ".join(ENDINGS),
            )
        )


def _refuse_idle(settings: FileSettings, ending: str, where: str) -> None:
    """Refuse a setting that changes nothing of a file of this kind."""
    for name, endings in _SETTINGS_OF.items():
        value = getattr(settings, name)
        if ending not in endings and value not in {getattr(AS_USUAL, name), "utf-8"}:
            word = "" if value is True else str(value)
            raise SourceError(
                message(
                    "{where}: {setting}: has no effect on {ending} files; expected one of"
                    " {endings}",
                    message_id="file.idle_setting",
                    where=where,
                    setting=key(name, word),
                    ending=ending,
                    endings=", ".join(endings),
                )
            )


def _detected(text: bytes, settings: FileSettings, usual: str) -> FileSettings:
    """The settings of a text table by its first records."""
    sign = settings.separator or detected_separator(text, usual)
    if not settings.separator and sign != usual:
        settings = replace(settings, separator=sign)
    return with_rows_of_names(settings, first_records(text, sign))


def _with_decimal(table: Table, as_is: bool) -> Table:
    """The table with a decimal point in its numbers, as its settings or its cells have them."""
    settings = table.settings
    if as_is and not settings.decimal:
        settings = replace(settings, decimal=detected_decimal(table.frame))
    return replace(
        table, frame=with_decimal_point(table.frame, settings.decimal), settings=settings
    )


def text_of(data: bytes, encoding: str, where: str) -> bytes:
    """The bytes of a text file as UTF-8; a file of another kind is called by its kind."""
    for magic, kind in _MAGIC:
        if data.startswith(magic):
            raise SourceError(
                message(
                    "{where}: the extension indicates text, but the file is {kind}",
                    message_id="file.no_text",
                    where=where,
                    kind=kind,
                )
            )
    text = to_utf8(data, encoding, where)
    if not text.strip():
        raise SourceError(
            message("{where}: the file is empty", message_id="file.empty", where=where)
        )
    return text


def path_of_nested(path: Path, settings: FileSettings) -> str:
    """The path of the records nested in a JSON file; empty for other files and without records."""
    ending = path.suffix.lower()
    if ending != ".json":
        return TOP if ending in TEXTS else ""
    text = text_of(read_bytes(path), settings.encoding or "utf-8", path.name)
    return path_of_records(text, path.name)


def read_bytes(path: Path) -> bytes:
    """A file's bytes; what keeps it from being read is one sentence."""
    check_readable(path)
    return path.read_bytes()


def check_readable(path: Path) -> None:
    """Refuse what is no file, cannot be opened or is empty."""
    if path.is_dir():
        raise SourceError(
            message(
                "{where}: is a folder; expected a file", message_id="file.folder", where=path.name
            )
        )
    if path.is_file():
        try:
            path.open("rb").close()
        except OSError as error:
            raise SourceError(
                message(
                    "{where}: cannot be opened: {reason}",
                    message_id="file.not_opened",
                    where=path.name,
                    reason=error.strerror or str(error),
                )
            ) from None
        if path.stat().st_size == 0:
            raise SourceError(
                message("{where}: the file is empty", message_id="file.empty", where=path.name)
            )
        return
    if not path.parent.is_dir():
        raise SourceError(
            message(
                "{where}: there is no folder {folder!r}",
                message_id="file.no_folder",
                where=path.name,
                folder=str(path.parent),
            )
        )
    hint = nearest(path.name, [p.name for p in path.parent.iterdir() if p.is_file()])
    # A whole folder's listing is no help in a sentence.
    if len(hint) >= 200:
        raise SourceError(
            message("{where}: there is no such file", message_id="file.absent", where=path.name)
        )
    raise SourceError(
        message(
            "{where}: there is no such file; {hint}",
            message_id="file.absent_near",
            where=path.name,
            hint=hint,
        )
    )
