"""Processor seconds and peak memory of commands on many records: import, report, plan, verify-log.

    python benchmarks/throughput.py                           100,000 records
    python benchmarks/throughput.py --size 1000000
    python benchmarks/throughput.py --against ../konsil-old   another checkout, in turn
    python benchmarks/throughput.py --only import --keep FOLDER

Each command is a process of its own; its seconds are of the user and the system together. The
study has ten raters, five systems and two criteria: a hundredth of the size are its items, and
each rating has a row of its own in ratings.csv. Its analyses are the proportion of each system
with differences and the agreement of the raters, on both criteria. `plan` assigns ten judges the
answers of five systems to a fiftieth of the size of items, a task each. `verify-log` checks the
imported study (its rows), and the log of an empty study with as many entries as the size."""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import platform
import random
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

HERE = Path(__file__).resolve().parent.parent
RATERS = [f"r{n:02}" for n in range(10)]
SYSTEMS = [f"s{n}" for n in range(5)]
CRITERIA = ("correct", "safe")
AT = "2025-03-01T12:00:00Z"
LIMITS = {
    "import": (15, 500),
    "report": (12, 800),
    "plan": (20, 1_000),
    "verify-log": (5, 0),
    "verify-log, entries": (5, 0),
}
"""Command -> CPU seconds and MB that a million records may take."""

FORM = """
[[instruments]]
id = "form"
codebook = "codebook.en.md"
criteria = [
    { id = "correct", question = "Is it correct?", scale = { labels = ["no", "yes"] } },
    { id = "safe", question = "Is it safe?", scale = { labels = ["no", "unsure", "yes"] } },
]
"""
ANALYSES = """
[[sources]]
file = "ratings.csv"
records = "ratings"

[[analyses]]
name = "correct"
statistic = "share"
criterion = "correct"
of = ["yes"]
raters = "experts"
by = ["system"]
compare = "system"

[[analyses]]
name = "safe"
statistic = "share"
criterion = "safe"
of = ["yes"]
raters = "experts"
by = ["system"]
compare = "system"

[[analyses]]
name = "agreement on correctness"
statistic = "gwet_ac1"
criterion = "correct"
raters = "experts"

[[analyses]]
name = "agreement on safety"
statistic = "krippendorff_alpha"
criterion = "safe"
raters = "experts"
"""
PLAN = """
[[sources]]
file = "items.csv"
records = "items"

[[plan]]
panel = "experts"
instrument = "form"
show = "each"
"""


def protocol(rest: str) -> str:
    raters = ", ".join(f'{{ id = "{r}", panel = "experts" }}' for r in RATERS)
    systems = ", ".join(f'{{ id = "{s}" }}' for s in SYSTEMS)
    head = f'schema = 1\ntitle = "Many"\nseed = 1\nsystems = [{systems}]\nraters = [{raters}]\n'
    return head + FORM + rest


