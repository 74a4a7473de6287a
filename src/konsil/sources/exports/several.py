"""Several files as one table, with the name of each row's file in a column."""

from __future__ import annotations

import os
from array import array
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from konsil.errors import SourceError
from konsil.records.source import FileSettings
from konsil.sources.files.header import stacked
from konsil.sources.files.table import Table

FILE = "file"
"""The column with the name of each row's file."""


def stacked_files(tables: Sequence[Table], settings: FileSettings) -> Table:
    """The tables of several files as one; `settings` are the stated ones."""
    paths = [table.path for table in tables]
    name = f"{paths[0].name} and {len(paths) - 1} more"
    frames = dict(zip(_names(paths, name), (table.frame for table in tables), strict=True))
    numbers = (table.line(row) for table in tables for row in range(table.frame.height))
    # What was detected of each file is stated for all where it is the same.
    detected = tables[0].settings
    is_same = all(table.settings == detected for table in tables)
    return replace(
        tables[0],
        frame=stacked(frames, FILE, name),
        lines=array("Q", numbers),
        settings=detected if is_same else settings,
        stacked_by=FILE,
        title=name,
    )


def _names(paths: Sequence[Path], where: str) -> list[str]:
    """The files' names without endings; with their folders where names are equal."""
    names = [path.stem for path in paths]
    if len({*names}) < len(names):
        absolute = [path.absolute() for path in paths]
        top = os.path.commonpath([path.parent for path in absolute])
        names = [path.relative_to(top).with_suffix("").as_posix() for path in absolute]
    if len({*names}) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise SourceError(f"{where}: {twice!r} is named twice; name each file once")
    return names
