"""Holm's adjustment and the number of draws: further draws for p alone, or a warning where the
number is stated."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from konsil.analysis import Analysis, Exclusions, Resampling, Results
from konsil.analysis.running.rows import all_rows as running
from konsil.analysis.running.run import run
from konsil.analysis.running.run_settings import RunSettings
from konsil.analysis.table.frame import Data
from konsil.instrument import Criterion, Instrument, Scale
from konsil.records import Answer, Item, Rater, Rating, System

CRITERIA = [f"c{n}" for n in range(12)]
FORM = Instrument("f", tuple(Criterion(c, "?", Scale(labels=("1", "2", "3"))) for c in CRITERIA))


def data() -> Data:
    """Twelve criteria on which system a stands above system b."""
    rng = np.random.default_rng(1)
    items = tuple(Item(f"q{n:02}", "?") for n in range(40))
    answers = tuple(Answer(f"{i.id}:{s}", i.id, s) for i in items for s in "ab")
    ratings = tuple(
        Rating(
            f"{c}-{a.id}",
            "r1",
            c,
            a.item,
            (a.id,),
            label=str(1 + int(rng.binomial(2, 0.85 if a.system == "a" else 0.15))),
        )
        for c in CRITERIA
        for a in answers
    )
    return Data(items, answers, (Rater("r1", "people"),), (), ratings)


def results(resampling: Resampling) -> Results:
    analyses = [
        Analysis(f"{c} mean", "mean", c, "people", by=("system",), compare="system")
        for c in CRITERIA
    ]
    return run(
        analyses,
        data(),
        RunSettings(
            instruments=[FORM],
            seed=1,
            resampling=resampling,
            exclusions=Exclusions(),
            systems=(System("a"), System("b")),
        ),
    )


def test_a_stated_number_of_draws_is_obeyed_with_a_warning() -> None:
    stated = results(Resampling(150))
    tested = [r for r in stated.rows if r.kind == "difference"]
    assert min(r.estimate.p for r in tested) == pytest.approx(1 / 151)
    assert min(r.p_adjusted for r in tested) > 0.05
    (warning,) = [w for w in stated.warnings if "too few for the Holm" in w]
    assert "150 resamples" in warning
    assert "1,200" in warning


def test_enough_draws_say_nothing() -> None:
    assert not [w for w in results(Resampling(1200)).warnings if "too few" in w]


@pytest.mark.slow
def test_an_unstated_number_is_extended_for_p_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    few = results(Resampling(150))
    monkeypatch.setattr(running, "is_stated", lambda resampling: False)
    more = results(Resampling(150))
    assert max(r.p_adjusted for r in more.rows if r.kind == "difference") < 0.05
    assert not [w for w in more.warnings if "too few" in w]
    for was, now in zip(few.rows, more.rows, strict=True):
        same = replace(
            now, p_adjusted=was.p_adjusted, estimate=replace(now.estimate, p=was.estimate.p)
        )
        assert repr(same) == repr(was)
        assert not now.estimate.p > was.estimate.p


def test_the_usual_number_is_not_stated() -> None:
    assert not running.is_stated(Resampling())
    assert running.is_stated(Resampling(500))
