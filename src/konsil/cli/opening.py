"""A command's files as a table, and what is computed of it: in the same way for all commands."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from konsil.analysis.roles.reading import TableFile
from konsil.cli.unclear_tables import (
    command,
    file_notes,
    open_separator,
    open_sheets,
    unclear_file,
    with_command,
)
from konsil.errors import SourceError, UnclearTableError, keys_as_flags
from konsil.records.source import FileSettings

if TYPE_CHECKING:
    from konsil.analysis.running.comparing.compare_result import GroupComparison
    from konsil.analysis.standalone.agreement_result import Agreement
    from konsil.analysis.standalone.preference_table import HeadToHead
    from konsil.sources.exports.export import Export
    from konsil.sources.files.table import Table

R = TypeVar("R", "Agreement", "GroupComparison", "HeadToHead")
Q = TypeVar("Q")
Estimate = Callable[[Any, Q, TableFile], R]
"""What is computed of a table's cells, by a request, and of what is known of its file."""


def result_of(
    files: Sequence[Path], settings: FileSettings, request: Q, estimate: Estimate[Q, R]
) -> R:
    """What `estimate` computes of a command's files, with how they were read.

    Several files are one table. Where a file has no readable columns, the sheets of a spreadsheet
    or the records nested in JSON are tried.
    """
    table, export = _opened(files, settings)
    try:
        return _estimated(table, export, settings, request, estimate)
    except SourceError as error:
        is_unclear = isinstance(error, UnclearTableError)
        is_of_one = export is not None and export.is_of_one and len(files) == 1
        if export is not None and is_of_one and (export.question or not is_unclear):
            _refuse_one_of_several(export, str(error), settings, request, estimate)
        if not isinstance(error, UnclearTableError):
            raise
        clearest = error
        for others in _other_settings(table, settings, has_command=bool(error.arguments)):
            try:
                return _estimated(*_opened(files, others), settings, request, estimate)
            except UnclearTableError as refusal:
                if refusal.arguments or others.path:
                    raise
                if refusal.statement and not clearest.statement:
                    clearest = refusal
            except SourceError:
                # The sheets, or the records, are not tables of the same columns.
                continue
        raise clearest from None


def _refuse_one_of_several(
    export: Export, problem: str, settings: FileSettings, request: Q, estimate: Estimate[Q, R]
) -> None:
    """Refuse the export of one rater with the command that reads those of the others, too.

    Nothing where there are no others.
    """
    from konsil.sources.exports.recognition import exports_beside

    files = exports_beside(export, settings)
    if len(files) < 2:
        return
    _estimated(*_opened(files, settings), settings, request, estimate, files)
    name = export.table.name
    problem = problem.removeprefix(name).lstrip(",: ")
    sentence = f"{problem}; {export.tool} writes a file for each rater."
    raise UnclearTableError(name, unclear=(sentence,), call=command((), files))


def _opened(files: Sequence[Path], settings: FileSettings) -> tuple[Table, Export | None]:
    """A command's files as a table, and the export that it is; errors name options."""
    from konsil.sources.exports.recognition import read_export

    # A tab as TOML writes it: shells keep both signs.
    is_tab = settings.separator == r"\t"
    with keys_as_flags():
        return read_export(files, replace(settings, separator="\t") if is_tab else settings)


def _estimated(
    table: Table,
    export: Export | None,
    settings: FileSettings,
    request: Q,
    estimate: Estimate[Q, R],
    files: Sequence[Path] = (),
) -> R:
    file = TableFile(
        line=table.line,
        place=table.place,
        name=table.name,
        unclear=unclear_file(table, settings),
        separator=open_separator(table, settings),
        sheets={} if settings.sheet else open_sheets(table),
    )
    notes: list[str] = file_notes(table, settings)
    if export is not None:
        from konsil.api.folder.sources.source_roles import roles_of_tool

        file = replace(file, file_roles=roles_of_tool(export), question=export.question)
        notes.append(export.statement)
    elif table.stacked_by:
        from konsil.analysis.roles.questions.stacked import roles_of_stacked

        file_roles, question = roles_of_stacked(table.frame, table.stacked_by)
        file = replace(file, file_roles=file_roles, question=question)
    with with_command(type(request), table, files):
        result = estimate(table.frame, request, file)
    return replace(result, reading="; ".join(filter(None, (*notes, result.reading))))


def _other_settings(
    table: Table, settings: FileSettings, *, has_command: bool
) -> Iterator[FileSettings]:
    """The settings with which a table is read that has no readable columns by the stated ones.

    The records nested in a JSON file; all sheets of a spreadsheet as one table, or another sheet,
    unless the first one has a command.
    """
    if len(table.sheets) > 1 and not settings.sheet and not has_command:
        yield from (replace(settings, sheet=name) for name in ("*", *table.sheets[1:_MOST_SHEETS]))
    from konsil.sources.files.table import path_of_nested

    if not settings.path and (path := path_of_nested(table.path, settings)):
        yield replace(settings, path=path)


_MOST_SHEETS = 10
"""Sheets that are read in search of one whose columns are ratings."""
