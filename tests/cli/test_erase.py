"""Erasing a rater from the command line, and what every other command says afterwards."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

import konsil
from konsil.store.people.people import Person, note_person

Call = Callable[..., tuple[int, str, str]]

PROTOCOL = """
title = "A study"
seed = 1
licence = "CC-BY-4.0"
[privacy]
retention = 2035-12-31
[[instruments]]
id = "form"
criteria = [
  { id = "correct", question = "?", scale = { labels = ["no", "yes"] } },
  { id = "words", question = "?", scope = "item", scale = { kind = "text" } },
]
[[systems]]
id = "a"
[[raters]]
id = "physician-1"
panel = "panel"
[[raters]]
id = "physician-2"
panel = "panel"
[[sources]]
file = "ratings.csv"
records = "ratings"
[sources.columns]
item = "item"
system = "system"
rater = "rater"
label = "label"
criterion = "criterion"
[[analyses]]
name = "share of yes"
statistic = "share"
of = ["yes"]
criterion = "correct"
raters = "panel"
"""
WHO = ("--by", "owner-1", "--reason", "asked by letter")


@pytest.fixture
def study(call: Call, tmp_path: Path) -> Path:
    """Two raters of six items; the first one's words are of no other."""
    (tmp_path / "study.toml").write_text(PROTOCOL, "utf-8")
    rows = ["item,system,rater,criterion,label"]
    for n in range(6):
        for rater in (1, 2):
            rows.append(f"q{n},a,physician-{rater},correct,{'yes' if (n + rater) % 2 else 'no'}")
            rows.append(f"q{n},,physician-{rater},words,{'wallaby' if rater == 1 else 'nothing'}")
    (tmp_path / "ratings.csv").write_text("\n".join(rows) + "\n", "utf-8")
    code, _, err = call("import", tmp_path)
    assert (code, err) == (0, "")
    with konsil.open(tmp_path).store() as store:
        note_person(store, Person("physician-1", "Ada Quokka", "quokka@clinic.example"))
    return tmp_path


def erase(call: Call, study: Path, *more: str) -> tuple[int, str, str]:
    return call("erase", study, "physician-1", *WHO, *(more or ("--yes",)))


def keeping(study: Path) -> None:
    text = PROTOCOL.replace("[privacy]\n", '[privacy]\nratings_after_erasure = "keep"\n')
    (study / "study.toml").write_text(text, "utf-8")


def test_what_will_be_erased_is_stated_before(call: Call, study: Path) -> None:
    code, out, err = erase(call, study)
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[:2] == [
        "physician-1: to be erased: 12 in ratings, 1 in people",
        "ratings: 12 ratings are erased, with all earlier values; analyses state how many",
    ]
    assert "not erased: backups, copies before an update (konsil-schema*.db)" in lines[2]
    assert lines[3].startswith("physician-1: erased on 20")
    files = b"".join(path.read_bytes() for path in study.glob("konsil.db*"))
    for word in (b"wallaby", b"Quokka", b"quokka@"):
        assert word not in files


@pytest.mark.slow
def test_the_studys_choice_is_stated_before(call: Call, study: Path) -> None:
    keeping(study)
    code, out, _ = erase(call, study)
    assert code == 0
    assert (
        "ratings: 6 ratings are erased (free texts); 6 ratings stay under the identifier, without"
        ' notes and times (ratings_after_erasure = "keep")' in out.splitlines()
    )
    with konsil.open(study).store() as store:
        assert {r.criterion for r in store.ratings() if r.rater == "physician-1"} == {"correct"}
    assert b"wallaby" not in (study / "konsil.db").read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("typed", "code"), [("physician-1\n", 0), ("physician-2\n", 2), ("y\n", 2), ("", 2)]
)
def test_without_yes_the_identifier_is_typed_again(
    call: Call, study: Path, monkeypatch: pytest.MonkeyPatch, typed: str, code: int
) -> None:
    import io

    monkeypatch.setattr("sys.stdin", io.StringIO(typed))
    before = (study / "ratings.csv").read_bytes(), _counts(study)
    found, _, err = call("erase", study, "physician-1", *WHO)
    assert found == code
    if code:
        assert "is not the identifier 'physician-1'; nothing was erased" in err
        assert before == ((study / "ratings.csv").read_bytes(), _counts(study))
    else:
        assert _counts(study)["ratings"] == 12


def _counts(study: Path) -> dict[str, int]:
    with konsil.open(study).store() as store:
        return store.counts()


def test_who_is_not_known_is_one_sentence(call: Call, study: Path) -> None:
    code, out, err = call("erase", study, "physican-1", *WHO, "--yes")
    assert (code, out) == (2, "")
    assert (
        err == "konsil: rater: there is no person 'physican-1' among the raters; did you mean"
        " 'physician-1'?\n"
    )


@pytest.mark.slow
def test_a_second_time_nothing_is_left(call: Call, study: Path) -> None:
    erase(call, study)
    before = call("verify-log", study)
    code, out, err = call(
        "erase", study, "physician-1", "--by", "owner-2", "--reason", "again", "--yes"
    )
    assert (code, err) == (0, "")
    assert out.startswith("physician-1 was erased on 20")
    assert out.endswith(" by staff-1; nothing is left to erase\n")
    assert call("verify-log", study) == before


