"""What is kept of visitors, and what the server writes: no address, no program, no secret, no
name."""

from __future__ import annotations

import http.client
import re
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
import sqlalchemy as sa
from starlette.testclient import TestClient

from konsil.errors import StoreError
from konsil.records import Answer, Item, Rater
from konsil.store import Batch, Store
from konsil.store.engine import schema
from konsil.store.engine.engine import reading
from konsil.store.people.access import Access, hashed
from konsil.store.people.people import Person, note_person
from konsil.web.http.redacted_logging import fault_summary

from ..both import opened, server  # noqa: F401 - fixtures
from ..browsers import free_port
from ..conftest import AT, LATER, URL, Browser, cookie_name
from ..test_browser import PROTOCOL

R1 = "canary-rater-1"
AGENT, HOST, FORWARDED = "CanaryAgent/7.0 (Lazarett)", "198.51.100.77", "203.0.113.99"
ALL_RIGHT = {**{f"correctness.a{n}": "Richtig" for n in range(1, 6)}, "difficulty": "Mittel"}
HEADERS = {
    "user-agent": AGENT,
    "x-forwarded-for": FORWARDED,
    "x-real-ip": FORWARDED,
    "forwarded": f"for={FORWARDED}",
    "referer": f"{URL}/canary-referer",
    "accept-language": "de-CH-canary",
}


def everything(store: Store) -> str:
    """Every cell of every table, those that no schema of ours names included."""
    with reading(store.engine) as connection:
        tables = sa.inspect(connection).get_table_names()
        assert {t.name for t in schema.metadata.sorted_tables} <= set(tables)
        return "\n".join(
            repr(tuple(row))
            for t in tables
            for row in connection.execute(sa.text(f'SELECT * FROM "{t}"'))
        )


def test_nothing_of_the_device_is_kept(enter: Callable[..., Any], opened: Store) -> None:
    app = enter(who="").client.app
    for who, role in ((R1, "rater"), ("office", "owner")):
        browser = Browser(TestClient(app, base_url=URL, client=(HOST, 50_123), headers=HEADERS))
        browser.client.get("/come/wrong")
        secret = Access(opened).invite(who, role, at=AT, expires_at=LATER)  # type: ignore[arg-type]
        browser.post(f"/come/{secret}")
        if role == "rater":
            path = browser.get("/next").url.path
            change = {
                "id": "e1",
                "field": "difficulty",
                "value": "Schwer",
                "base_rev": 0,
                "at": "2025-03-01T12:00:00Z",
            }
            browser.save(
                f"{path}/save",
                {"changes": [change], "visit": browser.hidden()["visit"], "wall": "1"},
            )
            browser.post(f"{path}/problem", {"text": "Etwas fehlt."})
            browser.get(path)
            browser.post(path, {**browser.hidden(), **ALL_RIGHT})
        else:
            browser.get("/office/download")
            browser.post("/office/download", {"format": "csv"})
            browser.get("/office/invitations")
            browser.post("/office/invitations", {"all": "1"})
        browser.get("/")
        if role == "rater":
            browser.post("/language", {"language": "en", "back": "/"})
    kept = everything(opened)
    assert "sign-in" in kept, "the audit log was looked at"
    assert opened.ratings()
    for trace in (AGENT, "Lazarett", HOST, FORWARDED, "50123", "canary-referer", "de-CH"):
        assert trace not in kept, trace


def test_a_copy_of_the_database_opens_no_door(enter: Callable[..., Any], opened: Store) -> None:
    """Secrets are in it as hashes, and a hash is no secret."""
    browser = enter(who="")
    secret = Access(opened).invite(R1, "rater", at=AT, expires_at=LATER)
    browser.post(f"/come/{secret}")
    cookie = browser.client.cookies[cookie_name(browser)]
    kept = everything(opened)
    for one in (secret, cookie):
        assert one not in kept
        assert hashed(one) in kept
        assert len(one) >= 32, "too long to guess"
    thief = TestClient(
        browser.client.app, base_url=URL, cookies={cookie_name(browser): hashed(cookie)}
    )
    assert thief.get("/next").status_code == 401
    assert thief.get(f"/come/{hashed(secret)}").status_code == 410


def test_messages_of_the_database_quote_nobody(opened: Store) -> None:
    opened.add(Batch(raters=[Rater("r", "panel")]), source="test", at=AT)
    with opened.engine.begin() as connection:
        connection.execute(sa.text("ALTER TABLE people RENAME TO elsewhere"))
    with pytest.raises(StoreError) as caught:
        note_person(opened, Person("r", "Ada Canary", "ada@canary.example"))
    chain: BaseException | None = caught.value
    while chain is not None:
        assert "canary" not in str(chain).casefold()
        chain = chain.__cause__ or chain.__context__


