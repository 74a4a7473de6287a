"""The calls still to make for one system or judge.

They are planned before the first call; each request is built again when its turn comes.
"""

from __future__ import annotations

import functools
from array import array
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from konsil.collect.providers.provider import Request, request_key, work_key
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
from konsil.store.calls.batches import Batches
from konsil.store.calls.call_counts import Sizes
from konsil.store.calls.calls import Calls
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
    price_share: float = 1.0
    """The share of the price that is billed: less than 1 in batches."""

    def price(self) -> Price | None:
        """The price of its tokens: the study's, nothing on this machine, or the list's."""
        if self.settings.price_in is not None and self.settings.price_out is not None:
            price: Price | None = Price(self.settings.price_in, self.settings.price_out)
        elif self.endpoint.id == FAKE or urlsplit(self.endpoint.url).hostname in _LOOPBACK:
            return FREE
        else:
            price = listed(split_model(self.model)[1])
        return None if price is None else price.share(self.price_share)

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
    digests: bytearray = field(default_factory=bytearray)
    """The digests of the works that are left, one after another."""
    n_completed: int = 0
    """Subjects that are done."""
    n_under_way: int = 0
    """Subjects in batches whose results are not stored yet."""
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
    under_way = Batches(calls.store).under_way(kind)
    # Bytes take half the memory of texts, and there may be a million calls.
    completed = {bytes.fromhex(work) for work, _, _ in calls.ended(kind, but=again)}
    ever = {bytes.fromhex(work) for work, _, _ in calls.ended(kind)} if again else completed
    stored: set[str] | None = None
    todos = []
    room = limit
    for job in jobs:
        todo = Todo(job)
        foreign: dict[bytes, str] = {}
        for n, subject in enumerate(job.subjects):
            if room is not None and room <= 0:
                break
            request = job.request(subject)
            identity = bytes.fromhex(job.identify(subject, request)[0])
            if identity in completed or identity in under_way:
                is_completed = identity in completed
                todo.n_completed += is_completed
                todo.n_under_way += not is_completed
                continue
            # Looked up only where something is left: where all is done, nobody asks.
            if stored is None:
                stored = _stored_records(kind, calls)
            if job.record(subject) in stored:
                if identity in ever:  # other votes have decided it: what is held is never replaced
                    todo.n_completed += 1
                else:
                    foreign[identity] = subject
            else:
                todo.pending.append(n)
                todo.digests += identity
                todo.tokens_read += tokens_of(request)
                todo.most_read += most_read(request)
                todo.tokens_written += most_written(request)
                room = room - 1 if room is not None else None
        if foreign:
            # Another worker may have ended them while this one was planning.
            now_ended = {bytes.fromhex(work) for work, _, _ in calls.ended(kind)}
            unasked = [
                subject for identity, subject in foreign.items() if identity not in now_ended
            ]
            _refuse_changed_requests(job, unasked, calls)
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
            f"{job.callee}: {mixed:,} {noun} were collected with another model, prompt or"
            " setting; stored records are never replaced: restore the earlier settings, or use"
            " a new identifier"
        )
