"""A sign-in service that does not answer: it takes no thread of other pages, and is not asked on
and on."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from .conftest import Centres

CENTRE = '[sign_in]\nissuer = "https://login.example.org"\nclient_id = "konsil"\n'


class Silent:
    """What is asked of the service; it answers nothing, at once or once it is released."""

    def __init__(self) -> None:
        self.asked, self.begun, self.released = 0, threading.Event(), threading.Event()
        self.released.set()

    def get(self, address: str, **_options: object) -> httpx.Response:
        self.asked += 1
        self.begun.set()
        self.released.wait(20)
        raise httpx.ConnectTimeout(address)


@pytest.fixture
def silent(centres: Centres, monkeypatch: pytest.MonkeyPatch) -> Silent:
    pytest.importorskip("authlib")
    (centres.folder / "centre.toml").write_text(CENTRE)
    service = Silent()
    monkeypatch.setattr("konsil.web.centre.provider.httpx.get", service.get)
    return service


def test_a_silent_service_is_not_asked_again_at_once(
    centres: Centres, silent: Silent, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = centres.client()
    assert [client.get("/sign-in").status_code for _ in range(3)] == [503] * 3
    assert silent.asked == 1
    later = time.monotonic() + 31
    monkeypatch.setattr("konsil.web.centre.provider.time.monotonic", lambda: later)
    assert client.get("/sign-in").status_code == 503
    assert silent.asked == 2


def test_nobody_waits_behind_another(centres: Centres, silent: Silent) -> None:
    silent.released.clear()
    first, second = centres.client(), centres.client()
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(first.get, "/sign-in")
        try:
            assert silent.begun.wait(20)
            assert second.get("/sign-in").status_code == 503
            assert second.get("/health").status_code == 200
            assert not waiting.done()
        finally:
            silent.released.set()
        assert waiting.result().status_code == 503
    assert silent.asked == 1


@pytest.mark.slow
def test_one_address_signs_in_so_many_times_a_minute(centres: Centres, silent: Silent) -> None:
    client = centres.client()
    statuses = [client.get(path).status_code for path in ("/sign-in", "/signed-in") * 61]
    assert statuses[:2] == [503, 403]
    assert statuses[119:] == [403, 429, 429]
    assert client.get("/").status_code == 200
