"""Takes a picture of every page in both languages, wide and narrow, light and dark: python docs/images/gallery.py.

Writes docs/images/pages/*.webp and the list of them, docs/pages.md. All people, questions and answers are invented.
"""

from __future__ import annotations

import io
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

from gallery_studies import PAGES, Said, invented
from PIL import Image
from playwright.sync_api import Browser, sync_playwright
from take import PHONE, WIDE, Clock, fill, medqade, rate

from konsil.plan import assign
from konsil.prepare import screen, screening_event
from konsil.prepare.questions.rewriting import proposed_event
from konsil.store import Batch, Store
from konsil.store.people.access import Access
from konsil.store.people.recruiting import record
from konsil.study import Study
from konsil.study.sections.recruitment import STEPS, stratum
from konsil.web import Options, create_app
from konsil.web.centre.centre import Centre
from konsil.web.centre.registry import Registry
from konsil.web.centre.settings import CentreSettings, StudyPlace
from konsil.web.kit.kit import make

HERE = Path(__file__).resolve().parent
FOLDER = HERE / "pages"
ONLY = frozenset(sys.argv[1:])
"""Names of pages to take anew; none: all."""
ENROLMENT, PILOT, REWRITING = "office-enrolment", "office-pilot", "office-rewriting"
ADJUDICATION = "office-adjudication"
"""Pages of the office that only some studies have something on."""
CURATORS = tuple(name for name in PAGES if PAGES[name].startswith("Curators: "))
"""Pages of those who go through cases."""
TOURS = {
    "way_in": (
        "landing",
        "invitation",
        "consent",
        "eligibility",
        "profile",
        "place",
        "own-link",
        "refusal",
        ENROLMENT,
    ),
    "practising": ("practice", "explained", "finished"),
    "units": (
        "codebook",
        "keys",
        "problem",
        "offline",
        *(name for name in PAGES if name.startswith("rating")),
    ),
    "calibrating": ("calibration", PILOT),
    "differing": ("ratings", "adjudications", "adjudication", ADJUDICATION),
    "office": tuple(
        name
        for name in PAGES
        if name.startswith("office")
        and name not in (ENROLMENT, PILOT, REWRITING, ADJUDICATION, *CURATORS)
    ),
    "cases": CURATORS,
    "rewording": (REWRITING,),
    "centre": ("centre", "passkey"),
    "kits": tuple(name for name in PAGES if name.startswith("kit")),
}
"""What is taken on one way."""


class Camera:
    """One browser window, wide or narrow, in one language."""

    def __init__(self, browser: Browser, language: str, size: str, clock: Clock) -> None:
        narrow = size == "phone"
        self.context = browser.new_context(
            viewport=PHONE if narrow else WIDE,
            locale=language,
            timezone_id="UTC",
            has_touch=narrow,
            reduced_motion="reduce",
        )
        self.page = self.context.new_page()
        self.page.clock.set_fixed_time(clock.now)
        self._suffix = f"{language}-{size}"

    def take(self, name: str) -> None:
        """The page in sight, light and dark."""
        assert name in PAGES, name
        if ONLY and name not in ONLY:
            return
        for scheme in ("light", "dark"):
            self.page.emulate_media(color_scheme=scheme)
            self.page.wait_for_timeout(60)
            shot = self.page.screenshot(animations="disabled", caret="hide")
            with Image.open(io.BytesIO(shot)) as image:
                few = (
                    image.convert("RGB")
                    .quantize(48 if name in CURATORS else 24, dither=Image.Dither.NONE)
                    .convert("RGB")
                )
            few.save(
                FOLDER / f"{name}-{self._suffix}-{scheme}.webp",
                lossless=True,
                quality=100,
                method=4,
            )
        self.page.emulate_media(color_scheme="light")

    def enter(self, site: Any, url: str, who: str, role: Any = "rater") -> None:
        """Come in by an invitation."""
        self.page.goto(f"{url}/come/{invitation(site, who, role)}")
        self.press("main .go")

    def look(self, site: Any, url: str, name: str) -> None:
        """Take a page of the office, as its owner."""
        self.context.clear_cookies()
        self.enter(site, url, "study-office", "owner")
        self.page.goto(f"{url}/{name.replace('-', '/')}")
        self.take(name)

    def press(self, button: str) -> None:
        """Press a button that leads elsewhere."""
        self.page.click(button)
        self.page.wait_for_load_state("networkidle")


