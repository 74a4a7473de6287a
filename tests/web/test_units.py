"""The rating page of every unit in a real browser, by keys alone: one answer, a pair, sentences,
surveys."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest

from konsil.instrument import Criterion, Instrument, Scale
from konsil.plan import Allocation, assign
from konsil.records import Answer, Citation, Item, Rater, Span, System
from konsil.store import Batch, Store
from konsil.store.people.access import Access
from konsil.study import Study
from konsil.study.sections.practice import Explanation
from konsil.web.app.app import create_app
from konsil.web.site.site import Options

from .browsers import free_port, in_a_browser, served

pytestmark = in_a_browser

AT = "2025-03-01T12:00:00Z"
GRADES = Scale(
    ("Very poor", "Poor", "Fair", "Good", "Very good"), level="ordinal", abstain="Cannot judge"
)
SIDES = Scale(("A much better", "A better", "Equal", "B better", "B much better"), level="ordinal")
SURE = Criterion(
    "sure", "How sure are you?", Scale(("Not at all", "Somewhat", "Very"), level="ordinal"), "item"
)
SINGLE = Instrument(
    "single",
    tuple(
        Criterion(
            f"c{n}",
            f"Criterion {n}: how good is it?",
            GRADES,
            guidance="As you would at work.",
            reason=n == 7,
        )
        for n in range(1, 8)
    ),
    "# Codebook\n\nHow to rate.",
)
PAIR = Instrument(
    "pair",
    (*(Criterion(f"p{n}", f"Which is better in {n}?", SIDES, "pair") for n in range(1, 6)), SURE),
    unit="pair",
)
TELL = Scale(("No", "Partly", "Yes"), level="ordinal", abstain="Cannot tell")
SENTENCES = Instrument(
    "sentences",
    (
        Criterion("correct", "Is it correct?", TELL, "sentence", "By what is known today."),
        Criterion("safe", "Is it safe?", TELL, "sentence"),
        Criterion(
            "whole", "How good is the whole?", Scale(("Bad", "Fair", "Good"), level="ordinal")
        ),
    ),
    unit="sentence",
)
ALONE = replace(SENTENCES, id="alone", present="sentence")
EASE = Instrument("ease", (Criterion("ease", "How easy was this batch?", GRADES, "batch"),))
SEVEN = Scale(("1 very low", "2", "3", "4", "5", "6", "7 very high"), level="ordinal")
LOAD = Instrument(
    "load",
    tuple(Criterion(f"l{n}", f"Demand {n}: how high was it?", SEVEN, "rater") for n in range(6)),
)
PLANS = {
    "single": (
        Allocation("panel", "single", show="each", systems=("canary-1",), batches=2),
        Allocation("panel", "ease"),
        Allocation("panel", "load"),
    ),
    "pair": (Allocation("panel", "pair", show="pair", arms={"citations": 1}),),
    "text": (Allocation("panel", "pair", show="pair", arms={"text": 1}),),
    "sentences": (Allocation("panel", "sentences", show="each"),),
    "alone": (Allocation("panel", "alone", show="each", batches=2),),
    "practice": (Allocation("panel", "pair", show="pair", purpose="practice"),),
}
SIX = (
    "The risk decides.",
    "The score is four.",
    "Apixaban is usual.",
    "Aspirin is equal.",
    "Check it.",
    "No juice.",
)
LONG = (
    "**Yes**, see [1] and [the guide](https://guide.org/x).\n\n- one\n- two\n\n| a | b"
    " |\n|---|---|\n| 1 | 2 |\n\n"
    + (
        "Bleeding risk is no reason to withhold treatment but to correct what can be corrected. "
        * 40
    )
)


def fill(store: Store, name: str) -> Study:
    what = tuple(Item(f"i{n}", f"Question {n}: what is to be done?") for n in range(3))
    systems = (System("canary-1", "canary-f"), System("canary-2", "canary-g"))
    has_sentences = name in ("sentences", "alone")
    text = " ".join(SIX) if has_sentences else LONG
    starts = [text.find(s) for s in SIX] if has_sentences else []
    spans = tuple(Span(a, a + len(s)) for a, s in zip(starts, SIX, strict=False))
    cited = (Citation("The guide", "https://guide.org/x"),)
    said = tuple(
        Answer(f"{i.id}:{s.id}", i.id, s.id, text, "", cited, spans) for i in what for s in systems
    )
    study = Study(
        "A study of answers with quite a long title that a telephone cannot show",
        7,
        language="en",
        instruments=(SINGLE, PAIR, SENTENCES, ALONE, EASE, LOAD),
        systems=systems,
        raters=(Rater("r1", "panel"),),
        plan=PLANS[name],
        explanations=(
            tuple(
                Explanation(f"i{n}", "p1", "A better", "It is right.", "canary-1") for n in range(3)
            )
            if name == "practice"
            else ()
        ),
    )
    tasks = assign(
        study.plan,
        items=what,
        answers=said,
        raters=study.raters,
        instruments=study.instruments,
        seed=study.seed,
    )
    store.add(
        Batch(items=what, answers=said, raters=study.raters, tasks=tasks), source="test", at=AT
    )
    return study


class Desk:
    """A page of a rater and the store behind it."""

    def __init__(self, page, store: Store) -> None:
        self.page, self.store = page, store

    def press(self, keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)

    def go_on(self) -> None:
        before = self.page.url
        self.page.keyboard.press("Enter")
        self.page.wait_for_url(lambda url: url != before)
        self.page.wait_for_load_state()

    def ratings(self):
        return self.store.ratings()

    def here(self) -> str:
        return self.page.locator(".asked.here legend").text_content()

    def outside(self, selector: str, height: int = 900) -> list[str]:
        """What of it is not wholly in the window."""
        boxes = [
            (one.bounding_box(), one.text_content()) for one in self.page.locator(selector).all()
        ]
        return [
            text
            for box, text in boxes
            if box is None or box["y"] < 0 or box["y"] + box["height"] > height
        ]


@pytest.fixture
def at_desk(chromium, tmp_path: Path) -> Iterator[Callable[..., Desk]]:
    """A rater at a study's first task; whatever the browser reports as wrong fails the test."""
    running = ExitStack()
    wrong: list[str] = []

    def come(
        name: str,
        width: int = 1280,
        height: int = 900,
        locale: str = "en-GB",
        scheme: str = "light",
    ) -> Desk:
        folder = tmp_path / name
        folder.mkdir()
        store = running.enter_context(Store.open(folder))
        study = fill(store, name)
        port = free_port()
        url = f"http://127.0.0.1:{port}"
        running.enter_context(served(create_app(study, store, Options(url=url)), port))
        context = chromium.new_context(
            viewport={"width": width, "height": height}, locale=locale, color_scheme=scheme
        )
        running.callback(context.close)
        page = context.new_page()
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on(
            "console",
            lambda m: wrong.append(m.text) if m.type == "error" and "422" not in m.text else None,
        )
        page.on("request", lambda r: wrong.append(r.url) if not r.url.startswith(url) else None)
        secret = Access(store).invite("r1", "rater", at=AT, expires_at="2099-01-01T00:00:00Z")
        page.goto(f"{url}/come/{secret}")
        page.click("button.go")
        page.wait_for_selector("html.scripted")
        return Desk(page, store)

    with running:
        yield come
    assert not wrong


