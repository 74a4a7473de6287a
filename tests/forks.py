"""konsil's commands without starting Python for each: a process that has imported what every
command needs forks.

A command run so is a process of its own, with its own folder, environment, arguments, output and
exit code. What is imported before is other people's packages and the facade, which every command
imports first; the command's own modules are imported by the command."""

from __future__ import annotations

import gc
import importlib
import json
import os
import select
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType

AHEAD = (
    "konsil.api.folder.folder",
    "scipy.sparse",
    "scipy.special",
    "rich.console",
    "rich.table",
    "jinja2",
    "markdown_it",
    "matplotlib.figure",
    "matplotlib.backends.backend_pdf",
    "matplotlib.backends.backend_svg",
    "fontTools.subset",
    "aiohttp",
)
"""Imported once. Polars starts threads as it is imported, which a fork would lose: each command
imports it itself."""


class Forks:
    """Commands of konsil, each in a fork of one process."""

    def __init__(self, env: Mapping[str, str]) -> None:
        self._process = subprocess.Popen(
            [sys.executable, __file__],
            env=dict(env),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def run(
        self,
        arguments: Sequence[str],
        folder: Path,
        env: Mapping[str, str],
        *,
        timeout: float = 600,
    ) -> subprocess.CompletedProcess[str]:
        """The exit code, and standard output with standard error in it."""
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        with tempfile.NamedTemporaryFile() as output:
            order = {
                "arguments": list(arguments),
                "folder": str(folder),
                "env": dict(env),
                "output": output.name,
            }
            process.stdin.write(json.dumps(order) + "\n")
            process.stdin.flush()
            answered, _, _ = select.select([process.stdout], [], [], timeout)
            if not answered:
                raise subprocess.TimeoutExpired(["konsil", *arguments], timeout)
            code = int(process.stdout.readline())
            return subprocess.CompletedProcess(
                ["konsil", *arguments], code, Path(output.name).read_text("utf-8")
            )

    def __enter__(self) -> Forks:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self._process.terminate()
        self._process.communicate()


@contextmanager
def forks(env: Mapping[str, str]) -> Iterator[Forks]:
    """The process that forks, with this environment while it imports; it ends with the block."""
    with Forks({**env, "OPENBLAS_NUM_THREADS": "1"}) as process:
        yield process


def _next_command() -> bool:
    """Fork for every order of standard input: True in the child, whose streams are the order's;
    False at the end."""
    for line in sys.stdin:
        order = json.loads(line)
        child = os.fork()
        if child == 0:
            os.chdir(order["folder"])
            os.environ.clear()
            os.environ.update(order["env"])
            sys.argv = [str(Path(sys.executable).with_name("konsil")), *order["arguments"]]
            nothing, output = (
                os.open(os.devnull, os.O_RDONLY),
                os.open(order["output"], os.O_WRONLY | os.O_APPEND),
            )
            for stream, file in enumerate((nothing, output, output)):
                os.dup2(file, stream)
            sys.stdin = open(0, encoding="utf-8")  # noqa: SIM115 - ends with the process
            return True
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)  # noqa: T201
    return False


# A process that a command spawns may import this file anew; it is no such server.
if __name__ == "__main__":
    sys.path.pop(0)
    for name in AHEAD:
        importlib.import_module(name)
    assert len(list(Path("/proc/self/task").iterdir())) == 1, "a thread would be lost by forking"
    # What is imported already is never searched for garbage in a child: that would write to every
    # page of it, and each would be copied.
    gc.collect()
    gc.freeze()
    if _next_command():
        from konsil.cli import main

        main()
