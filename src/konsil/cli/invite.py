"""konsil invite: personal links."""

from __future__ import annotations

from pathlib import Path

import click

from konsil.api.running.requests import HERE, InvitationRequest
from konsil.cli.folder import on_folder
from konsil.cli.request_options import options_of


@click.command(short_help="Create personal links for raters or study staff.")
@on_folder
@options_of(
    InvitationRequest,
    after={
        "anybody": click.option(
            "--revoke",
            is_flag=True,
            help="Make the links of --who useless instead, and sign them out.",
        )
    },
)
def command(folder: Path, database: str, revoke: bool, request: InvitationRequest) -> None:
    """Make personal links to the pages of the study in FOLDER, one a line.

    They are to be copied into letters. A link is shown this once: the database keeps a hash of it.
    A rater's link leads to where the rater is, on any device, until it expires or is revoked.
    """
    from konsil.api import open_folder
    from konsil.api.running import invitations
    from konsil.errors import StudyError

    opened = open_folder(folder, database=database)
    if revoke:
        if not request.who and not request.anybody:
            raise StudyError("--revoke: name whose links with --who")
        names = (invitations.ANYBODY,) if request.anybody else request.who
        n = invitations.revoke(opened, names, by=request.by)
        click.echo(f"{n:,} {'link' if n == 1 else 'links'} revoked")
        return
    links = invitations.invite(opened, request)
    width = max(len(link.recipient) for link in links) + 2
    for link in links:
        click.echo(f"{link.recipient:{width}}{link.url}")
    if request.url == HERE:
        click.echo(
            "note: these links lead to this machine and work on it alone; say with --url how people"
            " reach the server",
            err=True,
        )
