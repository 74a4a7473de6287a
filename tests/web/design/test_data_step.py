"""The first step by its forms: how a file is read, its layout, its first row, names of systems."""

from __future__ import annotations

import re
from html import unescape

import pytest

from fake_server import running
from small_studies import exit_code

from . import odd_tables
from .conftest import fields_of


def through(here, do: str = "stay", files=(), **changed):
    fields = {**fields_of(here.client.get("/data").text), **changed}
    return here.post("data", do, files, **fields)


def chosen(setup, name: str, content: bytes):
    here = setup(language="en")
    here.post("data", "read", files=[("file", (name, content, "text/csv"))], title="T")
    return here


def items_of(page: str) -> list[str]:
    """What the first row is asked back with."""
    rows = page.partition('-first">')[2].partition("</div>")[0]
    return [
        unescape(re.sub(r"<[^>]+>", "", row)).strip()
        for row in re.findall(r"<li>.*?(?=<li>|$)", rows)
    ]


def test_a_file_is_read_anew_by_changed_settings_and_leaves_nothing_behind(setup):
    """Kills: raters, systems and questions of the former reading that stay in the study."""
    here = chosen(setup, "noten.csv", odd_tables.a_column_for_each_rater())
    assert (
        "rows above the names: 1; rows of names: 1; decimal commas" in here.client.get("/data").text
    )
    through(here)
    assert len(here.workshop.data["raters"]) == 3 and len(here.workshop.data["systems"]) == 2
    through(here, "next", **{"t0-skip": "2"})
    loaded = here.workshop.tables["noten.csv"]
    assert loaded.table.settings.skip == 2 and not loaded.is_used
    assert here.workshop.data.keys().isdisjoint(("raters", "systems", "sources", "instruments"))
    through(here, **{"t0-skip": "1"})
    page = through(here).text
    assert items_of(page)[1] == "Did Dr. Adler rate the answer of Alpha “2.0”?"
    [source] = [s for s in here.workshop.data["sources"] if s["records"] == "ratings"]
    stated = {key: source[key] for key in ("encoding", "separator", "decimal", "skip")}
    assert stated == {"encoding": "cp1252", "separator": ";", "decimal": ",", "skip": 1}


@pytest.mark.parametrize(
    ("setting", "value"), [("encoding", "nonsense"), ("skip", "9000"), ("separator", "xx")]
)
def test_a_setting_that_does_not_fit_is_a_sentence_and_changes_nothing(setup, setting, value):
    here = chosen(setup, "noten.csv", odd_tables.a_column_for_each_rater())
    through(here)
    before, text = here.workshop.tables["noten.csv"].table.settings, here.workshop.text
    page = through(here, "next", **{f"t0-{setting}": value}).text
    assert page.count('role="alert"') == 1
    assert here.workshop.tables["noten.csv"].table.settings == before
    assert here.workshop.text == text


def test_the_layout_is_chosen_and_the_roles_follow(setup):
    """Kills: a choice that changes the words of the page alone."""
    rows = [f"{k},{'yes' if k % 3 else 'no'},{'no' if k % 2 else 'yes'}" for k in range(1, 13)]
    here = chosen(setup, "plain.csv", "\n".join(["item,Alpha,Beta", *rows]).encode())
    through(here, **{"t0-form": "wide"})
    assert here.workshop.tables["plain.csv"].form == "wide"
    page = through(here).text
    assert items_of(page)[1:] == ["Did Alpha rate it “yes”?", "Did Beta rate it “no”?"]
    through(here, **{"t0-form": "raters-in-rows"})
    assert here.workshop.data.get("raters") is None


def test_systems_are_called_otherwise_in_all_tables_and_back(setup):
    """Kills: a former name that stays as a system of the study."""
    here = chosen(setup, "noten.csv", odd_tables.a_column_for_each_rater())
    through(here)
    through(here, **{"s0-name": "GPT & Co"})
    data = here.workshop.data
    assert [system["id"] for system in data["systems"]] == ["GPT & Co", "Beta 2"]
    [source] = [s for s in data["sources"] if s["records"] == "ratings"]
    assert source["values"]["system"] == {"Alpha": "GPT & Co"}
    assert "GPT &amp; Co" in here.client.get("/data").text
    through(here, **{"s0-name": "Alpha"})
    assert [system["id"] for system in here.workshop.data["systems"]] == ["Alpha", "Beta 2"]
    assert "values" not in str(here.workshop.data["sources"])
    through(here, "remove noten.csv")
    assert "systems" not in here.workshop.data and "raters" not in here.workshop.data


def rated_by(shift: int) -> bytes:
    rows = [
        f"{k},{model},{'yes' if (k + m + shift) % 3 else 'no'}"
        for k in range(1, 13)
        for m, model in enumerate(odd_tables.MODELS)
    ]
    return "\n".join(["Case,Model,Correct", *rows]).encode()


@pytest.mark.slow
def test_a_file_for_each_rater_names_her_and_comes_to_table_2(setup):
    here = setup(language="en")
    names = ("adler.csv", "Brandt.csv")
    files = [("file", (n, rated_by(k), "text/csv")) for k, n in enumerate(names)]
    here.post("data", "read", files=files, title="T", study_language="en")
    page = through(here, "next").text
    assert 'role="alert"' not in page
    data = here.workshop.data
    assert sorted(s["fixed"]["rater"] for s in data["sources"]) == ["Brandt", "adler"]
    assert len(data["raters"]) == 2 and len(data["instruments"][0]["criteria"]) == 1
    assert here.workshop.problems() == ()


