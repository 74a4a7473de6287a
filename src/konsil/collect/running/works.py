"""What is to be done, and one attempt at it, which becomes the record of a call."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache

from konsil.collect.providers.provider import CallError, Reply, Request
from konsil.records import Call, CallKind, Outcome
from konsil.records.digits import stamp

Reader = Callable[[str], Outcome]
"""Says of a reply's text whether it can be read: ok, repaired, not json, off schema, empty or
refused."""


@dataclass(frozen=True, slots=True)
class Work:
    """One unit of work: an answer to an item, ratings for a task, or a step before the study."""

    id: str
    """Its digest (`work_key`)."""
    kind: CallKind
    """What is made of the reply."""
    callee: str
    """The system or the judge."""
    subject: str
    """The item or the task."""
    key: str
    """The request's key."""
    request: Request
    """What is asked."""
    read: Reader
    """Whether the reply can be read."""
    attempts: int = 0
    """Attempts of earlier runs."""
    thoughts: tuple[tuple[str, str], ...] = ()
    """Marks around the model's thoughts, beside those that konsil knows."""


@dataclass(slots=True)
class CallAttempt:
    """One attempt and what came of it; it becomes a call once it is known how it counts."""

    endpoint: str
    work: Work
    request: Request
    attempt: int
    reply: Reply | None
    error: CallError
    """Why there is no reply."""
    began: float
    """When its turn began, by the limiter's clock."""
    seconds: float
    cost: float | None
    at: str

    def call(self, outcome: Outcome = "http error", *, ended: bool = False) -> Call:
        """The record of it."""
        work, request, reply = self.work, self.request, self.reply
        parameters = request.requested_parameters()
        if reply is None:
            return Call(
                work.id,
                self.attempt,
                work.kind,
                work.callee,
                work.subject,
                work.key,
                self.endpoint,
                request.model,
                outcome,
                int(ended),
                self.error.status,
                parameters,
                cost=self.cost,
                seconds=self.seconds,
                raw=self.error.raw or str(self.error),
                at=self.at,
            )
        return Call(
            work.id,
            self.attempt,
            work.kind,
            work.callee,
            work.subject,
            work.key,
            self.endpoint,
            request.model,
            outcome,
            int(ended),
            reply.status,
            parameters,
            reply.sent,
            reply.model,
            reply.usage,
            self.cost,
            self.seconds,
            stored_reply(reply),
            reply.raw,
            self.at,
        )


def stored_reply(reply: Reply) -> dict[str, object]:
    """What is kept of a reply as structure, beside its body; what is empty is left out."""
    structure: dict[str, object] = {"text": reply.text, "finish": reply.finish}
    if reply.reasoning:
        structure["reasoning"] = reply.reasoning
    if reply.citations:
        structure["citations"] = [{"title": c.title, "url": c.url} for c in reply.citations]
    if reply.logprobs:
        structure["logprobs"] = [dict(t) for t in reply.logprobs]
    return structure


def now() -> str:
    """The time, ISO 8601 in UTC to the second."""
    return _written(int(time.time()))


@lru_cache(maxsize=1)  # thousands of calls end in one second
def _written(second: int) -> str:
    return stamp(datetime.fromtimestamp(second, UTC))
