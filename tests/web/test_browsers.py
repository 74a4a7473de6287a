"""Nothing moves while a page is measured, in tests and for readers who ask for that."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import konsil.web

from .browsers import free_port, in_the_browser

STATIC = Path(konsil.web.__file__).parent / "static"


def test_only_the_shared_browser_is_launched() -> None:
    tests = Path(__file__).parents[1]
    files = {
        p.name
        for p in tests.rglob("*.py")
        if re.search(r"chromium\.launch|launch_persistent", p.read_text("utf-8"))
    }
    assert files == {"browsers.py", "test_browsers.py"}


def test_no_test_waits_for_a_script_that_the_page_forbids() -> None:
    """The pages' content security policy refuses the second look of `wait_for_function`: only a
    quick page passes."""
    tests = Path(__file__).parents[1]
    files = {
        p.name for p in tests.rglob("*.py") if "wait_for_" + "function(" in p.read_text("utf-8")
    }
    assert not files


def test_what_moves_asks_first() -> None:
    """Outside of a rule for readers who have no objection, no style has a transition or an
    animation."""
    for path in STATIC.glob("*.css"):
        asked = re.sub(
            r"@media \(prefers-reduced-motion: no-preference\) \{(?:[^{}]*\{[^{}]*\})*\s*\}",
            "",
            path.read_text("utf-8"),
        )
        assert not re.search(r"transition|animation|scroll-behavior|@keyframes", asked), path.name
    for path in STATIC.glob("*.js"):
        assert "smooth" not in path.read_text("utf-8"), path.name


def test_a_port_that_no_connection_gets() -> None:
    assert 20_000 <= free_port() < 32_000


@in_the_browser
def test_pages_stand_still(chromium: Any) -> None:
    style = (STATIC / "konsil.css").read_text("utf-8")
    for page in (chromium.new_page(), chromium.new_context(color_scheme="dark").new_page()):
        page.set_content(f"<style>{style}</style><p class=option>x")
        assert (
            page.evaluate("getComputedStyle(document.querySelector('.option')).transitionDuration")
            == "0s"
        )
        page.close()
