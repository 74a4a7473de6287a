"""Any keys, clicks, pastes, undoings, ways back and forth: what is on the screen when a page is
left is stored."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from konsil.instrument import Criterion, Instrument, PageNames, Scale
from konsil.web.rating.text.numbers import read_number

from ..browsers import in_a_browser
from ..desks import OpenDesk, open_desk

pytestmark = in_a_browser

GRADES = Scale(("bad", "fair", "good"), level="ordinal", abstain="cannot judge")
FORM = Instrument(
    "form",
    (
        Criterion("grade", "How good is it?", GRADES, reason=True),
        Criterion(
            "dose",
            "Which dose?",
            Scale(kind="number", low=0, high=5000, abstain="unclear", unit="mg"),
            "item",
        ),
        Criterion("clear", "Is it clear?", GRADES, "item"),
        Criterion("comment", "Comment", Scale(kind="text"), "item"),
    ),
    "# Codebook\n\nGood is *good*.",
)
FIELDS = ("grade.a1", "grade.a2", "dose", "clear", "comment")
NAMES = PageNames([FORM])
KEYS = (
    *"0123456789gG?aqxyz.,-",
    "Tab",
    "Shift+Tab",
    "Escape",
    "Home",
    "End",
    "PageDown",
    "PageUp",
    "Space",
    "Backspace",
    "Delete",
    "ArrowUp",
    "ArrowDown",
    "ArrowLeft",
    "ArrowRight",
    "Control+a",
    "Control+c",
    "Control+x",
    "Control+v",
    "Control+z",
    "Control+Shift+z",
    "F2",
    "Insert",
)
TEXTS = ("1,5", "1 000", "4", "unclear dose in 2 of 3", "ß € 😀", "a\tb", "-0", "line\nline")
SCREEN = """names => Object.fromEntries(names.map((name) => {
  const found = document.getElementById('rating').elements[name];
  return [name, found instanceof RadioNodeList ? found.value : found.value]; }))"""
PAGES, STEPS = 6, 40


def do_something(page: Any, rng: random.Random) -> None:
    """One thing that somebody may do on a rating page."""
    what = rng.random()
    if what < 0.6:
        page.keyboard.press(rng.choice(KEYS))
    elif what < 0.75:
        page.keyboard.insert_text(rng.choice(TEXTS))
    elif what < 0.9:
        close_panels(page)
        where = rng.choice(
            (
                ".option:visible",
                "input[type=text]:visible, textarea:visible",
                "[data-fill]",
                ".question",
            )
        )
        page.locator(where).nth(rng.randrange(page.locator(where).count())).click()
    elif what < 0.95:
        page.reload()
    else:
        page.goto(page.url.partition("/task/")[0] + "/ratings")
        page.go_back()
    page.wait_for_selector("html.scripted")


def close_panels(page: Any) -> None:
    page.evaluate(
        "() => { for (const one of document.querySelectorAll(':popover-open')) one.hidePopover(); }"
    )


def complete(page: Any, rng: random.Random) -> None:
    """What is still to be answered is, as it can be handed in."""
    close_panels(page)
    for field in FIELDS[:2] + FIELDS[3:4]:
        name = NAMES.neutral(field)
        if not page.locator(f"[name='{name}']:checked").count():
            page.locator(f".option:has([name='{name}'])").nth(rng.randrange(2)).click()
    box = page.locator("[name='~2']")
    typed = box.input_value()
    number = read_number(typed).number
    if typed != "unclear" and not (number and 0 <= float(number) <= 5000):
        box.fill(rng.choice(("40", "1,5", "1 000", "unclear")))


def stored(desk: OpenDesk, task: str) -> dict[str, str]:
    """What the ratings of one task say, by field; an abstention by its label."""
    said = {}
    for rating in (r for r in desk.store.ratings() if r.task == task):
        scale = next(c.scale for c in FORM.criteria if c.id == rating.criterion)
        value = rating.label if rating.state != "abstained" else scale.abstain
        said[(rating.criterion, rating.answers)] = str(value)
    return {" ".join((criterion, *answers)): value for (criterion, answers), value in said.items()}


@pytest.mark.covering(1)
@pytest.mark.parametrize("seed", range(2))
def test_what_is_on_the_screen_is_stored(seed: int, chromium: Any, tmp_path: Path) -> None:
    rng = random.Random(seed)
    with open_desk(chromium, tmp_path, FORM, systems=2, items=PAGES) as desk:
        desk.come()
        page, names = desk.page, [NAMES.neutral(field) for field in FIELDS]
        for _ in range(PAGES):
            rated = {r.task for r in desk.store.ratings()}
            for _ in range(STEPS):
                do_something(page, rng)
            assert {r.task for r in desk.store.ratings()} == rated, (
                "nothing was handed in by itself"
            )
            complete(page, rng)
            screen = page.evaluate(SCREEN, names)
            desk.leave("Control+Enter")
            [task] = {r.task for r in desk.store.ratings()} - rated
            got = stored(desk, task)
            answers = next(t for t in desk.store.tasks() if t.id == task).answers
            assert got[f"grade {answers[0]}"] == screen[names[0]]
            assert got[f"grade {answers[1]}"] == screen[names[1]]
            assert got["clear"] == screen[names[3]]
            dose = screen[names[2]]
            assert got["dose"] == dose or float(got["dose"]) == float(read_number(dose).number)
            assert got.get("comment", "").strip() == screen[names[4]].strip()
            if page.url.endswith("/finished"):
                break
            page.wait_for_selector("html.scripted")
        assert desk.store.verify_log() == ()
