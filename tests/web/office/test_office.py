"""The pages of those who run a study: nothing depends on labels, roles hold, leaving moves tasks,
nothing is lost."""

from __future__ import annotations

import io
import json
import re
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from starlette.testclient import TestClient

from konsil.errors import StoreError
from konsil.locale import languages
from konsil.plan import History, assign
from konsil.records import Answer, Item
from konsil.store import Batch, Store
from konsil.store.engine import schema
from konsil.store.engine.engine import reading
from konsil.store.people.access import Access
from konsil.store.people.people import people
from konsil.store.people.recruiting import record, recorded
from konsil.store.people.staff import names
from konsil.store.release.export import read_export
from konsil.store.tasks import batches, withdrawal
from konsil.study.sections.recruitment import about, stratum
from konsil.web.app.app import create_app
from konsil.web.app.routes import ROUTES
from konsil.web.site.guard import Public
from konsil.web.site.site import Options

URL = "http://testserver"
AT, LATER = "2025-03-01T12:00:00Z", "2025-06-01T12:00:00Z"
R1, R2, R3 = "canary-rater-1", "canary-rater-2", "canary-rater-3"
Enter = Callable[..., Any]


def form(label: str) -> dict[str, str]:
    return {**{f"correctness.a{n}": label for n in range(1, 6)}, "difficulty": "Mittel"}


def rate(desk: Any, rater: str, label: str, most: int = 99) -> int:
    n = 0
    while n < most and (public := desk.next_task(rater)) is not None:
        assert desk.submit(rater, public, form(label), 0).is_stored
        n += 1
    return n


@pytest.fixture
def site(enter: Enter, opened: Store) -> Any:
    enter(who="")
    return enter(who="").client.app.state.site  # type: ignore[attr-defined]


# No outcome ---------------------------------------------------------------------------------------


@pytest.mark.slow
def test_no_page_of_a_coordinator_depends_on_a_label(
    tmp_path: Path, empty: Path, studies: dict[str, Any], kit: Any
) -> None:
    """Two studies that differ in labels alone, one without and one full of ties, look the same to a
    coordinator."""
    seen: list[dict[str, str]] = []
    for number, label in enumerate(("Richtig", "Falsch")):
        folder = tmp_path / str(number)
        folder.mkdir()
        shutil.copyfile(empty, folder / "konsil.db")
        clock = kit.clock()
        with Store.open(folder) as store:
            kit.fill(store, studies["medqade"])
            app = create_app(studies["medqade"], store, Options(url=URL), clock=clock)
            desk = app.state.site.desk
            rate(desk, R1, "Richtig")
            clock.pass_(60)
            rate(desk, R2, label)
            assert any(t.purpose == "tiebreak" for t in store.tasks()) == (label == "Falsch")
            clock.pass_(60)
            with TestClient(app, base_url=URL) as client:
                browser = kit.browser(client)
                secret = Access(store).invite(
                    "office", "coordinator", at=clock.stamp(), expires_at=LATER
                )
                browser.post(f"/come/{secret}")
                mine = [
                    p.path
                    for p in ROUTES
                    if p.method == "GET"
                    and not isinstance(p.audience, Public)
                    and "coordinator" in p.audience
                ]
                mine += [
                    f"/office/withdrawal?rater={who}" for who in (R1, R2, R3, "canary-breaker")
                ]
                pages = {path: client.get(path).text for path in mine}
        assert len(pages) > 8
        seen.append(
            {
                path: re.sub(r'name="(csrf|digest)" value="[^"]*"', "", html)
                for path, html in pages.items()
            }
        )
    assert seen[0] == seen[1]
    assert "Stichentscheide sind hier nicht mitgezählt" in seen[0]["/office"]


def test_progress_and_forecast(enter: Enter, site: Any, clock: Any) -> None:
    rate(site.desk, R1, "Richtig", 2)
    clock.pass_(2 * 86_400)
    html = enter(who="office", role="coordinator").get("/office").text
    assert "2 / 4" in html
    assert "2 / 12" in html
    assert "5. März 2025" in html, (
        "two screens in two days, two left: two days from the third of March"
    )
    assert f"die seit 7 Tagen inaktiv sind: {R2}, {R3}" in html