def test_the_log_is_whole_and_states_what_was_erased(call: Call, study: Path) -> None:
    _, out, _ = call("verify-log", study)
    head = out.splitlines()[-1].removeprefix("head: ")
    erase(call, study)
    code, out, _ = call("verify-log", study, "--expect", head)
    assert code == 0
    assert (
        out.splitlines()[0]
        == "audit log verified: chain and records intact, 13 records of 1 rater erased"
    )
    _, out, _ = call("verify-log", study, "--json")
    assert json.loads(out)["erased"] == {"records": 13, "raters": 1}
    code, out, _ = call("log", study, "--kind", "erasure")
    assert code == 0
    assert "erasure  physician-1  by staff-1 (owner-1)" in out
    assert "(asked by letter)" in out


@pytest.mark.parametrize(
    ("language", "said"),
    [
        (
            "en",
            (
                "The data of 1 rater were erased on request; 12 ratings are missing from all"
                " analyses for this reason."
            ),
        ),
        (
            "de",
            (
                "Auf Verlangen wurden die Daten von 1 bewertenden Person gelöscht; deshalb fehlen"
                " in allen Analysen 12 Bewertungen."
            ),
        ),
    ],
)
@pytest.mark.slow
def test_analyses_and_report_go_on_and_state_how_much_is_missing(
    call: Call, study: Path, language: str, said: str
) -> None:
    erase(call, study)
    (study / "study.toml").write_text(
        PROTOCOL.replace("seed = 1", f'seed = 1\nlanguage = "{language}"', 1), "utf-8"
    )
    assert call("analyse", study)[0] == 0
    assert call("report", study)[0] == 0
    assert said in (study / "report" / "index.html").read_text("utf-8")
    assert {r.rater for r in konsil.open(study).data().ratings} == {"physician-2"}


def test_ratings_that_stay_are_analysed(call: Call, study: Path) -> None:
    keeping(study)
    erase(call, study)
    assert call("report", study)[0] == 0
    text = (study / "report" / "index.html").read_text("utf-8")
    assert (
        "6 ratings are missing from all analyses for this reason, and 6 ratings remain without"
        " notes" in text
    )


def test_exports_have_nothing_of_it_and_the_files_do_not_bring_it_back(
    call: Call, study: Path, tmp_path: Path
) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    assert call("export", study, old)[0] == 0
    erase(call, study)
    assert call("export", study, new)[0] == 0
    texts = b"".join(path.read_bytes() for path in new.iterdir())
    assert b"wallaby" not in texts
    assert b"asked by letter" in texts
    # The files of the study still have it; so does the older export.
    code, out, _ = call("import", study)
    assert code == 0
    assert (
        "12 ratings are excluded: the rater's data were erased; delete them in the files too" in out
    )
    code, _, err = call("import", study, "--export", old)
    assert code == 2
    assert "the data of 'physician-1' were erased and cannot be imported again" in err
    assert _counts(study)["ratings"] == 12
    assert call("verify-log", study)[0] == 0
    assert call("import", study, "--export", new)[0] == 0


def test_an_export_of_what_is_left_can_be_read_into_a_new_database(
    call: Call, study: Path, tmp_path: Path
) -> None:
    keeping(study)
    erase(call, study)
    assert call("export", study, tmp_path / "out")[0] == 0
    copy = tmp_path / "copy"
    copy.mkdir()
    (copy / "study.toml").write_bytes((study / "study.toml").read_bytes())
    code, _, err = call("import", copy, "--export", tmp_path / "out")
    assert (code, err) == (0, "")
    assert call("report", copy)[0] == 0
    assert "6 ratings remain" in (copy / "report" / "index.html").read_text("utf-8")


def test_who_was_erased_is_not_invited_again(call: Call, study: Path) -> None:
    erase(call, study)
    code, _, err = call("invite", study, "--who", "physician-1", "--url", "https://x.org")
    assert code == 2
    assert "the data of 'physician-1' were erased" in err


@pytest.mark.slow
@pytest.mark.parametrize(("day", "over"), [("2999-12-31", False), ("2020-12-31", True)])
def test_how_long_personal_data_are_kept_is_stated(
    call: Call, study: Path, day: str, over: bool
) -> None:
    (study / "study.toml").write_text(PROTOCOL.replace("2035-12-31", day), "utf-8")
    late = (
        f"the retention period of personal data ended on {day}: erase them, or state a later"
        " date in study.toml"
    )
    code, out, _ = call("check", study)
    assert code == 0
    assert f"  {late if over else f'personal data are kept until {day}'}\n" in out
    code, out, _ = call("status", study)
    assert code == 0
    assert (f"  {late}\n" in out) == over
    assert ("personal data" in out) == over
    assert call("report", study)[0] == 0
    text = (study / "report" / "index.html").read_text("utf-8")
    assert f"Personal data of raters are kept until {day}." in text


@pytest.mark.slow
@pytest.mark.parametrize("keep", [False, True])
def test_a_release_has_nothing_of_who_was_erased_but_labels_that_stay(
    call: Call, study: Path, tmp_path: Path, keep: bool
) -> None:
    if keep:
        keeping(study)
    erase(call, study)
    code, _, err = call("export", study, tmp_path / "out", "--release", "--k", "1")
    assert code == 0
    assert err.count("\n") == 1 and err.startswith("note: datacite.json and croissant.json lack")
    texts = {
        path.name: path.read_text("utf-8", "replace")
        for path in (tmp_path / "out").iterdir()
        if path.is_file()
    }
    assert not [name for name, text in texts.items() if "wallaby" in text or "physician-1" in text]
    assert len(pl.read_parquet(tmp_path / "out" / "raters.parquet")) == (2 if keep else 1)
