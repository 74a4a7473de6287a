"""Coordinators who are tied to sites: every page, download and form, as one of another site."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import pytest
from starlette.testclient import TestClient

from konsil.errors import StoreError
from konsil.instrument import Scale
from konsil.records import Event
from konsil.store import Batch, Store
from konsil.store.engine.engine import reading, writing
from konsil.store.log import study_events
from konsil.store.people.access import Access, hashed, role_of
from konsil.store.people.people import Person, note_person
from konsil.store.people.sites import known_sites, site_by_rater, sites_of, tie
from konsil.store.privacy.own_data import own_data
from konsil.study import Study
from konsil.study.sections.enrolment import PROFILE, Question
from konsil.web.app.app import create_app
from konsil.web.app.routes import OFFICE, ROUTES
from konsil.web.centre.standing import counted
from konsil.web.office.admitting import _without_site
from konsil.web.site.scope import Scope, scope_within
from konsil.web.site.site import Options

from ..both import opened, server
from ..conftest import AT, LATER, STUDIES, URL, Browser, Clock, fill

__all__ = ["opened", "server"]

R1, R2, R3 = (f"canary-rater-{n}" for n in (1, 2, 3))
SITES = {R1: "Kiel", R2: "Kiel", R3: "Ulm"}
THEIRS = (R3, "Doctor Elsewhere", "elsewhere@clinic.example", "a problem at Ulm", "Ulm")
"""What no page of a coordinator of Kiel contains."""


def study_with_sites() -> Study:
    study = STUDIES["medqade"]
    raters = tuple(
        dataclasses.replace(r, strata={"site": SITES[r.id]}) if r.id in SITES else r
        for r in study.raters
    )
    return dataclasses.replace(study, raters=raters)


class Visits:
    """A study of two sites and the browsers of its staff."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self.study, self.store = study_with_sites(), store
        fill(store, self.study)
        note_person(store, Person(R3, "Doctor Elsewhere", "elsewhere@clinic.example"))
        note_person(store, Person(R1, "Doctor Here", "here@clinic.example"))
        with writing(store.engine) as connection:
            for rater, text in ((R1, "a problem at Kiel"), (R3, "a problem at Ulm")):
                event = Event(
                    f"problem {rater}",
                    study_events.PROBLEM,
                    "none",
                    AT,
                    {"rater": rater, "text": text},
                )
                study_events.append_event(connection, event)
            for rater in (R1, R3):
                for kind, subject, data in (
                    (PROFILE, rater, {"replies": {"site": SITES[rater]}}),
                    (study_events.BATCH_CLOSED, "", {"phase": "", "rater": rater}),
                    (
                        study_events.BATCH_REOPENED,
                        "",
                        {"phase": "", "rater": "", "reason": "a problem at Ulm"},
                    ),
                ):
                    event = Event(f"{kind} {rater}", kind, subject, AT, data)
                    study_events.append_event(connection, event)
        self.app = create_app(self.study, store, Options(url=URL), clock=clock)
        self.clients: list[TestClient] = []

    def enter(self, who: str, role: str = "coordinator") -> Browser:
        client = TestClient(self.app, base_url=URL)
        self.clients.append(client)
        browser = Browser(client)
        secret = Access(self.store).invite(who, role_of(role), at=AT, expires_at=LATER)
        assert browser.post(f"/come/{secret}").status_code == 200
        return browser


@pytest.fixture
def visits(opened: Store, clock: Clock) -> Iterator[Visits]:
    made = Visits(opened, clock)
    tie(opened, "staff", "kiel", ["Kiel"], at=AT, by="lead")
    yield made
    for client in made.clients:
        client.close()


