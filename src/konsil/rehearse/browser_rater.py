"""A real browser that rates one rater's tasks by keyboard alone.

It checks that the pages themselves work, and not only what they send.
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from konsil.errors import KonsilError, installation, option
from konsil.rehearse.forms import forms
from konsil.rehearse.people import Outcome, Person, Say, Think

if TYPE_CHECKING:
    from playwright.sync_api import ConsoleMessage, Page


BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
"""Programs that are looked for where playwright has brought no browser of its own."""
MOST_TABS = 80
"""Presses of Tab until something must have been reached."""
SECONDS = 30.0
"""How long a page may take to come."""
# What has the focus: the name, the kind and the value of a control, and where its form goes.
_FOCUS = """() => { const e = document.activeElement, f = e.form;
  return [e.name ?? "", e.type ?? e.tagName.toLowerCase(), e.value ?? "", \
f ? f.getAttribute("action") ?? "" : ""]; }"""
# The questions in the order of the page: their names, and which key stands for which option.
_ASKED = """() => [...document.querySelectorAll("#rating .asked")].map((f) => [f.dataset.field,
  Object.fromEntries([...f.querySelectorAll("input[data-key]")].\
map((i) => [i.value, i.dataset.key]))])"""
_HERE = "() => document.querySelector('.asked.here')?.dataset.field ?? ''"


def browser_there() -> None:
    """A KonsilError that says what to install, unless there is all that a real browser needs."""
    try:
        import playwright.sync_api  # noqa: F401
    except ImportError:
        raise KonsilError(
            f"{option('browser')}: needs playwright, which is not installed; install it with"
            f" {installation('browser')}"
        ) from None


def rate_in_window(
    person: Person,
    say: Say,
    think: Think,
    outcome: Outcome,
    *,
    idle: Callable[[bool], bool],
    until: Callable[[], bool],
) -> None:
    """Sign in by the personal link and rate, key by key, while tasks are open and `until` is false.

    `idle` is called with whether this rater has nothing to do, and returns whether no rater has
    anything to do any more.
    """
    with _page() as page:
        page.on(
            "pageerror",
            lambda error: outcome.times.fault(f"{person.rater}: script: {error.message}"),
        )
        page.on("console", lambda message: _console(outcome, person.rater, message))
        window = _Window(page, person, outcome)
        page.goto(person.link)
        window.press_on("/come/")
        while not until():
            path = window.path
            if path.startswith("/task/"):
                idle(False)
                window.rate(say, think)
            elif path in ("/consent", "/eligibility", "/profile", "/place"):
                window.reply(path)
            elif idle(True):
                return
            else:
                time.sleep(0.5)
                page.goto(person.link.partition("/come/")[0] + "/next")


def _console(outcome: Outcome, rater: str, message: ConsoleMessage) -> None:
    if message.type == "error":
        outcome.times.fault(f"{rater}: console: {message.text}")


@contextmanager
def _page() -> Iterator[Page]:
    from playwright.sync_api import Error, sync_playwright

    with sync_playwright() as play:
        bundled_path = play.chromium.executable_path
        program = (
            bundled_path
            if Path(bundled_path).exists()
            else next((p for b in BROWSERS if (p := shutil.which(b))), None)
        )
        if program is None:
            raise KonsilError(
                f"{option('browser')}: there is no Chromium; install one with 'playwright install"
                " chromium'"
            )
        # Chromium's sandbox does not work for the user root.
        flags = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
        try:
            browser = play.chromium.launch(executable_path=program, args=flags)
        except Error as error:
            raise KonsilError(
                f"{option('browser')}: {program} does not start: {error.message.splitlines()[0]}"
            ) from None
        try:
            page = browser.new_page(viewport={"width": 1280, "height": 900})
            page.set_default_timeout(1000 * SECONDS)
            yield page
        except Error as error:
            raise KonsilError(
                f"{urlsplit(page.url).path}: {error.message.splitlines()[0]}"
            ) from None
        finally:
            browser.close()


class _Window:
    """One page with a keyboard."""

    def __init__(self, page: Page, person: Person, outcome: Outcome) -> None:
        self._page, self._person, self._outcome = page, person, outcome

    @property
    def path(self) -> str:
        return urlsplit(self._page.url).path

    def press_on(self, start: str, name: str = "", value: str = "") -> None:
        """Go by Tab to the button of the form that leads to such an address, and press Enter."""
        for _ in range(MOST_TABS):
            got, kind, has, action = self._page.evaluate(_FOCUS)
            if (
                kind in ("submit", "button")
                and action.startswith(start)
                and (got, has) == (name, value)
            ):
                with self._page.expect_navigation():
                    self._page.keyboard.press("Enter")
                return
            self._page.keyboard.press("Tab")
        raise KonsilError(f"{self.path}: the button to {start} is not reached by Tab")

    def reply(self, start: str) -> None:
        """Fill in what is asked before the first task, and send it."""
        form = next(f for f in forms(self._page.content()) if f.action.startswith(start))
        for name, offered in form.options.items():
            self._fill(name, self._person.about.get(name, offered[0] if offered else ""), offered)
        self.press_on(form.action, *next((b for b in form.buttons if b[0]), ("", "")))

    def _fill(self, name: str, value: str, offered: tuple[str, ...]) -> None:
        for _ in range(MOST_TABS):
            got, kind, has, _action = self._page.evaluate(_FOCUS)
            if got == name:
                break
            self._page.keyboard.press("Tab")
        else:
            raise KonsilError(f"{self.path}: {name!r} is not reached by Tab")
        if kind != "radio":
            self._page.keyboard.type(value)
            return
        for _ in offered:
            if has == value:
                break
            self._page.keyboard.press("ArrowDown")
            has = self._page.evaluate(_FOCUS)[2]
        self._page.keyboard.press("Space")

    def rate(self, say: Say, think: Think) -> None:
        """Rate one page by digits and Enter, and be on the next one."""
        form = self._page.locator("#rating")
        if form.get_attribute("data-closed") is not None:
            # A practice that explains itself: read, and left.
            self._leave()
            return
        public = form.get_attribute("data-public") or ""
        form_values, seconds = say(public)
        form_fields: list[tuple[str, Mapping[str, str]]] = self._page.evaluate(_ASKED)
        if unknown := sorted(
            {name for name, value in form_values.items() if value}
            - {name for name, _ in form_fields}
        ):
            raise KonsilError(f"{self.path}: does not ask {unknown[0]!r}")
        for name, keys in form_fields:
            value = form_values.get(name, "")
            if not value:
                continue
            time.sleep(think(seconds / (len(form_fields) + 1)))
            if not keys:
                self._fill(name, value, ())
            elif value not in keys:
                raise KonsilError(f"{self.path}: {name}: no key chooses {value!r}")
            else:
                self._to(name)
                self._page.keyboard.press(keys[value])
        time.sleep(think(seconds / (len(form_fields) + 1)))
        self._leave()
        self._outcome.submitted[public] = form_values
        self._outcome.handed_in[self._person.rater] = (
            self._outcome.handed_in.get(self._person.rater, 0) + 1
        )

    def _to(self, name: str) -> None:
        """Make a question the current one, by Tab if necessary.

        It is the current question already where the question before it was just answered.
        """
        for _ in range(MOST_TABS):
            if self._page.evaluate(_HERE) == name:
                return
            self._page.keyboard.press("Tab")
        raise KonsilError(f"{self.path}: {name!r} is not reached by the keyboard")

    def _leave(self) -> None:
        if self._page.evaluate(_FOCUS)[1] in ("textarea", "text"):
            self._page.keyboard.press("Tab")
        began = time.perf_counter()
        with self._page.expect_navigation():
            self._page.keyboard.press("Enter")
        self._outcome.times.took(
            "in a browser", time.perf_counter() - began, len(self._page.content().encode())
        )
