"""The pages over HTTP: who may see what, forged and foreign requests, blinding, plain forms."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, get_args

import pytest
import sqlalchemy as sa

from konsil.records.roles import ROLES, Role
from konsil.store import Store
from konsil.store.engine.engine import reading
from konsil.store.engine.schema import audit_log
from konsil.store.people.access import Access
from konsil.store.people.centre_log import REFUSED, access_entries
from konsil.store.tasks import drafts, screens
from konsil.web.app.app import REFUSALS_A_MINUTE
from konsil.web.app.routes import ROUTES, Page
from konsil.web.site.guard import Public
from konsil.web.site.pages import environment

from .conftest import cookie_name

URL = "http://testserver"
AT, LATER = "2025-03-01T12:00:00Z", "2025-06-01T12:00:00Z"
R1, R2 = "canary-rater-1", "canary-rater-2"
ALL_RIGHT = {**{f"correctness.a{n}": "Richtig" for n in range(1, 6)}, "difficulty": "Mittel"}
Enter = Callable[..., Any]


def task_path(browser: Any) -> str:
    return browser.get("/next").url.path


# Roles --------------------------------------------------------------------------------------------


def place(page: Page) -> str:
    """An address of this page; the task is the first rater's."""
    return page.path.format(
        secret="no-such-secret", public="{public}", about="none", digest="0", name="none.css"
    )


@pytest.mark.parametrize("role", ["", *ROLES])
def test_every_route_and_every_role(role: str, enter: Enter, opened: Store) -> None:
    """Deny by default: 401 without being signed in, 404 to the wrong role; never an answer by
    accident."""
    owner = enter()
    public = task_path(owner).rpartition("/")[2]

    def come() -> Any:
        return (
            enter(who="") if not role else enter(who=R2 if role == "rater" else "office", role=role)
        )

    other = come()
    for page in ROUTES:
        path = place(page).replace("{public}", public)
        if page.method == "GET":
            got = other.client.get(path, follow_redirects=False).status_code
        else:
            other.get("/")
            got = other.post(path, follow_redirects=False).status_code
        if not isinstance(page.audience, Public):
            if not role:
                assert got == 401, page.name
            elif role not in page.audience:
                assert got == 404, page.name
            elif "{public}" in page.path or "{about}" in page.path:
                assert got in (404, 422), f"{page.name}: the task of another rater"
            else:
                assert got in (200, 303, 422), page.name
        elif page.name in ("invitation", "come_in"):
            assert got == 410
        elif page.name in ("static", "passkey", "begin_passkey", "end_passkey"):
            # Passkeys are off unless the server was started with them.
            assert got == 404
        else:
            assert got in (200, 303, 422), page.name
        if page.name == "leave":
            other = come()


def test_roles_are_those_of_the_type() -> None:
    assert set(ROLES) == set(get_args(Role))
    assert all(isinstance(p.audience, Public) or p.audience <= set(ROLES) for p in ROUTES)
    assert len({p.name for p in ROUTES}) == len(ROUTES)


def test_what_is_not_in_the_table_does_not_exist(enter: Enter) -> None:
    browser = enter()
    assert browser.get("/nothing").status_code == 404
    assert browser.client.post("/next", headers={"origin": URL}).status_code == 405
    assert browser.client.delete("/next").status_code == 405


# Being let in -------------------------------------------------------------------------------------


def test_looking_at_an_invitation_uses_nothing_up(enter: Enter, opened: Store) -> None:
    access = Access(opened)
    browser = enter(who="")
    secret = access.invite(R1, "rater", at=AT, expires_at=LATER, most_uses=1)
    for _ in range(3):
        assert browser.get(f"/come/{secret}").status_code == 200
        assert "set-cookie" not in browser.client.get(f"/come/{secret}").headers
    assert browser.post(f"/come/{secret}").url.path.startswith("/task/")
    assert browser.post(f"/come/{secret}").status_code == 410
    assert access.invitations()[-1].uses == 1


