"""Takes the pictures of the documents from the real report and pages: python docs/images/take.py [report|pages].

Needs Chromium and Playwright. All people and answers in the pictures are invented; the study is drawn by its seed.
"""

from __future__ import annotations

import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from PIL import Image  # matplotlib brings it
from playwright.sync_api import Browser, Page, sync_playwright

import konsil
from konsil.plan import Allocation, assign
from konsil.records import Answer, Item
from konsil.store import Batch, Store
from konsil.store.people.access import Access
from konsil.study import Study
from konsil.web import Options, create_app

HERE = Path(__file__).resolve().parent
WIDE = {"width": 1280, "height": 900}
PHONE = {"width": 390, "height": 844}
BEGIN = datetime(2026, 3, 2, 8, 0, tzinfo=UTC)
COLOURS = 64
"""A page has few; with a palette a picture is a third of its size."""

# The question in the pictures, its reference, and what five systems said to it.
SHOWN = {
    "en": (
        "Microcytic anaemia in adults is most often caused by a lack of ____.",
        "iron",
        (
            "**Iron**",
            "Iron, mostly after chronic loss of blood",
            "Vitamin B12",
            "Haemoglobin",
            "Ferrum",
        ),
    ),
    "de": (
        "Die mikrozytäre Anämie des Erwachsenen beruht am häufigsten auf einem Mangel an ____.",
        "Eisen",
        (
            "**Eisen**",
            "Eisen, meist nach chronischem Blutverlust",
            "Vitamin B12",
            "Hämoglobin",
            "Ferrum",
        ),
    ),
}
LABELS = {"en": ("Correct", "Incorrect", "Medium"), "de": ("Richtig", "Falsch", "Mittel")}


class Clock:
    """A time that passes only when told to."""

    def __init__(self) -> None:
        self.now = BEGIN

    def __call__(self) -> datetime:
        return self.now


def keep(page: Page, name: str) -> None:
    """Save what is in sight, with a palette."""
    path = HERE / name
    page.screenshot(path=path, animations="disabled", caret="hide")
    with Image.open(path) as image:
        few = image.convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE)
    few.save(path, optimize=True)
    print(f"{path} {path.stat().st_size // 1024} KB")


def report(browser: Browser, folder: Path) -> None:
    """The first page of the demonstration's report, and one of its analyses."""
    study = folder / "konsil-demo"
    subprocess.run(["konsil", "demo", str(study)], check=True, capture_output=True, timeout=300)  # noqa: S603, S607
    html = study / "report" / "index.html"
    page = browser.new_page(viewport=WIDE, color_scheme="light")
    page.goto(html.as_uri())
    keep(page, "report.png")
    # The analyses are in the appendix, which is folded.
    page.locator("details:has(> summary > #prespecified) > summary").click()
    heading = page.locator("[id^=analysis-correct-answers-]").first
    heading.evaluate("heading => heading.scrollIntoView()")
    keep(page, "analysis.png")
    page.close()


def medqade(folder: Path, language: str) -> Study:
    """The published design without its judges, made small."""
    command = ["konsil", "new", str(folder), "--protocol", "medqade", "--language", language]
    subprocess.run(command, check=True, capture_output=True, timeout=120)  # noqa: S603
    found = konsil.open(folder).study
    people = tuple(r for r in found.raters if r.kind == "human")
    plan = (
        Allocation("physicians", "medqade", items="core", phase="main"),
        Allocation("physicians", "medqade", items="split", phase="main", raters_per_item=2),
        Allocation("tiebreaker", "medqade", items="core", phase="main"),
        Allocation(
            "tiebreaker",
            "medqade",
            items="split",
            phase="main",
            purpose="tiebreak",
            when="disagreed",
        ),
    )
    none: Any = ()
    return replace(
        found,
        raters=people,
        plan=plan,
        prepare=None,
        sources=none,
        derived=none,
        analyses=none,
        # The pages before the first task have pictures of their own.
        enrolment=None,
    )


def fill(store: Store, study: Study) -> None:
    """Forty-six questions, one of which is in the pictures, and the plan."""
    text, reference, said = SHOWN[study.language]
    items = [Item("shown", text, reference, sets=("core",))]
    items += [
        Item(f"item-{n}", f"Question {n}", "yes", sets=("core" if n < 10 else "split",))
        for n in range(1, 46)
    ]
    answers = [
        Answer(f"{item.id}-{system.id}", item.id, system.id, what)
        for item in items
        for system, what in zip(study.systems, said, strict=True)
    ]
    tasks = assign(
        study.plan,
        items=items,
        answers=answers,
        raters=study.raters,
        instruments=study.instruments,
        seed=study.seed,
    )
    material = Batch(items=tuple(items), answers=tuple(answers), raters=study.raters, tasks=tasks)
    store.add(material, source="docs", at="2026-03-01T12:00:00Z")


