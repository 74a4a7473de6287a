"""One run of collecting, from what is left to what became of it.

The same for systems and judges.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, TypeVar

from konsil.collect.batches.batch_lanes import BatchOptions
from konsil.collect.batches.opening import require_batches
from konsil.collect.jobs.batch_jobs import run_batches
from konsil.collect.jobs.job_lanes import lanes, offers
from konsil.collect.jobs.jobs import Job, Todo, plan
from konsil.collect.running.budget import Budget
from konsil.collect.running.display import progress_shown
from konsil.collect.running.interrupting import interruptible
from konsil.collect.running.lanes import Lane, Progress
from konsil.collect.running.prices import BATCH_SHARE
from konsil.collect.running.runner import Runner
from konsil.collect.running.works import now
from konsil.collect.workers.worker import Worker
from konsil.errors import CollectError
from konsil.records import Call
from konsil.store import Store
from konsil.store.calls.batches import Batches
from konsil.store.calls.calls import Calls
from konsil.store.calls.leases import LEASE, Leases
from konsil.store.calls.run_lock import alone, as_worker, is_shared
from konsil.store.calls.worker_states import lost, settling

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Options:
    """What the user can say about a run; none of it changes what a call gives."""

    only: tuple[str, ...] = ()
    """Systems or judges; empty: all that have a model."""
    limit: int | None = None
    """At most so many works."""
    budget: float | None = None
    """US dollars that all calls of the study together may cost."""
    again: tuple[str, ...] = ()
    """Outcomes whose works are done anew."""
    dry_run: bool = False
    """Only say what would be done."""
    back_off: float = 0.5
    """Seconds of the first pause after a failure."""
    batch: BatchOptions | None = None
    """By the vendors' batch interfaces; None: by one request each."""
    lease: float = LEASE
    """Seconds after which other workers take over from one that gives no sign of life."""


@dataclass(frozen=True, slots=True)
class Collected:
    """What a run did."""

    todos: tuple[Todo, ...]
    """What was left to do when it began."""
    progress: Progress
    """What became of it."""
    n_records: int = 0
    """Records made of replies."""
    spent: float = 0.0
    """US dollars that all calls of the study together cost so far, as far as prices are known."""


def collect(
    jobs: Sequence[Job],
    store: Store,
    settle: Callable[[], int],
    options: Options,
    *,
    description: str,
    fake_answers: dict[str, str] | None = None,
) -> Collected:
    """Do what is left of the jobs, and make records of the replies.

    `settle` makes them and counts them.

    Replies of an earlier run that was killed before it made its records are settled first. However
    this run ends, what has come back is kept, and made into records where the process lives to do
    so.
    """
    if options.batch is not None:
        for job in jobs:
            require_batches(job.endpoint)
        jobs = [replace(job, price_share=BATCH_SHARE) for job in jobs]
    if options.dry_run:
        return _pending_works(jobs, store, options)
    command = f"konsil {jobs[0].kind}" if jobs else "konsil"
    # What follows the calls of a preparation is done by one process.
    is_direct = options.batch is None
    if is_shared(store) and is_direct and jobs and jobs[0].kind != "prepare":
        return _as_worker(jobs, store, settle, options, command, description, fake_answers or {})
    # What two runs at once would call, both would call; and each would keep a budget without the
    # other's calls.
    with alone(store, command, now()):
        # What an earlier run stored and did not settle counts before anything is called.
        n_records = settle()
        pending = replace(_pending_works(jobs, store, options), n_records=n_records)
        if options.batch is not None and (pending.progress.total or pending.progress.batches):
            return _collected_by_batches(pending, Calls(store), settle, options, description)
        if not pending.progress.total:
            return pending
        opened = lanes(pending.todos, Calls(store), fake_answers or {})
        budget = _budget_of(pending.todos, options, pending.spent, _reserved(store))
        return _collected(pending, opened, Calls(store).add, settle, budget, options, description)


def _as_worker(
    jobs: Sequence[Job],
    store: Store,
    settle: Callable[[], int],
    options: Options,
    command: str,
    description: str,
    fake_answers: dict[str, str],
) -> Collected:
    """Collect as one of several workers that share works, limits and budget in the database."""

    def settle_in_turn() -> int:
        with settling(store):
            return settle()

    with as_worker(store, command, now()):
        n_records = settle_in_turn()
        leases = Leases(store, jobs[0].kind, seconds=options.lease)
        leases.reap()
        # Attempts are read first: what another worker ends meanwhile is recognised by more of them.
        attempts = Calls(store).attempts(jobs[0].kind)
        pending = replace(_pending_works(jobs, store, options), n_records=n_records)
        if not pending.progress.total:
            return pending
        budget = _budget_of(pending.todos, options, pending.spent, _reserved(store))
        leases.register()
        callees = {todo.job.callee for todo in pending.todos if todo.pending}
        worker = Worker(
            leases, callees, budget=budget, progress=pending.progress, limit=options.limit
        )

        def end() -> int:
            # What is left goes to the others before records are made, which can take long.
            worker.close()
            return settle_in_turn()

        try:
            leases.offer(offers(pending.todos, attempts))
            opened = lanes(pending.todos, Calls(store), fake_answers, worker)
            worker.start()
            collected = _collected(pending, opened, worker.store, end, budget, options, description)
        finally:
            worker.close()
        return replace(collected, spent=Calls(store).spent()[1] + lost(store))


