"""What a simulated rater makes of forms, and of replies that are no success."""

from __future__ import annotations

import http.server
import threading
from collections.abc import Iterator, Mapping
from typing import Any, cast

import pytest

from konsil.errors import KonsilError
from konsil.rehearse.panel import _before, _rate
from konsil.rehearse.people import Outcome
from konsil.rehearse.server import answers_at
from konsil.rehearse.times import Times
from konsil.rehearse.visitor import Page, Visitor

TASK = """
<form action="/task/x" data-save="/task/x/save" data-rev="0" data-public="t1">
<input type="radio" name="q" value="yes"><input type="radio" name="q" value="no">
</form>
"""
CONSENT = """
<form method="post" action="/consent">
<button name="agree" value="yes">I agree</button><button name="agree" value="no">No</button>
</form>
"""


class Replying:
    """A visitor whose saves get one reply, and whose forms lead to one page."""

    def __init__(self, reply: Mapping[str, object], after: Page) -> None:
        self.reply, self.after = reply, after
        self.sent: list[Mapping[str, str]] = []

    def change(self, field: str, value: str, base_rev: int) -> dict[str, object]:
        return {"field": field, "value": value, "base_rev": base_rev}

    def save(self, *_: object) -> Mapping[str, object]:
        return self.reply

    def send(self, form: object, values: Mapping[str, str], kind: str) -> Page:
        self.sent.append(values)
        return self.after

    def go(self, path: str) -> Page:
        return Page(200, path, "")


def rate(visitor: Replying) -> Page:
    page = Page(200, "/task/x", TASK)
    say = cast("Any", lambda public: ({"q": "yes"}, 0.0))
    return _rate(cast("Visitor", visitor), page, say, lambda _: 0.0, Outcome(Times()), "r1")


@pytest.mark.parametrize("part", ["refused", "conflicts"])
def test_a_choice_that_was_not_saved_ends_the_rehearsal(part: str) -> None:
    with pytest.raises(KonsilError, match="/task/x: q: 'yes' was not saved"):
        rate(Replying({"rev": 1, part: ["q"]}, Page(200, "/next", "")))


def test_of_buttons_that_consent_or_decline_the_first_is_pressed() -> None:
    visitor = Replying({}, Page(200, "/task/x", TASK))
    page = _before(cast("Visitor", visitor), Page(200, "/consent", CONSENT), {})
    assert page.path == "/task/x"
    assert visitor.sent == [{"agree": "yes"}]


@pytest.mark.parametrize("status", [400, 500])
def test_a_save_that_fails_is_an_error(status: int) -> None:
    visitor = Visitor("http://127.0.0.1:9/in/x", Times())
    with pytest.raises(KonsilError, match=f"/save: the server returned status {status}"):
        visitor._json_reply(Page(status, "/save", "{}"))
    for expected in (200, 409, 422):
        assert visitor._json_reply(Page(expected, "/save", '{"rev": 1}')) == {"rev": 1}


@pytest.fixture
def failing() -> Iterator[int]:
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(500)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    with http.server.HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server.server_port
        server.shutdown()
        thread.join()


def test_a_server_that_fails_is_not_ready(failing: int) -> None:
    assert not answers_at(failing)
