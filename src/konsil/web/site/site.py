"""What all endpoints share: the study, its store, the options of the server, and the clock."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cached_property
from ipaddress import ip_network
from urllib.parse import urlsplit

from starlette.requests import Request

from konsil.errors import KonsilError, option
from konsil.instrument import PageNames
from konsil.records.digits import stamp
from konsil.records.roles import Role
from konsil.store import Store
from konsil.store.people.access import Access
from konsil.store.people.secret import secret
from konsil.study import Study
from konsil.study.interim.quality import PanelQuality
from konsil.web.curation.marks import Marks
from konsil.web.curation.pool import Pool
from konsil.web.http.throttle import Throttle
from konsil.web.rating.consensus.adjudication import Adjudicating
from konsil.web.rating.consensus.pilot import Pilot
from konsil.web.rating.enrolment_service import Reception
from konsil.web.rating.placing import Placing
from konsil.web.rating.rating_service import Desk
from konsil.web.site.refused import Refused, note_nowhere

LOOPBACK = ("localhost", "127.0.0.1", "[::1]")
"""Names of the machine itself: a coordinator may type any of them."""


HANDS = 4
"""Threads that answer raters. More would only wait for one another: one writes at a time, and one
runs Python."""
OTHER_HANDS = 4
"""Threads for all else: an overview or a download may take seconds, and no rater waits behind
it."""


@dataclass(frozen=True, slots=True)
class Options:
    """How the pages are served."""

    url: str = "http://127.0.0.1:8000"
    """The address that people have in their browser; https:// behind a proxy that speaks TLS."""
    signed_in_days: float = 30.0
    """How long a rater or a curator stays signed in on a device."""
    office_hours: float = 12.0
    """How long those who run the study stay signed in."""
    tries_a_minute: int = 30
    """How often one address may knock at a door with a link that is none, and one person with a
    link of their own."""
    volunteers_a_minute: int = 120
    """How often one address may come by an open link: a whole ward may have one address."""
    posts_a_minute: int = 600
    """How many forms and saves one person may send, on all devices together; people type about a
    hundred."""
    centre: str | None = None
    """The path of the page that lists all studies of the address; None: the study is alone."""
    passkeys: bool = False
    """Whether owners need a passkey."""
    sign_in: str | None = None
    """The path at which people sign in by their account; None: by links alone."""
    service: str = ""
    """What the button calls the account."""
    owner_accounts: tuple[tuple[str, str], ...] = ()
    """Issuer and identifier of the accounts that are owners of this study, as far as they are
    listed by their identifier."""
    trusted_proxies: tuple[str, ...] = ()
    """Addresses or networks whose word on a visitor's address counts; none: everybody has the
    address that asks."""
    metrics: str = ""
    """Address of the metrics, such as 127.0.0.1:9464; empty: there are none."""

    @property
    def secure(self) -> bool:
        """Whether people reach the pages over TLS."""
        return urlsplit(self.url).scheme == "https"

    @property
    def host(self) -> str:
        """The address without the path."""
        parts = urlsplit(self.url)
        return f"{parts.scheme}://{parts.netloc}"

    @property
    def path(self) -> str:
        """The prefix of all paths of the pages.

        It is empty, or the path under which a host serves this study.
        """
        return urlsplit(self.url).path.rstrip("/")

    @property
    def origins(self) -> frozenset[str]:
        """What a browser may name as the origin of a form of ours."""
        parts = urlsplit(self.url)
        host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
        # A browser may call this machine by any of its names.
        hosts = LOOPBACK if host in LOOPBACK else (host,)
        port = "" if parts.port is None else f":{parts.port}"
        return frozenset(f"{parts.scheme}://{host}{port}" for host in hosts)


def checked(options: Options) -> Options:
    """The options, or an error that says which of them cannot be."""
    parts = urlsplit(options.url)
    if (
        parts.scheme not in ("http", "https")
        or not parts.hostname
        or parts.query
        or not _PATH.fullmatch(parts.path)
    ):
        raise KonsilError(
            f"{option('url')}: expected an address such as https://study.example.org or"
            f" https://example.org/study-1, got {options.url!r}"
        )
    for proxy in options.trusted_proxies:
        try:
            ip_network(proxy, strict=False)
        except ValueError:
            raise KonsilError(
                f"{option('trusted_proxy')}: expected an address such as 127.0.0.1 or a network"
                f" such as 10.0.0.0/8, got {proxy!r}"
            ) from None
    return options


