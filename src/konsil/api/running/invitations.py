"""Links that let raters and those who run a study in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from konsil.api.folder.folder import Folder
from konsil.api.folder.opened import PROTOCOL
from konsil.api.running.requests import InvitationRequest
from konsil.errors import StudyError, nearest, option
from konsil.letters import links
from konsil.letters.settings import FILE
from konsil.records import Rater
from konsil.records.digits import stamp
from konsil.store import Store
from konsil.store.engine.engine import reading
from konsil.store.log.revocation import Revoked
from konsil.store.people.access import PERSONAL, Access, hashed, invited
from konsil.store.people.sites import SITE, known_sites, tie
from konsil.store.people.staff import decider, person_named, pseudonym, staff_names

EVERYWHERE = "*"
"""All sites."""
ANYBODY = ""
"""Whom an invitation is for that makes a rater of everybody who comes."""
PATH = links.PATH
"""Where invitations lead."""


@dataclass(frozen=True, slots=True)
class Link:
    """One invitation, shown this once."""

    recipient: str
    """Whom it is for."""
    url: str
    """The personal link."""


def invite(folder: Folder, request: InvitationRequest) -> tuple[Link, ...]:
    """Make a link for each; for nobody in particular: for every human rater of the protocol.

    With places to sign up for, a rater may have any name that the protocol has not, and `anybody`
    makes one link by which everybody becomes a rater of their own. Raters' and curators' links work
    on any device until they expire; those of other roles once. The database keeps only hashes, so a
    link that is lost cannot be shown again.
    """
    role, raters = request.role, {r.id: r for r in folder.study.raters}
    with folder.store() as store:
        # Who took over the place of somebody who left is in the records alone.
        later = (
            {r.id: r for r in store.raters() if r.id not in raters}
            if not folder.study.places
            else {}
        )
    people = [r.id for r in raters.values() if r.kind == "human"]
    names = list(dict.fromkeys(request.who)) or (people if role == "rater" else [])
    open_ = bool(folder.study.places) and role == "rater"
    if request.anybody:
        if not open_ or names != people:
            raise StudyError(
                f"{folder.path / PROTOCOL}: {option('anybody')}: an open link needs [[places]]"
                f" for sign-up and cannot be combined with {option('who')}"
            )
        names = [ANYBODY]
    _check_sites(folder, request)
    if not names:
        raise StudyError(
            f"{option('role', role)}: state whom to invite with {option('who')}, such as"
            f" {option('who', 'study-office')}"
        )
    if role == "rater":
        _check_raters(folder, names, raters, later, is_open=open_)
    for name in names:
        if role == "curator" and name in raters:
            raise StudyError(
                f"{option('role', 'curator')}: {name!r} is a rater of the study; curators see"
                " information that is hidden from raters"
            )
    now = datetime.now(UTC)
    at, until = (stamp(moment) for moment in (now, now + timedelta(days=request.days)))
    max_uses = 1 if request.once or role not in PERSONAL else None
    with folder.store() as store:
        access, inviter = Access(store), decider(store, request.by)
        whom = names if role == "rater" else [pseudonym(store, name) for name in names]
        # Before the links exist: whoever uses one at once sees no more.
        for account in whom if role == "coordinator" and request.site else ():
            sites = set(request.site) - {EVERYWHERE}
            tie(store, "staff", account, sites, at=at, by=inviter)
        # Where letters are sent, they have the very link that is shown now.
        is_derived = role == "rater" and max_uses is None and (folder.path / FILE).is_file()
        key = links.letter_key(folder.path, may_write=True) if is_derived else None
        secrets = [
            access.invite(
                account,
                role,
                at=at,
                expires_at=until,
                most_uses=max_uses,
                by=inviter,
                secret=links.new_secret(access, key, account, at) if key and account else "",
            )
            for account in whom
        ]
        if request.anybody and request.site:
            tie(store, "link", hashed(secrets[0]), request.site, at=at, by=inviter)
    shown = [
        name if name == account else f"{name} = {account}"
        for name, account in zip(names, whom, strict=True)
    ]
    return tuple(
        Link(n or "anybody", request.url.rstrip("/") + PATH + s)
        for n, s in zip(shown, secrets, strict=True)
    )


def _check_sites(folder: Folder, request: InvitationRequest) -> None:
    """Raise a StudyError unless sites are stated where they have a meaning, and exist."""
    if not request.site:
        return
    is_link = request.role == "rater" and request.anybody
    if request.role != "coordinator" and not is_link:
        raise StudyError(
            f"{option('site')}: sites are stated for coordinators and for an open link"
            f" ({option('anybody')}); a rater's site is the characteristic {SITE!r} in study.toml"
        )
    if is_link and (len(request.site) > 1 or EVERYWHERE in request.site):
        raise StudyError(f"{option('site')}: an open link has one site")
    if EVERYWHERE in request.site and len(request.site) > 1:
        raise StudyError(f"{option('site')}: '{EVERYWHERE}' stands alone")
    with folder.store() as store, reading(store.engine) as connection:
        sites = known_sites(connection, folder.study)
    for name in request.site:
        # A new site is stated with an open link; a coordinator's must be one that raters have.
        if not is_link and name not in (*sites, EVERYWHERE):
            raise StudyError(
                f"{option('site')}: no rater, place or link has the site {name!r};"
                f" {nearest(name, sites)}"
            )


def _check_raters(
    folder: Folder,
    names: Sequence[str],
    raters: Mapping[str, Rater],
    later: Mapping[str, Rater],
    *,
    is_open: bool,
) -> None:
    """Raise a StudyError unless all names are of people of the protocol or fit for open places."""
    people = [r.id for r in raters.values() if r.kind == "human"]
    for name in names:
        if name not in {**raters, **later}:
            if is_open:
                continue
            raise StudyError(
                f"{folder.path / PROTOCOL}: there is no rater {name!r}; {nearest(name, people)}"
            )
        if {**later, **raters}[name].kind != "human":
            raise StudyError(
                f"{folder.path / PROTOCOL}: rater {name!r} is not a person; only people can be"
                " invited"
            )
    for name in names:
        if "@" in name and name not in {**raters, **later}:
            raise StudyError(
                f"{option('who')} {name!r}: is an e-mail address; identifiers appear in all"
                " tables and in the log: use a pseudonym"
            )


def _refuse_strangers(folder: Folder, store: Store, names: Mapping[str, str]) -> None:
    """Refuse names under which nobody ever had a link: access that must end would go on."""
    accounts = staff_names(store)
    accounts_and_raters = {*invited(store), *accounts, *(r.id for r in folder.study.raters)}
    accounts_and_raters |= {r.id for r in store.raters()}
    for who, name in names.items():
        if who != ANYBODY and who not in accounts_and_raters:
            hint = nearest(name, {*accounts_and_raters, *accounts.values()} - {ANYBODY})
            raise StudyError(
                f"{option('who')} {name!r}: nobody was invited under this name; {hint}"
            )


def revoke(folder: Folder, names: Sequence[str], *, by: str = "") -> int:
    """Make every link of these people useless and sign them out everywhere; count the links."""
    return end_access(folder, names, by=by).links


def end_access(folder: Folder, names: Sequence[str], *, by: str = "") -> Revoked:
    """End all that lets these people in: links, sessions, passkeys and accounts.

    Their pseudonyms stay in ratings and log, names until they are erased, and of accounts the hash
    by which they are refused.
    """
    at = stamp(datetime.now(UTC))
    with folder.store() as store:
        whom = {person_named(store, name): name for name in names}
        _refuse_strangers(folder, store, whom)
        revoker = decider(store, by)
        ended = (Access(store).end_access(name, at=at, by=revoker) for name in whom)
        return sum(ended, Revoked())
