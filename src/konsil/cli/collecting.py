"""What 'konsil answer' and 'konsil judge' share: their options, and what they say."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, TypeVar, get_args

import click

from konsil.errors import CollectError
from konsil.records import Outcome
from konsil.records.digits import stamp

if TYPE_CHECKING:
    from konsil.collect.jobs.collection import Collected
    from konsil.collect.jobs.jobs import Todo
    from konsil.collect.running.lanes import Progress
    from konsil.store.calls.batches import BatchRecord
    from konsil.store.calls.call_counts import Ended
    from konsil.store.calls.worker_states import WorkerState

F = TypeVar("F", bound=Callable[..., Any])


def callees(noun: str) -> Callable[[F], F]:
    """Which models are called, as an option; `noun` is the word for one."""
    return click.option(
        f"--{noun}",
        "only",
        multiple=True,
        metavar="ID",
        help=f"Only this {noun}; repeatable.",
    )


def run_record(collected: Collected, dry_run: bool) -> dict[str, object]:
    """What a run did, or would do, in numbers."""
    done_before = sum(todo.n_completed for todo in collected.todos)
    if dry_run:
        return {"planned": [_planned_record(*entry) for entry in _by_callee(collected).items()]}
    progress = collected.progress
    return {
        "to_do": progress.total,
        "ended": progress.ended,
        "calls": progress.calls,
        "outcomes": dict(sorted(progress.outcomes.items(), key=_outcome_rank)),
        "done_before": done_before,
        "done_by_others": progress.elsewhere,
        "given_up": progress.gave_up,
        "dollars": collected.spent,
        "stopped": progress.stopped or None,
        "expired": progress.expired,
        "batches": progress.batches,
        "in_batches": progress.in_batches,
    }


def _planned_record(callee: str, todos: list[Todo]) -> dict[str, object]:
    costs = [todo.cost() for todo in todos]
    known_costs = [cost for cost in costs if cost is not None]
    return {
        "callee": callee,
        "to_call": sum(len(todo.pending) for todo in todos),
        "done": sum(todo.n_completed for todo in todos),
        "tokens_read": sum(todo.tokens_read for todo in todos),
        "tokens_written": sum(todo.tokens_written for todo in todos),
        "dollars": sum(known_costs) if len(known_costs) == len(costs) else None,
    }


def _by_callee(collected: Collected) -> dict[str, list[Todo]]:
    """A judge with several votes or orders has one entry for each."""
    todos_by_callee: dict[str, list[Todo]] = {}
    for todo in collected.todos:
        todos_by_callee.setdefault(todo.job.callee, []).append(todo)
    return todos_by_callee


def run_lines(collected: Collected, dry_run: bool) -> Iterator[str]:
    """What a run did, or would do, one line each."""
    if dry_run:
        yield from _planned(collected)
        return
    ended = collected.progress.outcomes
    before = sum(t.n_completed for t in collected.todos)
    if not collected.progress.total:
        yield f"no calls to make; {before:,} were done before"
    else:
        outcomes = (
            ", ".join(f"{n:,} {name}" for name, n in sorted(ended.items(), key=_outcome_rank))
            or "none"
        )
        yield f"{collected.progress.ended:,} done in {collected.progress.calls:,} calls: {outcomes}"
        if collected.progress.elsewhere:
            yield f"{collected.progress.elsewhere:,} done by other workers"
        for endpoint, error in sorted(collected.progress.gave_up.items()):
            yield f"{endpoint}: retries exhausted; last error: {error}"
        if before:
            yield f"{before:,} were done before"
    yield from _batch_lines(collected.progress)
    if collected.spent:
        yield f"spent so far: {collected.spent:,.2f} US dollars"
    if collected.progress.stopped:
        yield f"stopped: {collected.progress.stopped}; {collected.progress.remaining:,} remain"


def _batch_lines(progress: Progress) -> Iterator[str]:
    if progress.expired:
        yield (
            f"{progress.expired:,} expired without a reply; run the command again to repeat them"
        )
    if progress.batches:
        noun = "batch" if progress.batches == 1 else "batches"
        yield (
            f"{progress.batches:,} {noun} under way with {progress.in_batches:,} requests; run the"
            " command with --batch again to store their replies"
        )


def batch_line(record: BatchRecord) -> str:
    """A batch whose results are not stored yet, for the status."""
    since = record.submitted_at or record.created_at
    until = f", until {record.expires_at}" if record.expires_at else ""
    state = "perhaps sent" if record.state == "intended" else "under way"
    return (
        f"  batch of {record.requests:,} requests of {record.who} to {record.endpoint}: {state}"
        f" since {since}{until}"
    )


def error_of(collected: Collected) -> Exception | None:
    """The error of a run that must not be taken for a whole one; None where it is whole."""
    if collected.progress.hopeless:
        return CollectError(
            f"{'; '.join(collected.progress.hopeless.values())};"
            f" {collected.progress.remaining:,} remain"
        )
    return click.Abort() if collected.progress.is_interrupted else None


def _planned(collected: Collected) -> Iterator[str]:
    from konsil.collect.running.prices import price_list

    for callee, todos in _by_callee(collected).items():
        costs = [todo.cost() for todo in todos]
        known_costs = [cost for cost in costs if cost is not None]
        is_capped = all(todo.is_capped for todo in todos)
        qualifier = "at most" if is_capped else "about"
        # What an endpoint adds to every request, and bills, is known from its first reply on.
        has_bound = is_capped and all(todo.is_taught and not todo.has_passed for todo in todos)
        least = "at most" if has_bound else "estimated at"
        price = (
            "price not known"
            if len(known_costs) < len(costs)
            else f"{least} {sum(known_costs):,.2f} US dollars"
        )
        yield (
            f"{callee}: {sum(len(t.pending) for t in todos):,} to call,"
            f" {sum(t.n_completed for t in todos):,} done;"
            f" about {sum(t.tokens_read for t in todos):,} tokens read, {qualifier}"
            f" {sum(t.tokens_written for t in todos):,} written; {price}"
        )
    n_calls = sum(len(t.pending) for t in collected.todos)
    yield f"{n_calls:,} calls; list prices of {price_list()[0]}"


def _outcome_rank(pair: tuple[str, int]) -> int:
    return get_args(Outcome).index(pair[0])


_DONE = {"answer": "answers by", "judge": "ratings by", "prepare": "before the study,"}


def counted(ended: tuple[Ended, ...]) -> Iterator[str]:
    """The calls of a study by who was called and how it ended."""
    outcomes_by_callee: dict[tuple[str, str], list[tuple[str, int]]] = {}
    for entry in ended:
        outcomes_by_callee.setdefault((entry.kind, entry.who), []).append(
            (entry.outcome, entry.works)
        )
    for (kind, callee), outcomes in outcomes_by_callee.items():
        listed = ", ".join(f"{n:,} {name}" for name, n in sorted(outcomes, key=_outcome_rank))
        yield f"  {_DONE.get(kind, 'ratings by')} {callee}: {listed}"


_COLLECTING = {"answer": "konsil answer", "judge": "konsil judge"}


def worker_lines(workers: Sequence[WorkerState]) -> Iterator[str]:
    """The workers of a study: what each has taken, and until when.

    Times are those of the database's clock.
    """
    for worker in workers:
        until = stamp(datetime.fromtimestamp(int(worker.until), UTC))
        lease = (
            f"no sign of life since its lease ended at {until}; others take over"
            if worker.is_expired
            else f"lease until {until}"
        )
        works = "1 work" if worker.works == 1 else f"{worker.works:,} works"
        yield (
            f"  worker {worker.worker} ({_COLLECTING.get(worker.kind, worker.kind)}): {works}"
            f" taken, {worker.under_way:,} under way; {lease}"
        )
