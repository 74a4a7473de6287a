"""The rating pages under load: many simulated raters at once, 4,000 items, every request that a
browser would send.

    python benchmarks/pages.py
    python benchmarks/pages.py --raters 20 --think 2 --seconds 60 --each 4000
    python benchmarks/pages.py --database postgresql://user@host/empty --workers 2 --raters 20
    python benchmarks/pages.py --peer peer/bin/potato
    python benchmarks/pages.py --raters 200 --think 5 --seconds 30 --arrive 10 --peer peer/bin/potato

Without options: 20 and 200 raters, with pauses and without, on SQLite, and a peer. The last line of each
load compares the two: the time from a request of the next task until its page is there.

Raters pause for exponential times of the mean given (0: none) before every choice, and come within
some seconds of one another. The server is a process of its own on the same machine as the raters,
so their processor time is in the numbers; it is shown beside the server's. `submit` is handing in,
`next task` the page that follows, `go on` both together: from the press of a key until the next
page is there."""

from __future__ import annotations

import argparse
import os
import platform
import random
import resource
import tempfile
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import peer_pages

from konsil.api import open_folder
from konsil.api.running.invitations import PATH, invite
from konsil.api.running.planning import make_plan
from konsil.api.running.requests import InvitationRequest
from konsil.rehearse import Server, work
from konsil.rehearse.people import Person
from konsil.rehearse.times import Times
from konsil.store.engine.engine import reading
from konsil.store.tasks import screens

ITEMS, SYSTEMS = 4_000, 5
SHOWN = ("come in", "save", "submit", "next task", "go on")
WORDS = (
    "Bei der Patientin ist wegen der Niereninsuffizienz eine Dosisanpassung notwendig und das"
    " Kalium zu prüfen. "
)


def write_study(folder: Path, raters: int, each: int) -> None:
    """MedQADE's form: five answers and a difficulty a page; every item is rated so often that all
    have work."""
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
    rows = "".join(
        f"i{k},s{n},Begriff {k} von {n}. {WORDS * 4}\n"
        for k in range(ITEMS)
        for n in range(SYSTEMS)
    )
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


def peak_megabytes(leader: int) -> float:
    """Highest resident memory of a process and its group, from /proc; shared pages count for each."""
    total = 0.0
    for place in Path("/proc").glob("[0-9]*"):
        try:
            if int((place / "stat").read_text().rpartition(")")[2].split()[2]) == leader:
                lines = (place / "status").read_text().splitlines()
                total += sum(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))
        except OSError:
            continue
    return total / 1024


@dataclass(frozen=True)
class Load:
    """How many raters, and how they work."""

    raters: int
    think: float
    seconds: float
    each: int
    arrive: float

    def pause(self, rng: random.Random) -> Callable[[], float]:
        """Seconds before every choice."""
        return lambda: rng.expovariate(1 / self.think) if self.think else 0.0

    def __str__(self) -> str:
        pauses = f"pauses of {self.think:g} s on average" if self.think else "without pauses"
        return f"{self.raters} raters at once, {pauses}"


