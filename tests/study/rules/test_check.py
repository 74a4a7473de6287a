"""Cross references of a protocol: each problem is one line with its place and the nearest name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from tests.analyses import flat_analysis, restated

from konsil.analysis import Analysis, CompositeScore, Exclusions, Resampling
from konsil.analysis.estimation.raters.leave_one_out import MEASURE_BY_STATISTIC
from konsil.analysis.model.catalogue.known import (
    CATALOGUE,
    OF_TWO_RATERS,
    WEIGHTS,
    known_statistics,
)
from konsil.analysis.model.spec import Derived
from konsil.errors import StudyError
from konsil.instrument import Criterion, Instrument, Scale
from konsil.plan import Allocation
from konsil.records import Rater, System
from konsil.stats.agreement.registry import STATISTICS
from konsil.stats.engine.distances import WEIGHTS as NAMED_WEIGHTS
from konsil.study import Study, check, parse
from konsil.study.rules.check import problems

CORRECT = Criterion("correct", "Is it correct?", Scale(("no", "yes"), abstain="unsure"))
GRADE = Criterion("grade", "How good?", Scale(("bad", "fair", "good"), level="ordinal"))
HOURS = Criterion("hours", "How long?", Scale(kind="number", low=0, high=24))
WHY = Criterion("why", "Why?", Scale(kind="text"))
FORM = Instrument("form", (CORRECT, GRADE, HOURS, WHY))
BOTH = CompositeScore("both", ("correct", "grade"), "sum")
KAPPA = Analysis("kappa", "cohen_kappa", "correct", "experts")
STUDY = Study(
    "A study",
    1,
    instruments=(FORM,),
    systems=(System("one"), System("two")),
    raters=(Rater("ann", "experts"), Rater("ben", "experts"), Rater("jud", "judges", "llm")),
    plan=(Allocation("experts", "form"),),
    analyses=(KAPPA,),
)


def told(study: Study) -> list[str]:
    with pytest.raises(StudyError) as caught:
        check(study)
    return str(caught.value).split("\n")


def test_a_sound_protocol_passes() -> None:
    check(STUDY)
    check(replace(STUDY, analyses=(replace(KAPPA, arm=""),)))
    mean = Analysis("mean", "mean", "both", "experts")
    check(replace(STUDY, scores=(BOTH,), analyses=(mean,)))
    check(replace(STUDY, analyses=(replace(KAPPA, arm="of a table"),), plan=()))
    check(replace(STUDY, raters=(), analyses=(replace(KAPPA, raters="raters"),), plan=()))


@pytest.mark.parametrize(
    ("change", "line"),
    [
        ({"title": "  "}, "study.toml: title: is empty; a report needs a title"),
        (
            {"systems": (System("one"), System("one"))},
            (
                "study.toml: systems[1]: the identifier 'one' occurs twice; expected each"
                " identifier once"
            ),
        ),
        ({"systems": (System(""),)}, "study.toml: systems[0]: the identifier is empty"),
        (
            {"scores": (CompositeScore("both", ("correct", "grad")),)},
            "study.toml: scores[0].of: there is no criterion 'grad'; did you mean 'grade'?",
        ),
        (
            {"scores": (BOTH, BOTH)},
            (
                "study.toml: scores[1]: the identifier 'both' occurs twice; expected each"
                " identifier once"
            ),
        ),
        (
            {"scores": (BOTH,), "analyses": (replace(KAPPA, criterion="both"),)},
            (
                "study.toml: analyses[0].criterion: 'both' is a composite score, and 'cohen_kappa'"
                " is of labels; expected a criterion"
            ),
        ),
        (
            {"scores": (BOTH,), "analyses": (replace(KAPPA, criterion="bothh"),)},
            "study.toml: analyses[0].criterion: there is no criterion 'bothh'; did you mean 'both'?",
        ),
        (
            {
                "scores": (BOTH,),
                "analyses": (flat_analysis("right", "accuracy", "both", "experts"),),
            },
            (
                "study.toml: analyses[0].correct: 0.75, the default, applies to scores from 0 to"
                " 1, but the scale of 'both' goes from 0 to 3; state a threshold within it"
            ),
        ),
        (
            {"raters": (*STUDY.raters, Rater("ann", "experts"))},
            (
                "study.toml: raters[3]: the identifier 'ann' occurs twice; expected each identifier"
                " once"
            ),
        ),
        (
            {"instruments": (FORM, FORM)},
            "study.toml: instruments[1]: the identifier 'form' occurs twice",
        ),
        (
            {
                "plan": (Allocation("experts", "form", arms={"links": 1, "plain": 1}),),
                "analyses": (replace(KAPPA, arm="link"),),
            },
            "study.toml: analyses[0].arm: there is no arm 'link'; did you mean 'links'?",
        ),
        (
            {"analyses": (KAPPA, KAPPA)},
            "study.toml: analyses[1]: the identifier 'kappa' occurs twice",
        ),
        (
            {"resampling": Resampling(50)},
            "study.toml: resampling.draws: expected at least 100 resamples, got 50",
        ),
        (
            {"resampling": Resampling(500, 95)},
            "study.toml: resampling.level: expected a coverage from 0.5 to below 1",
        ),
        (
            {"exclusions": Exclusions(min_seconds=-1)},
            "study.toml: exclusions.min_seconds: expected 0 or more",
        ),
        (
            {"exclusions": Exclusions(raters=("anne",))},
            "study.toml: exclusions.raters: there is no rater 'anne'; did you mean 'ann'?",
        ),
        (
            {"plan": (Allocation("expert", "form"),)},
            "study.toml: plan[0].panel: there is no panel 'expert'; did you mean 'experts'?",
        ),
        (
            {"plan": (Allocation("experts", "from"),)},
            "study.toml: plan[0].instrument: there is no instrument 'from'; did you mean 'form'?",
        ),
        (
            {"plan": (Allocation("experts", "form", systems=("onee",)),)},
            "study.toml: plan[0].systems: there is no system 'onee'; did you mean 'one'?",
        ),
    ],
)
def test_each_fault_of_the_protocol(change: Mapping[str, Any], line: str) -> None:
    assert any(one.startswith(line) for one in told(replace(STUDY, **change)))


@pytest.mark.parametrize(
    ("scale", "says"),
    [
        (Scale(("yes",)), "labels: a choice needs at least two labels, got ['yes']"),
        (Scale(("yes", "yes")), "labels[1]: the label 'yes' occurs twice"),
        (
            Scale(("yes", "no"), abstain="no"),
            "abstain: 'no' is among the labels; an abstention is not a value",
        ),
        (Scale(("yes", "no"), abstain=" "), "abstain: is empty"),
        (
            Scale(("a", "b"), values=(1.0,)),
            "values: 1 values for 2 labels; expected one value per label",
        ),
        (
            Scale(("a", "b"), level="ordinal", values=(2.0, 1.0)),
            "values: must increase from label to label",
        ),
        (Scale(("a", "b"), kind="text"), "labels: a scale of kind 'text' has no labels"),
        (Scale(kind="number", low=3, high=1), "low: 3 is above high = 1"),
    ],
)
def test_each_fault_of_a_scale(scale: Scale, says: str) -> None:
    study = replace(
        STUDY, instruments=(Instrument("form", (replace(CORRECT, scale=scale),)),), analyses=()
    )
    assert any(
        line.startswith(f"study.toml: instruments[0].criteria[0].scale.{says}")
        for line in told(study)
    )


def test_sentences_are_presented_one_at_a_time_only_where_there_are_some() -> None:
    (line,) = told(replace(STUDY, instruments=(replace(FORM, present="sentence"),)))
    assert line == (
        "study.toml: instruments[0].present: no criterion of 'form' is about sentences; set scope ="
        " 'sentence' in at least one criterion, or leave present out"
    )
    fine = Criterion("part", "Is it right?", Scale(("no", "yes")), "sentence")
    form = replace(FORM, criteria=(*FORM.criteria, fine), present="sentence")
    (line,) = told(replace(STUDY, instruments=(form,)))
    assert line == (
        "study.toml: instruments[0].present: instrument 'form' has unit = 'answer'; sentences are"
        " presented one by one with unit = 'sentence'"
    )
    check(replace(STUDY, instruments=(replace(form, unit="sentence"),)))


def test_an_instrument_asks_something_and_each_thing_once() -> None:
    (line,) = told(replace(STUDY, instruments=(Instrument("form", ()),), analyses=()))
    assert line == "study.toml: instruments[0].criteria: is empty; expected at least one criterion"
    (line,) = told(replace(STUDY, instruments=(Instrument("form", (CORRECT, CORRECT)),)))
    assert line.startswith(
        "study.toml: instruments[0].criteria[1]: the identifier 'correct' occurs twice"
    )


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (
            {"statistic": "cohens_kappa"},
            "statistic: there is no statistic 'cohens_kappa'; did you mean 'cohen_kappa'?",
        ),
        (
            {"criterion": "corect"},
            "criterion: there is no criterion 'corect'; did you mean 'correct'?",
        ),
        ({"raters": "expert"}, "raters: there is no panel 'expert'; did you mean 'experts'?"),
        ({"against": "judge"}, "against: there is no panel 'judge'; did you mean 'judges'?"),
        ({"against": "experts"}, "against: 'experts' is the panel itself"),
        (
            {"statistic": "fleiss_kappa", "against": "rest"},
            "statistic: 'fleiss_kappa' does not compare a rater with",
        ),
        ({"compare": "system"}, "compare: 'system' is not one of by = []"),
        ({"by": ("system", "system")}, "by[1]: 'system' occurs twice"),
        (
            {"where": {"system": ("onee",)}},
            "where.system: there is no system 'onee'; did you mean 'one'?",
        ),
        ({"statistic": "share"}, "of: is empty; a proportion needs the categories of interest"),
        (
            {"statistic": "share", "of": ("yess",)},
            "of: there is no label 'yess'; did you mean 'yes'?",
        ),
        (
            {"statistic": "abstention", "of": ("yes",)},
            "of: belongs to the statistics 'share' and 'relative_difference', not to 'abstention'",
        ),
        ({"weights": "quadratc"}, "weights: 'quadratc' is not one of"),
        (
            {"statistic": "pabak", "weights": "linear"},
            "weights: belongs to statistics such as 'percent_agreement'",
        ),
        (
            {"statistic": "icc2"},
            "statistic: 'icc2' needs labels in an order; those of 'correct' have none",
        ),
        (
            {"criterion": "why"},
            "criterion: 'why' is a free text; no statistic but 'abstention' applies to it",
        ),
        ({"spans": "mean"}, "spans: 'mean' yields numbers; only the statistic 'mean' accepts them"),
        ({"consensus": "majority"}, "consensus: belongs to the statistics 'share' and 'mean'"),
        (
            {"collapse": {"yeah": "yes"}},
            "collapse: there is no label 'yeah'; known: no, unsure, yes",
        ),
        (
            {"collapse": {"no": "bad"}, "labels": ("no", "yes")},
            "labels: 'bad' is left after collapsing",
        ),
        (
            {"collapse": {"unsure": "perhaps"}},
            "collapse: 'unsure' becomes 'perhaps', which is not a label",
        ),
        ({"labels": ("no", "yes", "no")}, "labels[2]: the label 'no' occurs twice"),
        (
            {"criterion": "grade", "abstain": "label"},
            "abstain: criterion 'grade' has no abstention",
        ),
        (
            {"statistic": "share", "of": ("yes",), "by": ("rater_pair",)},
            "by: 'rater_pair' forms a group for each pair",
        ),
    ],
)
def test_each_fault_of_an_analysis(change: Mapping[str, Any], says: str) -> None:
    lines = told(replace(STUDY, analyses=(restated(KAPPA, **change),)))
    assert any(line.startswith(f"study.toml: analyses[0].{says}") for line in lines), lines


@pytest.mark.parametrize(
    ("column", "value", "where", "says"),
    [
        ("system", "onee", {}, "there is no system 'onee'; did you mean 'one'?"),
        ("rater", "annn", {}, "there is no rater 'annn'; did you mean 'ann'?"),
        (
            "system",
            "one",
            {"system": ("two",)},
            "`where` excludes system = 'one'; known: two",
        ),
        (
            "ward",
            "icu",
            {"ward": ("ICU",)},
            "`where` excludes ward = 'icu'; did you mean 'ICU'?",
        ),
        ("system", "one", {"system": ("one", "two")}, ""),
        ("ward", "icu", {}, ""),
    ],
)
def test_a_reference_that_no_group_can_have(
    column: str, value: str, where: Mapping[str, tuple[str, ...]], says: str
) -> None:
    relative = flat_analysis(
        "relative",
        "relative_difference",
        "correct",
        "experts",
        of=("yes",),
        by=(column,),
        consensus="majority",
        reference={column: value},
        where=where,
    )
    sentences = [
        line
        for line in problems(replace(STUDY, analyses=(relative,)))
        if line.startswith("study.toml: analyses[0].reference")
    ]
    assert sentences == ([f"study.toml: analyses[0].reference: {says}"] if says else [])


def test_without_declared_raters_the_only_panel_is_all_of_them() -> None:
    (line,) = told(replace(STUDY, raters=(), plan=()))
    assert line == "study.toml: analyses[0].raters: there is no panel 'experts'; known: raters"


def test_every_problem_is_listed_one_a_line() -> None:
    wrong = replace(
        STUDY, title="", systems=(System("a"), System("a")), analyses=(replace(KAPPA, raters="x"),)
    )
    assert len(told(wrong)) == 3


def test_the_names_here_are_those_of_the_engine() -> None:
    known = set(known_statistics())
    assert set(STATISTICS) <= known
    assert {n for n, e in STATISTICS.items() if "nominal" not in e.levels} == {
        n for n, e in CATALOGUE.items() if e.needs_order and n in STATISTICS
    }
    assert {n for n, e in STATISTICS.items() if e.weighted} == {
        n for n, e in CATALOGUE.items() if e.takes("weights")
    }
    assert WEIGHTS == NAMED_WEIGHTS
    assert set(OF_TWO_RATERS) == set(MEASURE_BY_STATISTIC)


def test_a_judge_of_a_judged_family_needs_the_studys_word() -> None:
    text = """
