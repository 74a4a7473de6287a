"""Works are taken once, come back once, and end once, whatever workers do and whenever they die."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from konsil.records import Call
from konsil.store import Store
from konsil.store.calls import leases as leases_module
from konsil.store.calls import reservations as reservations_module
from konsil.store.calls import worker_states
from konsil.store.calls.calls import Calls
from konsil.store.calls.leases import Leases, Offer
from konsil.store.calls.reservations import Allowance, Corrections, Reservation, reserve
from konsil.store.calls.worker_states import lost, workers
from konsil.store.engine import schema
from konsil.store.engine.engine import reading

AT = "2025-03-01T12:00:00Z"
LEASE = 60.0
ALLOWED = Allowance(2)
BUDGET = 6.0
N_WORKS = 8


@dataclass
class Clock:
    """The database's clock, as a test moves it."""

    time: float = 1_000.0


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    for module in (leases_module, reservations_module, worker_states):
        monkeypatch.setattr(module, "database_time", lambda _connection: clock.time)
    return clock


@pytest.fixture
def store(where: str) -> Iterator[Store]:
    with Store.open(where) as opened:
        yield opened


def digest(n: int) -> str:
    return f"{n:032x}"


def offered(n: int, attempts: int = 0) -> Offer:
    return Offer(digest(n), "s1", 0, n, attempts)


def call(n: int, *, ended: bool = True, cost: float = 0.5) -> Call:
    outcome = "ok" if ended else "http error"
    return Call(
        *(digest(n), 1, "answer", "s1", f"i{n}", "k", "h", "m", outcome, int(ended), 200),
        cost=cost,
        reply={"text": "x"},
        at=AT,
    )


def begun(store: Store) -> Leases:
    worker = Leases(store, "answer", seconds=LEASE)
    worker.register()
    return worker


def numbers(offers: list[Offer]) -> list[int]:
    return [offer.place for offer in offers]


def asked(n: int, **changes: Any) -> Reservation:
    return replace(Reservation(digest(n), "h", ALLOWED, 100, 0.5), **changes)


def verdicts(worker: Leases, *requests: Reservation) -> list[str]:
    return [grant.verdict for grant in reserve(worker, requests).grants]


def test_works_are_taken_in_order_and_once(store: Store, clock: Clock) -> None:
    first, second = begun(store), begun(store)
    assert first.offer(offered(n) for n in range(5)) == 5
    assert second.offer(offered(n) for n in range(6)) == 1
    assert numbers(first.take(["s1"], 2)) == [0, 1]
    assert numbers(second.take(["s1"], 3)) == [2, 3, 4]
    assert numbers(first.take(["s1"], 3)) == [5]
    assert first.take(["s1"], 3) == []
    assert first.take(["another"], 3) == []
    assert first.remaining(["s1"]) == (6, 3)
    assert first.remaining(["s1"], but=[digest(2)]) == (6, 2)
    first.release([digest(0), digest(2)])
    # What the other one holds is not given back.
    assert numbers(second.take(["s1"], 3)) == [0]
    assert {w.worker: w.works for w in workers(store)} == {first.worker: 2, second.worker: 4}


def test_the_works_of_a_killed_worker_come_back_when_its_lease_ends(
    store: Store, clock: Clock
) -> None:
    killed, other = begun(store), begun(store)
    killed.offer([offered(0), offered(1)])
    killed.take(["s1"], 2)
    assert verdicts(killed, asked(0)) == ["go"]
    clock.time += 0.75 * LEASE
    assert other.renew()
    assert other.reap() == 0
    clock.time += 0.3 * LEASE
    expired = {w.worker: w.is_expired for w in workers(store)}
    assert expired == {killed.worker: True, other.worker: False}
    assert other.reap() == 1
    assert numbers(other.take(["s1"], 2)) == [0, 1]
    # Its call may have been billed: it counts with what it can have cost.
    assert lost(store) == 0.5
    assert other.reap() == 0


def test_a_worker_that_was_silent_too_long_has_nothing_any_more(store: Store, clock: Clock) -> None:
    slow, other = begun(store), begun(store)
    slow.offer([offered(0)])
    slow.take(["s1"], 1)
    name = slow.worker
    clock.time += 1.5 * LEASE
    other.renew()
    other.reap()
    other.take(["s1"], 1)
    assert not slow.renew()
    assert slow.worker != name
    assert verdicts(slow, asked(0)) == ["lost"]
    # Its reply comes late and is stored all the same; the first that is stored counts.
    slow.append([call(0)])
    other.append([call(0)])
    stored = [(c.attempt, c.ended) for c in Calls(store).each()]
    assert stored == [(1, 1), (2, 0)]
    assert other.remaining(["s1"]) == (0, 0)
    assert store.verify_log() == ()


def test_what_ended_after_it_was_planned_is_not_taken_again(store: Store, clock: Clock) -> None:
    worker, late = begun(store), begun(store)
    worker.offer([offered(0), offered(1)])
    worker.take(["s1"], 2)
    worker.append([call(0, ended=False)])
    worker.append([call(0)])
    # Another one planned before that, and offers the work once more.
    late.offer([offered(0)])
    assert late.take(["s1"], 5) == []
    assert late.remaining(["s1"]) == (1, 1)  # what the other one holds
    # Who planned after it wants it repeated.
    late.offer([offered(0, attempts=2)])
    assert numbers(late.take(["s1"], 5)) == [0]


