"""The rating page in a real browser: keys, saving, offline, killed servers."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from konsil.records import Answer, Item
from konsil.store import Batch, Store
from konsil.store.people.access import Access

from .browsers import free_port, in_a_browser

AT = "2025-03-01T12:00:00Z"

pytestmark = in_a_browser


class Served:
    """A study's folder, served by `konsil serve` in a process that can be killed."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.port = folder, free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        command = [
            sys.executable,
            "-c",
            "from konsil.cli import main; main()",
            "serve",
            str(self.folder),
            "--port",
            str(self.port),
        ]
        self.process = subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        for _ in range(600):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            assert self.process.poll() is None, "the server ended"
            time.sleep(0.05)
        raise AssertionError("the server did not start")

    def kill(self) -> None:
        assert self.process is not None
        self.process.kill()
        self.process.wait()

    def link(self, who: str) -> str:
        with Store.open(self.folder) as store:
            secret = Access(store).invite(who, "rater", at=AT, expires_at="2099-01-01T00:00:00Z")
        return f"{self.url}/come/{secret}"


PROTOCOL = """
schema = 1
title = "Eine Studie"
seed = 7
language = "de"

[[instruments]]
id = "medqade"
language = "de"
codebook = "Richtig ist, was **stimmt**."
show_reference = true
[[instruments.criteria]]
id = "correctness"
question = "Ist die Antwort richtig?"
guidance = "Jede Antwort für sich."
scale = { labels = ["Falsch", "Richtig"], abstain = "Keine Angabe" }
[[instruments.criteria]]
id = "difficulty"
question = "Wie schwer ist die Frage?"
scope = "item"
scale = { labels = ["Einfach", "Mittel", "Schwer"], level = "ordinal" }

[[raters]]
id = "r1"
panel = "panel"
[[raters]]
id = "r2"
panel = "panel"

[[plan]]
panel = "panel"
instrument = "medqade"
"""


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Served]:
    (tmp_path / "study.toml").write_text(PROTOCOL, "utf-8")
    questions = tuple(Item(f"q{n}", f"Welches Organ bildet Nummer {n}?", "Leber") for n in range(4))
    said = tuple(
        Answer(f"{q.id}:{s}", q.id, f"s{s}", f"Die **Leber** <{s}.\n\n- eins\n- zwei")
        for q in questions
        for s in range(5)
    )
    with Store.open(tmp_path) as store:
        store.add(Batch(items=questions, answers=said), source="test", at=AT)
    made = Served(tmp_path)
    made.start()
    yield made
    made.kill()


@pytest.fixture
def desk(chromium, server: Served):
    """A page at a desk, signed in as r1, at the first task; whatever a browser reports as wrong
    fails the test."""
    context = chromium.new_context(viewport={"width": 1280, "height": 900}, locale="de-DE")
    page = context.new_page()
    wrong: list[str] = []
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on(
        "console",
        lambda m: wrong.append(m.text) if m.type == "error" and "ERR_" not in m.text else None,
    )
    page.on("request", lambda r: wrong.append(r.url) if not r.url.startswith(server.url) else None)
    page.goto(server.link("r1"))
    page.click("button.go")
    page.wait_for_selector("html.scripted")
    yield page
    context.close()
    assert not wrong


def saved(page) -> None:
    page.wait_for_selector("#badge[data-state=saved]")


def values(page) -> list[str]:
    return page.eval_on_selector_all("#rating input:checked", "all => all.map(one => one.value)")


def ratings(server: Served):
    with Store.open(server.folder) as store:
        return store.ratings()


def test_six_presses_complete_an_item_and_enter_goes_on(desk, server: Served) -> None:
    first = desk.url
    for key in "220213":
        desk.keyboard.press(key)
    saved(desk)
    assert values(desk) == ["Richtig", "Richtig", "Keine Angabe", "Richtig", "Falsch", "Schwer"]
    assert "gespeichert" in desk.text_content("#badge")
    assert desk.evaluate("document.activeElement.value") == "Schwer", (
        "the ring is around what was said last"
    )
    desk.keyboard.press("Enter")
    desk.wait_for_url(lambda url: url != first)
    found = ratings(server)
    assert len(found) == 6
    assert sum(r.state == "abstained" for r in found) == 1
    assert all(r.seconds is not None and 0 < r.seconds < 600 for r in found)


def test_the_whole_study_by_keys_alone(desk, server: Served) -> None:
    for _ in range(4):
        before = desk.url
        for key in "222222":
            desk.keyboard.press(key)
        desk.keyboard.press("Enter")
        desk.wait_for_url(lambda url, before=before: url != before)
        desk.wait_for_load_state()
    assert desk.url.endswith("/finished")
    assert len(ratings(server)) == 24


def test_keys_move_take_back_and_can_be_switched_off(desk) -> None:
    desk.keyboard.press("1")
    desk.keyboard.press("ArrowLeft")
    desk.keyboard.press("2")
    assert values(desk) == ["Richtig"]
    desk.keyboard.press("ArrowUp")
    desk.keyboard.press("Backspace")
    assert values(desk) == []
    desk.keyboard.press("Enter")
    assert desk.locator(".asked.missing").count() == 6
    desk.keyboard.press("g")
    assert desk.locator("#codebook").is_visible()
    assert desk.locator("#codebook section.here h2").text_content() == "Ist die Antwort richtig?"
    desk.keyboard.press("Escape")
    assert not desk.locator("#codebook").is_visible()
    desk.keyboard.press("?")
    desk.click("#shortcuts")
    desk.keyboard.press("Escape")
    desk.locator("input[type=radio]").first.focus()
    desk.keyboard.press("2")
    assert values(desk) == []


