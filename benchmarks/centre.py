"""A study centre under load: raters of several sites on several studies at once, on PostgreSQL, while
workers are killed and the server is replaced, first by this version in place of a former one.

    python benchmarks/centre.py --database postgresql://user@host/postgres
    python benchmarks/centre.py --database ... --former ../konsil-0.9 --kills 10 --seconds 120
    python benchmarks/centre.py --former ../konsil-0.9 --raters 20 --seconds 80

Part one: a server of the former version (a checkout, `--former`) serves one study, on SQLite and, with
`--database`, on PostgreSQL; raters work; after a quarter of the time, it is stopped, and this version
takes over its socket and updates the database. Part two, with `--database`: `konsil serve --studies`
with two workers; a worker is killed at random moments, and the whole server is replaced; every study
is backed up under load, encrypted, and each backup is restored to a database of its own. Counted: what
raters were told was stored and is not (lost), refused requests, and the times."""

from __future__ import annotations

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from pathlib import Path

import psycopg
from pages import peak_megabytes, write_study

from konsil.api import open_folder
from konsil.api.folder.opened import OpenedStudy
from konsil.api.running.archiving import archive_study, read_secret, restore_study, write_key
from konsil.api.running.invitations import PATH, invite
from konsil.api.running.planning import make_plan
from konsil.api.running.requests import InvitationRequest
from konsil.rehearse import work
from konsil.rehearse.people import Outcome, Person
from konsil.store.engine.engine import make_engine, reading
from konsil.store.engine.engine import place as database_url
from konsil.store.engine.migrate import stored_schema
from konsil.store.tasks import screens

sys.path.append(str(Path(__file__).resolve().parents[1] / "tests"))

from managed_service import Service

SITES, STUDIES, RATERS = ("Kiel", "Bonn", "Ulm"), 3, 10
COMMAND = "import sys; from konsil.cli import main; main(sys.argv[1:])"
# The former version knows no socket of a service manager: it is given the port.
FORMER = """
import sys
import konsil.web.app.serve as serve
import socket
serve.listening = lambda host, port: socket.socket(fileno=3)
from konsil.cli import main
main(sys.argv[1:])
"""


def workers_of(service: Service) -> list[int]:
    """The numbers of a service's workers."""
    assert service.process is not None
    number = service.process.pid
    children = Path(f"/proc/{number}/task/{number}/children").read_text()
    return [
        int(child)
        for child in children.split()
        if b"spawn_main" in Path(f"/proc/{child}/cmdline").read_bytes()
    ]


def new_database(server: str) -> str:
    """An empty database on the server."""
    name = f"centre_{uuid.uuid4().hex[:10]}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    return f"{server.rpartition('/')[0]}/{name}"


def write_small(folder: Path, n_raters: int, items: int) -> None:
    """A study of MedQADE's form with so many items, its raters from three sites."""
    write_study(folder, n_raters, items)
    text = (folder / "study.toml").read_text("utf-8")
    for n in range(n_raters):
        site = SITES[n % len(SITES)]
        old = f'id = "r{n}"\npanel = "physicians"\n'
        text = text.replace(old, f'{old}strata = {{ site = "{site}" }}\n')
    (folder / "study.toml").write_text(text, "utf-8")
    for name in ("items.csv", "answers.csv"):
        lines = (folder / name).read_text("utf-8").splitlines()
        per_item = 5 if name == "answers.csv" else 1
        (folder / name).write_text("\n".join(lines[: 1 + items * per_item]), "utf-8")


def make_study(folder: Path, database: str, items: int) -> OpenedStudy:
    """A study with its plan."""
    write_small(folder, RATERS, items)
    opened = open_folder(folder, database=database)
    opened.import_sources()
    make_plan(opened)
    return opened


def people_of(opened: OpenedStudy, url: str, rng: random.Random) -> list[Person]:
    """The raters with their links."""
    links = [link.url for link in invite(opened, InvitationRequest(url="", days=1))]
    return [
        Person(f"r{n}", url + PATH + link.partition(PATH)[2], after=rng.uniform(0, 3))
        for n, link in enumerate(links)
    ]


