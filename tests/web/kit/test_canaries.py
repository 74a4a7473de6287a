"""Blinding: what a rater's browser receives does not depend on anything the rater must not know.

Two ways to look. Canaries: every hidden field holds a word, and the word is in nothing that reaches
a rater, whatever the rater does. Worlds: two studies that differ in hidden fields alone send the
same bytes, random names aside."""

from __future__ import annotations

import dataclasses
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from konsil.instrument import Instrument
from konsil.plan import Allocation, assign
from konsil.records import Answer, Citation, Item, Rater, Span, System, Task
from konsil.store import Batch, Store
from konsil.store.log import study_events
from konsil.store.people.access import Access
from konsil.store.people.people import Person, note_person
from konsil.study import Study
from konsil.study.sections.enrolment import Enrolment, version_of
from konsil.web.app.app import create_app
from konsil.web.app.routes import ROUTES
from konsil.web.kit.kit import make
from konsil.web.site.guard import Public
from konsil.web.site.site import Options

from ..both import opened, server  # noqa: F401 - fixtures
from ..conftest import (
    AT,
    CLEXEVAL,
    LATER,
    MEDQADE,
    PAIR,
    SENTENCES,
    SURVEY,
    TEXT,
    URL,
    Browser,
    Clock,
    hurried,
)

ME, OTHER = "canary-rater-1", "canary-rater-2"
FORMS: dict[str, tuple[Instrument, Any]] = {
    "medqade": (MEDQADE, {}),
    "clexeval": (CLEXEVAL, {"show": "each", "batches": 5}),
    "pairs": (PAIR, {"show": "pair"}),
    "sentences": (SENTENCES, {"show": "each"}),
}
RANDOM = re.compile(r"(?<![\w-])[\w-]{16}(?![\w-])|(?<![\w-])[\w-]{32}(?![\w-])")


def world(name: str, word: str, tasks: tuple[Task, ...] = ()) -> tuple[Study, Batch]:
    """A study in which every field that a rater must not know says `word`, and every identifier
    canary."""
    form, how = FORMS[name]
    form = dataclasses.replace(form, show_reference=False, show_reasoning=False)
    systems = tuple(
        System(
            f"canary-system-{n}",
            f"{word}-family-{n}",
            f"{word}:model-{n}",
            {"prompt": f"{word}-prompt"},
        )
        for n in range(1, 6)
    )
    items = tuple(
        Item(
            f"canary-item-{k}",
            f"Frage {k}: welches Organ?",
            f"{word}-reference {k}",
            (f"{word}-alias",),
            f"{word}-case-{k}",
            ("core", f"{word}-set"),
            {f"{word}-stratum": f"{word}-value"},
        )
        for k in range(2)
    )
    answers = tuple(
        Answer(
            f"canary-answer-{i.id}-{n}",
            i.id,
            s.id,
            f"{TEXT}\n\nNr. {n}",
            f"{word}-reasoning {n}",
            (Citation("Guide", "https://x.org"),),
            (Span(2, 27), Span(30, 49)),
        )
        for i in items
        for n, s in enumerate(systems)
    )
    raters = tuple(
        Rater(who, "panel", family=f"{word}-clinic", strata={f"{word}-stratum": f"{word}-{who}"})
        for who in (ME, OTHER)
    )
    plan = (
        Allocation(
            "panel", form.id, phase="canary-phase", arms={"text": 1, "canary-arm": 1}, **how
        ),
        Allocation("panel", "end"),
    )
    study = Study(
        "Eine Studie",
        7,
        language="de",
        instruments=(form, SURVEY),
        systems=systems,
        raters=raters,
        plan=plan,
        enrolment=Enrolment(consent="Ich nehme teil."),
    )
    if not tasks:
        tasks = assign(
            study.plan,
            items=items,
            answers=answers,
            raters=raters,
            instruments=study.instruments,
            seed=study.seed,
        )
    return study, Batch(items=items, answers=answers, raters=raters, tasks=tasks)


def filled(html: str, nth: int = 0) -> dict[str, str]:
    """A value for every field of a page: the first, or the nth option."""
    options: dict[str, list[str]] = {}
    for name, value in re.findall(r'<input type="radio" name="([^"]*)" value="([^"]*)"', html):
        options.setdefault(name, []).append(value)
    found = {name: values[min(nth, len(values) - 1)] for name, values in options.items()}
    return found | dict.fromkeys(
        re.findall(r'inputmode="decimal" name="([^"]*)"', html), str(7 - min(nth, 2))
    )


