"""The list of studies and signing in, in a real browser: accessible, and usable at 320 pixels."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from axe_core_python.sync_playwright import Axe

from ..browsers import chromium, free_port, in_a_browser, served
from .conftest import Centres

__all__ = ["chromium"]
pytestmark = in_a_browser
PICTURES = os.environ.get("KONSIL_PICTURES", "")
"""A folder for pictures, for whoever wants to look at the pages."""
SERVICE = """title = "Studies of the department of cardiology and its twelve partner hospitals"
[sign_in]
issuer = "https://login.example.org"
client_id = "konsil"
name = "your hospital account"
"""


@pytest.mark.covering
@pytest.mark.parametrize("size", [(1280, 900), (320, 700)])
@pytest.mark.parametrize("locale", ["en-GB", "de-DE"])
def test_the_list_of_studies(
    centres: Centres, chromium: Any, size: tuple[int, int], locale: str
) -> None:
    (centres.folder / "broken").mkdir()
    (centres.folder / "broken" / "study.toml").write_text("nothing")
    (centres.folder / "centre.toml").write_text(SERVICE)
    port = free_port()
    centres.url = url = f"http://127.0.0.1:{port}"
    secret = centres.access("heart").invite(
        "lead", "owner", at="2025-03-01T12:00:00Z", expires_at="2099-01-01T00:00:00Z"
    )
    context = chromium.new_context(viewport={"width": size[0], "height": size[1]}, locale=locale)
    page = context.new_page()
    faults: list[str] = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    with served(centres.centre, port):
        for path, signed_in in (("/", False), ("/heart/", False), ("/nowhere", False), ("/", True)):
            if signed_in:
                page.goto(f"{url}/heart/come/{secret}")
                page.click("button.go")
            page.goto(url + path)
            if PICTURES:
                name = f"{path.strip('/') or 'list'}-{locale}-{size[0]}-{signed_in}.png"
                page.screenshot(path=Path(PICTURES) / name)
            violations = Axe().run(page)["violations"]
            assert [v["id"] for v in violations] == [], path
            width = page.evaluate("document.documentElement.scrollWidth")
            assert width <= size[0], path
        assert page.locator("table.list tbody tr").count() == 3
    context.close()
    assert faults == []
