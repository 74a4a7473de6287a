"""What commands that take any table share: how its file is read."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from konsil.cli.request_options import options_of
from konsil.errors import SourceError, keys_as_flags
from konsil.records.source import FileSettings

if TYPE_CHECKING:
    from konsil.sources.exports.export import Export
    from konsil.sources.files.table import Table

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


def table_of(file: Path, settings: FileSettings) -> Table:
    """The table of a command's file; sentences name the command's options."""
    from konsil.sources.files.table import read_table

    with keys_as_flags():
        return read_table(file, _with_tab(settings), as_is=True)


def table_and_export_of(
    files: Sequence[Path], settings: FileSettings
) -> tuple[Table, Export | None]:
    """The table of a command's files, and the export of a tool that it is."""
    from konsil.sources.exports.export import Export
    from konsil.sources.exports.recognition import read_export

    with keys_as_flags():
        content = read_export(files, _with_tab(settings))
    return (content.table, content) if isinstance(content, Export) else (content, None)


def other_settings(table: Table, settings: FileSettings) -> FileSettings:
    """The settings with which a table is read that has no readable columns by the stated ones.

    All sheets of a spreadsheet as one table, or the records nested in a JSON file.
    """
    if len(table.sheets) > 1 and not settings.sheet:
        return replace(settings, sheet="*")
    ending = table.path.suffix.lower()
    if settings.path or ending not in {".json", ".jsonl", ".ndjson"}:
        return settings
    from konsil.sources.files.jsontable import TOP, path_of_records
    from konsil.sources.files.table import read_bytes, text_of

    if ending != ".json":
        return replace(settings, path=TOP)
    name = table.path.name
    text = text_of(read_bytes(table.path), settings.encoding or "utf-8", name)
    return replace(settings, path=path_of_records(text, name))


def _with_tab(settings: FileSettings) -> FileSettings:
    """A tab as TOML writes it: shells keep both signs."""
    return replace(settings, separator="\t") if settings.separator == r"\t" else settings


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


def check_data_set(path: Path | str) -> None:
    """Refuse a file that is not read by pieces, where a cluster is to read it."""
    from konsil.sources.files.table import check_readable

    if isinstance(path, str) or path.is_dir():
        return
    check_readable(path)
    if path.suffix.lower() != ".parquet":
        raise SourceError(
            f"{path.name}: --compute: expected a Parquet file or a folder of Parquet files"
        )


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
            raise SourceError(f"{_table_name()}: --where {text!r}: expected COLUMN=VALUE")
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


def _table_name() -> str:
    """The table's name in errors; a table that cannot be read is refused before its conditions."""
    options = click.get_current_context().params
    file = options["file"] if "file" in options else options["files"][0]
    if isinstance(file, str):
        from konsil.sources.files.stores import url_name

        return url_name(file)
    stated = {entry.name: options[entry.name] for entry in fields(FileSettings)}
    return table_of(file, FileSettings(**stated)).name
