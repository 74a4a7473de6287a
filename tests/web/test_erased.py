"""Somebody whose data are erased while a page is open: one clear page, and nothing that is typed on
it is stored."""

from __future__ import annotations

import re

import pytest

from konsil.store import Store
from konsil.store.people.access import Access
from konsil.store.privacy import erasing

from .conftest import AT, LATER, STUDIES, Clock, Enter

WHO = "canary-rater-1"
ROLES = ("owner", "coordinator")


def erase(store: Store, clock: Clock) -> None:
    erasing.erase(
        store, STUDIES["medqade"], WHO, at=clock.stamp(), by="owner-1", reason="asked for it"
    )


@pytest.mark.parametrize(
    ("language", "said"), [("de", "Ihre Daten wurden gelöscht"), ("en", "Your data were erased")]
)
def test_an_open_browser_gets_one_clear_page(
    enter: Enter, opened: Store, clock: Clock, language: str, said: str
) -> None:
    browser = enter("medqade")
    page = browser.get("/next")
    address = page.url.path
    fields = browser.hidden()
    erase(opened, clock)
    before = opened.log_head(), opened.counts()
    browser.client.cookies.set("konsil_language", language)
    headers = {"accept-language": language}
    for path in (address, "/next", "/", "/ratings"):
        response = browser.client.get(path, headers=headers)
        assert response.status_code == 410, path
        assert re.findall(r"<h1>(.*?)</h1>", response.text) == [said]
        assert WHO not in response.text
    # What was still being typed is refused, and the page's module then loads the page above.
    assert browser.save(f"{address}/save", {"changes": []}).status_code in (401, 404)
    assert browser.post(address, {**fields, "correctness.a1": "Richtig"}).status_code == 410
    assert (opened.log_head(), opened.counts()) == before
    assert opened.verify_log() == ()


@pytest.mark.slow
def test_the_personal_link_is_over_and_others_go_on(
    enter: Enter, opened: Store, clock: Clock
) -> None:
    other = enter("medqade", "canary-rater-2")
    secret = Access(opened).invite(WHO, "rater", at=AT, expires_at=LATER)
    erase(opened, clock)
    stranger = enter("medqade", "", filled_already=True)
    assert stranger.get(f"/come/{secret}").status_code == 410
    assert stranger.post(f"/come/{secret}").status_code == 410
    assert other.get("/next").status_code == 200


@pytest.mark.parametrize("role", ROLES)
def test_those_who_run_the_study_see_that_the_rater_is_gone(
    enter: Enter, opened: Store, clock: Clock, role: str
) -> None:
    office = enter("medqade", "owner-1", role)
    erase(opened, clock)
    for path in ("/office", "/office/invitations", "/office/problems"):
        assert office.get(path).status_code == 200, path
    office.get("/office/invitations")
    token = office.csrf
    answer = office.client.post(
        "/office/invitations",
        data={"csrf": token, "who": WHO, "role": "rater"},
        headers={"origin": office.url},
    )
    assert answer.status_code == 422


def test_the_page_of_the_log_states_how_much_was_erased(
    enter: Enter, opened: Store, clock: Clock
) -> None:
    owner = enter("medqade", "owner-1", "owner")
    assert "Gelöschte Datensätze" not in owner.get("/office/log").text
    enter("medqade").get("/next")
    erase(opened, clock)
    page = owner.get("/office/log").text
    [shown] = re.findall(r"Gelöschte Datensätze</dt><dd>(.*?)</dd>", page)
    assert shown == str(opened.erased()[0])
    assert "unversehrt" in owner.post("/office/log").text
