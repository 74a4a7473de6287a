"""What a hostile visitor tries: no message breaks the server, no answer is undressed, nothing leads
elsewhere."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from starlette.testclient import TestClient

from konsil.records.roles import ROLES
from konsil.store import Store
from konsil.store.people.access import Access
from konsil.web.app.app import create_app
from konsil.web.app.routes import ROUTES
from konsil.web.http.headers import ALWAYS, POLICY
from konsil.web.http.throttle import Throttle
from konsil.web.site.guard import Public
from konsil.web.site.site import Options

from .both import opened, server  # noqa: F401 - fixtures
from .conftest import AT, LATER, STUDIES, URL, Clock, cookie_name

R1, R2 = "canary-rater-1", "canary-rater-2"
ALL_RIGHT = {**{f"correctness.a{n}": "Richtig" for n in range(1, 6)}, "difficulty": "Mittel"}
OFFICE = {"owner", "coordinator", "analyst"}
Enter = Callable[..., Any]


def task_path(browser: Any) -> str:
    return str(browser.get("/next").url.path)


def forms_of(html: str) -> list[tuple[str, str, str]]:
    """Method, action and inside of every form of a page."""
    found = re.findall(r"<form\b([^>]*)>(.*?)</form>", html, re.DOTALL)
    return [
        (
            (re.search(r'method="(\w+)"', head) or ["", "get"])[1],
            (re.search(r'action="([^"]*)"', head) or ["", ""])[1],
            body,
        )
        for head, body in found
    ]


def place(path: str, public: str) -> str:
    return path.format(
        secret="no-such-secret", public=public, about="none", digest="0", name="none.css"
    )


# Who may ------------------------------------------------------------------------------------------


def test_who_may_what_in_words() -> None:
    """The table of routes, held against rules that it does not know: a page that is opened too wide
    is seen here."""
    assert {p.name for p in ROUTES if isinstance(p.audience, Public)} == {
        "landing",
        "health",
        "ready",
        "invitation",
        "come_in",
        "language",
        "static",
        # They answer 404 unless the server asks passkeys of owners.
        "passkey",
        "begin_passkey",
        "end_passkey",
    }
    assert {p.name for p in ROUTES if p.before_passkey} == {"leave"}
    by_site = {p.name for p in ROUTES if p.by_site and p.path.startswith("/office")}
    assert by_site == {
        "overview",
        "invitations",
        "invite",
        "note",
        "revoke",
        "leaving",
        "withdraw",
        "problems",
        "settle",
        "progress_table",
        "batches",
        "close_batch",
        "enrolment",
        "reopen_eligibility",
        "end_waiting",
    }
    for page in ROUTES:
        assert page.method in ("GET", "POST"), page.name
        if isinstance(page.audience, Public):
            continue
        assert page.audience, f"{page.name}: is for nobody"
        if page.path.startswith("/office"):
            assert "rater" not in page.audience, page.name
        elif page.name != "leave":
            assert page.audience == {"rater"}, page.name
        if page.method == "POST" and page.name not in ("leave", "fetch", "check_log"):
            assert "analyst" not in page.audience, f"{page.name}: an analyst changes nothing"
    outcomes = {"flags", "download", "fetch", "log", "check_log"}
    assert all("coordinator" not in p.audience for p in ROUTES if p.name in outcomes)  # type: ignore[operator]


@pytest.mark.slow
def test_no_other_method_than_that_of_the_table(enter: Enter) -> None:
    browser = enter()
    public = task_path(browser).rpartition("/")[2]
    known = {(p.path, p.method) for p in ROUTES}
    for path in {p.path for p in ROUTES}:
        where = place(path, public)
        for method in ("PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND", "POST", "GET"):
            if (path, method) in known:
                continue
            got = browser.client.request(
                method, where, headers={"origin": URL}, follow_redirects=False
            )
            assert got.status_code == 405, (method, path)
            assert "access-control-allow-origin" not in got.headers
    assert browser.client.head(f"/task/{public}").content == b""


@pytest.mark.parametrize("role", ROLES)
def test_every_form_of_every_page_carries_its_token(role: str, enter: Enter, opened: Store) -> None:
    """A form without it is refused to whoever is signed in, an invitation that is opened once more
    included."""
    browser = enter(who=R1 if role == "rater" else "office", role=role)
    public = task_path(browser).rpartition("/")[2] if role == "rater" else ""
    secret = Access(opened).invite(R1, "rater", at=AT, expires_at=LATER)
    seen = 0
    mine = [
        p.path
        for p in ROUTES
        if p.method == "GET" and (isinstance(p.audience, Public) or role in p.audience)
    ]
    for path in [*(place(p, public) for p in mine), f"/come/{secret}", "/nothing"]:
        for method, action, body in forms_of(browser.get(path).text):
            if method == "post":
                seen += 1
                assert re.search(r'name="csrf" value="[^"]{20,}"', body), (path, action)
                assert action.startswith("/"), (path, action)
            assert "csrf" not in action
    assert seen >= len(mine)


def test_a_link_opened_again_by_whoever_is_signed_in(enter: Enter, opened: Store) -> None:
    """People click the link in their mail every time; the form is sent with its own fields and
    nothing else."""
    browser = enter()
    path = task_path(browser)
    before = browser.client.cookies[cookie_name(browser)]
    secret = Access(opened).invite(R1, "rater", at=AT, expires_at=LATER)
    [form] = [f for f in forms_of(browser.get(f"/come/{secret}").text) if f[1].startswith("/come")]
    sent = dict(re.findall(r'name="(\w+)" value="([^"]*)"', form[2]))
    got = browser.client.post(form[1], data=sent, headers={"origin": URL})
    assert (got.status_code, got.url.path) == (200, path)
    after = browser.client.cookies[cookie_name(browser)]
    assert after != before
    old, new = (
        TestClient(browser.client.app, base_url=URL, cookies={cookie_name(browser): c})
        for c in (before, after)
    )
    assert new.get("/next").status_code == 200
    assert old.get("/next").status_code == 401, "the session of before has ended"


def test_every_session_has_a_token_of_its_own(enter: Enter) -> None:
    one, two = enter(), enter()
    task_path(one)
    task_path(two)
    assert one.csrf
    assert one.csrf != two.csrf


# Messages -----------------------------------------------------------------------------------------

CHANGE = {"id": "x", "field": "difficulty", "value": "Mittel", "base_rev": 0}
MESSAGES: list[tuple[str, bytes]] = [
    ("nested", b"[" * 200_000),
    ("nested well", b'{"changes":' + b"[" * 100_000 + b"]" * 100_000 + b',"visit":"v"}'),
    ("numbers", b'{"changes":[],"visit":"v1","wall":1e999,"active":NaN,"first_input":-Infinity}'),
    ("long number", b'{"changes":[],"visit":"v1","wall":' + b"9" * 5_000 + b"}"),
    *(
        (
            f"{key} {value!r:.20}",
            json.dumps({"changes": [{**CHANGE, key: value}], "visit": "v"}).encode(),
        )
        for key in ("id", "field", "value", "base_rev", "at")
        for value in (
            "\0",
            "\ud800",
            "x" * 50_000,
            10**30,
            -(10**30),
            1.5e308,
            None,
            [],
            {},
            True,
            "",
            "' OR 1=1 --",
        )
    ),
    *(
        (f"visit {value!r:.20}", json.dumps({"changes": [CHANGE], "visit": value}).encode())
        for value in ("\0", "\ud800", "x" * 50_000, 10**30, None, [], "' OR 1=1 --")
    ),
]


def test_no_message_breaks_the_server(enter: Enter, opened: Store) -> None:
    """A fault would be raised here by the client of the tests."""
    browser = enter()
    path = task_path(browser)
    headers = {"origin": URL, "x-csrf-token": browser.csrf, "content-type": "application/json"}
    for name, content in MESSAGES:
        got = browser.client.post(
            f"{path}/save", content=content, headers={**headers, "accept": "application/json"}
        )
        assert got.status_code in (200, 422), name
    assert (
        browser.save(f"{path}/save", {"changes": [{**CHANGE, "id": "after"}], "visit": "v"}).json()[
            "refused"
        ]
        == []
    )
    assert opened.verify_log() == ()


NASTY = (
    "\0",
    "a\0b",
    "\x1b[2J",
    "\u202egnp",
    "😀" * 300,
    "x" * 30_000,
    "=cmd|' /C calc'!A0",
    "' OR 1=1 --",
    "<script>alert(1)</script>",
    "../../etc/passwd",
    "-1",
    "99999999999999999999",
    "١٢",
    "NaN",
    "%00",
    "\r\nx: y",
)


def names_of(html: str) -> set[str]:
    return set(re.findall(r'<(?:input|select|textarea|button)\b[^>]*\bname="([^"]+)"', html)) - {
        "csrf"
    }


@pytest.mark.covering
@pytest.mark.slow  # every form of every page
@pytest.mark.parametrize("role", ["rater", "curator", "coordinator", "owner", "analyst"])
@pytest.mark.parametrize("nasties", [NASTY[:1], NASTY[1:]], ids=["nul", "rest"])
def test_no_form_breaks_the_server(
    role: str, nasties: tuple[str, ...], enter: Enter, opened: Store
) -> None:
    """Every field that any page has, filled with what nobody should write, sent to every page that
    takes a form."""
    browser = enter(who=R1 if role == "rater" else "office", role=role)
    public = task_path(browser).rpartition("/")[2] if role == "rater" else ""
    shown = [
        place(p.path, public)
        for p in ROUTES
        if p.method == "GET" and not isinstance(p.audience, Public)
    ]
    names = {"back", "language", "digest", "version", "say"}.union(
        *(names_of(browser.get(p).text) for p in shown)
    )
    html = browser.get("/").text
    for page in ROUTES:
        if page.method != "POST" or page.name == "leave":
            continue
        if not isinstance(page.audience, Public) and role not in page.audience:
            continue
        for nasty in nasties:
            data = dict.fromkeys(sorted(names), nasty)
            for form in (
                data,
                data | {"who": R1, "rater": R1, "what": "stratum", "base_rev": nasty},
            ):
                browser.html = html
                got = browser.post(place(page.path, public), form, follow_redirects=False)
                assert got.status_code < 500, (page.name, nasty)
                assert "<script>alert" not in got.text
                assert "\r\n" not in got.headers.get("location", "")
    for path in (
        *(place(p.path, "%00") for p in ROUTES),
        "/office/withdrawal?rater=%00",
        "/task/%ed%a0%80",
    ):
        assert browser.client.get(path, follow_redirects=False).status_code < 500, path
    assert opened.verify_log() == ()


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/next", 200),
        ("/next?from=nul", 200),
        ("/next?from=a%00b", 404),
        ("/task/%00", 404),
        ("/task/%00?from=%00", 404),
    ],
)
def test_what_no_database_can_be_asked_for_is_no_page(enter: Enter, path: str, status: int) -> None:
    """PostgreSQL has no such sign in its texts; other signs of a query are nobody's business."""
    assert enter().client.get(path).status_code == status


