"""Files read in a process of their own, within limits of memory and time.

The libraries that read these files bound neither memory nor time, nor what they print of a fault.

The child may take MEMORY bytes and TIMES times what the file may unpack to, and a time by the
file's size. Its result comes back through a pipe, so that nothing is left on the disk, and a child
without a reader ends at its next write. The result is a line of JSON, `{"error": ...}` where the
file is refused, and what the kind of file puts after it.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TypeVar

import polars as pl

from konsil.errors import SourceError
from konsil.errors.message import message, of_data

TICK, TICKS = 1.0, 20
"""Seconds between two looks at a child, and looks at which it must have done nothing to be
ended."""


MEMORY, TIMES = 300 << 20, 10
"""Bytes that reading a file may take, whatever its size, and how many times its unpacked size
as well."""
LARGEST = 1 << 30
"""Bytes that a file may have when unpacked."""
ALWAYS, RATIO = 256 << 20, 1_000
"""A file may always unpack to the first number of bytes, beyond it only to the second number of
times its size."""
SECONDS, SECONDS_PER_MEGABYTE = 30, 10

Header = Mapping[str, object]
T = TypeVar("T")

LINE = "\0line"
"""The column of the row's numbers in what the child writes."""
_CHILD = "from konsil.sources.child import main; main()"


def unpacked_limit(packed: int) -> int:
    """The bytes to which a file of so many bytes may unpack.

    >>> unpacked_limit(10_000) == ALWAYS, unpacked_limit(10**9) == LARGEST
    (True, True)
    """
    return min(LARGEST, max(ALWAYS, RATIO * packed))


def read_apart(
    kind: str, path: Path, settings: str, where: str, unpacked: int
) -> tuple[pl.DataFrame, Sequence[int], Header]:
    """The table, each row's number and what else the child writes of it.

    Every fault is one SourceError.

    `settings`: what the child is told of the file. `unpacked`: the bytes that the file may unpack
    to.
    """
    advice = message("save the table as CSV", message_id="file.save_as_csv")
    frame, header = run_child(kind, path, settings, where, unpacked, _table, advice)
    return frame.drop(LINE), array("Q", frame.get_column(LINE).to_list()), header


def run_child(
    kind: str,
    path: Path,
    settings: str,
    where: str,
    unpacked: int,
    receive: Callable[[Header, IO[bytes]], T | None],
    advice: str,
) -> T:
    """The value that `receive` makes of a child's header and of the bytes after it.

    A fault that the child reports, a child that dies and a result that is not whole (None) are one
    SourceError each; `advice` says what to do where reading takes too much.
    """
    size = path.stat().st_size
    seconds = SECONDS + SECONDS_PER_MEGABYTE * size // 10**6
    memory = MEMORY + TIMES * unpacked
    command = [
        sys.executable,
        "-c",
        _CHILD,
        kind,
        str(path.absolute()),
        settings,
        where,
        str(memory),
        str(seconds),
    ]
    # Spreadsheets are read by Python's own parser of XML, also where lxml is installed: what a
    # damaged file raises, and how much memory a hostile one takes, are measured with it.
    environment = {
        **os.environ,
        "POLARS_MAX_THREADS": "2",
        "PYTHONWARNINGS": "ignore",
        "OPENPYXL_LXML": "False",
    }
    with subprocess.Popen(  # noqa: S603 - our own module; the file's name is an argument
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environment,
    ) as child:
        assert child.stdout is not None
        with watched(child) as watch:
            header = parse_line(child.stdout.readline())
            result = receive(header, child.stdout) if header is not None else None
            ended = child.wait()
    if result is None:
        raise SourceError(
            _how_it_ended(0 if watch.stalled else ended, where, memory, seconds, advice)
        )
    return result


def parse_line(line: bytes) -> Header | None:
    """An object that a child wrote on one line, None where it is not whole.

    What it refuses is a SourceError.
    """
    try:
        header = json.loads(line)
    except ValueError:
        return None
    if not isinstance(header, dict):
        return None
    if "error" in header:
        raise SourceError(of_data(header["error"]))
    return header


def _table(header: Header, stream: IO[bytes]) -> tuple[pl.DataFrame, Header] | None:
    try:
        return pl.read_ipc_stream(stream.read()), header
    except (pl.exceptions.PolarsError, OSError):  # the child ended in the middle
        return None


def _how_it_ended(code: int, where: str, memory: int, seconds: int, advice: str) -> str:
    late = {getattr(signal, name, None) for name in ("SIGXCPU", "SIGTERM", "SIGKILL")} - {None}
    if -code in late:
        return message(
            "{where}: reading takes more than {seconds:,} seconds, too many for its size; {advice}",
            message_id="file.seconds",
            where=where,
            seconds=seconds,
            advice=advice,
        )
    return message(
        "{where}: reading takes more than {memory:,} MB of memory, too many for its size, or the"
        " file is damaged; {advice}",
        message_id="file.megabytes",
        where=where,
        memory=memory >> 20,
        advice=advice,
    )


@contextmanager
def bounded(memory: int) -> Iterator[None]:
    """Limit the memory that Python may take within the context: `memory` further bytes.

    Beyond it Python raises MemoryError. Only for code in Python and C.
    """
    if sys.platform != "linux":
        yield
        return
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    max_bytes = _status_bytes("VmData") + memory
    resource.setrlimit(
        resource.RLIMIT_DATA, (max_bytes if hard < 0 else min(max_bytes, hard), hard)
    )
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))


def _status_bytes(field: str) -> int:
    """A number of /proc/self/status, in bytes.

    VmData is the memory that was requested, VmHWM the memory in use at the peak.
    """
    status = Path("/proc/self/status").read_text("ascii", "replace")
    return next(
        int(line.split()[1]) << 10 for line in status.splitlines() if line.startswith(f"{field}:")
    )


def limit(memory: int, seconds: int) -> None:
    """Limit the memory and the further seconds of this process.

    Nothing is limited where the operating system cannot do so.

    The memory of Python and its libraries counts, but at least half of the bytes stay available.
    """
    try:
        import resource
    except ImportError:
        return
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if sys.platform == "linux":
        max_bytes = _status_bytes("VmData") + max(memory - _status_bytes("VmHWM"), memory // 2)
        resource.setrlimit(resource.RLIMIT_DATA, (max_bytes, max_bytes))


class Watch:
    """Whether the child was ended because it stalled."""

    stalled = False


@contextmanager
def watched(child: subprocess.Popen[bytes]) -> Iterator[Watch]:
    """End a child that sleeps without end within the context.

    Without /proc, no child is watched.
    """
    watch, over = Watch(), threading.Event()

    def look() -> None:
        idle, before = 0, ""
        # Counted in looks, so that time in which this process was stopped is none in which the
        # child did nothing.
        while not over.wait(TICK) and child.poll() is None:
            state, used = _activity(child.pid)
            idle = idle + 1 if state == "S" and used == before else 0
            before = used
            if idle >= TICKS:
                watch.stalled = True
                child.kill()
                return

    if sys.platform != "linux":
        yield watch
        return
    thread = threading.Thread(target=look, daemon=True)
    thread.start()
    try:
        yield watch
    finally:
        over.set()
        thread.join()


def _activity(pid: int) -> tuple[str, str]:
    """A process's state (S: it sleeps; D would be a wait for a disk) and its processor time."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text("utf-8", "replace").rpartition(")")[2].split()
    except OSError:
        return "", ""
    return fields[0], f"{fields[11]} {fields[12]}"