def test_a_raters_link_works_on_every_device_until_it_is_revoked_or_expires(
    enter: Enter, opened: Store, clock
) -> None:
    access = Access(opened)
    first, second, third = (enter(who="") for _ in range(3))
    secret = access.invite(R1, "rater", at=AT, expires_at=LATER)
    path = first.post(f"/come/{secret}").url.path
    assert second.post(f"/come/{secret}").url.path == path
    assert access.revoke(R1, at=AT) == 1
    assert first.get("/next").status_code == 401
    assert third.post(f"/come/{secret}").status_code == 410
    another = access.invite(R1, "rater", at=AT, expires_at=LATER)
    clock.pass_(200 * 86_400)
    assert third.get(f"/come/{another}").status_code == 410


def test_refused_sign_ins_are_in_the_log_of_a_study_served_alone_up_to_a_limit(
    enter: Enter, opened: Store
) -> None:
    def noted() -> list[dict[str, object]]:
        return [dict(e.data) for e in access_entries(opened, (REFUSED,), last=None)][::-1]

    access, browser = Access(opened), enter(who="")
    revoked = access.invite(R1, "rater", at=AT, expires_at=LATER)
    access.revoke(R1, at=AT)
    assert browser.get(f"/come/{revoked}").status_code == 410
    for _ in range(REFUSALS_A_MINUTE + 5):
        browser.get("/come/canary-secret")
    person = {"way": "link", "reason": "revoked", "who": R1, "role": "rater"}
    unknown = {"way": "link", "reason": "unknown"}
    assert noted() == [person, *[unknown] * REFUSALS_A_MINUTE]
    # The person who is known is not hidden by whoever guesses.
    assert browser.get(f"/come/{revoked}").status_code == 410
    assert noted()[-1] == person
    assert opened.verify_log() == ()
    with reading(opened.engine) as connection:
        text = "".join(connection.execute(sa.select(audit_log.c.data)).scalars())
    assert "canary-secret" not in text
    assert revoked not in text


def test_secrets_are_not_in_the_database(enter: Enter, opened: Store, tmp_path) -> None:
    access = Access(opened)
    browser = enter(who="")
    secret = access.invite(R1, "rater", at=AT, expires_at=LATER)
    browser.post(f"/come/{secret}")
    cookie = browser.client.cookies[cookie_name(browser)]
    opened.close()
    kept = b"".join(p.read_bytes() for p in tmp_path.glob("konsil.db*"))
    assert R1.encode() in kept
    assert secret.encode() not in kept
    assert cookie.encode() not in kept


def test_the_cookie_is_new_at_every_sign_in_and_out_of_reach_of_scripts(
    enter: Enter, opened: Store
) -> None:
    browser = enter(who="")
    browser.client.cookies.set(cookie_name(browser), "chosen-by-somebody-else")
    secret = Access(opened).invite(R1, "rater", at=AT, expires_at=LATER)
    header = browser.client.post(
        f"/come/{secret}", headers={"origin": URL}, follow_redirects=False
    ).headers["set-cookie"]
    assert "HttpOnly" in header
    assert "SameSite=lax" in header
    assert "chosen" not in header


def test_signing_out_ends_it_on_this_device(enter: Enter) -> None:
    browser = enter()
    browser.get(task_path(browser))
    cookie = browser.client.cookies[cookie_name(browser)]
    assert browser.post("/leave").status_code == 200
    browser.client.cookies.set(cookie_name(browser), cookie)
    assert browser.get("/next").status_code == 401


def test_being_signed_in_ends(enter: Enter, clock) -> None:
    browser = enter()
    clock.pass_(31 * 86_400)
    assert browser.get("/next").status_code == 401


def test_guessing_is_slowed_down(enter: Enter) -> None:
    browser = enter(who="")
    got = [browser.client.get("/come/guess").status_code for _ in range(40)]
    assert got[0] == 410
    assert got[-1] == 429