# Answers ------------------------------------------------------------------------------------------


def test_refusals_are_dressed_too(enter: Enter) -> None:
    browser = enter()
    path = task_path(browser)
    message = {"origin": URL, "x-csrf-token": browser.csrf}
    quiet = TestClient(
        browser.client.app,
        base_url=URL,
        raise_server_exceptions=False,
        cookies=browser.client.cookies,
    )
    client = browser.client
    seen = {
        401: enter(who="").client.get("/next"),
        403: client.post(path, data={}),
        404: client.get("/task/none"),
        405: client.delete("/next"),
        410: client.get("/come/none"),
        413: client.post(f"{path}/save", content=b"x" * 500_000, headers=message),
        422: client.post(f"{path}/save", content=b"x", headers=message),
    }
    for _ in range(40):
        seen[429] = client.get("/come/none")
    browser.client.app.state.site.desk._work = None
    seen[500] = quiet.get("/next")
    for status, got in seen.items():
        assert got.status_code == status
        assert got.headers["content-security-policy"] == POLICY
        assert set(ALWAYS.items()) <= set(got.headers.items()), status
        assert got.headers["cache-control"] == "no-store"
        assert "Traceback" not in got.text
        assert "konsil/" not in got.text
    assert not re.search(r"unsafe-|\*|https?:|data:|blob:", POLICY)