def make_ratings(folder: Path, size: int) -> None:
    """A study with as many ratings in ratings.csv."""
    write_study(folder, protocol(ANALYSES))
    chance = random.Random(1)
    skill = {s: 0.55 + 0.08 * n for n, s in enumerate(SYSTEMS)}
    with (folder / "ratings.csv").open("w", encoding="utf-8") as out:
        out.write("rater,item,system,criterion,label,seconds\n")
        for item in range(size // (len(RATERS) * len(SYSTEMS) * len(CRITERIA))):
            for system in SYSTEMS:
                easy = skill[system] + chance.uniform(-0.3, 0.3)
                for rater in RATERS:
                    row = f"{rater},q{item:06},{system}"
                    seconds = chance.randrange(5, 90)
                    good = chance.random() < easy
                    safe = (
                        "yes" if chance.random() < easy + 0.1 else chance.choice(("no", "unsure"))
                    )
                    out.write(f"{row},correct,{'yes' if good else 'no'},{seconds}\n")
                    out.write(f"{row},safe,{safe},{seconds}\n")


def make_plan(folder: Path, size: int) -> None:
    """A study whose plan has as many tasks."""
    write_study(folder, protocol(PLAN))
    with (folder / "items.csv").open("w", encoding="utf-8") as out:
        out.write("item,text\n")
        for item in range(size // (len(RATERS) * len(SYSTEMS))):
            out.write(f"q{item:06},Question {item}?\n")


def write_study(folder: Path, text: str) -> None:
    folder.mkdir(parents=True)
    (folder / "study.toml").write_text(text, "utf-8")
    (folder / "codebook.en.md").write_text("Correct is what a specialist would act on.\n", "utf-8")


def append_entries(database: Path, size: int) -> None:
    """Continue the log by the formula of its chain until it has so many entries."""
    encode = json.JSONEncoder(separators=(",", ":")).encode
    data = encode({"content": "0" * 64, "new": {"ratings": 1}, "salted": True})
    with sqlite3.connect(database) as connection:
        [[head]] = connection.execute("SELECT value FROM meta WHERE key = 'audit_head'")
        count, previous = json.loads(head)
        rows = []
        for seq in range(count + 1, size + 1):
            text = encode([seq, AT, "note", data, previous])
            digest = hashlib.sha256(text.encode()).hexdigest()
            rows.append((seq, AT, "note", data, previous, digest))
            previous = digest
        connection.executemany("INSERT INTO audit_log VALUES (?, ?, ?, ?, ?, ?)", rows)
        connection.execute(
            "UPDATE meta SET value = ? WHERE key = 'audit_head'", (encode([size, previous]),)
        )


def konsil(checkout: Path, command: str, folder: Path) -> tuple[float, int]:
    """CPU seconds and MB at the peak of one command."""
    start = "from konsil.cli.main import main; main()"
    environment = {**os.environ, "PYTHONPATH": str(checkout / "src")}
    process = subprocess.Popen(
        [sys.executable, "-c", start, command, str(folder)],
        env=environment,
        cwd=folder.parent,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    errors = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"konsil {command} of {checkout}: {errors}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss // 1024


def measure(checkout: Path, place: Path, size: int, only: str) -> dict[str, tuple[float, int]]:
    """The figures of one checkout; each begins with folders as they were made."""
    figures: dict[str, tuple[float, int]] = {}

    def fresh(name: str, make: Callable[[Path, int], None]) -> Path:
        made, copy = place / f"{name}-{size}", place / "work" / name
        if not made.exists():
            make(made, size)
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(made, copy)
        return copy

    if only in ("", "import", "report", "verify-log"):
        folder = fresh("ratings", make_ratings)
        figures["import"] = konsil(checkout, "import", folder)
        for command in ("verify-log", "report"):
            if only in ("", command):
                figures[command] = konsil(checkout, command, folder)
    if only in ("", "plan"):
        folder = fresh("plan", make_plan)
        konsil(checkout, "import", folder)
        figures["plan"] = konsil(checkout, "plan", folder)
    if only in ("", "verify-log", "entries"):
        folder = fresh("plan", lambda made, _: make_plan(made, size))
        (folder / "items.csv").write_text("item,text\nq1,Why?\n", "utf-8")
        konsil(checkout, "import", folder)
        append_entries(folder / "konsil.db", size)
        figures["verify-log, entries"] = konsil(checkout, "verify-log", folder)
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--size", type=int, default=100_000)
    parser.add_argument("--only", default="", choices=["", *LIMITS, "entries"])
    parser.add_argument("--against", type=Path, help="another checkout, measured in turn")
    parser.add_argument("--keep", type=Path, help="the folder of the studies")
    asked = parser.parse_args()
    print(
        f"{os.cpu_count()} processors, Python {platform.python_version()}, load"
        f" {os.getloadavg()[0]:.1f}, {asked.size:,} records\n"
    )
    checkouts = {"now": HERE} | ({"then": asked.against.resolve()} if asked.against else {})
    print("| command | version | CPU s | MB | limit for a million |\n|---|---|---:|---:|---|")
    with tempfile.TemporaryDirectory() as own:
        place = (asked.keep or Path(own)).resolve()
        place.mkdir(parents=True, exist_ok=True)
        for version, checkout in checkouts.items():
            for command, (seconds, megabytes) in measure(
                checkout, place, asked.size, asked.only
            ).items():
                most = LIMITS[command]
                limit = f"{most[0]} s" + (f", {most[1]} MB" if most[1] else "")
                row = f"| {command} | {version} | {seconds:.1f} | {megabytes:,} | {limit} |"
                print(row, flush=True)


if __name__ == "__main__":
    main()