_PATH = re.compile(r"(/[A-Za-z0-9._~-]+)*/?")
"""Paths under which a study may be served."""


def utc() -> datetime:
    """The time."""
    return datetime.now(UTC)


@dataclass
class Site:
    """One study, served."""

    study: Study
    """What its study.toml says."""
    store: Store
    """Where its records are."""
    options: Options = field(default_factory=Options)
    """How it is served."""
    clock: Callable[[], datetime] = utc
    """The time; tests bring their own."""
    refused: Callable[[Refused], None] = note_nowhere
    """Where sign-ins that were refused are noted."""

    @cached_property
    def cookie(self) -> str:
        """The cookie's name, another for each study.

        One host may serve several studies, on ports or paths of their own.

        Under TLS it has the prefix that ties it to this host, or, on a path, to TLS.
        """
        name = f"konsil-{secret(self.store, 'cookie').hex()[:8]}"
        if not self.options.secure:
            return name
        return f"__Secure-{name}" if self.options.path else f"__Host-{name}"

    @cached_property
    def access(self) -> Access:
        """Invitations and visitors."""
        return Access(self.store)

    @cached_property
    def desk(self) -> Desk:
        """What raters do."""
        return Desk(self.study, self.store, self.now)

    @cached_property
    def names(self) -> PageNames:
        """What questions are called on the rating pages."""
        return PageNames(self.study.instruments)

    @cached_property
    def reception(self) -> Reception:
        """What comes before somebody's first task."""
        return Reception(self.study, self.store, self.now)

    @cached_property
    def placing(self) -> Placing:
        """The places of the plan that people take."""
        return Placing(self.study, self.store, self.now)

    @cached_property
    def pilot(self) -> Pilot:
        """What follows the pilot."""
        return Pilot(self.study, self.store, self.now)

    @cached_property
    def adjudicating(self) -> Adjudicating:
        """What raters who differ look at together."""
        return Adjudicating(self.study, self.store, self.now)

    @cached_property
    def pool(self) -> Pool:
        """The items that are gone through before the study."""
        return Pool(self.study, self.store, self.now)

    @cached_property
    def marks(self) -> Marks:
        """The cases that are marked before the study."""
        return Marks(self.study, self.store, self.now)

    @cached_property
    def panel_qualities(self) -> dict[tuple[int, str], Sequence[PanelQuality]]:
        """The interim quality at the newest head of the log that somebody has looked at."""
        return {}

    @cached_property
    def doors(self) -> Throttle:
        """So many knocks a minute with links that are none, by address."""
        return Throttle(self.options.tries_a_minute, 60.0)

    @cached_property
    def open_doors(self) -> Throttle:
        """So many knocks a minute with an open link, by address."""
        return Throttle(self.options.volunteers_a_minute, 60.0)

    @cached_property
    def sign_ins(self) -> Throttle:
        """So many knocks a minute with a personal link, by person."""
        return Throttle(self.options.tries_a_minute, 60.0)

    @cached_property
    def posts(self) -> Throttle:
        """So many forms and saves a minute, by person."""
        return Throttle(self.options.posts_a_minute, 60.0)

    @cached_property
    def _lanes(self) -> tuple[ThreadPoolExecutor, ThreadPoolExecutor]:
        return ThreadPoolExecutor(OTHER_HANDS, "konsil-others"), ThreadPoolExecutor(
            HANDS, "konsil-raters"
        )

    def lane(self, raters: bool) -> ThreadPoolExecutor:
        """The threads that answer raters, or those that answer everybody else."""
        return self._lanes[raters]

    def now(self) -> str:
        """The time as records carry it."""
        return stamp(self.clock())

    def signed_in_until(self) -> dict[Role, str]:
        """When somebody who signs in now is signed out again, by role."""
        now = self.clock()
        office = stamp(now + timedelta(hours=self.options.office_hours))
        rater = stamp(now + timedelta(days=self.options.signed_in_days))
        return {
            "rater": rater,
            "curator": rater,
            "coordinator": office,
            "analyst": office,
            "owner": office,
        }


def site_of(request: Request) -> Site:
    """The site that a request came to."""
    site: Site = request.app.state.site
    return site
