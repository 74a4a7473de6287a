"""Endpoints: invitations, names and addresses, and the withdrawal of a rater.

Each invitation is a personal link with a letter to copy.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta

from starlette.requests import Request
from starlette.responses import Response

from konsil.errors import StoreError
from konsil.locale import catalogue_language, languages
from konsil.records.digits import stamp
from konsil.records.roles import Role
from konsil.store.engine.engine import reading
from konsil.store.people.access import PERSONAL, Invitation
from konsil.store.people.identities import role_of_accounts
from konsil.store.people.letters import LetterRecord
from konsil.store.people.letters import letters as letters_by_rater
from konsil.store.people.people import Person, forget_person, note_person, people
from konsil.store.people.sites import known_sites, sites_of, tie
from konsil.store.people.staff import names, pseudonym
from konsil.store.tasks import withdrawal
from konsil.web.office.office import office
from konsil.web.site.guard import form_of, visitor_of
from konsil.web.site.letters import Letter, letter
from konsil.web.site.pages import path_to, to
from konsil.web.site.scope import scope_of
from konsil.web.site.site import Site, site_of

DAYS = 90
"""How long a rater's link works."""
_ACCEPTED = ("sent", "bounced")
EVERYWHERE = "*"
"""What the form states for all sites."""
LONGEST = 200
"""Characters of a name or an address."""
STAFF: tuple[Role, ...] = ("curator", "coordinator", "analyst", "owner")
"""Who is invited by an owner alone."""


@dataclass(frozen=True, slots=True)
class Guest:
    """Somebody who rates, or runs the study, as the page of invitations lists them."""

    account: str
    """The id."""
    role: Role
    """As what they come."""
    panel: str = ""
    """The panel of a rater."""
    person: Person | None = None
    """Name and address, where they are known."""
    open: Invitation | None = None
    """The newest link that still works."""
    used_at: str | None = None
    """When a link was used last."""
    is_withdrawn: bool = False
    """Whether the rater has withdrawn."""
    letter: LetterRecord | None = None
    """The last letter that the mail server accepted."""
    n_links: int = 0
    """Links that were ever made; a form that states another number was sent before."""


def invitations(request: Request) -> Response:
    """Everybody, with how their link stands."""
    return _page(request)


def _page(request: Request, fault: str = "", status: int = 200) -> Response:
    site, owner = site_of(request), visitor_of(request).role == "owner"
    with reading(site.store.engine) as connection:
        sites = known_sites(connection, site.study) if owner else ()
        tied = {
            g.account: sorted(sites_of(connection, "staff", g.account))
            for g in (staff(site) if owner else ())
        }
    context = {
        "raters": guests(request),
        "staff": staff(site) if owner else (),
        "roles": STAFF,
        "sites": sites,
        "tied": tied,
        "fault": fault,
    }
    return office(request, "office_invitations.html", context, status)


def guests(request: Request) -> list[Guest]:
    """Everybody who rates, is a person, and is of the visitor's sites."""
    site, scope = site_of(request), scope_of(request)
    now, named = site.now(), people(site.store)
    with reading(site.store.engine) as connection:
        panels, withdrawn = (
            withdrawal.panels(connection, site.study),
            withdrawal.withdrawn_raters(connection),
        )
    links, sent = _links(site, "rater"), letters_by_rater(site.store)
    return [
        Guest(
            rater,
            "rater",
            panel,
            named.get(rater),
            _newest(rater_links, now),
            _last(rater_links),
            rater in withdrawn,
            next((r for r in reversed(sent.get(rater, ())) if r.state in _ACCEPTED), None),
            len(rater_links),
        )
        for rater, (panel, kind) in panels.items()
        for rater_links in [links.get(rater, [])]
        if kind == "human" and scope.sees(rater)
    ]


