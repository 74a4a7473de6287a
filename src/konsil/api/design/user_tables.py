"""The user's tables, read for guesses: their settings, columns with their first rows."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from konsil.design.tables.columns import Column
from konsil.design.tables.guessing import proposal_of, roles_of
from konsil.design.tables.loaded import UserTable
from konsil.errors import SourceError
from konsil.records.source import FileSettings
from konsil.sources.files.spreadsheet import sheets_of
from konsil.sources.files.table import ENDINGS, Table, read_table, settings_of

ROWS = 2_000
"""Rows that guesses look at."""
MOST_SHEETS = 12
"""Sheets of a workbook that are tried."""


def read_user_table(path: Path) -> UserTable:
    """Read a table by the settings that fit it; of a workbook the sheet that can be read best."""
    return _user_table(_best_sheet(path))


def read_by(path: Path, settings: FileSettings, former: FileSettings) -> UserTable:
    """Read a table by settings that the user states; of another sheet the others are detected."""
    if settings.sheet != former.sheet:
        return _user_table(read_table(path, FileSettings(sheet=settings.sheet), as_is=True))
    return _user_table(read_table(path, settings))


def _user_table(table: Table) -> UserTable:
    first = table.frame.head(ROWS)
    columns = tuple(Column(name, first.get_column(name).to_list()) for name in first.columns)
    name, settings = table.path.name, replace(table.settings, sheet=table.sheet)
    return UserTable(name, columns, table.frame.height, settings, table.sheets, settings_of(name))


def _best_sheet(path: Path) -> Table:
    """A table as it is; of a workbook one sheet, or all where their names say something."""
    sheets = sheets_of(path)
    if len(sheets) < 2:
        return read_table(path, as_is=True)
    tables, faults = [], []
    for sheet in (*sheets[:MOST_SHEETS], "*"):
        try:
            tables.append(read_table(path, FileSettings(sheet=sheet), as_is=True))
        except SourceError as error:  # a cover, or sheets of several kinds
            faults.append(error)
    if not tables:
        raise faults[0]
    return max(tables, key=_fit)


def _fit(table: Table) -> tuple[bool, bool, float]:
    """How well a sheet can be read; all of them, where their names say something."""
    proposal = proposal_of(_user_table(table).columns)
    roles = roles_of(proposal.reading) if proposal.reading else {}
    is_named = bool(table.stacked_by) and roles.get(table.stacked_by) in ("rater", "system")
    return is_named, proposal.is_certain, proposal.reading.points if proposal.reading else -1e9


def check_name(name: str) -> str:
    """A file's name as it may stand in a study's folder; a path or another ending is refused."""
    plain = name.replace("\\", "/").rpartition("/")[2].strip()
    if plain != name.strip() or plain in ("", ".", "..") or plain.startswith("."):
        raise SourceError(f"{name!r}: is not the plain name of a file; rename the file")
    if any(ord(letter) < 32 for letter in plain) or len(plain.encode()) > 200:
        raise SourceError(f"{plain[:40]!r}: the name has unusual characters; rename the file")
    ending = Path(plain).suffix.lower()
    if ending not in ENDINGS:
        raise SourceError(
            f"{plain}: unsupported ending {ending!r}; expected one of {', '.join(ENDINGS)}"
        )
    return plain
