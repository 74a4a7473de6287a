"""Files of SPSS and Stata: numbers whose codes have labels.

A cell with a labelled code is the label, or '4 : good', which is read as 4 where numbers are
needed:

- the label alone where the variable is nominal, or has at most two labels and is not ordinal;
- otherwise the code and the label, as no label of a scale may lose its place. SPSS states whether a
  variable is ordinal, Stata does not.

A code without a label is its number, and a value that the file declares to be missing is empty.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from konsil.errors import SourceError, installation
from konsil.errors.message import message
from konsil.sources.files.apart import read_apart, unpacked_limit
from konsil.sources.files.cells import as_text
from konsil.sources.files.header import named
from konsil.sources.files.parquet import CELLS, column_text

if TYPE_CHECKING:
    from pyreadstat import metadata_container

_IN_SPSS = message(
    "save it in SPSS as .csv with value labels (File, Save As)", message_id="file.save_in_spss"
)
SAVED = {
    ".sav": _IN_SPSS,
    ".zsav": _IN_SPSS,
    ".dta": message(
        'save it in Stata as .csv with: export delimited using "table.csv"',
        message_id="file.save_in_stata",
    ),
}
"""Ending of the files -> how a text table is made of one."""
_MESSAGE = 120
"""Letters of the library's reason that an error states."""


def read_labelled(path: Path, where: str) -> tuple[pl.DataFrame, Sequence[int]]:
    """All cells as text, and the number of each row, from 1; read by a child process."""
    saved = SAVED[path.suffix.lower()]
    if importlib.util.find_spec("pyreadstat") is None:
        raise SourceError(
            message(
                "{where}: files of SPSS and Stata need the library pyreadstat; install"
                " it with {installation}, or {saved}",
                message_id="file.needs_pyreadstat",
                where=where,
                installation=installation("spss"),
                saved=saved,
            )
        )
    frame, lines, _ = read_apart("labelled", path, "", where, unpacked_limit(path.stat().st_size))
    return frame, lines


def labelled_cells(path: Path, where: str) -> pl.DataFrame:
    """The cells of a file; for the child."""
    try:
        # The numbers of rows and columns are read first, and none of the cells.
        _, about = _read(path, metadataonly=True)
        if (about.number_rows or 0) * (about.number_columns or 0) > CELLS:
            raise SourceError(
                message(
                    "{where}: the table has more than {cells:,} cells; save a part of it",
                    message_id="file.more_cells",
                    where=where,
                    cells=CELLS,
                )
            )
        frame, about = _read(path)
    except MemoryError:
        raise SourceError(
            message(
                "{where}: reading the file takes more memory than it may",
                message_id="file.memory",
                where=where,
            )
        ) from None
    except SourceError:
        raise
    # The library raises exceptions of various kinds for a damaged file.
    except Exception as error:  # noqa: BLE001
        reason = (str(error).splitlines() or [""])[0][:_MESSAGE] or type(error).__name__
        raise SourceError(
            message(
                "{where}: the file is damaged: {reason}",
                message_id="file.damaged",
                where=where,
                reason=reason,
            )
        ) from None
    if not frame.height:
        raise SourceError(
            message(
                "{where}: the file has columns but no row",
                message_id="file.columns_without_rows",
                where=where,
            )
        )
    cells = [_cells(column, about, where) for column in frame.get_columns()]
    return named(pl.DataFrame(cells), frame.columns, where)


def _read(path: Path, *, metadataonly: bool = False) -> tuple[pl.DataFrame, metadata_container]:
    import pyreadstat

    name = str(path)
    if path.suffix.lower() == ".dta":
        return pyreadstat.read_dta(name, metadataonly=metadataonly, output_format="polars")
    return pyreadstat.read_sav(name, metadataonly=metadataonly, output_format="polars")


def _cells(column: pl.Series, about: metadata_container, where: str) -> pl.Series:
    """A variable's cells as text, with the labels of its codes."""
    texts = column_text(column, where)
    words = _words(about.variable_value_labels.get(column.name, {}))
    labels = {code: word for code, word in words.items() if word != code}
    if not labels:
        return texts
    measure = about.variable_measure.get(column.name, "unknown")
    is_ordered = measure == "ordinal" or (measure != "nominal" and len(words) > 2)
    if is_ordered or len({*words.values()}) < len(words):
        labels = {code: f"{code} : {word}" for code, word in labels.items()}
    return texts.replace(labels)


def _words(labels: Mapping[float | int, str]) -> dict[str, str]:
    """Code -> its label, both as text."""
    texts = ((as_text(code), label.strip()) for code, label in labels.items())
    return {code: label for code, label in texts if code and label}
