"""The set-up by its pages, without a browser: each step, and who may see them."""

from __future__ import annotations

import re
import tomllib
from html import unescape

import pytest

from konsil.api import open_folder
from small_studies import exit_code

from .conftest import ANSWERS, CASES, HOME, SYSTEMS, answers_xlsx, cases_csv, fields_of


def tables(setup):
    return setup.post(
        "data",
        "read",
        files=[
            ("file", (CASES, cases_csv(), "text/csv")),
            ("file", (ANSWERS, answers_xlsx(), "application/octet-stream")),
        ],
        title="Übelkeit & <b>Narkose</b>",
        study_language="de",
    )


def through(here, step: str, do: str = "next", **changed):
    fields = {**fields_of(here.client.get(f"/{step}").text), **changed}
    return here.post(step, do, **fields)


@pytest.fixture
def finished(setup):
    here = setup()
    tables(here)
    through(here, "data")
    for kind in ("five", "yesno", "pair3"):
        through(here, "questions", f"add {kind}")
    through(here, "questions")
    through(here, "people", "add human")
    through(here, "people", "add human", **{"p0-name": "Ärzte", "p0-number": "4"})
    through(here, "people", **{"p1-name": "Pflege"})
    through(here, "plan", **{"l0-per_item": "2", "l1-per_item": "2"})
    names = re.findall(r'name="analysis" value="([^"]+)"', here.client.get("/analyses").text)
    here.post("analyses", "next", analysis=names)
    return here


@pytest.mark.slow
def test_a_study_of_oddly_named_tables_is_set_up_without_toml(finished):
    page = finished.client.get("/save").text
    assert "Kein Problem gefunden" in page
    assert "&lt;b&gt;Narkose&lt;/b&gt;" in page and "<b>Narkose" not in page
    assert not finished.folder.exists()
    assert "Gespeichert" in finished.post("save", "save").text
    assert exit_code("check", finished.folder) == 0
    study = open_folder(finished.folder).study
    assert tuple(system.id for system in study.systems) == SYSTEMS
    assert {name: len(raters) for name, raters in study.panels().items()} == {
        "Ärzte": 4,
        "Pflege": 3,
    }
    assert [c.scope for i in study.instruments for c in i.criteria] == ["answer", "answer", "pair"]
    assert {a.statistic for a in study.analyses} == {
        *("mean", "share", "win_difference", "krippendorff_alpha", "gwet_ac1"),
    }
    assert (finished.folder / CASES).read_bytes() == cases_csv()
    assert exit_code("import", finished.folder) == 0
    assert exit_code("plan", finished.folder) == 0


@pytest.mark.slow
def test_every_guess_is_shown_with_its_reason_before_it_counts(setup):
    here = setup()
    page = tables(here).text
    assert page.count('<td><span class="mark') == 7
    assert "sources" not in here.workshop.data
    through(here, "data")
    assert len(here.workshop.data["sources"]) == 2


@pytest.mark.slow
def test_roles_that_do_not_fit_together_keep_a_table_out(setup):
    here = setup()
    tables(here)
    page = through(here, "data", **{"t1c0": "unused"}).text
    assert "Nummer der Frage" in page.partition('role="alert"')[2][:400]
    assert {s["file"] for s in here.workshop.data["sources"]} == {CASES}


@pytest.mark.slow
def test_a_question_taken_away_is_gone_and_the_others_stay(finished):
    before = finished.workshop.data["instruments"]
    through(finished, "questions", "remove 1")
    after = finished.workshop.data["instruments"]
    assert [c["id"] for c in after[0]["criteria"]] == [before[0]["criteria"][0]["id"]]
    assert after[1:] == before[1:]


@pytest.mark.slow
def test_the_reference_answer_is_shown_where_it_is_asked_for(finished):
    page = finished.client.get("/page/antworten").text
    assert "Mittel 1" not in page
    through(finished, "questions", "stay", reference="antworten")
    assert finished.workshop.data["instruments"][0]["show_reference"] is True
    assert "Mittel " in finished.client.get("/page/antworten").text
    text = finished.workshop.text
    through(finished, "questions", "stay")
    assert finished.workshop.text == text
    before = finished.client.get("/questions").text
    assert before.count(" checked>") == 1


@pytest.mark.slow
def test_the_plan_shows_hours_and_cost(finished):
    page = through(finished, "plan", "stay", pay="60").text
    hours = re.search(r"insgesamt etwa ([\d,]+) Stunden", page)[1]
    cost = re.search(r"kostet etwa ([\d.,]+)", page)[1]
    assert float(hours.replace(",", ".")) > 0
    assert abs(int(cost.rstrip(".")) - 60 * float(hours.replace(",", "."))) <= 4


@pytest.mark.slow
def test_the_page_that_raters_will_see_is_shown_without_system_names(finished):
    for form in ("antworten", "vergleich"):
        page = finished.client.get(f"/page/{form}").text
        assert "Wie behandelt man bei Fall" in page and 'class="pane"' in page
        assert "rating.js" not in page
    assert finished.client.get("/page/nothing").url.path == "/questions"


@pytest.mark.slow
def test_the_power_of_the_draft_is_simulated(finished):
    names = re.findall(r'name="analysis" value="([^"]+)"', finished.client.get("/analyses").text)
    fields = {"best": "95", "others": "40", "accuracy": "95", "studies": "10"}
    page = finished.post("analyses", "power", analysis=names, **fields).text
    assert "10 simulierten Studien" in page
    assert len(finished.room.power) > 10
    assert not list(finished.folder.parent.glob("studie*"))