def test_a_whole_hospital_comes_in_from_one_address(enter: Enter, opened: Store) -> None:
    access, browser = Access(opened), enter(who="")
    secrets = [access.invite(f"physician-{n}", "rater", at=AT, expires_at=LATER) for n in range(40)]
    assert {browser.client.get(f"/come/{secret}").status_code for secret in secrets} == {200}


def test_under_tls_the_cookie_is_tied_to_the_host(enter: Enter, opened: Store) -> None:
    url = "https://study.example.org"
    browser = enter(who="", url=url)
    secret = Access(opened).invite(R1, "rater", at=AT, expires_at=LATER)
    got = browser.post(f"/come/{secret}", follow_redirects=False)
    cookie = got.headers["set-cookie"]
    assert cookie.startswith("__Host-konsil-")
    assert "Secure" in cookie
    assert "Path=/" in cookie
    assert "Domain" not in cookie
    assert got.headers["strict-transport-security"]


# Forged and foreign -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {},
        {"referer": "https://evil.example/x"},
        {"origin": "http://testserver:81"},
    ],
)
def test_forms_of_other_sites_are_refused(
    headers: dict[str, str], enter: Enter, opened: Store
) -> None:
    browser = enter()
    path = task_path(browser)
    data = {"csrf": browser.csrf, **browser.hidden(), **ALL_RIGHT}
    assert browser.client.post(path, data=data, headers=headers).status_code == 403
    assert opened.ratings() == ()


@pytest.mark.parametrize("token", ["", "wrong"])
def test_forms_without_the_token_are_refused(token: str, enter: Enter, opened: Store) -> None:
    browser = enter()
    path = task_path(browser)
    got = browser.client.post(
        path, data={**browser.hidden(), **ALL_RIGHT, "csrf": token}, headers={"origin": URL}
    )
    assert got.status_code == 403
    assert opened.ratings() == ()


def test_the_token_of_another_is_refused(enter: Enter) -> None:
    one, two = enter(), enter(who=R2)
    path = task_path(one)
    task_path(two)
    got = one.client.post(
        path, data={**one.hidden(), **ALL_RIGHT, "csrf": two.csrf}, headers={"origin": URL}
    )
    assert got.status_code == 403


def test_messages_that_are_none(enter: Enter) -> None:
    browser = enter()
    path = task_path(browser) + "/save"
    for message in (
        [],
        {},
        {"changes": [{}], "visit": "v"},
        {"changes": 3, "visit": "v"},
        {"visit": "v"},
        "x",
        None,
    ):
        assert browser.save(path, message).status_code == 422
    headers = {"origin": URL, "x-csrf-token": browser.csrf, "content-type": "application/json"}
    assert browser.client.post(path, content=b"\xff{", headers=headers).status_code == 422
    assert browser.client.post(path, content=b"x" * 500_000, headers=headers).status_code == 413
    form = headers | {"content-type": "application/x-www-form-urlencoded"}
    assert browser.client.post(
        path.removesuffix("/save"), content=b"a=%ff&csrf=x", headers=form
    ).status_code in (
        403,
        422,
    )


def test_going_back_stays_here(enter: Enter) -> None:
    browser = enter()
    browser.get(task_path(browser))
    for back in ("https://evil.example", "//evil.example", "/\\evil.example", "javascript:x"):
        got = browser.post("/language", {"language": "en", "back": back}, follow_redirects=False)
        assert got.headers["location"] == "/"
        browser.get(task_path(browser))