# Invitations --------------------------------------------------------------------------------------


def test_an_invitation_with_its_letter(enter: Enter, opened: Store) -> None:
    office = enter(who="office", role="coordinator")
    office.get("/office/invitations")
    office.post(
        "/office/invitations/name",
        {"who": R1, "name": "Dr. Ada <May>", "email": "ada@clinic.example"},
    )
    assert people(opened)[R1].name == "Dr. Ada <May>"
    first = office.post("/office/invitations", {"who": R1}).text
    assert "Dr. Ada &lt;May&gt;" in first
    assert "mailto:ada%40clinic.example" in first
    [link] = set(re.findall(rf"{URL}/come/[\w-]+", first))
    assert first.count(link) == len(languages()), "a letter in each language"
    assert all(f"{name}: " in first for name in ("Deutsch", "English", "français"))
    path = link.removeprefix(URL)
    assert enter(who="").post(path).status_code == 200
    again = office.post("/office/invitations", {"who": R1}).text
    assert enter(who="").get(path).status_code == 410, "a new link ends the one before"
    new = re.search(rf"{URL}(/come/[\w-]+)", again)
    assert new is not None
    rater = enter(who="")
    assert rater.post(new[1]).status_code == 200
    office.get("/office/invitations")
    office.post("/office/invitations/end", {"who": R1})
    assert rater.get("/next").status_code == 401


def test_a_page_of_letters_that_is_loaded_again_makes_no_link(enter: Enter, opened: Store) -> None:
    owner = enter(who="chief", role="owner")
    links = Access(opened).invitations
    for fields in ({"who": R1}, {"who": "friend", "role": "analyst"}):
        page = owner.get("/office/invitations")
        html = page if isinstance(page, str) else page.text
        form = next(f for f in html.split("<form") if f'value="{R1}"' in f and "links" in f)
        if "role" in fields:
            form = html.rpartition("<form")[2]
        number = re.search(r'name="links" value="(\d+)"', form)
        assert number is not None
        sent = fields | {"links": number[1]}
        assert owner.post("/office/invitations", sent).status_code == 200
        before = len(links())
        again = owner.post("/office/invitations", sent)
        assert again.status_code == 409
        assert "Dieser Link wurde schon erstellt" in again.text
        assert len(links()) == before


def test_only_coordinators_have_a_site(enter: Enter, opened: Store) -> None:
    owner = enter(who="chief", role="owner")
    owner.get("/office/invitations")
    before = len(Access(opened).invitations())
    fields = {"who": "friend", "role": "analyst", "site": "*"}
    answer = owner.post("/office/invitations", fields)
    assert answer.status_code == 422
    assert "Nur Koordinierende haben ein Zentrum." in answer.text
    assert len(Access(opened).invitations()) == before


@pytest.mark.slow
def test_names_are_in_one_table_alone(enter: Enter, opened: Store) -> None:
    office = enter(who="office", role="owner")
    office.get("/office/invitations")
    office.post(
        "/office/invitations/name",
        {"who": R1, "name": "Ada Maywood", "email": "ada@clinic.example"},
    )
    office.post("/office/invitations", {"all": "1"})
    with reading(opened.engine) as connection:
        for table in schema.metadata.tables.values():
            if table.name != "people":
                text = str(connection.execute(sa.select(table)).all())
                assert "Maywood" not in text, table.name
                assert "ada@clinic" not in text, table.name
    pages = {p.path for p in ROUTES if p.path.startswith("/office") and p.method == "GET"}
    shown = [office.get(p) for p in pages]
    assert {got.url.path for got in shown if "Maywood" in got.text} == {"/office/invitations"}
    office.get("/office/invitations")
    office.post("/office/invitations/name", {"who": R1, "name": "", "email": ""})
    assert people(opened) == {}


