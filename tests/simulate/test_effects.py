"""Stated effects: by columns of the items, by criterion, by instrument; what is not stated changes
no number."""

from __future__ import annotations

import dataclasses
import hashlib

import numpy as np
import pytest
from scipy.stats import norm
from simulated_studies import FORM, answers_of, items_of, study_of
from test_draw import EASE, FINE, GOOD, PAIR, PLAN, RICH

from konsil.errors import StudyError
from konsil.instrument import Criterion, Instrument, Scale
from konsil.plan import Allocation
from konsil.records import Answer, Item
from konsil.simulate import (
    CriterionTruth,
    Departure,
    PanelTruth,
    SystemTruth,
    Truth,
    check_truth,
    draw,
    read_truth,
)
from konsil.simulate.world import build_world

LEVELS = ("narrative", "0", "1", "2", "3")
LABELS = Scale(
    ("0", "0.25", "0.5", "0.75", "1"), level="ordinal", values=(0.0, 0.25, 0.5, 0.75, 1.0)
)
RUBRIC = Instrument(
    "rubric", (Criterion("precision", "?", LABELS), Criterion("communication", "?", LABELS))
)
NAMING = Instrument(
    "naming",
    (Criterion("thought", "?", Scale(("no", "yes"))), Criterion("said", "?", Scale(("no", "yes")))),
)
FALLS = {"narrative": 0.95, "0": 0.9, "1": 0.75, "2": 0.5, "3": 0.35}


def versions(n):
    return [
        Item(f"c{c}:{v}", "?", case=f"c{c}", strata={"level": v}) for c in range(n) for v in LEVELS
    ]


def values(drawn, criterion, panel):
    """(answer) -> its values, mean over the raters."""
    found = {}
    for r in drawn.ratings:
        if r.criterion == criterion and r.rater.startswith(panel):
            found.setdefault(r.answers[0], []).append(float(r.label))
    return {a: np.mean(v) for a, v in found.items()}


def cases(truth, n=600, instrument=RUBRIC, seed=3):
    study = study_of(
        instruments=(instrument,),
        plan=tuple(Allocation(p, instrument.id) for p in ("physicians", "judges")),
    )
    items = versions(n)
    return draw(
        study,
        items,
        [Answer(f"{i.id}:{s}", i.id, s, "-") for i in items for s in "ab"],
        truth,
        seed,
    )


def test_without_stated_effects_every_number_is_the_old_one():
    items = items_of(60)
    study = study_of(
        instruments=(RICH, PAIR, FINE, EASE, FORM),
        plan=(*PLAN, Allocation("judges", "form", phase="z")),
    )
    truth = Truth(
        systems={"a": SystemTruth(0.9, strength=0.5), "b": SystemTruth(0.4)},
        panels=GOOD.panels,
        criteria={"sure": CriterionTruth(best="not")},
    )
    drawn = draw(study, items, answers_of(items, sentences=6), truth, 3)
    told = [
        (r.task, r.criterion, r.answers, r.span, r.state, r.label, r.seconds) for r in drawn.ratings
    ]
    assert hashlib.sha256(repr(told).encode()).hexdigest()[:16] == "aa38469a60201cb9"


def test_quality_falls_over_the_versions_of_a_case_and_the_case_is_as_difficult_in_each():
    truth = Truth(
        systems={"a": SystemTruth(0.8, quality_by={"level": FALLS}), "b": SystemTruth(0.6)}
    )
    items = versions(600)
    answers = [Answer(f"{i.id}:{s}", i.id, s, "-") for i in items for s in "ab"]
    world = build_world(items, answers, {}, truth, 3)
    right = dict(zip((a.id for a in answers), world.answers.right.tolist(), strict=True))
    for level, quality in FALLS.items():
        assert np.mean([v for k, v in right.items() if k.endswith(f":{level}:a")]) == pytest.approx(
            quality, abs=0.06
        )
        assert np.mean([v for k, v in right.items() if k.endswith(f":{level}:b")]) == pytest.approx(
            0.6, abs=0.07
        )
    hard = dict(zip((i.id for i in items), world.difficulty.tolist(), strict=True))
    assert all(len({hard[f"c{c}:{v}"] for v in LEVELS}) == 1 for c in range(600))
    assert len(set(hard.values())) == 600


def test_an_item_of_no_case_is_none_of_the_case_of_its_name():
    items = [Item("one", "?"), Item("two", "?", case="one")]
    drawn = draw(study_of(), items, answers_of(items), Truth(), 1)
    assert len(set(drawn.truth_values.difficulty.values())) == 2