def test_a_fault_is_told_without_what_it_quotes() -> None:
    def fails(secret: str) -> None:
        try:
            int(secret)
        except ValueError as error:
            raise StoreError("konsil.db: is busy") from error

    with pytest.raises(StoreError) as caught:
        fails("ada@canary.example")
    said = fault_summary(caught.value)
    assert said.startswith("StoreError (konsil.db: is busy) at ")
    assert "cause: ValueError at " in said
    assert "test_traces.py" in said
    assert "canary" not in said


@pytest.mark.slow
def test_the_servers_log_names_nobody(tmp_path: Path) -> None:
    """konsil serve as people run it: doors that open and do not, pages that are none, and a fault
    in the middle."""
    (tmp_path / "study.toml").write_text(PROTOCOL, "utf-8")
    questions = tuple(Item(f"q{n}", f"Welches Organ {n}?", "Leber") for n in range(2))
    said = tuple(
        Answer(f"{q.id}:{s}", q.id, f"s{s}", "Die Leber") for q in questions for s in range(5)
    )
    with Store.open(tmp_path) as store:
        store.add(Batch(items=questions, answers=said), source="test", at=AT)
    port = free_port()
    url, log = f"http://127.0.0.1:{port}", tmp_path / "log.txt"
    command = [
        sys.executable,
        "-c",
        "from konsil.cli import main; main()",
        "serve",
        str(tmp_path),
        "--port",
        str(port),
    ]
    with log.open("wb") as out:
        process = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT)
    secrets: list[str] = []
    try:
        jar: dict[str, str] = {}

        def ask(method: str, path: str, data: dict[str, str] | None = None) -> tuple[int, str]:
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
            headers = {
                **HEADERS,
                "origin": url,
                "cookie": "; ".join(f"{k}={v}" for k, v in jar.items()),
            }
            body = urlencode(data or {})
            if method == "POST":
                headers["content-type"] = "application/x-www-form-urlencoded"
            connection.request(method, path, body if method == "POST" else None, headers)
            got = connection.getresponse()
            text = got.read().decode()
            cookie = re.match(r"(konsil-[0-9a-f]+)=([^;]+)", got.headers.get("set-cookie", ""))
            if cookie:
                jar[cookie[1]] = cookie[2]
                secrets.append(cookie[2])
            connection.close()
            return got.status, text

        for _ in range(600):
            try:
                ask("GET", "/")
                break
            except OSError:
                assert process.poll() is None, log.read_text("utf-8")
                time.sleep(0.05)
        with Store.open(tmp_path) as store:
            secret = Access(store).invite("boss", "owner", at=AT, expires_at="2099-01-01T00:00:00Z")
        secrets += [secret, "wrong-secret-of-somebody"]
        assert ask("GET", "/come/wrong-secret-of-somebody")[0] == 410
        assert ask("POST", f"/come/{secret}")[0] == 303
        status, html = ask("GET", "/office/invitations")
        assert status == 200
        csrf = re.search(r'name="csrf" value="([^"]+)"', html)
        assert csrf is not None
        secrets.append(csrf[1])
        person = {"csrf": csrf[1], "who": "r1", "name": "Ada Canary", "email": "ada@canary.example"}
        assert ask("POST", "/office/invitations/name", person)[0] == 303
        assert ask("POST", "/office/invitations/name", {**person, "csrf": "forged"})[0] == 403
        assert ask("PUT", "/office")[0] == 405
        with sqlite3.connect(tmp_path / "konsil.db") as raw:
            raw.execute("ALTER TABLE people RENAME TO elsewhere")
        raw.close()
        status, html = ask("POST", "/office/invitations/name", person)
        assert status == 500
        assert "canary" not in html.casefold()
        assert ask("GET", f"/come/{secret}")[0] == 200, "it goes on"
    finally:
        process.terminate()
        process.wait(20)
    text = log.read_text("utf-8")
    assert "StoreError" in text, "the fault is in the log"
    assert "invitations.py" in text, "and where it was"
    assert "Traceback" not in text, "messages may quote what was sent"
    for trace in (
        *secrets,
        "Canary",
        "canary.example",
        "CanaryAgent",
        FORWARDED,
        "canary-referer",
        "/come/",
    ):
        assert trace not in text, trace
    assert "GET /" not in text, "there is no list of requests"