@pytest.mark.parametrize("role", ["curator", "coordinator", "analyst", "owner"])
def test_only_an_owner_invites_those_who_run_the_study(
    role: str, enter: Enter, opened: Store
) -> None:
    office = enter(who="office", role="coordinator")
    office.get("/office/invitations")
    before = len(Access(opened).invitations())
    assert office.post("/office/invitations", {"who": "friend", "role": role}).status_code == 422
    assert len(Access(opened).invitations()) == before
    owner = enter(who="chief", role="owner")
    owner.get("/office/invitations")
    assert owner.post("/office/invitations", {"who": "friend", "role": role}).status_code == 200
    assert "friend" in owner.html
    with reading(opened.engine) as connection:
        [who] = [who for who, name in names(connection).items() if name == "friend"]
    assert any((i.role, i.who) == (role, who) for i in Access(opened).invitations())
    assert "friend" not in {i.who for i in Access(opened).invitations()}
    owner.get("/office/invitations")
    assert owner.post("/office/invitations", {"who": R1, "role": role}).status_code == 422
    office.get("/office/invitations")
    assert office.post("/office/invitations/end", {"who": "chief"}).status_code == 422
    assert owner.get("/office").status_code == 200


def test_what_is_misspelt_changes_nothing(enter: Enter, opened: Store) -> None:
    office = enter(who="office", role="owner")
    office.get("/office/invitations")
    for path, data in (
        ("/office/invitations", {"who": "nobody"}),
        ("/office/invitations", {"who": "x", "role": "emperor"}),
        ("/office/invitations/name", {"who": "nobody", "name": "x"}),
        ("/office/invitations/name", {"who": R1, "email": "no address"}),
        ("/office/invitations/name", {"who": R1, "name": "a\nb"}),
        ("/office/batches/close", {"phase": "", "batch": "77", "rater": ""}),
        ("/office/batches/close", {"phase": ""}),
        ("/office/batches/open", {"phase": "", "batch": "", "rater": "", "reason": " "}),
        ("/office/recruitment", {"what": "stratum", "contacted": "-3"}),
        ("/office/recruitment", {"what": "stratum", "contacted": "3", "responded": "4"}),
        ("/office/recruitment", {"what": "about", "decision": "perhaps"}),
        ("/office/problems", {"problem": "x", "note": "y"}),
        ("/office/download", {"format": "xlsx"}),
    ):
        assert office.post(path, data).status_code == 422, (path, data)
    assert opened.events() == ()
    assert people(opened) == {}


# Leaving ------------------------------------------------------------------------------------------


def test_a_rater_who_leaves(
    enter: Enter, opened: Store, site: Any, studies: dict[str, Any]
) -> None:
    rate(site.desk, R1, "Richtig", 1)
    hers = enter(who=R1)
    half = site.desk.next_task(R1)
    site.desk.submit(R1, half, {"difficulty": "Schwer"}, 0)
    office = enter(who="office", role="coordinator")
    html = office.get(f"/office/withdrawal?rater={R1}").text
    digest = re.search(r'name="digest" value="([^"]*)"', html)
    assert digest is not None
    done = office.post("/office/withdrawal", {"rater": R1, "digest": digest[1], "reason": "moved"})
    assert done.url.path == "/office"
    tasks = {t.id: t for t in opened.tasks()}
    assert sum(t.rater == R1 for t in tasks.values()) == 1
    assert all(
        len({t.rater for t in tasks.values() if t.item == i}) == 2
        for i in {t.item for t in tasks.values()}
    )
    assert hers.get("/next").status_code == 401
    assert enter(who="").get("/").status_code == 200
    assert opened.verify_log() == ()
    [event] = [e for e in opened.events() if e.kind == "withdrawal"]
    assert event.data["reason"] == "moved"
    assert event.data["by"] == "office"
    # The plan stays a pure function of protocol, seed, events and ratings.
    study = studies["medqade"]
    again = assign(
        study.plan,
        items=opened.items(),
        answers=opened.answers(),
        raters=study.raters,
        instruments=study.instruments,
        seed=study.seed,
        history=History(opened.ratings(), opened.events()),
    )
    assert {t.id: t.rater for t in again} == {t.id: t.rater for t in tasks.values()}
    # Whoever has the half-filled task now finds it empty, under a new address.
    for rater in (R2, R3):
        while (public := site.desk.next_task(rater)) is not None:
            assert public != half
            sheet = site.desk.open(rater, public)
            assert not any(a.value for g in sheet.everything for a in g.questions)
            assert site.desk.submit(rater, public, form("Richtig"), 0).is_stored
    assert len([r for r in opened.ratings() if r.criterion == "difficulty"]) == 12
    assert site.desk.open(R1, half) is None
    assert opened.verify_log() == ()
    assert "ausgeschieden" in office.get("/office").text
    assert office.get(f"/office/withdrawal?rater={R1}").url.path == "/office/invitations"
    office.get("/office/invitations")
    assert office.post("/office/invitations", {"who": R1}).status_code == 422, (
        "who has left is not invited"
    )


