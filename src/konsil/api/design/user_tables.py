"""The user's tables, read for guesses: their settings, columns with their first rows."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from konsil.api.folder.sources.source_roles import roles_of_tool
from konsil.design.tables.columns import Column
from konsil.design.tables.guessing import proposal_of, roles_of
from konsil.design.tables.loaded import UserTable
from konsil.errors import SourceError
from konsil.errors.message import message
from konsil.records.source import FileSettings
from konsil.sources.exports.recognition import read_export
from konsil.sources.files.spreadsheet import SHEET, sheets_of
from konsil.sources.files.table import Table, check_ending, path_of_nested, read_table, settings_of

ROWS = 2_000
"""Rows that guesses look at."""
MOST_SHEETS = 12
"""Sheets of a workbook that are tried."""


def read_user_table(path: Path) -> UserTable:
    """Read a table by the settings that fit it best: the export of a tool, sheets, nested JSON."""
    tables, faults = list[UserTable](), list[SourceError]()
    for settings in _tried(path):
        try:
            tables.append(_user_table(path, settings))
        except SourceError as error:  # a cover, sheets of several kinds, or no list of records
            faults.append(error)
        else:
            if tables[-1].tool:
                return tables[-1]
    if not tables:
        raise faults[0]
    return max(tables, key=_fit) if len(tables) > 1 else tables[0]


def read_by(path: Path, settings: FileSettings, former: FileSettings) -> UserTable:
    """Read a table by settings that the user states; of another sheet the others are detected."""
    if settings.sheet != former.sheet:
        return _user_table(path, FileSettings(sheet=settings.sheet))
    return _table_of(read_table(path, settings))


def _tried(path: Path) -> Iterator[FileSettings]:
    """The settings with which a file is tried: its sheets, and the records nested in JSON."""
    sheets = sheets_of(path)
    if len(sheets) > 1:
        yield from (FileSettings(sheet=sheet) for sheet in (*sheets[:MOST_SHEETS], "*"))
        return
    yield FileSettings()
    with suppress(SourceError):  # what is wrong with the file itself is told already
        if nested := path_of_nested(path, FileSettings()):
            yield FileSettings(path=nested)


def _user_table(path: Path, settings: FileSettings) -> UserTable:
    """A table as it is, or as the export of a tool."""
    try:
        table, export = read_export([path], settings)
    except SourceError:
        # An export without ratings can contain what is to be rated.
        table, export = read_table(path, settings, as_is=True), None
    if export is None and path.suffix.lower() == ".json":
        table = read_table(path, settings, as_is=True)  # an object is no row of a table
    if export is None:
        return _table_of(table)
    return replace(
        _table_of(table),
        tool=export.tool,
        tool_roles=roles_of_tool(export),
        is_unconfirmed=bool(export.question),
    )


def _table_of(table: Table) -> UserTable:
    first = table.frame.head(ROWS)
    columns = tuple(Column(name, first.get_column(name).to_list()) for name in first.columns)
    name, settings = table.path.name, replace(table.settings, sheet=table.sheet)
    return UserTable(name, columns, table.frame.height, settings, table.sheets, settings_of(name))


def _fit(table: UserTable) -> tuple[bool, bool, float]:
    """How well a sheet can be read; all of them, where their names say something."""
    proposal = proposal_of(table.columns)
    roles = roles_of(proposal.reading) if proposal.reading else {}
    is_named = table.settings.sheet == "*" and roles.get(SHEET) in ("rater", "system")
    return is_named, proposal.is_certain, proposal.reading.points if proposal.reading else -1e9


def check_name(name: str) -> str:
    """A file's name as it may stand in a study's folder; a path or another ending is refused."""
    plain = name.replace("\\", "/").rpartition("/")[2].strip()
    if plain != name.strip() or plain in ("", ".", "..") or plain.startswith("."):
        raise SourceError(
            message(
                "{name!r}: is not the plain name of a file; rename the file",
                message_id="setup.plain_name",
                name=name,
            )
        )
    if any(ord(letter) < 32 for letter in plain) or len(plain.encode()) > 200:
        raise SourceError(
            message(
                "{name!r}: the name has unusual characters; rename the file",
                message_id="setup.unusual_name",
                name=plain[:40],
            )
        )
    check_ending(plain)
    return plain