def staff(site: Site) -> list[Guest]:
    """Everybody who was ever invited to run the study, or came by an account."""
    now = site.now()
    with reading(site.store.engine) as connection:
        named, accounts = names(connection), role_of_accounts(connection)
    links: dict[str, list[Invitation]] = {}
    for link in site.access.invitations():
        links.setdefault(link.who, []).append(link)
    # Whoever was invited in another role later has that one alone.
    role_by_account = {account: _role(of_account) for account, of_account in links.items()}
    return [
        Guest(
            account,
            role,
            person=Person(account, named.get(account, "")),
            open=_newest(account_links, now),
            used_at=_last(account_links),
            n_links=len(account_links),
        )
        for role in STAFF
        for account, account_links in links.items()
        if role_by_account[account] == role
    ] + [
        Guest(account, role, person=Person(account, named.get(account, "")))
        for account, role in accounts.items()
        if role_by_account.get(account) not in STAFF and role in STAFF
    ]


def _role(links: list[Invitation]) -> Role:
    """The role of the newest link; of several of one second, of one that was not revoked."""
    return max(links, key=lambda link: (link.made_at, link.revoked_at is None)).role


def _links(site: Site, role: Role) -> dict[str, list[Invitation]]:
    links_by_account: dict[str, list[Invitation]] = {}
    for link in site.access.invitations():
        if link.role == role:
            links_by_account.setdefault(link.who, []).append(link)
    return links_by_account


def _newest(links: list[Invitation], now: str) -> Invitation | None:
    return next((link for link in reversed(links) if link.open(now)), None)


def _last(links: list[Invitation]) -> str | None:
    return max((link.used_at for link in links if link.used_at), default=None)


def invite(request: Request) -> Response:
    """Make links, each shown this once with a letter around it; links that worked before end."""
    site, form, role = site_of(request), form_of(request), visitor_of(request).role
    everybody = {g.account: g for g in guests(request)}
    addressee = form.get("who", "")
    if form.get("all"):
        whom = [g.account for g in everybody.values() if g.open is None and not g.is_withdrawn]
    elif form.get("role", "rater") != "rater":
        # A coordinator who could invite an owner would be one.
        if (
            role != "owner"
            or form["role"] not in STAFF
            or not addressee.strip()
            or addressee in everybody
            or not _is_printable(addressee)
        ):
            return _page(request, "staff", 422)
        new_role = next(r for r in STAFF if r == form["role"])
        if form.get("site") and new_role != "coordinator":
            return _page(request, "tie", 422)
        if _is_repeated(form, sum(g.n_links for g in staff(site))):
            return _page(request, "repeated", 409)
        if not _is_site_of_form(site, form):
            return _page(request, "site", 422)
        try:
            account = pseudonym(site.store, addressee.strip()[:LONGEST])
        except StoreError:
            return _page(request, "staff", 422)
        return _letters(request, [account], new_role, addressee.strip()[:LONGEST])
    else:
        whom = (
            [addressee] if addressee in everybody and not everybody[addressee].is_withdrawn else []
        )
    if not whom:
        return _page(request, "nobody", 422)
    if addressee in everybody and _is_repeated(form, everybody[addressee].n_links):
        return _page(request, "repeated", 409)
    return _letters(request, whom, "rater")


def _is_repeated(form: Mapping[str, str], n_links: int) -> bool:
    """Whether the form was sent before: a link was made since its page was shown.

    A page of letters that is loaded again would otherwise end the link that was just copied.
    """
    return form.get("links", str(n_links)) != str(n_links)


