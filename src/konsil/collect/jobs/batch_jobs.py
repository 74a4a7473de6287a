"""The jobs of a run as the works of batches: one lane for each system or judge."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from konsil.collect.batches.batch_lanes import BatchLane, BatchOptions
from konsil.collect.batches.batch_run import BatchRun
from konsil.collect.batches.opening import opened
from konsil.collect.jobs.jobs import Job, Todo
from konsil.collect.running.budget import Budget, Meter
from konsil.collect.running.display import progress_shown
from konsil.collect.running.hopeless import Streaks
from konsil.collect.running.lanes import Progress
from konsil.collect.running.works import Work
from konsil.store.calls.batches import Batches, BatchWork
from konsil.store.calls.calls import Calls
from konsil.study.sections.calling import split_model


@dataclass(slots=True)
class _Index:
    """The works of one callee by what is stored of a request: its subject and its digest."""

    jobs: Sequence[Job]
    _places: list[dict[str, int]] = field(default_factory=list)

    def work_of(self, entry: BatchWork) -> Work | None:
        if not self._places:
            self._places = [{s: n for n, s in enumerate(job.subjects)} for job in self.jobs]
        for job, places in zip(self.jobs, self._places, strict=True):
            n = places.get(entry.subject)
            if n is not None and (work := job.work(n, entry.attempt)).id == entry.work:
                return work
        return None


async def run_batches(
    todos: Sequence[Todo],
    calls: Calls,
    *,
    budget: Budget,
    progress: Progress,
    options: BatchOptions,
    settle: Callable[[], None],
    description: str,
) -> None:
    """Do what is left of the jobs by batches, those of earlier runs first."""
    run = BatchRun(
        Batches(calls.store),
        calls.add,
        budget=budget,
        progress=progress,
        options=options,
        settle=settle,
    )
    async with progress_shown(progress, budget, description):
        await run.run(_lanes(todos, calls))


def _lanes(todos: Sequence[Todo], calls: Calls) -> list[BatchLane]:
    if not todos:
        return []
    attempts = calls.attempts(todos[0].job.kind)
    by_callee: dict[str, list[Todo]] = {}
    for todo in todos:
        by_callee.setdefault(todo.job.callee, []).append(todo)
    return [
        _lane(group, attempts, calls)
        for group in by_callee.values()
        if any(todo.pending or todo.n_under_way for todo in group) or _has_batches(group, calls)
    ]


def _has_batches(group: Sequence[Todo], calls: Calls) -> bool:
    """Whether batches of a callee are under way, with requests of other settings it may be."""
    job = group[0].job
    return any(record.who == job.callee for record in Batches(calls.store).unfinished(job.kind))


def _lane(group: Sequence[Todo], attempts: dict[str, int], calls: Calls) -> BatchLane:
    job = group[0].job
    endpoint, name = job.endpoint, split_model(job.model)[1]
    sizes, before = calls.sizes(job.kind, job.callee, name), calls.heard(job.kind, job.callee, name)
    meter = Meter(
        is_taught=bool(sizes.calls),
        dearest=sizes.dearest,
        longest=sizes.longest,
        is_bounded=not any(todo.has_passed for todo in group),
    )
    return BatchLane(
        job.kind,
        job.callee,
        endpoint.id,
        name,
        opened(endpoint),
        _works(group, attempts),
        _Index([todo.job for todo in group]).work_of,
        job.price(),
        meter=meter,
        streaks=Streaks(endpoint.stop_after, {job.callee} if before.is_usable else set()),
        address=endpoint.url or f"of the vendor {endpoint.vendor!r}",
        tries=endpoint.tries,
        has_replied=before.has_replied,
    )


def _works(group: Sequence[Todo], attempts: dict[str, int]) -> Iterator[Work]:
    for todo in group:
        for n in todo.pending:
            work = todo.job.work(n)
            n_attempts = attempts.get(work.id, 0)
            yield todo.job.work(n, n_attempts) if n_attempts else work
