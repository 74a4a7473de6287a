"""The office in a real browser: every page in both languages, wide and narrow, light and dark, by
axe and by eye."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from konsil.store import Store
from konsil.store.people.access import Access
from konsil.store.people.recruiting import record
from konsil.study.sections.recruitment import STEPS, stratum
from konsil.web.app.app import create_app
from konsil.web.app.routes import ROUTES
from konsil.web.site.guard import Public
from konsil.web.site.site import Options

from ..browsers import free_port, in_a_browser, served

LATER = "2025-06-01T12:00:00Z"

pytestmark = in_a_browser


@pytest.fixture
def office(opened: Store, studies: dict[str, Any], kit: Any) -> Iterator[str]:
    """A study that is under way, with something on every page of its office."""
    port = free_port()
    clock, study = kit.clock(), studies["medqade"]
    kit.fill(opened, study)
    url = f"http://127.0.0.1:{port}"
    app = create_app(study, opened, Options(url=url, tries_a_minute=500), clock=clock)
    desk = app.state.site.desk
    form = {**{f"correctness.a{n}": "Richtig" for n in range(1, 6)}, "difficulty": "Mittel"}
    for _ in range(3):
        desk.submit("canary-rater-1", desk.next_task("canary-rater-1"), form, 0)
    desk.report("canary-rater-1", desk.next_task("canary-rater-1"), "Die Tabelle fehlt.", "p1")
    desk.close_batch("", "", "canary-rater-2")
    for name in ("surgery", "medicine"):
        numbers = dict(zip(STEPS, ("90", "40", "22", "20", "18", "12"), strict=True))
        record(opened, *stratum(name, numbers), at=clock.stamp())
    with served(app, port):
        yield url


def come(office: str, store: Store, page: Any, role: str = "owner") -> None:
    secret = Access(store).invite(
        f"the {role}",
        role,
        at="2025-03-01T12:00:00Z",
        expires_at=LATER,  # type: ignore[arg-type]
    )
    page.goto(f"{office}/come/{secret}")
    page.click("button.go")


PAGES = [
    *(
        p.path
        for p in ROUTES
        if p.method == "GET" and not isinstance(p.audience, Public) and "owner" in p.audience
    ),
    "/office/withdrawal?rater=canary-rater-1",
]


@pytest.mark.covering(1)
@pytest.mark.parametrize(("language", "scheme"), [("de", "light"), ("en", "dark")])
def test_every_page_is_accessible_and_fits(
    language: str, scheme: str, office: str, opened: Store, chromium: Any
) -> None:
    axe = pytest.importorskip("axe_core_python.sync_playwright").Axe()
    context = chromium.new_context(
        locale=language, color_scheme=scheme, viewport={"width": 1280, "height": 900}
    )
    page = context.new_page()
    errors: list[str] = []
    page.on(
        "console", lambda message: errors.append(message.text) if message.type == "error" else None
    )
    page.on(
        "request", lambda r: None if r.url.startswith((office, "data:")) else errors.append(r.url)
    )
    come(office, opened, page)
    found = []
    for path in PAGES:
        if path.endswith(".csv"):  # a download is no page
            continue
        for width, height in ((1280, 900), (390, 844), (320, 640)):
            page.set_viewport_size({"width": width, "height": height})
            page.goto(office + path)
            wide = page.evaluate(
                "document.documentElement.scrollWidth - document.documentElement.clientWidth"
            )
            found += [(path, width, "too wide")] if wide > 0 else []
            small = page.evaluate(
                "[...document.querySelectorAll('button, select, input:not([type=hidden]), nav a,"
                " a.go')].filter(e => e.checkVisibility() && !e.popover &&"
                " e.getBoundingClientRect().height < 43.5).map(e => e.outerHTML.slice(0, 80))"
            )
            found += [(path, width, one) for one in small]
            if width != 320:
                found += [
                    (path, width, v["id"], v["nodes"][0]["html"])
                    for v in axe.run(page)["violations"]
                ]
    assert not found
    assert not errors


def test_a_letter_is_copied_and_a_rater_withdrawn_by_keys(
    office: str, opened: Store, chromium: Any
) -> None:
    context = chromium.new_context(locale="en", permissions=["clipboard-read", "clipboard-write"])
    page = context.new_page()
    come(office, opened, page, "coordinator")
    page.goto(f"{office}/office/invitations")
    page.get_by_role("button", name="Make links for all who have none").press("Enter")
    page.get_by_role("button", name="Copy the letter").first.press("Enter")
    page.get_by_role("button", name="copied").wait_for()
    letter = page.evaluate("navigator.clipboard.readText()")
    assert f"{office}/come/" in letter
    assert page.get_by_role("heading", name="canary-rater-1").count() == 1
    page.goto(f"{office}/office/withdrawal?rater=canary-rater-1")
    page.get_by_role("textbox").fill("moved away")
    page.get_by_role("button", name="Withdraw rater and reassign tasks").press("Enter")
    page.get_by_role("heading", name="Progress").wait_for()
    assert page.get_by_text("withdrawn").count() == 1
    assert [e.data["reason"] for e in opened.events() if e.kind == "withdrawal"] == ["moved away"]
