"""What commands that take any table share: how its file is read."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click

from konsil.cli.request_options import options_of
from konsil.errors import SourceError
from konsil.records.source import FileSettings

F = TypeVar("F", bound=Callable[..., Any])
_LARGEST = 1 << 24
"""Bytes of a table of weights: a row and a column a label."""


def of_a_table(function: F) -> F:
    """Add where a table is computed, and pass the settings of its file as `settings`."""
    function = click.option(
        "--compute",
        "workers",
        default="",
        metavar="WHERE",
        help="Where to compute: local:N or tcp://HOST:PORT (Dask), or cores:N.",
    )(function)
    return options_of(FileSettings, "settings")(function)


class FileOrUrl(click.Path):
    """A path, or the URL of a folder in an object store as a text."""

    def __init__(self) -> None:
        super().__init__(path_type=Path)

    def convert(
        self,
        value: str | os.PathLike[str],
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> str | bytes | os.PathLike[str]:
        """The path, or the URL."""
        from konsil.sources.files.stores import is_url

        return value if is_url(value) else super().convert(value, param, ctx)


def data_set_of(files: Sequence[Path | str], workers: str) -> Path | str | None:
    """The data set among a command's files, which is read by pieces; None: there is none.

    Refuse another file that a cluster is to read, and a data set among several files.
    """
    from konsil.compute.cores import is_cores
    from konsil.sources.files.datasets import is_data_set
    from konsil.sources.files.table import check_readable

    on_cluster = bool(workers) and not is_cores(workers)
    data_sets = [f for f in files if on_cluster or isinstance(f, str) or is_data_set(f)]
    for path in data_sets:
        if isinstance(path, Path) and not path.is_dir():
            check_readable(path)
            if path.suffix.lower() != ".parquet":
                raise SourceError(
                    f"{path.name}: --compute: expected a Parquet file or a folder of Parquet files"
                )
        if len(files) > 1:
            raise SourceError(f"{path}: expected one data set, or several files, got both")
    return next(iter(data_sets), None)


def weights_of(text: str) -> str | dict[str, dict[str, float]]:
    """Weights by name, or those of a CSV table."""
    return own_weights_of(Path(text)) if text.lower().endswith(".csv") else text


def own_weights_of(path: Path) -> dict[str, dict[str, float]]:
    """The weights of a CSV table with one row and one column a label.

    The first column has the rows' labels.
    """
    try:
        if path.exists() and not (path.is_file() and path.stat().st_size <= _LARGEST):
            raise SourceError(
                f"--weights {str(path)!r}: expected a table of up to {_LARGEST:,} bytes"
            )
        text = path.read_text(encoding="utf-8-sig")
        table_rows = list(csv.reader(io.StringIO(text)))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise SourceError(f"--weights {str(path)!r}: cannot be read ({error})") from None
    rows = [
        [cell.strip() for cell in row] for row in table_rows if any(cell.strip() for cell in row)
    ]
    header, *body = rows or [[]]
    table: dict[str, dict[str, float]] = {}
    for n, (name, *cells) in enumerate(body, start=2):
        if len(cells) != len(header) - 1:
            raise SourceError(
                f"--weights {str(path)!r}: row {n} has {len(cells)} weights, expected"
                f" {len(header) - 1}"
            )
        if name in table:
            raise SourceError(
                f"--weights {str(path)!r}: the label {name!r} has two rows, expected one"
            )
        try:
            table[name] = {
                label: float(cell) for label, cell in zip(header[1:], cells, strict=True)
            }
        except ValueError:
            raise SourceError(
                f"--weights {str(path)!r}: row {n}: expected numbers from 0 to 1, got {cells}"
            ) from None
    return table


def conditions(where: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Columns with their values from C=VALUE texts; a column named twice may have either value."""
    values: dict[str, tuple[str, ...]] = {}
    for text in where:
        column, sign, value = text.partition("=")
        if not sign or not column.strip():
            raise SourceError(f"--where {text!r}: expected COLUMN=VALUE")
        values[column.strip()] = (*values.get(column.strip(), ()), value.strip())
    return values


def recoding(texts: Sequence[str]) -> dict[str, str]:
    """Label -> the label it is read as, from OLD=NEW texts."""
    recode: dict[str, str] = {}
    for text in texts:
        old, sign, new = (part.strip() for part in text.partition("="))
        if not sign or not old or not new:
            raise SourceError(f"--recode {text!r}: expected OLD=NEW")
        if old in recode:
            raise SourceError(f"--recode {text!r}: {old!r} is named twice; expected it once")
        recode[old] = new
    return recode