class Rated:
    """A study served, with another rater who has said everything that there is to say, and a clock
    that stands."""

    def __init__(self, study: Study, batch: Batch, store: Store, word: str, nth: int) -> None:
        self.study, self.store, self.word = study, store, word
        self.clock = Clock()
        self.seen: list[str] = []
        store.add(batch, source="test", at=AT)
        for who in (ME, OTHER):
            note_person(store, Person(who, f"{word} Person", f"{word}@example.org"))
        self.app = create_app(study, store, Options(url=URL, tries_a_minute=500), clock=self.clock)
        other = self.come(OTHER)
        while (path := self.go(other)) != "/finished":
            notes = dict.fromkeys(re.findall(r'name="([^"]*reason)"', other.html), f"{word}-note")
            other.post(
                f"{path}/problem", {"visit": other.hidden()["visit"], "text": f"{word}-problem"}
            )
            other.get(path)
            other.post(
                path,
                {**other.hidden(), **filled(other.html, nth), **notes, "words": f"{word}-words"},
            )
        told = [e.data for e in store.events() if e.kind == study_events.PROBLEM]
        assert any(word in str(data) for data in told), "nothing was planted"

    def come(self, who: str) -> Browser:
        browser = Browser(TestClient(self.app, base_url=URL))
        secret = Access(self.store).invite(who, "rater", at=AT, expires_at=LATER)
        browser.post(f"/come/{secret}")
        version = re.search(r'name="version" value="([^"]*)"', browser.html)
        assert version is not None
        browser.post("/consent", {"say": "agree", "version": version[1]})
        return browser

    @staticmethod
    def go(browser: Browser) -> str:
        return str(browser.get("/next").url.path)

    def note(self, got: Any) -> Any:
        for one in [*got.history, got]:
            self.seen.append(
                f"{one.status_code} {one.url} {sorted(one.headers.items())}\n{one.text}"
            )
        return got

    def walk(self) -> list[str]:
        """Everything that reaches a rater: every page and every answer to whatever can be sent,
        wrong or right."""
        me = self.come(ME)
        first = self.go(me)
        while (path := self.go(me)) != "/finished":
            self.note(me.get(path))
            values = filled(me.html)
            n = len(self.seen)
            one = [
                {
                    "id": f"{n}-1",
                    "field": next(iter(values)),
                    "value": next(iter(values.values())),
                    "base_rev": 0,
                }
            ]
            crossed = [
                {**one[0], "id": f"{n}-2", "base_rev": 0, "value": list(values.values())[-1]}
            ]
            for changes in (one, crossed, [{**one[0], "field": "none", "id": f"{n}-3"}], "broken"):
                message = {"changes": changes, "visit": me.hidden()["visit"]}
                self.note(me.save(f"{path}/save", message))
            sent = me.hidden() | values
            self.note(me.post(f"{path}/problem", {"visit": sent["visit"], "text": "Etwas fehlt."}))
            self.note(me.get(path))
            self.note(me.post(f"{path}/later", me.hidden() | values))
            self.note(me.get(path))
            self.note(me.post(path, me.hidden() | {next(iter(values)): ""}))
            self.note(me.get(path))
            self.note(me.post(path, {**me.hidden(), **values}))
        # In the order in which they came, which is the plan's; that of their random names is
        # another every time.
        public = dict.fromkeys(
            m for text in self.seen for m in re.findall(r"/task/[\w-]{16}", text)
        )
        others = [place(p.path) for p in ROUTES if p.method == "GET"]
        for path in [first, *others, *public, *sorted(self.links())]:
            self.note(me.get(path))
        for page in ROUTES:
            if page.method == "POST" and page.name not in ("leave", "say_consent", "make_own_link"):
                me.get("/finished")
                self.note(me.post(place(page.path)))
                self.note(me.client.post(place(page.path)))
        self.note(me.get("/consent"))
        self.note(me.post("/consent", {"say": "withdraw"}))
        return self.seen

    def links(self) -> set[str]:
        return {
            m
            for text in self.seen
            for m in re.findall(r'(?:href|src)="(/[^"]*)"', text)
            if not m.startswith("/task/")
        }


def place(path: str) -> str:
    return path.format(secret="none", public="none", about="none", digest="0", name="none.css")


def leaks(seen: list[str], words: tuple[str, ...]) -> list[str]:
    return [text[:200] for text in seen if any(w in text.casefold() for w in words)]


