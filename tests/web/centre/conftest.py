"""A centre of two studies, and what its tests share."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from konsil.errors import StudyError
from konsil.store import Store
from konsil.store.people.access import Access, role_of
from konsil.store.people.centre_log import open_log
from konsil.study import Study
from konsil.web.app.app import create_app
from konsil.web.centre.auditing import CentreAudit
from konsil.web.centre.centre import Centre
from konsil.web.centre.registry import Registry
from konsil.web.centre.settings import StudyPlace, place_of_log, read_settings
from konsil.web.site.site import Options

from ..conftest import AT, LATER, STUDIES, Clock, fill, hurried

HOST = "https://studies.example.org"
ORIGIN = {"origin": HOST}
NAMES = {"heart": "medqade", "lung": "clexeval"}
"""The part of the address of each study, and which of the small studies it is."""


class Centres:
    """A centre on a folder, with the databases of its studies and clients of it."""

    def __init__(self, folder: Path, empty: Path, clock: Clock) -> None:
        self.folder, self._empty, self.clock = folder, empty, clock
        self.url, self.passkeys = HOST, False
        self._stores: dict[str, Store] = {}
        self._clients: list[TestClient] = []
        self._centre: Centre | None = None

    def add(self, slug: str, name: str = "medqade") -> None:
        """A study's folder with a filled database."""
        (self.folder / slug).mkdir()
        (self.folder / slug / "study.toml").write_text(name)
        shutil.copyfile(self._empty, self.folder / slug / "konsil.db")
        with Store.open(self.folder / slug) as store:
            hurried(store)
            fill(store, STUDIES[name])

    def read(self, place: StudyPlace) -> tuple[Study, str]:
        """What opens a study here: its study.toml holds its name among the small studies."""
        name = (place.folder / "study.toml").read_text()
        if name not in STUDIES:
            raise StudyError(f"{place.folder}: there is no study {name}")
        return STUDIES[name], str(place.folder)

    @property
    def centre(self) -> Centre:
        """The application, with no wait between looks at the folder."""
        if self._centre is None:
            settings = read_settings(self.folder)
            log = self.folder / "centre.db"
            if not log.exists():
                shutil.copyfile(self._empty, log)
            registry = Registry(
                settings,
                Options(url=self.url, passkeys=self.passkeys),
                self.read,
                lambda study, store, options: create_app(study, store, options, clock=self.clock),
                audit=CentreAudit(open_log(place_of_log(settings)), self.clock),
                seconds=0.0,
            )
            self._centre = Centre(registry)
            registry.scan()
        return self._centre

    def client(self) -> TestClient:
        """A browser of its own."""
        client = TestClient(self.centre, base_url=HOST)
        self._clients.append(client)
        return client

    def access(self, slug: str) -> Access:
        """The invitations of one study."""
        served = self.centre.registry.get(slug)
        assert served is not None
        assert served.store is not None
        return Access(served.store)

    def enter(self, client: TestClient, slug: str, who: str = "lead", role: str = "owner") -> None:
        """Sign in to a study by an invitation."""
        until = LATER
        secret = self.access(slug).invite(who, role_of(role), at=AT, expires_at=until)
        answer = client.post(f"/{slug}/come/{secret}", headers=ORIGIN)
        assert answer.status_code == 200, answer.text

    def again(self) -> None:
        """Start the centre anew, after `close`."""
        self._centre, self._clients = None, []

    def close(self) -> None:
        for client in self._clients:
            client.close()
        if self._centre is not None:
            self._centre.registry.close()


@pytest.fixture
def centres(tmp_path: Path, empty: Path, clock: Clock) -> Iterator[Centres]:
    """A centre of two studies."""
    made = Centres(tmp_path, empty, clock)
    for slug, name in NAMES.items():
        made.add(slug, name)
    yield made
    made.close()
