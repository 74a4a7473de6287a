"""Simulated studies with their reports and exports, each made once for all files of tests and all
workers, which only read them."""

from __future__ import annotations

import builtins
import fcntl
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from forks import Forks
from small_protocols import SMALL


@dataclass(frozen=True)
class ReportedStudy:
    """One study's folder with its report, and its export beside it: to be read, not changed."""

    folder: Path
    exported: Path


def reported_study(name: str, places: Path, ready: Forks) -> ReportedStudy:
    """The demonstration study, `demo`, or a small study of a protocol; made by whoever asks first,
    while others wait."""
    place = places / name
    place.mkdir(parents=True, exist_ok=True)
    study = ReportedStudy(place / name, place / "exported")
    with (place / "lock").open("w") as lock, _recorded_for(f"reported {name}"):
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (place / "complete").exists():
            _make(name, study, ready)
            (place / "complete").touch()
    return study


@contextmanager
def _recorded_for(context: str) -> Iterator[None]:
    """What makes a study is recorded (benchmarks/entered.py) for every file of tests that reads it,
    and not only for the first one."""
    marks: dict[str, None] | None = getattr(builtins, "_konsil_entered", None)
    if marks is None:
        yield
        return
    marks[f"@{context}"]
    file = os.environ["KONSIL_ENTERED_BY"]
    os.environ["KONSIL_ENTERED_BY"] = context
    marks.clear()
    try:
        yield
    finally:
        os.environ["KONSIL_ENTERED_BY"] = file
        marks.clear()


def _make(name: str, study: ReportedStudy, ready: Forks) -> None:
    def konsil(*arguments: object) -> None:
        done = ready.run([*map(str, arguments)], study.folder.parent, os.environ)
        assert done.returncode == 0, done.stdout

    if name == "demo":
        konsil("demo", study.folder)
    else:
        _make_protocol(name, study.folder, konsil)
    konsil("export", study.folder, study.exported)


def _make_protocol(name: str, folder: Path, konsil: Callable[..., None]) -> None:
    konsil("new", folder, "--protocol", name, "--language", "en")
    SMALL[name](folder)
    file = folder / "study.toml"
    marked, n = re.subn(
        r"(?m)^simulated\s*=\s*\w+", "simulated = true", file.read_text("utf-8"), count=1
    )
    file.write_text(marked if n else f"simulated = true\n{marked}", "utf-8")
    (folder / "simulation.toml").write_text("difficulty_spread = 1.0\n", "utf-8")
    konsil("simulate", folder)
    konsil("report", folder)
