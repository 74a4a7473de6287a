"""A server that does everything wrong and a process that is killed: every work ends once, nothing
is called twice."""

from __future__ import annotations

import json
import random
import sqlite3
import subprocess
import sys
import time
import urllib.request
from collections import Counter
from pathlib import Path
from typing import get_args

import pytest

from fake_server import running
from konsil.api import open_folder
from konsil.collect.fake.fake import Faults
from konsil.records import Item, Outcome
from konsil.store import Batch, Store
from konsil.store.calls.calls import READABLE, Calls

AT = "2025-03-01T12:00:00Z"
CONCURRENCY = 8
KILLS = 10
SOUND = '[[systems]]\nid = "sound"\n'
STUDY = """
title = "Faults"
seed = 1
[[endpoints]]
id = "bad"
url = "{url}/v1"
concurrency = {concurrency}
seconds = 0.5
[[systems]]
id = "s"
model = "bad:model"
settings = {{ temperature = 0.2, seed = 1 }}
[[systems]]
id = "sound"
[[instruments]]
id = "form"
codebook = "Be fair."
[[instruments.criteria]]
id = "correct"
question = "Correct?"
scale = {{ labels = ["no", "yes"], abstain = "cannot tell" }}
[[instruments.criteria]]
id = "hard"
question = "Hard?"
scope = "item"
scale = {{ labels = ["easy", "hard"], level = "ordinal" }}
[[raters]]
id = "j"
panel = "judges"
kind = "llm"
[[judges]]
rater = "j"
model = "bad:judge"
[[plan]]
panel = "judges"
instrument = "form"
"""
FAULTS = Faults(0.05, 0.02, 0.04, 0.02, 0.01, 0.0, 0.01, retry_after=0.05, delay=0.005)


def study(folder: Path, url: str, n: int) -> None:
    (folder / "study.toml").write_text(STUDY.format(url=url, concurrency=CONCURRENCY))
    with Store.open(folder) as store:
        store.add(
            Batch(items=[Item(f"i{k}", f"Question {k}?") for k in range(n)]), source="items", at=AT
        )


