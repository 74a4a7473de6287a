"""Adjudication in a real browser: by keys alone, both languages, wide and narrow, light and dark,
by axe."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from konsil.store import Store
from konsil.store.people.access import Access
from konsil.web.app.app import create_app
from konsil.web.site.site import Options

from .browsers import free_port, served
from .conftest import AT
from .rating.test_adjudication import R1, STUDY, differing

FAR = "2099-01-01T00:00:00Z"


@pytest.mark.covering(1)
@pytest.mark.slow
@pytest.mark.parametrize(("language", "scheme"), [("de", "light"), ("en", "dark")])
def test_a_label_is_changed_by_keys_alone(
    language: str, scheme: str, chromium: Any, tmp_path: Path
) -> None:
    axe = pytest.importorskip("axe_core_python.sync_playwright").Axe()
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    with Store.open(tmp_path) as store:
        differing(store)
        owner = Access(store).invite("owner", "owner", at=AT, expires_at=FAR)
        rater = Access(store).invite(R1, "rater", at=AT, expires_at=FAR)
        with served(create_app(STUDY, store, Options(url=url)), port):
            pages, faults = [], []
            for secret in (owner, rater):
                page = chromium.new_context(locale=language, color_scheme=scheme).new_page()
                page.on("pageerror", lambda error: faults.append(str(error)))
                page.on(
                    "console",
                    lambda message: (
                        faults.append(message.text) if message.type == "error" else None
                    ),
                )
                page.goto(f"{url}/come/{secret}")
                page.locator("main button").press("Enter")
                page.wait_for_load_state()
                pages.append(page)
            office, page = pages
            office.goto(f"{url}/office/adjudication")
            fits(axe, office)
            office.locator("main .card button").press("Enter")
            office.locator("main .card input[value=close]").wait_for(state="attached")
            fits(axe, office)
            page.goto(f"{url}/next")
            page.locator("main a.go").press("Enter")
            page.wait_for_url("**/adjudication")
            fits(axe, page)
            page.locator("main .rated a").first.press("Enter")
            page.wait_for_url("**/adjudication/*")
            fits(axe, page)
            for n in range(2):
                here = page.url
                before = page.locator("input[name=label]:checked").get_attribute("value")
                page.locator("input[name=label]:checked").press("ArrowRight")
                after = page.locator("input[name=label]:checked").get_attribute("value")
                assert after != before
                page.keyboard.press("Tab")
                page.keyboard.type("Reason")
                page.keyboard.press("Tab")
                page.keyboard.press("Tab")
                page.keyboard.press("Enter")
                page.wait_for_url(lambda u, here=here: u != here)
                labels = [r.label for r in store.ratings() if r.note == "Reason"]
                assert len(labels) == n + 1 and after in labels
            page.wait_for_selector("[role=status]")
            fits(axe, page)
            office.locator("main .card button").press("Enter")
            office.locator("main .card").wait_for(state="detached")
            fits(axe, office)
            page.locator("main .rated a").first.press("Enter")
            page.wait_for_url("**/adjudication/*")
            fits(axe, page)
            assert page.locator("textarea").count() == 0
            assert "Reason" in str(page.text_content("main"))
            assert faults == []
        assert store.verify_log() == ()


@pytest.mark.slow
def test_a_reason_that_the_server_did_not_take_is_sent_by_loading_again(
    chromium: Any, tmp_path: Path
) -> None:
    """The browser shows a fault of its own; loading that again sends what was written and chosen,
    once."""
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    with Store.open(tmp_path) as store:
        differing(store)
        rater = Access(store).invite(R1, "rater", at=AT, expires_at=FAR)
        app = create_app(STUDY, store, Options(url=url))
        app.state.site.adjudicating.open_all("owner")
        with served(app, port):
            page = chromium.new_context().new_page()
            page.goto(f"{url}/come/{rater}")
            page.locator("main button").press("Enter")
            page.wait_for_url("**/finished")
            page.goto(f"{url}/adjudication")
            page.locator("main .rated a").first.click()
            page.wait_for_url("**/adjudication/*")
            here = page.url
            page.locator("input[name=label]").nth(1).check(force=True)
            label = page.locator("input[name=label]").nth(1).get_attribute("value")
            page.fill("textarea", "It omits the renal dose, which is dangerous in CKD.")
            page.route(here, lambda route: route.abort("connectionrefused"))
            with page.expect_event("requestfailed"):
                page.locator("main .go").press("Enter")
            page.wait_for_url("chrome-error://**")
            page.unroute(here)
            page.reload()
            page.wait_for_url(lambda now: now.startswith(url) and now != here)
        [rating] = [r for r in store.ratings() if r.note]
        assert (rating.note, rating.label) == (
            "It omits the renal dose, which is dangerous in CKD.",
            label,
        )


def fits(axe: Any, page: Any) -> None:
    """Nothing for axe, nothing wider than the window, nothing too small to be touched; with style
    sheet under 60 KB."""
    for width in (1280, 390, 320):
        page.set_viewport_size({"width": width, "height": 844})
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), (
            page.url,
            width,
        )
        small = page.evaluate(
            "[...document.querySelectorAll('main button, main a.go, main .option')].filter(e =>"
            " e.getBoundingClientRect().height < 43.5).map(e => e.outerHTML.slice(0, 80))"
        )
        assert not small, (page.url, width)
        found = [(v["id"], v["nodes"][0]["html"]) for v in axe.run(page)["violations"]]
        assert not found, (page.url, width)
    sizes = page.evaluate("performance.getEntriesByType('resource').map(r => r.decodedBodySize)")
    assert len(page.content()) + sum(sizes) < 60_000
