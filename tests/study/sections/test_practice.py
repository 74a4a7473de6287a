"""What a practice explains: by answer, whatever its letter, and only after practice."""

from __future__ import annotations

import dataclasses

import pytest

from konsil.errors import StudyError
from konsil.instrument import Criterion, Instrument, Scale, fields
from konsil.plan import Allocation
from konsil.records import Rater, Span, System, Task
from konsil.study import Study, check
from konsil.study.sections.practice import Explanation, explained

FORM = Instrument(
    "form",
    (
        Criterion("right", "?", Scale(("no", "yes"))),
        Criterion("hard", "?", Scale(("a", "b")), "item"),
    ),
)
SIDES = Scale(("A much better", "A better", "equal", "B better", "B much better"), level="ordinal")
PAIR = Instrument("pair", (Criterion("better", "?", SIDES, "pair"),), unit="pair")
LINES = Instrument(
    "lines", (Criterion("safe", "?", Scale(("no", "yes")), "sentence"),), unit="sentence"
)
WHY = Explanation("p1", "right", "no", "Ten times the dose.", "s1")
SYSTEMS = {"x": "s1", "y": "s2"}
TASK = Task("t", "t", "r", "form", "p1", ("y", "x"), purpose="practice")


def test_an_explanation_stands_at_its_answer_whatever_its_letter() -> None:
    for answers, name in ((("y", "x"), "right.a2"), (("x", "y"), "right.a1")):
        task = dataclasses.replace(TASK, answers=answers)
        assert explained([WHY], task, SYSTEMS, fields(FORM, task)) == {
            name: ("no", "Ten times the dose.")
        }


@pytest.mark.parametrize("change", [{"purpose": "main"}, {"purpose": "pilot"}, {"item": "p2"}])
def test_nothing_else_is_explained(change: dict[str, str]) -> None:
    task = dataclasses.replace(TASK, **change)
    assert explained([WHY], task, SYSTEMS, fields(FORM, task)) == {}


def test_a_comparison_is_read_as_it_stands_here() -> None:
    why = Explanation("p1", "better", "A much better", "It is complete.", "s1")
    for answers, label in ((("x", "y"), "A much better"), (("y", "x"), "B much better")):
        task = dataclasses.replace(TASK, instrument="pair", answers=answers)
        assert explained([why], task, SYSTEMS, fields(PAIR, task)) == {
            "better": (label, "It is complete.")
        }


def test_sentences_and_the_item_itself() -> None:
    lines = dataclasses.replace(
        TASK, instrument="lines", answers=("x",), spans=(Span(0, 2), Span(3, 5))
    )
    why = Explanation("p1", "safe", "yes", "Because.", "s1", 2)
    assert explained([why], lines, SYSTEMS, fields(LINES, lines)) == {
        "safe.s2": ("yes", "Because.")
    }
    hard = Explanation("p1", "hard", "b", "Rare.")
    assert explained([hard], TASK, SYSTEMS, fields(FORM, TASK)) == {"hard": ("b", "Rare.")}


def study(*explanations: Explanation, purpose: str = "practice") -> Study:
    return Study(
        "A study",
        1,
        instruments=(FORM, PAIR, LINES),
        systems=(System("s1", "f"), System("s2", "f")),
        raters=(Rater("r", "raters"),),
        plan=tuple(Allocation("raters", i, purpose=purpose) for i in ("form", "pair", "lines")),  # type: ignore[arg-type]
        explanations=explanations,
    )


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (
            {"criterion": "rihgt"},
            "explanations[0].criterion: no practice task contains 'rihgt'; did you mean 'right'?",
        ),
        ({"label": "nope"}, "explanations[0].label: there is no label 'nope'"),
        ({"system": "s3"}, "explanations[0].system: there is no system 's3'"),
        ({"sentence": 1}, "explanations[0].sentence: the criterion is about no sentence"),
        (
            {"criterion": "better", "label": "equal", "system": ""},
            "explanations[0].system: is missing",
        ),
        ({"criterion": "safe"}, "explanations[0].sentence: expected the number of a sentence"),
    ],
)
def test_what_is_wrong_with_an_explanation_is_said(change: dict[str, object], told: str) -> None:
    with pytest.raises(StudyError) as error:
        check(study(dataclasses.replace(WHY, **change)))
    assert told in str(error.value)


def test_sentences_one_at_a_time_have_no_number_to_explain() -> None:
    why = Explanation("p1", "safe", "yes", "Because.", "s1", 2)
    check(study(why))
    alone = dataclasses.replace(LINES, present="sentence")
    with pytest.raises(StudyError) as error:
        check(dataclasses.replace(study(why), instruments=(FORM, PAIR, alone)))
    assert str(error.value) == (
        "study.toml: explanations[0].sentence: the instrument 'lines' shows each sentence on a page"
        " of its own, where sentences have no numbers; practise on an instrument with present ="
        " 'answer'"
    )
    check(dataclasses.replace(study(WHY), instruments=(FORM, PAIR, alone)))


def test_explanations_need_a_practice() -> None:
    with pytest.raises(
        StudyError, match="there is no practice; expected a plan with purpose = 'practice'"
    ):
        check(study(WHY, purpose="main"))
    check(study(WHY))