@pytest.mark.parametrize("path", ["/", "/next", "/nothing", "/finished", "{task}", "{css}"])
def test_every_response_is_dressed(path: str, enter: Enter) -> None:
    browser = enter()
    task = task_path(browser)
    css = re.search(r'href="(/static/[^"]*konsil.css)"', browser.html)
    assert css is not None
    got = browser.get(path.format(task=task, css=css[1]))
    policy = got.headers["content-security-policy"]
    assert "unsafe" not in policy
    assert "default-src 'none'" in policy
    assert got.headers["x-content-type-options"] == "nosniff"
    assert "server" not in got.headers
    kept = "immutable" in got.headers["cache-control"]
    assert kept == (path == "{css}")


def test_nothing_inline_and_nothing_from_elsewhere(enter: Enter) -> None:
    browser = enter()
    html = browser.get(task_path(browser)).text
    assert not re.search(r"<script(?![^>]* src=)", html)
    assert not re.search(r"<style|\sstyle=|\son\w+=", html)
    assert all(
        v.startswith("/") for v in re.findall(r'\s(?:src|action|formaction)="([^"]*)"', html)
    )


# Blinding -----------------------------------------------------------------------------------------


def crawl(browser: Any) -> dict[str, str]:
    """Everything a rater reaches: pages and headers, by links and forms' places."""
    seen: dict[str, str] = {}
    todo = ["/", "/next", "/finished", "/come/x", "/nothing"]
    while todo:
        path = todo.pop()
        if path in seen:
            continue
        got = browser.client.get(path, headers={"accept-language": "en"})
        browser.html = got.text
        seen[path] = got.text + str(dict(got.headers)) + str(got.url)
        found = re.findall(r'(?:href|src|action|formaction)="(/[^"]*)"', got.text)
        todo += [p for p in [*found, got.url.path] if p not in seen]
    return seen


@pytest.mark.parametrize(
    "name",
    [
        "medqade",
        *(pytest.param(n, marks=pytest.mark.slow) for n in ("clexeval", "pairs", "sentences")),
    ],
)
def test_a_crawl_finds_no_canary(name: str, enter: Enter, opened: Store) -> None:
    from konsil.store.people.people import Person, note_person

    other, browser = enter(name, who=R2), enter(name)
    for rater in (R1, R2):
        note_person(opened, Person(rater, "Canary Name", "canary@example.org"))
    for one in (other, browser):
        for _ in range(2):
            path = task_path(one)
            one.post(path, {**one.hidden(), **filled(one.html)})
    seen = crawl(browser)
    assert len(seen) > 8
    tasks = {t.id for t in opened.tasks()}
    for path, text in seen.items():
        assert "canary" not in text.casefold().replace("canary-rater-1", ""), path
        assert not any(t in text for t in tasks), path


def filled(html: str) -> dict[str, str]:
    """A value for every field of a page, as a person would find them."""
    found: dict[str, str] = {}
    for name, value in re.findall(r'<input type="radio" name="([^"]*)" value="([^"]*)"', html):
        found.setdefault(name, value)
    for name in re.findall(r'inputmode="decimal" name="([^"]*)"', html):
        found[name] = "7"
    return found


def test_public_names_say_nothing_of_the_plan(enter: Enter, opened: Store) -> None:
    browser = enter()
    public = task_path(browser).rpartition("/")[2]
    with reading(opened.engine) as connection:
        state = screens.public(connection, public)
    assert state is not None
    assert state.task not in public
    assert len(public) >= 16


# A plain form -------------------------------------------------------------------------------------


def test_the_whole_study_without_a_script(enter: Enter, opened: Store) -> None:
    browser = enter("clexeval", n_items=2)
    n = 0
    while (path := task_path(browser)) != "/finished":
        got = browser.post(
            path, {**browser.hidden(), **filled(browser.html)}, follow_redirects=False
        )
        assert got.status_code == 303
        n += 1
        assert n < 50
    assert n == 11
    assert len(opened.ratings()) == 10 * 7 + 1
    assert "Vielen Dank" in browser.html


