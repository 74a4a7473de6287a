"""A model's server in a process of its own, on this machine's own address.

It is llama.cpp behind OpenAI's chat completions.

`python -m konsil.collect.local.local_server` reads what to serve as one line of JSON, answers with
one line, and serves until its standard input ends: so it never outlives whoever started it, however
that ended. In a process of its own, a crash of the runtime costs one run and no data, its memory is
given back, and what it reads of the environment is its own.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from konsil.collect.local.local_models import Model
from konsil.errors import CollectError, installation

CONTEXT = 8192
"""Tokens of a request with its reply, at most; fewer where the model was made for fewer."""
_WAITING = {"OMP_WAIT_POLICY": "passive", "GOMP_SPINCOUNT": "1000"}
"""Threads that wait must not spin: on a busy machine they would take the time from those that
work."""
_ILLEGAL = (-4, 0xC000001D)
"""How a process ends that meets an instruction its processor does not have."""


class LocalServer:
    """One model being served; start it once, stop it at the end."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.key = secrets.token_hex(16)
        """Other programs on this machine do not get to the model."""
        self.url = ""
        self._process: subprocess.Popen[str] | None = None
        self._stopped = False
        self._lock = threading.Lock()

    @property
    def pid(self) -> int | None:
        """The server's process; None where there is none yet."""
        return self._process.pid if self._process is not None else None

    def start(self) -> str:
        """Load the model and serve it; gives the address, at once where it is served already."""
        with self._lock:
            if self.url:
                self._check_process()
                return self.url
            settings = {
                "model": str(self.model.file),
                "alias": self.model.id,
                "context": min(self.model.context or CONTEXT, CONTEXT),
                "key": self.key,
            }
            # A file, because nobody reads a pipe: a full one would block the server.
            with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as log:
                self.url = str(self._ask(settings, log).get("address", "")) + "/v1"
            return self.url

    def stop(self) -> None:
        """End the server; also one that is still loading."""
        self._stopped = True
        if self._process is not None:
            _end(self._process)

    # A file of tempfile's.
    def _ask(self, settings: Mapping[str, object], log: Any) -> dict[str, Any]:  # noqa: ANN401
        self._process = process = _started(log)
        # `stop` came while the process was starting.
        if self._stopped:
            process.kill()
        reply = _handshake(process, settings)
        if "error" in reply or not reply:
            raise CollectError(
                f"model 'local:{self.model.id}': {_failure_reason(reply, _end(process), log)}"
            )
        return reply

    def _check_process(self) -> None:
        code = self._process.poll() if self._process is not None else None
        if code is not None:
            raise CollectError(
                f"model 'local:{self.model.id}': its server stopped (exit code {code}); check"
                " the available memory"
            )


def missing() -> str:
    """Say what is seen at once to be missing here; the empty text where nothing is."""
    if find_spec("xllamacpp") is None:
        return (
            f"the runtime of local models is not installed; install it with {installation('local')}"
        )
    return _without_avx2(Path("/proc/cpuinfo"))


def runtime_problem() -> str:
    """Say in one sentence why no model can be run here, after trying.

    The empty text where one can.
    """
    problem = missing()
    if problem:
        return problem
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as log:
        process = _started(log)
        reply = _handshake(process, {})
        code = _end(process)
        return "" if reply.get("ready") else _failure_reason(reply, code, log)


def _started(log: Any) -> subprocess.Popen[str]:  # noqa: ANN401 - a file of tempfile's
    return subprocess.Popen(
        [sys.executable, "-m", "konsil.collect.local.local_server"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=log,
        text=True,
        encoding="utf-8",
        env={**os.environ, **_WAITING},
        # Ctrl-C is ours to answer: what has come back is kept first, then the server is ended.
        start_new_session=True,
    )


def _end(process: subprocess.Popen[str]) -> int:
    """End a server, whatever it is doing.

    Gives the code it ended with, its own where it had ended before.
    """
    # One that is ending by itself tells why by its code.
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(0.2)
    if process.poll() is None:
        process.kill()
    code = process.wait()
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            with contextlib.suppress(OSError):  # what could not be said any more
                stream.close()
    return code


def _handshake(process: subprocess.Popen[str], settings: Mapping[str, object]) -> dict[str, Any]:
    """Say what to serve and read the answer.

    An empty one where the process ended without a word.
    """
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        process.stdin.write(json.dumps(settings) + "\n")
        process.stdin.flush()
        line = process.stdout.readline()
    except (OSError, ValueError):
        return {}
    reply: dict[str, Any] = json.loads(line) if line.startswith("{") else {}
    return reply


# A file of tempfile's.
def _failure_reason(reply: Mapping[str, Any], code: int, log: Any) -> str:  # noqa: ANN401
    error = str(reply.get("error", ""))
    if "libgomp" in error:
        return (
            "the system's library libgomp is missing; on Debian and Ubuntu: apt-get install"
            " libgomp1"
        )
    if code in _ILLEGAL:
        return "this processor lacks instructions that the runtime is built with (AVX2)"
    log.seek(0)
    lines = [line.strip() for line in log.read().splitlines() if " E " in line or "rror" in line]
    because = error or (lines[-1] if lines else f"code {code}")
    return f"cannot be run: {because}"


def _without_avx2(cpuinfo: Path) -> str:
    """The wheels for PCs are built with AVX2; elsewhere there is nothing to look for."""
    if not cpuinfo.is_file():
        return ""
    flags = [
        line
        for line in cpuinfo.read_text("utf-8", errors="replace").splitlines()
        if line.startswith("flags")
    ]
    if not flags or "avx2" in flags[0].split():
        return ""
    return "this processor has no AVX2, which the runtime of local models is built with"


def serve(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Load what is asked for and serve it; gives the line that is answered.

    Runs in the server's own process.
    """
    try:
        import xllamacpp
    except ImportError as error:
        return {"error": str(error)}
    if "model" not in settings:
        return {"ready": True}
    about = xllamacpp.CommonParams()
    about.model.path = settings["model"]
    about.model_alias = {settings["alias"]}
    about.n_ctx = settings["context"]
    # One request after another, nothing remembered of the one before: numbers differ in their last
    # digits with what is computed beside them, and then a reply would depend on who else was
    # asking.
    about.n_parallel = 1
    about.cache_prompt = False
    about.api_keys = [settings["key"]]
    about.ui = about.endpoint_slots = False
    try:
        server = xllamacpp.Server(about)
    except (RuntimeError, ValueError) as error:
        return {"error": f"{error}: {Path(settings['model']).name}"}
    return {"address": server.listening_address, "server": server}


def main() -> None:
    """Serve until standard input ends."""
    answering = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # the runtime's own words go to the log
    reply = serve(json.loads(sys.stdin.readline() or "{}"))
    answering.write(json.dumps({k: v for k, v in reply.items() if k != "server"}) + "\n")
    answering.flush()
    sys.stdin.read()
    os._exit(0)  # the runtime would finish what is under way first, and nobody waits for it


if __name__ == "__main__":
    main()
