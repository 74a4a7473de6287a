"""Signing in through a sign-in service, against a real one: who is let in, and what is refused."""

from __future__ import annotations

import base64
import json
import logging
import time
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from joserfc import jwt
from joserfc.jwk import OctKey
from starlette.testclient import TestClient

from konsil.records import Event
from konsil.store.engine.engine import reading, writing
from konsil.store.log import study_events
from konsil.store.log.entries import read_entries
from konsil.store.people.centre_log import REFUSED, access_entries
from konsil.store.privacy.own_data import own_data

from ..conftest import AT, LATER
from .conftest import HOST, Centres
from .oidc_server import CLIENT, CURVE, OTHER_KEY, SECRET, OidcServer, oidc_server

pytestmark = pytest.mark.slow

BACK = f"{HOST}/signed-in"
R1 = "canary-rater-1"
CENTRE = """
[sign_in]
issuer = "{issuer}"
client_id = "konsil"
client_secret_file = "secret"
name = "the hospital's account"

[[people]]
study = "heart"
role = "owner"
email = "Lead@Clinic.example"

[[people]]
study = "*"
role = "coordinator"
group = "study-nurses"

[[people]]
study = "lung"
role = "rater"
subject = "rater-subject"
who = "canary-rater-1"
"""
LEAD = {
    "sub": "lead-subject",
    "name": "Ada Lead",
    "email": "lead@clinic.example",
    "email_verified": True,
}
NURSE = {"sub": "nurse-subject", "name": "Nora Nurse", "groups": ["study-nurses", "others"]}


@pytest.fixture(scope="module")
def running_service() -> Iterator[OidcServer]:
    with pytest.MonkeyPatch.context() as patch:
        # Authlib's server refuses what is not TLS, unless it is told.
        patch.setenv("AUTHLIB_INSECURE_TRANSPORT", "true")
        with oidc_server(BACK) as server:
            yield server


@pytest.fixture
def service(running_service: OidcServer, centres: Centres) -> OidcServer:
    fresh = OidcServer(BACK)
    for name in ("user", "change", "key", "sign", "metadata", "keys", "codes"):
        setattr(running_service, name, getattr(fresh, name))
    running_service.user = LEAD
    (centres.folder / "secret").write_text(f"{SECRET}\n")
    text = CENTRE.format(issuer=running_service.issuer)
    (centres.folder / "centre.toml").write_text(text)
    return running_service


def go(client: TestClient, path: str = "/sign-in") -> httpx.Response:
    """To the service and back, as far as our answer to the return."""
    return client.get(there_and_back(client, path), follow_redirects=False)


def there_and_back(client: TestClient, path: str = "/sign-in") -> str:
    """The address to which the service sends the browser back."""
    away = client.get(path, follow_redirects=False)
    assert away.status_code == 303, away.text
    back = httpx.get(away.headers["location"], verify=False)
    assert back.status_code == 302, back.text
    return str(back.headers["location"])


def test_invited_accounts_are_let_in_with_their_roles(
    centres: Centres, service: OidcServer
) -> None:
    client = centres.client()
    assert "Sign in with the hospital&#39;s account" in client.get("/").text
    answer = go(client)
    assert (answer.status_code, answer.headers["location"]) == (303, "/heart/")
    assert client.get("/heart/office/invitations").status_code == 200
    assert client.get("/lung/office").status_code == 401
    assert "owner" in client.get("/").text
    service.user = NURSE
    nurse = centres.client()
    assert go(nurse).headers["location"] == "/"
    assert nurse.get("/heart/office").status_code == nurse.get("/lung/office").status_code == 200
    assert nurse.get("/heart/office/download").status_code == 404
    assert nurse.get("/").text.count("coordinator") == 2


def test_an_account_stays_the_same_person(centres: Centres, service: OidcServer) -> None:
    """Whatever it is called at the service later, and whoever takes its name there."""
    go(centres.client())
    service.user = LEAD | {"name": "Another Name"}
    go(centres.client())
    service.user = NURSE | {"name": "Ada Lead"}
    go(centres.client())
    service.user = NURSE | {"sub": "other", "name": "staff-1"}
    go(centres.client())
    store = centres.access("heart").store
    with reading(store.engine) as connection:
        signed_in = [e.who for e in read_entries(connection, kind="sign-in")]
        bound = [e.subject for e in read_entries(connection, kind="identity")]
    assert signed_in == ["staff-1", "staff-1", "staff-2", "staff-3"]
    assert bound == ["staff-1", "staff-2", "staff-3"]
    assert store.verify_log() == ()


