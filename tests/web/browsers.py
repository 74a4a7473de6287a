"""What tests in a real browser share: a browser whose pages stand still, and servers whose ports
nobody else takes."""

from __future__ import annotations

import importlib.util
import shutil
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import pytest

from ports import free_port

__all__ = ["CHROMIUM", "Still", "chromium", "free_port", "in_a_browser", "running", "served"]

CHROMIUM = (
    shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
)
Test = TypeVar("Test")

_MARKS = (
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine"),
    pytest.mark.skipif(
        importlib.util.find_spec("playwright") is None, reason="no playwright in this environment"
    ),
)


def in_the_browser(test: Test) -> Test:
    """Mark one test that needs Chromium; `pytestmark = in_a_browser` marks a module's."""
    for mark in _MARKS:
        test = mark(test)
    return test


in_a_browser = list(_MARKS)

STILL = {"reduced_motion": "reduce"}
"""A colour measured amid a transition is that of no state, and which one depends on how busy the
machine is."""


class Still:
    """A browser all of whose pages ask for reduced motion, as a reader may whom motion makes
    ill."""

    def __init__(self, browser: Any) -> None:
        self._browser = browser

    def new_context(self, **how: Any) -> Any:
        return self._browser.new_context(**STILL, **how)

    def new_page(self, **how: Any) -> Any:
        return self._browser.new_page(**STILL, **how)

    def remembering(self, profile: Any, **how: Any) -> Any:
        """A context that keeps what it stores in a folder."""
        return self._browser.browser_type.launch_persistent_context(
            profile, executable_path=CHROMIUM, args=["--no-sandbox"], **STILL, **how
        )


# A browser for the tests of one module: its loop of events must not stand beside those of other
# modules' tests.
@pytest.fixture(scope="module")
def chromium() -> Iterator[Still]:
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as play:
        browser = play.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield Still(browser)
        browser.close()


@contextmanager
def served(app: Any, port: int) -> Iterator[str]:
    """An application on a port, in a thread of its own; gives its address."""
    import uvicorn

    with running(uvicorn.Config(app, log_level="error", access_log=False), port) as url:
        yield url


@contextmanager
def running(config: Any, port: int) -> Iterator[str]:
    """A server on a port of this machine, in a thread of its own; gives its address."""
    import uvicorn

    config.host, config.port = "127.0.0.1", port
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        assert thread.is_alive(), "the server did not start"
        time.sleep(0.02)
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        thread.join(30)
