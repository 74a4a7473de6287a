"""Data sets: folders of Parquet files, and large Parquet files, read a piece at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from konsil.errors import SourceError
from konsil.sources.files.parquet import check_parquet, parquet_faults

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

    @property
    def name(self) -> str:
        """The file's name."""
        return Path(self.path).name

    def place(self, number: int) -> str:
        """The file and row of a row of the data set, for errors."""
        return f"{self.start + number - self.number + 1} of {self.name}"


def is_data_set(path: Path) -> bool:
    """Whether a path is read by pieces: a folder, or a large Parquet file."""
    return path.is_dir() or (
        path.suffix.lower() == ".parquet" and path.is_file() and path.stat().st_size >= LARGE
    )


def n_bytes(pieces: Sequence[Piece]) -> int:
    """The size of the files."""
    return sum(Path(path).stat().st_size for path in {piece.path for piece in pieces})


def pieces_of(path: Path) -> list[Piece]:
    """The pieces of a data set, files in the order of their names."""
    files = sorted(path.rglob("*.parquet")) if path.is_dir() else [path]
    # Files and folders whose names begin so are those of the programs that wrote the data set.
    data_files = [f for f in files if not any(p[0] in "._" for p in f.relative_to(path).parts)]
    if not data_files:
        raise SourceError(
            f"{path.name}: is a folder without Parquet files; expected some, or a file"
        )
    pieces: list[Piece] = []
    number = 0
    columns: tuple[str, ...] = ()
    for file in data_files:
        check_parquet(file, file.name)
        with parquet_faults(file.name):
            scan = pl.scan_parquet(file, glob=False, hive_partitioning=False)
            names = tuple(scan.collect_schema().names())
            height = int(scan.select(pl.len()).collect().item())
        columns = columns or names
        if {*names} != {*columns}:
            raise SourceError(
                f"{path.name}: {file.name} has the columns {', '.join(names)}, {data_files[0].name} has"
                f" {', '.join(columns)}; expected the same in all files"
            )
        for start in range(0, height, ROWS):
            n = min(ROWS, height - start)
            pieces.append(Piece(str(file), start, n, number + start, columns))
        number += height
    return pieces


def read_piece(piece: Piece) -> pl.DataFrame:
    """The rows of a piece, columns as they are typed."""
    with parquet_faults(piece.name):
        scan = pl.scan_parquet(piece.path, glob=False, hive_partitioning=False)
        return scan.select(piece.columns).slice(piece.start, piece.n_rows).collect()


def place_in(pieces: Sequence[Piece], number: int) -> str:
    """The file and row of a row of the data set, for errors."""
    piece = next(p for p in reversed(pieces) if p.number <= number)
    return piece.place(number)