def test_the_database_tells_no_account(centres: Centres, service: OidcServer) -> None:
    go(centres.client())
    store = centres.access("heart").store
    store.engine.dispose()
    content = (centres.folder / "heart" / "konsil.db").read_bytes()
    wal = centres.folder / "heart" / "konsil.db-wal"
    content += wal.read_bytes() if wal.exists() else b""
    assert b"lead-subject" not in content
    assert b"clinic.example" not in content
    mine = own_data(store, "staff-1")
    assert mine["staff"] == [{"who": "staff-1", "name": "Ada Lead", "stated": 1}]
    assert [row["who"] for row in mine["identities"]] == ["staff-1"]


def test_raters_come_in_by_their_account(centres: Centres, service: OidcServer) -> None:
    service.user = {"sub": "rater-subject", "name": "Rita Rater"}
    client = centres.client()
    assert go(client, "/sign-in?study=lung").headers["location"] == "/lung/"
    assert client.get("/lung/next").status_code == 200
    assert {c.path for c in client.cookies.jar} == {"/lung"}
    assert "Eine Studie" not in client.get("/").text
    assert "Rita Rater" not in str(own_data(centres.access("lung").store, R1))


@pytest.mark.parametrize(
    "user",
    [
        {"sub": "stranger", "email": "stranger@clinic.example", "email_verified": True},
        {**LEAD, "email_verified": False},
        {**LEAD, "email_verified": "true"},
        {k: v for k, v in LEAD.items() if k != "email_verified"},
        {"sub": "x", "groups": "study-nurses"},
        {"sub": "x", "groups": {"study-nurses": True}},
        {"sub": ["rater-subject"]},
        {"sub": ""},
    ],
)
def test_others_are_refused(user: dict[str, Any], centres: Centres, service: OidcServer) -> None:
    service.user = user
    client = centres.client()
    refused = go(client)
    assert refused.status_code == 403
    assert "You could not be signed in" in refused.text
    for path in ("/heart/office", "/lung/office", "/lung/next"):
        assert client.get(path).status_code == 401


def token_of(**changes: object) -> Callable[[dict[str, Any], dict[str, Any]], None]:
    def change(_header: dict[str, Any], claims: dict[str, Any]) -> None:
        for name, value in changes.items():
            if value is None:
                del claims[name]
            else:
                claims[name] = value

    return change


@pytest.mark.parametrize(
    "changes",
    [
        {"iss": "https://evil.example"},
        {"iss": None},
        {"aud": "another-client"},
        {"aud": ["another-client"]},
        {"aud": None},
        {"aud": [CLIENT, "another-client"]},
        {"aud": [CLIENT, "another-client"], "azp": "another-client"},
        {"azp": "another-client"},
        {"exp": 1_000_000_000},
        {"exp": None},
        {"exp": "tomorrow"},
        {"iat": None},
        {"iat": 1_000_000_000},
        {"iat": 99_999_999_999},
        {"nonce": "of-another-attempt"},
        {"nonce": None},
        {"nonce": 7},
        {"sub": None},
    ],
)
def test_tokens_of_others_are_refused(
    changes: dict[str, object], centres: Centres, service: OidcServer
) -> None:
    service.change = token_of(**changes)
    client = centres.client()
    assert go(client).status_code == 403
    assert client.get("/heart/office").status_code == 401


def unsigned(header: dict[str, Any], claims: dict[str, Any]) -> str:
    def part(content: dict[str, Any]) -> str:
        return base64.urlsafe_b64encode(json.dumps(content).encode()).decode().rstrip("=")

    return f"{part(header | {'alg': 'none'})}.{part(claims)}."


def signed_with_the_secret(header: dict[str, Any], claims: dict[str, Any]) -> str:
    key = OctKey.import_key(SECRET.ljust(32, "x"))
    return jwt.encode(header | {"alg": "HS256"}, claims, key, ["HS256"])


def signed_by_another(header: dict[str, Any], claims: dict[str, Any]) -> str:
    return jwt.encode(header, claims, OTHER_KEY, ["RS256"])


def signed_by_its_own_key(header: dict[str, Any], claims: dict[str, Any]) -> str:
    """A token that brings the key with which it is to be checked."""
    own = header | {"jwk": OTHER_KEY.as_dict(private=False), "kid": "its-own"}
    return jwt.encode(own, claims, OTHER_KEY, ["RS256"])


