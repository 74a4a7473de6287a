"""`check` opens the files, compares them with the forms and tries every analysis, before anything
is imported."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from konsil.api import open_folder
from konsil.api.folder.blinded import freeze
from konsil.api.running.checking import findings, unanswered_note
from konsil.api.running.planning import make_plan
from konsil.errors import StudyError
from konsil.store import Batch

AT = "2025-03-01T12:00:00Z"
STUDY = """
title = "Answers and pairs"
seed = 1
{top}
[[instruments]]
id = "form"
[[instruments.criteria]]
id = "quality"
question = "How good?"
scale = {{ labels = ["bad", "fair", "good"], level = "ordinal" }}
[[instruments]]
id = "pairs"
unit = "pair"
[[instruments.criteria]]
id = "better"
question = "Which is better?"
scope = "pair"
scale = {{ labels = ["A", "equal", "B"], level = "ordinal" }}
[[systems]]
id = "a"
[[systems]]
id = "b"
[[raters]]
id = "r1"
panel = "people"
[[raters]]
id = "r2"
panel = "people"
[[sources]]
file = "items.csv"
records = "items"
strata = ["field"]
[[sources]]
file = "quality.csv"
records = "ratings"
fixed = {{ criterion = "quality" }}
[[analyses]]
name = "kappa"
statistic = "cohen_kappa"
criterion = "quality"
raters = "people"
by = ["system"]
{more}
"""
ITEMS = "item,text,field\ni1,Why?,heart\ni2,How?,lung\n"
RATINGS = "rater,item,system,label\n" + "".join(
    f"r{n},i{k},{s},{'good' if n == k else 'bad'}\n" for n in (1, 2) for k in (1, 2) for s in "ab"
)


@pytest.fixture
def problems(tmp_path: Path) -> Callable[..., list[str]]:
    def run(
        *, more: str = "", top: str = "", ratings: str | None = RATINGS, items: str = ITEMS
    ) -> list[str]:
        """What check says, without the file's name and the line, which tests of their own are
        about."""
        protocol = tmp_path / "study.toml"
        protocol.write_text(STUDY.format(more=more, top=top), "utf-8")
        (tmp_path / "items.csv").write_text(items, "utf-8")
        if ratings is not None:
            (tmp_path / "quality.csv").write_text(ratings, "utf-8")
        try:
            found = tuple(map(str, findings(open_folder(tmp_path)).problems))
        except StudyError as error:
            found = tuple(str(error).split("\n"))
        place = re.compile(rf"{re.escape(str(protocol))}:\d+:\d+: ")
        assert all(place.match(problem) for problem in found)
        assert not (tmp_path / "konsil.db").exists()
        return [place.sub("", problem, count=1) for problem in found]

    return run


def analysis(statistic: str, criterion: str = "quality", more: str = "") -> str:
    return (
        f'[[analyses]]\nname = "slip"\nstatistic = "{statistic}"\ncriterion = "{criterion}"\nraters'
        f' = "people"\n{more}'
    )


def test_a_sound_study_has_no_problem(problems: Callable[..., list[str]]) -> None:
    assert problems() == []


@pytest.mark.parametrize(
    "statistic",
    ["win_rate", "win_difference", "davidson", "margin", "choice_kappa", "position_bias"],
)
def test_comparisons_need_a_criterion_about_pairs(
    problems: Callable[..., list[str]], statistic: str
) -> None:
    assert problems(more=analysis(statistic)) == [
        f"analysis 'slip', statistic: {statistic!r} needs comparisons; criterion 'quality' is"
        " not a choice about a pair of answers"
    ]
    assert problems(more=analysis(statistic, "better")) == []


def test_ensembles_vote_on_two_labels(problems: Callable[..., list[str]]) -> None:
    more = analysis("ensembles_pabak", more='against = "people"\n').replace(
        'raters = "people"', 'raters = "people"'
    )
    assert (
        "analysis 'slip', statistic: 'ensembles_pabak' needs 2 labels, got 3; recode them with"
        " collapse" in problems(more=more)
    )


def test_an_analysis_is_tried_on_the_files(problems: Callable[..., list[str]]) -> None:
    """Each rater labels an item's two answers, which one table of two raters does not tell apart
    when merged."""
    again = RATINGS.replace("rater,", "phase,rater,").replace("\nr", "\none,r") + RATINGS.partition(
        "\n"
    )[2].replace("r1,", "two,r1,").replace("r2,", "two,r2,")
    (found,) = problems(ratings=again)
    assert (
        found == "analysis 'kappa': rater 'r1' labelled item 'i1' 2 times; select one with where"
        " (instrument, phase, batch) or arm"
    )
    assert problems(ratings=again, more='where = { phase = ["one"] }') == []


def test_columns_are_those_of_the_files(problems: Callable[..., list[str]]) -> None:
    (found,) = problems(more=analysis("abstention", more='by = ["feld"]\n'))
    assert found == "analysis 'slip', by: ratings will have no column 'feld'; did you mean 'field'?"
    assert problems(more=analysis("abstention", more='by = ["field"]\n')) == []
    (found,) = problems(more=analysis("abstention", more='leave_out = ["feld"]\n'))
    assert found.startswith("analysis 'slip', leave_out: ratings will have no column 'feld';")


def test_a_derived_column_needs_a_name_of_its_own(problems: Callable[..., list[str]]) -> None:
    derived = (
        '[[derived]]\nname = "field"\ncriterion = "quality"\nraters = "people"\n'
        'bins = [{ label = "x", low = 0, high = 9 }]\n'
    )
    assert (
        problems(more=derived)[0]
        == "derived column 'field', name: ratings have a column 'field' already; choose another"
        " name"
    )


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        (
            {"ratings": RATINGS.replace("label", "score", 1)},
            "source 'quality.csv': quality.csv: ratings need",
        ),
        (
            {"ratings": RATINGS.replace("r1,i1,a,good", "r1,i1,a,gut")},
            "sources: quality.csv: 1 problem",
        ),
        (
            {"ratings": RATINGS.replace("r1,i1,a,good", "r1,i1,good")},
            "source 'quality.csv': quality.csv: ",
        ),
        (
            {"items": "item,text,field\ni1,,\n\x00"},
            "source 'items.csv': items.csv: line 3 contains a zero byte",
        ),
    ],
)
def test_a_fault_of_a_file_names_its_source(
    problems: Callable[..., list[str]], changes: dict[str, str], sentence: str
) -> None:
    (found,) = problems(**changes)
    assert found.startswith(sentence)


def test_every_file_is_read_whatever_is_wrong_with_another(
    problems: Callable[..., list[str]],
) -> None:
    found = problems(items="item,text,field\ni1,\x00,\n", ratings="rater\n")
    assert [p.split(":")[0] for p in found] == ["source 'items.csv'", "source 'quality.csv'"]


def test_a_file_that_is_not_there_yet_is_no_problem_unless_its_name_is_misspelt(
    problems: Callable[..., list[str]], tmp_path: Path
) -> None:
    assert problems(ratings=None) == []
    assert findings(open_folder(tmp_path)).absent == ("quality.csv",)
    (tmp_path / "qualitiy.csv").write_text(RATINGS)
    assert problems(ratings=None) == [
        "source 'quality.csv', file: there is no file 'quality.csv'; did you mean 'qualitiy.csv'?"
    ]


def test_stored_ratings_are_tried_first(problems: Callable[..., list[str]], tmp_path: Path) -> None:
    problems()
    open_folder(tmp_path).import_sources()
    (tmp_path / "quality.csv").unlink()
    protocol = tmp_path / "study.toml"
    protocol.write_text(protocol.read_text().replace('by = ["system"]', 'items = "core"'))
    (found,) = map(str, findings(open_folder(tmp_path)).problems)
    assert "analysis 'kappa'" in found
    assert "there is no set of items 'core'" in found


def test_checking_a_blinded_study_is_no_look_at_its_results(
    problems: Callable[..., list[str]], tmp_path: Path
) -> None:
    problems(top="blinded = true")
    opened = open_folder(tmp_path)
    opened.import_sources()
    with opened.store() as store:
        before = store.events()
    assert findings(opened).problems == ()
    with opened.store() as store:
        assert store.events() == before


def test_units_without_a_majority_take_no_omissions_of_raters(
    problems: Callable[..., list[str]],
) -> None:
    rater = '[[raters]]\nid = "r9"\npanel = "people"\nstrata = { home = "x" }\n'
    for column in ("rater", "home"):
        more = analysis("without_majority", more=f'leave_out = ["{column}"]\n') + rater
        found = problems(more=more)
        assert any(f"{column!r} cannot be omitted from 'without_majority'" in p for p in found), (
            found
        )


UNANSWERED = """
title = "No answers"
seed = 1
[[instruments]]
id = "form"
[[instruments.criteria]]
id = "quality"
question = "How good?"
scale = { labels = ["bad", "good"] }
[[systems]]
id = "a"
[[raters]]
id = "r1"
panel = "people"
[[plan]]
panel = "people"
instrument = "form"
[[sources]]
file = "items.csv"
records = "items"
"""


ENDPOINT = """
[[endpoints]]
id = "e"
url = "http://127.0.0.1:1"
"""


def test_answers_without_texts_are_noted_until_they_are_there(tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(UNANSWERED)
    (tmp_path / "items.csv").write_text("item,text\ni1,Why?\ni2,How?\n")
    note = (
        "2 items have no answer with a text: raters see empty boxes; import the answers before"
        " raters start"
    )
    folder = open_folder(tmp_path)
    assert findings(folder).notes == (note,)
    folder.import_sources()
    # The plan stands for the answers with rows that have no text.
    assert len(make_plan(folder).tasks) == 2
    assert findings(folder).notes == (note,)
    assert unanswered_note(folder) == note
    with folder.store() as store:
        empty = store.answers()[0]
        store.add(
            Batch(
                answers=(
                    dataclasses.replace(
                        empty,
                        id="x",
                        text="So.",
                    ),
                )
            ),
            source="t",
            at=AT,
        )
    assert findings(folder).notes == ()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('[[plan]]\npanel = "people"\ninstrument = "form"\n', ""),
        ('id = "a"', 'id = "a"\nmodel = "e:m"'),
    ],
)
def test_where_texts_come_later_or_are_not_needed_nothing_is_noted(
    before: str, after: str, tmp_path: Path
) -> None:
    text = UNANSWERED.replace(before, after)
    assert text != UNANSWERED
    if after:
        text += ENDPOINT
    (tmp_path / "study.toml").write_text(text)
    (tmp_path / "items.csv").write_text("item,text\ni1,Why?\n")
    assert findings(open_folder(tmp_path)).notes == ()


PAIRS = """title = "Two judges, two people"
seed = 1
{together}
[[instruments]]
id = "form"
[[instruments.criteria]]
id = "correct"
question = "Is the answer correct?"
scale = {{ labels = ["no", "yes"] }}
[[raters]]
id = "j1"
panel = "judges"
kind = "llm"
{people}
[[analyses]]
name = "judges"
statistic = "cohen_kappa"
criterion = "correct"
{analysis}
"""
AGAINST = 'raters = "judges"\nagainst = "humans"'


@pytest.mark.parametrize(
    ("n", "together", "analysis", "expected"),
    [
        (1, "", AGAINST, {"panel of 1 rater": True, "two raters": False}),
        (2, "", AGAINST, {"panel of": False, "two raters": True, "'humans'": True}),
        (2, "", f'{AGAINST}\nmode = "paper"', {}),
        (3, "", AGAINST, {}),
        (
            2,
            'together = { everybody = ["judges", "humans"] }',
            'raters = "everybody"\nby = ["rater_pair"]',
            {},
        ),
    ],
)
def test_a_panel_of_one_or_two_is_named_before_any_rating(
    tmp_path: Path, n: int, together: str, analysis: str, expected: dict[str, bool]
) -> None:
    """Kills the mutants of the limits and of the mode; the keys of the advice are valid."""
    people = "\n".join(f'[[raters]]\nid = "h{k}"\npanel = "humans"' for k in range(n))
    text = PAIRS.format(together=together, people=people, analysis=analysis)
    (tmp_path / "study.toml").write_text(text)
    found = findings(open_folder(tmp_path))
    # One rater cannot be left out: no benchmark of this design can ever be estimated.
    sentences = [*(p.sentence for p in found.problems), *found.notes]
    assert len(sentences) == bool(expected) and len(found.problems) == (n == 1)
    for sentence in sentences:
        assert {part: part in sentence for part in expected} == expected


def test_a_list_of_panels_is_answered_with_the_keys_to_write(tmp_path: Path) -> None:
    """Kills the mutant that answers at other keys, and the one that exchanges the panels."""
    people = '[[raters]]\nid = "h1"\npanel = "humans"'
    listed = 'raters = ["judges", "humans"]'
    text = PAIRS.format(together="", people=people, analysis=listed)
    (tmp_path / "study.toml").write_text(text)
    with pytest.raises(StudyError) as caught:
        open_folder(tmp_path)
    assert str(caught.value).endswith(
        '; to take panels together, write together = { everybody = ["judges", "humans"] } above the'
        ' first table and raters = "everybody"; to compare two panels, write raters = "judges" and'
        ' against = "humans"'
    )
    (tmp_path / "study.toml").write_text(text.replace(listed, AGAINST).replace('"h1"', '["h1"]'))
    with pytest.raises(StudyError) as caught:
        open_folder(tmp_path)
    assert "together" not in str(caught.value)


TWO_FAMILIES = """
title = "Two families"
seed = 4
judges_of_same_family = "flag"
systems = [{ id = "s1", family = "F" }, { id = "s2", family = "G" }]
raters = [
    { id = "e1", panel = "experts" },
    { id = "e2", panel = "experts" },
    { id = "j1", panel = "judges", kind = "llm", family = "F", strata = { system = "s1" } },
    { id = "j2", panel = "judges", kind = "llm", family = "G", strata = { system = "s2" } },
]
[[instruments]]
id = "form"
[[instruments.criteria]]
id = "quality"
question = "How good?"
scale = { labels = ["1", "2", "3"], level = "ordinal" }
[[analyses]]
name = "own"
statistic = "self_preference"
criterion = "quality"
raters = "judges"
against = "experts"
question_kind = "change"
"""
"""Each judge is a system, and none is of a third family: its own answers have no comparison."""


def test_what_the_design_cannot_answer_is_a_problem_until_the_plan_is_frozen(
    tmp_path: Path,
) -> None:
    (tmp_path / "study.toml").write_text(TWO_FAMILIES, "utf-8")
    kind, need = findings(open_folder(tmp_path)).problems
    assert (kind.analysis, kind.line, need.line) == ("own", 24, 20)
    assert kind.sentence.endswith("not change; expected 'compare' with the condition that changes")
    assert "statistic: 'self_preference' can never be estimated with this" in need.sentence
    assert "a judge of a third model family" in need.sentence
    assert findings(open_folder(tmp_path)).notes == ()
    freeze(open_folder(tmp_path), "ada")
    frozen = findings(open_folder(tmp_path))
    assert frozen.problems == ()
    assert [note.partition(";")[0].partition(" with this")[0] for note in frozen.notes] == [
        "analysis 'own': the analysis answers a question of the kind difference, level or judge_against_people, not change",
        "analysis 'own': 'self_preference' can never be estimated",
    ]
