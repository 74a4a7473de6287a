"""Small studies of every unit, served: a desk without HTTP, and a client that is signed in."""

from __future__ import annotations

import dataclasses
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace

import pytest
from anyio.from_thread import start_blocking_portal
from sqlalchemy import event
from starlette.applications import Starlette
from starlette.testclient import TestClient

from konsil.instrument import Criterion, Instrument, Scale
from konsil.plan import Allocation, assign
from konsil.records import Answer, Citation, Item, Rater, Span, System
from konsil.store import Batch, Store
from konsil.store.people.access import Access, role_of
from konsil.study import Study
from konsil.web.app.app import create_app
from konsil.web.rating.rating_service import Desk
from konsil.web.site.site import Options

from .browsers import chromium

__all__ = ["chromium"]


@pytest.fixture(scope="session", autouse=True)
def _one_loop() -> Iterator[None]:
    """One thread with a loop of events for all requests of all clients, where each request would
    start its own."""
    with start_blocking_portal() as portal:
        TestClient.portal = portal
        yield
        TestClient.portal = None


AT = "2025-03-01T12:00:00Z"
LATER = "2025-06-01T12:00:00Z"
URL = "http://testserver"
CORRECT = Criterion(
    "correctness",
    "Ist die Antwort richtig?",
    Scale(("Falsch", "Richtig"), abstain="Keine Angabe"),
    guidance="Jede Antwort für sich.",
)
DIFFICULTY = Criterion(
    "difficulty",
    "Wie schwer ist die Frage?",
    Scale(("Einfach", "Mittel", "Schwer"), level="ordinal"),
    "item",
)
MEDQADE = Instrument(
    "medqade",
    (CORRECT, DIFFICULTY),
    "# Kodierbuch\n\nRichtig ist, was **stimmt**.",
    show_reference=True,
    language="de",
)
FIVE = Scale(("1", "2", "3", "4", "5"), level="ordinal", abstain="cannot judge")
CLEXEVAL = Instrument(
    "clexeval",
    tuple(
        Criterion(f"c{n}", f"Criterion {n}: how good is it?", FIVE, reason=n == 7)
        for n in range(1, 8)
    ),
    "How to rate.",
)
PAIR = Instrument(
    "pairs",
    tuple(
        Criterion(
            f"p{n}",
            f"Which is better in respect {n}?",
            Scale(("A much", "A", "same", "B", "B much"), level="ordinal"),
            "pair",
        )
        for n in range(1, 6)
    ),
    unit="pair",
)
SENTENCES = Instrument(
    "sentences",
    (
        Criterion("risk", "Is it risky?", Scale(("no", "yes"), abstain="cannot tell"), "sentence"),
        Criterion(
            "whole", "How good is the whole?", Scale(kind="number", low=0, high=10), "answer"
        ),
        Criterion("words", "Anything else?", Scale(kind="text"), "task"),
    ),
    unit="sentence",
)
ALONE = dataclasses.replace(SENTENCES, present="sentence")
SURVEY = Instrument(
    "end",
    (Criterion("effort", "How hard was it?", Scale(kind="number", low=0, high=100), "rater"),),
)
SYSTEMS = tuple(System(f"canary-system-{n}", f"canary-family-{n}") for n in range(1, 6))
TEXT = (
    "- Dose <5 mg/dL and p<0.05.\n- **Give it slowly.** Watch *closely*.\n\n| a | b |\n|---|---|\n|"
    " 1 | 2 |"
)


def items(n: int = 6) -> tuple[Item, ...]:
    return tuple(
        Item(f"canary-item-{k}", f"Frage {k}: welches Organ?", f"Leber {k}", sets=("core",))
        for k in range(n)
    )


def answers(wanted: tuple[Item, ...]) -> tuple[Answer, ...]:
    spans = (Span(2, 27), Span(30, 49))
    return tuple(
        Answer(
            f"canary-answer-{i.id}-{s.id}",
            i.id,
            s.id,
            TEXT,
            "canary-reasoning",
            (Citation("Guide", "https://x.org"),),
            spans,
        )
        for i in wanted
        for s in SYSTEMS
    )


def raters(n: int = 3) -> tuple[Rater, ...]:
    panel = tuple(Rater(f"canary-rater-{k}", "panel") for k in range(1, n + 1))
    return (*panel, Rater("canary-breaker", "breakers"))


def study_of(
    instrument: Instrument, plan: tuple[Allocation, ...], who: tuple[Rater, ...] | None = None
) -> Study:
    return Study(
        "Eine Studie",
        7,
        language="de",
        instruments=(instrument, SURVEY),
        systems=SYSTEMS,
        raters=who or raters(),
        plan=plan,
    )


STUDIES = {
    "medqade": study_of(
        MEDQADE,
        (
            Allocation("panel", "medqade", raters_per_item=2),
            Allocation("breakers", "medqade", purpose="tiebreak", when="disagreed"),
        ),
    ),
    "clexeval": study_of(
        CLEXEVAL,
        (Allocation("panel", "clexeval", show="each", batches=10), Allocation("panel", "end")),
    ),
    "pairs": study_of(PAIR, (Allocation("panel", "pairs", show="pair"),)),
    "sentences": study_of(SENTENCES, (Allocation("panel", "sentences", show="each"),)),
    "alone": study_of(ALONE, (Allocation("panel", "sentences", show="each"),)),
}