@pytest.mark.slow
def test_what_is_missing_is_shown_with_what_was_said(enter: Enter) -> None:
    browser = enter()
    path = task_path(browser)
    got = browser.post(path, {**browser.hidden(), "correctness.a1": "Richtig"})
    assert got.status_code == 422
    assert got.text.count("Noch zu beantworten</p>") == 5
    assert "5 Fragen sind noch offen." in got.text
    assert re.search(r'name="~1.a1" value="Richtig"[^>]* checked', got.text)
    assert browser.get(path).status_code == 200


def test_two_windows_without_a_script(enter: Enter, opened: Store) -> None:
    browser = enter()
    path = task_path(browser)
    old = browser.hidden()
    browser.post(path + "/later", {**old, **ALL_RIGHT, "difficulty": "Schwer"})
    browser.get(path)
    got = browser.post(path, {**old, **ALL_RIGHT})
    assert got.status_code == 409
    assert "in einem anderen Fenster" in got.text
    assert opened.ratings() == ()
    assert browser.post(path, {**browser.hidden(), **ALL_RIGHT}).status_code == 200
    assert {r.label for r in opened.ratings() if r.criterion == "difficulty"} == {"Mittel"}


def test_back_leads_to_what_was_handed_in(enter: Enter, opened: Store) -> None:
    browser = enter()
    paths = []
    for _ in range(2):
        paths.append(task_path(browser))
        browser.post(paths[-1], {**browser.hidden(), **ALL_RIGHT})
    browser.get("/next")
    back = re.search(r'<a class="quiet" href="(/task/[^"]*)">Zurück', browser.html)
    assert back is not None
    assert back[1] == paths[1]
    assert re.search(r'name="~2" value="Mittel"[^>]* checked', browser.get(paths[1]).text)


def test_a_problem_is_reported(enter: Enter, opened: Store) -> None:
    browser = enter()
    path = task_path(browser)
    browser.post(
        path + "/problem", {"visit": browser.hidden()["visit"], "text": "Die Tabelle fehlt."}
    )
    assert [e.data["text"] for e in opened.events() if e.kind == "problem"] == [
        "Die Tabelle fehlt."
    ]
    assert task_path(browser) == path


# Languages and weight -----------------------------------------------------------------------------


def test_the_language_is_the_browsers_then_the_chosen_one(enter: Enter) -> None:
    browser = enter(who="")
    assert "persönlichen Link" in browser.get("/").text
    assert (
        "personal link"
        in browser.client.get("/", headers={"accept-language": "en-GB,de;q=0.5"}).text
    )
    inside = enter()
    inside.get(task_path(inside))
    inside.post("/language", {"language": "en", "back": "/"})
    html = inside.get("/next").text
    assert '<html lang="en">' in html
    assert "Codebook" in html
    assert "Antwort A" in html, "the study's own words stay"


def test_a_french_visitor_gets_the_rating_page_in_french(enter: Enter, opened: Store) -> None:
    browser = enter(who="")
    browser.client.headers["accept-language"] = "fr-CH, fr;q=0.9, en;q=0.8"
    secret = Access(opened).invite(R1, "rater", at=AT, expires_at=LATER)
    assert "Bienvenue" in browser.get(f"/come/{secret}").text
    html = browser.post(f"/come/{secret}").text
    assert '<html lang="fr">' in html
    for french in ("Guide de cotation", "Signaler un problème", "Suivant", "Terminé\u00a0: 0 sur"):
        assert french in html
    for other in ("Codebook", "Report a problem", "Problem melden", "Next"):
        assert other not in html
    assert "Antwort A" in html, "the study's own words stay"


def test_what_has_no_french_text_stays_english() -> None:
    words = (
        "{{ _('No text: %(n)s', n=3) }}, {{ ngettext('%(num)s such', '%(num)s of them', 2) }}, {{"
        " _('Close') }}"
    )
    assert environment("fr").from_string(words).render() == "No text: 3, 2 of them, Fermer"


