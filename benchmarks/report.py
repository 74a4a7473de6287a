"""Processor seconds of each stage of `konsil report`: the demonstration, CLExEval and MedQADE at
their full sizes.

    python benchmarks/report.py                       print the table
    python benchmarks/report.py --only demo           of one study
    python benchmarks/report.py --keep FOLDER         keep the studies, and use them again

CLExEval has 42 cases in five versions and MedQADE 3,800 items, as their protocols state; their
ratings are simulated. Every run is a process of its own; a stage's seconds are the smallest of all
runs, of user and system time together, since other work on the machine only adds to them. Start is
what the stages leave: Python, imports and the opening of the study. Figures are what is drawn in
the report's style, as SVG and PDF; page is all else that the page is made of; files are the data
files and the writing."""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as konsil's commands do

import argparse
import csv
import gc
import json
import platform
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

STAGES = ("start", "reading", "analyses", "figures", "page", "files")
LIMITS = {"clexeval": 6.0, "medqade": 15.0}
"""Study -> the processor seconds that its report may take."""
CASES = 60
"""Cases of CLExEval before 42 of them are drawn."""
COLUMNS = (
    *("item", "text", "reference", "aliases", "age", "sex", "specialty", "findings", "course"),
    "outcome",
)


def make_demo(folder: Path) -> None:
    from konsil.api.rehearsal.rehearsal import demo

    demo(folder)


def make_clexeval(folder: Path) -> None:
    """The protocol as it is, with cases that say nothing."""
    from click.testing import CliRunner

    from konsil.api import open_folder
    from konsil.api.rehearsal.rehearsal import simulate, truth_of
    from konsil.cli.main import group

    created = CliRunner().invoke(group, ["new", str(folder), "--protocol", "clexeval"])
    if created.exception is not None:
        raise created.exception
    protocol = folder / "study.toml"
    text = protocol.read_text("utf-8")
    marked = text.replace("\nschema = ", "\nsimulated = true\nschema = ", 1)
    protocol.write_text(marked, "utf-8")
    (folder / "simulation.toml").write_text("difficulty_spread = 1.0\n", "utf-8")
    with (folder / "cases.csv").open("w", encoding="utf-8", newline="") as out:
        table = csv.writer(out)
        table.writerow(COLUMNS)
        for n in range(CASES):
            about = f"A patient came with fever {n} and a rash. It was disease {n}."
            person = ["", 40 + n, "female", "medicine", "fever", "short", "well"]
            table.writerow([f"c{n:02}", about, f"disease {n}", *person])
    study = open_folder(folder)
    simulate(study, truth_of(study))


def make_medqade(folder: Path) -> None:
    from analysis import make

    folder.mkdir()
    make(folder, 3_800)


STUDIES: dict[str, Callable[[Path], None]] = {
    "demo": make_demo,
    "clexeval": make_clexeval,
    "medqade": make_medqade,
}


def measure(folder: Path) -> dict[str, Any]:
    """Write the report of a study once, in this process, and time its stages."""
    gc.set_threshold(50_000, 20, 100)  # as konsil's commands do
    seconds: Counter[str] = Counter()

    def timed(owner: object, name: str, stage: str) -> None:
        function = getattr(owner, name)

        def wrapped(*arguments: object, **named: object) -> object:
            began = time.process_time()
            try:
                return function(*arguments, **named)
            finally:
                seconds[stage] += time.process_time() - began

        setattr(owner, name, wrapped)

    import konsil
    import konsil.report.figures.drawing as drawing
    from konsil.api.folder.folder import Folder

    in_style = drawing.style

    @contextmanager
    def style() -> Iterator[None]:
        began = time.process_time()
        with in_style():
            yield
        seconds["figures"] += time.process_time() - began

    # Before the modules that draw take the name.
    drawing.style = style
    import konsil.analysis.running.run
    import konsil.report.page.writing as writing

    timed(Folder, "_blinded_data", "reading")
    timed(Folder, "_run", "analyses")
    timed(writing, "render", "page")
    timed(writing, "data_files", "files")
    timed(writing, "_replace", "files")
    page = konsil.open(folder).report()
    seconds["page"] -= seconds["figures"]
    figures = len(list((page.parent / "figures").glob("*.svg")))
    whole = time.process_time()
    seconds["start"] = whole - sum(seconds.values())
    return {"figures": figures, "seconds": dict(seconds), "whole": whole}


def fastest(folder: Path, runs: int) -> dict[str, Any]:
    """The smallest seconds of each stage and of the whole."""
    measured = []
    for _ in range(runs):
        run = subprocess.run(
            [sys.executable, __file__, "--measure", str(folder)],
            check=True,
            stdout=subprocess.PIPE,
            text=True,
        )
        measured.append(json.loads(run.stdout))
    return {
        "figures": measured[0]["figures"],
        "seconds": {stage: min(m["seconds"][stage] for m in measured) for stage in STAGES},
        "whole": min(m["whole"] for m in measured),
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", choices=STUDIES, action="append")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--keep", type=Path, help="the folder of the studies")
    parser.add_argument("--measure", type=Path, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.measure is not None:
        print(json.dumps(measure(asked.measure)))
        return
    print(
        f"{os.cpu_count()} processors, Python {platform.python_version()}, load"
        f" {os.getloadavg()[0]:.1f}, smallest CPU seconds of {asked.runs} runs\n"
    )
    print(f"| study | figures | {' | '.join(STAGES)} | together | limit |")
    print("|---|---:|" + "---:|" * (len(STAGES) + 2))
    with tempfile.TemporaryDirectory() as place:
        for name in asked.only or STUDIES:
            folder = (asked.keep or Path(place)) / name
            if not folder.exists():
                folder.parent.mkdir(parents=True, exist_ok=True)
                STUDIES[name](folder)
            found = fastest(folder, asked.runs)
            stages = " | ".join(f"{found['seconds'][stage]:.1f}" for stage in STAGES)
            limit = f"{LIMITS[name]:.0f}" if name in LIMITS else ""
            print(
                f"| {name} | {found['figures']} | {stages} | {found['whole']:.1f} | {limit} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
