"""A threshold that fits no score of the scale gives no number."""

from __future__ import annotations

import pytest
from tests.analyses import flat_analysis

from konsil.analysis import Exclusions, Resampling
from konsil.analysis.running.run import run
from konsil.analysis.running.run_settings import RunSettings
from konsil.analysis.table.frame import Data
from konsil.errors import AnalysisError
from konsil.instrument import Criterion, Instrument, Scale
from konsil.records import Answer, Item, Rater, Rating, Task

FIVE = ("1", "2", "3", "4", "5")
SCALES = {
    "five": Scale(FIVE, level="ordinal", values=(1, 2, 3, 4, 5)),
    "counted": Scale(FIVE, level="ordinal"),
    "open": Scale(kind="number", level="interval"),
    "percent": Scale(kind="number", level="interval", low=0, high=100),
    "steps": Scale(("0", "0.5", "1"), level="ordinal", values=(0, 0.5, 1)),
    "share": Scale(kind="number", level="interval", low=0, high=1),
}


def accuracy(name: str, label: str, **settings: float) -> float:
    """The accuracy of a system whose twelve answers are all rated alike."""
    items = [Item(f"q{n}", "?") for n in range(12)]
    tasks = [Task(i.id, i.id, "r", "f", i.id, (f"{i.id}:a",)) for i in items]
    data = Data(
        items,
        [Answer(f"{i.id}:a", i.id, "a") for i in items],
        [Rater("r", "p")],
        tasks,
        [Rating(t.id, "r", name, t.item, t.answers, label=label) for t in tasks],
    )
    form = Instrument("f", (Criterion(name, "?", SCALES[name]),))
    asked = flat_analysis("x", "accuracy", name, "p", **settings)  # type: ignore[arg-type]
    results = run(
        (asked,),
        data,
        RunSettings(
            instruments=(form,),
            seed=1,
            resampling=Resampling(200),
            exclusions=Exclusions(),
        ),
    )
    return results.rows[0].estimate.value


@pytest.mark.parametrize("name", ["five", "counted", "open", "percent"])
def test_the_default_is_for_scores_from_0_to_1(name: str) -> None:
    with pytest.raises(
        AnalysisError, match=f"x: correct: 0.75, the default, applies .* scale of '{name}'"
    ):
        accuracy(name, "2")


@pytest.mark.parametrize(
    ("name", "label", "value"), [("steps", "0.5", 0), ("steps", "1", 1), ("share", "0.8", 1)]
)
def test_there_it_holds(name: str, label: str, value: float) -> None:
    assert accuracy(name, label) == value


def test_a_stated_threshold_within_the_scale_is_obeyed() -> None:
    assert [accuracy("five", label, correct=4) for label in ("3", "4")] == [0, 1]
    assert [accuracy("open", label, correct=4) for label in ("3", "4")] == [0, 1]
    with pytest.raises(
        AnalysisError, match="correct: every score on the scale of 'five' reaches 1"
    ):
        accuracy("five", "2", correct=1)
    with pytest.raises(
        AnalysisError, match="correct: 6 is above the highest number of the scale of 'five', 5"
    ):
        accuracy("five", "2", correct=6)