def rate(site: Any, clock: Clock, rater: str, most: int) -> None:
    """Hand in so many screens, but not the one in the pictures, a few minutes each."""
    right, wrong, medium = LABELS[site.study.language]
    for n in range(most):
        public = site.desk.next_task(rater)
        sheet = site.desk.open(rater, public)
        if SHOWN[site.study.language][0] in str(sheet):
            return
        clock.now += timedelta(seconds=40 + 7 * (n % 5))
        form = {f"correctness.a{k}": wrong if (n + k) % 3 == 0 else right for k in range(1, 6)}
        site.desk.submit(rater, public, {**form, "difficulty": medium}, 0)


@contextmanager
def served(folder: Path, language: str) -> Iterator[Any]:
    """A study under way, with its pages on a free port: (site, url, clock)."""
    import uvicorn

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    clock, url = Clock(), f"http://127.0.0.1:{port}"
    study = medqade(folder, language)
    with Store.open(folder) as store:
        fill(store, study)
        app = create_app(study, store, Options(url=url), clock=clock)
        config = uvicorn.Config(
            app, host="127.0.0.1", port=port, log_level="error", access_log=False
        )
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, daemon=True)
        thread.start()
        while not server.started:
            time.sleep(0.05)
        try:
            yield app.state.site, url, clock
        finally:
            server.should_exit = True
            thread.join(20)


def visit(
    browser: Browser, site: Any, url: str, clock: Clock, who: str, role: Any, **how: Any
) -> Page:
    """Come in by an invitation."""
    page = browser.new_context(locale=site.study.language, timezone_id="UTC", **how).new_page()
    page.clock.set_fixed_time(clock.now)
    at, until = (clock.now + timedelta(days=d) for d in (0, 9))
    when = "%Y-%m-%dT%H:%M:%SZ"
    secret = Access(site.store).invite(who, role, at=f"{at:{when}}", expires_at=f"{until:{when}}")
    page.goto(f"{url}/come/{secret}")
    page.click("button.go")
    page.wait_for_load_state("networkidle")
    return page


def pages(browser: Browser, folder: Path) -> None:
    """The rating page, wide and narrow, light and dark, in both languages; the coordinator's overview."""
    for language in ("en", "de"):
        with served(folder / language, language) as (site, url, clock):
            rate(site, clock, "physician-1", 40)
            page = visit(
                browser,
                site,
                url,
                clock,
                "physician-1",
                "rater",
                viewport=WIDE,
                color_scheme="light",
            )
            for said in re.findall(r"(?:Answer|Antwort) [A-E]\n+(.+)", page.inner_text("body"))[:3]:
                page.keyboard.press("2" if re.match(r"Iron|Eisen|Ferrum", said) else "1")
            page.wait_for_timeout(1500)
            keep(page, f"rating-{language}.png")
            if language == "de":
                continue
            page.emulate_media(color_scheme="dark")
            keep(page, "rating-dark.png")
            page.close()
            page = visit(
                browser,
                site,
                url,
                clock,
                "physician-1",
                "rater",
                viewport=PHONE,
                color_scheme="light",
                has_touch=True,
            )
            keep(page, "rating-phone.png")
            page.close()
            for n, rater in enumerate(r.id for r in site.study.raters[1:9]):
                clock.now = BEGIN + timedelta(days=n % 3, hours=n)
                rate(site, clock, rater, 3 + 2 * n)
            clock.now = BEGIN + timedelta(days=4)
            page = visit(
                browser,
                site,
                url,
                clock,
                "coordinator",
                "coordinator",
                viewport=WIDE,
                color_scheme="light",
            )
            page.goto(f"{url}/office")
            keep(page, "office.png")


def main() -> None:
    """Take all pictures, or those of one kind."""
    kinds = {"report": report, "pages": pages}
    chromium = (
        shutil.which("chromium")
        or shutil.which("chromium-browser")
        or shutil.which("google-chrome")
    )
    with sync_playwright() as play, tempfile.TemporaryDirectory() as folder:
        browser = play.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for name in sys.argv[1:] or kinds:
            kinds[name](browser, Path(folder))
        browser.close()


if __name__ == "__main__":
    main()
