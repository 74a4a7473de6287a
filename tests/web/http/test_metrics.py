"""Metrics: what is counted, and that nothing about a person or an answer is in them."""

from __future__ import annotations

import dataclasses
import re
import socket
import urllib.request
from collections.abc import Callable
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from konsil.errors import KonsilError
from konsil.store import Batch, Store
from konsil.store.engine.engine import writing
from konsil.store.tasks import screens
from konsil.web.app.app import create_app
from konsil.web.app.routes import ROUTES
from konsil.web.http import metrics
from konsil.web.http.metrics import TOGETHER, Measured, exposed, parse_address
from konsil.web.rating.rating_service import Desk
from konsil.web.site.site import Options
from ports import free_port

from ..conftest import STUDIES, URL, Clock


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


def test_disagreements_are_no_number_of_their_own(
    opened: Store,
    enter: Callable[..., object],
    scrape: Callable[[dict[str, Store]], str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Pages of adjudication, and tie-breaks, are counted with pages that all request all the time,
    whatever their status."""
    enter(who="")
    browser = enter(who="canary-rater-1")
    options = Options(url=URL, metrics="127.0.0.1:1")
    app = Measured(create_app(STUDIES["medqade"], opened, options, clock=Clock()))
    ties = ["tie", "main"]
    monkeypatch.setattr(
        "konsil.web.rating.rating_service.Desk.is_tie_break",
        lambda _, rater, public: public in ties[:1],
    )
    before = scrape({"": opened})
    with TestClient(app, base_url=URL) as client:
        client.cookies = browser.client.cookies
        for path in ("/adjudication/x", "/adjudication", "/task/tie", "/task/main", "/ready"):
            client.get(path, follow_redirects=False)
    after = scrape({"": opened})
    pages = set(re.findall(r'page="([a-z_]+)"', after))
    assert not pages & {"reviews", "review", "decide_review", "calibration", "reasons", "ready"}

    def change(labels: str) -> float:
        name = f"konsil_requests_total{{{labels}}}"
        return number(after, name) - (number(before, name) if name in before else 0)

    assert change('page="other",status="answered",study=""') == 4
    assert change('page="task",status="404",study=""') == 1
    assert {s for p, s in re.findall(r'page="(\w+)",status="(\w+)"', after) if p == "other"} == {
        "answered"
    }


def test_every_page_about_disagreements_is_counted_with_others() -> None:
    """A page that is added is in one of the lists, on purpose."""
    names = {page.name for page in ROUTES}
    assert names >= TOGETHER
    words = ("review", "adjudication", "calibration", "reasons", "tie")
    about = {n for n in names if any(word in n for word in words)}
    assert about <= TOGETHER


def test_the_desk_tells_tie_breaks(opened: Store, enter: Callable[..., object]) -> None:
    enter()
    with opened.view() as view:
        task = next(t for t in view.each("tasks") if t.rater == "canary-rater-1")
    desk = Desk(STUDIES["medqade"], opened, Clock().stamp)
    public = desk.next_task("canary-rater-1")
    assert public is not None
    assert not desk.is_tie_break("canary-rater-1", public)
    assert not desk.is_tie_break("canary-rater-1", "none")
    broken = dataclasses.replace(task, id="tie", slot="tie", purpose="tiebreak", position=0)
    opened.add(Batch(tasks=(broken,)), source="test", at="2025-03-01T12:00:00Z")
    with writing(opened.engine) as connection:
        state = screens.named(connection, "tie", "canary-rater-1", "2025-03-01T12:00:00Z")
    assert desk.is_tie_break("canary-rater-1", state.public)


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
