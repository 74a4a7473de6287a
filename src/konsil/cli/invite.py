"""konsil invite: personal links."""

from __future__ import annotations

from dataclasses import replace
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
        "who": click.option(
            "--list",
            "contacts",
            type=click.Path(dir_okay=False, path_type=Path),
            metavar="FILE",
            help="Store the contacts of a table first, and invite its raters.",
        ),
        "anybody": click.option(
            "--revoke",
            is_flag=True,
            help="Revoke the links of --who instead, and sign them out.",
        ),
    },
)
@with_json
def command(
    folder: Path, database: str, revoke: bool, contacts: Path | None, request: InvitationRequest
) -> Printout:
    """Create personal links to the pages of the study in FOLDER, one per line.

    Copy them into the invitations. A link is shown only once: the database stores only its hash.
    The link of a rater or curator works on any device until it expires or is revoked, and leads to
    the next task; those of other staff work once, on the device on which they are opened.

    The table of --list has the column email, and optionally rater, name, language and raters'
    characteristics, such as site. It is stored completely or not at all. A person without a rater
    becomes the next one with these characteristics and without a contact.

    A person who is invited in another role loses the former one at once. --revoke also ends
    sign-ins, deletes passkeys, and refuses the person's account until they are invited again.
    """
    from konsil.api import open_folder
    from konsil.api.running import invitations
    from konsil.errors import StudyError

    opened = open_folder(folder, database=database)
    listed = None
    if contacts is not None:
        if revoke or request.who or request.anybody or request.role != "rater":
            raise StudyError("--list: cannot be combined with --who, --role, --anybody or --revoke")
        from konsil.letters.contacts import import_contacts

        listed = import_contacts(opened, contacts)
        request = replace(request, who=listed.raters)
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
            "sign_ins": revoked.sessions,
            "passkeys": revoked.passkeys,
            "accounts": revoked.accounts,
        }
        parts = [f"{n:,} {'link' if n == 1 else 'links'} revoked", *others]
        return Printout(record, [", ".join(parts)])
    if request.url == HERE:
        from konsil.letters.settings import address_of_pages

        request = replace(request, url=address_of_pages(opened) or HERE)
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
    lines = [f"{link.recipient:{width}}{link.url}" for link in links]
    if listed is None:
        return Printout({"links": links}, lines)
    n = len(listed.raters)
    stored = (
        f"{n:,} {'contact' if n == 1 else 'contacts'}: {listed.n_new:,} new,"
        f" {listed.n_changed:,} changed"
    )
    return Printout({"links": links, "contacts": listed}, [stored, *lines])


def _others(revoked: Revoked) -> list[str]:
    """What ended besides links, a part of a sentence each."""
    counts = (
        (revoked.sessions, "sign-in", "ended"),
        (revoked.passkeys, "passkey", "deleted"),
        (revoked.accounts, "account", "disabled"),
    )
    return [f"{n:,} {noun}{'' if n == 1 else 's'} {verb}" for n, noun, verb in counts if n]
