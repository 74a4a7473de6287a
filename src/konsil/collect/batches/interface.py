"""What every vendor's batch interface can do, whatever its words for it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from konsil.collect.providers.provider import Reply, Request

Lapse = Literal["", "expired", "cancelled"]
"""Why a request of a batch was never answered; empty: it was."""

UNANSWERED = 0
"""The status of a result without a response."""


@dataclass(frozen=True, slots=True)
class Caps:
    """The largest batch that is sent."""

    requests: int
    """Requests, as the vendor limits them."""
    size: int
    """Bytes of all requests: the vendor's limit, or less where a batch has to fit into memory."""


@dataclass(frozen=True, slots=True)
class Receipt:
    """A batch that the vendor has."""

    vendor_id: str
    """The vendor's id of it."""
    expires_at: str = ""
    """When the vendor stops working on it, ISO 8601 in UTC; empty: it does not say."""


@dataclass(frozen=True, slots=True)
class Condition:
    """How far a batch is."""

    state: Literal["under way", "ended", "expired", "cancelled", "failed"]
    """`failed`: the vendor refused the batch as a whole, and answered nothing."""
    n_answered: int = 0
    """Requests that have been answered, with a reply or an error."""
    places: tuple[str, ...] = ()
    """Where the results are, in the vendor's words."""
    expires_at: str = ""
    """When the vendor stops working on it, ISO 8601 in UTC."""
    error: str = ""
    """Why it failed."""


@dataclass(frozen=True, slots=True)
class Result:
    """What became of one request of a batch."""

    token: str
    """Our id of the request within its batch."""
    status: int = 200
    """The HTTP status that a direct call would have had; UNANSWERED without a response."""
    body: str = ""
    """The body that a direct call would have had."""
    lapse: Lapse = ""
    """Why it was never answered."""


@dataclass(frozen=True, slots=True)
class Intent:
    """What is known of a batch before the vendor has an id for it."""

    id: str
    """Our own id."""
    model: str
    """What the vendor calls the model."""
    requests: int
    """How many requests it has."""
    created_at: str
    """When the intention was stored, ISO 8601 in UTC."""
    rejected: frozenset[str] = frozenset()
    """The vendor's ids of batches that are known to be others."""


class BatchInterface(Protocol):
    """One endpoint's batch interface.

    Whatever does not succeed raises a CallError, as a provider does.
    """

    @property
    def caps(self) -> Caps:
        """The largest batch that is sent."""

    @property
    def is_named(self) -> bool:
        """Whether the vendor stores our id with a batch, so that its list says which is which."""

    async def line(self, token: str, request: Request) -> bytes:
        """Write one request of a batch, its body as that of a direct call."""

    async def submit(self, intent: Intent, lines: Sequence[bytes]) -> Receipt:
        """Send a batch."""

    async def resume(self, intent: Intent) -> Receipt | None:
        """Look for a batch that may have been sent; finish sending what was begun.

        None: it was not sent.
        """

    async def condition(self, vendor_id: str) -> Condition:
        """Ask how far a batch is."""

    def results(self, condition: Condition) -> AsyncIterator[Result | None]:
        """Read the results in whatever order they come; None for a line that cannot be read."""

    async def cancel(self, vendor_id: str) -> None:
        """Ask the vendor to stop; what it has answered can be had."""

    async def reply(self, request: Request, result: Result) -> Reply:
        """Read a result as the provider reads a response, or raise its error."""

    async def close(self) -> None:
        """Close the connections."""


def token_of(batch: str, place: int) -> str:
    """Our id of a request: the batch's random id and the place in it, and nothing of the study.

    >>> token_of("3f9c2a7be01d5846aa90c7b1", 17)
    '3f9c2a7be01d5846aa90c7b1-17'
    """
    return f"{batch}-{place}"


def place_of(batch: str, token: str, n: int) -> int | None:
    """The place of a request among the n of its batch; None where the id is none of the batch's.

    >>> place_of("3f9c", "3f9c-17", 20), place_of("3f9c", "other-1", 20)
    (17, None)
    """
    begin, _, number = token.rpartition("-")
    if begin != batch or not (number.isascii() and number.isdigit()):
        return None
    place = int(number)
    return place if place < n else None
