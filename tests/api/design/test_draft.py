"""A draft beside its folder: nothing is written before saving, nothing is lost by it."""

from __future__ import annotations

import os
import stat
from dataclasses import replace
from pathlib import Path

import pytest

from konsil.api.design.draft import Draft
from konsil.api.design.saving import save
from konsil.api.design.serving import DraftWorkshop, check_place
from konsil.api.design.user_tables import check_name, read_user_table
from konsil.design.edits import differences
from konsil.design.lines import Line, with_lines
from konsil.design.models import models_of, with_models
from konsil.design.people import Panel, panels_of, with_panels
from konsil.design.questions import Question, questions_of, with_questions
from konsil.errors import SourceError, StudyError
from small_studies import exit_code


def opened(folder: Path, name: str = "staging") -> Draft:
    staging = folder.parent / name
    staging.mkdir()
    return Draft(folder, staging)


@pytest.fixture
def starter(tmp_path: Path) -> Path:
    assert exit_code("new", tmp_path / "s") == 0
    return tmp_path / "s"


def contents(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def test_opened_and_saved_without_a_change_nothing_is_written(starter: Path):
    before = contents(starter)
    draft = opened(starter)
    assert not draft.is_changed() and draft.differences() == () and draft.problems() == ()
    assert save(draft) == ()
    assert contents(starter) == before


def test_a_change_keeps_the_former_file_and_everything_else(starter: Path):
    before = contents(starter)
    (starter / "study.toml").chmod(0o640)
    draft = opened(starter)
    draft.change({**draft.data, "title": "Another title"})
    assert contents(starter) == before
    kept, name = save(draft)
    assert name == "study.toml"
    after = contents(starter)
    assert after.pop(kept) == before["study.toml"]
    assert after.pop("study.toml").decode() == before["study.toml"].decode().replace(
        '"A study of my own"', '"Another title"'
    )
    before.pop("study.toml")
    assert after == before
    if os.name != "nt":
        modes = {stat.S_IMODE((starter / n).stat().st_mode) for n in (kept, name)}
        assert modes == {0o640}
    # A second change keeps both former files.
    draft.change({**draft.data, "title": "A third"})
    again, _ = save(draft)
    assert again != kept and (starter / kept).is_file()


def test_a_file_that_changed_meanwhile_is_not_overwritten(starter: Path):
    draft = opened(starter)
    draft.change({**draft.data, "title": "Mine"})
    protocol = starter / "study.toml"
    protocol.write_text(protocol.read_text("utf-8").replace("seed = 2026", "seed = 1"), "utf-8")
    before = contents(starter)
    with pytest.raises(StudyError, match="changed by another program"):
        save(draft)
    assert contents(starter) == before


def test_a_table_never_takes_the_place_of_another(starter: Path):
    draft = opened(starter)
    with pytest.raises(SourceError, match="another file of this name"):
        draft.add_table("items.csv", b"a,b\n1,2\n")
    draft.add_table("new.csv", b"id,text\n1,2\n")
    (starter / "new.csv").write_bytes(b"mine")
    with pytest.raises(StudyError, match="nothing was overwritten"):
        save(draft)
    assert (starter / "new.csv").read_bytes() == b"mine"


def test_tables_that_lie_there_can_be_taken(starter: Path):
    (starter / "more.csv").write_text("Nr,Frage\n7,Was tun bei einer Synkope im Stehen heute?\n")
    (starter / ".secret.csv").write_text("a\n1\n")
    draft = opened(starter)
    assert draft.loose_files() == ("more.csv",)
    draft.take_loose("more.csv")
    assert draft.added == {} and draft.loose_files() == ()
    with pytest.raises(SourceError, match="there is no such table"):
        draft.take_loose("items.csv")
    with pytest.raises(SourceError, match="plain name"):
        draft.take_loose("../../etc/passwd.csv")


def test_a_new_folder_is_made_whole_or_not_at_all(tmp_path: Path, monkeypatch):
    draft = opened(tmp_path / "new")
    draft.change({**draft.data, "title": "T"})
    draft.add_table("a.csv", b"id,text\n1,2\n")
    import konsil.api.design.saving as saving

    def broken(_: Path) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(saving, "write_schema", broken)
    with pytest.raises(OSError, match="disk full"):
        save(draft)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["staging"]
    monkeypatch.undo()
    assert set(save(draft)) == {"study.toml", "study.schema.json", "a.csv"}
    assert not draft.is_new and not draft.is_changed()


def test_ratings_that_exist_bring_their_questions_and_raters(tmp_path: Path):
    draft = opened(tmp_path / "new")
    rows = ["Reviewer,Fall,Modell,Quality,Could it harm?"]
    rows += [
        f"{r},{k},{m},{1 + (k + len(m)) % 5},{'yes' if k % 3 else 'no'}"
        for r in ("ab", "cd")
        for k in range(6)
        for m in ("one", "three")
    ]
    loaded = draft.add_table("forms.csv", "\n".join(rows).encode())
    draft.use_table("forms.csv", loaded.roles)
    draft.change({**draft.data, "title": "T"})
    assert draft.problems() == ()
    [form] = draft.data["instruments"]
    assert [(c["id"], c["scale"]["level"]) for c in form["criteria"]] == [
        ("quality", "ordinal"),
        ("could-it-harm", "nominal"),
    ]
    assert [r["id"] for r in draft.data["raters"]] == ["ab", "cd"]
    save(draft)
    assert exit_code("import", tmp_path / "new") == 0


def _imported(draft: Draft) -> str:
    draft.change({**draft.data, "title": "T"})
    assert draft.problems() == ()
    save(draft)
    assert exit_code("import", draft.folder) == 0
    return (draft.folder / "study.toml").read_text("utf-8")


def test_two_systems_of_a_table_have_two_names(tmp_path: Path):
    """Kills: half of the answers are lost where two systems are called alike."""
    draft = opened(tmp_path / "new")
    rows = [f"Question {k}?,Answer {k} of the first,Answer {k} of the second" for k in range(8)]
    body = "\n".join(["question,Alpha answer,Beta answer", *rows])
    loaded = draft.add_table("answers.csv", body.encode())
    draft.use_table("answers.csv", loaded.roles)
    assert len(draft.systems()) == 2
    former = dict(draft.systems())
    with pytest.raises(SourceError):
        draft.rename_systems(dict.fromkeys(former, "Gamma"))
    assert draft.systems() == former
    draft.rename_systems(dict(zip(former, ("Gamma", "Delta"), strict=True)))
    assert {*draft.systems().values()} == {"Gamma", "Delta"}


def test_a_table_with_a_column_for_each_rater_is_imported(tmp_path: Path):
    draft = opened(tmp_path / "new")
    rows = [f"q{k},{'Yes' if k % 3 else 'no'},{'Yes' if k % 4 else 'no'}" for k in range(30)]
    body = "\n".join(["item,anna,ben", *rows])
    loaded = draft.add_table("wide.csv", body.encode())
    draft.use_table("wide.csv", loaded.roles)
    text = _imported(draft)
    [source] = draft.data["sources"]
    assert source["raters"] == {"anna": "rater-1", "ben": "rater-2"}
    [criterion] = draft.data["instruments"][0]["criteria"]
    assert set(criterion["scale"]["labels"]) == {"Yes", "no"}
    assert source["fixed"] == {"criterion": criterion["id"]} and "rater-1" in text


def test_a_table_with_a_column_for_each_rater_and_question_is_imported(tmp_path: Path):
    draft = opened(tmp_path / "new")
    names = ("Dr. Müller", "Dr. Rossi")
    heads = [f"{name} {what}" for what in ("correct?", "safe (1-5)") for name in names]
    rows = [
        f"{k},{m},{'acne' if k % 2 else 'rash'},"
        + ",".join("yes" if (k + n) % 3 else "no" for n in range(2))
        + ","
        + ",".join(str(1 + (k * 7 + n + len(m)) % 5) for n in range(2))
        for k in range(20)
        for m in ("GPT-5", "Llama")
    ]
    body = "\n".join([",".join(["Q no.", "Model", "Topic", *heads]), *rows])
    loaded = draft.add_table("sheet.csv", body.encode())
    draft.use_table("sheet.csv", loaded.roles)
    _imported(draft)
    items, *ratings = draft.data["sources"]
    assert items["strata"] == ["Topic"] and items["records"] == "items"
    assert [s["fixed"]["criterion"] for s in ratings] == ["correct", "safe-1-5"]
    assert ratings[1]["raters"] == {
        "Dr. Müller safe (1-5)": "rater-1",
        "Dr. Rossi safe (1-5)": "rater-2",
    }
    scales = [c["scale"]["labels"] for c in draft.data["instruments"][0]["criteria"]]
    assert [set(labels) for labels in scales] == [{"yes", "no"}, set("12345")]


def test_a_table_with_a_row_for_each_rater_is_imported(tmp_path: Path):
    draft = opened(tmp_path / "new")
    items = [f"u{n}" for n in range(1, 13)]
    rows = [",".join([r, *(str(1 + (n * k) % 4) for n in range(12))]) for k, r in enumerate("ABC")]
    body = "\n".join([",".join(["rater", *items]), *rows])
    loaded = draft.add_table("rows.csv", body.encode())
    draft.use_table("rows.csv", loaded.roles)
    _imported(draft)
    assert [s["fixed"]["item"] for s in draft.data["sources"]] == items
    assert [r["id"] for r in draft.data["raters"]] == ["A", "B", "C"]


FORMS = "Reviewer,Fall,Modell,Quality,Could it harm?\n" + "".join(
    f"{r},{k},{m},{1 + (k + len(m)) % 5},{'yes' if k % 3 else 'no'}\n"
    for r in ("ab", "cd")
    for k in range(6)
    for m in ("one", "three")
)


def ids_in(draft: Draft) -> tuple[list[str], list[str]]:
    raters = [rater["id"] for rater in draft.data.get("raters", ())]
    return raters, [q.id for q in questions_of(draft.data)]


def test_going_back_leaves_no_rater_and_no_question_behind(tmp_path: Path):
    draft = opened(tmp_path / "new")
    roles = dict(draft.add_table("forms.csv", FORMS.encode()).roles)
    # Somebody first takes another column for the raters, and the group for a question.
    wrong = {**roles, "Reviewer": "label_of_criterion", "Modell": "rater"}
    draft.use_table("forms.csv", wrong)
    assert ids_in(draft) == (["one", "three"], ["reviewer", "quality", "could-it-harm"])
    draft.use_table("forms.csv", roles)
    assert ids_in(draft) == (["ab", "cd"], ["quality", "could-it-harm"])
    draft.use_table("forms.csv", {**roles, "Reviewer": "unused"})
    assert ids_in(draft) == ([], []) and "sources" not in draft.data
    draft.use_table("forms.csv", roles)
    draft.remove_table("forms.csv")
    assert ids_in(draft) == ([], [])
    assert {"retrospective", "systems", "sources"}.isdisjoint(draft.data)


def test_going_back_takes_nothing_that_the_user_stated(tmp_path: Path):
    draft = opened(tmp_path / "new")
    draft.change(with_questions(draft.data, [Question("Is it short?", "yesno")]))
    draft.change(with_panels(draft.data, [Panel("experts", 2)]))
    roles = dict(draft.add_table("forms.csv", FORMS.encode()).roles)
    draft.use_table("forms.csv", roles)
    former = draft.data
    panels = [replace(p, name="readers") if p.name == "raters" else p for p in panels_of(former)]
    draft.change(with_panels(former, panels))
    draft.use_table("forms.csv", roles)
    assert [r["panel"] for r in draft.data["raters"]] == ["experts"] * 2 + ["readers"] * 2
    draft.remove_table("forms.csv")
    assert ids_in(draft) == (["expert-1", "expert-2"], ["is-it-short"])


def test_ratings_that_exist_make_a_new_study_retrospective(tmp_path: Path, starter: Path):
    draft = opened(tmp_path / "new")
    draft.use_table("forms.csv", draft.add_table("forms.csv", FORMS.encode()).roles)
    assert draft.data["retrospective"] is True
    # Of a study that is there, its file is the word: its plan may be older than the ratings.
    other = opened(starter, "other")
    other.use_table("forms.csv", other.add_table("forms.csv", FORMS.encode()).roles)
    assert "retrospective" not in other.data


@pytest.mark.parametrize(
    ("change", "needs"),
    [
        ({"title": ""}, ("title",)),
        ({"instruments": None}, ("questions", "lines")),
        ({"raters": None, "plan": None}, ("raters", "lines")),
        ({"plan": None}, ("lines",)),
        ({}, ()),
    ],
)
def test_what_a_draft_lacks_before_it_is_saved(tmp_path: Path, change, needs):
    draft = opened(tmp_path / "new")
    draft.change({**draft.data, "title": "T"})
    draft.change(with_questions(draft.data, [Question("Is it short?", "yesno")]))
    draft.change(with_panels(draft.data, [Panel("experts", 2)]))
    draft.change(with_lines(draft.data, [Line("experts", "answers")]))
    assert draft.needs() == ()
    data = {**draft.data, **change}
    if "instruments" in change:
        data.pop("plan")
    draft.change({key: value for key, value in data.items() if value is not None})
    assert draft.needs() == needs


def test_a_judge_that_is_planned_needs_a_model(tmp_path: Path):
    draft = opened(tmp_path / "new")
    draft.change({**draft.data, "title": "T", "systems": [{"id": "a"}]})
    draft.change(with_questions(draft.data, [Question("Is it short?", "yesno")]))
    draft.change(with_panels(draft.data, [Panel("judges", 1, "llm")]))
    draft.change(with_lines(draft.data, [Line("judges", "answers")]))
    assert draft.needs() == ("models",)
    [judge] = models_of(draft.data)
    model = replace(judge, url="http://127.0.0.1:1/v1", model="m")
    draft.change(with_models(draft.data, [model]))
    assert draft.needs() == () and draft.problems() == ()


def test_a_table_left_out_takes_its_systems_and_sources_along(tmp_path: Path):
    draft = opened(tmp_path / "new")
    text = draft.text
    body = "Nr,GPT-5,Claude\n" + "".join(
        f"{k},This is a long answer of one {k} to it.,This is a long answer of two {k}.\n"
        for k in range(4)
    )
    loaded = draft.add_table("a.csv", body.encode())
    draft.use_table("a.csv", loaded.roles)
    assert [s["id"] for s in draft.data["systems"]] == ["GPT-5", "Claude"]
    draft.remove_table("a.csv")
    assert draft.data == {**draft.data} and "systems" not in draft.data
    assert differences(text, draft.text) == ()
    assert not (draft.staging / "a.csv").exists()


def test_the_outlook_of_a_study_without_tables_is_of_pretended_items(tmp_path: Path):
    (tmp_path / "staging").mkdir()
    draft = DraftWorkshop(tmp_path / "new", tmp_path / "staging")
    data = {**draft.data, "title": "T", "systems": [{"id": "a"}, {"id": "b"}]}
    data = with_panels(with_questions(data, [Question("Good?")]), [Panel("p", 3)])
    draft.change(with_lines(data, [Line("p", "answers", per_item=2)]))
    found = draft.outlook()
    assert found.is_pretended and len(found.items) == 60
    [work] = found.work
    assert (work.raters, work.screens, work.least_screens, work.most_screens) == (3, 120, 40, 40)
    assert draft.outlook() is found
    draft.change({**draft.data, "seed": 2})
    assert draft.outlook() is not found


def test_files_that_the_protocol_names_come_along_and_what_lies_elsewhere_does_not(starter: Path):
    (starter / "texts").mkdir()
    (starter / "codebook.en.md").rename(starter / "texts" / "book.md")
    (starter.parent / "outside.csv").write_text("item,text\nq1,x\n")
    protocol = starter / "study.toml"
    text = protocol.read_text("utf-8").replace("codebook.en.md", "texts/book.md")
    protocol.write_text(
        text + '\n[[sources]]\nfile = "../outside.csv"\nrecords = "items"\n', "utf-8"
    )
    place = starter.parent / "deep"
    place.mkdir()
    (place / "staging").mkdir()
    Draft(starter, place / "staging")
    assert (place / "staging" / "texts" / "book.md").is_file()
    assert sorted(p.name for p in place.iterdir()) == ["staging"]


def test_what_is_wrong_in_a_file_is_said_before_anything_is_changed(starter: Path):
    (starter / "study.toml").write_text("title = ")
    with pytest.raises(StudyError, match="not valid TOML"):
        opened(starter)
    with pytest.raises(StudyError, match="is a file"):
        check_place(starter / "study.toml")


@pytest.mark.parametrize(
    ("encoding", "separator", "ending"),
    [("utf-8", ",", ".csv"), ("cp1252", ";", ".csv"), ("utf-8-sig", "\t", ".tsv")],
)
def test_encodings_and_separators_are_found(tmp_path: Path, encoding, separator, ending):
    place = tmp_path / f"x{ending}"
    place.write_bytes(f"Fälle{separator}Größe\nä{separator}1\n".encode(encoding))
    table = read_user_table(place)
    assert [c.name for c in table.columns] == ["Fälle", "Größe"]
    assert table.settings.encoding == ("cp1252" if encoding == "cp1252" else "")
    assert table.settings.separator == (";" if separator == ";" else "")


@pytest.mark.parametrize(
    "name", ["", ".", "..", "a/b.csv", "a\\b.csv", ".x.csv", "a\nb.csv", "x.py"]
)
def test_names_that_are_no_plain_names_of_tables_are_refused(name):
    with pytest.raises(SourceError):
        check_name(name)
