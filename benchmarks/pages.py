"""The rating pages under load: many simulated raters at once, 4,000 items, every request that a browser would send.

    python benchmarks/pages.py                      20 raters without pauses, 20 and 200 with pauses, on SQLite
    python benchmarks/pages.py --raters 20 --think 4 --seconds 60
    python benchmarks/pages.py --database postgresql://user@host/empty --workers 2

Raters pause for exponential times of the mean given (0: none). The server is a process of its own on the same
machine as the raters, so their processor time is in the numbers; it is shown beside the server's.
"""

from __future__ import annotations

import argparse
import os
import platform
import random
import resource
import tempfile
import threading
import time
from pathlib import Path

from konsil.api import open_folder
from konsil.api.invitations import PATH, invite
from konsil.api.planning import make_plan
from konsil.rehearse import Server, work
from konsil.rehearse.panel import Person
from konsil.store import screens
from konsil.store.engine import reading

ITEMS, SYSTEMS = 4_000, 5
WORDS = "Bei der Patientin ist wegen der Niereninsuffizienz eine Dosisanpassung notwendig und das Kalium zu prüfen. "


def write_study(folder: Path, raters: int, each: int) -> None:
    """MedQADE's form: five answers and a difficulty a page; every item is rated so often that all have work."""
    folder.mkdir(parents=True)
    people = "".join(f'[[raters]]\nid = "r{n}"\npanel = "physicians"\n' for n in range(raters))
    systems = "".join(f'[[systems]]\nid = "s{n}"\nfamily = "f{n}"\n' for n in range(SYSTEMS))
    (folder / "study.toml").write_text(
        f"""schema = 1
title = "Last"
seed = 1
language = "de"
simulated = true
[[instruments]]
id = "medqade"
show_reference = true
language = "de"
codebook = "Richtig ist, was **stimmt**."
[[instruments.criteria]]
id = "correctness"
question = "Ist die Antwort richtig?"
scale = {{ labels = ["Falsch", "Richtig"], abstain = "Keine Angabe" }}
[[instruments.criteria]]
id = "difficulty"
question = "Wie schwer ist die Frage?"
scope = "item"
scale = {{ labels = ["Einfach", "Mittel", "Schwer"], level = "ordinal" }}
{systems}{people}
[[sources]]
file = "items.csv"
records = "items"
[[sources]]
file = "answers.csv"
records = "answers"
[[plan]]
panel = "physicians"
instrument = "medqade"
raters_per_item = {max(2, -(-raters * each // ITEMS))}
[[analyses]]
name = "a"
statistic = "percent_agreement"
criterion = "correctness"
raters = "physicians"
""",
        "utf-8",
    )
    rows = "".join(f"i{k},Frage {k}: {WORDS}?,Begriff {k}\n" for k in range(ITEMS))
    (folder / "items.csv").write_text(f"item,text,reference\n{rows}", "utf-8")
    rows = "".join(f"i{k},s{n},Begriff {k} von {n}. {WORDS * 4}\n" for k in range(ITEMS) for n in range(SYSTEMS))
    (folder / "answers.csv").write_text(f"item,system,text\n{rows}", "utf-8")


def processor_seconds(leader: int) -> float:
    """User and system time of a process and its group, from /proc; 0 elsewhere."""
    total = 0.0
    for place in Path("/proc").glob("[0-9]*/stat"):
        try:
            told = place.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(told[2]) == leader:
            total += (int(told[11]) + int(told[12])) / os.sysconf("SC_CLK_TCK")
    return total


def run(raters: int, think: float, seconds: float, database: str, workers: int) -> str:
    """One load; a table of what it took."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made) / "study"
        write_study(folder, raters, 20 if raters > 100 else 400)
        opened = open_folder(folder, database=database)
        opened.import_sources()
        tasks = len(make_plan(opened).tasks)
        rng, stop = random.Random(1), threading.Event()
        with opened.store() as store:

            def say(_public: str) -> tuple[dict[str, str], float]:
                said = {f"correctness.a{n}": rng.choice(["Falsch", "Richtig"]) for n in range(1, SYSTEMS + 1)}
                return {**said, "difficulty": rng.choice(["Einfach", "Mittel", "Schwer"])}, 1.0

            def pause(_share: float) -> float:
                return rng.expovariate(1 / think) if think else 0.0

            links = [link.url.partition(PATH)[2] for link in invite(opened, (), "rater", url="", days=1)]
            with Server(folder, database=database, workers=workers) as server:
                people = [Person(f"r{n}", server.url + PATH + secret) for n, secret in enumerate(links)]
                threading.Timer(seconds, stop.set).start()
                began, own = time.perf_counter(), resource.getrusage(resource.RUSAGE_SELF)
                done = work(people, say, pause, stop=stop)
                wall, used = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_SELF)
                served = processor_seconds(server.process)
                said = server.said()
            with reading(store.engine) as connection:
                lost = 0
                for public, values in done.submitted.items():
                    state = screens.public(connection, public)
                    kept = screens.ratings_of_task(connection, state.task) if state is not None else ()
                    lost += len(kept) != len(values)
    pages = sum(done.handed_in.values())
    clients = used.ru_utime + used.ru_stime - own.ru_utime - own.ru_stime
    faults = [*done.times.faults, *(line for line in said.splitlines() if "locked" in line)]
    lines = [
        f"**{raters} raters at once, {f'pauses of {think:g} s on average' if think else 'without pauses'},"
        f" {'PostgreSQL' if database else 'SQLite'}, {workers} worker{'s' if workers > 1 else ''}**; {ITEMS:,} items,"
        f" {tasks:,} tasks; {pages:,} pages in {wall:.0f} s ({pages / wall:.1f} a second);"
        f" {len(faults)} errors; {lost} pages lost; processor: server {1000 * served / max(1, pages):.0f} ms a page,"
        f" raters {1000 * clients / max(1, pages):.0f} ms; load of the machine {os.getloadavg()[0]:.1f}",
        "",
        "| request | number | p50 ms | p95 ms | p99 ms | KB |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for row in done.times.rows():
        p50, p95, p99 = (1000 * s for s in (row.p50, row.p95, row.p99))
        lines.append(f"| {row.kind} | {row.count:,} | {p50:.0f} | {p95:.0f} | {p99:.0f} | {row.size / 1000:.1f} |")
    return "\n".join([*lines, *faults[:5], ""])


def main() -> None:
    """Run the loads and print their tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--raters", type=int, default=0, help="One load of so many raters.")
    parser.add_argument("--think", type=float, default=0.0, help="Mean pause before every choice, in seconds.")
    parser.add_argument("--seconds", type=float, default=40.0, help="How long each load goes on.")
    parser.add_argument("--database", default="", help="URL of an empty PostgreSQL database.")
    parser.add_argument("--workers", type=int, default=1, help="Processes of the server.")
    given = parser.parse_args()
    loads = [(given.raters, given.think)] if given.raters else [(20, 0.0), (20, 2.0), (200, 5.0)]
    print(f"{os.cpu_count()} cores, Python {platform.python_version()}\n")
    for raters, think in loads:
        print(run(raters, think, given.seconds, given.database, given.workers), flush=True)


if __name__ == "__main__":
    main()