def say(rng: random.Random) -> tuple[dict[str, str], float]:
    """A rater's answers."""
    labels = {f"~1.a{n}": rng.choice(["Falsch", "Richtig"]) for n in range(1, 6)}
    return {**labels, "~2": rng.choice(["Einfach", "Mittel", "Schwer"])}, 1.0


def lost(opened: OpenedStudy, outcome: Outcome) -> int:
    """Submitted pages whose ratings are not all stored."""
    n_lost = 0
    with opened.store() as store, reading(store.engine) as connection:
        assert store.verify_log() == ()
        for public, values in outcome.submitted.items():
            state = screens.public(connection, public)
            stored = screens.ratings_of_task(connection, state.task) if state is not None else ()
            n_lost += len(stored) != len(values)
    return n_lost


def rated(
    opened: OpenedStudy, people: list[Person], stop: threading.Event, think: float
) -> Outcome:
    """Let the raters of a study work until told to stop."""
    rng = random.Random(opened.path.name)
    return work(
        people,
        lambda _: say(rng),
        lambda _: rng.expovariate(1 / think),
        stop=stop,
        patience=60.0,
    )


def schema_of(place: str) -> int:
    """The schema of a database, read as it is."""
    engine = make_engine(database_url(place))
    try:
        with reading(engine) as connection:
            return stored_schema(connection, place)
    finally:
        engine.dispose()


def upgraded(server: str, former: Path, seconds: float, think: float, n_raters: int) -> list[str]:
    """Raters work on the former version; this one takes over. Without a server, on SQLite."""
    with tempfile.TemporaryDirectory() as made:
        folder, database = Path(made) / "study", new_database(server) if server else ""
        of_former = {"PYTHONPATH": str(former / "src")}
        environment = {**os.environ, **of_former, "KONSIL_DATABASE": database}
        # Made by the former version: its database has the former schema.
        write_small(folder, n_raters, 400)
        for command in ("import", "plan"):
            line = [sys.executable, "-c", COMMAND, command, str(folder)]
            subprocess.run(line, env=environment, check=True, stdout=subprocess.DEVNULL)
        line = [sys.executable, "-c", COMMAND, "invite", str(folder), "--url", "http://x", "--json"]
        invited = subprocess.run(
            line, env=environment, check=True, stdout=subprocess.PIPE, text=True
        )
        secrets = [part.split('"')[0] for part in invited.stdout.split(PATH)[1:]]
        place = database or str(folder)
        schemas = [schema_of(place)]
        service = Service(str(folder), *(("--database", database) if database else ()))
        rng, stop = random.Random(1), threading.Event()
        people = [
            Person(f"r{n}", service.url + PATH + secret, after=rng.uniform(0, 2))
            for n, secret in enumerate(secrets)
        ]
        with service:
            service.start(code=FORMER, environment=of_former)
            service.wait()
            change: list[float] = []

            def replace() -> None:
                time.sleep(seconds / 2)
                began = time.monotonic()
                service.end(signal.SIGTERM)
                service.start()
                service.wait()
                change.append(time.monotonic() - began)
                threading.Timer(seconds / 2, stop.set).start()

            manager = threading.Thread(target=replace)
            manager.start()
            outcome = work(
                people,
                lambda _: say(rng),
                lambda _: rng.expovariate(1 / think),
                stop=stop,
                patience=60.0,
            )
            manager.join()
            service.end(signal.SIGTERM)
        schemas.append(schema_of(place))
        n_lost = lost(open_folder(folder, database=database), outcome)
    row = {r.kind: r for r in outcome.times.rows()}
    return [
        (
            f"upgrade under load on {'PostgreSQL' if server else 'SQLite'}: {n_raters} raters,"
            f" {sum(outcome.handed_in.values())} pages; {len(outcome.times.faults)} errors;"
            f" {n_lost} pages lost; schema {schemas[0]} to {schemas[1]}; the next process answered"
            f" after {change[0]:.1f} s; next task p95 {1000 * row['next task'].p95:.0f} ms;"
            f" load {os.getloadavg()[0]:.1f}"
        ),
        *outcome.times.faults[:5],
    ]


