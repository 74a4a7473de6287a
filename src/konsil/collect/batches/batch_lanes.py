"""The parts of a run by batches: the works of one callee, the options and the pace."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from konsil.collect.batches.interface import BatchInterface
from konsil.collect.running.budget import Meter
from konsil.collect.running.hopeless import Streaks
from konsil.collect.running.prices import Price
from konsil.collect.running.works import Work
from konsil.records import CallKind
from konsil.store.calls.batches import BatchWork


@dataclass(frozen=True, slots=True)
class Pace:
    """How often a vendor is asked how far its batches are."""

    first: float = 10.0
    """Seconds before the first question."""
    longest: float = 120.0
    """Seconds between two questions, at most: each pause is half as long again as the last."""
    grace: float = 30.0
    """Seconds that a batch may need to appear in the vendor's list after it was sent."""
    back_off: float = 0.5
    """Seconds of the first pause after a failure."""


@dataclass(frozen=True, slots=True)
class BatchOptions:
    """What the user can say about batches."""

    is_waiting: bool = True
    """Whether the run waits until all batches have ended."""
    is_cancelling: bool = False
    """Whether batches under way are cancelled, and none is sent."""
    pace: Pace = Pace()
    """How often a vendor is asked."""


@dataclass(slots=True)
class BatchLane:
    """The works of one callee, which are in batches of their own."""

    kind: CallKind
    """What is made of the replies."""
    callee: str
    """The system or the judge."""
    endpoint: str
    """The endpoint's name in the protocol."""
    model: str
    """What the endpoint calls the model."""
    interface: BatchInterface
    """The endpoint's batch interface."""
    pending: Iterator[Work]
    """What is to be asked and in no batch yet."""
    work_of: Callable[[BatchWork], Work | None]
    """The work of a request that was sent; None where the protocol does not ask it any more."""
    price: Price | None = None
    """The price of its tokens in batches; None where it is not known."""
    meter: Meter = field(default_factory=Meter)
    """What its calls were like."""
    streaks: Streaks = field(default_factory=Streaks)
    """How its results end in a row."""
    address: str = ""
    """Where it is served, for a sentence that says where to look."""
    tries: int = 6
    """How often a request is sent that fails."""
    has_replied: bool = False
    """Whether it has ever replied."""
    again: list[BatchWork] = field(default_factory=list)
    """Requests for another batch, with the numbers of their last attempts."""
    refused: list[BatchWork] = field(default_factory=list)
    """Requests of batches that the vendor refused as a whole."""
    refusal: str = ""
    """Why it did."""
    account_error: str = ""
    """Why the user has to act; nothing more is sent then."""
