"""Metrics: what is counted, and that nothing about a person or an answer is in them."""

from __future__ import annotations

import dataclasses
import socket
import urllib.request
from collections.abc import Callable
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from konsil.errors import KonsilError
from konsil.store import Batch, Store
from konsil.web.http import metrics
from konsil.web.http.metrics import Measured, exposed, parse_address
from ports import free_port

from ..conftest import URL


def scraped(port: int) -> str:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10) as reply:
        return reply.read().decode()


def number(text: str, name: str) -> float:
    [line] = [line for line in text.splitlines() if line.startswith(f"{name} ")]
    return float(line.split()[-1])


@pytest.fixture
def scrape() -> Callable[[dict[str, Store]], str]:
    def run(stores: dict[str, Store]) -> str:
        port = free_port()
        with exposed(f"127.0.0.1:{port}", lambda: stores):
            return scraped(port)

    return run


def test_pages_are_counted_by_their_names_and_secrets_are_in_no_metric(
    opened: Store, enter: Callable[..., object], scrape: Callable[[dict[str, Store]], str]
) -> None:
    enter(who="")
    browser = enter(who="canary-rater-1")
    app = Measured(browser.client.app)
    before = scrape({"": opened})
    with TestClient(app, base_url=URL) as client:
        client.cookies = browser.client.cookies
        assert client.get("/next").status_code == 200
        assert client.get("/come/canary-secret-0123456789").status_code == 410
        assert client.get("/canary-nowhere").status_code == 404
        assert client.get("/office").status_code == 404
    after = scrape({"": opened})
    for labels, n in (
        ('page="next",status="303"', 1),
        ('page="invitation",status="410"', 1),
        ('page="none",status="404"', 1),
        ('page="overview",status="404"', 1),
    ):
        name = f'konsil_requests_total{{{labels.split(",")[0]},{labels.split(",")[1]},study=""}}'
        earlier = number(before, name) if name in before else 0
        assert number(after, name) - earlier == n, labels
    assert 'konsil_request_seconds_bucket{le="0.25",page="task",study=""}' in after
    assert "canary" not in after
    assert "TestClient" not in after


def test_progress_is_counted_without_tie_breaks(
    opened: Store, enter: Callable[..., object], scrape: Callable[[dict[str, Store]], str]
) -> None:
    enter()
    with opened.view() as view:
        tasks = list(view.each("tasks"))
    assert all(task.purpose == "main" for task in tasks)
    broken = dataclasses.replace(tasks[0], id="tie", slot="tie", purpose="tiebreak")
    opened.add(Batch(tasks=(broken,)), source="test", at="2025-03-01T12:00:00Z")
    text = scrape({"ward": opened})
    assert number(text, 'konsil_tasks{state="open",study="ward"}') == len(tasks)
    assert number(text, 'konsil_tasks{state="completed",study="ward"}') == 0
    assert number(text, 'konsil_database_up{study="ward"}') == 1
    assert number(text, 'konsil_disk_free_bytes{study="ward"}') > 0


def test_a_database_that_does_not_answer_has_no_progress(
    tmp_path: Path, scrape: Callable[[dict[str, Store]], str]
) -> None:
    with Store.open(tmp_path) as store:
        with store.engine.begin() as connection:
            connection.exec_driver_sql("DROP TABLE meta")
            connection.exec_driver_sql("DROP TABLE tasks")
        text = scrape({"ward": store})
    assert number(text, 'konsil_database_up{study="ward"}') == 0
    assert "konsil_tasks{" not in text


@pytest.mark.parametrize("text", ["9464", "host:", "host:x", "host:0", "host:65536", ":9464"])
def test_an_address_that_is_none(text: str) -> None:
    with pytest.raises(KonsilError, match=r"metrics.*expected an address such as 127\.0\.0\.1:94"):
        parse_address(text)


def test_a_port_that_is_taken() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        address = f"127.0.0.1:{other.getsockname()[1]}"
        with (
            pytest.raises(KonsilError, match="cannot listen on this address"),
            exposed(address, dict),
        ):
            pass
    # Everything is given back: the same address can be used twice, one after the other.
    for _ in range(2):
        with exposed(address, dict):
            pass


def test_without_the_library_a_sentence_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "prometheus_client", None)
    with pytest.raises(KonsilError, match=r"pip install '\.\[metrics\]'"):
        metrics.require_library()


def test_readiness(
    opened: Store, enter: Callable[..., object], monkeypatch: pytest.MonkeyPatch
) -> None:
    client = enter(who="").client
    assert (client.get("/ready").status_code, client.get("/ready").text) == (200, "ready\n")
    monkeypatch.setattr(
        "konsil.web.http.readiness.shutil.disk_usage",
        lambda _: type("Usage", (), {"free": (100 << 20) - 1}),
    )
    assert client.get("/ready").status_code == 503
    assert client.get("/ready").text == "the disk is almost full\n"
    # A full disk is no reason to restart the process.
    assert client.get("/health").status_code == 200
    with opened.engine.begin() as connection:
        connection.exec_driver_sql("DROP TABLE meta")
    assert client.get("/ready").text == "the database does not answer\n"
