"""One worker alone does what a process without leases does, and leaves nothing behind; its tables
are SQLite's here, where nobody else is."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from faulty import Server, protocol, serving

from konsil.collect.jobs import collection
from konsil.collect.jobs.collection import Collected, Options
from konsil.collect.jobs.systems import answer
from konsil.collect.running.budget import Budget
from konsil.collect.running.lanes import Progress
from konsil.collect.workers.lane_share import limits_key
from konsil.collect.workers.worker import Worker
from konsil.errors import CollectError
from konsil.records import Item
from konsil.store import Batch, Store
from konsil.store.calls.calls import Calls
from konsil.store.calls.leases import Leases, Offer
from konsil.store.calls.reservations import Allowance, Grant, Reservation
from konsil.store.calls.worker_states import lost, workers
from konsil.store.engine import schema
from konsil.store.engine.engine import reading
from konsil.study import parse
from konsil.study.sections.calling import Endpoint

AT = "2025-03-01T12:00:00Z"
N = 6
QUICK = "concurrency = 3\nseconds = 5\ntries = 2\nstop_after = 4"
PRICED = "max_tokens = 64, price_in = 10.0, price_out = 20.0"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path) as opened:
        items = [Item(f"i{k}", f"Question q{k} about blood?") for k in range(N)]
        opened.add(Batch(items=items), source="items", at=AT)
        yield opened


@pytest.fixture(autouse=True)
def _as_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(collection, "is_shared", lambda _store: True)


def run(
    store: Store,
    modes: dict[str, str],
    endpoint: str = QUICK,
    settings: str = PRICED,
    **chosen: Any,
) -> tuple[Collected, Server]:
    server = Server()
    with serving(server) as url:
        study = parse(protocol(url, modes, endpoint, settings), lambda name: name)
        return answer(study, store, Options(back_off=0.001, **chosen)), server


def works_left(store: Store) -> int:
    with reading(store.engine) as connection:
        owned = sa.select(sa.func.count(schema.works.c.worker))
        assert connection.execute(owned).scalar_one() == 0
        return int(connection.execute(sa.select(sa.func.count(schema.works.c.work))).scalar_one())


@pytest.mark.parametrize(
    ("mode", "outcomes"),
    [
        ("ok", {"ok": N}),
        ("one: forbidden, no more", {"ok": N - 1, "filtered": 1}),
        ("bucket", {"ok": N}),
        ("cut", {"gave up": N}),
    ],
)
def test_every_work_ends_once(store: Store, mode: str, outcomes: dict[str, int]) -> None:
    endpoint = QUICK.replace("stop_after = 4", "stop_after = 0")
    collected, server = run(store, {"s": mode}, endpoint)
    assert dict(collected.progress.outcomes) == outcomes
    stored = list(Calls(store).each())
    assert sum(call.ended for call in stored) == N
    assert len(stored) == len(server.bodies) == collected.progress.calls
    assert works_left(store) == 0
    assert workers(store) == ()
    assert collected.progress.remaining == 0
    assert lost(store) == 0.0
    assert store.verify_log() == ()


def test_two_models_of_an_endpoint_are_two_lanes(store: Store) -> None:
    collected, server = run(store, {"a": "ok", "b": "think"}, "requests_per_minute = 60000")
    assert collected.n_records == collected.progress.ended == len(server.bodies) == 2 * N
    assert len(store.answers()) == 2 * N


def test_what_a_hopeless_model_leaves_is_given_back(store: Store) -> None:
    collected, server = run(store, {"s": "length"}, "concurrency = 1\nstop_after = 2")
    assert "were truncated" in collected.progress.hopeless["s"]
    assert works_left(store) == N - len(server.bodies) > 0
    # The next worker begins with what is left.
    again, _ = run(store, {"s": "ok"}, settings="max_tokens = 65, price_in = 1, price_out = 1")
    assert again.progress.ended == N
    assert works_left(store) == 0


def test_a_wrong_key_ends_the_run_and_frees_all_works(store: Store) -> None:
    with pytest.raises(CollectError, match="key"):
        run(store, {"s": "all: anthropic key"})
    assert works_left(store) == N
    assert workers(store) == ()


def test_the_budget_and_the_limit_end_a_run(store: Store) -> None:
    collected, server = run(store, {"s": "ok"}, limit=2)
    assert collected.progress.ended == len(server.bodies) == 2
    assert collected.progress.remaining == 0
    # A call costs .0014; with what it can cost at most the next one does not fit any more.
    stopped, _ = run(store, {"s": "ok"}, budget=0.006)
    assert stopped.progress.stopped.startswith("the next call of 's' can cost up to")
    assert stopped.spent <= 0.006
    assert stopped.progress.remaining > 0
    assert works_left(store) == stopped.progress.remaining


def test_a_limit_is_that_of_all_lanes(store: Store) -> None:
    collected, server = run(store, {"a": "ok", "b": "think", "c": "ok"}, limit=5)
    assert collected.progress.ended == len(server.bodies) == 5


def test_limits_of_a_server_on_this_machine_are_this_machines() -> None:
    assert limits_key(Endpoint("h", "https://models.example.org/v1"), "w") == "h"
    assert limits_key(Endpoint("h", vendor="anthropic"), "w") == "h"
    assert limits_key(Endpoint("fake", "fake"), "w") == "fake in w"
    for url in ("http://127.0.0.1:8080/v1", "http://localhost/v1", "local://127.0.0.1/abc"):
        name, machine = limits_key(Endpoint("h", url), "w").split(" on ")
        assert name == "h"
        # A digest: the database has no machine's name.
        assert len(machine) == 8


def test_who_waits_for_a_place_and_leaves_reserves_nothing(store: Store) -> None:
    leases = Leases(store, "answer")
    leases.register()
    offers = [Offer(f"{n:032x}", "s", 0, n) for n in range(3)]
    leases.offer(offers)
    worker = Worker(leases, ["s"], budget=Budget(None), progress=Progress(total=3))
    assert worker.fetch(["s"], 3, ())[0] == offers
    works = [offer.work for offer in offers]

    def asked(work: str, allowance: Allowance) -> Reservation:
        return Reservation(work, "h", allowance, 1, 0.1)

    async def use() -> list[Grant]:
        one = Allowance(1)
        first = await worker.reserve(asked(works[0], one))
        waiting = asyncio.create_task(worker.reserve(asked(works[1], one)))
        await asyncio.sleep(0.05)
        assert not waiting.done()
        waiting.cancel()
        # Its turn comes in a minute: it leaves while it waits for it.
        slow = asyncio.create_task(worker.reserve(asked(works[2], Allowance(9, 1))))
        await asyncio.gather(waiting, return_exceptions=True)
        second = await slow
        worker.leave(works[2], is_ended=False)
        return [first, second]

    worker.start()
    assert [grant.verdict for grant in asyncio.run(use())] == ["go", "go"]
    worker.close()
    worker.close()
    # Of what was reserved only the first call may have been sent.
    assert lost(store) == pytest.approx(0.1)
    assert works_left(store) == 3