def test_one_answer_with_seven_criteria_the_question_after_each_batch_and_the_survey(
    at_desk,
) -> None:
    desk = at_desk("single")
    assert desk.page.locator(".pane h2").text_content() == "Answer", "there is no other"
    for keys in ("1234501", "5555555"):
        desk.press(keys)
        desk.go_on()
    assert "How easy was this batch?" in desk.here(), "after two screens"
    desk.press("4")
    desk.go_on()
    desk.press("3333333")
    desk.go_on()
    desk.press("5")
    desk.go_on()
    assert desk.page.locator("main .question").count() == 0, "a survey has no item"
    desk.press("1234567"[:6])
    desk.go_on()
    assert desk.page.url.endswith("/finished")
    found = desk.ratings()
    assert sorted(r.label for r in found if r.criterion == "ease") == ["Good", "Very good"]
    assert sorted(r.label for r in found if r.criterion.startswith("l")) == [
        "1 very low",
        "2",
        "3",
        "4",
        "5",
        "6",
    ]
    first = next(r.task for r in found if r.state == "abstained")
    said = [r.label for r in sorted(found, key=lambda r: r.criterion) if r.task == first]
    assert said == ["Very poor", "Poor", "Fair", "Good", "Very good", None, "Very poor"]


def test_seven_criteria_are_in_sight_and_their_points_line_up(at_desk) -> None:
    desk = at_desk("single")
    assert not desk.outside(".option, .asked legend, #go, .question")
    columns = [
        [round(option.bounding_box()["x"]) for option in field.locator(".option").all()]
        for field in desk.page.locator(".asked").all()
    ]
    assert len(columns) == 7
    assert all(column == columns[0] for column in columns)
    for option in desk.page.locator(".option").all():
        box = option.bounding_box()
        assert min(box["width"], box["height"]) >= 43.9
    legend, field = (
        desk.page.locator(s).first.bounding_box() for s in (".asked.here legend", ".asked.here")
    )
    assert field["y"] <= legend["y"], "the question stands inside its field"


