"""Analyses of one question that differ in their criterion: one sentence, one figure, one table."""

from __future__ import annotations

from dataclasses import replace

import pytest

from konsil.analysis import Analysis, Results, Row
from konsil.analysis.model.options import CriterionRef
from konsil.errors.message import message
from konsil.instrument import Criterion, Instrument, Scale
from konsil.records import System
from konsil.report.answers.answers import AnswerView, first_page
from konsil.report.material.language import language
from konsil.report.material.overview import Material
from konsil.report.material.tables import Numbers
from konsil.stats.engine.contract import Estimate
from konsil.study import Study

WINS = Analysis("wins", "win_difference", "accuracy", "people", question="Who wins?")
CHANGE = replace(WINS, by=("arm",), compare="arm", test="none")
MEAN = replace(WINS.with_statistic("mean"), by=("system",))
CRITERIA = ("accuracy", "utility", "brevity")
LIKERT = Scale(("1", "2", "3"), level="ordinal")


def of(spec: Analysis, criterion: str) -> Analysis:
    return replace(spec, name=f"{spec.name} {criterion}", criterion=CriterionRef(criterion))


def row(spec: Analysis, value: float, p: float, **group: str) -> Row:
    e = Estimate(value, value - 0.1, value + 0.1, p=p, n_clusters=40)
    return Row(
        spec.name, spec.statistic, spec.criterion, "people", e, group, p_adjusted=p, n_units=40
    )


def answers(
    *parts: tuple[Analysis, tuple[Row, ...]], code: str = "en", scales: tuple[Scale, ...] = ()
) -> tuple[AnswerView, ...]:
    scales = scales or (LIKERT,) * len(CRITERIA)
    criteria = [Criterion(c, f"{c}?", s) for c, s in zip(CRITERIA, scales, strict=True)]
    spoken = language(code)
    material = Material(
        study=Study(
            "t",
            1,
            systems=(System("a"), System("b")),
            instruments=(Instrument("form", tuple(criteria)),),
            analyses=tuple(spec for spec, _ in parts),
        ),
        results=Results(tuple(r for _, rows in parts for r in rows), ()),
        items=(),
        answers=(),
        raters=(),
        ratings=(),
        language=spoken,
        numbers=Numbers(spoken),
    )
    return first_page(material).questions[0].answers


def wins(
    values: dict[str, tuple[float, float]], p: float
) -> list[tuple[Analysis, tuple[Row, ...]]]:
    return [
        (
            of(WINS, c),
            tuple(row(of(WINS, c), v, p, system=s) for s, v in zip("ab", two, strict=True)),
        )
        for c, two in values.items()
    ]


def test_each_system_is_named_once_with_its_criteria() -> None:
    values = {"accuracy": (0.3, -0.3), "utility": (0.2, -0.05), "brevity": (0.25, 0.02)}
    [view] = answers(*wins(values, 0.001))
    assert view.sentence.startswith(
        "Win difference: above 0 for a (all 3 criteria), below 0 for b (accuracy);"
        " farthest from 0 for a, accuracy, 30.0 percentage points (95% CI, 20.0 to 40.0;"
    )
    assert view.numbers.startswith("3 analyses")
    assert [(p.name, p.title) for p in view.parts] == [(f"wins {c}", c) for c in CRITERIA]
    assert view.figure is not None and view.figure.key.startswith("answer-who-wins")
    assert (
        "accuracy, a: 30.0 percentage points; accuracy, b: −30.0 percentage points;"
        in view.figure.description
    )
    assert view.table is not None and len(view.table.rows) == 6
    links = [r[-1].href for r in view.table.rows]
    assert sorted(links) == [f"estimates.csv#row={n}" for n in range(2, 8)]


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("en", "no difference from 0 was shown for any of 2 systems on 3 criteria; farthest"),
        ("de", "bei 2 Systemen in 3 Kriterien wurde keine Abweichung von 0 gezeigt; am"),
    ],
)
def test_the_systems_and_criteria_without_a_difference_are_counted(code: str, words: str) -> None:
    [view] = answers(*wins(dict.fromkeys(CRITERIA, (0.05, -0.05)), 0.4), code=code)
    assert words in view.sentence


def test_a_change_in_every_system_is_drawn_and_stated_itself() -> None:
    def rows(spec: Analysis, change: float) -> tuple[Row, ...]:
        both = [row(spec, 0.5, float("nan"), system=s, arm=a) for s in "ab" for a in ("x", "y")]
        difference = [
            replace(
                row(spec, change * sign, float("nan"), system=s, arm="x"),
                kind="difference",
                versus={"system": s, "arm": "y"},
            )
            for s, sign in (("a", 1), ("b", -1))
        ]
        return (*both, *difference)

    specs = [of(CHANGE, c) for c in CRITERIA[:2]]
    [view] = answers(*((spec, rows(spec, 0.1 * (n + 1))) for n, spec in enumerate(specs)))
    assert view.sentence.startswith(
        "Win difference: x minus y is from −20.0 percentage points for b, utility (95% CI, −30.0"
    )
    assert "to 20.0 percentage points for a, utility (95% CI, 10.0 to 30.0" in view.sentence
    assert view.sentence.endswith("without a test that is adjusted for multiple testing.")
    assert view.figure is not None
    assert view.figure.description.count("utility") == 2  # not the four estimates
    # One analysis alone is drawn and stated in the same way.
    [alone] = answers((specs[0], rows(specs[0], 0.1)))
    assert alone.figure is not None and alone.figure.description.count(":") == 2
    assert "(accuracy): x minus y is from −10.0 percentage points for b" in alone.sentence


def test_what_differs_in_more_than_the_criterion_is_answered_alone() -> None:
    def of_systems(spec: Analysis, **more: str) -> tuple[Analysis, tuple[Row, ...]]:
        found = replace(row(spec, 0.5, 0.4, system="a"), **more)  # type: ignore[arg-type]
        return spec, (found,)

    two = [of_systems(of(MEAN, c)) for c in CRITERIA[:2]]
    assert len(answers(*two)) == 1
    other = replace(two[1][0], test="none")
    assert len(answers(two[0], (other, two[1][1]))) == 2
    # Means of scales with other labels have no axis in common; kappas of both do.
    long = Scale(("1", "2", "3", "4", "5"), level="ordinal")
    scales = (LIKERT, long, LIKERT)
    assert len(answers(*two, scales=scales)) == 2
    kappas = [of_systems(of(MEAN.with_statistic("fleiss_kappa"), c)) for c in CRITERIA[:2]]
    assert len(answers(*kappas, scales=scales)) == 1
    # A conclusion of an analysis is a sentence of its own.
    finding = message("It is so.", message_id="error.so")
    concluded = [of_systems(of(MEAN, c), finding=finding) for c in CRITERIA[:2]]
    assert [v.sentence.startswith("It is so.") for v in answers(*concluded)] == [True, True]


def test_criteria_alone_are_the_rows_of_one_figure() -> None:
    kappas = [of(WINS.with_statistic("fleiss_kappa"), c) for c in CRITERIA]
    [view] = answers(*((s, (row(s, 0.1 * n, float("nan")),)) for n, s in enumerate(kappas)))
    assert view.sentence.endswith("; differences between criteria were not tested.")
    assert view.sentence.startswith("Fleiss' kappa: from 0.00 for accuracy (")
    assert view.figure is not None
    assert view.figure.description == "accuracy: 0.00; utility: 0.10; brevity: 0.20"
