"""The offline kit in a real browser: a file, no network; its answers taken in by the command
line."""

from __future__ import annotations

import hashlib
import hmac
import os
import signal
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from konsil.cli.main import group
from konsil.records import Answer, Item
from konsil.store import Batch, Store
from konsil.web.kit.kit import _static

from ..browsers import in_a_browser

pytestmark = in_a_browser

PROTOCOL = """
title = "Eine Studie"
seed = 7
language = "de"

[[instruments]]
id = "form"
language = "de"
codebook = "Richtig ist, was **stimmt**."
show_reference = true
[[instruments.criteria]]
id = "correctness"
question = "Ist die Antwort richtig?"
guidance = "Jede Antwort für sich."
scale = { labels = ["Falsch", "Richtig"], abstain = "Keine Angabe" }
[[instruments.criteria]]
id = "effort"
question = "Wie viele Minuten?"
scope = "item"
scale = { kind = "number", low = 0, high = 10 }
[[instruments.criteria]]
id = "words"
question = "Sonst noch etwas?"
scope = "item"
scale = { kind = "text" }

[[raters]]
id = "r1"
panel = "panel"
[[plan]]
panel = "panel"
instrument = "form"
"""


def run(*arguments: object) -> str:
    return CliRunner().invoke(group, [str(a) for a in arguments], catch_exceptions=False).output


@pytest.fixture
def offline(chromium, tmp_path: Path) -> Iterator[SimpleNamespace]:
    """A kit of three screens, opened as a file with the network off; whatever goes wrong in the
    browser fails."""
    (tmp_path / "study.toml").write_text(PROTOCOL, "utf-8")
    questions = tuple(Item(f"q{n}", f"Welches Organ bildet Nummer {n}?", "Leber") for n in range(3))
    said = tuple(
        Answer(f"{q.id}:{s}", q.id, f"s{s}", f"Die **Leber** <{s}.")
        for q in questions
        for s in range(2)
    )
    with Store.open(tmp_path) as store:
        store.add(Batch(items=questions, answers=said), source="test", at="2025-03-01T12:00:00Z")
    path = tmp_path / "kit.html"
    run("kit", tmp_path, "--rater", "r1", "--output", path)
    context = chromium.new_context(
        viewport={"width": 1280, "height": 900}, locale="de-DE", offline=True
    )
    page = context.new_page()
    wrong: list[str] = []
    context.on("weberror", lambda error: wrong.append(str(error.error)))
    context.on(
        "console", lambda m: wrong.append(m.text) if m.type in ("error", "warning") else None
    )
    context.on(
        "request",
        lambda r: None if r.url.startswith((path.as_uri(), "blob:")) else wrong.append(r.url),
    )
    page.goto(path.as_uri())
    page.wait_for_selector(
        "#main h1"
    )  # Its script asks first whether the browser remembers, beyond the event of loading.
    yield SimpleNamespace(page=page, folder=tmp_path, uri=path.as_uri(), context=context)
    context.close()
    assert not wrong


def begin(page) -> None:
    page.click("a.go")
    page.wait_for_selector("html.scripted")


def rate(page, keys: str = "21", minutes: str = "3,5", words: str = "Nein.") -> None:
    """One screen by keys alone."""
    for key in keys:
        page.keyboard.press(key)
    page.keyboard.type(minutes)
    page.keyboard.press("Tab")
    page.keyboard.type(words)
    page.keyboard.press("Control+Enter")


def go(page, action) -> None:
    """Do something that leads to another page of the file."""
    page.evaluate("document.documentElement.dataset.old = '1'")
    action()
    page.wait_for_selector("html:not([data-old])")
    page.wait_for_selector("html.scripted, #main h1")


def answers(page, path: Path) -> Path:
    with page.expect_download() as got:
        page.click("[data-file]")
    got.value.save_as(path)
    return path


def test_a_batch_without_a_network_ends_as_ratings(offline) -> None:
    page, folder = offline.page, offline.folder
    assert "0 von 3 erledigt" in page.text_content("#so-far")
    begin(page)
    for _ in range(3):
        go(page, lambda: rate(page))
    assert "Vielen Dank" in page.text_content("h1")
    file = answers(page, folder / "a.json")
    assert "Nr. 1" in page.text_content("#filed")
    assert run("import", folder, "--kit", file) == "r1: 3 handed in\n"
    with Store.open(folder) as store:
        found = store.ratings()
        assert store.verify_log() == ()
    assert len(found) == 3 * 4
    assert {r.label for r in found} == {"Richtig", "Falsch", "3.5", "Nein."}
    assert all(r.seconds is not None and 0 < r.seconds < 600 for r in found)
    assert "nothing changed" in run("import", folder, "--kit", file)


