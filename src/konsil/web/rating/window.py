"""The state that a browser window knows when it submits a form.

A window's own changes never conflict with one another.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from konsil.instrument import PageNames
from konsil.store.tasks.drafts import Change
from konsil.web.rating.form import clean

MAX_CHANGES = 500
"""Changes in one message; a browser that was offline for long sends several."""
OWN = frozenset(
    {"visit", "base_rev", "revisions", "pending", "ends", "wall", "active", "first_input"}
)
"""Fields of the form that are the page's own and no answers."""
_PLACES = re.compile(r"0|[1-9][0-9]{0,3}(?: [1-9][0-9]{0,3}){0,99}")
_TOKEN = re.compile(r"[A-Za-z0-9_-]{1,64}")


@dataclass(frozen=True, slots=True)
class Window:
    """The changes of a task that one browser window knows of."""

    base_rev: int = 0
    """The number of changes when its page was sent."""
    revisions: Mapping[str, int] = field(default_factory=dict)
    """Field -> the number of changes when the window last heard of that field; others:
    `base_rev`."""
    pending: tuple[Change, ...] = ()
    """Changes whose arrival nobody confirmed to the window: some may be stored already, by the same
    ids."""

    def revision(self, name: str) -> int:
        """The number of changes at which the window knew this field."""
        return max(self.base_rev, self.revisions.get(name, 0))


def window_of(form: Mapping[str, str], names: PageNames) -> Window:
    """The window that sent a form; a page without a script tells `base_rev` alone."""
    try:
        revision_by_name = {
            str(name): count_of(str(rev))
            for name, rev in json.loads(form.get("revisions") or "{}").items()
        }
        revisions = names.fields(revision_by_name)
        pending = tuple(
            replace(c, field=names.field(c.field))
            for c in changes_of(json.loads(form.get("pending") or "[]"))
        )
    # What a browser garbles here costs no answer: the window then knows of its page's state alone.
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        revisions, pending = {}, ()
    return Window(count_of(form.get("base_rev", "0")), revisions, pending)


def changes_of(sent: object) -> tuple[Change, ...]:
    """The changes of a message, as the page's module writes them.

    A ValueError where they are none of ours.
    """
    if not isinstance(sent, list):
        raise TypeError("expected a list of changes")
    changes = tuple(
        Change(
            token(c["id"]),
            str(c["field"]),
            str(c["value"]),
            count_of(str(c["base_rev"])),
            str(c.get("at", ""))[:32],
        )
        for c in sent[:MAX_CHANGES]
    )
    if not all(
        c.id and clean(c.field) == c.field and clean(c.said_at) == c.said_at for c in changes
    ):
        raise ValueError("expected changes with ids and plain texts")
    return changes


def token(sent: object) -> str:
    """A random name that a page made; empty where it cannot be one.

    No page of ours needs another character.
    """
    text = str(sent)
    return text if _TOKEN.fullmatch(text) else ""


def is_places(text: str) -> bool:
    """Whether a text lists places of answers on a screen; 0: none.

    >>> is_places("1 3"), is_places("0"), is_places("")
    (True, True, False)
    """
    return _PLACES.fullmatch(text) is not None


def count_of(text: str) -> int:
    """A count; 0 where the text is none."""
    # isdigit alone would let superscripts pass, which int refuses.
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else 0


def read_seconds(text: str) -> float | None:
    """A time on a page; None where it is no finite number of seconds, or one of months.

    >>> read_seconds("2.5"), read_seconds("nan"), read_seconds("-1"), read_seconds("")
    (2.5, None, None, None)
    """
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) and 0 <= number < 10_000_000 else None
