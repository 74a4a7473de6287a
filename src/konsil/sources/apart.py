"""Files read in a process of their own, where a library bounds neither memory nor time, nor what it prints of a fault.

The child may take MEMORY bytes and TIMES times what the file may unpack to, and a time by the file's size. Its result
comes back through a pipe, so that nothing is left on the disk, and a child without a reader ends at its next write.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from array import array
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import polars as pl

from konsil.errors import SourceError

MEMORY, TIMES = 300 << 20, 10
"""Bytes that reading a file may take, whatever its size, and how many times its unpacked size besides."""
LARGEST = 1 << 30
"""Bytes that a file may have when unpacked."""
ALWAYS, RATIO = 256 << 20, 1_000
"""A file may always unpack to the first number of bytes, beyond it only to the second number of times its size."""
SECONDS, SECONDS_PER_MEGABYTE = 30, 10

_LINE = "\0line"
_CHILD = "from konsil.sources.apart import main; main()"


def unpacked_limit(packed: int) -> int:
    """The bytes to which a file of so many bytes may unpack.

    >>> unpacked_limit(10_000) == ALWAYS, unpacked_limit(10**9) == LARGEST
    (True, True)
    """
    return min(LARGEST, max(ALWAYS, RATIO * packed))


def read_apart(kind: str, path: Path, sheet: str, where: str, unpacked: int) -> tuple[pl.DataFrame, Sequence[int], str]:
    """The table, each row's number and the sheet's name, read by a child; every fault is one SourceError.

    `unpacked`: the bytes that the file may unpack to.
    """
    size = path.stat().st_size
    seconds = SECONDS + SECONDS_PER_MEGABYTE * size // 10**6
    memory = MEMORY + TIMES * unpacked
    command = [sys.executable, "-c", _CHILD, kind, str(path.absolute()), sheet, where, str(memory), str(seconds)]
    environment = {**os.environ, "POLARS_MAX_THREADS": "2", "PYTHONWARNINGS": "ignore"}
    with subprocess.Popen(  # noqa: S603 - our own module; the file's name is an argument
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment
    ) as child:
        assert child.stdout is not None
        head = child.stdout.readline()
        told = _header(head)
        if told is not None and "error" in told:
            raise SourceError(str(told["error"]))
        frame = _frame(child.stdout) if told is not None else None
        ended = child.wait()
    if told is None or frame is None:
        raise SourceError(_how_it_ended(ended, where, memory, seconds))
    return frame.drop(_LINE), array("Q", frame.get_column(_LINE).to_list()), str(told["sheet"])


def _header(line: bytes) -> dict[str, object] | None:
    try:
        told = json.loads(line)
    except ValueError:
        return None
    return told if isinstance(told, dict) else None


def _frame(stream: IO[bytes]) -> pl.DataFrame | None:
    try:
        return pl.read_ipc_stream(stream.read())
    except (pl.exceptions.PolarsError, OSError):  # the child ended in the middle
        return None


def _how_it_ended(code: int, where: str, memory: int, seconds: int) -> str:
    if -code in (getattr(signal, "SIGXCPU", 0), signal.SIGTERM, getattr(signal, "SIGKILL", 0)):
        return f"{where}: reading takes more than {seconds:,} seconds, too many for its size; save the table as CSV"
    return (
        f"{where}: reading takes more than {memory >> 20:,} MB of memory, too many for its size, or the file is"
        " damaged; save the table as CSV"
    )


def main() -> None:
    """What the child does: read the file that its arguments name, and write the table to standard output."""
    kind, path, sheet, where, memory, seconds = sys.argv[1:]
    out = os.fdopen(os.dup(1), "wb")
    # Whatever a library prints must not get among the bytes of the table.
    os.dup2(2, 1)
    try:
        frame, lines, title = _read(kind, Path(path), sheet, where, int(memory), int(seconds))
    except SourceError as error:
        out.write(json.dumps({"error": str(error)}).encode() + b"\n")
    else:
        out.write(json.dumps({"sheet": title}).encode() + b"\n")
        frame.with_columns(pl.Series(_LINE, lines, dtype=pl.UInt64)).write_ipc_stream(out)
    out.close()


def _read(
    kind: str, path: Path, sheet: str, where: str, memory: int, seconds: int
) -> tuple[pl.DataFrame, Sequence[int], str]:
    if kind == "parquet":
        from konsil.sources.parquet import read_parquet

        limit(memory, seconds)
        frame, lines = read_parquet(path.read_bytes(), where)
        return frame, lines, ""
    import openpyxl  # noqa: F401 - loaded before memory is counted

    from konsil.sources.spreadsheet import read_spreadsheet

    limit(memory, seconds)
    return read_spreadsheet(path, sheet, where)


@contextmanager
def bounded(memory: int) -> Iterator[None]:
    """Within it Python may take so many further bytes and then raises MemoryError; only for code in Python and C."""
    if sys.platform != "linux":
        yield
        return
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    most = _data_in_use() + memory
    resource.setrlimit(resource.RLIMIT_DATA, (most if hard < 0 else min(most, hard), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))


def _data_in_use() -> int:
    status = Path("/proc/self/status").read_text("ascii")
    return next(int(line.split()[1]) << 10 for line in status.splitlines() if line.startswith("VmData:"))


def limit(memory: int, seconds: int) -> None:
    """Let this process take so many further bytes and seconds of processor time, where the system can say so."""
    try:
        import resource
    except ImportError:
        return
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if sys.platform == "linux":
        most = _data_in_use() + memory
        resource.setrlimit(resource.RLIMIT_DATA, (most, most))
