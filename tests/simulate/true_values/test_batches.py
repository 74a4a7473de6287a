"""Large samples know the plan: sets, pairs, tie-breaks, bins; formulas on them agree with a large
study's numbers."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
from simulated_studies import CORRECT, DIFFICULTY, FORM, analysis, study_of

from konsil.analysis import Bin, Derived
from konsil.analysis.running.run import run
from konsil.analysis.running.run_settings import RunSettings
from konsil.analysis.table.frame import Data
from konsil.plan import Allocation
from konsil.records import Answer, Item, Rater
from konsil.simulate import PanelTruth, SystemTruth, Truth, draw, recovery, sets_of
from konsil.simulate.population import conflicting, mean_strata, preference, slope
from konsil.simulate.true_values.batches import ABSTAINED, ITEMS, MISSING, Batches

PANEL = PanelTruth(accuracy=0.9, severity=0.3, abstention=0.08, abstention_slope=0.8)
TRUTH = Truth(
    systems={"a": SystemTruth(0.85), "b": SystemTruth(0.55)},
    panels={
        "physicians": PANEL,
        "tiebreaker": PANEL,
        "judges": PanelTruth(accuracy=0.85, leniency=0.3, self_preference=0.5, abstention=0.03),
    },
)
PLAN = (
    Allocation("physicians", "form", items="core", phase="main"),
    Allocation("physicians", "form", items="split", raters_per_item=2, phase="main"),
    Allocation("tiebreaker", "form", items="split", purpose="tiebreak", when="disagreed"),
    Allocation("judges", "form", like="main"),
)
BINS = (Bin("easy", 0, 1, "left"), Bin("hard", 1, 2, "both"))
ANALYSES = (
    analysis(
        "share",
        of=("Correct",),
        consensus="majority",
        tiebreak="tiebreaker",
        by=("system",),
        compare="system",
    ),
    analysis("abstention", by=("hardness",)),
    analysis(
        "abstention_slope",
        raters="judges",
        against="physicians",
        covariate="hardness",
        by=("rater",),
    ),
    analysis("self_preference", raters="judges", against="physicians"),
    analysis("family_preference", raters="judges", against="physicians", by=("system",)),
    analysis(
        "relative_difference",
        of=("Correct",),
        consensus="majority",
        tiebreak="tiebreaker",
        by=("system",),
        reference={"system": "a"},
    ),
    analysis("cohen_kappa", items="core", against="rest"),
    analysis("percent_agreement", items="core", against="rest", by=("rater",)),
    analysis("cohen_kappa", items="core", raters="judges", against="physicians", by=("rater",)),
)
SETS = {"core": 100, "split": 200}


def study():
    made = study_of(plan=PLAN, analyses=ANALYSES, physicians=5, judges=0, draws=200)
    # Two judges are the systems; preference for one's own needs a third one that is neither.
    judges = tuple(
        Rater(f"j-{s}", "judges", kind="llm", family=f"family {s}", strata={"system": s})
        for s in "abc"
    )
    sibling = Rater("j-sibling", "judges", kind="llm", family="family a")
    return dataclasses.replace(
        made,
        raters=(*made.raters, Rater("t", "tiebreaker"), *judges, sibling),
        derived=(Derived("hardness", "difficulty", "physicians", BINS),),
    )


def test_a_batch_is_seen_as_the_plan_has_it():
    batches = Batches(study(), TRUTH, 4, SETS)
    core = batches.set_of == "core"
    assert core.sum() == ITEMS / 3
    seen = batches.visible_items("physicians")
    assert seen[core].all()
    assert (seen[~core].sum(axis=1) == 2).all()
    assert np.ptp(seen.sum(axis=0)) <= 1
    assert batches.visible_items("judges").all()
    assert (batches.ties("tiebreaker") == ~core).all()
    labels = batches.labels(CORRECT, "physicians", 0)
    assert ((labels == MISSING) == ~seen[batches.item_of(CORRECT, 0)]).all()
    assert (labels == ABSTAINED).any()
    difficulty = batches.labels(DIFFICULTY, "physicians", 0)
    hardness = batches.derived("hardness", 0)
    given = np.where(difficulty >= 0, difficulty, np.nan)
    assert hardness == pytest.approx(np.nanmean(given, axis=1), nan_ok=True)


def test_without_sets_all_raters_of_one_line_are_told_apart():
    plain = study_of(plan=(Allocation("physicians", "form", raters_per_item=2),), judges=0)
    assert (Batches(plain, TRUTH, 4).visible_items("physicians").sum(axis=1) == 2).all()
    assert Batches(study(), TRUTH, 4).visible_items("physicians").all()


def test_sets_of_a_study():
    items = [Item(f"i{n}", "?", sets=("core", "other") if n < 3 else ("split",)) for n in range(9)]
    assert sets_of(study(), items) == {"core": 3, "split": 6}
    assert sets_of(study(), [*items, Item("x", "?")]) == {"core": 3, "split": 6, "": 1}
    assert sets_of(study(), [Item("x", "?", sets=("core", "split"))]) == {}
    limited = dataclasses.replace(study(), plan=(Allocation("physicians", "form", per_rater=3),))
    assert sets_of(limited, items) == {}


def test_the_formulas():
    assert slope(np.array([0.0, 0, 2, 2]), np.array([False, True, True, True])) == pytest.approx(
        0.25
    )
    torn = conflicting(np.array([[0, 1], [0, 0], [0, -1], [-1, -1]]), 2)
    assert torn.tolist() == [True, False, False, False]
    mine = np.array([1.0, 1, 0, 1, np.nan])
    peers = np.array([[1.0, 0], [0, 0], [0, np.nan], [1, 1], [1, 1]])
    own = np.array([True, True, False, False, False])
    assert preference(mine, peers, own, ~own, None) == pytest.approx((0.5 + 1) / 2)
    # Peer by peer: (0 + 1) / 2 - (0 + 0) / 2, and (1 + 1) / 2 - 0; each with two own answers.
    assert preference(mine, peers, own, ~own, np.array([1, 1, 1, 1, 1])) == pytest.approx(
        (0.5 + 1) / 2
    )
    # A stratum without other answers is left out.
    assert preference(mine, peers, own, ~own, np.array([0, 1, 1, 1, 1])) == pytest.approx(1)
    assert math.isnan(preference(mine, peers, own, np.zeros(5, dtype=bool), np.ones(5, dtype=int)))
    assert math.isnan(preference(mine, peers, own, ~own, np.full(5, -1)))
    panel = np.array([[0, 1, 2], [2, 2, 1], [-1, -1, -1], [0, 0, 1]])
    assert mean_strata(panel, np.array([0.0, 1, 2])).tolist() == [2, 3, -1, 1]


@pytest.mark.slow
def test_a_large_study_of_this_design_finds_every_truth():
    made = study()
    items = [Item(f"i{n:04}", "?", sets=("core" if n < 300 else "split",)) for n in range(900)]
    answers = [Answer(f"{i.id}:{s}", i.id, s) for i in items for s in "ab"]
    drawn = draw(made, items, answers, TRUTH, 9, panel_seed=4)
    results = run(
        made.analyses,
        Data(items, answers, made.raters, drawn.tasks, drawn.ratings),
        RunSettings(
            instruments=(FORM,),
            seed=1,
            resampling=made.resampling,
            exclusions=made.exclusions,
            planned=True,
            systems=made.systems,
            derived=made.derived,
        ),
    )
    rows = recovery(made, TRUTH, results, seed=4, sets=sets_of(made, items))
    assert {r.analysis for r in rows} == {a.name for a in ANALYSES}
    assert len(rows) == 3 + 2 + 8 + 2 + 1 + 1 + 1 + 5 + 8
    for row in rows:
        assert abs(row.estimate - row.truth) < 0.9 * (row.high - row.low) + 4 * row.truth_error, row
    assert sum(bool(r.covered) for r in rows) >= 0.8 * len(rows)


def test_the_same_raters_meet_new_items():
    made = study()
    items = [Item(f"i{n}", "?", sets=("core",)) for n in range(5)] + [
        Item("s", "?", sets=("split",))
    ]
    answers = [Answer(f"{i.id}:{s}", i.id, s) for i in items for s in "ab"]
    one, two = (
        draw(made, items, answers, TRUTH, seed, panel_seed=4).truth_values for seed in (1, 2)
    )
    assert one.severity == two.severity
    assert one.difficulty != two.difficulty
    assert draw(made, items, answers, TRUTH, 1).truth_values.severity != one.severity
