"""Several workers on one study of a real PostgreSQL server, killed at any moment."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from click.testing import CliRunner
from faulty import Server, protocol, serving

from konsil.api import open_folder
from konsil.api.folder.opened import OpenedStudy
from konsil.api.running.planning import make_plan
from konsil.cli.main import group
from konsil.collect.jobs.collection import Options
from konsil.collect.jobs.judges import judge
from konsil.collect.jobs.systems import answer
from konsil.errors import StoreError
from konsil.store.calls.calls import Calls
from konsil.store.calls.run_lock import alone
from konsil.store.calls.worker_states import lost, workers

pytestmark = pytest.mark.slow

PROGRAM = Path(__file__).with_name("worker_process.py")
SOURCES = '[[sources]]\nfile = "items.csv"\nrecords = "items"\n'
PRICED = "temperature = 0.2, max_tokens = 64, price_in = 10.0, price_out = 20.0"
AT = "2025-03-01T12:00:00Z"


class Slow(Server):
    """Replies take a moment, so that workers are killed while calls are under way."""

    def __init__(self, seconds: float) -> None:
        super().__init__()
        self.seconds = seconds

    async def act(self, mode: str, *details: Any) -> web.StreamResponse:
        import asyncio

        await asyncio.sleep(self.seconds)
        return await super().act(mode, *details)


def study(folder: Path, database: str, text: str, n: int) -> OpenedStudy:
    (folder / "study.toml").write_text(text + SOURCES)
    rows = "".join(f"i{k},Question q{k} ?\n" for k in range(n))
    (folder / "items.csv").write_text("item,text\n" + rows)
    opened = open_folder(folder, database=database)
    opened.import_sources()
    return opened


def start(folder: Path, database: str, *more: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, str(PROGRAM), str(folder), database, *more],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def wait_until(holds: Callable[[], bool], seconds: float = 60.0) -> None:
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.02)


def wait_for_calls(server: Server, n: int) -> None:
    wait_until(lambda: len(server.bodies) >= n and server.active > 0)


def test_three_workers_that_are_killed_do_every_work_once(tmp_path: Path, database: str) -> None:
    server, rng, n = Slow(0.1), random.Random(5), 120
    lease, budget = "2", "1.0"
    with serving(server) as url:
        limits = "concurrency = 6\nrequests_per_minute = 1200\npatience = 60"
        opened = study(tmp_path, database, protocol(url, {"s": "bucket"}, limits, PRICED), n)
        running = [start(tmp_path, database, lease, budget) for _ in range(3)]
        n_kills = most_under_way = 0
        while n_kills < 5:
            # Each kill comes while calls are under way.
            wait_for_calls(server, len(server.bodies) + 6)
            process = running.pop(rng.randrange(3))
            process.kill()
            most_under_way += server.active
            process.communicate()
            n_kills += 1
            running.append(start(tmp_path, database, lease, budget))
        outcomes = [process.communicate(timeout=120) for process in running]
    for process, (said, error) in zip(running, outcomes, strict=True):
        assert process.returncode == 0, error
        assert json.loads(said)["remaining"] == 0
    with opened.store() as store:
        calls = list(Calls(store).each())
        ended = [call for call in calls if call.ended]
        assert len(ended) == len({call.work for call in ended}) == n
        assert len({call.subject for call in ended}) == n
        assert len(store.answers()) == n
        # Every request is a call in the store, but for those that were under way at a kill.
        assert 0 <= len(server.bodies) - len(calls) <= most_under_way
        assert server.most <= 6 + 6
        spent = Calls(store).spent()[1] + lost(store)
        assert spent <= float(budget)
        assert workers(store) == ()
        assert store.verify_log() == ()


def test_a_budget_and_a_limit_are_kept_by_all_together(tmp_path: Path, database: str) -> None:
    server = Slow(0.01)
    with serving(server) as url:
        opened = study(tmp_path, database, protocol(url, {"s": "ok"}, "", PRICED), 40)
        with opened.store() as store:
            collected: list[Any] = []

            def collect(**chosen: Any) -> None:
                with opened.store() as own:
                    collected.append(answer(opened.study, own, Options(**chosen)))

            # 100 tokens read and 20 written cost 0.0014 US dollars.
            threads = [threading.Thread(target=collect, kwargs={"limit": 5}) for _ in range(2)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            assert len(server.bodies) <= 10
            n_before = len(server.bodies)
            threads = [threading.Thread(target=collect, kwargs={"budget": 0.05}) for _ in range(2)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            calls, dollars = Calls(store).spent()
            assert dollars <= 0.05
            assert n_before < calls == len(server.bodies) < 40
            assert all(c.progress.stopped.startswith("the next call of") for c in collected[2:])
            assert [w.worker for w in workers(store)] == []


FAKE = """
title = "t"
seed = 7
[[systems]]
id = "weak"
family = "north"
model = "fake:weak,right=0.6"
[[systems]]
id = "strong"
family = "south"
model = "fake:strong,right=0.9,busy=0.05"
[[instruments]]
id = "form"
show_reference = true
[[instruments.criteria]]
id = "correct"
question = "Is the answer correct?"
scale = { labels = ["no", "yes"], abstain = "cannot tell" }
[[raters]]
id = "judge-1"
panel = "judges"
kind = "llm"
[[judges]]
rater = "judge-1"
model = "fake:judge,malformed=0.1,refused=0.05"
votes = 3
[[plan]]
panel = "judges"
instrument = "form"
"""


def together(opened: OpenedStudy, collect: Callable[..., Any], n: int) -> None:
    """The same command in so many workers at once."""

    def run() -> None:
        with opened.store() as store:
            collect(opened.study, store, Options(back_off=0.01))

    with ThreadPoolExecutor(n) as pool:
        for future in [pool.submit(run) for _ in range(n)]:
            future.result()


def ratings_of(opened: OpenedStudy, n_workers: int) -> list[tuple[Any, ...]]:
    together(opened, answer, n_workers)
    make_plan(opened)
    together(opened, judge, n_workers)
    with opened.store() as store:
        assert store.verify_log() == ()
        attempts = {(a.task, a.outcome) for a in store.attempts()}
        rated = [(r.task, r.criterion, r.state, r.label, r.confidence) for r in store.ratings()]
        return [*sorted(rated), *sorted(attempts)]


def test_votes_of_several_workers_are_those_of_one(tmp_path: Path, database: str) -> None:
    places = [tmp_path / name for name in ("alone", "together")]
    for place in places:
        place.mkdir()
    here = study(places[0], "", FAKE, 12)
    there = study(places[1], database, FAKE, 12)
    alone_ratings = ratings_of(here, 1)
    assert ratings_of(there, 2) == alone_ratings
    assert len(alone_ratings) > 12


def test_status_lists_workers_and_others_are_refused(tmp_path: Path, database: str) -> None:
    server = Slow(2.0)
    with serving(server) as url:
        opened = study(
            tmp_path, database, protocol(url, {"s": "ok"}, "concurrency = 2", "temperature = 0"), 4
        )
        process = start(tmp_path, database, "60")
        wait_until(lambda: server.active == 2)
        shown = CliRunner().invoke(group, ["status", str(tmp_path), "--database", database])
        assert " (konsil answer): 2 works taken, 2 under way; lease until 20" in shown.output
        with opened.store() as store:
            # What needs the study alone waits; another worker may come.
            with (
                pytest.raises(StoreError, match=r"another run \(konsil answer\) is under way"),
                alone(store, "konsil prepare", AT),
            ):
                pytest.fail("beside a worker")
            with pytest.raises(StoreError, match="another run"):
                opened.import_sources()
            [worker] = workers(store)
            assert len(worker.worker) == 6
        # The first Ctrl-C waits for what is under way, and gives the rest back at once.
        process.send_signal(2)
        said, error = process.communicate(timeout=60)
        assert "waiting for 2 calls under way" in error
        assert json.loads(said)["ended"] == 2
        with opened.store() as store:
            assert workers(store) == ()
            assert lost(store) == 0.0
            server.seconds = 0.0
            assert answer(opened.study, store, Options()).progress.ended == 2
            assert len(store.answers()) == 4