def test_what_was_agreed_to_is_what_happens(enter: Enter, opened: Store, site: Any) -> None:
    office = enter(who="office", role="coordinator")
    html = office.get(f"/office/withdrawal?rater={R1}").text
    digest = re.search(r'name="digest" value="([^"]*)"', html)
    assert digest is not None
    rate(site.desk, R1, "Richtig", 1)
    got = office.post("/office/withdrawal", {"rater": R1, "digest": digest[1]})
    assert got.status_code == 409
    assert not [e for e in opened.events() if e.kind == "withdrawal"]
    digest = re.search(r'name="digest" value="([^"]*)"', got.text)
    assert digest is not None
    assert office.post("/office/withdrawal", {"rater": R1, "digest": digest[1]}).status_code == 200
    assert [e for e in opened.events() if e.kind == "withdrawal"]


def test_two_leave_one_after_the_other(opened: Store, site: Any, studies: dict[str, Any]) -> None:
    study = studies["medqade"]
    withdrawal.withdraw(opened, study, R1, at=AT)
    found = withdrawal.withdraw(opened, study, R2, at=AT)
    assert found is not None
    assert found.lapsed == 6, "the third has every item already"
    assert found.before == {R3: 6}
    assert opened.verify_log() == ()
    assert site.desk.next_task(R2) is None
    with pytest.raises(StoreError, match="has withdrawn already"):
        withdrawal.withdraw(opened, study, R1, at=AT)
    with pytest.raises(StoreError, match="did you mean"):
        withdrawal.preview(opened, study, "canary-rater-9")


# Batches ------------------------------------------------------------------------------------------


def test_batches_close_and_only_an_owner_opens_them(enter: Enter, opened: Store, site: Any) -> None:
    public = site.desk.next_task(R1)
    office = enter(who="office", role="coordinator")
    office.get("/office/batches")
    office.post("/office/batches/close", {"phase": "", "batch": "", "rater": R1})
    assert site.desk.submit(R1, public, form("Richtig"), 0).closed
    assert site.desk.submit(R2, site.desk.next_task(R2), form("Richtig"), 0).is_stored
    other = site.desk.next_task(R2)
    office.post("/office/batches/close", {"phase": "", "batch": "", "rater": ""})
    assert site.desk.submit(R2, other, form("Richtig"), 0).closed
    assert site.desk.next_task(R2) is None, "what is left of it stands in nobody's way"
    where = {"phase": "", "batch": "", "reason": "a typing error"}
    assert office.post("/office/batches/open", {**where, "rater": ""}).status_code == 404
    owner = enter(who="chief", role="owner")
    owner.get("/office/batches")
    owner.post("/office/batches/open", {**where, "rater": ""})
    assert site.desk.submit(R2, site.desk.next_task(R2), form("Richtig"), 0).is_stored
    assert site.desk.submit(R1, public, form("Richtig"), 0).closed, (
        "closed for her alone, and still so"
    )
    owner.get("/office/batches")
    owner.post("/office/batches/open", {**where, "rater": R1})
    assert site.desk.submit(R1, public, form("Richtig"), 0).is_stored
    html = owner.get("/office/batches").text
    assert "wieder geöffnet: a typing error" in html
    assert batches.close(opened, "", "", at=AT), "what was opened can be closed again"
    assert not batches.close(opened, "", "", at=AT)


