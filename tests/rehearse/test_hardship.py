"""Servers that are killed, and several at once: what was acknowledged is there."""

from __future__ import annotations

import random
import shutil
import threading
import time
from importlib.resources import as_file, files
from pathlib import Path

import pytest
from click.testing import CliRunner

from konsil.api import Folder, open_folder
from konsil.api.rehearsal.rehearsal import truth_of
from konsil.api.rehearsal.rehearsing import rehearse
from konsil.api.rehearsal.requests import RehearsalRequest
from konsil.api.running.invitations import invite
from konsil.api.running.planning import make_plan
from konsil.api.running.requests import InvitationRequest
from konsil.cli.main import group
from konsil.errors import KonsilError
from konsil.instrument import PageNames
from konsil.rehearse import Outcome, Server, work
from konsil.rehearse.people import Person
from konsil.store.engine.engine import reading
from konsil.store.tasks import drafts, screens
from store.conftest import new_database, server  # noqa: F401  a fixture


@pytest.fixture
def demo(tmp_path: Path) -> Folder:
    with as_file(files("konsil.demo")) as source:
        shutil.copytree(source, tmp_path / "demo")
    folder = open_folder(tmp_path / "demo")
    folder.import_sources()
    make_plan(folder)
    return folder


def say(public: str) -> tuple[dict[str, str], float]:
    """Something for every field, the same whenever the page is asked for."""
    rng = random.Random(public)
    said = {f"~1.a{n}": rng.choice(["Incorrect", "Correct"]) for n in range(1, 4)}
    return {**said, "~2": rng.choice(["Easy", "Hard"])}, 1.0


def lost(folder: Folder, done: Outcome) -> list[str]:
    """What the server had said it kept, and has not."""
    missing, names = [], PageNames(folder.study.instruments)
    with folder.store() as store, reading(store.engine) as connection:
        for (public, field), value in done.saved.items():
            state = screens.public(connection, public)
            kept = drafts.values(connection, state.task) if state is not None else {}
            name = names.field(field)
            if name not in kept or kept[name].value != value:
                missing.append(f"{public} {field}")
        for public, said in done.submitted.items():
            state = screens.public(connection, public)
            assert state is not None
            if (
                len(screens.ratings_of_task(connection, state.task)) != len(said)
                or state.submitted_at is None
            ):
                missing.append(public)
    return missing


@pytest.mark.slow
def test_killed_at_random_nothing_acknowledged_is_lost(demo: Folder) -> None:
    stop, rng = threading.Event(), random.Random(20)
    found: list[Outcome] = []
    with Server(demo.path) as served:
        links = invite(demo, InvitationRequest(url=served.url, days=1))
        people = [Person(link.recipient, link.url) for link in links]
        raters = threading.Thread(
            target=lambda: found.append(work(people, say, stop=stop, patience=90.0))
        )
        raters.start()
        for _ in range(4):
            time.sleep(rng.uniform(0.8, 2.5))
            served.kill()
            served.start()
        stop.set()
        raters.join(120)
    [done] = found
    assert done.times.faults == []
    assert done.saved
    assert done.submitted
    assert lost(demo, done) == []
    with demo.store() as store:
        assert store.verify_log() == ()


@pytest.mark.slow
def test_several_workers_on_postgresql_keep_everything(
    demo: Folder, tmp_path: Path, server: str
) -> None:
    database = new_database(server)
    truth = truth_of(demo)
    done = rehearse(
        demo,
        RehearsalRequest(target=tmp_path / "copy", most=6, copy_database=database, workers=2),
        truth,
    )
    assert done.outcome.times.faults == []
    assert set(done.outcome.handed_in.values()) == {6}
    assert lost(done.folder, done.outcome) == []
    with done.folder.store() as store:
        assert store.verify_log() == ()


def test_several_workers_are_refused_on_a_file(demo: Folder) -> None:
    with pytest.raises(KonsilError, match="--workers 3: several processes need PostgreSQL"):
        CliRunner().invoke(
            group, ["serve", str(demo.path), "--workers", "3"], catch_exceptions=False
        )
