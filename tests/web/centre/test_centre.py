"""Several studies under one address: each has its own path, cookie, database and people."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from konsil.errors import KonsilError
from konsil.store.people.access import role_of
from konsil.web.centre.settings import read_settings
from konsil.web.site.site import Options

from ..conftest import AT, LATER
from .conftest import HOST, ORIGIN, Centres

OFFICE = ("/office", "/office/invitations", "/office/batches", "/office/problems", "/office/log")


def of_study(client: TestClient, slug: str) -> dict[str, str]:
    """The cookies that a browser sends to the paths of one study alone."""
    return {c.name: str(c.value) for c in client.cookies.jar if c.path == f"/{slug}"}


def test_signing_in_to_one_study_does_not_touch_the_other(centres: Centres) -> None:
    client = centres.client()
    centres.enter(client, "heart")
    assert client.get("/heart/office").status_code == 200
    assert client.get("/lung/office").status_code == 401
    centres.enter(client, "lung", role="analyst")
    assert client.get("/heart/office/invitations").status_code == 200
    assert client.get("/lung/office/log").status_code == 200
    assert client.get("/lung/office/invitations").status_code == 404


def test_cookies_go_to_their_study_alone(centres: Centres) -> None:
    client = centres.client()
    centres.enter(client, "heart")
    paths = {c.name.split("-")[2 if "__" in c.name else 1]: c.path for c in client.cookies.jar}
    own, shared = of_study(client, "heart"), [c for c in client.cookies.jar if c.path == "/"]
    assert len(own) == len(shared) == 1, paths
    (name,) = own
    assert name.startswith("__Secure-konsil-")
    assert shared[0].name.startswith("__Host-konsil-centre-")
    assert all(c.secure for c in client.cookies.jar)


def test_no_page_of_a_study_opens_with_cookies_of_another(centres: Centres) -> None:
    """Whoever rewrites paths and names of cookies gets no further: sessions are in the databases."""
    client, thief = centres.client(), centres.client()
    centres.enter(client, "heart")
    centres.enter(client, "lung", who="other")
    heart = centres.centre.registry.get("heart").site.cookie
    lung = centres.centre.registry.get("lung").site.cookie
    assert heart != lung
    stolen = of_study(client, "heart")[heart]
    shared = [str(c.value) for c in client.cookies.jar if c.path == "/"]
    for value in (stolen, *shared, shared[0].partition(".")[0]):
        for name in (heart, lung):
            for page in OFFICE:
                answer = thief.get(f"/lung{page}", headers={"cookie": f"{name}={value}"})
                assert answer.status_code == 401, (name, page)
    # The cookie of the list opens no page of its own study either.
    for value in shared:
        answer = thief.get("/heart/office", headers={"cookie": f"{heart}={value}"})
        assert answer.status_code == 401


def test_the_list_shows_staff_their_roles_and_progress(centres: Centres) -> None:
    client = centres.client()
    stranger = client.get("/")
    assert stranger.status_code == 200
    assert "Eine Studie" not in stranger.text
    centres.enter(client, "heart", role="coordinator")
    text = client.get("/").text
    assert text.count("Eine Studie") == 2
    assert "coordinator" in text
    assert "0 / 12" in text
    # The other study is another group's: no link, no progress.
    assert 'href="/heart/"' in text
    assert 'href="/lung/"' not in text
    centres.enter(client, "lung", who="ada", role="analyst")
    assert 'href="/lung/"' in client.get("/").text


def test_raters_are_told_of_no_other_study(centres: Centres) -> None:
    client = centres.client()
    centres.enter(client, "heart", who="canary-rater-1", role="rater")
    assert [c.path for c in client.cookies.jar] == ["/heart"]
    assert "Eine Studie" not in client.get("/").text
    assert "All studies" not in client.get("/heart/next").text


def test_the_second_cookie_cannot_be_made_or_changed(centres: Centres) -> None:
    client = centres.client()
    centres.enter(client, "heart")
    (shared,) = (c for c in client.cookies.jar if c.path == "/")
    device, _, mac = str(shared.value).partition(".")
    lung = centres.centre.registry.get("lung")
    name_of_lung = "__Host-konsil-centre-" + lung.site.cookie.rpartition("-")[2]
    other = "0" if mac[-1] != "0" else "1"
    for cookie in (
        f"{shared.name}={device}.",
        f"{shared.name}={device}.{mac[:-1]}{other}",
        f"{shared.name}={device}",
        f"{name_of_lung}={shared.value}",
        f"{shared.name}=ä.ä",
    ):
        answer = centres.client().get("/", headers={"cookie": cookie.encode()})
        assert answer.status_code == 200
        assert "Eine Studie" not in answer.text, cookie


def test_signing_out_ends_the_second_cookie_too(centres: Centres) -> None:
    client = centres.client()
    centres.enter(client, "heart")
    page = client.get("/heart/office").text
    assert 'href="/"' in page
    csrf = re.search(r'name="csrf" value="([^"]*)"', page)[1]
    kept = {c.name: str(c.value) for c in client.cookies.jar if c.path == "/"}
    client.post("/heart/leave", data={"csrf": csrf}, headers=ORIGIN)
    assert not client.cookies
    cookie = "; ".join(f"{name}={value}" for name, value in kept.items())
    assert "Eine Studie" not in client.get("/", headers={"cookie": cookie}).text


def test_signing_out_of_all_studies_at_once(centres: Centres) -> None:
    client = centres.client()
    centres.enter(client, "heart")
    centres.enter(client, "lung", who="other")
    csrf = re.search(r'name="csrf" value="([^"]*)"', client.get("/").text)[1]
    assert client.post("/leave", data={"csrf": csrf}).status_code == 403
    assert client.post("/leave", data={"csrf": "x"}, headers=ORIGIN).status_code == 403
    foreign = {"origin": "https://evil.example.org"}
    assert client.post("/leave", data={"csrf": csrf}, headers=foreign).status_code == 403
    assert client.get("/heart/office").status_code == 200
    answer = client.post("/leave", data={"csrf": csrf}, headers=ORIGIN, follow_redirects=False)
    assert answer.headers["location"] == "/"
    assert client.get("/heart/office").status_code == client.get("/lung/office").status_code == 401


def test_a_study_that_fails_does_not_take_the_others_down(centres: Centres) -> None:
    (centres.folder / "broken").mkdir()
    (centres.folder / "broken" / "study.toml").write_text("nothing")
    (centres.folder / "Not a path").mkdir()
    (centres.folder / "Not a path" / "study.toml").write_text("medqade")
    (centres.folder / "health").mkdir()
    (centres.folder / "health" / "study.toml").write_text("medqade")
    client = centres.client()
    answer = client.get("/broken/next")
    assert answer.status_code == 503
    assert "nothing" not in answer.text
    assert "please try again in a few minutes" in answer.text
    assert answer.headers["retry-after"] == "60"
    german = client.get("/broken/next", headers={"accept-language": "de"})
    assert "Diese Studie ist zurzeit nicht erreichbar" in german.text
    assert client.get("/broken").status_code == client.get("/broken/health").status_code == 503
    centres.enter(client, "heart")
    text = client.get("/").text
    assert text.count("not available") == 3
    assert client.get("/heart/health").text == "ok\n"
    # Neither a study nor a folder of that name takes the centre's own page.
    assert client.get("/health").text == "ok\n2 of 5 studies answer\n"


def test_the_log_names_a_study_that_is_not_available_in_one_line(
    centres: Centres, caplog: pytest.LogCaptureFixture
) -> None:
    (centres.folder / "kiel").mkdir()
    (centres.folder / "kiel" / "study.toml").write_text("nothing")
    centres.client().get("/kiel/")
    sentence = f"{centres.folder / 'kiel'}: there is no study nothing"
    assert caplog.messages == [f"kiel: not available: {sentence}; tried again on request"]


def test_staff_read_that_their_link_works_once(centres: Centres) -> None:
    access = centres.access("heart")
    people = {role_of("rater"): "canary-rater-1", role_of("owner"): "staff-1"}
    links = {
        role: access.invite(person, role, at=AT, expires_at=LATER)
        for role, person in people.items()
    }
    client = centres.client()
    english = {"accept-language": "en"}
    texts = {
        role: client.get(f"/heart/come/{secret}", headers=english).text
        for role, secret in links.items()
    }
    assert "works on any of your devices" in texts["rater"]
    assert "works once" in texts["owner"]
    assert "any of your devices" not in texts["owner"]
    for page in ("/", "/heart/"):
        assert "your link worked once" in client.get(page, headers=english).text


def test_a_study_that_was_repaired_or_added_is_served_without_a_restart(centres: Centres) -> None:
    client = centres.client()
    assert client.get("/kidney/health").status_code == 404
    centres.add("kidney")
    (centres.folder / "kidney" / "study.toml").write_text("nothing")
    assert client.get("/kidney/health").status_code == 503
    (centres.folder / "kidney" / "study.toml").write_text("medqade")
    assert client.get("/kidney/health").text == "ok\n"
    assert client.get("/kidneys/").status_code == client.get("/kidney-2/").status_code == 404


def test_the_state_of_one_database_is_that_of_its_study_alone(centres: Centres) -> None:
    client = centres.client()
    centres.enter(client, "heart")
    centres.enter(client, "lung", who="other")
    (centres.folder / "lung" / "konsil.db").write_bytes(b"no database" * 1_000)
    for name in ("konsil.db-wal", "konsil.db-shm"):
        (centres.folder / "lung" / name).unlink(missing_ok=True)
    centres.centre.registry.get("lung").store.engine.dispose()
    assert centres.client().get("/lung/health").status_code == 503
    assert client.get("/heart/health").status_code == 200
    answer = client.get("/health")
    assert (answer.status_code, answer.text) == (200, "ok\n1 of 2 studies answer\n")
    assert "0 / 12" in client.get("/").text
    (centres.folder / "heart" / "konsil.db").write_bytes(b"no database" * 1_000)
    for name in ("konsil.db-wal", "konsil.db-shm"):
        (centres.folder / "heart" / name).unlink(missing_ok=True)
    centres.centre.registry.get("heart").store.engine.dispose()
    assert client.get("/health").status_code == 503


def test_attempts_at_one_study_leave_the_other_open(centres: Centres) -> None:
    client = centres.client()
    codes = [client.get(f"/heart/come/none-{n}").status_code for n in range(40)]
    assert (codes.count(410), codes.count(429)) == (30, 10)
    assert client.get("/lung/come/none").status_code == 410
    centres.enter(client, "lung")


def test_languages_of_the_list(centres: Centres) -> None:
    client = centres.client()
    german = client.post("/language", data={"language": "de"}, headers=ORIGIN)
    assert "<h1>Alle Studien</h1>" in german.text
    assert client.post("/language", data={"language": "xx"}, headers=ORIGIN).status_code == 422
    assert client.post("/language", data={"language": "de"}).status_code == 403
    assert client.post("/language", content=b"x" * 500_000, headers=ORIGIN).status_code == 413


def test_every_answer_of_the_centre_has_the_headers(centres: Centres) -> None:
    (centres.folder / "broken").mkdir()
    (centres.folder / "broken" / "study.toml").write_text("nothing")
    client = centres.client()
    for path in ("/", "/none", "/health", "/broken/", "/static/0/konsil.css"):
        headers = client.get(path).headers
        assert "default-src 'none'" in headers["content-security-policy"], path
        assert headers["cache-control"] == "no-store", path


def test_a_centre_under_a_path(centres: Centres) -> None:
    centres.url = f"{HOST}/research"
    client = centres.client()
    secret = centres.access("heart").invite(
        "lead", "owner", at="2025-03-01T12:00:00Z", expires_at="2099-01-01T00:00:00Z"
    )
    client.post(f"/research/heart/come/{secret}", headers=ORIGIN)
    assert {c.path for c in client.cookies.jar} == {"/research", "/research/heart"}
    text = client.get("/research/").text
    addresses = re.findall(r'(?:href|src|action)="(/[^"]*)"', text)
    assert len(addresses) > 4
    assert [a for a in addresses if not a.startswith("/research/")] == []
    assert all(client.get(a).status_code == 200 for a in addresses if "/static/" in a)
    assert 'href="/research/"' in client.get("/research/heart/office").text
    assert client.get("/").status_code == client.get("/heart/health").status_code == 404


def test_a_server_starts_and_ends_its_studies(centres: Centres) -> None:
    centres.centre.registry._studies.clear()
    with TestClient(centres.centre, base_url=HOST) as client:
        assert client.get("/heart/health").text == "ok\n"
        centres.add("kidney")
        assert client.get("/kidney/health").text == "ok\n"


def test_a_study_alone_has_no_list(centres: Centres) -> None:
    assert Options().centre is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("studies = 1", r"studies: expected tables \[\[studies\]\]"),
        ("title = 1", "title: expected a text, got 1"),
        ("titel = 'x'", "there is no key 'titel'; did you mean 'title'"),
        ("[[studies]]\npath = 'a'", r"studies 1: folder is missing"),
        ("[[studies]]\nfolder = 'a b'", r"studies 1.path: expected letters, .* got 'a b'"),
        ("[[studies]]\nfolder = 'x/health'", "none of audit-log, health, language, leave"),
        ("[[studies]]\nfolder = 1", r"studies 1.folder: expected a text, got 1"),
        ("[[studies]]\nfolder = 'a'\n[[studies]]\nfolder = 'b/a'", "the path 'a' occurs more than"),
        ("=", "not valid TOML"),
    ],
)
def test_a_file_that_is_wrong(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "centre.toml").write_text(text)
    with pytest.raises(KonsilError, match=message):
        read_settings(tmp_path)


def test_a_list_names_folders_and_databases(tmp_path: Path) -> None:
    file = tmp_path / "list.toml"
    file.write_text(
        "title = 'Cardiology'\n[[studies]]\nfolder = 'old/a'\npath = 'trial-1'\n"
        "database = 'postgresql:///trial'\n"
    )
    settings = read_settings(file)
    assert settings.title == "Cardiology"
    (place,) = settings.places()
    assert (place.slug, place.folder) == ("trial-1", tmp_path / "old" / "a")
    assert place.database == "postgresql:///trial"
    with pytest.raises(KonsilError, match="there is no such folder or file"):
        read_settings(tmp_path / "nowhere")


def test_the_second_cookie_lasts_as_long_as_the_session(centres: Centres) -> None:
    """A curator stays signed in for weeks, and the list's "Sign out" ends that, too."""
    hours = {"owner": 12, "coordinator": 12, "analyst": 12, "curator": 30 * 24}
    for role, expected in hours.items():
        client = centres.client()
        centres.enter(client, "heart", role=role)
        (cookie,) = (c for c in client.cookies.jar if "centre" in c.name)
        assert cookie.expires is not None
        assert (cookie.expires - time.time()) / 3_600 == pytest.approx(expected, abs=0.1)