def test_no_office_page_shows_raters_of_another_site(visits: Visits) -> None:
    tied, free = visits.enter("kiel"), visits.enter("office")
    shown = []
    for page in ROUTES:
        if page.method != "GET" or not page.path.startswith("/office"):
            continue
        path = f"{page.path}?rater={R3}"
        answer = tied.get(path)
        if not page.by_site:
            assert answer.status_code == 404, page.name
            continue
        assert answer.status_code == 200, page.name
        shown.append(page.name)
        for word in THEIRS:
            assert word not in answer.text, (page.name, word)
        if page.name != "leaving":
            assert R3 in free.get(page.path).text, page.name
            assert R1 in tied.get(page.path).text, page.name
    assert shown == [
        "overview",
        "invitations",
        "leaving",
        "progress_table",
        "batches",
        "problems",
        "enrolment",
    ]


def test_batches_and_enrolment_are_those_of_the_site(visits: Visits) -> None:
    tied, free = visits.enter("kiel"), visits.enter("office")
    batches = tied.get("/office/batches").text
    assert f'<option value="{R2}">' in batches
    assert '<option value="">' not in batches
    assert '<option value="">' in free.get("/office/batches").text
    assert "0 / 8" in batches
    for rater, status in ((R3, 422), ("", 422), (R2, 200)):
        fields = {"phase": "", "batch": "", "rater": rater}
        assert tied.post("/office/batches/close", fields).status_code == status
        tied.get("/office/batches")
    with reading(visits.store.engine) as connection:
        closed = {r for _, _, r in study_events.closed_batches(connection)}
    assert R2 in closed
    assert "" not in closed


def test_the_file_of_progress_has_no_row_of_another_site(visits: Visits) -> None:
    head = "rater,panel,site,phase,batch,instrument,tasks,completed,withdrawn"
    rows = visits.enter("kiel").get("/office/progress.csv").text.split("\r\n")
    assert rows == [
        head,
        f"{R1},panel,Kiel,,,medqade,4,0,0",
        f"{R2},panel,Kiel,,,medqade,4,0,0",
        "",
    ]
    assert f"{R3},panel,Ulm" in visits.enter("office").get("/office/progress.csv").text
    assert visits.enter("boss", "owner").get("/office/progress.csv").status_code == 200
    assert visits.enter("blind", "analyst").get("/office/progress.csv").status_code == 404


def test_places_of_another_site_are_not_named() -> None:
    tied = Scope(frozenset({"Kiel"}), frozenset({R1}))
    assert [tied.has_site({"site": s}) for s in ("Kiel", "Ulm")] == [True, False]
    assert not tied.has_site({})
    assert Scope().has_site({})
    question = Question("site", "Where?", Scale(("Kiel", "Ulm")))
    assert _without_site([question], tied) == []
    assert _without_site([question], Scope()) == [question]


def test_the_list_of_studies_counts_their_raters_alone(visits: Visits) -> None:
    site = visits.app.state.site
    scopes = (Scope(), scope_within(site, frozenset({"Kiel"})), scope_within(site, frozenset()))
    assert [counted(site, scope)[1] for scope in scopes] == [12, 8, 0]


def test_the_menu_names_no_page_that_is_refused(visits: Visits) -> None:
    text = visits.enter("kiel").get("/office").text
    hidden = [p.path for p in ROUTES if not p.by_site and p.path.startswith("/office/")]
    assert not [path for path in hidden if f'href="{path}"' in text]


def test_no_form_acts_on_raters_of_another_site(visits: Visits) -> None:
    tied = visits.enter("kiel")
    before = visits.store.log_head()
    for page in ROUTES:
        if page.method != "POST" or not page.path.startswith("/office"):
            continue
        tied.get("/office")
        fields = {
            "who": R3,
            "rater": R3,
            "name": "Changed",
            "email": "x@example.org",
            "problem": f"problem {R3}",
            "note": "done",
            "reason": "why",
            "digest": "x",
            "phase": "",
            "batch": "",
            "number": "1",
        }
        answer = tied.post(page.path, fields)
        assert answer.status_code == (404 if not page.by_site else 422) or page.name == "withdraw"
        for word in THEIRS:
            assert word not in answer.text, (page.name, word)
    assert visits.store.log_head() == before
    tied.get("/office/invitations")
    letters = tied.post("/office/invitations", {"all": "1"}).text
    assert R1 in letters
    assert R3 not in letters
    assert Access(visits.store).revoke(R3, at=AT) == 0