def test_nothing_leads_to_where_a_request_says_it_came(enter: Enter) -> None:
    """An address with a slash too many is none: leading on would name the host and the scheme of
    the request."""
    browser = enter()
    for path in ("/next/", "/come/secret/", "//evil.example/next", "/office/"):
        got = browser.client.get(path, headers={"host": "evil.example"}, follow_redirects=False)
        assert "evil" not in got.headers.get("location", "") + got.text, path
        assert not got.headers.get("location", "/").startswith(("http", "//"))
    html = browser.client.get(
        task_path(browser), headers={"host": "evil.example", "x-forwarded-host": "evil"}
    ).text
    assert "evil" not in html


@pytest.mark.slow
def test_one_who_knocks_too_often_shuts_out_nobody_else(enter: Enter, opened: Store) -> None:
    app = enter(who="").client.app
    rude, other = (
        TestClient(app, base_url=URL, client=(host, 1)) for host in ("198.51.100.1", "198.51.100.2")
    )
    anybody = Access(opened).invite("", "rater", at=AT, expires_at=LATER)
    secret = Access(opened).invite(R1, "rater", at=AT, expires_at=LATER)
    assert {rude.get("/come/guess").status_code for _ in range(40)} == {410, 429}
    assert rude.get(f"/come/{anybody}").status_code == 200, (
        "others behind the same address come by the open link"
    )
    assert {rude.get(f"/come/{anybody}").status_code for _ in range(130)} == {200, 429}
    assert rude.post(f"/come/{anybody}", headers={"origin": URL}).status_code == 429
    assert rude.get(f"/come/{secret}").status_code == 200, (
        "who has a personal link of their own comes in"
    )
    assert other.get(f"/come/{anybody}").status_code == 200


