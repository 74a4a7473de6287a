"""Which interval a share has: by how many clusters hold its rarer outcome."""

from __future__ import annotations

import pytest
from tests.analyses import flat_analysis

from konsil.analysis import Exclusions, Resampling
from konsil.analysis.running.run import run
from konsil.analysis.running.run_settings import RunSettings
from konsil.analysis.table.frame import Data
from konsil.instrument import Criterion, Instrument, Scale
from konsil.records import Answer, Item, Rater, Rating, Task
from konsil.stats.engine.contract import Estimate

FORM = Instrument("form", (Criterion("correct", "?", Scale(("no", "yes"))),))


def share(hits: int, n_items: int = 120) -> Estimate:
    """The share of "yes" where two answers of each of so many items are alike."""
    items = [Item(f"q{n:03}", "?") for n in range(n_items)]
    answers = [Answer(f"{i.id}:{s}", i.id, s) for i in items for s in ("one", "two")]
    tasks = [Task(i.id, "p 1", "ann", "form", i.id, (f"{i.id}:one", f"{i.id}:two")) for i in items]
    ratings = [
        Rating(
            a.item,
            "ann",
            "correct",
            a.item,
            (a.id,),
            label="yes" if int(a.item[1:]) < hits else "no",
        )
        for a in answers
    ]
    data = Data(items, answers, [Rater("ann", "panel")], tasks, ratings)
    results = run(
        [flat_analysis("a", "share", "correct", raters="panel", of=("yes",))],
        data,
        RunSettings(
            instruments=(FORM,),
            seed=5,
            resampling=Resampling(500),
            exclusions=Exclusions(),
        ),
    )
    [row] = [r for r in results.rows if r.kind == "estimate"]
    assert row.estimate.value == pytest.approx(hits / n_items)
    return row.estimate


def test_shares_of_which_many_clusters_hold_both_outcomes_are_resampled() -> None:
    assert "bootstrap" in share(60).method


@pytest.mark.parametrize("hits", [3, 30, 90, 117])
def test_shares_of_which_few_clusters_hold_one_outcome_are_not(hits: int) -> None:
    assert "bootstrap" not in share(hits).method
