"""All analyses of konsil's own medqade protocol at its full size: processor seconds, once the
ratings are in memory.

    python benchmarks/analysis.py                     print the table
    python benchmarks/analysis.py --items 380         a tenth of the items
    python benchmarks/analysis.py --keep FOLDER       keep the simulated study, and use it again

3,800 items with five answers each, nine physicians on 1,000 items, one who breaks ties, nine judges
on all: simulated ratings of a plan of 43,200 screens and more. Every analysis of the protocol is
made, with 10,000 resamples: agreement, caution, ceilings, 256 ensembles with their out-of-bag
values, self and family preference, outcomes. Seconds are of one processor; the median of three
runs."""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as konsil's commands do

import argparse
import platform
import resource
import statistics
import tempfile
import time
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import TypeVar

from konsil.api import open_folder
from konsil.api.rehearsal.rehearsal import simulate, truth_of
from konsil.records import Answer, Item
from konsil.store import Batch

Made = TypeVar("Made")

TRUTH = """
[panels.physicians]
accuracy = 0.93
abstention = 0.05
abstention_slope = 0.9
[panels.tiebreaker]
accuracy = 0.95
[panels.judges]
accuracy = 0.9
leniency = 0.2
self_preference = 0.3
"""


def make(folder: Path, n: int) -> None:
    """The protocol without its draw, its items and its simulated ratings."""
    source = files("konsil.protocols") / "medqade"
    text = (source / "study.en.toml").read_text("utf-8")
    head, _, rest = text.partition("[prepare]")
    rest = rest[rest.index("\n[") :]
    text = (head + rest).replace('language = "en"', 'language = "en"\nsimulated = true', 1)
    sources = text.find("[[sources]]")
    if sources >= 0:
        end = text.find("\n[", sources + 1)
        text = text[:sources] + (text[end + 1 :] if end >= 0 else "")
    (folder / "study.toml").write_text(text, "utf-8")
    (folder / "codebook.en.md").write_text((source / "codebook.en.md").read_text("utf-8"), "utf-8")
    (folder / "simulation.toml").write_text(TRUTH, "utf-8")
    study = open_folder(folder)
    core = round(n / 19)
    items = [
        Item(
            f"i{k:05}",
            "?",
            sets=("core" if k < core else "split",),
            strata={"lexical_match": "yes" if k % 5 == 0 else "no"},
        )
        for k in range(n)
    ]
    answers = [
        Answer(f"{i.id}:{s.id}", i.id, s.id, "...") for i in items for s in study.study.systems
    ]
    with study.store(create=True) as store:
        store.add(
            Batch(items=items, answers=answers), source="benchmark", at="2025-03-01T12:00:00Z"
        )
    simulate(study, truth_of(study))


def cpu(run: Callable[[], Made]) -> tuple[float, Made]:
    began = time.process_time()
    made = run()
    return time.process_time() - began, made


def main() -> None:
    given = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    given.add_argument("--items", type=int, default=3_800)
    given.add_argument("--runs", type=int, default=3)
    given.add_argument("--keep", type=Path)
    asked = given.parse_args()
    with tempfile.TemporaryDirectory() as place:
        folder = asked.keep or Path(place)
        if not (folder / "konsil.db").exists():
            folder.mkdir(parents=True, exist_ok=True)
            make(folder, asked.items)
        study = open_folder(folder)
        data = study.data()
        reading = statistics.median(cpu(study.data)[0] for _ in range(asked.runs))
        with study.store() as store:
            log = statistics.median(cpu(store.verify_log)[0] for _ in range(asked.runs))
        runs = [cpu(study.results) for _ in range(asked.runs)]
        results = runs[-1][1]
        whole = statistics.median(seconds for seconds, _ in runs)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(
        f"{os.cpu_count()} processors, Python {platform.python_version()}, load"
        f" {os.getloadavg()[0]:.1f}"
    )
    print("| what | of what | CPU s |")
    print("|---|---:|---:|")
    print(f"| reading the records | {len(data.ratings):,} ratings | {reading:.1f} |")
    print(f"| all analyses | {len(results.rows):,} numbers | {whole - reading - log:.1f} |")
    print(f"| the check of the audit log, of every report | all records | {log:.1f} |")
    print(f"| together | | {whole:.1f} |")
    print(f"\n{study.study.resampling.draws:,} resamples; {peak} MB at the most.")


if __name__ == "__main__":
    main()