def test_controls_are_in_sight_without_scrolling(desk) -> None:
    for one in desk.locator(".option, #go, .question").all():
        box = one.bounding_box()
        assert box is not None
        assert box["y"] >= 0
        assert box["y"] + box["height"] <= 900
    for one in desk.locator(".option, button, a.go").all():
        box = one.bounding_box()
        assert box is None or min(box["height"], box["width"]) >= 43.9
    panes = [p.bounding_box() for p in desk.locator(".pane").all()]
    assert len({round(p["y"]) for p in panes}) == 1, "side by side"
    assert max(p["width"] for p in panes) - min(p["width"] for p in panes) <= 1


def test_nothing_sticks_out_on_a_phone(desk) -> None:
    for width in (390, 320):
        desk.set_viewport_size({"width": width, "height": 844})
        assert desk.evaluate("document.documentElement.scrollWidth") <= width


def test_offline_answers_wait_on_the_device(desk, server: Served) -> None:
    desk.keyboard.press("2")
    saved(desk)
    desk.context.set_offline(True)
    desk.keyboard.press("1")
    desk.keyboard.press("0")
    desk.wait_for_selector("#badge[data-state=offline]")
    assert "2 Angaben auf diesem Gerät" in desk.text_content("#badge")
    kept = desk.evaluate("JSON.stringify(Object.fromEntries(Object.entries(localStorage)))")
    assert "Leber" not in kept, "values only"
    desk.keyboard.press("Enter")
    desk.context.set_offline(False)
    desk.evaluate("dispatchEvent(new Event('online'))")
    saved(desk)
    assert (
        desk.evaluate("Object.keys(localStorage).filter(k => k.startsWith('konsil:queue')).length")
        == 0
    )
    desk.reload()
    assert values(desk) == ["Richtig", "Falsch", "Keine Angabe"]


def test_without_a_network_no_page_is_left_and_it_goes_on_by_itself(desk, server: Served) -> None:
    here = desk.url
    desk.context.set_offline(True)
    for key in "222222":
        desk.keyboard.press(key)
    desk.keyboard.press("Enter")
    desk.wait_for_selector("#away:not([hidden])")
    assert "Ohne Netz" in desk.text_content("#away")
    desk.evaluate("document.getElementById('away').hidden = true")
    desk.click("button[formaction]")
    desk.wait_for_selector("#away:not([hidden])")
    assert desk.url == here, "no page of the browser's own stands in the way"
    assert values(desk)[:3] == ["Richtig"] * 3
    desk.context.set_offline(False)
    desk.wait_for_url(lambda url: url != here)
    desk.wait_for_selector("#go")
    assert desk.is_hidden("#away")


def test_kill_9_loses_nothing_that_was_acknowledged(desk, server: Served) -> None:
    desk.keyboard.press("2")
    desk.keyboard.press("1")
    saved(desk)
    server.kill()
    desk.keyboard.press("2")
    desk.wait_for_selector("#badge[data-state=offline]")
    server.start()
    desk.evaluate("dispatchEvent(new Event('online'))")
    saved(desk)
    desk.reload()
    assert values(desk) == ["Richtig", "Falsch", "Richtig"]
    with Store.open(server.folder) as store:
        assert store.verify_log() == ()


def test_kill_9_between_any_two_keys(desk, server: Served) -> None:
    for n, key in enumerate("221221"):
        desk.keyboard.press(key)
        saved(desk)
        server.kill()
        server.start()
        desk.reload()
        desk.wait_for_selector("html.scripted")
        assert len(values(desk)) == n + 1
    before = desk.url
    desk.keyboard.press("Enter")
    desk.wait_for_url(lambda url: url != before)
    assert len(ratings(server)) == 6


def test_two_windows(desk, server: Served) -> None:
    other = desk.context.new_page()
    other.goto(desk.url)
    other.wait_for_selector("html.scripted")
    desk.keyboard.press("2")
    saved(desk)
    other.keyboard.press("1")
    other.wait_for_selector(".asked.crossed")
    assert (
        "In einem anderen Fenster stand: Richtig"
        in other.locator(".asked.crossed .fault").text_content()
    )
    assert values(other) == ["Richtig"]
    other.keyboard.press("ArrowLeft")
    other.keyboard.press("1")
    saved(other)
    desk.reload()
    assert values(desk) == ["Falsch"]
    other.close()


def test_without_a_script(chromium, server: Served) -> None:
    context = chromium.new_context(java_script_enabled=False, locale="en-GB")
    page = context.new_page()
    page.goto(server.link("r2"))
    page.click("button.go")
    for field in page.locator(".asked").all():
        field.locator(".option").first.click()
    page.click("#go")
    assert len(ratings(server)) == 6
    context.close()


@pytest.mark.covering
@pytest.mark.parametrize("language", ["de-DE", "en-GB"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(language: str, scheme: str, chromium, server: Served) -> None:
    axe = pytest.importorskip("axe_core_python.sync_playwright").Axe()
    context = chromium.new_context(
        viewport={"width": 1280, "height": 900}, locale=language, color_scheme=scheme
    )
    page = context.new_page()
    page.goto(server.link("r2"))
    found = [(page.url, v["id"], v["nodes"][0]["html"]) for v in axe.run(page)["violations"]]
    page.click("button.go")
    page.wait_for_selector("html.scripted")
    page.keyboard.press("1")
    for width in (1280, 390):
        page.set_viewport_size({"width": width, "height": 844})
        found += [(width, v["id"], v["nodes"][0]["html"]) for v in axe.run(page)["violations"]]
    page.keyboard.press("g")
    found += [("codebook", v["id"], v["nodes"][0]["html"]) for v in axe.run(page)["violations"]]
    context.close()
    assert not found
