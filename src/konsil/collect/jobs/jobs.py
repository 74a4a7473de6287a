"""The calls still to make for one system or judge.

They are planned before the first call; each request is built again when its turn comes.
"""

from __future__ import annotations

import functools
from array import array
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from urllib.parse import urlsplit

from konsil.collect.fake.fake import FakeProvider, script_of
from konsil.collect.providers.local_scheme import LOCAL_SCHEME
from konsil.collect.providers.opening import opened
from konsil.collect.providers.provider import Provider, Reply, Request, request_key, work_key
from konsil.collect.running.budget import Meter
from konsil.collect.running.hopeless import Streaks
from konsil.collect.running.lanes import Lane
from konsil.collect.running.limits import Limiter, Limits
from konsil.collect.running.prices import (
    FREE,
    Price,
    is_bounded,
    listed,
    most_read,
    most_written,
    tokens_of,
)
from konsil.collect.running.works import Reader, Work
from konsil.errors import CollectError
from konsil.records import CallKind
from konsil.store.calls.calls import Calls, Sizes
from konsil.study.sections.calling import FAKE, Endpoint, Settings, split_model

_LOOPBACK = {"127.0.0.1", "localhost", "::1"}


@dataclass(frozen=True, slots=True)
class Job:
    """All that one system is to answer, one judge to rate, or a model to do before the study."""

    kind: CallKind
    """Answers, ratings or what is prepared."""
    callee: str
    """The system, the judge, or the step of the preparation."""
    model: str
    """ENDPOINT:NAME."""
    endpoint: Endpoint
    """Where it is served."""
    settings: Settings
    """How it is asked."""
    subjects: Sequence[str]
    """Ids of the items or tasks, in the order in which they are asked."""
    request: Callable[[str], Request]
    """Subject -> what is asked."""
    read: Callable[[str], Reader]
    """Subject -> whether a reply can be read."""
    record: Callable[[str], str]
    """Subject -> the id of the record that a reply becomes."""

    def price(self) -> Price | None:
        """The price of its tokens: the study's, nothing on this machine, or the list's."""
        if self.settings.price_in is not None and self.settings.price_out is not None:
            return Price(self.settings.price_in, self.settings.price_out)
        if self.endpoint.id == FAKE or urlsplit(self.endpoint.url).hostname in _LOOPBACK:
            return FREE
        return listed(split_model(self.model)[1])

    def identity(self, subject: str) -> str:
        """The digest of the work on a subject."""
        return self.identify(subject, self.request(subject))[0]

    def identify(self, subject: str, request: Request) -> tuple[str, str]:
        """The digest of the work on a subject, and that of what is asked."""
        key = request_key(place(self.endpoint), request)
        return work_key(self.kind, self.callee, subject, key), key

    def work(self, n: int, attempts: int = 0) -> Work:
        """The work on the n-th subject."""
        subject = self.subjects[n]
        request = self.request(subject)
        identity, key = self.identify(subject, request)
        read, thoughts = self.read(subject), self.settings.thoughts
        return Work(
            identity, self.kind, self.callee, subject, key, request, read, attempts, thoughts
        )


@dataclass(slots=True)
class Todo:
    """What of a job is left to do, and what that may cost."""

    job: Job
    """The job."""
    pending: array[int] = field(default_factory=lambda: array("l"))
    """Places of the subjects that are left."""
    n_completed: int = 0
    """Subjects that are done."""
    tokens_read: int = 0
    """Estimated tokens of what is left to ask."""
    tokens_written: int = 0
    """The most tokens that the replies may have where there is a cap; else what they will probably
    have."""
    most_read: int = 0
    """The most tokens that what is left to ask can have."""
    is_taught: bool = False
    """Whether replies have come before, so that what the endpoint adds to a request is known."""
    has_passed: bool = False
    """Whether replies had more tokens than request and cap allow, or the endpoint did not take the
    cap."""

    @property
    def is_capped(self) -> bool:
        """Whether a cap is sent, so that the cost has a bound."""
        return is_bounded(self.job.settings)

    def cost(self) -> float | None:
        """What it costs in US dollars at most, without a cap probably.

        None where no price is known.
        """
        price = self.job.price()
        read = self.most_read if self.is_capped else self.tokens_read
        return None if price is None else price.of(read, self.tokens_written)

    def learn(self, sizes: Sizes) -> None:
        """Estimate by the replies that came, where there are any."""
        if not sizes.calls:
            return
        n, self.is_taught = len(self.pending), True
        self.tokens_read = round(n * sizes.read)
        has_passed = self.tokens_read > self.most_read or n * sizes.longest > self.tokens_written
        self.has_passed = self.is_capped and (has_passed or not sizes.is_capped)
        self.most_read = max(self.most_read, self.tokens_read)
        self.tokens_written = (
            max(self.tokens_written, n * sizes.longest)
            if self.is_capped
            else round(n * sizes.written)
        )


@functools.cache
def place(endpoint: Endpoint) -> str:
    """The endpoint as a part of keys: a server on this machine may come back on another port.

    >>> place(Endpoint("local", "http://127.0.0.1:8080/v1"))
    'local http://127.0.0.1/v1'
    """
    parts = urlsplit(endpoint.url or f"vendor://{endpoint.vendor}")
    host = parts.hostname if parts.hostname in _LOOPBACK else parts.netloc
    name = f"{endpoint.id} {endpoint.vendor}".rstrip()
    return f"{name} {parts.scheme}://{host}{parts.path.rstrip('/')}"


