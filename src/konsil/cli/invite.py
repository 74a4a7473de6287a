"""konsil invite: personal links."""

from __future__ import annotations

from pathlib import Path

import click

from konsil.cli.folder import acting, on_folder
from konsil.cli.serve import HOST, PORT

HERE = f"http://{HOST}:{PORT}"
"""Where a server is that was started without further words."""


@click.command(short_help="Create personal links for raters or study staff.")
@on_folder
@click.option(
    "--who",
    multiple=True,
    metavar="ID",
    help="A rater of study.toml, or a name; again for more. [every rater]",
)
@click.option(
    "--role",
    default="rater",
    show_default=True,
    type=click.Choice(["rater", "curator", "coordinator", "analyst", "owner"]),
    help="As what they come.",
)
@click.option("--url", default=HERE, show_default=True, help="The address people use.")
@click.option(
    "--days",
    default=90.0,
    show_default=True,
    type=click.FloatRange(0, 3650, min_open=True),
    help="How long a link works.",
)
@click.option("--once", is_flag=True, help="Links that work a single time.")
@click.option(
    "--anybody",
    is_flag=True,
    help="One link by which everybody who wants to takes a place of the plan.",
)
@click.option(
    "--revoke", is_flag=True, help="Make the links of --who useless instead, and sign them out."
)
@acting("invites or revokes")
def command(
    folder: Path,
    database: str,
    who: tuple[str, ...],
    role: str,
    url: str,
    days: float,
    once: bool,
    anybody: bool,
    revoke: bool,
    by: str,
) -> None:
    """Make personal links to the pages of the study in FOLDER, one a line.

    They are to be copied into letters. A link is shown this once: the database keeps a hash of it.
    A rater's link leads to where the rater is, on any device, until it expires or is revoked.
    """
    from konsil.api import open_folder
    from konsil.api.running import invitations
    from konsil.errors import StudyError
    from konsil.store.people.access import role_of

    opened = open_folder(folder, database=database)
    if revoke:
        if not who and not anybody:
            raise StudyError("--revoke: name whose links with --who")
        n = invitations.revoke(opened, (invitations.ANYBODY,) if anybody else who, by=by)
        click.echo(f"{n:,} {'link' if n == 1 else 'links'} revoked")
        return
    links = invitations.invite(
        opened, who, role_of(role), url=url, days=days, once=once, anybody=anybody, by=by
    )
    width = max(len(link.recipient) for link in links) + 2
    for link in links:
        click.echo(f"{link.recipient:{width}}{link.url}")
    if url == HERE:
        click.echo(
            "note: these links lead to this machine and work on it alone; say with --url how people"
            " reach the server",
            err=True,
        )
