"""Requests while a study runs: who is invited, as what, and for how long."""

from __future__ import annotations

from dataclasses import dataclass

from konsil.records.request import Flag, Request, setting
from konsil.records.roles import Role

HOST = "127.0.0.1"
PORT = 8000
HERE = f"http://{HOST}:{PORT}"
"""Where a server is that was started without further words."""


@dataclass(frozen=True, kw_only=True)
class InvitationRequest(Request):
    """Whose links are made, and how long they work."""

    who: tuple[str, ...] = setting(
        (), Flag("Rater of study.toml, or a staff name; repeatable. [all raters]", metavar="ID")
    )
    role: Role = setting("rater", Flag("Role of the invited person."))
    url: str = setting(HERE, Flag("Public address of the server."))
    days: float = setting(
        90.0,
        Flag("Number of days for which a link is valid.", minimum=0, maximum=3650, is_open=True),
    )
    once: bool = setting(False, Flag("Make links that can be used only once."))
    anybody: bool = setting(
        False, Flag("Make one open link for sign-up to a rater slot of the plan.")
    )
    site: tuple[str, ...] = setting(
        (),
        Flag(
            "Coordinators: site whose raters they see; repeatable; '*': all. Open link: its site.",
            metavar="NAME",
        ),
    )
    by: str = setting(
        "", Flag("Pseudonym of the person who invites or revokes, for the log.", metavar="WHO")
    )
