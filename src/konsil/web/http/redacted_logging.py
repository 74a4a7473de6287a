"""Faults of the program in the server's log: their kind and their place in the code.

The values that messages quote are left out.

A message may hold anything: a name that could not be stored, an invitation's secret, a statement
with its parameters.
"""

from __future__ import annotations

import logging
import traceback

from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Receive, Scope, Send

from konsil.errors import KonsilError

LOG = logging.getLogger("uvicorn.error")


class Discreet:
    """A layer around the application that logs the faults of requests; they go no further."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on; the visitor has been told already when a fault arrives here."""
        try:
            await self._app(scope, receive, send)
        except Exception as error:
            if scope["type"] != "http":
                raise
            # Whoever leaves in the middle of a form is no fault of ours.
            if isinstance(error, ClientDisconnect):
                return
            LOG.error("%s", fault_summary(error))


def fault_summary(error: BaseException) -> str:
    """The logged summary of a fault: its kind and the kinds of its causes.

    Each is followed by its places in the code, innermost last.

    >>> try:
    ...     int("a secret")
    ... except ValueError as error:
    ...     fault_summary(error).startswith("ValueError at "), "secret" in fault_summary(error)
    (True, False)
    """
    # Sentences of our own say what is wrong with the study or its database and quote no form.
    message = f" ({printable(str(error))})" if isinstance(error, KonsilError) else ""
    places = [
        f"{place.filename}:{place.lineno} in {place.name}"
        for place in traceback.extract_tb(error.__traceback__)
    ]
    summary = f"{type(error).__name__}{message} at {' > '.join(places) or 'an unknown location'}"
    cause = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    return summary if cause is None else f"{summary}; cause: {fault_summary(cause)}"


def printable(text: str) -> str:
    """The text on one line: names in it come from files, and the log is read on a terminal."""
    return "".join(sign if sign.isprintable() else ascii(sign)[1:-1] for sign in text)
