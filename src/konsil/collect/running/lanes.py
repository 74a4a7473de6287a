"""The parts of a run: the works of one endpoint, one work under way, and the progress."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Literal, Protocol

from konsil.collect.providers.provider import Provider, Request
from konsil.collect.running.budget import Meter
from konsil.collect.running.hopeless import Streaks
from konsil.collect.running.limits import Limiter
from konsil.collect.running.prices import Price
from konsil.collect.running.works import Work
from konsil.study.sections.calling import Endpoint


class Share(Protocol):
    """Where a lane meets those of other workers; a process that works alone has none."""

    async def take(self) -> Work | None:
        """The next work, or None where none is left."""

    def leave(self, work: Work, *, is_ended: bool) -> None:
        """Be done with a work; where it has not ended, it goes back."""

    def close(self) -> None:
        """Give back what was taken and not begun."""

    async def reserve(
        self, work: Work, *, tokens: int, dollars: float, is_capped: bool
    ) -> Literal["go", "no money", "lost"]:
        """Wait until a call may be sent; lost: other workers have the work."""

    def correct(self, expected: int, counted: int) -> None:
        """Count the tokens that a call really had."""

    def pause(self, seconds: float) -> None:
        """Note that the endpoint asks for patience."""


@dataclass(slots=True)
class Lane:
    """The works of one endpoint in their order; of one of its models where it has several."""

    name: str
    """The endpoint's name in the protocol."""
    provider: Provider
    """Who completes."""
    works: Iterator[Work]
    """What is to be done; drawn from only when a turn is free, so that a million works need no
    memory."""
    limits: Endpoint = field(default_factory=lambda: Endpoint(""))
    """How much may be asked at once."""
    prices: Callable[[str], Price | None] = lambda _model: None
    """Model's name -> its price; None where it is not known."""
    address: str = ""
    """Where it is served, for a sentence that says where to look."""
    streaks: Streaks = field(default_factory=Streaks)
    """How the works of each model end in a row."""
    refused: Counter[str] = field(default_factory=Counter)
    """Who -> requests refused before the first reply."""
    heard: set[str] = field(default_factory=set)
    """Who has ever replied, in this run or an earlier one."""
    stopped: set[str] = field(default_factory=set)
    """Who is called no more in this run."""
    is_closed: bool = False
    """Whether nobody is called any more: the account is at fault."""
    doubtful: deque[Work] = field(default_factory=deque)
    """Works that were forbidden before any reply: a matter of the key, or of these items. They come
    last."""
    meters: dict[str, Meter] = field(default_factory=dict)
    """Model -> what its calls were like."""
    gate: Limiter | None = None
    """The endpoint's own turnstile, where other lanes go through it, too."""
    callees: tuple[str, ...] = ()
    """The systems or judges whose works these are."""
    share: Share | None = None
    """Where works, limits and budget are shared with other workers; `works` is then empty."""

    def meter(self, model: str) -> Meter:
        """The meter of a model."""
        return self.meters.setdefault(model, Meter())


@dataclass(slots=True)
class Progress:
    """What a run has done so far; a display reads it, a summary tells it."""

    total: int = 0
    """Works to do."""
    outcomes: Counter[str] = field(default_factory=Counter)
    """How the works that ended did end."""
    elsewhere: int = 0
    """Works that other workers have ended meanwhile."""
    calls: int = 0
    """Attempts."""
    tokens_read: int = 0
    """As the endpoints count them."""
    tokens_written: int = 0
    """As the endpoints count them."""
    gave_up: dict[str, str] = field(default_factory=dict)
    """Endpoint -> the last error of a work that was given up there."""
    stopped: str = ""
    """Why it stopped before its end, as a sentence; empty where it did not."""
    is_interrupted: bool = False
    """Whether the user stopped it."""
    hopeless: dict[str, str] = field(default_factory=dict)
    """Who is called no more -> why, as a sentence that says what to look at."""
    batches: int = 0
    """Batches that are under way at the vendors when the run ends."""
    in_batches: int = 0
    """Requests in them."""
    waiting: int = 0
    """Those of them that count among the works to do."""
    expired: int = 0
    """Requests that their vendor did not answer in time."""

    @property
    def ended(self) -> int:
        """Works that have ended."""
        return self.outcomes.total()

    @property
    def remaining(self) -> int:
        """Works that nobody has ended and that are not in batches under way."""
        return max(0, self.total - self.ended - self.elsewhere - self.waiting)


@dataclass(slots=True)
class Course:
    """One work on its way through its attempts."""

    work: Work
    request: Request
    """What is asked next."""
    attempt: int
    failures: int = 0
    is_ended: bool = False
    """Whether its last attempt is stored."""
    is_repeated: bool = False
    n_busy: int = 0
    """How often it was put off since the last other answer."""
    busy_since: float = 0.0
