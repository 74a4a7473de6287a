"""A table of which it is not clear what each column is: the command to copy."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any, cast

import click
from click.core import ParameterSource

from konsil.errors import UnclearTableError
from konsil.records.request import FLAG, Flag
from konsil.records.source import FileSettings

if TYPE_CHECKING:
    from konsil.sources.files.table import Table

Options = Sequence[tuple[str, tuple[str, ...]]]


@contextmanager
def with_command(kind: type, table: Table | None = None) -> Iterator[None]:
    """Add to the refusal of a table the whole command that states the likeliest reading.

    `kind`: the request whose fields are the options.
    """
    try:
        yield
    except UnclearTableError as error:
        settings = [] if table is None else settings_options(table)
        raise error.with_call(command((*settings, *_flags(kind, error.arguments)))) from None


def settings_options(table: Table) -> list[tuple[str, tuple[str, ...]]]:
    """The settings of a file that were detected, as options."""
    usual = FileSettings()
    return [
        # A tab is printed as blanks.
        (f"--{entry.name}", () if value is True else (str(value).replace("\t", r"\t"),))
        for entry in fields(FileSettings)
        if (value := getattr(table.settings, entry.name)) != getattr(usual, entry.name)
    ]


def _flags(kind: type, arguments: Options) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Fields of a request with their values, as options."""
    by_name = {entry.name: entry for entry in fields(kind)} if is_dataclass(kind) else {}
    for name, values in arguments:
        flag: Flag = by_name[name].metadata[FLAG] if name in by_name else Flag()
        if flag.by_value is not None:
            yield f"--{values[0]}", ()
            continue
        option = f"--{flag.name or name.replace('_', '-')}"
        if flag.is_listed:
            yield option, (",".join(values),)
            continue
        for value in dict.fromkeys(values):
            yield option, (value,)


def command(proposed: Options) -> str:
    """The command that runs, with its options, and with those proposed beside them."""
    context = click.get_current_context()
    words = ["konsil", str(context.info_name)]
    stated: list[tuple[str, tuple[str, ...]]] = []
    for parameter in context.command.params:
        name = str(parameter.name)
        if context.get_parameter_source(name) is not ParameterSource.COMMANDLINE:
            continue
        value = context.params.get(name)
        if isinstance(parameter, click.Argument):
            values = value if isinstance(value, tuple) else (value,)
            words += [quoted(str(v)) for v in values]
        elif isinstance(parameter, click.Option):
            stated += _as_typed(parameter, value)
    stated_options = {option for option, _ in stated}
    layouts = {"--wide", "--long", "--counts", "--raters-in-rows", "--cross-table"}
    options = [
        *dict.fromkeys(stated),
        *(
            (option, values)
            for option, values in proposed
            if option not in stated_options and not (option in layouts and stated_options & layouts)
        ),
    ]
    return " ".join([*words, *(" ".join([o, *map(quoted, values)]) for o, values in options)])


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


def quoted(word: str, shell: str = os.name) -> str:
    r"""A word as the user's shell reads it: POSIX, or PowerShell on Windows.

    >>> quoted("Dr. A", "posix"), quoted("it's", "nt"), quoted("case", "nt")
    ("'Dr. A'", "'it''s'", 'case')
    """
    if shell != "nt":
        return shlex.quote(word)
    plain = word and all(letter.isalnum() or letter in "-_./\\:=" for letter in word)
    return word if plain else "'" + word.replace("'", "''") + "'"


def file_notes(table: Table, stated: FileSettings) -> list[str]:
    """How a file was cut into cells, where that was detected and does not change its columns."""
    words: Mapping[str, str] = {
        "encoding": f"encoding {table.settings.encoding}",
        "separator": f"separator {table.settings.separator!r}",
        "decimal": f"decimal sign {table.settings.decimal!r}",
        "path": f"records at {table.settings.path!r}",
        "comment": f"rows beginning with {table.settings.comment!r} are comments",
    }
    return [
        text
        for name, text in words.items()
        if getattr(table.settings, name) != getattr(stated, name)
    ]


def unclear_file(table: Table, stated: FileSettings) -> tuple[str, ...]:
    """What is unclear of a file: which sheet, and which rows have the names of the columns."""
    settings = table.settings
    sentences = []
    if len(table.sheets) > 1 and not stated.sheet:
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


def open_separator(table: Table, stated: FileSettings) -> str:
    """What is between the cells of a text whose decimal sign is open; empty: no such text."""
    if stated.decimal or table.settings.decimal:
        return ""
    return table.settings.separator or _SEPARATORS.get(table.path.suffix.lower(), "")


_SEPARATORS: Mapping[str, str] = {".csv": ",", ".tsv": "\t", ".txt": "\t"}
"""What is usually between the cells of a text."""
