"""Limits a minute behind a proxy: by address at open links, as far as its header is trusted; by
person elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from konsil.store import Store
from konsil.store.people.access import Access
from konsil.web.app.serve import server_config
from konsil.web.site.site import Options

from .browsers import free_port, running
from .conftest import AT, STUDIES, Browser, fill, raters

FAR = "2099-01-01T00:00:00Z"
R1, R2 = (r.id for r in raters()[:2])
PROXY = ("127.0.0.1",)
"""The tests' own address: what they send is what a trusted proxy sends."""


@contextmanager
def behind_a_proxy(
    folder: Path, trusted: tuple[str, ...], **limits: int
) -> Iterator[tuple[str, Access]]:
    """A study whose server trusts the word of these proxies."""
    with Store.open(folder) as store:
        fill(store, STUDIES["medqade"])
        port = free_port()
        options = Options(url=f"http://127.0.0.1:{port}", trusted_proxies=trusted, **limits)
        with running(server_config(STUDIES["medqade"], store, options), port) as url:
            yield url, Access(store)


def knocks(client: httpx.Client, address: str, forwarded: list[str]) -> list[int]:
    return [client.get(address, headers={"x-forwarded-for": one}).status_code for one in forwarded]


@pytest.mark.slow
@pytest.mark.parametrize(("trusted", "refused"), [(PROXY, 0), ((), 10), (("10.0.0.0/8",), 10)])
def test_volunteers_by_an_open_link(trusted: tuple[str, ...], refused: int, tmp_path: Path) -> None:
    with (
        behind_a_proxy(tmp_path, trusted, volunteers_a_minute=30) as (url, access),
        httpx.Client() as client,
    ):
        link = f"{url}/come/{access.invite('', 'rater', at=AT, expires_at=FAR)}"
        codes = knocks(client, link, [f"198.51.100.{n}" for n in range(40)])
        assert (codes.count(200), codes.count(429)) == (40 - refused, refused)


@pytest.mark.slow
def test_a_header_that_a_visitor_invents_buys_no_tries(tmp_path: Path) -> None:
    """A proxy appends the address that it sees: what stands before it is the visitor's own word."""
    with (
        behind_a_proxy(tmp_path, PROXY, volunteers_a_minute=30) as (url, access),
        httpx.Client() as client,
    ):
        link = f"{url}/come/{access.invite('', 'rater', at=AT, expires_at=FAR)}"
        codes = knocks(client, link, [f"203.0.113.{n}, 198.51.100.7" for n in range(40)])
        assert codes.count(429) == 10
        assert knocks(client, link, ["203.0.113.1, 198.51.100.8"]) == [200], "a neighbour is let in"


@pytest.mark.slow
@pytest.mark.parametrize("trusted", [PROXY, ()])
@pytest.mark.parametrize("forwarded", ["198.51.100.7", ""])
def test_posts_are_a_persons_whatever_the_header_says(
    trusted: tuple[str, ...], forwarded: str, tmp_path: Path
) -> None:
    with behind_a_proxy(tmp_path, trusted, posts_a_minute=5) as (url, access):
        people = {}
        for who in (R1, R2):
            client = httpx.Client(base_url=url, follow_redirects=True)
            browser = Browser(client, url)  # type: ignore[arg-type]
            browser.get(f"/come/{access.invite(who, 'rater', at=AT, expires_at=FAR)}")
            browser.post(f"/come/{access.invite(who, 'rater', at=AT, expires_at=FAR)}")
            people[who] = (browser, browser.get("/next").url.path)
        codes = []
        for n in range(7):
            browser, path = people[R1]
            browser.client.headers["x-forwarded-for"] = forwarded or f"198.51.100.{n}"
            codes.append(browser.save(f"{path}/save", {"changes": [], "visit": "v"}).status_code)
        assert codes == [200] * 5 + [429] * 2, (
            "an address of one's own for every try changes nothing"
        )
        browser, path = people[R2]
        browser.client.headers["x-forwarded-for"] = forwarded or "198.51.100.1"
        assert browser.save(f"{path}/save", {"changes": [], "visit": "v"}).status_code == 200
        for browser, _ in people.values():
            browser.client.close()
