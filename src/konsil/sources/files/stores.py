"""Object stores: Parquet files under a URL, such as s3://bucket/folder, read by pieces."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from konsil.errors import SourceError, installation

if TYPE_CHECKING:
    import pyarrow.fs

_URL = re.compile(r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*)://")
SCHEMES = ("file", "gs", "hdfs", "s3")
"""The stores that are read."""


@dataclass(frozen=True)
class StoredFile:
    """A Parquet file in a store."""

    path: str
    """Its path in the store."""
    size: int
    """Its bytes."""
    columns: tuple[str, ...]
    """Its columns."""
    n_rows: int
    """Its rows."""


def is_url(place: object) -> bool:
    """Whether a place is a URL and not a path.

    >>> is_url("s3://votes/2026"), is_url("votes/2026")
    (True, False)
    """
    return isinstance(place, str) and _URL.match(place) is not None


def url_name(url: str) -> str:
    """The last part of a URL's path, for errors; its query may have keys and is not named.

    >>> url_name("s3://key:secret@votes/2026/?region=x"), url_name("s3://key:secret@votes")
    ('2026', 'votes')
    """
    path = _URL.sub("", url.partition("?")[0]).rstrip("/")
    return path.rpartition("/")[2].rpartition("@")[2]


def stored_files(url: str) -> list[StoredFile]:
    """The Parquet files under a URL, or the one that it names, in the order of their paths."""
    with _faults(url_name(url)):
        store, path = _opened(url)
        return [
            StoredFile(info.path, int(info.size), *_contents(store, info.path))
            for info in _infos(store, path)
        ]


def read_stored(url: str, path: str, columns: tuple[str, ...], start: int, n: int) -> pl.DataFrame:
    """Some rows of a file under a URL; only the groups of rows that have them are read."""
    import pyarrow.parquet as parquet

    name = path.rpartition("/")[2]
    with _faults(name):
        store, _ = _opened(url)
        with store.open_input_file(path) as source:
            file = parquet.ParquetFile(source)
            groups: list[int] = []
            first, at = start, 0
            for group in range(file.num_row_groups):
                height = file.metadata.row_group(group).num_rows
                if at < start + n and at + height > start:
                    first = first if groups else start - at
                    groups.append(group)
                at += height
            table = file.read_row_groups(groups, columns=list(columns))
            frame = pl.from_arrow(table.select(list(columns)).slice(first, n))
    assert isinstance(frame, pl.DataFrame)
    return frame


def _opened(url: str) -> tuple[pyarrow.fs.FileSystem, str]:
    match = _URL.match(url)
    scheme = match["scheme"].lower() if match else ""
    if scheme not in SCHEMES:
        raise SourceError(
            f"{url_name(url)}: {scheme}://: there is no such store; expected"
            f" {', '.join(f'{name}://' for name in SCHEMES)} or a path"
        )
    try:
        from pyarrow.fs import FileSystem
    except ImportError:
        raise SourceError(
            f"{url_name(url)}: {scheme}:// needs pyarrow; install it with {installation('pandas')}"
        ) from None
    store, path = FileSystem.from_uri(url)
    return store, str(path)


def _infos(store: pyarrow.fs.FileSystem, path: str) -> list[pyarrow.fs.FileInfo]:
    from pyarrow.fs import FileSelector, FileType

    info = store.get_file_info(path)
    if info.type == FileType.File:
        return [info]
    if info.type == FileType.NotFound:
        return []
    infos = [
        member
        for member in store.get_file_info(FileSelector(path, recursive=True))
        if member.type == FileType.File and member.path.endswith(".parquet")
    ]
    base = len(path.rstrip("/").split("/"))
    # Files and folders whose names begin so are those of the programs that wrote the data set.
    files = [i for i in infos if not any(part[0] in "._" for part in i.path.split("/")[base:])]
    return sorted(files, key=lambda info: info.path.split("/"))


def _contents(store: pyarrow.fs.FileSystem, path: str) -> tuple[tuple[str, ...], int]:
    import pyarrow.parquet as parquet

    with _faults(path.rpartition("/")[2]), store.open_input_file(path) as source:
        file = parquet.ParquetFile(source)
        return tuple(file.schema_arrow.names), int(file.metadata.num_rows)


@contextmanager
def _faults(name: str) -> Iterator[None]:
    """Faults of a store, and of a file in it, as a SourceError each."""
    try:
        yield
    except ValueError as error:  # pyarrow's own errors of what is no Parquet file are such
        raise SourceError(f"{name}: the Parquet file is damaged: {_reason(error)}") from None
    except OSError as error:
        raise SourceError(f"{name}: the store cannot be read: {_reason(error)}") from None


def _reason(error: Exception) -> str:
    return str(error).splitlines()[0] if str(error) else type(error).__name__
