"""One browser without a window.

It keeps its cookie, follows redirects, and requests every file that a page makes a browser request.
"""

from __future__ import annotations

import http.client
import json
import secrets
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlencode, urlsplit

from konsil.errors import KonsilError
from konsil.rehearse.forms import Form, forms, own_files
from konsil.rehearse.times import Times

DOOR = "/come/"
"""How the path of a personal link goes on after the study's own."""
MOST_HOPS = 8
"""Redirects that are followed."""


class GoneError(KonsilError):
    """The server did not answer, although it was asked again and again."""


@dataclass(frozen=True, slots=True)
class Page:
    """What came."""

    status: int
    """The answer's status."""
    path: str
    """Where it came from, after redirects, below the study's own path."""
    text: str
    """The body."""
    base: str = ""
    """The path under which the study is served."""

    def form(self, start: str) -> Form | None:
        """The first form that goes to an address of this beginning."""
        return next((f for f in forms(self.text) if f.action.startswith(self.base + start)), None)


class Visitor:
    """One browser of one person."""

    def __init__(self, link: str, times: Times, *, patience: float = 30.0) -> None:
        parts = urlsplit(link)
        self._host, self._origin = parts.netloc, f"{parts.scheme}://{parts.netloc}"
        self._door, self._times, self._patience = parts.path, times, patience
        # A host may serve several studies, each under a path of its own.
        self._base = parts.path.partition(DOOR)[0]
        self._cookies: dict[str, str] = {}
        self._files: set[str] = set()
        self._line: http.client.HTTPConnection | None = None
        self.csrf = ""
        """The token of the page that it is on."""

    def come(self) -> Page:
        """Open the personal link, press its button, and go where that leads."""
        self._fetch_files(self.ask("come in", "GET", self._door))
        return self._fetch_files(self.ask("come in", "POST", self._door, b"", self._form()))

    def go(self, path: str, kind: str = "next task") -> Page:
        """Open an address of the study; `kind` is what its time counts as."""
        is_whole = path.startswith(f"{self._base}/")
        return self._fetch_files(self.ask(kind, "GET", path if is_whole else self._base + path))

    def send(self, form: Form, form_values: Mapping[str, str], kind: str = "form") -> Page:
        """Send a form as a page without a script would."""
        body = urlencode({**form.hidden, **form_values}).encode()
        return self._fetch_files(self.ask(kind, "POST", form.action, body, self._form()))

    def save(
        self, form: Form, changes: Sequence[Mapping[str, object]], seconds: Mapping[str, str]
    ) -> Mapping[str, object]:
        """Save changes as the page's module does."""
        body = {"changes": list(changes), "visit": form.hidden.get("visit", ""), **seconds}
        headers = {**self._json(), "content-type": "application/json", "x-csrf-token": self.csrf}
        answer = self.ask("save", "POST", form.data["save"], json.dumps(body).encode(), headers)
        return self._json_reply(answer)

    def submit(
        self, form: Form, form_values: Mapping[str, str], seconds: Mapping[str, str]
    ) -> Mapping[str, object]:
        """Hand in as the page's module does: all values once more."""
        body = urlencode({**form.hidden, **form_values, **seconds}).encode()
        return self._json_reply(
            self.ask("submit", "POST", form.action, body, {**self._json(), **self._form()})
        )

    def leave(self) -> None:
        """Close the connection."""
        if self._line is not None:
            self._line.close()
            self._line = None

    def change(self, field: str, value: str, base_rev: int) -> dict[str, object]:
        """A change of a field, named at random as the module does."""
        return {
            "id": secrets.token_hex(16),
            "field": field,
            "value": value,
            "base_rev": base_rev,
            "at": "",
        }

    def _json_reply(self, answer: Page) -> Mapping[str, object]:
        if answer.status >= 400 and answer.status not in (409, 422):
            raise KonsilError(f"{answer.path}: the server returned status {answer.status}")
        reply = json.loads(answer.text)
        if not isinstance(reply, dict):
            raise KonsilError(f"{answer.path}: expected an object, got {answer.text[:60]!r}")
        return reply

    def _fetch_files(self, page: Page) -> Page:
        """What showing a page makes a browser ask for: its files, each once."""
        if page.status >= 400 and page.status != 422:
            raise KonsilError(f"{page.path}: the server returned status {page.status}")
        for form in forms(page.text):
            self.csrf = form.hidden.get("csrf", self.csrf)
        for file in own_files(page.text):
            if file not in self._files:
                self._files.add(file)
                self.ask("file", "GET", file)
        return page

    def _form(self) -> dict[str, str]:
        return {"origin": self._origin, "content-type": "application/x-www-form-urlencoded"}

    def _json(self) -> dict[str, str]:
        return {"origin": self._origin, "accept": "application/json"}

    def ask(
        self,
        kind: str,
        method: str,
        path: str,
        body: bytes = b"",
        headers: Mapping[str, str] | None = None,
    ) -> Page:
        """One request with all that it is led to.

        Its time is that until the last answer is there.
        """
        began = time.perf_counter()
        status, where, text = self._once(method, path, body, headers or {})
        hops = 0
        while status in (302, 303, 307) and hops < MOST_HOPS:
            path, hops = where, hops + 1
            status, where, text = self._once("GET", path, b"", {})
        self._times.took(kind, time.perf_counter() - began, len(text))
        return Page(status, path.removeprefix(self._base), text.decode(), self._base)

    def _once(
        self, method: str, path: str, body: bytes, headers: Mapping[str, str]
    ) -> tuple[int, str, bytes]:
        sent = {"accept": "text/html", **headers}
        if self._cookies:
            sent["cookie"] = "; ".join(f"{name}={value}" for name, value in self._cookies.items())
        until = time.monotonic() + self._patience
        while True:
            is_reused = self._line is not None
            try:
                if self._line is None:
                    self._line = http.client.HTTPConnection(self._host, timeout=60)
                self._line.request(method, path, body or None, sent)
                answer = self._line.getresponse()
                text = answer.read()
                break
            except (OSError, http.client.HTTPException) as error:
                # Asked again: every request of the pages may be told twice.
                self.leave()
                if is_reused:
                    # A connection that the server had closed meanwhile: at once on a new one, as
                    # browsers do.
                    continue
                if time.monotonic() > until:
                    raise GoneError(f"{self._origin}{path}: does not respond ({error})") from None
                time.sleep(0.1)
        for name, value in answer.getheaders():
            if name.lower() == "set-cookie":
                cookie, _, rest = value.partition(";")[0].partition("=")
                self._cookies[cookie] = rest
        return answer.status, answer.getheader("location", ""), text