def fill(store: Store, study: Study, n_items: int = 6) -> None:
    what = items(n_items)
    said = answers(what)
    tasks = assign(
        study.plan,
        items=what,
        answers=said,
        raters=study.raters,
        instruments=study.instruments,
        seed=study.seed,
    )
    store.add(
        Batch(items=what, answers=said, raters=study.raters, tasks=tasks), source="test", at=AT
    )


@pytest.fixture
def database(tmp_path: Path) -> str:
    return str(tmp_path)


@pytest.fixture(scope="session")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database without records, made once: making it takes longer than most tests here."""
    folder = tmp_path_factory.mktemp("empty")
    Store.open(folder).close()
    return folder / "konsil.db"


@pytest.fixture
def opened(database: str, empty: Path) -> Iterator[Store]:
    shutil.copyfile(empty, Path(database) / "konsil.db")
    with Store.open(database) as store:
        hurried(store)
        yield store


def hurried(store: Store) -> None:
    """No waiting for the disk: nobody pulls the plug here. Where somebody does, the server is a
    real one."""
    event.listen(
        store.engine,
        "connect",
        lambda connection, _: connection.execute("PRAGMA synchronous = OFF"),
    )
    store.engine.dispose()


class Clock:
    """A clock that the test moves."""

    def __init__(self) -> None:
        self.time = datetime(2025, 3, 1, 12, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.time

    def pass_(self, seconds: float) -> None:
        self.time += timedelta(seconds=seconds)

    def stamp(self) -> str:
        return self.time.strftime("%Y-%m-%dT%H:%M:%SZ")


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def desk(opened: Store, clock: Clock) -> Callable[..., Desk]:
    """The desk of a study of this name, its plan drawn."""

    def make(name: str = "medqade", n_items: int = 6) -> Desk:
        fill(opened, STUDIES[name], n_items)
        return Desk(STUDIES[name], opened, clock.stamp)

    return make


def cookie_name(browser: Browser) -> str:
    """What the study's cookie is called."""
    name: str = browser.client.app.state.site.cookie  # type: ignore[attr-defined]
    return name


class Browser:
    """A client that speaks as a browser does: with its origin, and the token of the page it is
    on."""

    def __init__(self, client: TestClient, url: str = URL) -> None:
        self.client = client
        self.url = url
        self.html = ""

    def get(self, path: str):
        response = self.client.get(path)
        self.html = response.text
        return response

    @property
    def csrf(self) -> str:
        found = re.search(r'name="csrf" value="([^"]*)"', self.html)
        return found[1] if found else ""

    def hidden(self) -> dict[str, str]:
        return dict(
            re.findall(
                r'<input type="hidden" name="(\w+)" value="([^"]*)">',
                self.html.split('id="rating"')[-1],
            )
        )

    def post(self, path: str, data: dict[str, str] | None = None, **more):
        headers = {"origin": self.url, **more.pop("headers", {})}
        response = self.client.post(
            path, data={"csrf": self.csrf, **(data or {})}, headers=headers, **more
        )
        self.html = response.text
        return response

    def save(self, path: str, message: dict[str, object]):
        headers = {"origin": self.url, "x-csrf-token": self.csrf, "accept": "application/json"}
        return self.client.post(path, json=message, headers=headers)


Enter = Callable[..., Browser]


@pytest.fixture
def enter(opened: Store, clock: Clock) -> Iterator[Enter]:
    """Serve a study and come in by an invitation."""
    clients: list[TestClient] = []
    served: dict[tuple[str, str], Starlette] = {}
    filled: set[str] = set()

    def come(
        name: str = "medqade",
        who: str = "canary-rater-1",
        role: str = "rater",
        n_items: int = 6,
        url: str = URL,
        filled_already: bool = False,
    ) -> Browser:
        if name not in filled and not filled_already:
            fill(opened, STUDIES[name], n_items)
            filled.add(name)
        if (name, url) not in served:
            served[name, url] = create_app(STUDIES[name], opened, Options(url=url), clock=clock)
        client = TestClient(served[name, url], base_url=url)
        clients.append(client)
        browser = Browser(client, url)
        if who:
            secret = Access(opened).invite(who, role_of(role), at=clock.stamp(), expires_at=LATER)
            assert browser.post(f"/come/{secret}").status_code == 200
        return browser

    yield come
    for client in clients:
        client.close()


@pytest.fixture
def studies() -> dict[str, Study]:
    return STUDIES


@pytest.fixture
def kit() -> SimpleNamespace:
    """What a test needs that serves more than one study itself."""
    return SimpleNamespace(fill=fill, browser=Browser, clock=Clock)


@contextmanager
def visits(app: Starlette, store: Store) -> Iterator[Callable[..., Browser]]:
    """Browsers of people who come in by invitations; closed at the end."""
    clients: list[TestClient] = []

    def enter(who: str = "ada", role: str = "curator") -> Browser:
        client = TestClient(app, base_url=URL)
        clients.append(client)
        browser = Browser(client)
        browser.post(f"/come/{Access(store).invite(who, role_of(role), at=AT, expires_at=LATER)}")
        return browser

    yield enter
    for client in clients:
        client.close()
