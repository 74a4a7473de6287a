"""Edits of study.toml: nothing changed is the same bytes, one change is one hunk, comments stay."""

from __future__ import annotations

import copy
import tomllib
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import konsil
from konsil.design.blocks import blocks_of
from konsil.design.edits import differences, edited
from konsil.design.lines import lines_of, with_lines
from konsil.design.people import Panel, panels_of, with_panels
from konsil.design.proposals import proposals, with_analyses
from konsil.design.questions import Question, questions_of, with_questions
from konsil.errors import StudyError

FILES = sorted(Path(konsil.__file__).parent.rglob("study*.toml"))
TEXTS = {str(path.parent.name) + "/" + path.name: path.read_text("utf-8") for path in FILES}
STARTER = TEXTS["starter/study.toml"]


def hunks(before: str, after: str) -> int:
    return sum(line.startswith("@@") for line in differences(before, after))


def comments(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.lstrip().startswith("#")]


@pytest.mark.parametrize("name", TEXTS)
def test_opened_and_left_alone_a_file_is_the_same_bytes(name):
    text = TEXTS[name]
    data = tomllib.loads(text)
    assert blocks_of(text).written() == text
    chosen = [p.name for p in proposals(data, is_new=False) if p.is_chosen]
    for same in (
        data,
        with_questions(data, questions_of(data)),
        with_panels(data, panels_of(data)),
        with_lines(data, lines_of(data)),
        with_analyses(data, chosen),
    ):
        assert edited(text, same) == text


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("key", ["title", "question", "rater", "analysis", "blinded", "draws"])
def test_one_change_is_one_hunk_and_no_comment_is_lost(name, key):
    text = TEXTS[name]
    data = tomllib.loads(text)
    after = copy.deepcopy(data)
    match key:
        case "title":
            after["title"] = 'Another "title"'
        case "question":
            after["instruments"][0]["criteria"][0]["question"] = "Is it new?"
        case "rater":
            after.setdefault("raters", []).append({"id": "new", "panel": "new"})
        case "analysis":
            del after["analyses"][1]
        case "blinded":
            after["blinded"] = not data.get("blinded", False)
        case "draws":
            after.setdefault("resampling", {})["draws"] = 77
    new = edited(text, after)
    assert tomllib.loads(new) == after
    assert hunks(text, new) == 1
    assert set(comments(text)) <= {line.split("  #")[0] for line in comments(new)} | set(
        comments(new)
    )


def test_keys_that_are_new_stand_before_the_first_table_and_after_the_directive():
    assert edited("#:schema ./s.json\n# Why.\n[a]\nb = 1\n", {"t": 1, "a": {"b": 1}}) == (
        "#:schema ./s.json\nt = 1\n# Why.\n[a]\nb = 1\n"
    )


def test_a_line_in_a_text_that_looks_like_a_header_is_none():
    text = 'a = """\n[x]\n[[y]]\n"""\nb = [\n  [1],\n]\n\n[z]\nc = 1\n'
    assert [child.path for child in blocks_of(text).children] == [("z",)]
    assert edited(text, {**tomllib.loads(text), "z": {"c": 2}}) == text.replace("c = 1", "c = 2")


def test_a_list_within_the_line_stays_there():
    text = "title = 't'\nraters = [{ id = 'a', panel = 'p' }] # who\n"
    data = tomllib.loads(text)
    data["raters"].append({"id": "b", "panel": "p"})
    new = edited(text, data)
    assert tomllib.loads(new) == data and "# who" in new and "[[" not in new


def test_what_cannot_be_edited_is_refused_and_not_lost():
    """Dotted keys make a table that no header names."""
    with pytest.raises(StudyError, match="cannot be edited here"):
        edited("a.b = 1\n[a.c]\nd = 1\n", {"a": {"b": 2, "c": {"d": 2}}, "e": {"f": 1}})


names = st.text("abcdefgh -\"'#[]=\\äß\n", min_size=1, max_size=12)
entries = st.lists(
    st.fixed_dictionaries(
        {"id": names, "panel": names},
        optional={"strata": st.dictionaries(names, names, max_size=2)},
    ),
    max_size=5,
    unique_by=lambda rater: rater["id"],
)