@pytest.mark.covering
@pytest.mark.parametrize(
    "name", ["medqade", *(pytest.param(n, marks=pytest.mark.slow) for n in list(FORMS)[1:])]
)
def test_no_canary_reaches_a_rater(name: str, opened: Store) -> None:
    study, batch = world(name, "canary")
    rated = Rated(study, batch, opened, "canary", 9)
    seen = rated.walk()
    assert len(seen) > 100
    assert any("welches Organ?" in text for text in seen), "the pages were seen"
    assert any(r.note == "canary-note" for r in opened.ratings()) == (name != "pairs")
    assert any(r.rater == ME for r in opened.ratings())
    assert not leaks(seen, ("canary",))
    hidden = (*(t.id for t in batch.tasks), *(t.slot for t in batch.tasks if t.slot))
    assert not leaks(seen, tuple(h.casefold() for h in hidden))


@pytest.mark.slow
def test_a_canary_that_is_shown_is_found(opened: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """The crawl itself: one hidden field let through anywhere is noticed."""
    from konsil.web.site import pages

    known = pages.path_to
    monkeypatch.setattr(
        pages, "path_to", lambda request, name, **more: f"{known(request, name, **more)}#canary-x"
    )
    study, batch = world("pairs", "canary")
    with pytest.raises(AssertionError):
        assert not leaks(Rated(study, batch, opened, "canary", 9).walk(), ("canary",))


@pytest.mark.covering(2)
@pytest.mark.slow
@pytest.mark.parametrize("name", FORMS)
def test_worlds_that_differ_in_what_is_hidden_send_the_same_bytes(
    name: str, tmp_path: Path, empty: Path
) -> None:
    sent: list[list[str]] = []
    tokens: list[set[str]] = []
    tasks: tuple[Task, ...] = ()
    for word, nth in (("one", 0), ("another", 9)):
        folder = tmp_path / word
        folder.mkdir()
        shutil.copyfile(empty, folder / "konsil.db")
        # One plan: whose turn an item is may depend on the name of its case, what is shown of it
        # may not.
        study, batch = world(name, word, tasks)
        tasks = batch.tasks
        with Store.open(folder) as store:
            hurried(store)
            seen = Rated(study, batch, store, word, nth).walk()
        pages = [text for text in seen if "/static/" not in text.partition("\n")[0]]
        # The line that reads a number back is named after its field.
        words = {t for text in pages for t in RANDOM.findall(text) if not t.endswith("-reading")}
        found = {t for t in words if re.search(r"\d|[A-Z]", t)}
        tokens.append(found)
        sent.append([masked(text, found) for text in seen])
    assert len(sent[0]) == len(sent[1])
    for one, other in zip(*sent, strict=True):
        assert one == other
    assert len(tokens[0]) > 10
    assert tokens[0] & tokens[1] <= {version_of("Ich nehme teil.")}, (
        "names are drawn anew, not made of anything that is planned"
    )


def masked(text: str, tokens: set[str]) -> str:
    text = RANDOM.sub(lambda m: "TOKEN" if m[0] in tokens else m[0], text)
    return re.sub(r"'content-length', '\d+'", "", text)


@pytest.mark.covering(2)
@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["medqade", *(pytest.param(n, marks=pytest.mark.slow) for n in list(FORMS)[1:])]
)
def test_no_canary_is_in_an_offline_kit(name: str, opened: Store) -> None:
    study, batch = world(name, "canary")
    rated = Rated(study, batch, opened, "canary", 9)
    rated.come(ME)
    first = min((t for t in opened.tasks() if t.rater == ME), key=lambda t: t.position)
    html = make(rated.app.state.site, ME, first.phase, first.batch, "de").html
    assert "welches Organ?" in html
    assert not leaks([html], ("canary", *(t.id.casefold() for t in batch.tasks)))


def test_a_rater_exports_nothing() -> None:
    """Nothing that a rater may open is a download; what is, is for others."""
    mine = {p.name for p in ROUTES if isinstance(p.audience, Public) or "rater" in p.audience}
    assert not mine & {"download", "fetch", "log", "flags", "overview", "invitations"}


@pytest.mark.slow
def test_slots_are_neutral_and_their_order_is_the_tasks_own(opened: Store) -> None:
    """a1 is the first pane on every page, and another answer from page to page."""
    study, batch = world("medqade", "canary")
    served = Rated(study, batch, opened, "canary", 9)
    me = served.come(ME)
    firsts = set()
    for _ in batch.items:
        path = served.go(me)
        assert set(filled(me.html)) == {*(f"~1.a{n}" for n in range(1, 6)), "~2"}
        firsts.add((re.search(r"Nr\. (\d)", me.html) or [""])[0])
        me.post(path, {**me.hidden(), **filled(me.html)})
    mine = [t.answers for t in batch.tasks if t.rater == ME and t.answers]
    assert firsts == {f"Nr. {answers[0][-1]}" for answers in mine}
    assert {a[0][-1] for a in mine} != {a[1][-1] for a in mine}