def invitation(site: Any, who: str, role: Any = "rater") -> str:
    """The secret of a link that works while the pictures are taken."""
    at = site.clock()
    when = "%Y-%m-%dT%H:%M:%SZ"
    secret: str = Access(site.store).invite(
        who, role, at=f"{at:{when}}", expires_at=f"{at + timedelta(days=9):{when}}"
    )
    return secret


@contextmanager
def running(make: Callable[[str], Any]) -> Iterator[tuple[Any, str]]:
    """An application made for an address, on a free port."""
    import socket

    import uvicorn

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    url = f"http://127.0.0.1:{port}"
    app = make(url)
    server = uvicorn.Server(
        uvicorn.Config(app, host="127.0.0.1", port=port, log_level="error", access_log=False)
    )
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.05)
    try:
        yield app, url
    finally:
        server.should_exit = True
        thread.join(20)


@contextmanager
def serving(
    study: Study, filled: Callable[[Store, Study], None], clock: Clock, **options: Any
) -> Iterator[tuple[Any, str]]:
    """A study with its material, its pages on a free port."""
    with tempfile.TemporaryDirectory() as folder, Store.open(Path(folder)) as store:
        filled(store, study)

        def make(url: str) -> Any:
            served = Options(url=url, tries_a_minute=9999, **options)
            return create_app(study, store, served, clock=clock)

        with running(make) as (app, url):
            yield app.state.site, url


def material(said: Said, unit: str) -> Callable[[Store, Study], None]:
    """Store the items and answers that a unit shows, and the plan."""

    def filled(store: Store, study: Study) -> None:
        items, answers = said.material[unit]
        tasks = assign(
            study.plan,
            items=items,
            answers=answers,
            raters=study.raters,
            instruments=study.instruments,
            seed=study.seed,
            places=study.places,
        )
        store.add(
            Batch(items=items, answers=answers, raters=study.raters, tasks=tasks),
            source="docs",
            at="2026-03-01T12:00:00Z",
        )

    return filled


def way_in(cameras: Sequence[Camera], said: Said, clock: Clock, _: Path) -> None:
    """From the link for anybody to the first task."""
    with serving(said.studies["places"], material(said, "places"), clock) as (site, url):
        for camera in cameras:
            page = camera.page
            page.goto(url)
            camera.take("landing")
            page.goto(f"{url}/come/{invitation(site, '')}")
            camera.take("invitation")
            camera.press("main button.go")
            camera.take("consent")
            camera.press("main .go")
            for label in said.eligible:
                page.check(label)
            camera.take("eligibility")
            camera.press("main .go")
            for label in said.profiled:
                page.check(label)
            page.fill("input[inputmode=decimal]", "12")
            camera.take("profile")
            camera.press("main .go")
            camera.take("place")
            camera.press("main .go")
            camera.press("main .go")
            camera.take("own-link")
            page.goto(f"{url}/task/none")
            camera.take("refusal")
        for camera in cameras:
            camera.look(site, url, ENROLMENT)


def practising(cameras: Sequence[Camera], said: Said, clock: Clock, _: Path) -> None:
    """A practice screen, what it explains, and the end."""
    with serving(said.studies["practice"], material(said, "practice"), clock) as (site, url):
        for n, camera in enumerate(cameras, start=1):
            page = camera.page
            camera.enter(site, url, f"r{n}")
            page.wait_for_selector("html.scripted")
            page.keyboard.press("2")
            page.wait_for_timeout(400)
            camera.take("practice")
            page.keyboard.press("2")
            page.keyboard.press("Enter")
            page.wait_for_selector(".why")
            camera.take("explained")
            camera.press("#go")
            page.wait_for_selector("html.scripted")
            page.keyboard.press("1")
            page.keyboard.press("2")
            page.keyboard.press("Enter")
            page.wait_for_url("**/finished")
            camera.take("finished")


