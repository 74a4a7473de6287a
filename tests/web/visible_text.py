"""How many pixels of each answer are in sight on a page as it comes: for tests, and for the table
of the documents."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from konsil.instrument import Criterion, Instrument, Scale

from .desks import OpenDesk, open_desk

SIZES = ((1280, 620), (1366, 650), (1366, 768), (1440, 780), (1920, 950))
ANSWERS, CRITERIA = range(1, 6), range(1, 8)
TWELVE_LINES = 288
LABELS = ("strongly disagree", "disagree", "neutral", "agree", "strongly agree")
GRADES = Scale(LABELS, level="ordinal", abstain="cannot judge")
FORM = Instrument(
    "form",
    tuple(Criterion(f"c{n}", f"The answer is good in respect {n}.", GRADES) for n in CRITERIA),
)
QUESTION = (
    "A 74-year-old woman with HFpEF, eGFR 42 and potassium 5.1 mmol/L asks whether spironolactone"
    " can be started. What do you recommend? ({})"
)
TEXT = (
    "The patient should be assessed for volume status, renal function and potassium before a"
    " mineralocorticoid receptor antagonist is added, and the dose is to be halved if eGFR falls"
    " below 30. "
)
LONG = (TEXT * 4 + "\n\n") * 4

# So many answers and criteria are left of the page of five and seven; then the module lays the page
# out anew.
_CUT = """([answers, criteria]) => {
  document.querySelectorAll('.pane').forEach((pane, i) => {
    if (i >= answers) pane.hidden = true;
    pane.style.display = i >= answers ? 'none' : '';
    pane.querySelectorAll('.asked').forEach((one, k) => { one.style.display = k >= criteria ? 'none' : ''; });
  });
  dispatchEvent(new Event('resize'));
}"""
# Of every answer: the pixels in the window, not under the question and not under the bar; and those
# of its whole text.
_MEASURE = """() => {
  const top = Math.max(0, document.querySelector('.question').getBoundingClientRect().bottom);
  const bottom = Math.min(innerHeight, document.querySelector('.bar').getBoundingClientRect().top);
  return [...document.querySelectorAll('.pane')].filter((pane) => pane.offsetHeight).map((pane) => {
    const box = pane.querySelector('.scroll'), r = box.getBoundingClientRect();
    const end = box.querySelector('.end').getBoundingClientRect().bottom;
    const whole = end - box.firstElementChild.getBoundingClientRect().top;
    const marked = !pane.querySelector('.more-mark').hidden;
    return [Math.round(Math.max(0, Math.min(bottom, r.bottom) - Math.max(top, r.top))), Math.round(whole), marked];
  });
}"""
_TWO_FRAMES = (
    "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
)


@contextmanager
def page_of(
    chromium: Any, folder: Path, answers: int = 5, text: str = LONG, **more: Any
) -> Iterator[OpenDesk]:
    """A page of so many answers, each with seven criteria."""
    with open_desk(
        chromium, folder, FORM, systems=answers, items=1, text=text, question=QUESTION, **more
    ) as desk:
        desk.come()
        yield desk


def visible(
    desk: OpenDesk, size: tuple[int, int], answers: int, criteria: int
) -> list[tuple[int, int, bool]]:
    """Of every answer the pixels in sight, those of its whole text, and whether hidden text is
    marked."""
    desk.page.set_viewport_size({"width": size[0], "height": size[1]})
    desk.page.evaluate(_CUT, [answers, criteria])
    desk.page.evaluate("() => scrollTo(0, 0)")
    desk.page.evaluate(_TWO_FRAMES)
    return [tuple(one) for one in desk.page.evaluate(_MEASURE)]
