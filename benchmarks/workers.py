"""Workers on one PostgreSQL study, killed at random, against a rate-limited server that fails.

    python benchmarks/workers.py [--works 2400] [--workers 8] [--kills 30]
    python benchmarks/workers.py --speed [--works 200] [--burn 0.03]

The server of this file answers after .3 seconds, refuses what passes its rate (429), fails at
times (500) and cuts replies. Each worker is a process of its own with a key of its own, by which
the server knows whose calls are under way when a worker is killed (SIGKILL); a new one takes its
place. In the end every work must have one stored end and one answer, and what was asked twice must
have been under way at a kill. Money is what the server billed, against what konsil counts and the
budget.

With `--speed` nothing is killed, and the model runs in the workers themselves and takes so many
seconds of processor time a call (`--burn`), so that processors are what limits them: seconds with
one worker and with two, in turn. With `--burn 0` the database is what limits them.

It starts a PostgreSQL server of its own, which needs the server's programs."""

from __future__ import annotations

import argparse
import asyncio
import importlib.util
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

READ, WRITTEN = 100, 20
PRICE_READ, PRICE_WRITTEN = 10.0, 20.0
COST = (READ * PRICE_READ + WRITTEN * PRICE_WRITTEN) / 1e6
TESTS = Path(__file__).resolve().parents[1] / "tests"
# What tests and benchmarks share.
sys.path.append(str(TESTS))


class Server:
    """Chat completions with a rate, faults, and a count of what each key asks."""

    def __init__(self, rate: float, seed: int) -> None:
        self.rate, self.rng = rate, random.Random(seed)
        self.level, self.at = 5.0, time.monotonic()
        self.active: Counter[str] = Counter()
        self.most = 0
        self.answered: Counter[str] = Counter()
        self.statuses: Counter[str] = Counter()

    async def handle(self, request: Any) -> Any:
        from aiohttp import web

        key = request.headers.get("Authorization", "")
        data = await request.json()
        now = time.monotonic()
        self.level = min(5.0, self.level + (now - self.at) * self.rate)
        self.at = now
        if self.level < 1.0:
            self.statuses["429"] += 1
            return web.json_response({"error": {"message": "slow down"}}, status=429)
        self.level -= 1.0
        self.active[key] += 1
        self.most = max(self.most, self.active.total())
        try:
            await asyncio.sleep(0.3)
            draw = self.rng.random()
            if draw < 0.03:
                self.statuses["500"] += 1
                return web.json_response({"error": {"message": "failed"}}, status=500)
            question = data["messages"][-1]["content"]
            self.answered[question] += 1
            if draw < 0.05:
                self.answered[question] -= 1
                self.statuses["cut"] += 1
                return web.Response(text='{"choices": [', content_type="application/json")
            self.statuses["200"] += 1
            message = {"role": "assistant", "content": "insulin"}
            return web.json_response(
                {
                    "model": "m-1",
                    "choices": [{"message": message, "finish_reason": "stop"}],
                    "usage": {"prompt_tokens": READ, "completion_tokens": WRITTEN},
                }
            )
        finally:
            self.active[key] -= 1


@contextmanager
def serving(server: Server) -> Iterator[str]:
    """Serve in a thread of its own; gives the address."""
    from aiohttp import web

    from served_apps import served_app

    app = web.Application()
    app.router.add_post("/v1/chat/completions", server.handle)
    with served_app(app) as address:
        yield f"{address}/v1"


@contextmanager
def database_server() -> Iterator[Callable[[], str]]:
    """A PostgreSQL server as the tests have it; gives what makes a new database."""
    sys.path.append(str(TESTS))
    spec = importlib.util.spec_from_file_location("fixtures", TESTS / "store" / "conftest.py")
    assert spec is not None
    assert spec.loader is not None
    fixtures = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(fixtures)
    wrapped = getattr(fixtures.server, "__wrapped__", None)
    running = (wrapped or fixtures.server._get_wrapped_function())()
    url = next(running)
    try:
        yield lambda: str(fixtures.new_database(url))
    finally:
        next(running, None)


