"""When a run cannot succeed: many works of one model ended in the same unusable way.

A sentence says what the user should check.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from konsil.collect.providers.failures import of_endpoint
from konsil.collect.providers.provider import Request
from konsil.errors import option
from konsil.errors.message import message
from konsil.records import Outcome
from konsil.store.calls.calls import READABLE

STOP_AFTER = 20
"""Works of one model that end alike, one after another and before any usable one, before it is
called no more."""


@dataclass(frozen=True, slots=True)
class _Clue:
    """What is known of the last request of a model that is called no more."""

    model: str
    cap: str
    endpoint: str
    address: str
    error: str

    def look(self, outcome: Outcome) -> str:
        """What follows "20 consecutive requests of 'x'", with what the user should check."""
        match outcome:
            case "gave up":
                return message(
                    "got no reply, last error: {error}; check the address {address}, its server and"
                    " the network, and repeat these with {again}",
                    message_id="calls.look_gave_up",
                    error=self.error,
                    address=self.address
                    or message("of the endpoint", message_id="calls.of_the_endpoint"),
                    again=option("again", "gave up", several=True),
                )
            case "truncated":
                return message(
                    "were truncated{cap}; raise max_tokens in its settings (reasoning tokens count"
                    " towards it), and repeat these under a new id",
                    message_id="calls.look_truncated",
                    cap=self.cap,
                )
            case "empty":
                return message(
                    "had no text; check max_tokens, which reasoning may have used up, and whether"
                    " {model!r} is a chat model",
                    message_id="calls.look_empty",
                    model=self.model,
                )
            case "refused":
                return message(
                    "were refused by the model; check its prompt, or choose another model",
                    message_id="calls.look_refused",
                )
            case "filtered":
                return message(
                    "were withheld by the endpoint; check its content filter and the permissions of"
                    " the key of {endpoint!r}",
                    message_id="calls.look_filtered",
                    endpoint=self.endpoint,
                )
            case "http error":
                return message(
                    "were not accepted, last error: {error}; check the settings and the limits of"
                    " {model!r}",
                    message_id="calls.look_http",
                    error=self.error,
                    model=self.model,
                )
        return self._look_at_form(outcome)

    def _look_at_form(self, outcome: Outcome) -> str:
        match outcome:
            case "not json":
                return message(
                    "contained no JSON; check whether {model!r} can follow a form, and whether"
                    " max_tokens is large enough",
                    message_id="calls.look_json",
                    model=self.model,
                )
            case "off schema":
                return message(
                    "did not have the requested form; check whether {model!r} can follow the"
                    " instrument",
                    message_id="calls.look_schema",
                    model=self.model,
                )
            case "ended otherwise":
                return message(
                    "ended abnormally ({error}); check the settings and the tools of {model!r}",
                    message_id="calls.look_ended",
                    error=self.error,
                    model=self.model,
                )
        return message("ended as {outcome!r}", message_id="calls.look_other", outcome=outcome)


@dataclass(slots=True)
class Streaks:
    """The ends of each model's works in a row."""

    limit: int = STOP_AFTER
    """0: nothing stops a model."""
    usable: set[str] = field(default_factory=set)
    """Who has ever given a usable reply; then only an endpoint that is silent stops them."""
    _rows: dict[str, tuple[Outcome, int]] = field(default_factory=dict)

    def is_hopeless(self, actor: str, outcome: Outcome) -> bool:
        """Take in how a work ended; say whether so many ended alike that the next ones will."""
        if outcome in READABLE:
            self.usable.add(actor)
            self._rows.pop(actor, None)
            return False
        last, n = self._rows.get(actor, (None, 0))
        n = n + 1 if last == outcome else 1
        self._rows[actor] = (outcome, n)
        # What some items do to a model that answers others is not hopeless: items may stand in
        # groups.
        counts = outcome == "gave up" or actor not in self.usable
        return bool(self.limit) and counts and n >= self.limit

    def sentence(
        self, actor: str, request: Request, *, endpoint: str, address: str, error: str
    ) -> str:
        """Why a model is called no more, and what to look at."""
        outcome, n = self._rows[actor]
        cap = (
            message(" at max_tokens = {most}", message_id="calls.at_most", most=request.max_tokens)
            if request.max_tokens is not None
            else ""
        )
        clue = _Clue(request.model, cap, endpoint, address, error)
        fact = message(
            "{n:,} consecutive requests of {actor!r} {look}",
            message_id="calls.hopeless",
            n=n,
            actor=actor,
            look=clue.look(outcome),
        )
        return of_endpoint(endpoint, fact)