def test_a_reason_for_abstaining_may_be_given_and_need_not(at_desk) -> None:
    desk = at_desk("single")
    reason = desk.page.locator('input[name="~1.a1.reason"]')
    assert not reason.is_visible()
    desk.press("0")
    assert reason.is_visible()
    reason.fill("0 of my field")
    desk.page.keyboard.press("Tab")
    desk.press("333333")
    desk.page.wait_for_selector("#badge[data-state=saved]")
    desk.page.locator('input[name="~7.a1"]:checked').focus()
    desk.go_on()
    first = next(r for r in desk.ratings() if r.criterion == "c1")
    assert (first.state, first.note) == ("abstained", "0 of my field")


def test_a_pair_by_keys_is_stored_by_answer_and_not_by_side(at_desk) -> None:
    desk = at_desk("pair")
    assert not desk.outside(".option, #go, .question")
    a, b = (one.bounding_box() for one in desk.page.locator(".pane").all())
    assert a["y"] == b["y"]
    assert abs(a["width"] - b["width"]) <= 1
    for _ in range(3):
        desk.press("123453")
        desk.go_on()
    found = desk.ratings()
    assert len(found) == 18
    assert {r.answers for r in found if r.criterion == "p1"} == {
        (f"i{n}:canary-1", f"i{n}:canary-2") for n in range(3)
    }
    assert {r.label for r in found if r.criterion == "p1"} <= {"A much better", "B much better"}
    assert {r.label for r in found if r.criterion == "p3"} == {"Equal"}
    assert [r.label for r in found if r.criterion == "sure"] == ["Very"] * 3


def test_a_practice_explains_itself_and_enter_goes_on(at_desk) -> None:
    axe = pytest.importorskip("axe_core_python.sync_playwright").Axe()
    desk = at_desk("practice")
    desk.press("22222")
    desk.press("1")
    desk.page.keyboard.press("Enter")
    desk.page.wait_for_selector(".why")
    assert desk.page.locator(".why").count() == 1
    assert "It is right." in desk.page.locator(".why").text_content()
    assert ("✓" in desk.page.locator(".why").text_content()) == (
        "A better" in desk.page.locator(".why").text_content()
    )
    desk.press("5")
    assert desk.page.locator("input:checked").first.input_value() == "A better", (
        "it takes no more answers"
    )
    assert not [(v["id"], v["nodes"][0]["html"]) for v in axe.run(desk.page)["violations"]]
    desk.go_on()
    assert desk.page.locator(".why").count() == 0


def test_long_answers_scroll_by_key_while_the_questions_stay(at_desk) -> None:
    desk = at_desk("pair")
    desk.page.keyboard.press("PageDown")
    assert desk.page.eval_on_selector_all(
        ".pane .scroll", "all => all.every(one => one.scrollTop > 100)"
    )
    assert not desk.outside(".option")
    desk.page.keyboard.press("PageUp")
    assert desk.page.eval_on_selector_all(
        ".pane .scroll", "all => all.every(one => one.scrollTop === 0)"
    )


@pytest.mark.parametrize(("arm", "shown"), [("pair", True), ("text", False)])
def test_sources_and_links_are_shown_in_the_arm_that_has_them(
    arm: str, shown: bool, at_desk
) -> None:
    page = at_desk(arm).page
    links = page.eval_on_selector_all(".pane a", "all => all.map(a => [a.href, a.rel, a.target])")
    assert (["https://guide.org/x", "noopener noreferrer nofollow", "_blank"] in links) is shown
    assert ("[1]" in page.locator(".pane .rich").first.text_content()) is shown
    assert (page.locator(".sources").count() > 0) is shown


def test_sentences_are_followed_in_the_text(at_desk) -> None:
    desk = at_desk("sentences")
    page = desk.page
    headings = page.locator(".group.sentence h3").all_text_contents()
    assert headings == [f"Sentence {n} of 6" for n in range(1, 7)]
    assert page.locator(".quote").all_text_contents() == list(SIX)
    assert page.locator("mark.here").all_text_contents() == [SIX[0]]
    desk.press("32")
    assert page.locator("mark.here").all_text_contents() == [SIX[1]]
    assert page.locator("mark.said").all_text_contents() == [SIX[0]]
    page.locator("mark", has_text=SIX[4]).click()
    assert desk.here() == "Sentence 5 of 6: Is it correct?"
    page.locator("mark", has_text=SIX[1]).click()
    desk.press("0" * 10)
    assert "How good is the whole?" in desk.here()
    desk.press("2")
    desk.go_on()
    found = desk.ratings()
    assert len(found) == 13
    assert sorted({r.span for r in found if r.span is not None}, key=lambda s: s.start) == sorted(
        {Span(" ".join(SIX).find(s), " ".join(SIX).find(s) + len(s)) for s in SIX},
        key=lambda s: s.start,
    )
    assert sum(r.state == "abstained" for r in found) == 10