def no_token(_header: dict[str, Any], _claims: dict[str, Any]) -> str:
    return "a.b"


@pytest.mark.parametrize(
    "sign",
    [unsigned, signed_with_the_secret, signed_by_another, signed_by_its_own_key, no_token],
)
def test_signatures_of_others_are_refused(
    sign: Callable[[dict[str, Any], dict[str, Any]], str], centres: Centres, service: OidcServer
) -> None:
    service.sign = sign
    client = centres.client()
    assert go(client).status_code == 403
    assert client.get("/heart/office").status_code == 401


def test_new_keys_of_the_service_are_fetched(centres: Centres, service: OidcServer) -> None:
    assert go(centres.client()).status_code == 303
    service.keys, service.key = [CURVE], CURVE
    service.sign = lambda header, claims: jwt.encode(
        {"alg": "ES256", "kid": "curve"}, claims, CURVE, ["ES256"]
    )
    assert go(centres.client()).status_code == 303


def test_an_answer_counts_once_and_in_its_browser_alone(
    centres: Centres, service: OidcServer
) -> None:
    client, other = centres.client(), centres.client()
    address = there_and_back(client)
    # In another browser, with and without an attempt of its own.
    assert other.get(address).status_code == 403
    other.get("/sign-in", follow_redirects=False)
    assert other.get(address).status_code == 403
    cookies = {c.name: str(c.value) for c in client.cookies.jar}
    assert client.get(address, follow_redirects=False).status_code == 303
    assert client.get(address).status_code == 403
    # With the cookie of the attempt put back.
    pairs = "; ".join(f"{name}={value}" for name, value in cookies.items())
    again = centres.client().get(address, headers={"cookie": pairs})
    assert again.status_code == 403


@pytest.mark.parametrize(
    "change",
    [
        {"state": "another"},
        {"state": ""},
        {"code": "another"},
        {"code": ""},
        {"iss": "https://evil.example"},
        {"error": "access_denied"},
    ],
)
def test_changed_answers_are_refused(
    change: dict[str, str], centres: Centres, service: OidcServer
) -> None:
    client = centres.client()
    query = {k: v[0] for k, v in parse_qs(urlsplit(there_and_back(client)).query).items()}
    assert client.get("/signed-in", params=query | change).status_code == 403
    assert client.get("/heart/office").status_code == 401


