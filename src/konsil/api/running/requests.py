"""Requests while a study runs: who is invited, as what, and for how long."""

from __future__ import annotations

from dataclasses import dataclass

from konsil.records.request import Flag, setting
from konsil.records.roles import Role

HOST = "127.0.0.1"
PORT = 8000
HERE = f"http://{HOST}:{PORT}"
"""Where a server is that was started without further words."""


@dataclass(frozen=True, kw_only=True)
class InvitationRequest:
    """Whose links are made, and how long they work."""

    who: tuple[str, ...] = setting(
        (), Flag("A rater of study.toml, or a name; again for more. [every rater]", metavar="ID")
    )
    role: Role = setting("rater", Flag("As what they come."))
    url: str = setting(HERE, Flag("The address people use."))
    days: float = setting(
        90.0, Flag("How long a link works.", minimum=0, maximum=3650, is_open=True)
    )
    once: bool = setting(False, Flag("Links that work a single time."))
    anybody: bool = setting(
        False, Flag("One link by which everybody who wants to takes a place of the plan.")
    )
    by: str = setting("", Flag("Who invites or revokes: a pseudonym, for the log.", metavar="WHO"))
