"""A rater's page of a small study in a real browser, served in this process; script errors fail the
test."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from konsil.instrument import Instrument
from konsil.plan import Allocation, assign
from konsil.records import Answer, Item, Rater, Rating, System
from konsil.store import Batch, Store
from konsil.store.people.access import Access
from konsil.study import Study
from konsil.web.app.app import create_app
from konsil.web.site.site import Options, utc

from .browsers import free_port, served

AT = "2025-03-01T12:00:00Z"
FAR = "2099-01-01T00:00:00Z"
RATER = "r1"


class OpenDesk:
    """A rater's page, the study's store behind it, and its address."""

    def __init__(self, page: Any, store: Store, url: str, study: Study) -> None:
        self.page, self.store, self.url, self.study = page, store, url, study

    def link(self, who: str = RATER) -> str:
        """A personal link."""
        return f"{self.url}/come/{Access(self.store).invite(who, 'rater', at=AT, expires_at=FAR)}"

    def come(self) -> None:
        """Sign in and go to the first task."""
        self.page.goto(self.link())
        self.page.click("button.go")
        self.page.wait_for_selector("html.scripted")

    def saved(self) -> None:
        """Wait until the page says that all is saved."""
        self.page.wait_for_selector("#badge[data-state=saved]")

    def leave(self, press: str = "Enter") -> None:
        """Press a key that goes on, and wait for the next page."""
        before = self.page.url
        self.page.keyboard.press(press)
        self.page.wait_for_url(lambda url: url != before)
        self.page.wait_for_load_state()

    def rating(self, criterion: str) -> Rating:
        """The rating that was stored last on a criterion."""
        return [r for r in self.store.ratings() if r.criterion == criterion][-1]

    def label(self, criterion: str) -> str | None:
        """Its label."""
        return self.rating(criterion).label


@contextmanager
def open_desk(
    chromium: Any,
    folder: Path,
    instrument: Instrument,
    *,
    systems: int = 1,
    items: int = 3,
    text: str = "Give **40 mg**.",
    question: str = "Question {}: how much furosemide?",
    plan: Sequence[Allocation] = (),
    instruments: Sequence[Instrument] = (),
    size: tuple[int, int] = (1280, 900),
    language: str = "en",
    more: Any = None,
    options: Any = None,
    clock: Any = utc,
    **browser: Any,
) -> Iterator[OpenDesk]:
    """A page at the first task of a study of one rater, with so many answers on a screen."""
    what = tuple(Item(f"i{n}", question.format(n)) for n in range(items))
    makers = tuple(System(f"s{n}") for n in range(systems))
    said = tuple(Answer(f"{i.id}:{s.id}", i.id, s.id, text) for i in what for s in makers)
    study = Study(
        "A small study",
        7,
        language=language,
        instruments=(instrument, *instruments),
        systems=makers,
        raters=(Rater(RATER, "panel"),),
        plan=tuple(plan) or (Allocation("panel", instrument.id),),
    )
    study = replace(study, **(more or {}))
    tasks = assign(
        study.plan,
        items=what,
        answers=said,
        raters=study.raters,
        instruments=study.instruments,
        seed=study.seed,
    )
    wrong: list[str] = []
    with ExitStack() as stack:
        store = stack.enter_context(Store.open(folder))
        store.add(
            Batch(items=what, answers=said, raters=study.raters, tasks=tasks), source="test", at=AT
        )
        port = free_port()
        url = f"http://127.0.0.1:{port}"
        stack.enter_context(
            served(create_app(study, store, Options(url=url, **(options or {})), clock=clock), port)
        )
        locale = {"de": "de-DE", "fr": "fr-FR"}.get(language, "en-GB")
        context = chromium.new_context(
            viewport={"width": size[0], "height": size[1]}, locale=locale, **browser
        )
        stack.callback(context.close)
        page = context.new_page()
        page.on("pageerror", lambda error: wrong.append(str(error)))
        yield OpenDesk(page, store, url, study)
    assert not wrong
