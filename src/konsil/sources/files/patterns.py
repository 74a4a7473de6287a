"""The files of a source that names several by a pattern."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from konsil.errors import SourceError
from konsil.records import Source

_WILD = "*"


def expanded(folder: Path, sources: Iterable[Source]) -> tuple[Source, ...]:
    """The sources, one for each file.

    A source of ratings whose file name has a `*` becomes one source for each file of that name, in
    the order of the names; the part that the `*` stands for becomes the field `named`. A pattern
    that no file has stays as it is: like any missing file, it is an error where it is read.
    """
    return tuple(one_file for source in sources for one_file in _of_files(folder, source))


def is_pattern(source: Source) -> bool:
    """Whether the source names its files by a pattern."""
    return _WILD in source.file


def exist(folder: Path, source: Source) -> bool:
    """Whether the source's file is there; for a pattern, at least one."""
    return all((folder / one_file.file).exists() for one_file in expanded(folder, [source]))


def _of_files(folder: Path, source: Source) -> Iterator[Source]:
    _check(source)
    if not is_pattern(source):
        yield source
        return
    parent, name = Path(source.file).parent, Path(source.file).name
    before, _, after = name.partition(_WILD)
    shape = re.compile(f"{re.escape(before)}(.+){re.escape(after)}", re.DOTALL)
    place = folder / parent
    matches = [
        (entry, match[1])
        for entry in (sorted(place.iterdir()) if place.is_dir() else ())
        # Hidden files and the locks of office programs are no tables.
        if (match := shape.fullmatch(entry.name)) and not entry.name.startswith((".", "~$"))
    ]
    if not matches:
        yield source
    for entry, part in matches:
        fixed = dict(source.fixed)
        if source.named:
            fixed[source.named] = source.values.get(source.named, {}).get(part, part)
        yield dataclasses.replace(source, file=str(parent / entry.name), fixed=fixed, named="")


def _check(source: Source) -> None:
    where = source.file
    if is_pattern(source):
        if source.records != "ratings":
            raise SourceError(
                f"{where}: '*' in the name of a file is for ratings; name each file with"
                f" {source.records} in a source of its own"
            )
        if _WILD in str(Path(where).parent) or where.count(_WILD) > 1:
            raise SourceError(f"{where}: expected one '*', in the name of the file itself")
    elif source.named:
        raise SourceError(
            f"{where}: named = {source.named!r} is for files whose name has a '*', such as"
            " 'ratings/*.csv'"
        )
    if source.named and (source.named in source.columns or source.named in source.fixed):
        raise SourceError(
            f"{where}: {source.named!r} comes from the name of the file and from a column or fixed"
            " value; expected one of them"
        )