def test_one_sentence_is_marked_on_each_page(at_desk) -> None:
    desk = at_desk("alone")
    page = desk.page
    mark = page.locator("mark[aria-current=true]")
    for n, sentence in enumerate(SIX):
        assert (page.locator("mark").count(), mark.text_content()) == (1, sentence)
        assert " ".join(page.locator(".pane .rich").text_content().split()) == " ".join(SIX)
        assert page.locator(".group h3").text_content() == "Marked sentence"
        assert page.locator(".quote").text_content() == sentence
        assert desk.here() == "Marked sentence: Is it correct?"
        assert f"{n} of 14 done" in page.locator(".progress").text_content()
        desk.press("32")
        desk.go_on()
    assert page.locator("mark").count() == 0
    assert desk.here() == "How good is the whole?"
    # What was handed in is there again when one goes back, and can be changed.
    before = page.url
    page.click(".bar a")
    page.wait_for_url(lambda url: url != before)
    page.wait_for_selector("html.scripted")
    assert mark.text_content() == SIX[-1]
    assert page.locator(".asked input:checked").evaluate_all("all => all.map(a => a.value)") == [
        "Yes",
        "Partly",
    ]
    desk.press("1")
    desk.go_on()
    assert desk.here() == "How good is the whole?"
    desk.press("2")
    desk.go_on()
    found = desk.ratings()
    assert sorted(r.label for r in found) == sorted(
        ["Yes"] * 5 + ["Partly"] * 6 + ["No"] + ["Fair"]
    )
    assert len({r.task for r in found}) == 7
    assert all(r.seconds is not None for r in found)


def test_without_a_script_and_on_a_phone_the_sentence_is_marked_too(at_desk) -> None:
    page = at_desk("alone", 390, 844).page
    colour = "all => all.map(a => getComputedStyle(a).backgroundColor)"
    marked = page.locator("mark").evaluate_all(colour)
    bare = page.context.browser.new_context(
        java_script_enabled=False, storage_state=page.context.storage_state()
    )
    plain = bare.new_page()
    plain.goto(page.url)
    assert plain.locator("mark").all_text_contents() == [SIX[0]]
    assert plain.locator("mark").evaluate_all(colour) == marked != ["rgba(0, 0, 0, 0)"]
    bare.close()
    assert page.locator(".quote").is_visible()
    # A marked sentence far down is scrolled into sight, above the bar.
    page.set_viewport_size({"width": 390, "height": 330})
    page.reload()
    page.wait_for_selector("html.scripted")
    bar, mark = page.locator(".bar").bounding_box(), page.locator("mark").bounding_box()
    assert mark["y"] >= 0
    assert mark["y"] + mark["height"] <= bar["y"]


@pytest.mark.parametrize("name", ["single", "pair", "sentences"])
def test_on_a_phone_the_head_is_one_row_and_reading_begins_at_the_top(name: str, at_desk) -> None:
    page = at_desk(name, 390, 844, "de-DE").page
    assert page.locator("header.top").bounding_box()["height"] <= 56
    assert page.evaluate("scrollY") == 0
    assert not page.locator("#more").is_visible()
    page.click("button.menu")
    assert page.locator("#more button", has_text="English").is_visible()
    page.keyboard.press("Escape")
    for width in (390, 320):
        page.set_viewport_size({"width": width, "height": 844})
        assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.covering
@pytest.mark.parametrize("locale", ["de-DE", "en-GB"])
@pytest.mark.parametrize("name", ["single", "pair", "sentences", "alone"])
def test_axe_finds_nothing_and_the_page_is_small(name: str, locale: str, at_desk) -> None:
    axe = pytest.importorskip("axe_core_python.sync_playwright").Axe()
    desk = at_desk(name, locale=locale, scheme="dark" if locale == "de-DE" else "light")
    bodies: list[int] = []
    desk.page.on("response", lambda r: bodies.append(len(r.body())))
    desk.page.reload(wait_until="networkidle")
    assert bodies
    assert sum(bodies) < 60_000, "page, style sheet and module together"
    desk.press("2")
    found = [(v["id"], v["nodes"][0]["html"]) for v in axe.run(desk.page)["violations"]]
    desk.page.set_viewport_size({"width": 390, "height": 844})
    found += [("phone", v["id"], v["nodes"][0]["html"]) for v in axe.run(desk.page)["violations"]]
    assert not found
    assert "canary" not in desk.page.content(), "no system is named"
