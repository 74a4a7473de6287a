"""What a protocol may say of an adjudication, and which analyses may ask for labels after one."""

from __future__ import annotations

from dataclasses import replace

import pytest

from konsil.instrument import Scale
from konsil.records import Source
from konsil.study import check
from konsil.study.definition.adjudication import Adjudication
from konsil.study.sections.enrolment import Enrolment

from .rules.test_check import HOURS, KAPPA, STUDY, told


@pytest.mark.parametrize(
    ("rules", "line"),
    [
        (
            Adjudication("expert"),
            "adjudication.panel: there is no panel 'expert'; did you mean 'experts'?",
        ),
        (Adjudication("experts", steps=0), "adjudication.steps: expected more than 0, got 0"),
        (
            Adjudication("experts", ("corect",)),
            "adjudication.criteria: there is no criterion 'corect'; did you mean 'correct'?",
        ),
        (
            Adjudication("experts", ("why",)),
            (
                "adjudication.criteria: 'why' is a free text; expected a criterion with labels or"
                " numbers"
            ),
        ),
    ],
)
def test_each_fault_of_an_adjudication(rules: Adjudication, line: str) -> None:
    assert told(replace(STUDY, adjudication=rules)) == [f"study.toml: {line}"]
    check(
        replace(
            STUDY, adjudication=Adjudication("experts", ("correct", "hours"), 2.0, names="shown")
        )
    )


def test_labels_after_need_an_adjudication_here_or_elsewhere() -> None:
    late = replace(STUDY, analyses=(replace(KAPPA, adjudication="after"),))
    assert told(late) == [
        "study.toml: analyses[0].adjudication: 'after' needs an [adjudication], which the study"
        " does not have"
    ]
    check(replace(late, adjudication=Adjudication("experts")))
    check(replace(late, sources=(Source("ratings.csv", "ratings"),)))


def test_a_unit_belongs_to_numbers_and_extra_places_are_some() -> None:
    form = replace(STUDY.instruments[0], criteria=(*STUDY.instruments[0].criteria[:2], HOURS))
    graded = replace(
        form, criteria=(replace(form.criteria[0], scale=Scale(("no", "yes"), unit="mg")),)
    )
    assert told(replace(STUDY, instruments=(graded,)))[0].endswith(
        "unit: a scale of kind 'choice' has no unit; it belongs to kind 'number'"
    )
    [line] = told(replace(STUDY, enrolment=Enrolment(most_extra=0)))
    assert line == "study.toml: enrolment.most_extra: expected 1 or more, got 0"
