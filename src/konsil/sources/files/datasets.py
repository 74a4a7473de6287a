"""Data sets: Parquet files in a folder or an object store, and large ones, read by pieces."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from konsil.errors import SourceError
from konsil.sources.files.parquet import check_parquet, parquet_faults
from konsil.sources.files.stores import StoredFile, read_stored, stored_files, url_name

ROWS = 1 << 20
"""Rows that a piece has at most."""
LARGE = 32 << 20
"""From so many bytes on a Parquet file is read by pieces."""


@dataclass(frozen=True)
class Piece:
    """Some rows of one file of a data set."""

    path: str
    """The file."""
    start: int
    """The first row in the file, from 0."""
    n_rows: int
    """The number of rows."""
    number: int
    """The first row's number in the data set, from 0."""
    columns: tuple[str, ...]
    """The columns, in the order of the data set's first file."""
    size: int
    """The bytes of its file."""
    store: str = ""
    """The URL of the object store that has the file; empty: this machine's files."""

    @property
    def name(self) -> str:
        """The file's name."""
        return Path(self.path).name

    def place(self, number: int) -> str:
        """The file and row of a row of the data set, for errors."""
        return f"{self.start + number - self.number + 1} of {self.name}"


def is_data_set(place: Path | str) -> bool:
    """Whether a place is read by pieces: a folder, a large Parquet file, or a URL."""
    if isinstance(place, str):
        return True
    return place.is_dir() or (
        place.suffix.lower() == ".parquet" and place.is_file() and place.stat().st_size >= LARGE
    )


def name_of(place: Path | str) -> str:
    """The name of a data set, for errors."""
    return url_name(place) if isinstance(place, str) else place.name


def n_bytes(pieces: Sequence[Piece]) -> int:
    """The size of the files."""
    return sum({piece.path: piece.size for piece in pieces}.values())


def pieces_of(place: Path | str) -> list[Piece]:
    """The pieces of a data set, files in the order of their names; a text is a URL."""
    store = place if isinstance(place, str) else ""
    files = stored_files(place) if isinstance(place, str) else list(_files_of(place))
    if not files:
        raise SourceError(
            f"{name_of(place)}: is a folder without Parquet files; expected some, or a file"
        )
    pieces: list[Piece] = []
    number = 0
    columns = files[0].columns
    for file in files:
        if {*file.columns} != {*columns}:
            raise SourceError(
                f"{name_of(place)}: {Path(file.path).name} has the columns"
                f" {', '.join(file.columns)}, {Path(files[0].path).name} has"
                f" {', '.join(columns)}; expected the same in all files"
            )
        for start in range(0, file.n_rows, ROWS):
            n = min(ROWS, file.n_rows - start)
            pieces.append(Piece(file.path, start, n, number + start, columns, file.size, store))
        number += file.n_rows
    return pieces


def _files_of(path: Path) -> Iterator[StoredFile]:
    files = sorted(path.rglob("*.parquet")) if path.is_dir() else [path]
    for file in files:
        # Files and folders whose names begin so are those of the programs that wrote the data set.
        if any(part[0] in "._" for part in file.relative_to(path).parts):
            continue
        check_parquet(file, file.name)
        with parquet_faults(file.name):
            scan = pl.scan_parquet(file, glob=False, hive_partitioning=False)
            names = tuple(scan.collect_schema().names())
            height = int(scan.select(pl.len()).collect().item())
        yield StoredFile(str(file), file.stat().st_size, names, height)


def read_piece(piece: Piece) -> pl.DataFrame:
    """The rows of a piece, columns as they are typed."""
    if piece.store:
        return read_stored(piece.store, piece.path, piece.columns, piece.start, piece.n_rows)
    with parquet_faults(piece.name):
        scan = pl.scan_parquet(piece.path, glob=False, hive_partitioning=False)
        return scan.select(piece.columns).slice(piece.start, piece.n_rows).collect()


def place_in(pieces: Sequence[Piece], number: int) -> str:
    """The file and row of a row of the data set, for errors."""
    piece = next(p for p in reversed(pieces) if p.number <= number)
    return piece.place(number)