def test_only_who_is_alone_clears_what_earlier_workers_left(store: Store, clock: Clock) -> None:
    first, second = begun(store), begun(store)
    first.offer([offered(0)])
    second.offer([offered(1)])
    assert second.remaining(["s1"]) == (2, 2)
    first.release_all()
    second.release_all()
    third = begun(store)
    third.offer([offered(2)])
    assert third.remaining(["s1"]) == (1, 1)


def test_a_run_that_is_alone_clears_what_killed_workers_hold(store: Store, clock: Clock) -> None:
    killed = begun(store)
    killed.offer([offered(0), offered(1)])
    killed.take(["s1"], 1)
    assert verdicts(killed, asked(0)) == ["go"]
    other = Leases(store, "judge", seconds=LEASE)
    other.register()
    other.offer([offered(7)])
    Leases(store, "answer", seconds=LEASE).clear()
    # The lease had not run out: another worker would have let the works stand.
    assert [w.worker for w in workers(store)] == [other.worker]
    assert lost(store) == 0.5
    late = begun(store)
    late.offer([])
    assert late.take(["s1"], 5) == []
    assert numbers(other.take(["s1"], 5)) == [7]


def test_an_endpoint_has_so_many_places_for_all_workers(store: Store, clock: Clock) -> None:
    first, second = begun(store), begun(store)
    first.offer(offered(n) for n in range(4))
    first.take(["s1"], 2)
    second.take(["s1"], 2)
    assert verdicts(first, asked(0)) == ["go"]
    assert verdicts(second, asked(2), asked(3)) == ["go", "wait"]
    first.append([call(0)])
    assert verdicts(second, asked(3)) == ["go"]
    assert verdicts(first, asked(1)) == ["wait"]
    assert verdicts(first, asked(1, endpoint="another")) == ["go"]


def test_requests_and_tokens_a_minute_are_those_of_all_workers(store: Store, clock: Clock) -> None:
    first, second = begun(store), begun(store)
    first.offer(offered(n) for n in range(6))
    first.take(["s1"], 3)
    second.take(["s1"], 3)
    a_second = Allowance(16, requests_per_minute=60)
    answer = reserve(first, [asked(n, allowance=a_second) for n in range(2)])
    assert [(g.verdict, g.seconds) for g in answer.grants] == [("go", 0.0), ("go", 1.0)]
    # Turns that are further ahead are nobody's yet: who is killed keeps none of them.
    [grant] = reserve(second, [asked(3, allowance=a_second)]).grants
    assert (grant.verdict, grant.seconds) == ("wait", 1.0)
    clock.time += 1.0
    [grant] = reserve(second, [asked(3, allowance=a_second)]).grants
    assert (grant.verdict, grant.seconds) == ("go", 1.0)
    tokens = Allowance(16, tokens_per_minute=6_000)
    [grant] = reserve(first, [asked(2, endpoint="t", allowance=tokens)]).grants
    assert (grant.verdict, grant.seconds) == ("go", 0.0)
    reserve(first, [], Corrections({"t": 0.5}, {"h": 30.0}))
    requests = [asked(4, endpoint="t", allowance=tokens), asked(5, allowance=a_second)]
    assert [(g.verdict, g.seconds) for g in reserve(second, requests).grants] == [
        ("wait", 0.5),
        ("wait", 29.0),
    ]


def test_the_budget_is_that_of_all_workers(store: Store, clock: Clock) -> None:
    first, second = begun(store), begun(store)
    first.offer(offered(n) for n in range(6))
    first.take(["s1"], 3)
    second.take(["s1"], 3)
    wide = Allowance(16)
    first.append([call(0, cost=0.25)])
    assert verdicts(first, asked(1, budget=1.0, allowance=wide)) == ["go"]
    # .25 spent and .5 under way: what is under way may cost less.
    assert verdicts(second, asked(3, budget=1.0, allowance=wide)) == ["wait"]
    first.append([call(1, cost=0.5)])
    assert verdicts(second, asked(3, budget=1.0, allowance=wide)) == ["no money"]
    assert verdicts(second, asked(3, budget=1.25, allowance=wide)) == ["go"]
    near = asked(4, budget=3.0, allowance=wide, is_capped=False)
    # Without a cap, and near the end, calls go one at a time.
    assert verdicts(second, near) == ["wait"]
    second.release_all()
    assert verdicts(first, asked(2, budget=1.2, allowance=wide)) == ["no money"]
    assert lost(store) == 0.5