def study(folder: Path, database: str, endpoint: str, model: str, settings: str, n: int) -> Any:
    """A study of one system and n items."""
    from konsil.api import open_folder

    (folder / "study.toml").write_text(
        f'title = "Workers"\nseed = 1\n{endpoint}\n[[systems]]\nid = "s"\nmodel = "{model}"\n'
        f'settings = {{ {settings} }}\n[[sources]]\nfile = "items.csv"\nrecords = "items"\n'
    )
    rows = "".join(f"i{k},Question number {k}?,insulin\n" for k in range(n))
    (folder / "items.csv").write_text("item,text,reference\n" + rows)
    opened = open_folder(folder, database=database)
    opened.import_sources()
    return opened


def work(folder: str, database: str, lease: float, budget: float | None) -> None:
    """What `konsil answer` does, with a lease that ends sooner; it prints the worker's name first."""
    from konsil.api import open_folder
    from konsil.collect.jobs.collection import Options
    from konsil.collect.jobs.systems import answer
    from konsil.store.calls.leases import Leases

    register = Leases.register

    def named(leases: Leases) -> None:
        register(leases)
        print(leases.worker, flush=True)

    Leases.register = named  # type: ignore[method-assign]
    opened = open_folder(folder, database=database)
    with opened.store() as store:
        began, began_cpu = time.perf_counter(), time.process_time()
        collected = answer(opened.study, store, Options(lease=lease, budget=budget))
        seconds, cpu = time.perf_counter() - began, time.process_time() - began_cpu
    print(
        json.dumps(
            {
                "ended": collected.progress.ended,
                "remaining": collected.progress.remaining,
                "stopped": collected.progress.stopped,
                "seconds": seconds,
                "cpu": cpu,
            }
        )
    )


def start(folder: Path, database: str, key: str, *more: str) -> subprocess.Popen[str]:
    """A worker as a process of its own."""
    return subprocess.Popen(
        [sys.executable, __file__, "--work", str(folder), database, *more],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "WORKER_KEY": key},
        # As from terminals of their own: Linux shares processors between sessions.
        start_new_session=True,
    )


def burn(seconds: float) -> None:
    """Let every call of a scripted model take so much processor time."""
    from konsil.collect.fake.fake import FakeProvider

    complete = FakeProvider.complete

    async def slow(provider: FakeProvider, request: Any) -> Any:
        end = time.thread_time() + seconds
        while time.thread_time() < end:
            pass
        return await complete(provider, request)

    FakeProvider.complete = slow  # type: ignore[method-assign]


def report(process: subprocess.Popen[str]) -> dict[str, Any]:
    """What a worker that ended by itself printed."""
    last: dict[str, Any] = json.loads(process.communicate()[0].splitlines()[-1])
    return last


def calls_under_way(store: Any, worker: str) -> int:
    """Calls of a worker that were reserved, and perhaps sent, and are not stored."""
    import sqlalchemy as sa

    from konsil.store.engine import schema
    from konsil.store.engine.engine import reading

    w = schema.works.c
    query = sa.select(sa.func.count(w.reserved)).where(w.worker == worker)
    with reading(store.engine) as connection:
        return int(connection.execute(query).scalar_one())


