"""The lanes of the jobs: the works of each endpoint, with its provider and its limits."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace

from konsil.collect.fake.fake import FakeProvider, script_of
from konsil.collect.jobs.jobs import Todo
from konsil.collect.providers.local_scheme import LOCAL_SCHEME
from konsil.collect.providers.opening import opened
from konsil.collect.providers.provider import Provider, Reply, Request
from konsil.collect.running.budget import Meter
from konsil.collect.running.hopeless import Streaks
from konsil.collect.running.lanes import Lane
from konsil.collect.running.limits import Limiter
from konsil.collect.running.works import Work
from konsil.collect.workers.lane_share import LaneShare
from konsil.collect.workers.worker import Worker
from konsil.store.calls.calls import Calls
from konsil.store.calls.leases import Offer
from konsil.study.sections.calling import FAKE, Endpoint, split_model

DIGEST = 16
"""Bytes of a work's digest."""


def lanes(
    todos: Sequence[Todo],
    calls: Calls,
    fake_answers: dict[str, str],
    worker: Worker | None = None,
) -> list[Lane]:
    """One lane for each model of an endpoint, its jobs in order.

    `fake_answers` are replies that fake models may know. With a worker its lanes take their works
    from those that all workers share, and the limits of an endpoint hold for all of them.

    The lanes of an endpoint share its limits, and whatever is known of it. A local endpoint has one
    lane: its models share the memory of this machine.
    """
    if not todos:
        return []
    attempts = calls.attempts(todos[0].job.kind)
    grouped: dict[str, list[Todo]] = {}
    for todo in todos:
        if todo.pending:
            grouped.setdefault(todo.job.endpoint.id, []).append(todo)
    opened_lanes = [
        lane for group in grouped.values() for lane in _lanes(group, attempts, fake_answers, calls)
    ]
    if worker is not None:
        works = shared_works(todos)
        for lane in opened_lanes:
            _share(lane, worker, grouped[lane.name], works)
    return opened_lanes


Places = dict[tuple[str, int], Todo]
"""Who, and the number of the job among theirs -> the job."""


def shared_works(todos: Sequence[Todo]) -> Places:
    """Where all workers find a work: who is called, and the number of their job."""
    works: Places = {}
    n_jobs = Counter[str]()
    for todo in todos:
        works[todo.job.callee, n_jobs[todo.job.callee]] = todo
        n_jobs[todo.job.callee] += 1
    return works


def offers(todos: Sequence[Todo], attempts: Mapping[str, int]) -> Iterator[Offer]:
    """What is left, as it is offered to all workers."""
    for (callee, number), todo in shared_works(todos).items():
        for n, place in enumerate(todo.pending):
            work = todo.digests[n * DIGEST : (n + 1) * DIGEST].hex()
            yield Offer(work, callee, number, place, attempts.get(work, 0))


def _share(lane: Lane, worker: Worker, group: Sequence[Todo], works: Places) -> None:
    def build(offer: Offer) -> Work | None:
        todo = works.get((offer.callee, offer.job))
        if todo is None or offer.place >= len(todo.job.subjects):
            return None
        work = todo.job.work(offer.place, offer.attempts)
        # Another worker may have planned with another protocol.
        return work if work.id == offer.work else None

    lane.works = iter(())
    lane.share = LaneShare(
        worker,
        group[0].job.endpoint,
        lane.callees,
        build,
        stopped=lane.stopped,
        doubtful=lane.doubtful,
    )
    # The limits a minute are kept in the database, for all workers together.
    lane.limits = replace(lane.limits, requests_per_minute=None, tokens_per_minute=None)
    if lane.gate is not None:
        lane.gate.limits = lane.limits


def _lanes(
    group: Sequence[Todo], attempts: dict[str, int], fake_answers: dict[str, str], calls: Calls
) -> list[Lane]:
    endpoint = group[0].job.endpoint
    prices = {split_model(t.job.model)[1]: t.job.price() for t in group}
    meters: dict[str, Meter] = {}
    for job in {t.job.callee: t.job for t in group}.values():
        name = split_model(job.model)[1]
        sizes = calls.sizes(job.kind, job.callee, name)
        meter = meters.setdefault(name, Meter())
        # Calls of earlier runs count: only a model that was never called goes alone at first.
        meter.is_taught |= bool(sizes.calls)
        meter.dearest, meter.longest = (
            max(meter.dearest, sizes.dearest),
            max(meter.longest, sizes.longest),
        )
    for todo in group:
        meters[split_model(todo.job.model)[1]].is_bounded &= not todo.has_passed
    past = {
        t.job.callee: calls.heard(t.job.kind, t.job.callee, split_model(t.job.model)[1])
        for t in group
    }
    stopped: set[str] = set()
    lane = Lane(
        endpoint.id,
        provider_of(endpoint, fake_answers),
        _works(group, attempts, stopped),
        endpoint,
        prices.get,
        address=endpoint.url or f"of the vendor {endpoint.vendor!r}",
        streaks=Streaks(
            endpoint.stop_after, {actor for actor, before in past.items() if before.is_usable}
        ),
        heard={actor for actor, before in past.items() if before.has_replied},
        stopped=stopped,
        meters=meters,
        callees=tuple(past),
    )
    models: dict[str, list[Todo]] = {}
    for todo in group:
        models.setdefault(todo.job.model, []).append(todo)
    # The local server takes one request at a time, whatever the model.
    if len(models) < 2 or endpoint.url.startswith(LOCAL_SCHEME):
        return [lane]
    # One gate for all of them: each lane by itself would use up what the endpoint allows.
    gate = Limiter(endpoint)
    return [
        replace(
            lane,
            works=_works(some, attempts, stopped),
            doubtful=deque(),
            gate=gate,
            callees=tuple(dict.fromkeys(t.job.callee for t in some)),
        )
        for some in models.values()
    ]


def _works(
    group: Sequence[Todo], attempts: dict[str, int], stopped: Collection[str]
) -> Iterator[Work]:
    for todo in group:
        for n in todo.pending:
            # No request is written for a model that is called no more.
            if todo.job.callee in stopped:
                break
            work = todo.job.work(n)
            before = attempts.get(work.id, 0)
            yield todo.job.work(n, before) if before else work


def provider_of(endpoint: Endpoint, fake_answers: dict[str, str]) -> Provider:
    """Open the provider of an endpoint."""
    if endpoint.id == FAKE:
        return _FakeModels(fake_answers)
    if endpoint.url.startswith(LOCAL_SCHEME):
        from konsil.collect.local.local import LocalModels

        return LocalModels()
    return opened(endpoint)


class _FakeModels:
    """The fake endpoint: a model's name says what it does."""

    def __init__(self, fake_answers: dict[str, str]) -> None:
        self._fake_answers = fake_answers
        self._models: dict[str, FakeProvider] = {}

    async def close(self) -> None:
        """Nothing is open."""

    async def complete(self, request: Request) -> Reply:
        """Reply as the model of this name does."""
        if request.model not in self._models:
            self._models[request.model] = FakeProvider(script_of(request.model, self._fake_answers))
        return await self._models[request.model].complete(request)
