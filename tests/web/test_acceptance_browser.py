"""The rating pages of every unit in a real browser: axe, weight, strangers, keys alone, and lines
that break."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import pytest

from konsil.store import Store
from konsil.store.people.access import Access
from konsil.web.app.app import create_app
from konsil.web.site.site import Options

from .browsers import free_port, served
from .conftest import AT
from .kit.test_canaries import FORMS, ME, OTHER, world
from .test_browser import saved, values

FAR = "2099-01-01T00:00:00Z"
LIGHTEST = 60_000
Serve = Callable[[str], AbstractContextManager[Callable[[str], str]]]


@pytest.fixture
def serve(opened: Store) -> Serve:
    """Serve a study of this unit; gives a maker of personal links."""

    @contextmanager
    def come(name: str) -> Iterator[Callable[[str], str]]:
        study, batch = world(name, "hidden")
        opened.add(batch, source="test", at=AT)
        port = free_port()
        url = f"http://127.0.0.1:{port}"

        def link(who: str) -> str:
            return f"{url}/come/{Access(opened).invite(who, 'rater', at=AT, expires_at=FAR)}"

        with served(create_app(study, opened, Options(url=url)), port):
            yield link

    return come


def enter(page: Any, link: str) -> None:
    """By keys alone: the button of the invitation has the focus; consent is the next button."""
    page.set_default_timeout(30_000)
    page.goto(link)
    page.wait_for_selector("button.go:focus")
    press(page, "button.go")
    if page.url.endswith("/consent"):
        press(page, "button[value=agree]")
    page.wait_for_selector("html.scripted")


def press(page: Any, what: str, most: int = 40) -> None:
    """Tab to something, and press Enter there."""
    for _ in range(most):
        if page.evaluate("what => document.activeElement.matches(what)", what):
            with page.expect_navigation():
                page.keyboard.press("Enter")
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"{what} cannot be reached by the keyboard")


@pytest.mark.covering(2)
@pytest.mark.slow
@pytest.mark.parametrize("name", FORMS)
def test_every_unit_is_accessible_light_and_asks_nobody_else(
    name: str, serve: Serve, chromium: Any
) -> None:
    axe = pytest.importorskip("axe_core_python.sync_playwright").Axe()
    found: list[object] = []
    with serve(name) as link:
        for language, scheme in (("de-DE", "light"), ("en-GB", "dark")):
            context = chromium.new_context(
                locale=language, color_scheme=scheme, viewport={"width": 1280, "height": 900}
            )
            page = context.new_page()
            url = link(ME)
            home = url.partition("/come/")[0]
            listen(page, home, found)
            page.goto(url)
            found.extend(axe_says(axe, page))
            enter(page, url)
            weight = page.evaluate(
                "performance.getEntriesByType('navigation').concat(performance.getEntriesByType('resource')).reduce((sum,"
                " one) => sum + one.decodedBodySize, 0)"
            )
            assert 5_000 < weight < LIGHTEST, f"{name}: {weight} bytes"
            for width, height in ((1280, 900), (390, 844), (320, 640)):
                page.set_viewport_size({"width": width, "height": height})
                assert page.evaluate("document.documentElement.scrollWidth") <= width, (name, width)
                found.extend(axe_says(axe, page) if width != 320 else [])
            page.keyboard.press("Enter")
            found.extend(axe_says(axe, page))
            for path in ("/nothing", "/finished", "/consent"):
                page.goto(home + path)
                found.extend(axe_says(axe, page))
            context.close()
    assert not [one for one in found if "status of 404" not in str(one)]


def listen(page: Any, home: str, found: list[object]) -> None:
    """Note requests to strangers, and whatever the browser reports as wrong."""
    page.on("request", lambda r: found.append(r.url) if not r.url.startswith(home) else None)
    page.on("pageerror", lambda error: found.append(str(error)))
    page.on("console", lambda m: found.append(m.text) if m.type == "error" else None)


def axe_says(axe: Any, page: Any) -> list[object]:
    return [(page.url, v["id"], v["nodes"][0]["html"]) for v in axe.run(page)["violations"]]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["medqade", "pairs"])
def test_from_the_link_to_the_end_by_keys_alone(
    name: str, serve: Serve, chromium: Any, opened: Store
) -> None:
    context = chromium.new_context(locale="de-DE", viewport={"width": 1280, "height": 900})
    page = context.new_page()
    with serve(name) as link:
        enter(page, link(ME))
        for _ in range(9):
            if page.url.endswith("/finished"):
                break
            before = page.url
            page.wait_for_selector("html.scripted")
            if page.locator("input[inputmode=decimal]").count():
                (
                    page.keyboard.press("Tab")
                    if not page.evaluate("document.activeElement.matches('input')")
                    else None
                )
                page.keyboard.type("40")
            for _ in range(
                page.locator("input[type=radio]").count() and page.locator("fieldset").count()
            ):
                page.keyboard.press("2")
            page.keyboard.press("Enter")
            page.wait_for_url(lambda url, before=before: url != before)
            page.wait_for_load_state()
        assert page.url.endswith("/finished")
        mine = [t for t in opened.tasks() if t.rater == ME]
        assert {r.task for r in opened.ratings()} == {t.id for t in mine}
    context.close()


@pytest.mark.slow
def test_what_was_said_offline_comes_even_after_the_window_was_closed(
    serve: Serve,
    chromium: Any,
    opened: Store,
) -> None:
    context = chromium.new_context(locale="de-DE", viewport={"width": 1280, "height": 900})
    page = context.new_page()
    with serve("medqade") as link:
        enter(page, link(ME))
        task = page.url
        context.set_offline(True)
        for key in "120212":
            page.keyboard.press(key)
        page.keyboard.press("Enter")
        page.wait_for_selector("#badge[data-state=offline]")
        assert page.url == task
        said = values(page)
        page.close()
        assert opened.ratings() == ()
        context.set_offline(False)
        page = context.new_page()
        page.goto(task)
        saved(page)
        assert values(page) == said
        other = chromium.new_context().new_page()
        enter(other, link(ME))
        assert values(other) == said, "they are on every device now"
        page.keyboard.press("Enter")
        page.wait_for_url(lambda url: url != task)
        stored = {r.criterion: r.label for r in opened.ratings() if r.criterion == "difficulty"}
        assert stored == {"difficulty": "Mittel"}
        assert [r.state for r in opened.ratings()].count("abstained") == 1
    context.close()


@pytest.mark.slow
def test_signing_in_anew_in_another_window_loses_nothing(serve: Serve, chromium: Any) -> None:
    """Whoever clicks the link in the mail once more has another session, and the window of before
    its old token."""
    context = chromium.new_context(locale="de-DE", viewport={"width": 1280, "height": 900})
    page, mail = context.new_page(), context.new_page()
    with serve("medqade") as link:
        enter(page, link(ME))
        page.keyboard.press("1")
        saved(page)
        mail.goto(link(ME))
        press(mail, "button.go")
        assert mail.url == page.url
        page.keyboard.press("2")
        page.locator("#rating input:checked").nth(1).wait_for(state="attached")
        saved(page)
        mail.reload()
        assert values(mail) == values(page) == ["Falsch", "Richtig"]
    context.close()


@pytest.mark.slow
def test_a_device_that_two_share_keeps_each_ones_answers(serve: Serve, chromium: Any) -> None:
    context = chromium.new_context(locale="de-DE", viewport={"width": 1280, "height": 900})
    page = context.new_page()
    with serve("medqade") as link:
        enter(page, link(ME))
        task = page.url
        context.set_offline(True)
        page.keyboard.press("2")
        page.wait_for_selector("#badge[data-state=offline]")
        page.close()
        context.set_offline(False)
        page = context.new_page()
        enter(page, link(OTHER))
        page.wait_for_timeout(300)
        assert values(page) == []
        enter(page, link(ME))
        assert page.url == task
        saved(page)
        assert values(page) == ["Richtig"]
        assert (
            page.evaluate(
                "Object.keys(localStorage).filter(k => k.startsWith('konsil:queue')).length"
            )
            == 0
        )
    context.close()