def test_what_was_said_survives_a_closed_window(offline) -> None:
    page = offline.page
    begin(page)
    page.keyboard.press("2")
    page.wait_for_selector("#badge[data-state=saved]")
    page.close()
    again = offline.context.new_page()
    again.goto(offline.uri)
    begin(again)
    assert again.eval_on_selector_all(
        "#rating input:checked", "all => all.map(one => one.value)"
    ) == ["Richtig"]


@pytest.mark.skipif(
    not Path("/proc/self/cmdline").exists(), reason="processes are found by Linux's /proc"
)
def test_a_killed_browser_forgets_nothing_that_it_called_saved(chromium, offline) -> None:
    """All of its processes at once, at the moment of the badge: what is saved is on the disk."""
    profile = offline.folder / "profile"
    for said in range(3):
        context = chromium.remembering(profile, offline=True)
        page = context.new_page()
        page.goto(offline.uri)
        begin(page)
        assert page.locator("#rating input:checked").count() == said
        page.keyboard.press("2")
        page.wait_for_selector("#badge[data-state=saved]")
        for process in Path("/proc").glob("[0-9]*/cmdline"):
            with suppress(OSError):
                if str(profile).encode() in process.read_bytes():
                    os.kill(int(process.parent.name), signal.SIGKILL)
        with suppress(Exception):  # It is dead, and says so in more ways than one.
            context.close()


def test_later_back_problem_and_a_number_that_is_none(offline) -> None:
    page, folder = offline.page, offline.folder
    begin(page)
    first = page.url
    page.click("button[popovertarget=problem]")
    page.fill("#problem-text", "Das Bild fehlt.")
    page.click("#problem .go")
    page.wait_for_selector("#problem", state="hidden")
    go(page, lambda: page.click("[formaction]"))
    assert page.url != first
    second = page.url
    rate(page, minutes="99")
    page.wait_for_selector(".asked.missing")
    assert "0 bis 10" in (page.text_content(".asked.missing .fault") or ""), "what is wrong is said"
    assert page.url == second
    page.fill("input[inputmode=decimal]", "9")
    go(page, lambda: page.keyboard.press("Control+Enter"))
    go(page, lambda: page.click('.bar a[href^="#/task/"]'))
    assert page.url == second
    assert page.input_value("input[inputmode=decimal]") == "9"
    page.keyboard.press("2")
    page.keyboard.press("2")
    go(page, lambda: page.keyboard.press("Control+Enter"))
    go(page, lambda: rate(page))
    assert page.url == first  # what was put off comes last
    go(page, lambda: page.click("text=Übersicht"))
    told = run("import", folder, "--kit", answers(page, folder / "b.json"))
    assert told == "r1: 2 handed in\n  1 problem reported\n"


def test_a_later_file_takes_corrections_along(offline) -> None:
    page, folder = offline.page, offline.folder
    begin(page)
    for _ in range(3):
        go(page, lambda: rate(page))
    run("import", folder, "--kit", answers(page, folder / "a.json"))
    go(page, lambda: page.click("[data-last]"))
    page.keyboard.press("0")
    page.wait_for_selector("#badge[data-state=saved]")
    go(page, lambda: page.click("text=Übersicht"))
    assert "2 von 3 erledigt" in page.text_content("#so-far")
    assert "noch einmal" in page.text_content("#filed")
    begin(page)
    go(page, lambda: page.keyboard.press("Control+Enter"))
    assert "1 handed in" in run("import", folder, "--kit", answers(page, folder / "b.json"))
    with Store.open(folder) as store:
        assert sum(r.state == "abstained" for r in store.ratings()) == 1


@pytest.mark.covering(1)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(offline, scheme: str) -> None:
    axe = pytest.importorskip("axe_core_python.sync_playwright").Axe()
    page = offline.page
    page.emulate_media(color_scheme=scheme)
    found = []
    for _ in range(2):
        for width in (1280, 390):
            page.set_viewport_size({"width": width, "height": 844})
            found += [(width, v["id"], v["nodes"][0]["html"]) for v in axe.run(page)["violations"]]
        if page.query_selector("a.go[href='#/next/']"):
            begin(page)
    assert not found


def test_nothing_sticks_out_at_320_pixels(offline) -> None:
    page = offline.page
    page.set_viewport_size({"width": 320, "height": 700})
    wide = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert page.evaluate(wide) <= 0
    begin(page)
    assert page.evaluate(wide) <= 0


def test_the_hand_written_hmac_is_hmac(chromium) -> None:
    page, key = chromium.new_page(), hashlib.sha256(b"key").hexdigest()
    page.evaluate(_static("hmac.js") + "; globalThis.hmac = hmac; 0")
    texts = ["", "abc", "ä" * 55, *("x" * n for n in range(50, 70)), "€😀" * 500]
    got = page.evaluate("([key, texts]) => texts.map((text) => hmac(key, text))", [key, texts])
    page.close()
    assert got == [
        hmac.new(bytes.fromhex(key), text.encode(), hashlib.sha256).hexdigest() for text in texts
    ]