def table(title: str, times: Times, pages: int, wall: float, served: float, rest: str) -> str:
    """What a load took."""
    lines = [
        (
            f"**{title}**; {pages:,} pages in {wall:.0f} s ({pages / wall:.1f} a second);"
            f" {len(times.faults)} errors; server {1000 * served / max(1, pages):.0f} ms of"
            f" processor a page; {rest}; load of the machine {os.getloadavg()[0]:.1f}"
        ),
        "",
        "| request | number | p50 ms | p95 ms | p99 ms | KB |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for row in times.rows():
        if row.kind in SHOWN:
            p50, p95, p99 = (1000 * s for s in (row.p50, row.p95, row.p99))
            lines.append(
                f"| {row.kind} | {row.count:,} | {p50:.0f} | {p95:.0f} | {p99:.0f} |"
                f" {row.size / 1000:.1f} |"
            )
    return "\n".join([*lines, *times.faults[:5], ""])


def next_task(name: str, times: Times) -> str:
    """How long nineteen of twenty next tasks took at most."""
    waits = [1000 * row.p95 for row in times.rows() if row.kind == "next task"]
    return f"{name} {waits[0]:.0f} ms" if waits else f"{name} none"


def run(load: Load, database: str, workers: int) -> tuple[str, Times]:
    """One load on the pages of konsil."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made) / "study"
        write_study(folder, load.raters, load.each)
        opened = open_folder(folder, database=database)
        opened.import_sources()
        tasks = len(make_plan(opened).tasks)
        rng, stop = random.Random(1), threading.Event()
        pause = load.pause(rng)
        with opened.store() as store:

            def say(_public: str) -> tuple[dict[str, str], float]:
                said = {
                    f"~1.a{n}": rng.choice(["Falsch", "Richtig"]) for n in range(1, SYSTEMS + 1)
                }
                return {**said, "~2": rng.choice(["Einfach", "Mittel", "Schwer"])}, 1.0

            links = [
                link.url.partition(PATH)[2]
                for link in invite(opened, InvitationRequest(url="", days=1))
            ]
            with Server(folder, database=database, workers=workers) as server:
                people = [
                    Person(f"r{n}", server.url + PATH + secret, after=rng.uniform(0, load.arrive))
                    for n, secret in enumerate(links)
                ]
                threading.Timer(load.seconds, stop.set).start()
                before, own = (
                    processor_seconds(server.process),
                    resource.getrusage(resource.RUSAGE_SELF),
                )
                done = work(people, say, lambda _: pause(), stop=stop)
                served = processor_seconds(server.process) - before
                memory = peak_megabytes(server.process)
                used = resource.getrusage(resource.RUSAGE_SELF)
                for line in server.output().splitlines():
                    if "locked" in line or "busy" in line or "Error" in line:
                        done.times.fault(line)
            with reading(store.engine) as connection:
                lost = 0
                for public, values in done.submitted.items():
                    state = screens.public(connection, public)
                    kept = (
                        screens.ratings_of_task(connection, state.task) if state is not None else ()
                    )
                    lost += len(kept) != len(values)
    pages = sum(done.handed_in.values())
    clients = used.ru_utime + used.ru_stime - own.ru_utime - own.ru_stime
    files = next(
        (row.count * row.size / load.raters for row in done.times.rows() if row.kind == "file"), 0.0
    )
    where = "PostgreSQL" if database else "SQLite"
    title = f"konsil, {load}, {where}, {workers} worker{'s' if workers > 1 else ''}"
    rest = (
        f"raters {1000 * clients / max(1, pages):.0f} ms; memory {memory:.0f} MB; {lost} pages lost;"
        f" {ITEMS:,} items,"
        f" {tasks:,} tasks; style sheet, script and icon {files / 1000:.0f} KB once"
    )
    return table(title, done.times, pages, done.seconds, served, rest), done.times


def run_peer(load: Load, program: str) -> tuple[str, Times]:
    """The same load on the peer's pages."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made) / "peer"
        peer_pages.write_task(folder, ITEMS, WORDS, load.each)
        rng, stop = random.Random(1), threading.Event()
        with peer_pages.served(program, folder) as (port, process):
            page, files = peer_pages.weight(port)
            threading.Timer(load.seconds, stop.set).start()
            before = processor_seconds(process)
            arrive = lambda: rng.uniform(0, load.arrive)  # noqa: E731 - read where it stands
            times, pages, wall = peer_pages.load(port, load.raters, load.pause(rng), arrive, stop)
            served = processor_seconds(process) - before
            memory = peak_megabytes(process)
    rest = (
        f"memory {memory:.0f} MB; page {page / 1000:.0f} KB; its scripts and style sheets"
        f" {files / 1000:.0f} KB once"
    )
    return table(f"Potato, {load}, as it comes", times, pages, wall, served, rest), times


def main() -> None:
    """Run the loads and print their tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--raters", type=int, default=0, help="One load of so many raters.")
    parser.add_argument(
        "--think", type=float, default=0.0, help="Mean pause before every choice, in seconds."
    )
    parser.add_argument("--seconds", type=float, default=40.0, help="How long each load goes on.")
    parser.add_argument(
        "--each", type=int, default=0, help="Tasks a rater; default 400, of 200 raters 40."
    )
    parser.add_argument(
        "--arrive", type=float, default=5.0, help="Everybody comes within so many seconds."
    )
    parser.add_argument("--database", default="", help="URL of an empty PostgreSQL database.")
    parser.add_argument("--workers", type=int, default=1, help="Processes of the server.")
    parser.add_argument(
        "--peer", default="", help="The program potato, where it is not on the path."
    )
    given = parser.parse_args()
    asked = (
        [(given.raters, given.think)]
        if given.raters
        else [(20, 2.0), (20, 0.0), (200, 5.0), (200, 0.0)]
    )
    print(
        f"{os.cpu_count()} cores, {platform.system()} {platform.machine()}, Python"
        f" {platform.python_version()}\n"
    )
    peer = peer_pages.installed(given.peer)
    if not peer:
        print("Potato is not installed and left out; --peer names its program.\n")
    for raters, think in asked:
        load = Load(
            raters, think, given.seconds, given.each or (40 if raters > 100 else 400), given.arrive
        )
        text, own = run(load, given.database, given.workers)
        print(text, flush=True)
        # With a database only where it is named: the peer has none.
        if peer and (given.peer or not given.database):
            text, times = run_peer(load, peer)
            print(text, flush=True)
            waits = f"{next_task('konsil', own)}, {next_task('Potato', times)}"
            print(f"p95 of the next task, {load}: {waits}\n", flush=True)


if __name__ == "__main__":
    main()