def test_two_columns_add_up_and_an_unstated_value_has_the_plain_quality():
    by = {"level": {"3": 0.5}, "language": {"de": 0.6}}
    items = [
        Item(
            f"i{n}",
            "?",
            strata={"level": "3" if n % 2 else "0", "language": "de" if n % 4 > 1 else "en"},
        )
        for n in range(8000)
    ]
    truth = Truth(
        systems={"a": SystemTruth(0.8, quality_by=by)}, panels={"physicians": PanelTruth(0.9)}
    )
    right = build_world(items, answers_of(items, "a"), {}, truth, 2).answers.right
    means = [right[k::4].mean() for k in range(4)]
    both = norm.cdf(norm.ppf(0.5) + norm.ppf(0.6) - norm.ppf(0.8))
    assert means == pytest.approx([0.8, 0.5, 0.6, both], abs=0.04)


def test_a_criterion_may_hide_right_and_wrong():
    truth = Truth(
        systems={"a": SystemTruth(0.5, strength_on={"communication": 0.8}), "b": SystemTruth(0.5)},
        criteria={"communication": CriterionTruth(right=0.0, shift=0.5)},
    )
    drawn = cases(truth, n=200)
    right = drawn.truth_values.right
    precision, communication = (values(drawn, c, "p") for c in ("precision", "communication"))

    def gap(told):
        return np.mean([v for a, v in told.items() if right[a]]) - np.mean(
            [v for a, v in told.items() if not right[a]]
        )

    assert gap(precision) > 0.4
    assert abs(gap(communication)) < 0.05
    a, b = (np.mean([v for k, v in communication.items() if k.endswith(s)]) for s in "ab")
    assert a > b + 0.1 > 0.65


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.2, 0.5, 0.8])
def test_a_judge_approves_a_stated_share_of_the_wrong_answers(share):
    judge = PanelTruth(0.9, leniency=2.0, shared=0.0, approves=share)
    drawn = cases(Truth(panels={"judges": judge}), n=300)
    right = drawn.truth_values.right
    told = [
        (right[r.answers[0]], float(r.label))
        for r in drawn.ratings
        if r.rater == "j0" and r.criterion == "precision"
    ]
    assert np.mean([v >= 0.5 for ok, v in told if not ok]) == pytest.approx(share, abs=0.06)
    assert np.mean([v >= 0.5 for ok, v in told if ok]) > 0.99


@pytest.mark.slow
def test_a_wrong_answer_may_have_the_right_reasoning():
    truth = Truth(
        systems={"a": SystemTruth(0.4, hidden=0.7), "b": SystemTruth(0.4)},
        panels={"judges": PanelTruth(0.999, shared=0.0)},
        criteria={"thought": CriterionTruth(about="reasoning")},
    )
    drawn = cases(truth, n=300, instrument=NAMING)
    told = {c: {} for c in ("thought", "said")}
    for r in drawn.ratings:
        if r.rater == "j0":
            told[r.criterion][r.answers[0]] = r.label == "yes"
    shares = {}
    for system in "ab":
        wrong = [a for a, said in told["said"].items() if a.endswith(system) and not said]
        shares[system] = np.mean([told["thought"][a] for a in wrong])
    assert shares["a"] == pytest.approx(0.7, abs=0.05)
    assert shares["b"] < 0.01


@pytest.mark.slow
def test_a_design_may_have_higher_agreement_on_one_criterion_and_other_times():
    fine = dataclasses.replace(RUBRIC, id="fine")
    plan = (
        Allocation("physicians", "rubric", phase="one"),
        Allocation("physicians", "fine", phase="two"),
    )
    study = study_of(instruments=(RUBRIC, fine), plan=plan, judges=0)
    items = items_of(300)
    truth = Truth(
        panels={"physicians": PanelTruth(0.8, seconds=30)},
        exceptions=(
            Departure(instrument="fine", criterion="precision", accuracy=0.95, shared=0.8),
            Departure(panels=("physicians",), instrument="fine", seconds=90),
        ),
    )
    drawn = draw(study, items, answers_of(items), truth, 1)
    phases = {t.id: t.phase for t in drawn.tasks}
    labels, seconds = {}, {"one": [], "two": []}
    for r in drawn.ratings:
        labels.setdefault((phases[r.task], r.criterion, r.answers), []).append(r.label)
        seconds[phases[r.task]].append(r.seconds)

    def agree(phase, criterion):
        own = [v for (p, c, _), v in labels.items() if (p, c) == (phase, criterion)]
        return np.mean([a == b for v in own for k, a in enumerate(v) for b in v[k + 1 :]])

    assert agree("two", "precision") > agree("one", "precision") + 0.2
    assert agree("two", "communication") == pytest.approx(agree("one", "communication"), abs=0.05)
    assert np.median(seconds["two"]) > 2.5 * np.median(seconds["one"])


