"""True values of masked cases and of whole answers beside sentences agree with a large study's
estimates."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from simulated_studies import analysis, answers_of, items_of, study_of

from konsil.analysis.running.run import run
from konsil.analysis.running.run_settings import RunSettings
from konsil.analysis.table.frame import Data
from konsil.instrument import Criterion, Instrument, Scale
from konsil.plan import Allocation
from konsil.records import Answer, Item, Rater
from konsil.simulate import (
    CriterionTruth,
    Departure,
    PanelTruth,
    SystemTruth,
    Truth,
    cases_of,
    draw,
    lengths_of,
    recovery,
    sets_of,
)
from konsil.simulate.population import of_answers
from konsil.simulate.true_values.expected import Expected

LEVELS = ("narrative", "0", "1", "2", "3")
LABELS = Scale(
    ("0", "0.25", "0.5", "0.75", "1"), level="ordinal", values=(0.0, 0.25, 0.5, 0.75, 1.0)
)
RUBRIC = Instrument(
    "rubric", (Criterion("precision", "?", LABELS), Criterion("communication", "?", LABELS))
)
TRUTH = Truth(
    systems={
        "a": SystemTruth(
            0.75,
            quality_by={"level": {"narrative": 0.95, "0": 0.9, "1": 0.75, "2": 0.5, "3": 0.35}},
            hidden=0.4,
        ),
        "b": SystemTruth(0.6, strength_on={"communication": 0.4}),
    },
    panels={"physicians": PanelTruth(0.97, severity=0.1)},
    criteria={"communication": CriterionTruth(right=0.2, shift=0.5)},
)
LADDERS = (
    "information_sensitivity",
    "monotonicity_violation",
    "diagnostic_potential",
    "label_dependence",
    "stability",
    "reasoning_gap",
)


def versions(n):
    return [
        Item(f"c{c:04}:{v}", "?", case=f"c{c:04}", strata={"level": v})
        for c in range(n)
        for v in LEVELS
    ]


def recovered(study, truth, items, answers, seed=4, lengths=None):
    drawn = draw(study, items, answers, truth, seed)
    results = run(
        study.analyses,
        Data(items, answers, study.raters, drawn.tasks, drawn.ratings),
        RunSettings(
            instruments=study.instruments,
            seed=study.seed,
            resampling=study.resampling,
            exclusions=study.exclusions,
            planned=True,
            together=study.together,
        ),
    )
    lengths = lengths_of(answers) if lengths is None else lengths
    sets, cases = sets_of(study, items), cases_of(items, truth)
    return recovery(study, truth, results, seed=seed, sets=sets, cases=cases, lengths=lengths)


def masked(n=300):
    analyses = tuple(analysis(name, "precision", levels=LEVELS) for name in LADDERS)
    analyses += (
        analysis("monotonicity_violation", "precision", levels=LEVELS, denominator="recovered"),
        analysis("mean", "precision", by=("system", "level"), cluster="case"),
        analysis("mean", "communication", by=("level",), where={"system": ("b",)}, cluster="case"),
    )
    study = study_of(
        instruments=(RUBRIC,),
        plan=(Allocation("physicians", "rubric", raters_per_item=2),),
        analyses=analyses,
        judges=0,
    )
    items = versions(n)
    return study, items, [Answer(f"{i.id}:{s}", i.id, s, "-") for i in items for s in "ab"]


def near(rows):
    for row in rows:
        half = (row.high - row.low) / 2
        assert abs(row.estimate - row.truth) < 2 * half + 4 * row.truth_error, row


@pytest.mark.slow
def test_masked_cases_have_true_values():
    study, items, answers = masked()
    rows = recovered(study, TRUTH, items, answers)
    assert {r.analysis for r in rows} == {a.name for a in study.analyses}
    near(rows)
    [falls] = [
        r.truth for r in rows if r.analysis.startswith("information") and r.group == {"system": "a"}
    ]
    assert falls == pytest.approx(0.6, abs=0.08)


@pytest.mark.slow
def test_failures_and_what_judges_make_of_them_have_true_values():
    naming = Instrument(
        "naming",
        tuple(Criterion(c, "?", Scale(("no", "yes"))) for c in ("reasoning_names", "answer_names")),
    )
    plan = (
        Allocation("physicians", "rubric", raters_per_item=2),
        Allocation("judges", "rubric"),
        Allocation("detector", "naming"),
    )
    analyses = (
        analysis("accuracy", "precision", by=("level",), where={"level": ("narrative", "3")}),
        analysis("illusion_gap", "precision", criteria=("communication",)),
        analysis(
            "mismatch",
            "precision",
            against="detector",
            criteria=("reasoning_names", "answer_names"),
        ),
        analysis("approval", "precision", "judges", against="physicians"),
        analysis(
            "approval", "precision", "judges", against="physicians", criteria=("communication",)
        ),
    )
    study = study_of(instruments=(RUBRIC, naming), plan=plan, analyses=analyses)
    study = dataclasses.replace(
        study, raters=(*study.raters, Rater("program", "detector", "program"))
    )
    truth = dataclasses.replace(
        TRUTH,
        panels={
            **TRUTH.panels,
            "judges": PanelTruth(0.9, shared=0.0),
            "detector": PanelTruth(0.995, shared=0.0),
        },
        raters={"j0": PanelTruth(0.9, shared=0.0, approves=0.5)},
        criteria={**TRUTH.criteria, "reasoning_names": CriterionTruth(about="reasoning")},
    )
    items = versions(200)
    answers = [Answer(f"{i.id}:{s}", i.id, s, "-") for i in items for s in "ab"]
    rows = recovered(study, truth, items, answers)
    assert {r.analysis for r in rows} == {a.name for a in analyses}
    near(rows)
    told = {(r.analysis, *r.group.values()): r.truth for r in rows}
    assert told[analyses[3].name, "j0"] == pytest.approx(0.5, abs=0.03)
    assert told[analyses[3].name, "j1"] < 0.25
    assert told[analyses[2].name, "a"] == pytest.approx(0.4, abs=0.05)
    assert told[analyses[2].name, "b"] < 0.05


def test_perfect_raters_make_the_stated_fall_exactly():
    study, items, _ = masked(40)
    truth = dataclasses.replace(
        TRUTH, panels={"physicians": PanelTruth(0.999, shared=0.0, item_rater=0.0)}
    )
    model = Expected(study, truth, 1, {}, cases_of(items, truth))
    one = next(a for a in study.analyses if a.statistic == "information_sensitivity")
    criterion = model.criterion(one, {})
    rule = model._of_group(one, criterion, {"system": "a"})
    assert np.mean([rule(b) for b in range(8)]) == pytest.approx(0.6, abs=0.01)


def test_items_that_are_alike_have_no_cases():
    items = items_of(4)
    assert cases_of(items, Truth()) == ()
    assert len(cases_of(items, TRUTH)) == 4  # the truth speaks of columns
    assert [len(c) for c in cases_of(versions(3), Truth())] == [5, 5, 5]


THREE = Scale(("No", "Neutral", "Yes"), level="ordinal", values=(-1.0, 0.0, 1.0))
COARSE = Instrument(
    "coarse", (Criterion("relevance", "?", THREE), Criterion("correctness", "?", THREE))
)
FINE = Instrument(
    "fine",
    (
        Criterion("relevance", "?", THREE, "sentence"),
        Criterion("correctness", "?", THREE, "sentence"),
    ),
    unit="sentence",
)


@pytest.mark.slow
def test_two_designs_have_true_values():
    analyses = tuple(
        analysis("randolph_kappa", c, by=("design",), compare="design")
        for c in ("relevance", "correctness")
    )
    analyses += (
        analysis(
            "randolph_kappa",
            "correctness",
            where={"design": ("fine",)},
            spans="all",
            collapse={"Neutral": "Yes"},
        ),
        analysis(
            "share",
            "relevance",
            by=("system",),
            where={"design": ("fine",)},
            spans="any",
            of=("Yes",),
        ),
        analysis("mean", "relevance", by=("system",)),
    )
    plan = tuple(
        Allocation("physicians", i, show="each", phase=i, **({"spans": 6} if i == "fine" else {}))
        for i in ("coarse", "fine")
    )
    study = study_of(
        instruments=(COARSE, FINE), plan=plan, analyses=analyses, physicians=3, judges=0
    )
    truth = Truth(
        systems={"a": SystemTruth(0.8), "b": SystemTruth(0.5)},
        panels={"physicians": PanelTruth(0.8)},
        exceptions=(
            Departure(instrument="fine", criterion="relevance", accuracy=0.95, shared=0.7),
        ),
        sentence_shared=0.5,
    )
    items = items_of(250)
    rows = recovered(study, truth, items, answers_of(items, sentences=6))
    assert {r.analysis for r in rows} == {
        a.name for a in analyses[:-1]
    }  # the last is of both designs at once
    near(rows)
    [gap] = [r.truth for r in rows if "relevance" in r.analysis and r.versus]
    assert abs(gap) > 0.1


@pytest.mark.slow
def test_answers_of_unequal_length_have_true_values():
    """Up to so many sentences of an answer are rated, of a short one all of them."""
    one = {"where": {"design": ("fine",)}, "collapse": {"Neutral": "Yes"}}
    analyses = (
        analysis(
            "share",
            "correctness",
            by=("system",),
            compare="system",
            spans="all",
            of=("Yes",),
            **one,
        ),
        analysis("share", "correctness", by=("system",), spans="any", of=("Yes",), **one),
    )
    plan = (Allocation("physicians", "fine", show="each", spans=4),)
    study = study_of(
        instruments=(COARSE, FINE), plan=plan, analyses=analyses, physicians=3, judges=0
    )
    truth = Truth(
        systems={"a": SystemTruth(0.8), "b": SystemTruth(0.5)},
        panels={"physicians": PanelTruth(0.8)},
    )
    items = items_of(400)
    of = {"a": (1, 2, 3), "b": (3, 8, 9)}
    answers = [
        dataclasses.replace(a, sentences=a.sentences[: of[a.system][n // 2 % 3]])
        for n, a in enumerate(answers_of(items, sentences=9))
    ]
    lengths = lengths_of(answers)
    assert {s: sorted(set(found)) for s, found in lengths.items()} == {
        "a": [1, 2, 3],
        "b": [3, 8, 9],
    }
    batches = Expected(study, truth, 1, {}, (), lengths).batches
    world, chosen = batches.world(0), batches.sampled(0)
    assert sorted(set(np.bincount(world.owner[chosen]))) == [1, 2, 3, 4]
    near(recovered(study, truth, items, answers))
    far = [
        abs(r.estimate - r.truth) > (r.high - r.low) / 2
        for r in recovered(study, truth, items, answers, lengths={})
    ]
    assert sum(far) >= 3  # as if every answer had four


def test_sentences_of_an_answer_that_nobody_labelled_give_none():
    codes = np.array([[-1, 2], [-1, 0], [1, -1]])
    owner = np.array([0, 0, 3])
    assert of_answers(codes, owner, "all").tolist() == [[-1, 0], [1, -1]]
    assert of_answers(codes, owner, "any").tolist() == [[-1, 2], [1, -1]]


def test_who_sees_what_follows_lines_like_others_and_no_questionnaire():
    ease = Instrument("ease", (Criterion("ease", "?", Scale(("no", "yes")), "batch"),))
    plan = (
        Allocation("physicians", "coarse", items="one", phase="first", batches=5, show="each"),
        Allocation("physicians", "fine", like="first", phase="then", spans=6, show="each"),
        Allocation("physicians", "ease", phase="first"),
        Allocation(
            "physicians",
            "coarse",
            like="first",
            phase="again",
            per_rater=2,
            purpose="repeat",
            show="each",
        ),
        Allocation("judges", "coarse", like="first"),
    )
    study = study_of(instruments=(COARSE, FINE, ease), plan=plan)
    items = [
        dataclasses.replace(i, sets=("one",) if n < 5 else ()) for n, i in enumerate(items_of(10))
    ]
    assert sets_of(study, items) == {"one": 5, "": 5}
    batches = Expected(study, Truth(), 1, sets_of(study, items)).batches
    for panel in ("physicians", "judges"):
        assert batches.visible_items(panel).all(axis=1).mean() == 0.5
        assert batches.visible_items(panel).any(axis=1).mean() == 0.5
