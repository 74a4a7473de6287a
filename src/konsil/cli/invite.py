"""konsil invite: personal links."""

from __future__ import annotations

from pathlib import Path

import click

from konsil.api.running.requests import HERE, InvitationRequest
from konsil.cli.folder import on_folder
from konsil.cli.printout import Printout, with_json
from konsil.cli.request_options import options_of
from konsil.cli.terminal import Note


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
    """
    from konsil.api import open_folder
    from konsil.api.running import invitations
    from konsil.errors import StudyError

    opened = open_folder(folder, database=database)
    if revoke:
        if not request.who and not request.anybody:
            raise StudyError("--revoke: --who is missing; state whose links to revoke")
        names = (invitations.ANYBODY,) if request.anybody else request.who
        n = invitations.revoke(opened, names, by=request.by)
        return Printout({"revoked": n}, [f"{n:,} {'link' if n == 1 else 'links'} revoked"])
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
