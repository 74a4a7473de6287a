"""konsil serve in a process of its own, on a free port of this machine."""

from __future__ import annotations

import http.client
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from types import TracebackType
from typing import Self

from konsil.errors import KonsilError

READY_SECONDS = 60.0
"""How long a server may take to answer."""


def answers_at(port: int) -> bool:
    """Whether a server on this port of this machine answers, and not with a fault."""
    line = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
    try:
        line.request("GET", "/")
        return line.getresponse().status < 500
    except (OSError, http.client.HTTPException):
        return False
    finally:
        line.close()


class Server:
    """A study's pages, served until closed."""

    def __init__(
        self, folder: Path, *, database: str = "", workers: int = 1, more: tuple[str, ...] = ()
    ) -> None:
        self._folder, self._database, self._workers = folder, database, workers
        self._more = more
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = int(probe.getsockname()[1])
        self.url = f"http://127.0.0.1:{self.port}"
        self._log = tempfile.TemporaryFile("w+")  # noqa: SIM115 - closed with the server
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it and wait until it answers."""
        code = "import sys; from konsil.rehearse.leash import end_with_parent; end_with_parent();"
        code += " from konsil.cli import main; main(sys.argv[1:])"
        command = [sys.executable, "-c", code, "serve", str(self._folder), "--port", str(self.port)]
        # Simulated raters are faster than people.
        command += ["--posts-a-minute", "1000000", *self._more]
        command += ["--database", self._database] if self._database else []
        command += ["--workers", str(self._workers)] if self._workers > 1 else []
        # A session of its own: its workers end with it, and Ctrl+C ends us first. It ends when its
        # input is closed.
        self._process = subprocess.Popen(  # noqa: S603 - our own command
            command,
            stdin=subprocess.PIPE,
            stdout=self._log,
            stderr=self._log,
            start_new_session=True,
        )
        until = time.monotonic() + READY_SECONDS
        while not answers_at(self.port):
            if self._process.poll() is not None or time.monotonic() > until:
                output = self.output()
                self.stop()
                raise KonsilError(f"{self._folder}: the server did not start: {output[-500:]}")
            time.sleep(0.05)

    @property
    def process(self) -> int:
        """The number of its process."""
        return self._process.pid if self._process is not None else 0

    def kill(self) -> None:
        """End it as a power cut would."""
        self._end(signal.SIGKILL)

    def stop(self) -> None:
        """End it in order."""
        self._end(signal.SIGTERM)

    def output(self) -> str:
        """What it wrote, faults included."""
        self._log.seek(0)
        return self._log.read()

    def _end(self, by: signal.Signals) -> None:
        if self._process is None:
            return
        if self._process.poll() is None:
            os.killpg(self._process.pid, by)
            try:
                self._process.wait(15)
            except subprocess.TimeoutExpired:
                os.killpg(self._process.pid, signal.SIGKILL)
                self._process.wait(15)
        if self._process.stdin is not None:
            self._process.stdin.close()
        self._process = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()
        self._log.close()