def endpoint_of(model: str, endpoints: Iterable[Endpoint]) -> Endpoint:
    """Find the endpoint of a model; the protocol has been checked."""
    name = split_model(model)[0]
    if name == FAKE:
        return Endpoint(FAKE, FAKE)
    stated = next((e for e in endpoints if e.id == name), None)
    if stated is not None:
        return stated
    from konsil.collect.local.local import local_endpoint

    return local_endpoint(split_model(model)[1])


def sampling(job_settings: Settings) -> dict[str, object]:
    """Settings as the fields of a request."""
    names = ("temperature", "top_p", "max_tokens", "seed", "logprobs", "tools", "options")
    return {name: getattr(job_settings, name) for name in names}


def plan(
    jobs: Sequence[Job], calls: Calls, *, again: Collection[str] = (), limit: int | None = None
) -> list[Todo]:
    """Find out what is left: one look at all calls, then a key a subject.

    `again` names outcomes whose works are done anew; `limit` is how many works are done at most.
    """
    if not jobs:
        return []
    kind = jobs[0].kind
    completed = {bytes.fromhex(work) for work, _, _ in calls.ended(kind, but=again)}
    ever = {bytes.fromhex(work) for work, _, _ in calls.ended(kind)} if again else completed
    stored: set[str] | None = None
    todos = []
    room = limit
    for job in jobs:
        todo = Todo(job)
        foreign: list[str] = []
        for n, subject in enumerate(job.subjects):
            if room is not None and room <= 0:
                break
            request = job.request(subject)
            identity = bytes.fromhex(job.identify(subject, request)[0])
            if identity in completed:
                todo.n_completed += 1
                continue
            if (
                stored is None
            ):  # looked up only where something is left: where all is done, nobody asks
                stored = _stored_records(kind, calls)
            if job.record(subject) in stored:
                if identity in ever:  # other votes have decided it: what is held is never replaced
                    todo.n_completed += 1
                else:
                    foreign.append(subject)
            else:
                todo.pending.append(n)
                todo.tokens_read += tokens_of(request)
                todo.most_read += most_read(request)
                todo.tokens_written += most_written(request)
                room = room - 1 if room is not None else None
        if foreign:
            _refuse_changed_requests(job, foreign, calls)
            todo.n_completed += len(foreign)
        if todo.pending:
            todo.learn(calls.sizes(kind, job.callee, split_model(job.model)[1]))
        todos.append(todo)
    return todos


def _stored_records(kind: CallKind, calls: Calls) -> set[str]:
    """The records of this kind that are there.

    What a model says before the study is none, and may be asked anew.
    """
    if kind == "prepare":
        return set()
    return set(calls.answered() if kind == "answer" else calls.rated())


def _refuse_changed_requests(job: Job, foreign: Sequence[str], calls: Calls) -> None:
    """What was imported is left alone.

    What was asked in other words must not be mixed with what would be now.
    """
    earlier_subjects = {
        subject for _, actor, subject in calls.ended(job.kind) if actor == job.callee
    }
    mixed = sum(subject in earlier_subjects for subject in foreign)
    if mixed:
        noun = "answers" if job.kind == "answer" else "ratings"
        raise CollectError(
            f"{job.callee}: {mixed:,} {noun} were given under another model, prompt or setting;"
            " what is kept is never replaced: state the earlier settings again, or give the new"
            " ones an identifier of their own"
        )


def lanes(todos: Sequence[Todo], calls: Calls, fake_answers: dict[str, str]) -> list[Lane]:
    """One lane for each model of an endpoint, its jobs in order.

    `fake_answers` are replies that fake models may know.

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
    return [
        lane for group in grouped.values() for lane in _lanes(group, attempts, fake_answers, calls)
    ]


def _lanes(
    group: Sequence[Todo], attempts: dict[str, int], fake_answers: dict[str, str], calls: Calls
) -> list[Lane]:
    endpoint = group[0].job.endpoint
    prices = {split_model(t.job.model)[1]: t.job.price() for t in group}
    limits = Limits(
        endpoint.concurrency,
        endpoint.requests_per_minute,
        endpoint.tokens_per_minute,
        endpoint.seconds,
        endpoint.tries,
        endpoint.patience,
    )
    meters: dict[str, Meter] = {}
    for job in {t.job.callee: t.job for t in group}.values():
        name = split_model(job.model)[1]
        sizes = calls.sizes(job.kind, job.callee, name)
        meter = meters.setdefault(name, Meter())
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
        limits,
        prices.get,
        address=endpoint.url or f"of the vendor {endpoint.vendor!r}",
        streaks=Streaks(
            endpoint.stop_after, {actor for actor, before in past.items() if before.is_usable}
        ),
        heard={actor for actor, before in past.items() if before.has_replied},
        stopped=stopped,
        meters=meters,
    )
    models: dict[str, list[Todo]] = {}
    for todo in group:
        models.setdefault(todo.job.model, []).append(todo)
    if len(models) < 2 or endpoint.url.startswith(LOCAL_SCHEME):
        return [lane]
    gate = Limiter(limits)
    return [
        replace(lane, works=_works(some, attempts, stopped), doubtful=deque(), gate=gate)
        for some in models.values()
    ]


def _works(
    group: Sequence[Todo], attempts: dict[str, int], stopped: Collection[str]
) -> Iterator[Work]:
    for todo in group:
        for n in todo.pending:
            if (
                todo.job.callee in stopped
            ):  # no request is written for a model that is called no more
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
