"""The offline kit shows as much of every answer as the pages do, and brings back which were read to
their end."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import sqlalchemy as sa

from konsil.records import Answer, Item
from konsil.store import Batch, Store
from konsil.store.engine import page_schema
from konsil.store.engine.engine import reading

from .browsers import in_a_browser
from .kit.test_kit_browser import answers, begin, go, run
from .visible_text import LABELS, LONG, QUESTION, SIZES, TWELVE_LINES, visible

pytestmark = in_a_browser
CRITERIA = "".join(
    f'[[instruments.criteria]]\nid = "c{n}"\nquestion = "The answer is good in respect {n}."\n'
    f'scale = {{ labels = {list(LABELS)}, level = "ordinal", abstain = "cannot judge" }}\n'
    for n in range(1, 8)
)
PROTOCOL = f"""
title = "Reading offline"
seed = 7
[[instruments]]
id = "form"
{CRITERIA}
[[raters]]
id = "r1"
panel = "panel"
[[plan]]
panel = "panel"
instrument = "form"
"""


def kit(folder: Path, n_answers: int, protocol: str = PROTOCOL) -> Path:
    """A kit of one screen with so many long answers."""
    (folder / "study.toml").write_text(protocol, "utf-8")
    said = tuple(Answer(f"q:{s}", "q", f"s{s}", LONG) for s in range(n_answers))
    with Store.open(folder) as store:
        store.add(
            Batch(items=(Item("q", QUESTION),), answers=said),
            source="test",
            at="2025-03-01T12:00:00Z",
        )
    run("kit", folder, "--rater", "r1", "--output", folder / "kit.html")
    return folder / "kit.html"


def test_twelve_lines_of_every_answer_are_in_sight_in_a_kit(chromium: Any, tmp_path: Path) -> None:
    page = chromium.new_context(offline=True).new_page()
    page.goto(kit(tmp_path, 5).as_uri())
    page.wait_for_selector("#main h1")
    begin(page)
    here: Any = SimpleNamespace(page=page)
    for n_answers in (5, 2):
        for size in SIZES:
            for criteria in (1, 7):
                found = visible(here, size, n_answers, criteria)
                assert len(found) == n_answers
                for pixels, whole, marked in found:
                    assert pixels >= min(TWELVE_LINES, whole), (size, n_answers, criteria, found)
                    assert marked == (pixels < whole - 2), (size, n_answers, criteria, found)


@pytest.mark.covering(1)
@pytest.mark.parametrize(("scrolled", "ends"), [((), "0"), ((1,), "2"), ((0, 1), "1 2")])
def test_which_answers_were_read_to_their_end_comes_back_with_the_file(
    scrolled: tuple[int, ...], ends: str, chromium: Any, tmp_path: Path
) -> None:
    one = (
        PROTOCOL[: PROTOCOL.index('[[instruments.criteria]]\nid = "c2"')]
        + PROTOCOL[PROTOCOL.index("[[raters]]") :]
    )
    page = chromium.new_context(offline=True, viewport={"width": 1366, "height": 650}).new_page()
    page.goto(kit(tmp_path, 2, one).as_uri())
    page.wait_for_selector("#main h1")
    begin(page)
    for n in scrolled:
        page.locator(".scroll").nth(n).evaluate("one => { one.scrollTop = one.scrollHeight; }")
        page.wait_for_selector(f".pane:nth-child({n + 1}) .more-mark", state="hidden")
        page.evaluate("() => new Promise((done) => requestAnimationFrame(() => setTimeout(done)))")
    page.keyboard.press("3")
    page.keyboard.press("4")
    go(page, lambda: page.keyboard.press("Enter"))
    file = answers(page, tmp_path / "answers.json")
    assert run("import", tmp_path, "--kit", file) == "r1: 1 handed in\n"
    with Store.open(tmp_path) as store, reading(store.engine) as connection:
        assert list(connection.execute(sa.select(page_schema.visits.c.ends)).scalars()) == [ends]
        assert {r.label for r in store.ratings()} == {"neutral", "agree"}
