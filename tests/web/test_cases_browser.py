"""Screening and marking in a real browser: by keyboard alone, by mouse, on a phone, without a
network, by axe."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from konsil.prepare import Preparation, Screening
from konsil.prepare.cases.marking import Masking, last_markings
from konsil.records import Item
from konsil.store import Batch, Store
from konsil.store.people.access import Access
from konsil.web.app.app import create_app
from konsil.web.site.site import Options

from .browsers import free_port, in_a_browser, served
from .conftest import STUDIES
from .test_browser import PROTOCOL, Served

pytestmark = in_a_browser

AT, LATER = "2025-03-01T12:00:00Z", "2099-01-01T00:00:00Z"
TEXT = (
    "# Course\r\nA 🩺 of a man of 40 with dry cough and <i>fever</i>.\r\nMrs Miller saw"
    " granulomas. "
    "It was sarcoidosis, or Löfgren syndrome."
)
STATEMENTS = ("The course is rare.", "The details are complete.")


@pytest.fixture
def cases(opened: Store) -> Iterator[str]:
    port = free_port()
    prepare = Preparation(screen=Screening(criteria=STATEMENTS), mask=Masking())
    study = dataclasses.replace(STUDIES["clexeval"], prepare=prepare, title="Cases")
    opened.add(
        Batch(
            items=[Item(f"c{n}", TEXT, "Sarcoidosis", ("Löfgren syndrome",)) for n in range(1, 60)]
        ),
        source="t",
        at=AT,
    )
    app = create_app(study, opened, Options(url=f"http://127.0.0.1:{port}", tries_a_minute=500))
    with served(app, port) as url:
        yield url


def come(url: str, store: Store, browser: Any, who: str = "ada", **more: Any) -> Any:
    page = browser.new_context(
        **{"locale": "en", "viewport": {"width": 1280, "height": 900}, **more}
    ).new_page()
    page.faults = []
    page.on("pageerror", lambda error: page.faults.append(str(error)))
    page.goto(f"{url}/come/{Access(store).invite(who, 'curator', at=AT, expires_at=LATER)}")
    page.click("button.go")
    return page


def held(store: Store, case: str = "c1") -> list[tuple[str, str, int, str]]:
    found = last_markings(store.events()).get(case)
    return (
        [(TEXT[m.start : m.end], m.kind, m.rank, m.replacement) for m in found[1].marks]
        if found
        else []
    )


def saved(page: Any, store: Store, n: int) -> None:
    """Wait until the nth change is kept and shown."""
    page.wait_for_selector(f'#marker-state [name=seen][value="{n}"]', state="attached")
    assert last_markings(store.events())["c1"][0] == n
    assert page.faults == []


def test_a_case_is_marked_by_keyboard_alone(cases: str, opened: Store, chromium: Any) -> None:
    page = come(cases, opened, chromium)
    page.goto(f"{cases}/office/cases/mark?case=c1")
    page.wait_for_selector("html.scripted", state="attached")
    for _ in range(40):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.id") == "narrative":
            break
    for _ in range(9):
        page.keyboard.press("ArrowRight")
    page.keyboard.press("Shift+ArrowRight")
    assert page.input_value("#words") == "dry cough"
    page.keyboard.press("2")
    saved(page, opened, 1)
    assert held(opened) == [("dry cough", "cue", 1, "")], (
        "offsets hold beyond signs of two units and line ends of two"
    )
    assert page.evaluate("document.activeElement.id") == "narrative"
    page.keyboard.press("End")
    page.keyboard.press("Shift+ArrowLeft")
    assert page.input_value("#words") == "Löfgren syndrome"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.value") == "diagnosis"
    page.keyboard.press("Enter")
    saved(page, opened, 2)
    assert held(opened)[-1] == ("Löfgren syndrome", "diagnosis", 0, "")
    # Other words in its place, typed and left; kept without a button.
    page.focus("#marks input[name=replacement]")
    page.keyboard.type("the disease", delay=5)
    page.keyboard.press("Tab")
    saved(page, opened, 3)
    assert held(opened)[-1][3] == "the disease"
    assert "the disease" in page.text_content("#version-0")
    page.focus("#undo")
    page.keyboard.press("Enter")
    saved(page, opened, 4)
    assert held(opened)[-1][3] == ""
    page.close()


def test_by_mouse_and_what_is_typed_survives_the_answer(
    cases: str, opened: Store, chromium: Any
) -> None:
    page = come(cases, opened, chromium)
    page.goto(f"{cases}/office/cases/mark?case=c1")
    box = page.evaluate(
        "(() => { const r = document.createRange(); const n ="
        " [...document.querySelectorAll('#narrative [data-at]')].map(e => e.firstChild).find(t => t"
        " && t.data.includes('granulomas')); const k = n.data.indexOf('granulomas'); r.setStart(n,"
        " k); r.setEnd(n, k + 10); const b = r.getBoundingClientRect(); return [b.left, b.top +"
        " b.height / 2, b.right]; })()"
    )
    page.mouse.move(box[0] + 1, box[1])
    page.mouse.down()
    page.mouse.move(box[2] - 1, box[1], steps=4)
    page.mouse.up()
    assert page.input_value("#words") == "granulomas"
    page.click(".kind[value=cue]")
    saved(page, opened, 1)
    assert held(opened) == [("granulomas", "cue", 1, "")]
    page.click("#found button:has-text('Mark it') >> nth=0")
    saved(page, opened, 2)
    page.focus("#marks input[name=replacement]")
    for n, letter in enumerate("a long finding"):
        page.keyboard.type(letter)
        page.wait_for_timeout(800 if n == 5 else 40)
    page.wait_for_timeout(1_000)
    assert page.evaluate("document.activeElement.value") == "a long finding"
    assert "a long finding" in [mark[3] for mark in held(opened)]
    assert page.faults == []
    page.close()


def test_two_windows_and_no_network(cases: str, opened: Store, chromium: Any) -> None:
    ada, ben = come(cases, opened, chromium), come(cases, opened, chromium, "ben")
    for page in (ada, ben):
        page.goto(f"{cases}/office/cases/mark?case=c1")
    ada.fill("#words", "granulomas")
    ada.click(".kind[value=cue]")
    saved(ada, opened, 1)
    ben.fill("#words", "fever")
    ben.click(".kind[value=cue]")
    ben.wait_for_selector("#told .notice")
    assert "ada changed this case in the meantime" in ben.text_content("#told")
    assert [mark[0] for mark in held(opened)] == ["granulomas"]
    ben.click("#told button")
    saved(ben, opened, 2)
    assert {mark[0] for mark in held(opened)} == {"fever", "granulomas"}
    assert ben.query_selector("#told .notice") is None
    # The network goes; two changes wait for it, and neither is told as somebody else's.
    ben.context.set_offline(True)
    ben.fill("#words", "dry cough")
    ben.click(".kind[value=cue]")
    ben.wait_for_selector("#badge[data-state=offline]")
    ben.click("#marks button[aria-label^='Remove the mark: granulomas']")
    assert len(held(opened)) == 2
    ben.context.set_offline(False)
    saved(ben, opened, 4)
    assert {mark[0] for mark in held(opened)} == {"fever", "dry cough"}
    ada.close()
    ben.close()


def test_without_a_script_the_forms_do_the_same(cases: str, opened: Store, chromium: Any) -> None:
    page = come(cases, opened, chromium, java_script_enabled=False)
    page.goto(f"{cases}/office/cases/mark?case=c1")
    page.fill("#words", "sarcoidosis")
    page.click(".kind[value=diagnosis]")
    page.fill("#words", "fever")
    page.click(".kind[value=cue]")
    page.fill("#marks input[name=replacement] >> nth=1", "a sign")
    page.click("#marks li:nth-child(2) .word button")
    assert held(opened) == [("fever", "cue", 1, "a sign"), ("sarcoidosis", "diagnosis", 0, "")]
    page.click("#found .approval button")
    assert "Not approved" in page.text_content("#told")
    page.fill("#despite", "The rest is general.")
    page.click("#found .approval button")
    assert "Please let another person check and approve it." in page.text_content("#told")
    page.close()
    page = come(cases, opened, chromium, "ben", java_script_enabled=False)
    page.goto(f"{cases}/office/cases/mark?case=c1")
    page.fill("#despite", "The rest is general.")
    page.click("#found .approval button")
    assert "Approved by ben." in page.text_content("#found")
    page.close()


def test_a_pool_is_gone_through_by_keyboard_alone(cases: str, opened: Store, chromium: Any) -> None:
    page = come(cases, opened, chromium)
    pool = page.url
    page.click(".pool a >> nth=0")
    # On a busy machine the click returns before the page that it opens is there.
    page.wait_for_url(lambda url: url != pool)
    first = page.url
    for _ in range(60):
        page.keyboard.press("Tab")
        kind = page.evaluate("document.activeElement.type ?? ''")
        if kind == "checkbox":
            page.keyboard.press("Space")
        elif page.evaluate("document.activeElement.value ?? ''") == "keep":
            page.keyboard.press("Enter")
            break
    page.wait_for_url(lambda url: url != first)
    assert "kept" in page.goto(first).text()
    page.close()


@pytest.mark.covering(1)
@pytest.mark.parametrize(("language", "scheme"), [("de", "light"), ("en", "dark")])
def test_every_page_is_accessible_and_fits(
    language: str,
    scheme: str,
    cases: str,
    opened: Store,
    chromium: Any,
) -> None:
    axe = pytest.importorskip("axe_core_python.sync_playwright").Axe()
    page = come(cases, opened, chromium, locale=language, color_scheme=scheme)
    errors: list[str] = []
    page.on(
        "console", lambda message: errors.append(message.text) if message.type == "error" else None
    )
    page.on(
        "request", lambda r: None if r.url.startswith((cases, "data:")) else errors.append(r.url)
    )
    page.goto(f"{cases}/office/screening/item?item=c1")
    page.fill("#reason", "Zu kurz")
    page.click("button[value=out]")
    page.goto(f"{cases}/office/cases/mark?case=c2")
    for n, (words, kind) in enumerate(
        (
            ("granulomas", "cue"),
            ("dry cough", "cue"),
            ("man of 40", "demographic"),
            ("sarcoidosis", "diagnosis"),
            ("fever", "temporal"),
        ),
        1,
    ):
        page.fill("#words", words)
        page.click(f".kind[value={kind}]")
        page.wait_for_selector(f'#marker-state [name=seen][value="{n}"]', state="attached")
    found = []
    for path in (
        "/office/screening",
        "/office/screening?standing=out",
        "/office/screening/item?item=c1",
        "/office/screening/item?item=c3",
        "/office/cases",
        "/office/cases/mark?case=c2",
    ):
        for width, height in ((1280, 900), (390, 844), (320, 640)):
            page.set_viewport_size({"width": width, "height": height})
            page.goto(cases + path)
            if "mark" in path:
                page.click("#marks details >> nth=1")
                page.click("label:has(#vall)")
            wide = page.evaluate(
                "document.documentElement.scrollWidth - document.documentElement.clientWidth"
            )
            found += [(path, width, "too wide")] if wide > 0 else []
            small = page.evaluate(
                "[...document.querySelectorAll('button, select, input:not([type=hidden],"
                " [type=checkbox], [type=radio]), .option, .tick, nav a, .pool a')].filter(e =>"
                " e.checkVisibility() && !e.popover && e.getBoundingClientRect().height <"
                " 43.5).map(e => e.outerHTML.slice(0, 80))"
            )
            found += [(path, width, one) for one in small]
            found += [
                (path, width, v["id"], str(v["nodes"][0]["html"])[:120])
                for v in axe.run(page)["violations"]
            ]
    assert not found
    assert not errors
    assert page.faults == []
    page.close()


def test_kill_9_between_any_two_changes(tmp_path: Path, chromium: Any) -> None:
    """What was shown as saved is there; what was not is sent when the server is back, once."""
    (tmp_path / "study.toml").write_text(PROTOCOL + "[prepare.mask]\n", "utf-8")
    with Store.open(tmp_path) as store:
        store.add(Batch(items=[Item("c1", TEXT, "Sarcoidosis")]), source="t", at=AT)
    server = Served(tmp_path)
    server.start()
    with Store.open(tmp_path) as store:
        page = come(server.url, store, chromium)
        page.goto(f"{server.url}/office/cases/mark?case=c1")
        for n, words in enumerate(("granulomas", "fever", "dry cough"), 1):
            page.fill("#words", words)
            if n == 2:
                server.kill()
            page.click(".kind[value=cue]")
            if n == 2:
                page.wait_for_selector("#badge[data-state=offline]")
                server.start()
            saved(page, store, n)
            server.kill()
            server.start()
            page.reload()
        assert {mark[0] for mark in held(store)} == {"granulomas", "fever", "dry cough"}
        assert store.verify_log() == ()
        page.close()
    server.kill()