def test_a_page_weighs_less_than_60_kilobytes(enter: Enter) -> None:
    browser = enter()
    html = browser.get(task_path(browser)).content
    parts = [
        browser.client.get(p).content for p in set(re.findall(r'"(/static/[^"]*)"', html.decode()))
    ]
    assert len(parts) == 3
    assert len(html) + sum(map(len, parts)) < 60_000


def test_who_closes_the_window_while_sending_leaves_no_trace(enter) -> None:
    """Half a message is no message: nothing is written, nothing is raised."""
    import asyncio

    browser = enter()
    app, sent = browser.client.app, []
    parts = iter(
        [{"type": "http.request", "body": b"{", "more_body": True}, {"type": "http.disconnect"}]
    )
    scope = {
        "type": "http",
        "method": "POST",
        "path": "/language",
        "raw_path": b"/language",
        "query_string": b"",
        "headers": [(b"origin", URL.encode()), (b"host", b"testserver")],
        "scheme": "http",
        "http_version": "1.1",
        "server": ("testserver", 80),
        "client": ("test", 1),
        "root_path": "",
    }

    async def receive() -> dict:
        return next(parts)

    async def send(message: dict) -> None:
        sent.append(message)

    asyncio.run(app(scope, receive, send))
    assert sent[0]["status"] == 400


# What questions are called ------------------------------------------------------------------------


def test_no_field_on_a_page_is_called_as_its_criterion(enter: Enter) -> None:
    """An identifier may say what a study expects."""
    browser = enter()
    html = browser.get(task_path(browser)).text
    assert 'name="~1.a1"' in html and 'name="~2"' in html
    assert not re.search(r"\b(correctness|difficulty)\b", html)


@pytest.mark.slow
def test_names_of_pages_and_of_fields_are_understood_and_drafts_have_the_latter(
    enter: Enter, opened: Store
) -> None:
    """A page that was open before, and what it had kept on the device, still speaks of fields by
    their own names."""
    browser = enter()
    path = task_path(browser)
    changes = [
        {"id": "1", "field": "~1.a1", "value": "Richtig", "base_rev": 0},
        {"id": "2", "field": "correctness.a2", "value": "Falsch", "base_rev": 0},
        {"id": "3", "field": "~9.a2", "value": "Falsch", "base_rev": 0},
        {"id": "4", "field": "~2", "value": "Unsinn", "base_rev": 0},
    ]
    told = browser.save(path + "/save", {"changes": changes, "visit": "v"}).json()
    assert told["refused"] == ["~2", "~9.a2"]
    told = browser.save(
        path + "/save", {"changes": [{**changes[0], "id": "5", "value": "Falsch"}], "visit": "w"}
    ).json()
    assert told["conflicts"] == {"~1.a1": "Richtig"}
    with reading(opened.engine) as connection:
        state = screens.public(connection, path.rpartition("/")[2])
        assert state is not None
        assert {n: v.value for n, v in drafts.values(connection, state.task).items()} == {
            "correctness.a1": "Richtig",
            "correctness.a2": "Falsch",
        }
    browser.get(path)
    form = {f"~1.a{n}": "Richtig" for n in range(1, 5)} | {
        "correctness.a5": "Falsch",
        "~2": "Mittel",
    }
    assert browser.post(path, {**browser.hidden(), **form}).status_code == 200
    assert sorted(str(r.label) for r in opened.ratings()) == ["Falsch", "Mittel", *["Richtig"] * 4]


def test_every_twenty_pages_one_may_pause(enter: Enter, studies: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr("konsil.web.raters.rating.PAUSE_AFTER", 2)
    browser, seen = enter(), []
    for _ in range(4):
        path = task_path(browser)
        seen.append("Pause machen" in browser.get(path).text)
        browser.post(path, {**browser.hidden(), **ALL_RIGHT})
    assert seen == [False, False, True, False]
    browser.get(path)
    assert "Pause machen" not in browser.html, "on the way back nothing is said"
