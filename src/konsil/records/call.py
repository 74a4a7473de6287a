"""One attempt to get a reply from a model, whatever came of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from konsil.records.nouns import Outcome

CallKind = Literal["answer", "judge", "prepare"]


@dataclass(frozen=True, slots=True)
class Call:
    """One call: the request, the model, the parameters and the response."""

    work: str
    """What was to be done: a digest of kind, who, subject and the request's key. The same work is
    done once."""
    attempt: int
    """The attempt's number within its work, from 1."""
    kind: CallKind
    """A system's answer to an item, a judge's ratings for a task, or a model's help before the
    study."""
    who: str
    """The system's or the judge's id, or the step of the preparation."""
    subject: str
    """The id of the item or the task, or of what else is prepared."""
    key: str
    """A digest of everything that can change the reply."""
    endpoint: str
    """The endpoint's name in the protocol."""
    model: str
    """The model asked for."""
    outcome: Outcome
    """How the attempt ended."""
    ended: int
    """1 where the attempt ended its work, 0 where another attempt followed or was to follow."""
    status: int
    """The HTTP status; 0 where there was none."""
    asked: Mapping[str, object] = field(default_factory=dict)
    """Parameters as the protocol asked for them."""
    sent: Mapping[str, object] = field(default_factory=dict)
    """Parameters as they were sent; the endpoint refuses the others."""
    echoed: str = ""
    """The model that the reply says it is from."""
    usage: Mapping[str, object] = field(default_factory=dict)
    """Tokens read and written, as the reply counts them."""
    cost: float | None = None
    """The price in US dollars by the run's price list; None where none is known."""
    seconds: float = 0.0
    """From sending the request to the end of the reply."""
    reply: Mapping[str, object] = field(default_factory=dict)
    """What was read from the body: text, reasoning, citations, why it ended, log-probabilities."""
    raw: str = ""
    """The reply's body as received."""
    at: str = ""
    """When it ended, ISO 8601 in UTC."""


RENAMED: Mapping[str, str] = {"max_tokens": "max_completion_tokens"}
"""Parameters that newer models take under another name: the same one, asked for and sent."""


@dataclass(frozen=True, slots=True)
class Callee:
    """A model as it was called, over all its calls that ended readable."""

    kind: CallKind
    """Whether it answered, judged or helped before the study."""
    who: str
    """The system's or the judge's id, or the step of the preparation."""
    model: str
    """The model asked for, ENDPOINT:NAME."""
    calls: int
    """How many calls these are."""
    echoed: tuple[str, ...] = ()
    """What the replies say that they are from."""
    asked: Mapping[str, tuple[object, ...]] = field(default_factory=dict)
    """Parameter -> the values that the protocol asked for; several where votes have seeds of their
    own."""
    without: Mapping[str, int] = field(default_factory=dict)
    """Parameter -> calls that were made without it, since the endpoint does not take it."""
    first: str = ""
    """The day of the first of these calls, ISO 8601; empty: not known."""
    last: str = ""
    """The day of the last of them."""
    votes: int = 1
    """How often a judge was asked for each task."""
    both_orders: bool = False
    """Whether a judge saw pairs in both orders."""
    tie: bool = False
    """Whether what contradicts itself became a tie."""
    combine: str = "majority"
    """What a judge's votes on ordered labels come to: majority, median or expectation."""
