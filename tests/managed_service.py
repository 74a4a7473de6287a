"""konsil serve as a service manager runs it: the socket is the manager's, processes come and go."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from types import TracebackType
from typing import Self

from konsil.errors import KonsilError
from konsil.rehearse.server import READY_SECONDS, answers_at

_PASSED_ON = """
import os, sys
os.dup2(int(sys.argv[1]), 3)
os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS="1")
os.execv(sys.argv[2], sys.argv[2:])
"""
_SERVE = "import sys; from konsil.cli import main; main(sys.argv[1:])"


class Service:
    """A server whose socket stays open while it is replaced."""

    def __init__(self, *arguments: str) -> None:
        """`arguments`: those of `konsil serve`, without its address."""
        self.socket = socket.create_server(("127.0.0.1", 0), backlog=1024)
        self._port = int(self.socket.getsockname()[1])
        self.url = f"http://127.0.0.1:{self._port}"
        self._arguments = arguments
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the service
        self.process: subprocess.Popen[bytes] | None = None

    def start(self, *, code: str = _SERVE, environment: Mapping[str, str] | None = None) -> None:
        """Start a process on the socket; `code` is another program with the same arguments."""
        number = self.socket.fileno()
        # Simulated raters are faster than people.
        served = ["serve", *self._arguments, "--url", self.url, "--posts-a-minute", "1000000"]
        self.process = subprocess.Popen(
            [sys.executable, "-c", _PASSED_ON, str(number), sys.executable, "-c", code, *served],
            pass_fds=[number],
            env={**os.environ, **(environment or {})},
            stdin=subprocess.DEVNULL,
            stdout=self._log,
            stderr=self._log,
            start_new_session=True,
        )

    def wait(self) -> None:
        """Wait until it answers."""
        until = time.monotonic() + READY_SECONDS
        while not answers_at(self._port):
            if time.monotonic() > until:
                raise KonsilError(f"{self.url}: the server does not answer")
            time.sleep(0.1)

    def end(self, by: signal.Signals) -> None:
        """End the process: in order, or as a power cut would, its workers included."""
        if self.process is None:
            return
        if by == signal.SIGKILL:
            os.killpg(self.process.pid, by)
        else:
            self.process.send_signal(by)
        self.process.wait(60)
        self.process = None

    def replace(self, by: signal.Signals) -> None:
        """Put another process in its place, and wait until it answers."""
        self.end(by)
        self.start()
        self.wait()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self.process is not None and self.process.poll() is None:
            self.end(signal.SIGKILL)
        self.socket.close()
        self._log.close()
