"""Shared fixtures: where the optional real data lie."""

from __future__ import annotations

import contextlib
import gc
import os
import random
import re
import sqlite3
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection

    from forks import Forks
    from reported_studies import ReportedStudy

# A core for each worker: on small tables threads mostly wait for one another. Before NumPy and
# Polars are loaded.
for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "POLARS_MAX_THREADS"):
    os.environ.setdefault(_name, "1")

# Under importlib mode a test's folder is not on the path; pocqi_tables.py is used by several
# folders.
sys.path.append(str(Path(__file__).parent))

_ALL_SLOW = re.compile(r"^pytestmark = (in_a_browser|\[?pytest\.mark\.slow\b)", re.MULTILINE)
# The tests of the migrations themselves.
_OF_MIGRATIONS = {"test_migrate", "test_older", "test_columns", "test_stability"}

MEMORY = Path("/dev/shm")
"""Thousands of small databases wait for no disk where the folders of the tests are in memory."""
ROOM, ROOM_FOR_ENVIRONMENTS = 2 * 2**30, 16 * 2**30
"""Bytes that must be free there; the slow tests make whole environments of packages."""

# A busy machine is no fault of a property: neither the time of one example nor that of making it is
# a failure.
_BUSY = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("thorough", _BUSY)
# The slow tests alone try the same examples in every run: what they enter is recorded.
settings.register_profile("repeatable", _BUSY, derandomize=True)
settings.register_profile("quick", _BUSY, max_examples=25)


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--shuffle SEED`: files, and the tests within each, in a random order, to find tests that
    need one another."""
    parser.addoption(
        "--shuffle", type=int, metavar="SEED", help="run files and their tests in a random order"
    )


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """A file of slow tests alone is not even imported where these are left out: vendors' libraries
    take seconds."""
    if collection_path.suffix != ".py" or not _without_slow(config):
        return None
    return True if _ALL_SLOW.search(collection_path.read_text("utf-8")) else None


def _memory_has(n_bytes: int) -> bool:
    try:
        place = os.statvfs(MEMORY)
    except OSError:
        return False
    return os.access(MEMORY, os.W_OK) and place.f_bavail * place.f_frsize >= n_bytes


def _without_slow(config: pytest.Config) -> bool:
    return "not slow" in str(config.option.markexpr)


def _mark_long(items: Sequence[pytest.Item]) -> None:
    """Of a test marked `covering`, mark as long what is not among the chosen sets of parameters."""
    from covering import covering

    tests: dict[tuple[Path, str], list[pytest.Function]] = {}
    for item in items:
        if isinstance(item, pytest.Function) and item.get_closest_marker("covering") is not None:
            tests.setdefault((item.path, item.originalname), []).append(item)
    for (path, name), functions in tests.items():
        marker = functions[0].get_closest_marker("covering")
        assert marker is not None
        assert all(hasattr(f, "callspec") for f in functions), f"{path}: {name} has no parameters"
        chosen = covering([f.callspec.indices for f in functions], *marker.args)  # type: ignore[attr-defined]
        for place, function in enumerate(functions):
            if place not in chosen:
                function.add_marker("long")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """The order of `--shuffle`, else the longest files first; every worker makes the same of it."""
    _mark_long(items)
    seed = config.getoption("--shuffle")
    if seed is None:
        from longest import in_order

        # What is deselected is still among the items here.
        slow = str(config.option.markexpr).startswith("slow")
        counted = Counter(i.path for i in items if not slow or i.get_closest_marker("slow"))
        order = {path: place for place, path in enumerate(in_order(counted))}
        items.sort(key=lambda item: order.get(item.path, len(order)))
        return
    generator = random.Random(seed)
    places = {path: generator.random() for path in dict.fromkeys(item.path for item in items)}
    generator.shuffle(items)
    items.sort(key=lambda item: places[item.path])


def pytest_collection_finish() -> None:
    """The tests and what they import stay until the end: they are not searched for garbage again
    and again. Between them the thresholds are those of a command."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 100)


def pytest_configure(config: pytest.Config) -> None:
    """A quarter of the examples where the slow tests are left out; the whole suite tries all of
    them."""
    if _memory_has(ROOM if _without_slow(config) else ROOM_FOR_ENVIRONMENTS):
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(MEMORY))
    slow = str(config.option.markexpr).startswith("slow")
    settings.load_profile(
        "quick" if _without_slow(config) else "repeatable" if slow else "thorough"
    )
    # Workers take the files in our order, and not those with most tests first.
    config.option.loadscopereorder = False
    if "PYTEST_XDIST_WORKER" not in os.environ:
        config.pluginmanager.register(_Failures(config))


class _Failures:
    """Names a test when it fails: a run of half an hour may be ended before its summary."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Write a line for a failure."""
        terminal = self._config.pluginmanager.get_plugin("terminalreporter")
        if report.failed and terminal is not None:
            terminal.ensure_newline()
            terminal.write_line(f"failed: {report.nodeid}")


@pytest.fixture(scope="session")
def statements(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """What makes an empty SQLite database one of this version, written off a database that was
    really migrated."""
    from konsil.store import Store

    place = tmp_path_factory.mktemp("schema") / "konsil.db"
    Store.open(place).close()
    with contextlib.closing(sqlite3.connect(place)) as connection:
        return [
            line for line in connection.iterdump() if line not in ("BEGIN TRANSACTION;", "COMMIT;")
        ]


@pytest.fixture(autouse=True)
def _new_databases(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """But for the tests of the migrations, new SQLite databases are made as a migrated one is:
    hundreds of tests do."""
    if request.path.stem in _OF_MIGRATIONS or "konsil.store.engine.migrate" not in sys.modules:
        return
    from konsil.store.engine import migrate

    definitions = request.getfixturevalue("statements")
    upgrade = migrate.upgrade

    def create(connection: Connection, scripts: Path = migrate.MIGRATIONS) -> None:
        new = connection.dialect.name == "sqlite" and scripts == migrate.MIGRATIONS
        if not new or connection.exec_driver_sql("SELECT 1 FROM sqlite_master").first() is not None:
            upgrade(connection, scripts)
            return
        for statement in definitions:
            connection.exec_driver_sql(statement)

    monkeypatch.setattr(migrate, "upgrade", create)


@pytest.fixture(scope="session")
def ready() -> Iterator[Forks]:
    """Commands of konsil without the time that importing takes, for tests that run many."""
    from forks import forks

    with forks(os.environ) as process:
        yield process


@pytest.fixture(scope="session")
def reported(
    tmp_path_factory: pytest.TempPathFactory, ready: Forks
) -> Callable[[str], ReportedStudy]:
    """Call it with `demo` or a protocol's name to get the simulated study and its report; all
    workers have the same, so nothing in it may be changed."""
    from reported_studies import reported_study

    base = tmp_path_factory.getbasetemp()
    several = {"PYTEST_XDIST_WORKER", "KONSIL_ENTERED"} & os.environ.keys()
    places = (base.parent if several else base) / "reported"
    return lambda name: reported_study(name, places, ready)


def real_data(name: str) -> Path:
    """The folder of a real data set, or a skip where it is absent."""
    from published_data import DATA

    folder = DATA / name
    if not folder.exists():
        pytest.skip(f"real data {name} is not on this machine")
    return folder


@pytest.fixture(scope="session")
def data() -> object:
    """Call it with a data set's name to get its folder; skips where it is absent."""
    return real_data