def konsil(*arguments: str) -> subprocess.Popen[str]:
    code = "import sys; from konsil.cli import main; main(sys.argv[1:])"
    return subprocess.Popen(
        [sys.executable, "-c", code, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def finish(*arguments: str) -> str:
    process = konsil(*arguments)
    out, _ = process.communicate(timeout=200)
    assert process.returncode == 0, out
    return out


def received(url: str) -> int:
    return sum(by_body(url).values())


def by_body(url: str) -> dict[str, int]:
    """How often the server received each request, by a digest of its body."""
    with urllib.request.urlopen(f"{url}/counts") as response:
        return dict(json.load(response))


def kill_and_finish(folder: Path, command: str, kills: int, rng: random.Random) -> int:
    """Start, kill -9 at a random moment, again and again; then let it finish. How many kills hit a
    run under way."""
    hits = 0
    for _ in range(kills):
        process = konsil(command, str(folder))
        before = stored(folder)
        deadline = time.monotonic() + 20
        while stored(folder) == before and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.01)
        time.sleep(rng.uniform(0.0, 0.3))
        hits += process.poll() is None
        process.kill()
        process.communicate()
    finish(command, str(folder))
    return hits


def stored(folder: Path) -> int:
    plain = sqlite3.connect(folder / "konsil.db")
    try:
        return int(plain.execute("SELECT count(*) FROM calls").fetchone()[0])
    finally:
        plain.close()


def check(folder: Path, url: str, n: int, kind: str, lost: int) -> Counter[str]:
    """Every work ended once; what the server received is what is stored, but for what was under
    way."""
    with Store.open(folder) as store:
        calls = Calls(store)
        mine = [c for c in calls.each() if c.kind == kind]
        ended = Counter(c.subject for c in mine if c.ended)
        assert len(ended) == n
        assert set(ended.values()) == {1}
        assert sum(e.works for e in calls.counts() if e.kind == kind) == n
        for work in {c.work for c in mine}:
            numbers = sorted(c.attempt for c in mine if c.work == work)
            assert numbers == list(range(1, len(numbers) + 1))
        assert store.verify_log() == ()
        every = list(calls.each())
        assert all(c.outcome in get_args(Outcome) for c in every)
    # Every reply that is kept was given once; beyond what is kept, the server saw what was under
    # way at a kill. A call whose time was up (status 0) may not have reached a busy server at all.
    assert sum(c.status != 0 for c in every) <= received(url) <= len(every) + lost
    # One request is never asked more often than its kept attempts, and what the kills cut off: no
    # work was done again.
    most = max(Counter(c.work for c in every).values())
    assert max(by_body(url).values()) <= most + KILLS
    return Counter(c.outcome for c in mine if c.ended)


@pytest.mark.slow
def test_every_fault_and_two_kills(tmp_path: Path) -> None:
    n = 200
    with running(FAULTS, seed=3) as url:
        study(tmp_path, url, n)
        hits = kill_and_finish(tmp_path, "answer", 2, random.Random(1))
        outcomes = check(tmp_path, url, n, "answer", hits * CONCURRENCY)
        assert hits
        before = received(url)
        assert "no calls to make" in finish("answer", str(tmp_path))
        assert received(url) == before
    with Store.open(tmp_path) as store:
        assert len(store.answers()) == sum(outcomes[o] for o in READABLE)


@pytest.mark.slow
def test_every_fault_and_ten_kills_for_systems_and_judges(tmp_path: Path) -> None:
    n, rng = 1_500, random.Random(7)  # both commands are killed five times: KILLS in all
    with running(FAULTS, seed=4) as url:
        study(tmp_path, url, n)
        hits = kill_and_finish(tmp_path, "answer", 5, rng)
        check(tmp_path, url, n, "answer", hits * CONCURRENCY)
        # Only this system is asked: an item that it refused has no answer, and is left out of the
        # plan and counted.
        (tmp_path / "study.toml").write_text(
            (tmp_path / "study.toml").read_text().replace(SOUND, "")
        )
        with Store.open(tmp_path) as store:
            answered = len(store.answers())
        said = finish("plan", str(tmp_path))
        with Store.open(tmp_path) as store:
            n_tasks = len(store.tasks())
        assert n_tasks == answered < n
        assert (
            f"plan[0]: {n - answered} of 1,500 items have fewer answers than a task needs" in said
        )
        more = kill_and_finish(tmp_path, "judge", 5, rng)
        outcomes = check(tmp_path, url, n_tasks, "judge", (hits + more) * CONCURRENCY)
        assert hits + more >= 6
    readable = sum(outcomes[o] for o in READABLE)
    assert outcomes["refused"] > 0
    assert outcomes["truncated"] > 0
    data = open_folder(tmp_path).data()
    # Every readable reply gave its task all ratings, and no other reply gave any.
    rated = Counter(r.task for r in data.ratings)
    assert len(rated) == readable
    assert all(rated[t.id] == len(t.answers) + 1 for t in data.tasks if t.id in rated)
    assert len(data.attempts) == n_tasks
    assert {a.task for a in data.attempts if a.outcome not in READABLE}.isdisjoint(rated)


@pytest.mark.slow
def test_a_second_run_is_told_and_calls_nothing(tmp_path: Path) -> None:
    """The first run has work for minutes, so that it is met however late a busy machine starts the
    second one."""
    with running(Faults(delay=0.2)) as url:
        study(tmp_path, url, 6_000)
        first = konsil("answer", str(tmp_path))
        try:
            while not stored(tmp_path):
                assert first.poll() is None, first.communicate()
                time.sleep(0.01)
            second = konsil("answer", str(tmp_path))
            said, _ = second.communicate(timeout=120)
            assert first.poll() is None, "the first run was too quick to be met"
            assert second.returncode == 2
            assert f"another run (konsil answer, process {first.pid}) is under way since 20" in said
            assert len(said.strip().splitlines()) == 1
        finally:
            first.kill()
            first.communicate()
        assert "done in" in finish("answer", str(tmp_path), "--limit", "8")
