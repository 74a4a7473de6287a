"""Passkeys of owners in Chromium, with its virtual authenticator."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from konsil.store import Store
from konsil.store.engine.engine import reading
from konsil.store.log.entries import read_entries
from konsil.store.people.access import Access, role_of
from konsil.store.people.passkeys import passkeys_of
from konsil.store.privacy.own_data import own_data
from konsil.web.app.app import create_app
from konsil.web.app.routes import ROUTES
from konsil.web.site.guard import Public
from konsil.web.site.site import Options

from ..browsers import chromium, free_port, in_a_browser, served
from ..conftest import AT, STUDIES, fill

__all__ = ["chromium"]
pytestmark = in_a_browser
FAR = "2099-01-01T00:00:00Z"


class Desk:
    """A served study whose owners need passkeys."""

    def __init__(self, store: Store, chromium: Any) -> None:
        self.store, self._chromium = store, chromium
        fill(store, STUDIES["medqade"])
        self.port = free_port()
        self.url = f"http://localhost:{self.port}"
        options = Options(url=self.url, passkeys=True)
        self.app = create_app(STUDIES["medqade"], store, options)
        self.contexts: list[Any] = []

    def page(self, *, authenticator: bool = True) -> Any:
        """A page of a new browser, with an authenticator of its own."""
        context = self._chromium.new_context(locale="en-GB")
        self.contexts.append(context)
        page = context.new_page()
        if authenticator:
            self.authenticator(context, page)
        return page

    def authenticator(self, context: Any, page: Any, *, verified: bool = True) -> Any:
        session = context.new_cdp_session(page)
        session.send("WebAuthn.enable")
        session.send(
            "WebAuthn.addVirtualAuthenticator",
            {
                "options": {
                    "protocol": "ctap2",
                    "transport": "internal",
                    "hasResidentKey": True,
                    "hasUserVerification": True,
                    "isUserVerified": verified,
                    "automaticPresenceSimulation": True,
                }
            },
        )
        return session

    def link(self, who: str = "lead", role: str = "owner") -> str:
        secret = Access(self.store).invite(who, role_of(role), at=AT, expires_at=FAR)
        return f"{self.url}/come/{secret}"

    def come(self, page: Any, link: str) -> None:
        page.goto(link)
        page.click("button.go")
        page.wait_for_url(f"{self.url}/passkey")

    def press(self, page: Any) -> None:
        page.click("#passkey")
        page.wait_for_url(f"{self.url}/office")


@pytest.fixture
def desk(opened: Store, chromium: Any) -> Iterator[Desk]:
    made = Desk(opened, chromium)
    with served(made.app, made.port):
        yield made
        for context in made.contexts:
            context.close()


def sign_out(page: Any) -> None:
    page.get_by_role("button", name="Sign out").click()
    page.wait_for_load_state()


def test_a_passkey_is_registered_first_and_needed_afterwards(desk: Desk) -> None:
    axe = pytest.importorskip("axe_core_python.sync_playwright").Axe()
    page = desk.page()
    desk.come(page, desk.link())
    assert [v["id"] for v in axe.run(page)["violations"]] == []
    page.set_viewport_size({"width": 320, "height": 700})
    assert page.evaluate("document.documentElement.scrollWidth") <= 320
    page.set_viewport_size({"width": 1280, "height": 800})
    desk.press(page)
    sign_out(page)
    # Without a link.
    page.goto(f"{desk.url}/passkey")
    desk.press(page)
    (key,) = passkeys_of(desk.store, "lead")
    assert key.sign_count > 0
    # A link alone opens nothing any more, in a browser that has no passkey.
    thief = desk.page()
    desk.come(thief, desk.link())
    thief.click("#passkey")
    thief.wait_for_selector("#fault:not([hidden])")
    for route in ROUTES:
        if route.method == "GET" and not isinstance(route.audience, Public):
            path = route.path.replace("{about}", "x").replace("{public}", "x")
            answer = thief.goto(desk.url + path)
            assert answer.url == f"{desk.url}/passkey" or answer.status == 404, path
    assert len(passkeys_of(desk.store, "lead")) == 1
    with reading(desk.store.engine) as connection:
        kinds = [e.kind for e in read_entries(connection)]
        details = [json.loads(e.details).get("via") for e in read_entries(connection)]
    # Registered and used; a link twice, and once the passkey alone.
    assert (kinds.count("passkey"), kinds.count("sign-in")) == (2, 3)
    assert details.count("passkey") == 1
    assert desk.store.verify_log() == ()
    assert [row["who"] for row in own_data(desk.store, "lead")["passkeys"]] == ["lead"]


def test_recovery_by_the_administrator(desk: Desk) -> None:
    page = desk.page()
    desk.come(page, desk.link())
    desk.press(page)
    Access(desk.store).revoke("lead", at=AT)
    assert passkeys_of(desk.store, "lead") == ()
    assert page.goto(f"{desk.url}/office").status == 401
    page.goto(f"{desk.url}/passkey")
    page.click("#passkey")
    page.wait_for_selector("#fault:not([hidden])")
    new = desk.page()
    desk.come(new, desk.link())
    desk.press(new)
    assert len(passkeys_of(desk.store, "lead")) == 1
    assert desk.store.verify_log() == ()


def test_a_passkey_of_another_person_confirms_no_link(desk: Desk) -> None:
    page = desk.page()
    desk.come(page, desk.link("lead"))
    desk.press(page)
    other = desk.page()
    desk.come(other, desk.link("second"))
    desk.press(other)
    sign_out(page)
    desk.come(page, desk.link("second"))
    page.click("#passkey")
    page.wait_for_selector("#fault:not([hidden])")
    assert page.goto(f"{desk.url}/office").url == f"{desk.url}/passkey"


def test_users_must_be_verified(desk: Desk) -> None:
    page = desk.page(authenticator=False)
    desk.authenticator(page.context, page, verified=False)
    desk.come(page, desk.link())
    page.click("#passkey")
    page.wait_for_selector("#fault:not([hidden])")
    assert passkeys_of(desk.store, "lead") == ()


def test_a_further_passkey_needs_the_first(desk: Desk) -> None:
    first, second = desk.page(), desk.page()
    desk.come(first, desk.link())
    desk.come(second, desk.link())
    desk.press(first)
    # The other browser was shown the page of registration before there was a passkey.
    second.click("#passkey")
    second.wait_for_selector("#fault:not([hidden])")
    assert len(passkeys_of(desk.store, "lead")) == 1


def test_answers_are_bound_to_browser_and_challenge(desk: Desk) -> None:
    """An answer that was sent before, in another browser, or with another challenge."""
    page = desk.page()
    desk.come(page, desk.link())
    desk.press(page)
    sign_out(page)
    sent: list[str] = []
    page.on(
        "request",
        lambda r: sent.append(r.post_data) if r.url.endswith("/passkey/end") else None,
    )
    page.goto(f"{desk.url}/passkey")
    desk.press(page)
    (message,) = sent
    content = json.loads(message)
    thief = desk.page()
    thief.goto(f"{desk.url}/passkey")
    post = """([url, body]) => fetch(url, {method: "POST", body, headers:
        {"content-type": "application/json", accept: "application/json"}}).then(r => r.status)"""
    end = f"{desk.url}/passkey/end"
    assert thief.evaluate(post, [end, message]) == 403
    begun = thief.evaluate(
        """url => fetch(url, {method: "POST", headers: {accept: "application/json"}})
        .then(r => r.json())""",
        f"{desk.url}/passkey/begin",
    )
    for changed in (
        content | {"ticket": begun["ticket"]},
        content | {"ticket": "x"},
        content | {"ticket": ""},
        content | {"ticket": begun["ticket"], "credential": {}},
    ):
        assert thief.evaluate(post, [end, json.dumps(changed)]) == 403
    for broken in ("", "[]", "{}", "null", '{"credential": 1, "ticket": 2}', "[" * 5_000):
        assert thief.evaluate(post, [end, broken]) == 422
    assert thief.goto(f"{desk.url}/office").status == 401


def test_raters_and_other_staff_need_none(desk: Desk) -> None:
    page = desk.page()
    page.goto(desk.link("canary-rater-1", "rater"))
    page.click("button.go")
    page.wait_for_url(f"{desk.url}/task/*")
    assert page.goto(f"{desk.url}/passkey").status == 404