def _letters(request: Request, whom: list[str], role: Role, name: str = "") -> Response:
    site, now, by = site_of(request), site_of(request).now(), visitor_of(request).who
    named = people(site.store)
    if role != "rater":
        named = {account: Person(account, name if name != account else "") for account in whom}
    until = stamp(site.clock() + timedelta(days=DAYS))
    letters = []
    for account in whom:
        if role == "rater":
            site.access.revoke(account, at=now, stay=True, by=by)
        chosen = form_of(request).get("site", "")
        if role == "coordinator" and chosen:
            # Tied before the link exists: whoever uses it at once sees no more.
            tie(site.store, "staff", account, {chosen} - {EVERYWHERE}, at=now, by=by)
        max_uses = None if role in PERSONAL else 1
        secret = site.access.invite(
            account, role, at=now, expires_at=until, most_uses=max_uses, by=by
        )
        url = site.options.host + path_to(request, "invitation", secret=secret)
        person = named.get(account, Person(account))
        first = catalogue_language(site.study.language) or "en"
        spoken = (first, *(language for language in languages() if language != first))
        texts = tuple(
            (s, *letter(s, site.study.title, person.name, url, until, role)) for s in spoken
        )
        letters.append(Letter(account, url, person.email, texts))
    return office(request, "office_letters.html", {"letters": letters})


def _is_site_of_form(site: Site, form: Mapping[str, str]) -> bool:
    """Whether the form states a site of the study, all sites, or nothing."""
    with reading(site.store.engine) as connection:
        return form.get("site", "") in ("", EVERYWHERE, *known_sites(connection, site.study))


def revoke(request: Request) -> Response:
    """Make somebody's links useless, and sign them out everywhere."""
    site, account = site_of(request), form_of(request).get("who", "")
    raters = {g.account for g in guests(request)}
    if account not in raters and (
        visitor_of(request).role != "owner" or account not in {g.account for g in staff(site)}
    ):
        return _page(request, "nobody", 422)
    site.access.revoke(account, at=site.now(), by=visitor_of(request).who)
    return to(path_to(request, "invitations"))


def note(request: Request) -> Response:
    """Write down who a rater is, or erase it where both fields are empty."""
    site, form = site_of(request), form_of(request)
    rater, name, email = (
        form.get("who", ""),
        form.get("name", "").strip(),
        form.get("email", "").strip(),
    )
    if (
        rater not in {g.account for g in guests(request)}
        or len(name) > LONGEST
        or len(email) > LONGEST
        or not _is_printable(name + email)
    ):
        return _page(request, "nobody", 422)
    if email and ("@" not in email or " " in email):
        return _page(request, "email", 422)
    try:
        if name or email:
            person, is_right = Person(rater, name, email), "right" in form
            note_person(site.store, person, is_right=is_right)
        else:
            forget_person(site.store, rater)
    except StoreError:
        return _page(request, "nobody", 422)
    return to(path_to(request, "invitations"))


def _is_printable(text: str) -> bool:
    return all(c.isprintable() for c in text)


def leave(request: Request) -> Response:
    """The effects of a withdrawal on a rater's tasks, before it is confirmed."""
    return _leave(request, request.query_params.get("rater", ""))


def _leave(request: Request, rater: str, *, changed: bool = False) -> Response:
    site, scope = site_of(request), scope_of(request)
    if not scope.sees(rater):
        return to(path_to(request, "invitations"))
    try:
        preview = withdrawal.preview(site.store, site.study, rater)
    except StoreError:
        return to(path_to(request, "invitations"))
    context = {
        "found": preview,
        # Who takes over at other sites is not named.
        "takers": {r: n for r, n in preview.before.items() if scope.sees(r)},
        "digest": withdrawal.digest(preview),
        "changed": changed,
    }
    return office(request, "office_withdrawal.html", context, 409 if changed else 200)


def withdraw(request: Request) -> Response:
    """Let a rater go, as it was shown; where it would now be otherwise, show that first."""
    site, form = site_of(request), form_of(request)
    rater, reason, account = (
        form.get("rater", ""),
        form.get("reason", "")[:2_000],
        visitor_of(request).who,
    )
    if not scope_of(request).sees(rater):
        return to(path_to(request, "invitations"))
    try:
        handover = withdrawal.withdraw(
            site.store,
            site.study,
            rater,
            at=site.now(),
            reason=reason,
            by=account,
            agreed_digest=form.get("digest", ""),
        )
    except StoreError:
        return to(path_to(request, "invitations"))
    return (
        _leave(request, rater, changed=True)
        if handover is None
        else to(path_to(request, "overview"))
    )