@pytest.mark.slow
def test_of_two_exceptions_the_later_holds_and_shifts_add():
    truth = Truth(
        exceptions=(
            Departure(accuracy=0.6, shift=1.0),
            Departure(raters=("p1",), criterion="precision", accuracy=0.97, shift=1.5),
        )
    )
    drawn = cases(truth, n=100)
    plain = cases(Truth(exceptions=(Departure(accuracy=0.6),)), n=100)

    def mean(one, rater):
        return np.mean(
            [float(r.label) for r in one.ratings if r.rater == rater and r.criterion == "precision"]
        )

    assert mean(drawn, "p0") > mean(plain, "p0") + 0.2
    assert mean(drawn, "p1") > mean(drawn, "p0")


def test_sentences_look_like_their_answer():
    study = study_of(
        instruments=(FINE5,),
        plan=(Allocation("physicians", "fine", show="each"),),
        physicians=1,
        judges=0,
    )
    items = items_of(300)

    def between(part):
        truth = Truth(
            sentence_errors=0.2,
            sentence_shared=part,
            panels={"physicians": PanelTruth(0.6, shared=0.8)},
        )
        found = {}
        for r in draw(study, items, answers_of(items, sentences=6), truth, 1).ratings:
            found.setdefault(r.answers[0], []).append(int(r.label))
        return np.var([np.mean(v) for v in found.values()])

    assert between(0.9) > 2 * between(0.0)


FINE5 = Instrument(
    "fine",
    (Criterion("clear", "?", Scale(("1", "2", "3", "4", "5"), level="ordinal"), "sentence"),),
    unit="sentence",
)

TEXT = """
[systems.a]
quality = 0.8
hidden = 0.3
quality_by.level = { narrative = 0.95, "3" = 0.35 }
strength_on = { correctness = 0.4 }
[[exceptions]]
panels = "physicians"
instrument = "form"
criterion = "correctness"
accuracy = 0.95
"""


def test_what_is_written_is_read():
    truth = read_truth(TEXT)
    assert truth.systems["a"].quality_by == {"level": {"narrative": 0.95, "3": 0.35}}
    assert truth.exceptions == (
        Departure(("physicians",), (), "form", "correctness", accuracy=0.95),
    )
    check_truth(truth, study_of(), items=versions(1))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "narrative =",
            "narative =",
            "level: no item has 'narative' there; did you mean 'narrative'",
        ),
        ("by.level", "by.levels", "the items have no column 'levels'; did you mean 'level'"),
        ("0.35", "1.35", "quality_by.level.3: expected a number between 0 and 1, got 1.35"),
        ("hidden = 0.3", "hidden = 3", "hidden: expected a number from 0 to 1"),
        (
            "{ correctness",
            "{ corectness",
            "systems.a.strength_on: the study has no criterion 'corectness'; did you mean",
        ),
        (
            '"physicians"',
            '"physician"',
            "panels: the study has no panel 'physician'; did you mean 'physicians'",
        ),
        (
            '"form"',
            '"from"',
            "no instrument 'from' with the criterion 'correctness'; did you mean 'form'",
        ),
        (
            '"correctness"',
            '"correctnes"',
            r"exceptions\[0\].criterion: the study has no criterion 'correctnes'",
        ),
        ("accuracy = 0.95", "accuracy = 2", r"exceptions\[0\].accuracy: expected a number from"),
        ("accuracy = 0.95", "seconds = 2", "times apply to whole tasks; remove criterion"),
        (
            "accuracy = 0.95",
            "shared = 0.95",
            "with the item_rater of 'physicians' it makes 1.05, more than the whole",
        ),
        ("accuracy = 0.95", "acuracy = 0.95", "did you mean 'accuracy'"),
    ],
)
def test_what_does_not_fit_is_said(old, new, message):
    with pytest.raises(StudyError, match=message):
        check_truth(read_truth(TEXT.replace(old, new)), study_of(), items=versions(1))