class Workers(RuleBasedStateMachine):
    """Three workers that take, ask, end, give back, fall silent and come back, in any order."""

    open_store: Callable[[], Store]
    clock: Clock

    @initialize()
    def begin(self) -> None:
        self.store = self.open_store()
        self.workers = [begun(self.store) for _ in range(3)]
        self.held: list[set[int]] = [set() for _ in range(3)]
        self.under_way: list[set[int]] = [set() for _ in range(3)]
        self.ended: set[int] = set()
        self.n_sent = 0
        self.plans: dict[int, list[Offer]] = {}
        self.workers[0].offer(offered(n) for n in range(N_WORKS))

    who = st.integers(0, 2)

    @rule(who=who, n=st.integers(1, 4))
    def take(self, who: int, n: int) -> None:
        # As a worker does that fell silent: what it still has under way it does not take again.
        but = {digest(m) for m in self.held[who]}
        taken = set(numbers(self.workers[who].take(["s1"], n, but=but)))
        assert not taken & self.ended, "an ended work was taken"
        self.held[who] |= taken

    @precondition(lambda self: any(self.held))
    @rule(who=who, data=st.data())
    def ask(self, who: int, data: st.DataObject) -> None:
        free = sorted(self.held[who] - self.under_way[who])
        if not free:
            return
        n = data.draw(st.sampled_from(free))
        [verdict] = verdicts(self.workers[who], asked(n, budget=BUDGET))
        if verdict == "go":
            self.under_way[who].add(n)
            self.n_sent += 1
        elif verdict == "lost":
            self.held[who].discard(n)

    @rule(who=who, ends=st.booleans())
    def reply(self, who: int, ends: bool) -> None:
        for n in sorted(self.under_way[who])[:1]:
            self.workers[who].append([call(n, ended=ends, cost=0.25)])
            self.under_way[who].discard(n)
            if ends:
                self.held[who].discard(n)
                self.ended.add(n)

    @rule(who=who)
    def give_back(self, who: int) -> None:
        for n in sorted(self.held[who] - self.under_way[who])[:1]:
            self.workers[who].release([digest(n)])
            self.held[who].discard(n)

    @rule(who=who)
    def die(self, who: int) -> None:
        # Killed: nobody gives anything back, and a new process takes its place.
        self.workers[who] = begun(self.store)
        self.held[who], self.under_way[who] = set(), set()

    @rule(who=who)
    def plan(self, who: int) -> None:
        attempts = Calls(self.store).attempts("answer")
        left = [n for n in range(N_WORKS) if n not in self.ended]
        self.plans[who] = [offered(n, attempts.get(digest(n), 0)) for n in left]

    @rule(who=who)
    def offer(self, who: int) -> None:
        # Others may have ended some of them since they were planned.
        self.workers[who].offer(self.plans.pop(who, []))

    @rule(seconds=st.sampled_from([1.0, 25.0, 45.0]), alive=st.sets(who))
    def pass_time(self, seconds: float, alive: set[int]) -> None:
        self.clock.time += seconds
        for who in sorted(alive):
            self.workers[who].renew()
            self.workers[who].reap()

    @invariant()
    def nothing_is_lost_or_doubled(self) -> None:
        if not hasattr(self, "store"):
            return
        w, c = schema.works.c, schema.calls.c
        with reading(self.store.engine) as connection:
            left = set(connection.execute(sa.select(w.place)).scalars())
            ends = connection.execute(sa.select(c.work).where(c.ended == 1)).scalars().all()
            owners = connection.execute(sa.select(w.worker).where(w.worker.is_not(None))).scalars()
            names = set(connection.execute(sa.select(schema.workers.c.worker)).scalars())
            reserved, n_places = connection.execute(
                sa.select(sa.func.coalesce(sa.func.sum(w.reserved), 0.0), sa.func.count(w.endpoint))
            ).one()
            spent, gone = connection.execute(
                sa.select(schema.spending.c.spent, schema.spending.c.lost)
            ).one()
            assert set(owners) <= names, "a work belongs to nobody"
        assert len(ends) == len(set(ends)), "a work ended twice"
        assert left | self.ended == set(range(N_WORKS)), "a work is lost"
        assert n_places <= ALLOWED.concurrency
        # A reply costs .25, and .5 is set aside for it: nothing that was sent is forgotten.
        n_stored = Calls(self.store).spent()[0]
        n_open = self.n_sent - n_stored
        assert spent == pytest.approx(0.25 * n_stored)
        assert gone + reserved >= 0.5 * n_open - 1e-9
        assert 0.25 * n_stored + 0.5 * n_open <= BUDGET

    def teardown(self) -> None:
        if hasattr(self, "store"):
            self.store.close()


def check_machine(make_store: Callable[[], Store], clock: Clock, examples: int) -> None:
    machine = type("Machine", (Workers,), {"open_store": staticmethod(make_store), "clock": clock})
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=examples,
            stateful_step_count=15,
            deadline=None,
            suppress_health_check=list(HealthCheck),
            phases=[Phase.explicit, Phase.generate],
            derandomize=True,
        ),
    )


@pytest.mark.slow
def test_no_order_of_events_loses_or_doubles_a_work(tmp_path: Path, clock: Clock) -> None:
    folders = iter(range(1_000_000))

    def make_store() -> Store:
        folder = tmp_path / str(next(folders))
        folder.mkdir()
        return Store.open(folder)

    check_machine(make_store, clock, examples=30)
