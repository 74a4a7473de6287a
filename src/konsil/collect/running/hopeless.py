"""When a run cannot succeed: many works of one model ended in the same unusable way.

A sentence says what the user should check.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from konsil.collect.providers.provider import Request
from konsil.errors import option
from konsil.records import Outcome
from konsil.store.calls.calls import READABLE

STOP_AFTER = 20
"""Works of one model that end alike, one after another and before any usable one, before it is
called no more."""

_LOOK: Mapping[str, str] = {
    "gave up": (
        "got no reply, last error: {error}; check the address {address}, its server and the"
        " network, and repeat these with {again}"
    ),
    "truncated": (
        "were truncated{cap}; raise max_tokens in its settings (reasoning tokens count towards"
        " it), and repeat these under a new id"
    ),
    "empty": (
        "had no text; check max_tokens, which reasoning may have used up, and whether {model!r} is"
        " a chat model"
    ),
    "refused": "were refused by the model; check its prompt, or choose another model",
    "filtered": (
        "were withheld by the endpoint; check its content filter and the permissions of the key"
        " of {endpoint!r}"
    ),
    "http error": (
        "were not accepted, last error: {error}; check the settings and the limits of {model!r}"
    ),
    "not json": (
        "contained no JSON; check whether {model!r} can follow a form, and whether max_tokens is"
        " large enough"
    ),
    "off schema": (
        "did not have the requested form; check whether {model!r} can follow the instrument"
    ),
    "ended otherwise": (
        "ended abnormally ({error}); check the settings and the tools of {model!r}"
    ),
}
"""Outcome -> what follows "20 consecutive requests of 'x'"."""


@dataclass(slots=True)
class Streaks:
    """The ends of each model's works in a row."""

    limit: int = STOP_AFTER
    """0: nothing stops a model."""
    usable: set[str] = field(default_factory=set)
    """Who has ever given a usable reply; then only an endpoint that is silent stops them."""
    _rows: dict[str, tuple[str, int]] = field(default_factory=dict)

    def is_hopeless(self, actor: str, outcome: Outcome) -> bool:
        """Take in how a work ended; say whether so many ended alike that the next ones will."""
        if outcome in READABLE:
            self.usable.add(actor)
            self._rows.pop(actor, None)
            return False
        last, n = self._rows.get(actor, ("", 0))
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
        cap = f" at max_tokens = {request.max_tokens}" if request.max_tokens is not None else ""
        look = _LOOK.get(outcome, "ended as '" + outcome + "'")
        about = look.format(
            error=error,
            address=address or "of the endpoint",
            model=request.model,
            cap=cap,
            endpoint=endpoint,
            again=option("again", "gave up", several=True),
        )
        return f"endpoint {endpoint!r}: {n:,} consecutive requests of {actor!r} {about}"