def test_a_header_does_not_make_somebody_another(enter: Enter) -> None:
    client = TestClient(enter(who="").client.app, base_url=URL, client=("198.51.100.1", 1))
    got = [
        client.get(
            "/come/guess",
            headers={"x-forwarded-for": f"203.0.113.{n}", "forwarded": f"for=203.0.113.{n}"},
        )
        for n in range(40)
    ]
    assert got[-1].status_code == 429


def test_knocks_are_forgotten() -> None:
    doors = Throttle(2, 60.0)
    assert [doors.allows("a") for _ in range(4)] == [True, True, False, False]
    assert doors.allows("b")
    brief = Throttle(1, 0.0)
    assert all(brief.allows(str(n)) for n in range(100))
    assert len(brief._tries) <= 1, "nobody's knocks are remembered longer than they count"


def test_one_persons_script_stops_and_nobody_else_behind_the_address(
    enter: Enter, opened: Store
) -> None:
    """Sign-ins and posts are counted by person; a ward has one address."""
    app = enter(who="").client.app
    links = {who: Access(opened).invite(who, "rater", at=AT, expires_at=LATER) for who in (R1, R2)}
    clients = {who: TestClient(app, base_url=URL, client=("198.51.100.7", 1)) for who in links}
    got = [clients[R1].get(f"/come/{links[R1]}").status_code for _ in range(31)]
    assert (got.count(200), got.count(429)) == (30, 1)
    assert clients[R2].get(f"/come/{links[R2]}").status_code == 200


def test_posts_are_counted_by_person_on_all_devices(opened: Store, clock: Clock, kit: Any) -> None:
    kit.fill(opened, STUDIES["medqade"])
    app = create_app(STUDIES["medqade"], opened, Options(url=URL, posts_a_minute=5), clock=clock)
    browsers = []
    for who in (R1, R1, R2):
        browser = kit.browser(TestClient(app, base_url=URL))
        browser.post(f"/come/{Access(opened).invite(who, 'rater', at=AT, expires_at=LATER)}")
        browsers.append((browser, browser.get("/next").url.path))
    message: dict[str, Any] = {"changes": [], "visit": "v"}
    got = [
        browsers[n % 2][0].save(browsers[n % 2][1] + "/save", message).status_code for n in range(7)
    ]
    assert got == [200] * 5 + [429] * 2
    assert browsers[0][0].get("/next").status_code == 200, "reading goes on"
    assert browsers[2][0].save(browsers[2][1] + "/save", message).status_code == 200


def test_no_field_keeps_signs_that_a_database_cannot(enter: Enter) -> None:
    """A reason once took a NUL: stored in SQLite, and on PostgreSQL an error."""
    from konsil.instrument import fields
    from konsil.store.tasks.drafts import NOTE, Change
    from konsil.web.rating.form import unfit
    from konsil.web.rating.rating_view import reason_name

    asked = fields(
        STUDIES["medqade"].instruments[0], next(iter(enter().client.app.state.site.store.tasks()))
    )  # type: ignore[attr-defined]
    names = [NOTE, *(f.name for f in asked), *(name for f in asked if (name := reason_name(f)))]
    assert len(names) > 1 + len(asked)
    for name in names:
        assert unfit(asked, Change("c", name, "a\0", 0)) == (
            "contains characters that cannot be stored"
        )