def test_a_coordinator_cannot_untie_themselves(visits: Visits) -> None:
    tied = visits.enter("kiel")
    tied.get("/office/invitations")
    fields = {"who": "kiel", "role": "coordinator", "site": "*"}
    assert tied.post("/office/invitations", fields).status_code == 422
    assert R3 not in tied.get("/office").text


def test_owners_tie_coordinators_on_the_page(visits: Visits) -> None:
    owner = visits.enter("lead", "owner")
    page = owner.get("/office/invitations").text
    assert "<option>Kiel</option><option>Ulm</option>" in page
    fields = {"who": "Ulla Meier", "role": "coordinator", "site": "Ulm"}
    assert "/come/" in owner.post("/office/invitations", fields).text
    assert "(Ulm)" in owner.get("/office/invitations").text
    for site, sites in (("", {"Ulm"}), ("Kiel", {"Kiel"}), ("*", set())):
        owner.get("/office/invitations")
        owner.post("/office/invitations", fields | {"site": site})
        with reading(visits.store.engine) as connection:
            assert sites_of(connection, "staff", "staff-1") == sites
    owner.get("/office/invitations")
    assert owner.post("/office/invitations", fields | {"site": "Bonn"}).status_code == 422


def test_other_roles_are_not_tied(visits: Visits) -> None:
    owner = visits.enter("kiel", "owner")
    assert R3 in owner.get("/office/invitations").text


def test_no_page_of_a_rater_names_a_site(visits: Visits) -> None:
    rater = visits.enter(R1, "rater")
    assert rater.get("/next").status_code == 200
    for page in ROUTES:
        if page.method == "GET" and "{" not in page.path and page.audience not in (OFFICE,):
            text = rater.get(page.path).text
            assert "Kiel" not in text, page.name
            assert "Ulm" not in text, page.name


def test_the_log_covers_sites(visits: Visits) -> None:
    store = visits.store
    tie(store, "staff", "kiel", ["Kiel", "Ulm"], at=AT, by="lead")
    tie(store, "staff", "kiel", ["Ulm"], at=AT, by="lead")
    head = store.log_head()
    tie(store, "staff", "kiel", ["Ulm"], at=AT, by="lead")
    assert store.log_head() == head
    assert store.verify_log() == ()
    assert own_data(store, "kiel")["sites"][0]["site"] == "Ulm"
    with writing(store.engine) as connection:
        connection.exec_driver_sql("UPDATE sites SET site = 'Kiel'")
    assert "sites: 1 row was changed after the log covered" in " ".join(store.verify_log())
    with pytest.raises(StoreError, match="expected a name of 1 to 200 characters"):
        tie(store, "staff", "kiel", ["x\ny"], at=AT)


def test_whoever_comes_by_a_link_of_a_site_belongs_there(visits: Visits) -> None:
    store = visits.store
    secret = Access(store).invite("", "rater", at=AT, expires_at=LATER)
    tie(store, "link", hashed(secret), ["Ulm"], at=AT)
    client = TestClient(visits.app, base_url=URL)
    visits.clients.append(client)
    Browser(client).post(f"/come/{secret}")
    with reading(store.engine) as connection:
        people = site_by_rater(connection, visits.study)
        assert known_sites(connection, visits.study) == ("Kiel", "Ulm")
    (guest,) = set(people) - set(SITES)
    assert people[guest] == "Ulm"
    assert store.verify_log() == ()


def test_exports_hold_no_table_of_sites(visits: Visits) -> None:
    batch: Batch = visits.store.batch()
    assert "kiel" not in str(batch.events)