title = "x"
seed = 1
{rule}
[[systems]]
id = "s"
family = "north"
[[raters]]
id = "j"
panel = "judges"
kind = "llm"
family = "north"
"""
    with pytest.raises(
        StudyError,
        match=r"raters\[0\]: judge 'j' has the same model family 'north' as the system 's'",
    ):
        check(parse(text.format(rule=""), lambda _: ""))
    for rule in ("flag", "allow"):
        check(parse(text.format(rule=f'judges_of_same_family = "{rule}"'), lambda _: ""))


def test_a_flip_needs_groups_and_items() -> None:
    from konsil.analysis import contradictions

    flip = flat_analysis("x", "share", "correct", "experts", of=("yes",), test="flip")
    assert any("needs two groups" in p for p in contradictions(flip))
    by_system = replace(flip, by=("system",), compare="system")
    assert not list(contradictions(by_system))
    assert any("whole items" in p for p in contradictions(replace(by_system, cluster="rater")))


def test_thresholds_lie_on_the_scale_and_further_criteria_exist() -> None:
    asked = flat_analysis("right", "accuracy", "grade", "experts", correct=75)
    [line] = told(replace(STUDY, analyses=(asked,)))
    assert (
        line == "study.toml: analyses[0].correct: 75 is above the highest number of the scale of"
        " 'grade', 2"
    )
    plain = Analysis("right", "accuracy", "grade", "experts")
    [line] = told(replace(STUDY, analyses=(plain,)))
    assert (
        line
        == "study.toml: analyses[0].correct: 0.75, the default, applies to scores from 0 to 1, but"
        " the scale of 'grade' goes from 0 to 2; state a threshold within it"
    )
    for correct, problem in (
        (0, "every score on the scale of 'grade' reaches 0"),
        (-1, "-1 is below the lowest"),
    ):
        [line] = told(replace(STUDY, analyses=(restated(plain, correct=correct),)))
        assert problem in line
    check(replace(STUDY, analyses=(restated(plain, correct=1),)))
    gap = flat_analysis("gap", "illusion_gap", "grade", "experts", criteria=("grad",))
    [line] = told(replace(STUDY, analyses=(gap,)))
    assert (
        line
        == "study.toml: analyses[0].criteria: there is no criterion 'grad'; did you mean 'grade'?"
    )


def test_a_line_of_the_plan_has_numbers_that_mean_something_and_an_earlier_phase() -> None:
    """Found when the protocol is read, not when the plan is drawn."""
    first = replace(STUDY.plan[0], phase="first", batches=3)
    check(replace(STUDY, plan=(first, replace(first, like="first", phase="then"))))
    assert told(
        replace(STUDY, plan=(first, replace(first, like="frist", phase="then", batches=0)))
    ) == [
        (
            "study.toml: plan[1].like: there is no earlier line of the plan with the phase 'frist';"
            " did you mean 'first'?"
        ),
        "study.toml: plan[1].batches: expected 1 or more, got 0",
    ]
    assert told(replace(STUDY, plan=(replace(first, like="then"), replace(first, phase="then"))))[
        0
    ].startswith("study.toml: plan[0].like: there is no earlier line")
    [sentences] = told(replace(STUDY, plan=(replace(first, spans=2),)))
    assert "plan[0].spans: sentences are sampled, but instrument 'form' rates answers" in sentences


def test_groups_of_systems_name_systems_and_no_letters() -> None:
    groups = {"small": ("one",), "large": ("two",)}
    check(replace(STUDY, derived=(Derived("size", groups=groups),)))
    unknown = Derived("size", groups={"small": ("tow",)})
    [problem] = told(replace(STUDY, derived=(unknown,)))
    assert "derived[0].groups" in problem and "did you mean 'two'" in problem
    both = Derived("size", "grade", "experts", groups=groups)
    [problem] = told(replace(STUDY, derived=(both,)))
    assert "either groups or the mean of a criterion" in problem
    blinded = replace(STUDY, derived=(Derived("size", groups=groups),), blinded=True)
    assert any("tell the letters" in problem for problem in told(blinded))
    twice = Derived("size", groups={"small": ("one",), "large": ("one",)})
    assert any("'one'" in problem for problem in told(replace(STUDY, derived=(twice,))))


def test_a_dropped_system_takes_part_in_pilots_alone() -> None:
    systems = (System("one"), System("two", dropped="refused to reason"))
    pilot = Allocation("experts", "form", phase="candidates", purpose="pilot")
    main = Allocation("experts", "form", systems=("one",))
    check(replace(STUDY, systems=systems, plan=(pilot, main)))
    [problem] = told(replace(STUDY, systems=systems, plan=(replace(main, systems=()),)))
    assert "'two' is dropped" in problem and "systems = ['one']" in problem
