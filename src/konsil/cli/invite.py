"""konsil invite: personal links."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from konsil.api.running.requests import HERE, InvitationRequest
from konsil.cli.folder import on_folder
from konsil.cli.printout import Printout, with_json
from konsil.cli.request_options import options_of
from konsil.cli.terminal import Note

if TYPE_CHECKING:
    from konsil.store.log.revocation import Revoked

STAYS = (
    "the person's pseudonym stays in ratings and in the audit log, and the name until it is erased"
    " with 'konsil person --forget-name'"
)
"""What a revocation does not remove."""


@click.command(short_help="Create personal links for raters or study staff.")
@on_folder
@options_of(
    InvitationRequest,
    after={
        "anybody": click.option(
            "--revoke",
            is_flag=True,
            help="Revoke the links of --who instead, and sign them out.",
        )
    },
)
@with_json
def command(folder: Path, database: str, revoke: bool, request: InvitationRequest) -> Printout:
    """Create personal links to the pages of the study in FOLDER, one per line.

    Copy them into the invitations. A link is shown only once: the database stores only its hash.
    The link of a rater or curator works on any device until it expires or is revoked, and leads to
    the next task; those of other staff work once, on the device on which they are opened.

    A person who is invited in another role loses the former one at once. --revoke also ends
    sessions, deletes passkeys, and refuses the person's account until they are invited again.
    """
    from konsil.api import open_folder
    from konsil.api.running import invitations
    from konsil.errors import StudyError

    opened = open_folder(folder, database=database)
    if revoke:
        if not request.who and not request.anybody:
            raise StudyError("--revoke: --who is missing; state whose links to revoke")
        names = (invitations.ANYBODY,) if request.anybody else request.who
        revoked = invitations.end_access(opened, names, by=request.by)
        n, others = revoked.links, _others(revoked)
        if others:
            click.echo(Note(f"note: {STAYS}"), err=True)
        record = {
            "revoked": n,
            "sessions": revoked.sessions,
            "passkeys": revoked.passkeys,
            "accounts": revoked.accounts,
        }
        parts = [f"{n:,} {'link' if n == 1 else 'links'} revoked", *others]
        return Printout(record, [", ".join(parts)])
    links = invitations.invite(opened, request)
    width = max(len(link.recipient) for link in links) + 2
    if request.url == HERE:
        click.echo(
            Note(
                "note: these links work on this machine only; state the server's public address"
                " with --url"
            ),
            err=True,
        )
    return Printout({"links": links}, [f"{link.recipient:{width}}{link.url}" for link in links])


def _others(revoked: Revoked) -> list[str]:
    """What ended besides links, a part of a sentence each."""
    counts = (
        (revoked.sessions, "session", "ended"),
        (revoked.passkeys, "passkey", "deleted"),
        (revoked.accounts, "account", "disabled"),
    )
    return [f"{n:,} {noun}{'' if n == 1 else 's'} {verb}" for n, noun, verb in counts if n]