def units(cameras: Sequence[Camera], said: Said, clock: Clock, _: Path) -> None:
    """The rating page of each design, and what opens on it."""
    for unit, keys in (
        ("several", "12201"),
        ("one", "4352"),
        ("pair", "24"),
        ("sentences", "2"),
        ("survey", ""),
    ):
        with serving(said.studies[unit], material(said, unit), clock) as (site, url):
            for n, camera in enumerate(cameras, start=1):
                page = camera.page
                camera.enter(site, url, f"r{n}")
                page.wait_for_selector("html.scripted")
                for key in keys:
                    page.keyboard.press(key)
                page.wait_for_timeout(500)
                camera.take(f"rating-{unit}")
                if unit == "several":
                    for name in ("codebook", "keys", "problem"):
                        page.evaluate(f"document.getElementById('{name}').showPopover()")
                        camera.take(name)
                        page.evaluate(f"document.getElementById('{name}').hidePopover()")
                    camera.context.set_offline(True)
                    page.keyboard.press("2")
                    page.wait_for_selector("#badge[data-state=offline]")
                    camera.take("offline")
                    camera.context.set_offline(False)


def calibrating(cameras: Sequence[Camera], said: Said, clock: Clock, _: Path) -> None:
    """After a pilot."""
    study = said.studies["pilot"]
    with serving(study, material(said, "pilot"), clock) as (site, url):
        for rater, label in (("r1", 0), ("r2", 3)):
            for _ in range(2):
                public = site.desk.next_task(rater)
                name = site.desk.open(rater, public).everything[0].questions[0].name
                site.desk.submit(rater, public, {name: said.grades[label]}, 0)
        for camera in cameras:
            camera.enter(site, url, "r1")
            camera.take("calibration")
        camera.page.fill("textarea", said.problem)
        camera.press("main .go")
        for camera in cameras:
            camera.look(site, url, PILOT)


def differing(cameras: Sequence[Camera], said: Said, clock: Clock, _: Path) -> None:
    """A rater's own list, and what raters who differ look at together."""
    study = said.studies["differing"]
    with serving(study, material(said, "differing"), clock) as (site, url):
        for rater, side in (("r1", 0), ("r2", 2)):
            for n in range(len(site.desk.line(rater))):
                public = site.desk.next_task(rater)
                asked = [
                    a.name
                    for group in site.desk.open(rater, public).everything
                    for a in group.questions
                ]
                labels = dict.fromkeys(asked, said.sides[side])
                site.desk.submit(
                    rater, public, {**labels, "~note": said.agreed if n == 0 else ""}, 0
                )
        site.adjudicating.open_all("study-office")
        first = site.adjudicating.rows("r2")[0]
        now = site.adjudicating.review("r2", first.about).before
        site.adjudicating.decide("r2", first.about, {"label": now, "reason": said.agreed})
        for camera in cameras:
            camera.enter(site, url, "r1")
            camera.page.goto(f"{url}/ratings")
            camera.take("ratings")
            camera.page.goto(f"{url}/adjudication")
            camera.take("adjudications")
            camera.page.locator("a[href^='/adjudication/']").first.click()
            camera.page.wait_for_selector(".labels-apart")
            camera.page.locator(".labels-apart").scroll_into_view_if_needed()
            camera.take("adjudication")
        for camera in cameras:
            camera.look(site, url, ADJUDICATION)


