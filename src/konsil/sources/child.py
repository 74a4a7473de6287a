"""A child process that reads one file within its limits.

It writes nothing but the result to its standard output.
"""

from __future__ import annotations

import gc
import json
import os
import signal
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import IO

import polars as pl

from konsil.errors import SourceError
from konsil.errors.message import as_data
from konsil.records.source import FileSettings
from konsil.sources.files.apart import LINE, limit


def main() -> None:
    """Read the file that the arguments name, and write its contents to standard output."""
    threading.Thread(target=_end_with_parent, daemon=True).start()
    kind, path, sheet, where, memory, seconds = sys.argv[1:]
    usual = gc.get_threshold()
    # Libraries make nothing but what stays while they are imported.
    gc.set_threshold(50_000, 20, 100)

    def restrict() -> None:
        gc.freeze()
        gc.set_threshold(*usual)
        limit(int(memory), int(seconds))

    out = os.fdopen(os.dup(1), "wb")
    # Whatever a library prints must not get among the bytes of the result.
    os.dup2(2, 1)
    read = _READ[kind]
    try:
        read(Path(path), sheet, where, restrict, out)
    except SourceError as error:
        out.write(json.dumps({"error": as_data(error.sentence)}).encode() + b"\n")
    out.close()
    # Taking all libraries apart takes a quarter of the time of a small file.
    os._exit(0)


def _end_with_parent() -> None:
    """End this process when its parent is killed.

    Only the parent has the other end of standard input, which closes when the parent is killed.
    """
    while os.read(0, 1):
        pass
    os.kill(os.getpid(), getattr(signal, "SIGKILL", signal.SIGTERM))


def _write_parquet(
    path: Path, _: str, where: str, restrict: Callable[[], None], out: IO[bytes]
) -> None:
    from konsil.sources.files.parquet import read_parquet

    restrict()
    frame, lines = read_parquet(path.read_bytes(), where)
    _write_table(frame, lines, {}, out)


def _write_labelled(
    path: Path, _: str, where: str, restrict: Callable[[], None], out: IO[bytes]
) -> None:
    import pyreadstat  # noqa: F401 - loaded before memory is counted

    from konsil.sources.files.labelled import labelled_cells

    restrict()
    frame = labelled_cells(path, where)
    _write_table(frame, range(1, frame.height + 1), {}, out)


def _write_columns(
    path: Path, _: str, where: str, restrict: Callable[[], None], out: IO[bytes]
) -> None:
    from konsil.sources.files.parquet import read_columns

    restrict()
    frame = read_columns(path.read_bytes(), where)
    _write_table(frame, range(1, frame.height + 1), {}, out)


def _write_spreadsheet(
    path: Path, settings: str, where: str, restrict: Callable[[], None], out: IO[bytes]
) -> None:
    import openpyxl  # noqa: F401 - loaded before memory is counted

    from konsil.sources.files.spreadsheet import read_spreadsheet

    restrict()
    stated, as_is = json.loads(settings)
    sheet = read_spreadsheet(path, FileSettings(**stated), where, as_is)
    header = {
        "sheet": sheet.name,
        "sheets": sheet.names,
        "settings": asdict(sheet.settings),
        "hidden": sheet.hidden,
        "columns_of_others": sheet.columns_of_others,
    }
    _write_table(sheet.frame, sheet.lines, header, out)


def _write_table(
    frame: pl.DataFrame, lines: Sequence[int], header: Mapping[str, object], out: IO[bytes]
) -> None:
    out.write(json.dumps(header).encode() + b"\n")
    frame.with_columns(pl.Series(LINE, lines, dtype=pl.UInt64)).write_ipc_stream(out)


def _write_log(
    path: Path, _: str, where: str, restrict: Callable[[], None], out: IO[bytes]
) -> None:
    import inspect_ai.log  # noqa: F401 - likewise

    from konsil.sources.inspect.inspect_contents import write_contents

    restrict()
    write_contents(path, where, out)


_READ = {
    "parquet": _write_parquet,
    "columns": _write_columns,
    "labelled": _write_labelled,
    "spreadsheet": _write_spreadsheet,
    "inspect": _write_log,
}