def test_strangers_and_other_sites_are_refused(setup):
    here = setup()
    link = f"/start/{here.room.link}"
    assert here.client.get(link, follow_redirects=False).status_code == 401  # it works once
    here.client.cookies.clear()
    for path in ("/data", "/save", "/page/x"):
        assert here.client.get(path).status_code == 401
    assert here.post("save", "save").status_code == 401
    again = setup()
    assert again.client.get("/data", headers={"host": "evil.example"}).status_code == 403
    bad = {"csrf": "x", "title": "x"}
    post = again.client.post
    assert post("/data", data=bad, headers={"origin": HOME}).status_code == 403
    good = {"csrf": again.room.csrf, "title": "x"}
    assert post("/data", data=good, headers={"origin": "http://evil.example"}).status_code == 403
    assert post("/data", data=good).status_code == 403
    assert again.workshop.data["title"] == ""


def test_a_link_that_is_none_opens_nothing(setup):
    here = setup()
    here.room.is_open = False
    here.client.cookies.clear()
    assert here.client.get("/start/guess", follow_redirects=False).status_code == 401
    assert not here.room.is_open


@pytest.mark.slow
def test_every_page_has_the_headers_of_the_rating_pages(finished):
    from konsil.web.http.headers import ALWAYS

    for path in (
        "/data",
        "/questions",
        "/people",
        "/plan",
        "/analyses",
        "/save",
        "/page/antworten",
    ):
        response = finished.client.get(path)
        assert response.status_code == 200
        assert {k: response.headers[k] for k in ALWAYS} == ALWAYS
        assert not re.findall(r"(?:src|href)=\"(?:https?:)?//", response.text)
        assert "style=" not in response.text and "<script" not in response.text


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("../evil.csv", b"a,b\n1,2\n", "ist kein einfacher Dateiname"),
        (".hidden.csv", b"a,b\n1,2\n", "ist kein einfacher Dateiname"),
        ("x.exe", b"a,b\n1,2\n", "wird nicht unterstützt"),
        ("x.xlsx", b"PK\x03\x04 broken", "x.xlsx"),
        ("x.csv", b"", "Die Datei ist leer"),
        ("x.csv", b"a,b\n", "keine Zeile darunter"),
        ("x.csv", b'a,b\n"1,2\n', "Anführungszeichen"),
        ("study.csv", b"\x00\x01\x02", "study.csv"),
    ],
)
def test_hostile_files_are_one_sentence_and_leave_nothing(setup, name, content, says):
    here = setup()
    before = sorted(p.name for p in here.workshop.staging.iterdir())
    page = here.post("data", "read", files=[("file", (name, content, "text/csv"))], title="T").text
    [alert] = re.findall(r'<p class="notice" role="alert">(.*?)</p>', page)
    assert says in alert
    assert sorted(p.name for p in here.workshop.staging.iterdir()) == before
    assert not here.folder.exists() and not here.workshop.tables


def test_names_of_columns_are_text_on_the_page_and_in_the_file(setup):
    here = setup()
    odd = '<script>alert(1)</script>,"x"" = [""", text \nk1,a,Wie hoch ist die Dosis bei Fall eins heute?\n'
    odd += "k2,b,Wie hoch ist die Dosis bei Fall zwei heute?\n"
    here.post("data", "read", files=[("file", ("odd.csv", odd.encode(), "text/csv"))], title="T")
    page = through(here, "data", **{"t0c0": "item"}).text
    assert "<script>alert" not in page
    [source] = here.workshop.data["sources"]
    assert "<script>alert(1)</script>" in source["columns"].values()
    assert tomllib.loads(here.workshop.text) == here.workshop.data


def test_what_is_no_form_of_ours_is_refused(setup):
    here = setup()
    head = {"origin": HOME, "content-type": "multipart/form-data; boundary=x"}
    assert here.client.post("/data", content=b"--x\r\nbroken", headers=head).status_code in (
        403,
        422,
    )
    large = {**head, "content-length": str(1 << 30)}
    assert here.client.post("/data", content=b"", headers=large).status_code == 413


@pytest.mark.parametrize("protocol", ["starter", "medqade", "clexeval", "cqa-eval", "real-pocqi"])
def test_every_protocol_opens_and_gone_through_unchanged_stays_as_it_is(setup, tmp_path, protocol):
    folder = tmp_path / "there"
    assert exit_code("new", folder, "--protocol", protocol) == 0
    here = setup(folder)
    text = here.workshop.text
    for step in ("questions", "people", "plan"):
        through(here, step)
        assert here.workshop.text == text, step
    page = here.client.get("/analyses").text
    names = re.findall(r'name="analysis" value="([^"]+)" checked', page)
    here.post("analyses", "next", analysis=[unescape(name) for name in names])
    through(here, "data")
    assert here.workshop.text == text
    assert "Nichts wurde geändert" in here.client.get("/save").text


def test_a_change_of_an_existing_study_is_shown_and_keeps_comments(setup, tmp_path):
    folder = tmp_path / "there"
    assert exit_code("new", folder) == 0
    former = (folder / "study.toml").read_text("utf-8")
    here = setup(folder)
    through(here, "questions", **{"q0-question": "Is it <i>right</i>?"})
    page = here.client.get("/save").text
    assert page.count("<del>") == 1 and page.count("<ins>") == 1
    assert "&lt;i&gt;right" in page and "<i>right" not in page
    assert "Gespeichert" in here.post("save", "save").text
    now = (folder / "study.toml").read_text("utf-8")
    changed = [
        pair
        for pair in zip(former.splitlines(), now.splitlines(), strict=True)
        if len(set(pair)) > 1
    ]
    assert changed == [
        ('question = "Is the answer correct?"', 'question = "Is it <i>right</i>?"'),
    ]
    [copy] = folder.glob("study.toml.*")
    assert copy.read_text("utf-8") == former