# Problems, recruitment ----------------------------------------------------------------------------


def test_a_problem_is_settled_with_a_note(enter: Enter, site: Any) -> None:
    site.desk.report(R1, site.desk.next_task(R1), "Die <b>Tabelle</b> fehlt.", "p1")
    office = enter(who="office", role="coordinator")
    html = office.get("/office/problems").text
    assert "Die &lt;b&gt;Tabelle&lt;/b&gt; fehlt." in html
    assert "canary-system" not in html
    assert "canary-answer" not in html
    office.post("/office/problems", {"problem": "problem p1", "note": "Text nachgetragen"})
    assert "Text nachgetragen" in office.get("/office/problems").text


def test_the_recruitment_record_is_only_added_to(enter: Enter, opened: Store) -> None:
    office = enter(who="office", role="coordinator")
    office.get("/office/recruitment")
    for numbers in (("40", "30", "20"), ("40", "28", "21")):
        data = dict(zip(("contacted", "responded", "completed"), numbers, strict=True))
        office.post("/office/recruitment", {"what": "stratum", "name": "surgery", **data})
    office.post(
        "/office/recruitment", {"what": "about", "compensation": "60 Euro", "decision": "waived"}
    )
    found = recorded(opened)
    assert [(s.name, s.people, s.lost) for s in found.flow()] == [
        ("contacted", 40, None),
        ("responded", 28, 12),
        ("completed", 21, 7),
    ]
    assert found.texts == {"compensation": "60 Euro", "decision": "waived"}
    assert len([e for e in opened.events() if e.kind == "recruitment"]) == 3
    html = office.get("/office/recruitment").text
    assert "−12 keine Antwort" in html
    assert not record(opened, *about({"compensation": "60 Euro", "decision": "waived"}), at=AT)
    assert record(opened, *stratum("surgery", {}), at=LATER)
    assert recorded(opened).strata == ()


# Downloads ----------------------------------------------------------------------------------------


def unpacked(content: bytes, folder: Path) -> Path:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        archive.extractall(folder)
    return folder / "records"


@pytest.mark.slow
def test_an_owner_downloads_everything(
    enter: Enter, opened: Store, site: Any, tmp_path: Path
) -> None:
    opened.add(Batch(items=[Item("=1+1", "=HYPERLINK('x')")]), source="test", at=AT)
    rate(site.desk, R1, "Richtig")
    owner = enter(who="chief", role="owner")
    owner.get("/office/download")
    got = owner.post("/office/download", {"format": "csv"})
    assert got.headers["content-type"] == "application/zip"
    folder = unpacked(got.content, tmp_path / "out")
    assert read_export(folder).ratings == opened.ratings()
    assert "'=HYPERLINK" in (folder / "items.csv").read_text("utf-8")
    with reading(opened.engine) as connection:
        query = sa.select(schema.audit_log.c.data).where(schema.audit_log.c.kind == "download")
        [data] = connection.execute(query).scalars()
    assert '"chief"' in data
    assert opened.verify_log() == ()


