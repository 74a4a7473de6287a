"""A simulated rater follows a study that its host serves under a path of its own."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from konsil.rehearse.times import Times
from konsil.rehearse.visitor import Visitor

FORM = b'<form method="post" action="/trial/task/a"></form>'


class Pages(BaseHTTPRequestHandler):
    """Leads to a task; all other addresses do not exist."""

    def do_GET(self) -> None:
        if self.path == "/trial/next":
            self.send_response(303)
            self.send_header("location", "/trial/task/a")
            self.send_header("content-length", "0")
            self.end_headers()
            return
        is_there = self.path == "/trial/task/a"
        self.send_response(200 if is_there else 404)
        self.send_header("content-length", str(len(FORM)))
        self.end_headers()
        self.wfile.write(FORM)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def host() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Pages) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@pytest.mark.parametrize("path", ["/next", "/trial/next", "/trial/task/a", "/task/a"])
def test_addresses_are_those_below_the_studys_path(host: str, path: str) -> None:
    visitor = Visitor(f"{host}/trial/come/secret", Times())
    page = visitor.go(path)
    assert (page.status, page.path) == (200, "/task/a")
    form = page.form("/task/")
    assert form is not None
    assert form.action == "/trial/task/a"
    assert page.form("/consent") is None
    visitor.leave()