def test_an_attempt_expires(
    centres: Centres, service: OidcServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = centres.client()
    address = there_and_back(client)
    now = time.time()
    monkeypatch.setattr("konsil.web.centre.signing_in.time.time", lambda: now + 601)
    assert client.get(address).status_code == 403


def test_the_browser_is_led_to_pages_of_ours_alone(centres: Centres, service: OidcServer) -> None:
    for study in ("//evil.example", "https://evil.example", "heart/../../evil", "none", "\\evil"):
        client = centres.client()
        answer = go(client, f"/sign-in?study={study}&next=https://evil.example")
        assert answer.headers["location"] == "/heart/"
    away = centres.client().get("/sign-in", follow_redirects=False)
    query = parse_qs(urlsplit(away.headers["location"]).query)
    assert query["redirect_uri"] == [BACK]
    assert query["code_challenge_method"] == ["S256"]
    assert "code_verifier" not in query
    assert SECRET not in away.headers["location"]


def test_the_cookie_of_an_attempt_is_for_us_alone(centres: Centres, service: OidcServer) -> None:
    client = centres.client()
    set_cookie = client.get("/sign-in", follow_redirects=False).headers["set-cookie"]
    assert set_cookie.startswith("__Host-konsil-sign-in=")
    for word in ("HttpOnly", "Secure", "SameSite=lax", "Path=/", "Max-Age=600"):
        assert word in set_cookie
    (cookie,) = client.cookies.jar
    text, _, mac = str(cookie.value).partition(".")
    content = json.loads(base64.urlsafe_b64decode(text))
    forged = base64.urlsafe_b64encode(json.dumps(content | {"study": "lung"}).encode()).decode()
    for value in (f"{forged}.{mac}", text, f"{text}.", ".", "x.y", "ä"):
        header = {"cookie": f"{cookie.name}={value}".encode()}
        answer = centres.client().get(f"/signed-in?state={content['state']}&code=x", headers=header)
        assert answer.status_code == 403


@pytest.mark.parametrize(
    "metadata",
    [
        {"issuer": "https://evil.example"},
        {"token_endpoint": "http://evil.example/token"},
        {"jwks_uri": 7},
        {"authorization_endpoint": "javascript:alert(1)"},
    ],
)
def test_a_service_that_is_another_is_not_used(
    metadata: dict[str, object], centres: Centres, service: OidcServer
) -> None:
    service.metadata = metadata
    assert centres.client().get("/sign-in", follow_redirects=False).status_code == 403


def test_nothing_of_an_account_or_secret_is_logged(
    centres: Centres,
    service: OidcServer,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # A server that started before has taken the logger out of the tests' hands.
    logger = logging.getLogger("uvicorn.error")
    monkeypatch.setattr(logger, "handlers", [*logger.handlers, caplog.handler])
    monkeypatch.setattr(logger, "level", logging.WARNING)
    logger.manager._clear_cache()  # type: ignore[attr-defined]
    service.change = token_of(iss="https://evil.example")
    client = centres.client()
    go(client)
    service.change = token_of()
    service.user = LEAD | {"email": "stranger@clinic.example"}
    go(client)
    service.user = LEAD
    go(client)
    messages = {r.getMessage() for r in caplog.records if "konsil" in r.pathname}
    assert messages == {
        "a sign-in was refused: the ID token is not valid (InvalidClaimError)",
        "a sign-in was refused: the account is not invited to a study",
    }
    assert SECRET not in repr(centres.centre.registry.settings)


@pytest.mark.parametrize("role", ["rater", "curator", "owner"])
def test_whoever_was_signed_in_before_is_signed_out(
    role: str, centres: Centres, service: OidcServer
) -> None:
    client = centres.client()
    centres.enter(client, "heart", who=R1 if role == "rater" else "former", role=role)
    site = centres.centre.registry.get("heart").site  # type: ignore[union-attr]
    assert site is not None
    (former,) = (str(c.value) for c in client.cookies.jar if c.name == site.cookie)
    assert site.access.visitor(former, site.now()) is not None
    answer = go(client)
    assert answer.status_code == 303
    # The page to which the browser is led, at the study's path.
    client.get(answer.headers["location"], follow_redirects=False)
    assert site.access.visitor(former, site.now()) is None
    assert client.get("/heart/office").status_code == 200
    named = [c.name for c in client.cookies.jar if c.path == "/heart"]
    assert named == [site.cookie]
    # A second sign-in of the same browser, and no page of the study in between.
    (first,) = (str(c.value) for c in client.cookies.jar if c.name == site.cookie)
    for _ in range(2):
        go(client)
        assert site.access.visitor(first, site.now()) is None
        (first,) = (str(c.value) for c in client.cookies.jar if c.name == f"{site.cookie}-new")
    assert client.get("/heart/office").status_code == 200


def test_signing_out_at_once_ends_the_new_session(centres: Centres, service: OidcServer) -> None:
    client = centres.client()
    go(client)
    page = client.get("/heart/office").text
    csrf = page.partition('name="csrf" value="')[2].partition('"')[0]
    again = centres.client()
    for cookie in client.cookies.jar:
        # As the browser had it before a page of the study was shown.
        name = f"{cookie.name}-new" if cookie.path == "/heart" else cookie.name
        again.cookies.set(name, str(cookie.value), domain=cookie.domain, path=cookie.path)
    answer = again.post(
        "/heart/leave", headers={"origin": HOST}, data={"csrf": csrf}, follow_redirects=False
    )
    assert answer.status_code == 303
    assert client.get("/heart/office").status_code == 401
    assert again.get("/heart/office").status_code == 401


def test_withdrawn_and_erased_raters_are_refused(centres: Centres, service: OidcServer) -> None:
    from konsil.store.privacy.erasing import erase

    from ..conftest import AT, STUDIES

    service.user = {"sub": "rater-subject"}
    assert go(centres.client()).status_code == 303
    store = centres.access("lung").store
    erased = erase(store, STUDIES["clexeval"], R1, at=AT, by="lead", reason="asked")
    assert erased.records["identities"] == 1
    assert go(centres.client()).status_code == 403
    assert store.verify_log() == ()


def listed(centres: Centres, text: str) -> None:
    """centre.toml with these people."""
    file = centres.folder / "centre.toml"
    file.write_text(file.read_text().partition("[[people]]")[0] + text)


@pytest.mark.parametrize(("key", "status"), [("subject", 200), ("email", 403)])
def test_a_passkey_does_not_outlive_the_entry(
    key: str, status: int, centres: Centres, service: OidcServer
) -> None:
    """An e-mail address is not stored: whoever is listed by one comes by the account."""
    pytest.importorskip("webauthn")
    from ..authenticators import Authenticator

    value = LEAD["sub"] if key == "subject" else LEAD["email"]
    listed(centres, f'[[people]]\nstudy = "heart"\nrole = "owner"\n{key} = "{value}"\n')
    centres.passkeys = True
    client, authenticator = centres.client(), Authenticator(HOST)
    assert go(client).status_code == 303
    assert authenticator.use(client, "/heart")[0].status_code == 200
    other = centres.client()
    assert authenticator.use(other, "/heart")[0].status_code == status
    # Listed for the owners, who can end it.
    assert "staff-1" in client.get("/heart/office/invitations").text
    centres.close()
    centres.again()
    listed(centres, '[[people]]\nstudy = "heart"\nrole = "owner"\nemail = "other@x.org"\n')
    late = centres.client()
    assert authenticator.use(late, "/heart")[0].status_code == 403
    assert late.get("/heart/office/download").status_code == 401


def test_owners_end_the_access_of_an_account(centres: Centres, service: OidcServer) -> None:
    service.user = NURSE
    nurse = centres.client()
    go(nurse)
    owner = centres.client()
    centres.enter(owner, "heart", who="lead")
    text = owner.get("/heart/office/invitations").text
    assert "Nora Nurse" in text
    csrf = text.partition('name="csrf" value="')[2].partition('"')[0]
    form = {"csrf": csrf, "who": "staff-1"}
    answer = owner.post("/heart/office/invitations/end", headers={"origin": HOST}, data=form)
    assert answer.status_code == 200
    assert nurse.get("/heart/office").status_code == 401


def test_refused_accounts_are_noted_without_the_account(
    centres: Centres, service: OidcServer
) -> None:
    client = centres.client()
    service.user = LEAD | {"email": "stranger@elsewhere.example"}
    assert go(client, "/sign-in?study=heart").status_code == 403
    assert centres.client().get("/signed-in?code=x&state=y").status_code == 403
    service.user = {"sub": "rater-subject"}
    with writing(centres.access("lung").store.engine) as connection:
        event = Event("withdrawal R1", study_events.WITHDRAWAL, R1, AT, {})
        study_events.append_event(connection, event)
    assert go(centres.client()).status_code == 403
    centre_audit = centres.centre.registry.audit
    assert centre_audit is not None
    entries = [e.data for e in access_entries(centre_audit.log, (REFUSED,), last=9)][::-1]
    assert entries == [
        {"study": "heart", "way": "account", "reason": "not listed"},
        {"way": "account", "reason": "invalid answer"},
        {"study": "lung", "way": "account", "reason": "withdrawn", "who": R1, "role": "rater"},
    ]


def test_a_changed_list_signs_out_accounts(centres: Centres, service: OidcServer) -> None:
    client, linked = centres.client(), centres.client()
    go(client)
    centres.enter(linked, "heart", who="by-link")
    cookies = dict(client.cookies), dict(linked.cookies)

    def restarted() -> list[int]:
        centres.close()
        centres.again()
        browsers = [centres.client(), centres.client()]
        for browser, values in zip(browsers, cookies, strict=True):
            browser.cookies.update(values)
        return [browser.get("/heart/office").status_code for browser in browsers]

    assert restarted() == [200, 200]
    place = centres.folder / "centre.toml"
    place.write_text(place.read_text().replace('study = "lung"', 'study = "other"'))
    assert restarted() == [200, 200]
    place.write_text(place.read_text().replace('role = "owner"', 'role = "analyst"'))
    assert restarted() == [401, 200]


def test_a_revoked_account_is_refused_until_it_is_invited_again(
    centres: Centres, service: OidcServer
) -> None:
    client = centres.client()
    go(client)
    access = centres.access("heart")
    assert access.end_access("staff-1", at=AT).accounts == 1
    assert client.get("/heart/office").status_code == 401
    assert go(centres.client()).status_code == 403
    centre_audit = centres.centre.registry.audit
    assert centre_audit is not None
    (entry,) = access_entries(centre_audit.log, (REFUSED,), last=9)
    assert (entry.data["reason"], entry.data["who"]) == ("revoked", "staff-1")
    access.invite("staff-1", "owner", at=LATER, expires_at=LATER)
    back = centres.client()
    assert go(back).status_code == 303
    assert back.get("/heart/office").status_code == 200