@pytest.mark.parametrize("secret", ["00" * 16, "5a" * 16])
def test_a_blind_analyst_learns_no_name(
    secret: str, enter: Enter, opened: Store, tmp_path: Path
) -> None:
    # The secret decides how each of the few pairs is turned: a chosen one, for some turn all of
    # them alike.
    with opened.engine.begin() as connection:
        connection.execute(sa.insert(schema.meta).values(key="veil_key", value=secret))
    browser = enter("pairs")
    desk = browser.client.app.state.site.desk
    while (public := desk.next_task(R1)) is not None:
        assert desk.submit(R1, public, {f"p{n}": "A much" for n in range(1, 6)}, 0).is_stored
    analyst = enter("pairs", who="stats", role="analyst")
    analyst.get("/office/download")
    folder = unpacked(
        analyst.post("/office/download", {"format": "jsonl"}).content, tmp_path / "out"
    )
    text = "".join(p.read_text("utf-8") for p in folder.iterdir())
    for told in (
        "canary-system",
        "canary-family",
        "canary-answer",
        "canary-reasoning",
        "Give it slowly",
        "Guide",
    ):
        assert told not in text
    assert {p.name for p in folder.iterdir()} == {
        "export.json",
        "items.jsonl",
        "answers.jsonl",
        "raters.jsonl",
        "tasks.jsonl",
        "ratings.jsonl",
    }
    veiled = [
        json.loads(line) for line in (folder / "ratings.jsonl").read_text("utf-8").splitlines()
    ]
    tasks = {
        t["id"]: t
        for t in map(json.loads, (folder / "tasks.jsonl").read_text("utf-8").splitlines())
    }
    written = [
        json.loads(line)["id"]
        for line in (folder / "answers.jsonl").read_text("utf-8").splitlines()
    ]
    assert written == sorted(written), (
        "the order of the rows is that of the codes; the store's would tell the systems"
    )
    assert [(r["task"], r["criterion"], r["answers"]) for r in veiled] == sorted(
        (r["task"], r["criterion"], r["answers"]) for r in veiled
    )
    for one in veiled:
        better = tasks[one["task"]]["answers"][0]
        assert one["answers"] == sorted(one["answers"])
        assert one["label"] == ("A much" if one["answers"][0] == better else "B much"), (
            "still the one on the left"
        )
    assert {one["label"] for one in veiled} == {"A much", "B much"}


def test_rows_of_a_blind_download_stand_in_the_order_of_their_codes(
    enter: Enter, opened: Store, tmp_path: Path
) -> None:
    """The store's order is that of the real names: among the five answers of a task it would tell
    the systems."""
    browser = enter("medqade")
    desk = browser.client.app.state.site.desk
    while (public := desk.next_task(R1)) is not None:
        assert desk.submit(R1, public, form("Richtig"), 0).is_stored
    analyst = enter("medqade", who="stats", role="analyst")
    analyst.get("/office/download")
    folder = unpacked(
        analyst.post("/office/download", {"format": "jsonl"}).content, tmp_path / "out"
    )
    rows = [json.loads(line) for line in (folder / "ratings.jsonl").read_text("utf-8").splitlines()]
    places = [(row["task"], row["criterion"], row["answers"]) for row in rows]
    assert len(places) == 24, "four tasks, each with five answers and one difficulty"
    assert places == sorted(places)


def test_the_log_is_checked(enter: Enter, opened: Store) -> None:
    owner = enter(who="chief", role="owner")
    owner.get("/office/log")
    assert "unversehrt" in owner.post("/office/log").text
    with opened.engine.connect() as connection:
        connection.execute(sa.text("UPDATE items SET text = 'other' WHERE id = 'canary-item-1'"))
        connection.commit()
    owner.get("/office/log")
    assert "was changed afterwards, outside konsil" in owner.post("/office/log").text


# Signs --------------------------------------------------------------------------------------------


def test_answers_that_name_somebody_are_shown_to_an_owner_alone(
    enter: Enter, opened: Store
) -> None:
    owner, analyst = enter(who="chief", role="owner"), enter(who="stats", role="analyst")
    opened.add(
        Batch(
            answers=[Answer("z", "canary-item-1", "canary-system-1", "As ChatGPT-4 I think so.")]
        ),
        source="t",
        at=AT,
    )
    assert "ChatGPT-4" in owner.get("/office/signs").text
    html = analyst.get("/office/signs").text
    assert "1 Antwort nennt" in html
    assert "ChatGPT" not in html
    assert "canary-system" not in html
    assert enter(who="office", role="coordinator").get("/office/signs").status_code == 404


def test_roles_are_what_the_routes_say() -> None:
    of = {p.name: p.audience for p in ROUTES}
    assert of["flags"] == of["download"] == {"owner", "analyst"}
    assert of["reopen_batch"] == {"owner"}
    assert all("rater" not in p.audience for p in ROUTES if p.path.startswith("/office"))  # type: ignore[operator]
