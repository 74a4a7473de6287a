"""A table of which it is not clear what each column is: the command to copy."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click
from click.core import ParameterSource

from konsil.errors import UnclearTableError
from konsil.records.request import Options, flags_of, quoted
from konsil.records.source import FileSettings, settings_options

if TYPE_CHECKING:
    from konsil.sources.files.table import Table


@contextmanager
def with_command(
    kind: type, table: Table | None = None, files: Sequence[Path] = ()
) -> Iterator[None]:
    """Add to the refusal of a table the whole command that states the likeliest reading.

    `kind`: the request whose fields are the options. `files`: those that the command reads, if they
    are others than those of the command that runs.
    """
    try:
        yield
    except UnclearTableError as error:
        settings = [] if table is None else _settings_options(table)
        options = (*settings, *flags_of(kind, error.arguments))
        raise error.with_call(command(options, files)) from None


def _settings_options(table: Table) -> Options:
    """The settings by which a table was read, as options; of several sheets the one that it is."""
    is_of_several = len(table.sheets) > 1 and not table.settings.sheet
    sheet = table.sheet if is_of_several else table.settings.sheet
    return settings_options(replace(table.settings, sheet=sheet))


def command(proposed: Options, files: Sequence[Path] = ()) -> str:
    """The command that runs, with its options, and with those proposed beside them.

    `files`: what it reads in place of its files; none: the same.
    """
    context = click.get_current_context()
    words = ["konsil", str(context.info_name)]
    stated: list[tuple[str, tuple[str, ...]]] = []
    added = {"--missing"}
    for parameter in context.command.params:
        name = str(parameter.name)
        if "=" in str(getattr(parameter, "metavar", "")):
            added.add(max(parameter.opts, key=len))
        if context.get_parameter_source(name) is not ParameterSource.COMMANDLINE:
            continue
        value = context.params.get(name)
        if isinstance(parameter, click.Argument):
            values = value if isinstance(value, tuple) else (value,)
            words += [quoted(str(v)) for v in files or values]
        elif isinstance(parameter, click.Option):
            stated += _as_typed(parameter, value)
    stated_options = {option for option, _ in stated} - added
    stated_values = {(option, _subject(values)) for option, values in stated}
    layouts = {"--wide", "--long", "--counts", "--raters-in-rows", "--cross-table"}
    options = [
        *dict.fromkeys(stated),
        *(
            (option, values)
            for option, values in proposed
            if option not in stated_options
            and (option, _subject(values)) not in stated_values
            and not (option in layouts and stated_options & layouts)
        ),
    ]
    return " ".join([*words, *(" ".join([o, *map(quoted, values)]) for o, values in options)])


def _subject(values: Sequence[str]) -> str:
    """What the value of an option is about: the part before '='."""
    return values[0].partition("=")[0] if values else ""


def _as_typed(parameter: click.Option, value: object) -> list[tuple[str, tuple[str, ...]]]:
    name = max(parameter.opts, key=len)
    if parameter.is_flag:
        # One of several flags for the values of an option, or a flag of its own.
        if isinstance(parameter.flag_value, str):
            return [(name, ())] if value == parameter.flag_value else []
        off = parameter.secondary_opts
        return [(name if value else off[0], ())] if value or off else []
    if parameter.multiple:
        return [(name, (str(v),)) for v in cast(Sequence[Any], value)]
    return [(name, (str(value),))]


def file_notes(table: Table, stated: FileSettings) -> list[str]:
    """How a file was cut into cells, where that was detected and does not change its columns."""
    words: Mapping[str, str] = {
        "encoding": f"encoding {table.settings.encoding}",
        "separator": f"separator {table.settings.separator!r}",
        "decimal": f"decimal sign {table.settings.decimal!r}",
        "path": f"records at {table.settings.path!r}",
        "comment": f"rows beginning with {table.settings.comment!r} are comments",
    }
    detected = [
        text
        for name, text in words.items()
        if getattr(table.settings, name) != getattr(stated, name)
    ]
    return [*detected, *table.hidden]


def unclear_file(table: Table, stated: FileSettings) -> tuple[str, ...]:
    """What is unclear of a file: which sheet, and which rows have the names of the columns."""
    settings = table.settings
    sentences = []
    # Beside empty sheets, which old programs add, the one with a table is meant.
    if not stated.sheet and table.columns_of_others:
        names = ", ".join(map(repr, table.sheets))
        sentences.append(f"The spreadsheet has {len(table.sheets)} sheets: {names}.")
    if settings.header == 0 != stated.header:
        sentences.append("The first row has no names of columns: columns are numbered.")
    elif (settings.skip, settings.header) != (stated.skip, stated.header):
        rows = "row" if settings.header == 1 else "rows"
        last = settings.skip + settings.header
        place = f"{settings.skip + 1} to {last}" if settings.header > 1 else str(last)
        sentences.append(f"The names of the columns are taken from {rows} {place}.")
    if settings.numbered and not stated.numbered:
        equal = [name for name in table.frame.columns if name.endswith(" (2)")]
        if equal:
            sentences.append(f"Columns with equal names are numbered, such as {equal[0]!r}.")
    return tuple(sentences)


def open_sheets(table: Table) -> Mapping[str, Sequence[str]]:
    """The columns of each sheet of a workbook, where several have some; those of the read first."""
    if not table.columns_of_others:
        return {}
    others = (name for name in table.sheets if name != table.sheet)
    columns = {name: table.columns_of_others.get(name, ()) for name in others}
    return {table.sheet: table.frame.columns, **columns}


def open_separator(table: Table, stated: FileSettings) -> str:
    """What is between the cells of a text whose decimal sign is open; empty: no such text."""
    if stated.decimal or table.settings.decimal:
        return ""
    return table.settings.separator or _SEPARATORS.get(table.path.suffix.lower(), "")


_SEPARATORS: Mapping[str, str] = {".csv": ",", ".tsv": "\t", ".txt": "\t"}
"""What is usually between the cells of a text."""