def _pending_works(jobs: Sequence[Job], store: Store, options: Options) -> Collected:
    calls = Calls(store)
    todos = plan(jobs, calls, again=options.again, limit=options.limit)
    progress = Progress(total=sum(len(t.pending) for t in todos))
    if jobs:
        unfinished = Batches(store).unfinished(jobs[0].kind)
        callees = {job.callee for job in jobs}
        records = [record for record in unfinished if record.who in callees]
        progress.batches = len(records)
        progress.in_batches = sum(record.requests for record in records)
    return Collected(tuple(todos), progress, spent=calls.spent()[1] + lost(store))


def _reserved(store: Store) -> float:
    """What batches under way can cost: direct calls leave it untouched."""
    return Batches(store).reserved()


def _collected(
    pending: Collected,
    opened: Sequence[Lane],
    write: Callable[[Sequence[Call]], None],
    settle: Callable[[], int],
    budget: Budget,
    options: Options,
    description: str,
) -> Collected:
    todos, progress = pending.todos, pending.progress
    runner = Runner(write, budget=budget, progress=progress, back_off_seconds=options.back_off)
    try:
        in_a_loop(_run(runner, opened, progress, budget, description))
    # Ctrl-C cancels the run, so that it ends in order; whoever called expects the interrupt.
    except asyncio.CancelledError:
        if progress.is_interrupted:
            raise KeyboardInterrupt from None
        raise
    # After an error, too: every reply that came back becomes a record.
    finally:
        n_records = settle()
    return Collected(todos, progress, pending.n_records + n_records, budget.spent)


def _collected_by_batches(
    pending: Collected,
    calls: Calls,
    settle: Callable[[], int],
    options: Options,
    description: str,
) -> Collected:
    assert options.batch is not None
    todos, progress = pending.todos, pending.progress
    progress.total += sum(todo.n_under_way for todo in todos)
    batches = Batches(calls.store)
    kind, callees = todos[0].job.kind, {todo.job.callee for todo in todos}
    if is_shared(calls.store):
        # This run is alone: what killed workers held is free, and none takes it beside a batch.
        Leases(calls.store, kind).clear()
    # Batches of others hold their share of the budget; those of this run are counted by it.
    of_others = batches.reserved() - sum(
        record.reserved for record in batches.unfinished(kind) if record.who in callees
    )
    budget = _budget_of(todos, options, pending.spent, of_others)
    n_records = pending.n_records

    def settle_now() -> None:
        nonlocal n_records
        n_records += settle()

    try:
        in_a_loop(
            run_batches(
                todos,
                calls,
                budget=budget,
                progress=progress,
                options=options.batch,
                settle=settle_now,
                description=description,
            )
        )
    except KeyboardInterrupt:
        # The batches go on at the vendors; the summary says so.
        progress.is_interrupted, progress.stopped = True, "by Ctrl-C"
    finally:
        settle_now()
    return Collected(todos, progress, n_records, budget.spent)


def _budget_of(
    todos: Sequence[Todo], options: Options, spent: float, reserved: float = 0.0
) -> Budget:
    """The budget of a run; `reserved` is set aside for others, and none of it is spent here."""
    if options.budget is None:
        return Budget(None, spent)
    if not options.budget >= 0:
        raise CollectError(f"budget: expected 0 US dollars or more, got {options.budget:g}")
    _priced(todos)
    return Budget(options.budget - reserved, spent)


async def _run(
    runner: Runner, opened: Sequence[Lane], progress: Progress, budget: Budget, description: str
) -> None:
    async with progress_shown(progress, budget, description):
        with interruptible(runner):
            await runner.run(opened)


def _priced(todos: Sequence[Todo]) -> None:
    for todo in todos:
        if todo.pending and todo.cost() is None:
            raise CollectError(
                f"{todo.job.callee}: the price of {todo.job.model!r} is unknown, so the budget"
                " cannot be enforced; state price_in and price_out in its settings"
            )


def chunks(stream: Iterator[Call], size: int) -> Iterator[list[Call]]:
    """Cut a stream of calls into lists of at most this size.

    The store may be written to meanwhile: the stream goes on showing the moment at which it began.
    """
    while batch := list(islice(stream, size)):
        yield batch


def in_a_loop(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end, also where a notebook's own loop is running already."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    # A notebook's loop is running and cannot be entered again: a thread has one of its own.
    returned: list[T] = []
    failed: list[BaseException] = []

    def run() -> None:
        try:
            returned.append(asyncio.run(work))
        except BaseException as error:  # noqa: BLE001 - raised again where it is waited for
            failed.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    if failed:
        raise failed[0]
    return returned[0]