def office(cameras: Sequence[Camera], said: Said, clock: Clock, folder: Path) -> None:
    """The pages of those who run a study under way."""
    study = medqade(folder / said.language, said.language)
    begin = clock.now
    with serving(study, fill, clock) as (site, url):
        for n, rater in enumerate(r.id for r in study.raters[:9]):
            clock.now = begin + timedelta(days=n % 3, hours=n)
            rate(site, clock, rater, 5 + 2 * n)
        clock.now = begin + timedelta(days=4)
        site.desk.report("physician-2", site.desk.next_task("physician-2"), said.problem, "p1")
        for name, numbers in said.recruited.items():
            record(
                site.store, *stratum(name, dict(zip(STEPS, numbers, strict=True))), at=site.now()
            )
        for camera in cameras:
            camera.page.clock.set_fixed_time(clock.now)
            camera.enter(site, url, "study-office", "owner")
            for name in TOURS["office"]:
                more = "?rater=physician-3" if name == "office-withdrawal" else ""
                camera.page.goto(f"{url}/{name.replace('-', '/')}{more}")
                camera.take(name)
    clock.now = begin


def cases(cameras: Sequence[Camera], said: Said, clock: Clock, _: Path) -> None:
    """A pool of case reports, and a case that is being marked."""
    study = said.studies["cases"]
    with serving(study, pooled(said), clock) as (site, url):
        spec = study.prepare.screen
        for n, name in enumerate(("case-002", "case-004", "case-005", "case-007"), start=1):
            met = spec.criteria if n % 2 else spec.criteria[n - 1 :]
            site.pool.decide(name, "keep" if n % 2 else "out", by="dr-berg", base_number=0, met=met)
        for kind, words in said.marked:
            # The second patient has another age.
            form = {
                "do": "add",
                "kind": kind,
                "words": words.replace("52", "31"),
                "everywhere": "1" if kind == "diagnosis" else "",
            }
            seen = site.marks.case("case-002").number
            assert not site.marks.change("case-002", form, by="dr-berg", base_number=seen), words
        for camera in cameras:
            page = camera.page
            page.clock.set_fixed_time(clock.now)
            camera.enter(site, url, "dr-berg", "curator")
            camera.take("office-screening")
            page.goto(f"{url}/office/screening/item?item=case-001")
            camera.take("office-screening-item")
            page.goto(f"{url}/office/cases")
            camera.take("office-cases")
            page.goto(f"{url}/office/cases/mark?case=case-002")
            page.wait_for_selector("html.scripted")
            camera.take("office-cases-mark")


def pooled(said: Said) -> Callable[[Store, Study], None]:
    """Store a pool of case reports, as rules have looked through it."""

    def filled(store: Store, study: Study) -> None:
        items, at = said.material["cases"][0], "2026-03-01T12:00:00Z"
        store.add(Batch(items=items), source="docs", at=at)
        made, _ = screen(study.prepare.screen, items, {})
        store.add(Batch(events=[screening_event(made, 1, at)]), source="docs", at=at)

    return filled


def rewording(cameras: Sequence[Camera], said: Said, clock: Clock, _: Path) -> None:
    """Questions in a model's words beside their own."""

    def filled(store: Store, _study: Study) -> None:
        items, at = said.material["rewording"][0], "2026-03-01T12:00:00Z"
        events = [
            proposed_event(item.id, text, f"w{item.id}", 1, at)
            for item, text in zip(items, said.rewritten, strict=True)
        ]
        store.add(Batch(items=items, events=events), source="docs", at=at)

    with serving(said.studies["rewording"], filled, clock) as (site, url):
        for camera in cameras:
            camera.page.clock.set_fixed_time(clock.now)
            camera.enter(site, url, "study-office", "owner")
            camera.page.goto(f"{url}/office/rewriting")
            camera.take(REWRITING)


def kits(cameras: Sequence[Camera], said: Said, clock: Clock, folder: Path) -> None:
    """The offline kit: its beginning, a task, its end."""
    with serving(said.studies["several"], material(said, "several"), clock) as (site, _):
        row = site.desk.line("r1")[0]
        path = folder / f"kit-{said.language}.html"
        path.write_text(make(site, "r1", row.phase, row.batch, said.language).html, "utf-8")
    for camera in cameras:
        page = camera.page
        page.goto(path.as_uri())
        camera.take("kit-start")
        page.click("a.go")
        page.wait_for_selector("html.scripted")
        for key in "12201":
            page.keyboard.press(key)
        page.wait_for_timeout(400)
        camera.take("kit-task")
        page.keyboard.press("2")
        page.keyboard.press("Enter")
        page.wait_for_selector("[data-last]")
        camera.take("kit-end")