def kill_workers(given: argparse.Namespace, make_database: Callable[[], str]) -> int:
    """Kill workers while they collect; print what became of the works. The number of faults."""
    from konsil.store.calls.calls import Calls
    from konsil.store.calls.worker_states import lost

    rng = random.Random(given.seed)
    server = Server(given.rate * 1.1, given.seed)
    budget = 2.0 * given.works * COST
    under_way = n_started = 0
    with tempfile.TemporaryDirectory() as name, serving(server) as url:
        folder, database = Path(name), make_database()
        endpoint = (
            f'[[endpoints]]\nid = "h"\nurl = "{url}"\nkey_env = "WORKER_KEY"\nconcurrency = 16\n'
            f"requests_per_minute = {round(60 * given.rate)}"
        )
        settings = f"max_tokens = 64, price_in = {PRICE_READ}, price_out = {PRICE_WRITTEN}"
        opened = study(folder, database, endpoint, "h:m", settings, given.works)
        running: dict[str, subprocess.Popen[str]] = {}

        def begin() -> None:
            nonlocal n_started
            n_started += 1
            key = f"key-{n_started}"
            running[key] = start(folder, database, key, str(given.lease), str(budget))

        began = time.perf_counter()
        for _ in range(given.workers):
            begin()
        kills = 0
        while kills < given.kills:
            time.sleep(rng.uniform(0.5, given.pause))
            # Only those are killed that call; who is still starting holds nothing.
            calling = [key for key in running if server.active[f"Bearer {key}"]]
            if not calling:
                if all(process.poll() is not None for process in running.values()):
                    break
                continue
            key = rng.choice(calling)
            killed = running.pop(key)
            killed.kill()
            assert killed.stdout is not None
            with opened.store() as store:
                under_way += calls_under_way(store, killed.stdout.readline().strip())
            kills += 1
            begin()
        printed = [report(process) for process in running.values()]
        seconds = time.perf_counter() - began
        with opened.store() as store:
            ended = [call for call in Calls(store).each() if call.ended]
            n_calls, dollars = Calls(store).spent()
            dollars_lost, faults = lost(store), store.verify_log()
            n_answers = len(store.answers())
    done = {call.subject for call in ended}
    repeated = sum(n - 1 for n in server.answered.values() if n > 1)
    n_lost, n_doubled = given.works - n_answers, len(ended) - len(done)
    billed = (server.statuses["200"] + server.statuses["cut"]) * COST
    print(f"{given.workers} workers, {kills} kills in {seconds:,.0f} seconds")
    print(f"works {given.works:,}, done {len(done):,}, lost {n_lost}, ended twice {n_doubled}")
    print(f"asked twice {repeated}; calls under way at kills {under_way}")
    statuses = ", ".join(f"{n:,} {status}" for status, n in sorted(server.statuses.items()))
    print(f"requests: {statuses}; calls stored {n_calls:,}")
    print(f"most calls at once {server.most}, of 16 and those of killed workers")
    print(
        f"US dollars: billed {billed:.3f}; counted {dollars:.3f} for stored calls and"
        f" {dollars_lost:.3f} at most for those of killed workers; budget {budget:.3f}"
    )
    print(
        f"problems of the audit log: {len(faults)}; stopped early: {[p['stopped'] for p in printed if p['stopped']]}"
    )
    counted = dollars + dollars_lost
    return sum(
        (n_lost, n_doubled, repeated > under_way, len(faults), billed > counted, counted > budget)
    )


def measure_speed(given: argparse.Namespace, make_database: Callable[[], str]) -> None:
    """Seconds of one worker and of two whose own processor time limits them."""
    ratios = []
    for _ in range(given.repeats):
        seconds: dict[int, float] = {}
        for n_workers in (1, 2):
            with tempfile.TemporaryDirectory() as name:
                folder, database = Path(name), make_database()
                os.environ["WORKER_BURN"] = str(given.burn)
                study(folder, database, "", "fake:weak,right=0.6", "seed = 1", given.works)
                processes = [start(folder, database, "", "60") for _ in range(n_workers)]
                printed = [report(p) for p in processes]
                # Both start alike; the first to begin waits for nobody.
                seconds[n_workers] = max(p["seconds"] for p in printed)
                cpu = sum(p["cpu"] for p in printed)
                shares = ", ".join(f"{p['ended']:,}" for p in printed)
                print(
                    f"{n_workers} worker(s): {seconds[n_workers]:.1f} s, {cpu:.1f} s of processor"
                    f" time, works {shares}"
                )
        ratios.append(seconds[1] / seconds[2])
    print(f"speed-up of two workers: median {statistics.median(ratios):.2f} of {len(ratios)}")


def main() -> None:
    """Run one of the two measurements."""
    if sys.argv[1:2] == ["--work"]:
        burn(float(os.environ.get("WORKER_BURN", "0")))
        folder, database, lease, *budget = sys.argv[2:]
        work(folder, database, float(lease), float(budget[0]) if budget else None)
        return
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--works", type=int, default=2400)
    parser.add_argument("--workers", type=int, default=8)
    parser.add_argument("--kills", type=int, default=30)
    parser.add_argument("--rate", type=float, default=20.0, help="requests a second")
    parser.add_argument("--lease", type=float, default=8.0, help="seconds")
    parser.add_argument("--pause", type=float, default=5.0, help="longest time between two kills")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--speed", action="store_true")
    parser.add_argument("--burn", type=float, default=0.03, help="seconds of processor time")
    parser.add_argument("--repeats", type=int, default=3)
    given = parser.parse_args()
    with database_server() as make_database:
        if given.speed:
            measure_speed(given, make_database)
        else:
            sys.exit(kill_workers(given, make_database))


if __name__ == "__main__":
    main()