@settings(max_examples=80, deadline=None)
@given(before=entries, after=entries, title=names)
def test_any_change_of_a_list_is_written_as_it_is(before, after, title):
    first = {"title": "t", "raters": before} if before else {"title": "t"}
    text = edited("# head\n", first)
    assert tomllib.loads(text) == first
    second = {"title": title, "raters": after} if after else {"title": title}
    new = edited(text, second)
    assert tomllib.loads(new) == second
    assert edited(new, first).startswith("# head\n") or "# head" in new


def test_a_panel_renamed_is_renamed_in_plan_and_analyses():
    data = tomllib.loads(TEXTS["demo/study.toml"])
    panels = [
        Panel("doctors" if p.name == "physicians" else p.name, p.number, p.kind, p.name)
        for p in panels_of(data)
    ]
    after = with_panels(data, [*panels, Panel("physicians", 1)])
    assert {line["panel"] for line in after["plan"]} == {"doctors", "judges"}
    assert "physicians" not in {a["raters"] for a in after["analyses"]}
    assert sum(r["panel"] == "doctors" for r in after["raters"]) == 5
    assert [r["panel"] for r in after["raters"]].count("physicians") == 1


def test_two_panels_of_one_name_are_refused():
    with pytest.raises(StudyError, match="two panels are called 'p'"):
        with_panels({}, [Panel("p", 1), Panel("p", 2)])


def test_fewer_raters_take_the_last_and_their_judges_with_them():
    data = {
        "raters": [{"id": f"j{n}", "panel": "judges", "kind": "llm"} for n in (1, 2, 3)],
        "judges": [{"rater": "j1", "model": "x:y"}, {"rater": "j3", "model": "x:y"}],
    }
    after = with_panels(data, [Panel("judges", 2, "llm", "judges")])
    assert [r["id"] for r in after["raters"]] == ["j1", "j2"]
    assert [j["rater"] for j in after["judges"]] == ["j1"]


def test_another_scale_replaces_the_labels_and_keeps_the_identifier():
    data = with_questions({"language": "de"}, [Question("Gut?", "five")])
    [question] = questions_of(data)
    assert question.labels[0] == "1 sehr schlecht"
    changed = Question("Gut?", "yesno", id=question.id, instrument=question.instrument)
    [criterion] = with_questions(data, [changed])["instruments"][0]["criteria"]
    assert criterion["id"] == question.id
    assert criterion["scale"] == {"labels": ["Nein", "Ja"], "level": "nominal"}


def test_analyses_are_proposed_for_what_is_planned_alone():
    data = with_questions({}, [Question("Good?", "five"), Question("Which?", "pair3")])
    data = with_panels(data, [Panel("a", 3), Panel("b", 2, "llm")])
    lines = [line for line in lines_of(data, is_new=True) if line.panel == "a"]
    proposed = proposals(with_lines(data, lines), is_new=True)
    assert {(p.panel, p.entry["statistic"]) for p in proposed} == {
        ("a", "mean"),
        ("a", "krippendorff_alpha"),
        ("a", "win_difference"),
    }
    assert all(p.is_chosen for p in proposed)
    again = proposals(with_lines(data, lines_of(data, is_new=True)), is_new=True)
    assert ("b", "a") in {(p.panel, p.other) for p in again if p.purpose == "against"}


@pytest.mark.parametrize(
    ("people", "purposes"), [(1, set()), (2, {"against two"}), (3, {"against"})]
)
def test_judges_are_compared_with_a_majority_or_with_two_people(
    people: int, purposes: set[str]
) -> None:
    """Kills the mutants of both limits: of one rater alone there is no agreement to compare with."""
    data = with_questions({}, [Question("Good?", "yesno")])
    data = with_panels(data, [Panel("a", people), Panel("b", 2, "llm")])
    data = with_lines(data, lines_of(data, is_new=True))
    assert {p.purpose for p in proposals(data, is_new=True) if p.other == "a"} == purposes


def test_raters_of_a_new_panel_are_numbered_from_one():
    after = with_panels({}, [Panel("physicians", 2), Panel("nurses", 1)])
    assert [r["id"] for r in after["raters"]] == ["physician-1", "physician-2", "nurse-1"]


def test_a_section_that_is_taken_away_leaves_its_neighbours_as_they_are():
    text = "# head\ntitle = 't'\n\n[prepare]\nseed = 1\n\n# kept\n[resampling]\ndraws = 9\n"
    data = tomllib.loads(text)
    del data["prepare"]
    new = edited(text, data)
    assert tomllib.loads(new) == data
    assert "# kept\n[resampling]\ndraws = 9\n" in new