def centre(server: str, seconds: float, kills: int, think: float) -> list[str]:
    """Raters of three sites on three studies; workers die, the server is replaced."""
    rng = random.Random(2)
    with tempfile.TemporaryDirectory() as made:
        place = Path(made)
        databases = [new_database(server) for _ in range(STUDIES)]
        studies = [
            make_study(place / f"study-{n}", database, 200) for n, database in enumerate(databases)
        ]
        (place / "centre.toml").write_text(
            "".join(
                f'[[studies]]\nfolder = "study-{n}"\ndatabase = "{database}"\n'
                for n, database in enumerate(databases)
            )
        )
        (place / "backups").mkdir()
        key = write_key(place / "secret.key")
        service = Service("--studies", str(place / "centre.toml"), "--workers", "2")
        stop, outcomes = threading.Event(), {}
        with service:
            service.start()
            service.wait()
            threads = []
            for n, opened in enumerate(studies):
                people = people_of(opened, f"{service.url}/study-{n}", rng)

                def run(
                    n: int = n, opened: OpenedStudy = opened, people: list[Person] = people
                ) -> None:
                    outcomes[n] = rated(opened, people, stop, think)

                threads.append(threading.Thread(target=run))
            for thread in threads:
                thread.start()
            began, n_killed, n_replaced, archives = time.monotonic(), 0, 0, []
            while time.monotonic() - began < seconds:
                time.sleep(seconds / (kills + 3) * rng.uniform(0.5, 1.0))
                if n_killed < kills and (workers := workers_of(service)):
                    os.kill(rng.choice(workers), signal.SIGKILL)
                    n_killed += 1
                if n_killed in (kills // 3, 2 * kills // 3) and n_replaced < 2:
                    service.end(signal.SIGTERM)
                    service.start()
                    n_replaced += 1
                    archives = [archive_study(o, place / "backups", keys=[key]) for o in studies]
                    time.sleep(1.1)
            # With few kills no replacement came, and no backup with it.
            archives = archives or [
                archive_study(o, place / "backups", keys=[key]) for o in studies
            ]
            stop.set()
            for thread in threads:
                thread.join()
            assert service.process is not None
            memory = peak_megabytes(service.process.pid)
            service.end(signal.SIGTERM)
        lines = []
        for n, opened in enumerate(studies):
            outcome = outcomes[n]
            row = {r.kind: r for r in outcome.times.rows()}
            restored = restore_study(
                archives[n].path,
                place / f"back-{n}",
                secret=read_secret(place / "secret.key"),
                database=new_database(server),
            )
            lines.append(
                f"study {n}: {sum(outcome.handed_in.values())} pages,"
                f" {len(outcome.times.faults)} errors, {lost(opened, outcome)} lost; next task p95"
                f" {1000 * row['next task'].p95:.0f} ms, save p95 {1000 * row['save'].p95:.0f} ms;"
                f" backup under load restored with {restored.rows['ratings']:,} ratings"
            )
            lines += outcome.times.faults[:3]
        head = (
            f"centre: {STUDIES} studies, {STUDIES * RATERS} raters of {len(SITES)} sites, 2 workers;"
            f" {n_killed} workers killed, the server replaced {n_replaced} times in {seconds:.0f} s;"
            f" memory {memory:.0f} MB; load {os.getloadavg()[0]:.1f}"
        )
        return [head, *lines]


def main() -> None:
    """Both parts."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--database", default="", help="a PostgreSQL server, with a database")
    parser.add_argument("--former", type=Path, help="a checkout of a former version")
    parser.add_argument("--seconds", type=float, default=90.0)
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--think", type=float, default=1.0, help="mean pause before a choice, s")
    parser.add_argument("--raters", type=int, default=RATERS, help="raters of the upgrade")
    options = parser.parse_args()
    if options.former is not None:
        for server in ("", options.database) if options.database else ("",):
            arguments = (options.former, options.seconds / 2, options.think, options.raters)
            print(*upgraded(server, *arguments), sep="\n", flush=True)
    if options.database:
        print(*centre(options.database, options.seconds, options.kills, options.think), sep="\n")


if __name__ == "__main__":
    main()
