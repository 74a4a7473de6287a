"""Sign-ins that were refused, as an audit log states them: no name, no address, no link."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Literal

from konsil.errors import StoreError
from konsil.store import Store
from konsil.store.people.centre_log import REFUSED
from konsil.web.http.redacted_logging import fault_summary
from konsil.web.http.throttle import Throttle

LOG = logging.getLogger("uvicorn.error")

Way = Literal["link", "passkey", "account"]
Reason = Literal[
    "unknown",
    "expired",
    "used",
    "revoked",
    "too many attempts",
    "invalid answer",
    "other role",
    "not listed",
    "withdrawn",
    "service unavailable",
]


@dataclass(frozen=True, slots=True)
class Refused:
    """One refusal."""

    way: Way
    """How somebody wanted to come in."""
    reason: Reason
    """Why not, coarsely."""
    person: str = ""
    """The pseudonym, where it is known whose the link, the passkey or the account is."""
    role: str = ""
    """The role that it would have given."""


def note_nowhere(_: Refused) -> None:
    """Refusals of a site that is not served."""


@dataclass
class RefusalLog:
    """Refusals in an audit log, up to a number a minute and an hour, with and without a person.

    Whoever guesses links fills no disk and hides no refusal of another kind: the others are
    counted, and the next entry states their number. While somebody goes on guessing, the log goes
    on stating it.
    """

    log: Store
    """The database with the log."""
    now: Callable[[], str]
    """The time as the log carries it."""
    throttle: Throttle
    """The limit of a minute."""
    lasting_throttle: Throttle
    """The limit of an hour, since guessing may go on for days."""
    _omitted: Counter[str] = field(default_factory=Counter)

    def note(self, refused: Refused, study: str = "") -> None:
        """Note a refusal; of a centre with the study that it is of."""
        series = f"{study}\n{'known' if refused.person else ''}"
        if not (self.throttle.allows(series) and self.lasting_throttle.allows(series)):
            self._omitted[series] += 1
            return
        entry = {"study": study, "way": refused.way, "reason": refused.reason}
        entry |= {"who": refused.person, "role": refused.role}
        data: dict[str, object] = {name: text for name, text in entry.items() if text}
        if omitted := self._omitted.pop(series, 0):
            data["omitted_before"] = omitted
        with forgiven():
            self.log.audit(REFUSED, data, self.now())


def limited(log: Store, now: Callable[[], str], *, a_minute: int, an_hour: int) -> RefusalLog:
    """A log of refusals with these limits."""
    return RefusalLog(
        log,
        now,
        Throttle(a_minute, 60.0, is_lasting=False),
        Throttle(an_hour, 3_600.0, is_lasting=False),
    )


@contextmanager
def forgiven() -> Iterator[None]:
    """A log that cannot be written stops nobody's work."""
    try:
        yield
    except StoreError as error:
        LOG.error("the audit log of access was not written: %s", fault_summary(error))
