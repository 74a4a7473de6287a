"""Stores to test: SQLite in a folder always, a real PostgreSQL server in the slow suite."""

from __future__ import annotations

import os
import shutil
import subprocess
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from konsil.records import Answer, Attempt, Citation, Event, Item, Rater, Rating, Span, Task
from konsil.store import Batch, Store
from ports import free_port

AT = "2025-03-01T12:00:00Z"


def _sample() -> Batch:
    return Batch(
        items=(
            Item(
                "i1",
                "Which drug?",
                "metformin",
                ("Glucophage",),
                "case-1",
                ("core", "split"),
                {"level": "easy"},
            ),
            Item("i2", "Dose <5 mg/dL?\nSay why, in „Worten“.", ""),
        ),
        answers=(
            Answer(
                "a1",
                "i1",
                "s1",
                "Metformin. It is first line.",
                "because",
                (Citation("Guide", "https://x.org"),),
            ),
            Answer("a2", "i1", "s2", "Insulin.", sentences=(Span(0, 8),)),
        ),
        raters=(
            Rater("R1", "doctors", strata={"specialty": "cardiology"}),
            Rater("J1", "judges", "llm", "acme"),
        ),
        tasks=(
            Task(
                "t1",
                "slot-1",
                "R1",
                "form",
                "i1",
                ("a2", "a1"),
                (Span(0, 8),),
                "text",
                "main",
                "b1",
                3,
            ),
            Task("t2", "slot-2", "", "survey", None, purpose="repeat", repeat_of="t1"),
        ),
        ratings=(
            Rating(
                "t1",
                "R1",
                "accuracy",
                "i1",
                ("a1",),
                label="4",
                seconds=12.25,
                at=AT,
                instrument="abc",
            ),
            Rating(
                "t1",
                "R1",
                "accuracy",
                "i1",
                ("a2",),
                state="abstained",
                note="=1+1",
                confidence=0.1,
            ),
            Rating("t1", "R1", "accuracy", "i1", ("a1",), Span(0, 10), label=""),
            Rating("t1", "R1", "preference", "i1", ("a1", "a2"), label="-2"),
            Rating("t1", "R1", "accuracy", "i1", (), label="hard\r\nvery"),
            Rating("t2", "R1", "ease", None, label="yes"),
        ),
        attempts=(Attempt("x1", "t1", "J1", "not json", "{oops", AT),),
        events=(Event("e1", "consent", "R1", AT, {"version": 2, "nested": {"a": [1, 2.5, None]}}),),
    )


@pytest.fixture
def sample() -> Batch:
    """A small batch with every kind of record and its corners."""
    return _sample()


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    """A PostgreSQL server of our own on a free port, as a URL without a database; skips where there
    is none."""
    binaries = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    found = shutil.which("initdb") or (str(binaries[-1]) if binaries else None)
    if found is None:
        pytest.skip("no PostgreSQL server programs on this machine")
    pytest.importorskip("psycopg", reason="the driver psycopg is not installed")
    programs = Path(found).parent
    # Not under pytest's own folder: that one is closed to the unprivileged user the server must run
    # as.
    folder = Path("/tmp") / f"konsil-pg-{uuid.uuid4().hex[:12]}"
    folder.mkdir(mode=0o755)
    as_user: list[str] = []
    if os.geteuid() == 0:
        user = next((u for u in ("postgres", "nobody") if _exists(u)), None)
        if user is None or shutil.which("runuser") is None:
            shutil.rmtree(folder)
            pytest.skip("PostgreSQL does not run as root and there is no other user to run it")
        shutil.chown(folder, user)
        as_user = ["runuser", "-u", user, "--"]

    def run(*command: str) -> None:
        done = subprocess.run(
            [*as_user, *command],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            timeout=120,
        )
        assert done.returncode == 0, command

    data, log = str(folder / "data"), str(folder / "log")
    port = free_port()
    # A locale that does not sort by code point, where there is one: our order must not depend on
    # it.
    locales = [
        *subprocess.run(["locale", "-a"], capture_output=True, text=True).stdout.split(),
        "C",
    ]
    locale = next((name for name in locales if name.lower() in ("de_de.utf8", "en_us.utf8")), "C")
    run(
        str(programs / "initdb"),
        "-D",
        data,
        "-U",
        "konsil",
        "-A",
        "trust",
        "-E",
        "UTF8",
        f"--locale={locale}",
    )
    options = f"-p {port} -c listen_addresses=127.0.0.1 -c unix_socket_directories='' -c fsync=off"
    try:
        run(str(programs / "pg_ctl"), "-D", data, "-o", options, "-l", log, "-w", "start")
        yield f"postgresql://konsil@127.0.0.1:{port}"
    finally:
        run(str(programs / "pg_ctl"), "-D", data, "-m", "immediate", "-w", "stop")
        shutil.rmtree(folder, ignore_errors=True)


def _exists(user: str) -> bool:
    import pwd

    try:
        pwd.getpwnam(user)
    except KeyError:
        return False
    return True


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.slow)])
def where(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A place for a new store: a study's folder, or an empty database of the server."""
    if request.param == "sqlite":
        return str(tmp_path)
    return new_database(request.getfixturevalue("server"))


def new_database(server: str) -> str:
    import psycopg

    name = f"study_{uuid.uuid4().hex[:12]}"
    with psycopg.connect(f"{server}/postgres", autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    return f"{server}/{name}"


@pytest.fixture
def store(where: str) -> Iterator[Store]:
    """An empty store of either kind."""
    with Store.open(where) as opened:
        yield opened


@pytest.fixture
def filled(store: Store, sample: Batch) -> Store:
    """A store that holds the sample."""
    store.add(sample, source="sample.csv", digest="d1", at=AT)
    return store


@pytest.fixture
def alter(store: Store) -> Callable[[str], None]:
    """Change the database behind konsil's back, as somebody with the database's own tools would."""
    from sqlalchemy import text

    def change(statement: str) -> None:
        with store.engine.connect() as connection:
            for table in ("audit_log", "events", "rating_revisions"):
                for verb in ("update", "delete"):
                    on = f" ON {table}" if connection.dialect.name == "postgresql" else ""
                    connection.execute(text(f"DROP TRIGGER IF EXISTS {table}_no_{verb}{on}"))
            connection.execute(text(statement))
            connection.commit()

    return change
