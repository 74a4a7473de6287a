"""A share of majorities rests on the panel's raters, and says of them what it needs."""

from __future__ import annotations

from dataclasses import replace

from konsil.analysis import Analysis, Exclusions, Resampling, Results
from konsil.analysis.running.run import run
from konsil.analysis.table.frame import Data
from konsil.instrument import Criterion, Instrument, Scale
from konsil.records import Answer, Item, Rater, Rating, Task
from konsil.stats.agreement.registry import STATISTICS

FORM = Instrument("f", (Criterion("correct", "?", Scale(("no", "yes"))),))
ITEMS = [Item(f"q{n:02}", "?") for n in range(30)]
RATERS = [Rater(f"r{n}", "p") for n in range(5)]
TASKS = [
    Task(f"{r.id}/{i.id}", f"{r.id}/{i.id}", r.id, "f", i.id, (f"{i.id}:a",))
    for r in RATERS
    for i in ITEMS
]
RATINGS = [
    Rating(
        t.id,
        t.rater,
        "correct",
        t.item,
        t.answers,
        label="yes" if (5 * n + 3 * (n // 30)) % 7 > 1 else "no",
    )
    for n, t in enumerate(TASKS)
]
SHARE = Analysis("m", "share", "correct", "p", of=("yes",), consensus="majority")


def results(*asked: Analysis) -> Results:
    data = Data(ITEMS, [Answer(f"{i.id}:a", i.id, "a") for i in ITEMS], RATERS, TASKS, RATINGS)
    return run(
        asked,
        data,
        instruments=(FORM,),
        seed=1,
        resampling=Resampling(300),
        exclusions=Exclusions(),
    )


def test_the_raters_behind_a_majority_are_the_panels() -> None:
    """Five raters, and no interval as if the majority were one of several raters."""
    rows = results(SHARE, replace(SHARE, name="mean", statistic="mean", of=())).rows
    for row in rows:
        assert row.n_raters == 5
        assert "two-way" not in row.estimate.method
    votes = {i.id: sum(r.label == "yes" for r in RATINGS if r.item == i.id) for i in ITEMS}
    assert rows[0].estimate.value == sum(n > 2 for n in votes.values()) / 30


def test_with_raters_as_clusters_a_majority_is_taken_without_each_of_them() -> None:
    """The leave-one-rater-out jackknife of the majorities, not a share of one rater."""
    row = next(r for r in results(replace(SHARE, cluster="rater")).rows if r.kind == "estimate")
    assert "jackknife" in row.estimate.method and row.estimate.n_clusters == 5


def test_each_statistic_of_agreement_says_what_it_is() -> None:
    assert "adjacent" in STATISTICS["within_one"].source
    assert STATISTICS["within_one"].source != STATISTICS["percent_agreement"].source
