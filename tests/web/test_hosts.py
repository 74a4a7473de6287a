"""Several studies on one host, and visitors behind a proxy."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from click.testing import CliRunner
from starlette.testclient import TestClient

from konsil.cli.main import group
from konsil.errors import KonsilError
from konsil.store import Store
from konsil.store.people.access import Access
from konsil.web.app.app import create_app
from konsil.web.app.serve import server_config
from konsil.web.site.site import Options, checked

from .browsers import free_port, running
from .conftest import AT, STUDIES, fill, raters

HOST = "https://study.example.org"
R1 = raters()[0].id


@contextmanager
def study_at(folder: Path, url: str) -> Iterator[tuple[Store, TestClient]]:
    """A study with a database of its own, served at an address."""
    folder.mkdir()
    with Store.open(folder) as store:
        fill(store, STUDIES["medqade"])
        yield (
            store,
            TestClient(create_app(STUDIES["medqade"], store, Options(url=url)), base_url=HOST),
        )


def sign_in(client: TestClient, store: Store, path: str = "") -> httpx.Response:
    secret = Access(store).invite(R1, "rater", at=AT, expires_at="2099-01-01T00:00:00Z")
    return client.post(f"{path}/come/{secret}", headers={"origin": HOST}, follow_redirects=False)


def test_two_studies_of_one_host_leave_each_other_s_visitors_signed_in(tmp_path: Path) -> None:
    """On ports of one host a browser has one jar of cookies for both."""
    with (
        study_at(tmp_path / "a", HOST) as (first, one),
        study_at(tmp_path / "b", HOST) as (second, two),
    ):
        sign_in(one, first)
        two.cookies = one.cookies
        sign_in(two, second)
        one.cookies = two.cookies
        assert one.get("/next").status_code == two.get("/next").status_code == 200
        assert len(one.cookies) == 2
        assert all(name.startswith("__Host-konsil-") for name in one.cookies)


def test_the_cookie_has_the_same_name_after_a_restart(tmp_path: Path) -> None:
    with study_at(tmp_path / "a", HOST) as (store, before):
        sign_in(before, store)
        after = TestClient(create_app(STUDIES["medqade"], store, Options(url=HOST)), base_url=HOST)
        after.cookies = before.cookies
        assert after.get("/next").status_code == 200


def test_a_study_under_a_path(tmp_path: Path) -> None:
    """Every address that a page names begins with the path; the cookie goes to no other, and
    nothing else is there."""
    with study_at(tmp_path / "a", f"{HOST}/trial-1") as (store, client):
        answer = sign_in(client, store, "/trial-1")
        assert answer.headers["location"] == "/trial-1/"
        cookie = answer.headers["set-cookie"]
        assert cookie.startswith("__Secure-konsil-")
        assert "Path=/trial-1" in cookie
        page = client.get("/trial-1/next")
        assert page.status_code == 200
        assert page.url.path.startswith("/trial-1/")
        addresses = re.findall(
            r'(?:href|src|action|data-[a-z]*url|data-save|data-next)="(/[^"]*)"', page.text
        )
        assert len(addresses) > 4
        assert [a for a in addresses if not a.startswith("/trial-1/")] == []
        for address in addresses:
            if "/static/" in address:
                assert client.get(address).status_code == 200
        assert client.get("/next").status_code == 404
        assert client.get("/trial-10/").status_code == 404
        chosen = client.post(
            "/trial-1/language",
            data={"language": "en", "back": "/other/"},
            headers={"origin": HOST},
        )
        assert chosen.url.path.startswith("/trial-1/")


def test_links_have_the_path(tmp_path: Path) -> None:
    run = CliRunner()
    assert run.invoke(group, ["new", str(tmp_path / "s")]).exit_code == 0
    assert run.invoke(group, ["import", str(tmp_path / "s")]).exit_code == 0
    text = run.invoke(group, ["invite", str(tmp_path / "s"), "--url", f"{HOST}/trial-1/"]).output
    assert f"{HOST}/trial-1/come/" in text


@pytest.mark.parametrize(
    "url", ["https://x.org/a?b=c", "https://x.org/a b", "https://x.org/ä", "ftp://x.org", "x.org"]
)
def test_addresses_that_cannot_be(url: str) -> None:
    with pytest.raises(KonsilError, match="url: expected an address such as"):
        checked(Options(url=url))


def test_a_proxy_that_is_no_address() -> None:
    with pytest.raises(
        KonsilError, match=r"trusted_proxy: expected an address such as 127\.0\.0\.1 .* got 'nginx'"
    ):
        checked(Options(trusted_proxies=("nginx",)))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("trusted", "refused"), [((), 10), (("127.0.0.1",), 0), (("10.0.0.0/8",), 10)]
)
def test_visitors_behind_a_proxy(trusted: tuple[str, ...], refused: int, tmp_path: Path) -> None:
    """Forty volunteers knock in one minute; the header counts only where the proxy that sends it is
    trusted."""
    with study_at(tmp_path / "a", HOST) as (store, _):
        options = Options(trusted_proxies=trusted)
        with (
            running(server_config(STUDIES["medqade"], store, options), free_port()) as url,
            httpx.Client() as client,
        ):
            codes = [
                client.get(
                    f"{url}/come/guess", headers={"x-forwarded-for": f"198.51.100.{n}"}
                ).status_code
                for n in range(40)
            ]
        assert codes.count(429) == refused
        assert codes.count(410) == 40 - refused


def test_health(tmp_path: Path) -> None:
    with study_at(tmp_path / "a", HOST) as (store, client):
        answer = client.get("/health")
        assert (answer.status_code, answer.text) == (200, "ok\n")
        store.engine.dispose()
        (tmp_path / "a" / "konsil.db").write_bytes(b"damaged" * 1000)
        assert client.get("/health").status_code == 503