def listed() -> str:
    """docs/pages.md."""
    text = [
        "# Every page in pictures",
        "",
        "`docs/images/gallery.py` takes these pictures from the real pages; people, questions and answers are invented.",
        "What each page is for, in German: [Die Seiten](de-seiten.md). Each page is shown wide (1,280 x 900) and narrow (390 x 844), in German and English, light and dark.",
        "",
    ]
    for name, told in PAGES.items():
        link = "images/pages/" + name + "-{}-{}-{}.webp"
        more = [
            f"[{words}]({link.format(language, size, scheme)})"
            for language, called in (("en", "English"), ("de", "German"))
            for size in ("wide", "phone")
            for scheme in ("light", "dark")
            for words in [f"{called}, {size}, {scheme}"]
        ]
        wide, narrow = link.format("en", "wide", "light"), link.format("de", "phone", "light")
        text += [
            f"## {told}",
            "",
            f"![{told}, wide]({wide})",
            f"![{told}, in German on a phone]({narrow})",
            "",
        ]
        text += [" · ".join(more), ""]
    return "\n".join(text).rstrip() + "\n"


def centre(cameras: Sequence[Camera], said: Said, clock: Clock, made: Path) -> None:
    """The list of studies of a centre, and an owner's passkey."""
    root = Path(tempfile.mkdtemp(dir=made))
    units = {"heart": "several", "kidney": "practice", "lung": "pilot"}
    for slug, unit in units.items():
        (root / slug).mkdir()
        with Store.open(root / slug) as store:
            material(said, unit)(store, said.studies[unit])

    def open_study(place: StudyPlace) -> tuple[Study, str]:
        return said.studies[units[place.slug]], str(place.folder)

    def build(study: Study, store: Store, options: Options) -> Any:
        return create_app(study, store, options, clock=clock)

    def make(url: str) -> Any:
        listed = tuple(StudyPlace(slug, root / slug) for slug in (*units, "spine"))
        settings = CentreSettings(root, listed=listed)
        return Centre(Registry(settings, Options(url=url), open_study, build))

    with running(make) as (app, url):
        for camera in cameras:
            camera.context.clear_cookies()
            for slug, role in (("heart", "owner"), ("lung", "coordinator")):
                site = app.registry.get(slug).site
                camera.enter(site, f"{url}/{slug}", "study-office", role)
            camera.page.goto(url)
            camera.take("centre")
    unit = said.studies["several"]
    with serving(unit, material(said, "several"), clock, passkeys=True) as (site, url):
        for camera in cameras:
            camera.context.clear_cookies()
            camera.enter(site, url, "study-office", "owner")
            camera.take("passkey")


def main() -> None:
    """Take all pictures, or those named."""
    FOLDER.mkdir(exist_ok=True)
    chromium = (
        shutil.which("chromium")
        or shutil.which("chromium-browser")
        or shutil.which("google-chrome")
    )
    with sync_playwright() as play, tempfile.TemporaryDirectory() as made:
        browser = play.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for language in ("en", "de"):
            said = invented(language)
            for tour in (
                way_in,
                practising,
                units,
                calibrating,
                differing,
                office,
                cases,
                rewording,
                kits,
                centre,
            ):
                if ONLY and not ONLY & set(TOURS[tour.__name__]):
                    continue
                clock = Clock()
                cameras = [Camera(browser, language, size, clock) for size in ("wide", "phone")]
                tour(cameras, said, clock, Path(made))
        browser.close()
    (HERE.parent / "pages.md").write_text(listed(), "utf-8")
    sizes = [path.stat().st_size for path in FOLDER.glob("*.webp")]
    print(f"{len(sizes)} pictures, {sum(sizes) // 1024} KB")


if __name__ == "__main__":
    main()
