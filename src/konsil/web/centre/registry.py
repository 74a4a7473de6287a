"""The studies of a centre while they are served: opened once, each on its own.

A study that cannot be opened is listed as unavailable and is tried again; the others are not
affected.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

from starlette.applications import Starlette

from konsil.errors import KonsilError
from konsil.store import Store
from konsil.store.engine.engine import answers
from konsil.store.people.access import end_account_sessions
from konsil.study import Study
from konsil.web.centre.accounts import ALL
from konsil.web.centre.auditing import CentreAudit, digest
from konsil.web.centre.settings import RESERVED, CentreSettings, StudyPlace, is_servable
from konsil.web.http.redacted_logging import fault_summary, printable
from konsil.web.site.site import Options, Site

LOG = logging.getLogger("uvicorn.error")
SECONDS_BETWEEN_SCANS = 10.0
"""How often the folder is read again at most; what is new there is opened, what failed is tried
again."""

Opener = Callable[[StudyPlace], tuple[Study, str]]
"""Read a study, and assign its tasks; the study and its database (folder or URL)."""
Builder = Callable[[Study, Store, Options], Starlette]
"""The pages of one study."""


@dataclass(frozen=True, slots=True)
class Served:
    """One study of the centre, opened or not."""

    place: StudyPlace
    app: Starlette | None = None
    """Its pages; None: it could not be opened."""
    store: Store | None = None

    @property
    def site(self) -> Site | None:
        """The study's site, where the study is open."""
        return None if self.app is None else self.app.state.site


class Registry:
    """The studies by slug."""

    def __init__(
        self,
        settings: CentreSettings,
        options: Options,
        open_study: Opener,
        build: Builder,
        *,
        audit: CentreAudit | None = None,
        seconds: float = SECONDS_BETWEEN_SCANS,
    ) -> None:
        self.settings, self.options, self.audit = settings, options, audit
        self._open_study, self._build = open_study, build
        self._studies: dict[str, Served] = {}
        self._faults: dict[str, str] = {}
        self._seconds, self._next_scan = seconds, 0.0
        self._lock = threading.Lock()
        if audit is not None:
            audit.list_accounts(settings.service)

    @property
    def studies(self) -> tuple[Served, ...]:
        """All studies that were seen so far, by slug."""
        return tuple(served for _, served in sorted(self._studies.items()))

    def get(self, slug: str) -> Served | None:
        """The study of this slug; None where there is none, or where its name is no address."""
        return self._studies.get(slug) if is_servable(slug) else None

    def is_due(self) -> bool:
        """Whether the folder may be read again."""
        return time.monotonic() >= self._next_scan

    def scan(self) -> tuple[Served, ...]:
        """Open what is new in the folder and what failed before; the studies that are new here."""
        with self._lock:
            self._next_scan = time.monotonic() + self._seconds
            try:
                places = self.settings.places()
            except OSError as error:
                LOG.error("%s", fault_summary(error))
                return ()
            opened = []
            for place in places:
                registered = self._studies.get(place.slug)
                if registered is not None and registered.app is not None:
                    continue
                served = self._open(place)
                self._studies[place.slug] = served
                if served.app is not None:
                    opened.append(served)
            return tuple(opened)

    def _open(self, place: StudyPlace) -> Served:
        store = None
        try:
            if not is_servable(place.slug):
                raise KonsilError(
                    f"{place.folder}: expected a name of letters, digits, '.', '-' or '_' and none"
                    f" of {', '.join(sorted(RESERVED))}"
                )
            study, database = self._open_study(place)
            store = Store.open(database, create=False)
            options = replace(
                self.options,
                url=f"{self.options.url.rstrip('/')}/{place.slug}",
                centre=self.options.path,
                sign_in=(
                    None
                    if self.settings.service is None
                    else f"{self.options.path}/sign-in?study={place.slug}"
                ),
                service="" if self.settings.service is None else self.settings.service.name,
                owner_accounts=(
                    ()
                    if self.settings.service is None
                    else self.settings.service.owners(place.slug)
                ),
            )
            service = self.settings.service
            people = () if service is None else service.people
            end_account_sessions(store, digest(p for p in people if p.study in (ALL, place.slug)))
            served = Served(place, self._build(study, store, options), store)
            self._audit(served)
            return served
        # Whatever is wrong with one study, the others are served: a damaged file raises anything.
        except Exception as error:  # noqa: BLE001
            if store is not None:
                store.close()
            # Where the code stands is of use only for what nobody expected.
            fault = (
                printable("; ".join(str(error).splitlines()))
                if isinstance(error, KonsilError)
                else fault_summary(error)
            )
            # Tried again and again: the log has each reason once.
            if self._faults.get(place.slug) != fault:
                self._faults[place.slug] = fault
                LOG.error(
                    "%s: not available: %s; tried again on request", printable(place.slug), fault
                )
            return Served(place)

    def _audit(self, served: Served) -> None:
        """Note the study in the centre's log, and sign-ins to it that are refused from now on."""
        site, slug = served.site, served.place.slug
        if self.audit is None or site is None:
            return
        site.refused = partial(self.audit.refuse, slug)
        self.audit.adopt(slug, site)

    def health(self) -> tuple[int, int]:
        """How many studies answer, and how many there are."""
        n_healthy = sum(
            served.store is not None and answers(served.store.engine) for served in self.studies
        )
        return n_healthy, len(self.studies)

    def close(self) -> None:
        """Close the databases."""
        if self.audit is not None:
            self.audit.log.close()
        for served in self.studies:
            if served.store is not None:
                served.store.close()
