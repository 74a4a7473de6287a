"""True values of composite scores: by hand on a few labels, and near a large study's estimates."""

from __future__ import annotations

import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from simulated_studies import analysis, study_of

from konsil.analysis import CompositeScore
from konsil.analysis.running.run import run
from konsil.analysis.running.run_settings import RunSettings
from konsil.analysis.table.frame import Data
from konsil.instrument import Criterion, Instrument, Scale
from konsil.plan import Allocation
from konsil.records import Answer, Item
from konsil.simulate import PanelTruth, SystemTruth, Truth, draw, recovery, sets_of
from konsil.simulate.true_values.expected_scores import score_rule

SCALE = Scale(("0", "1", "2"), level="ordinal", values=(0.0, 1.0, 2.0))
FORM = Instrument("rubric", tuple(Criterion(name, "?", SCALE) for name in ("deep", "clear")))
SCORE = CompositeScore("overall", ("deep", "clear"))
CODES = {
    "deep": np.array([[0, 2], [1, -1], [2, 2]]),
    "clear": np.array([[2, 2], [1, 2], [-1, 0]]),
}
"""Three units, two raters; -1 is no label."""
MODEL = SimpleNamespace(
    criterion=lambda _analysis, _group, name: FORM.criterion(name),
    selected=lambda _analysis, part, *_: CODES[part.id],
)
MEAN = analysis("mean", "overall")


@pytest.mark.parametrize(
    ("changes", "scores"),
    [
        ({}, [1, 2, 1, 1]),
        ({"combine": "sum"}, [2, 4, 2, 2]),
        ({"combine": "minimum"}, [0, 2, 1, 0]),
        ({"combine": "weighted", "weights": (3.0, 1.0)}, [0.5, 2, 1, 1.5]),
        ({"combine": "share", "at_least": 2.0}, [0.5, 1, 0, 0.5]),
        ({"combine": "share", "labels": ("1", "2")}, [0.5, 1, 1, 0.5]),
        ({"missing": "available"}, [1, 2, 1, 2, 2, 1]),
        (
            {"combine": "weighted", "weights": (3.0, 1.0), "missing": "available"},
            [0.5, 2, 1, 2, 2, 1.5],
        ),
        ({"missing": "available", "min_parts": 2}, [1, 2, 1, 1]),
    ],
)
def test_each_way_of_combining(changes: dict[str, object], scores: list[float]) -> None:
    score = replace(SCORE, **changes)
    rule = score_rule(MODEL, MEAN, score, {})
    assert rule is not None
    assert rule(0) == pytest.approx(np.mean(scores))
    spread = score_rule(MODEL, analysis("standard_deviation", "overall"), score, {})
    assert spread is not None
    assert spread(0) == pytest.approx(np.std(scores, ddof=1))


def test_what_has_no_formula_here() -> None:
    assert score_rule(MODEL, analysis("icc1", "overall"), SCORE, {}) is None
    assert score_rule(MODEL, replace(MEAN, consensus="mean"), SCORE, {}) is None
    assert score_rule(MODEL, MEAN, replace(SCORE, of=("deep", "wide")), {}) is None


@pytest.mark.slow
def test_a_large_study_finds_the_true_values() -> None:
    analyses = tuple(
        analysis(name, "overall", by=("system",), compare="system")
        for name in ("mean", "standard_deviation")
    )
    study = replace(
        study_of(
            instruments=(FORM,),
            plan=(Allocation("physicians", "rubric"),),
            analyses=analyses,
            judges=0,
        ),
        scores=(SCORE,),
    )
    truth = Truth(
        systems={"a": SystemTruth(0.9), "b": SystemTruth(0.5)},
        panels={"physicians": PanelTruth(0.9, severity=0.2)},
    )
    items = [Item(f"i{n}", "?") for n in range(800)]
    answers = [Answer(f"{i.id}:{s}", i.id, s, "-") for i in items for s in "ab"]
    drawn = draw(study, items, answers, truth, 4)
    results = run(
        study.analyses,
        Data(items, answers, study.raters, drawn.tasks, drawn.ratings),
        RunSettings(
            instruments=study.instruments,
            seed=study.seed,
            resampling=study.resampling,
            exclusions=study.exclusions,
            scores=study.scores,
            planned=True,
        ),
    )
    rows = recovery(study, truth, results, seed=4, sets=sets_of(study, items))
    assert len(rows) == 6
    for row in rows:
        assert math.isfinite(row.truth)
        half = (row.high - row.low) / 2
        assert abs(row.estimate - row.truth) < 2 * half + 4 * row.truth_error, row