@pytest.mark.slow
def test_models_that_answer_are_tried_and_their_answers_collected(setup, monkeypatch):
    monkeypatch.setenv("TRIAL_KEY", "sk-Secret-1")
    here = chosen(setup, "faelle.csv", odd_tables.questions_of_an_office())
    through(here, "add model")
    with running() as address:
        typed = {"m0-url": f"{address}/v1", "m0-model": "m-1", "m0-key_env": "TRIAL_KEY"}
        page = through(here, "try 0", **{"m0-name": "GPT", **typed}).text
        assert "It replied:" in page and "sk-Secret-1" not in page + here.workshop.text
        assert here.workshop.data["systems"][0]["id"] == "GPT"
        through(here, "add model")
        here_page = through(here, "drop 1").text
        assert here_page.count('-url"') == 1
        through(here)
        assert [s["id"] for s in here.workshop.data["systems"]] == ["GPT"]
    refused = through(here, **{"m0-key_env": "sk-Secret-1"}).text
    assert refused.count('role="alert"') == 1 and "sk-Secret-1" not in refused
    through(here, "drop 0")
    assert here.workshop.data.keys().isdisjoint(("systems", "endpoints"))


def test_two_files_of_a_name_are_two_tables_and_each_source_reads_its_own(setup):
    """Kills: the second file in the place of the first; a source that names the other's file."""
    here = setup(language="en")
    files = [("file", ("ratings.csv", rated_by(k), "text/csv")) for k in range(2)]
    files.append(("file", ("RATINGS.csv", rated_by(2), "text/csv")))
    page = here.post("data", "read", files=files, title="T").text
    names = ["ratings.csv", "ratings (2).csv", "RATINGS (3).csv"]
    assert [*here.workshop.tables] == names
    assert page.count("Another table is called ratings.csv") == 1
    raters = {f"t{n}-rater": rater for n, rater in enumerate(("k1", "k2", "k3"))}
    through(here, "next", **raters)
    read = {s["fixed"]["rater"]: s["file"] for s in here.workshop.data["sources"]}
    assert read == dict(zip(("k1", "k2", "k3"), names, strict=True))
    for k, name in enumerate(names):
        assert (
            (here.workshop.staging / name).read_bytes() == rated_by(k) == here.workshop.added[name]
        )
    # The same file once more is the same table, with what was chosen of it.
    through(here, "read", files=files[:1])
    assert [*here.workshop.tables] == names
    assert here.workshop.tables["ratings.csv"].fixed == {"rater": "k1"}


def test_a_new_study_is_in_the_language_of_the_pages_until_another_is_stated(setup):
    """Kills: German pages whose study, and with it its rating pages, is in English."""
    here = setup(language="de", study_language=None)
    assert here.workshop.language == "de"
    here.post("language", language="en", back="/data")
    assert here.workshop.language == "en"
    here.post("language", language="de", back="/data")
    here.post(
        "data", "read", files=[("file", ("noten.csv", odd_tables.a_column_for_each_rater(), ""))]
    )
    through(here)
    [form] = here.workshop.data["instruments"]
    assert (here.workshop.language, form["language"]) == ("de", "de")
    through(here, study_language="en")
    [form] = here.workshop.data["instruments"]
    assert (here.workshop.language, form["language"]) == ("en", "en")
    here.post("language", language="de", back="/data")
    assert here.workshop.language == "en"


def test_the_language_that_was_stated_is_not_that_of_the_pages(setup, tmp_path):
    assert setup(language="de", study_language="en").workshop.language == "en"
    assert exit_code("new", tmp_path / "there") == 0
    existing = setup(tmp_path / "there", language="de", study_language=None)
    assert existing.workshop.language == "en" and not existing.workshop.is_changed()


def answers_of(word: str) -> bytes:
    rows = (
        f"{k},Which dose is given to case {k} before the operation?,{word} {'is given slowly into the vein. ' * 3}{k}"
        for k in range(1, 9)
    )
    return "\n".join(["id,question,answer", *rows]).encode()


def test_a_single_column_of_answers_names_no_system(setup):
    """Kills: two files of answers that are one system called 'answer'."""
    here = setup(language="en")
    files = [("file", (f"{w}.csv", answers_of(w), "text/csv")) for w in ("oxygen", "fluid")]
    here.post("data", "read", files=files, title="T")
    through(here)
    assert [system["id"] for system in here.workshop.data["systems"]] == ["oxygen", "fluid"]


def test_unicode_text_of_a_spreadsheet_program_is_read_without_a_setting(setup):
    """Kills: advice to set an encoding on a page that has no field for it yet."""
    table = odd_tables.a_column_for_each_rater().decode("cp1252")
    here = chosen(setup, "noten.txt", table.replace(";", "\t").encode("utf-16"))
    settings = here.workshop.tables["noten.txt"].table.settings
    assert (settings.encoding, settings.separator) == ("utf-16", "\t")
    through(here)
    assert here.workshop.data["sources"][-1]["encoding"] == "utf-16"
