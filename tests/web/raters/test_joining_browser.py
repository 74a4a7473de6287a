"""The way in, in a real browser: consent, eligibility, profile, a place, a personal link; nothing
serious for axe."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest

from konsil.store import Store
from konsil.store.people.access import Access
from konsil.study.sections.enrolment import Enrolment, names_of
from konsil.web.app.app import create_app
from konsil.web.site.site import Options

from ..browsers import free_port, served
from ..conftest import AT
from ..rating.test_joining import ASKS, PANEL, fill_places

FAR = "2099-01-01T00:00:00Z"


def serious(page: Any) -> list[str]:
    """What axe finds that would keep somebody out."""
    axe = pytest.importorskip("axe_core_python.sync_playwright")
    found = axe.Axe().run(page)["violations"]
    return [
        f"{v['id']}: {json.dumps([n['target'] for n in v['nodes']])}"
        for v in found
        if v["impact"] in ("serious", "critical")
    ]


@pytest.mark.covering(1)
@pytest.mark.slow
@pytest.mark.parametrize(
    ("language", "scheme", "width"), [("de", "light", 1280), ("en", "dark", 390)]
)
def test_from_the_link_for_anybody_to_the_first_task(
    language: str,
    scheme: str,
    width: int,
    chromium: Any,
    tmp_path: Path,
) -> None:
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    study = dataclasses.replace(PANEL, enrolment=ASKS)
    with Store.open(tmp_path) as store:
        fill_places(store, study)
        secret = Access(store).invite("", "rater", at=AT, expires_at=FAR)
        with served(create_app(study, store, Options(url=url)), port):
            context = chromium.new_context(
                viewport={"width": width, "height": 844}, locale=language, color_scheme=scheme
            )
            page = context.new_page()
            faults: list[str] = []
            page.on("pageerror", lambda error: faults.append(str(error)))
            page.on(
                "console",
                lambda message: faults.append(message.text) if message.type == "error" else None,
            )
            page.goto(f"{url}/come/{secret}")
            page.click("main button")
            for where, fill in (
                ("/consent", lambda: page.keyboard.press("Tab")),
                ("/eligibility", lambda: _choose(page, {"licensed": "Ja", "author": "Nein"})),
                (
                    "/profile",
                    lambda: (
                        _choose(page, {"specialty": "Innere", "product": "ja"}),
                        page.fill("[name='~4']", "7,5"),
                    ),
                ),
                ("/place", lambda: None),
            ):
                page.wait_for_url(f"**{where}")
                assert serious(page) == [], where
                assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), where
                fill()
                page.click("main .go")
            page.wait_for_url("**/link")
            page.click("main .go")
            link = page.input_value("#own-link")
            page.click("main .go")
            page.wait_for_url("**/task/**")
            page.wait_for_selector("html.scripted")
            first = page.url
            other = chromium.new_context().new_page()
            other.goto(link)
            other.click("main button")
            other.wait_for_url(first)
            page.goto(f"{url}/consent")
            page.click("summary")
            assert serious(page) == []
            with page.expect_navigation():
                page.click("button[value=withdraw]")
            other.reload()
            other.wait_for_url("**/consent")
            assert faults == []
            context.close()
        assert store.verify_log() == ()


def _choose(page: Any, replies: dict[str, str], asks: Enrolment = ASKS) -> None:
    """By keyboard: Tab into the group, arrows to the option."""
    for name, label in replies.items():
        option = page.locator(f"input[name='{names_of(asks).neutral(name)}'][value={label!r}]")
        option.focus()
        page.keyboard.press("Space")
        assert option.is_checked()


@pytest.mark.covering(1)
@pytest.mark.slow
@pytest.mark.parametrize(
    ("language", "scheme", "width"), [("de", "light", 1280), ("en", "dark", 390)]
)
def test_waiting_for_a_place_and_the_office_that_adds_one(
    language: str, scheme: str, width: int, chromium: Any, tmp_path: Path
) -> None:
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    asks = dataclasses.replace(
        ASKS, consent="", eligibility=(), withdrawn="keep", surplus="waiting list"
    )
    study = dataclasses.replace(
        PANEL, enrolment=asks, places=(dataclasses.replace(PANEL.places[1], number=1),)
    )
    with Store.open(tmp_path) as store:
        fill_places(store, study)
        secrets = [
            Access(store).invite(who, "rater", at=AT, expires_at=FAR) for who in ("first", "second")
        ]
        office = Access(store).invite("office", "coordinator", at=AT, expires_at=FAR)
        with served(create_app(study, store, Options(url=url)), port):
            pages = []
            for secret in (*secrets, office):
                page = chromium.new_context(
                    viewport={"width": width, "height": 844}, locale=language, color_scheme=scheme
                ).new_page()
                page.goto(f"{url}/come/{secret}")
                page.locator("main button").press("Enter")
                pages.append(page)
            for page in pages[:2]:
                page.wait_for_url("**/profile")
                _choose(page, {"specialty": "Chirurgie", "product": "ja"}, asks)
                page.fill("[name='~2']", "7")
                page.locator("main .go").press("Enter")
                page.wait_for_url("**/place")
            pages[0].locator("main .go").press("Enter")
            pages[0].wait_for_url("**/task/**")
            waits = pages[1]
            waits.reload()
            assert serious(waits) == []
            waits.locator("main .go").press("Enter")
            waits.wait_for_selector("[role=status]")
            assert serious(waits) == []
            desk = pages[2]
            desk.goto(f"{url}/office/enrolment")
            desk.click("section details summary")
            assert serious(desk) == []
            assert desk.evaluate("document.documentElement.scrollWidth <= innerWidth")
            desk.fill("[name=reason]", "more surgeons")
            desk.press("[name=reason]", "Enter")
            desk.wait_for_selector("td .mark")
            waits.reload()
            waits.locator("main .go").press("Enter")
            waits.wait_for_url("**/task/**")
        assert store.verify_log() == ()
