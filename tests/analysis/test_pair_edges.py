"""Rows of comparisons where intervals end: one expert with most votes, ties alone, bootstrap
against flips."""

from __future__ import annotations

import math
from collections.abc import Sequence

from konsil.analysis import Analysis, Row
from konsil.analysis.model.spec import Exclusions, Inference, Resampling
from konsil.analysis.running.run import run
from konsil.analysis.table.frame import Data
from konsil.instrument import Criterion, Instrument, Scale
from konsil.records import Answer, Item, Rater, Rating, Task

LABELS = ("A", "tie", "B")
CRITERION = Criterion("accuracy", "Which is better?", Scale(LABELS, level="ordinal"), "pair")
FORM = Instrument("pairs", (CRITERION,), unit="pair")


def data(votes: Sequence[tuple[str, str]]) -> Data:
    """One comparison of two systems for each rater and label, each on an item of its own."""
    items = tuple(Item(f"i{n:03}", "?") for n in range(len(votes)))
    answers = tuple(Answer(f"{i.id} {s}", i.id, s, text="x") for i in items for s in ("x", "y"))
    experts = tuple(Rater(name, "experts") for name in sorted({rater for rater, _ in votes}))
    tasks, ratings = [], []
    for item, (rater, label) in zip(items, votes, strict=True):
        shown = (f"{item.id} x", f"{item.id} y")
        tasks.append(Task(f"t{item.id}", "p", rater, "pairs", item.id, shown))
        ratings.append(
            Rating(f"t{item.id}", rater, "accuracy", item.id, shown, None, "rated", label)
        )
    return Data(items, answers, experts, tuple(tasks), tuple(ratings))


def rows_of(statistic: str, votes: Sequence[tuple[str, str]], mode: str = "valid") -> list[Row]:
    asked = Analysis("wins", statistic, "accuracy", "experts", mode=mode)  # type: ignore[arg-type]
    found = run(
        [asked],
        data(votes),
        instruments=[FORM],
        seed=1,
        resampling=Resampling(500),
        exclusions=Exclusions(),
        inference=Inference(raters="like these"),
    )
    return list(found.rows)


BUSY = [("busy" if n < 54 else f"r{n % 3}", LABELS[(0, 2, 2, 0, 1, 0)[n % 6]]) for n in range(60)]


def test_with_one_expert_who_gave_most_votes_the_items_interval_comes_first_and_names_him() -> None:
    for statistic in ("win_difference", "bradley_terry"):
        rows = rows_of(statistic, BUSY)
        first = next(r for r in rows if r.kind == "estimate")
        assert first.estimate.raters == "these"
        assert first.estimate.low < first.estimate.value < first.estimate.high
        assert any(w.startswith("busy gave 90% of the comparisons") for w in first.warnings)
        assert not any("two-way" in r.estimate.method for r in rows)


def test_where_these_raters_are_meant_the_same_interval_comes_first_as_ever() -> None:
    first = next(r for r in rows_of("win_difference", BUSY) if r.kind == "estimate")
    assert first.estimate.method.startswith("cluster-robust Wald (item-clustered)")


def test_ties_alone_give_worths_and_ratios_without_an_interval() -> None:
    rows = rows_of("bradley_terry", [(f"r{n % 3}", "tie") for n in range(12)])
    shown = [r for r in rows if "Fisher information" not in r.estimate.method]
    assert shown
    for row in shown:
        assert math.isnan(row.estimate.low) or row.estimate.high > row.estimate.low
        assert row.estimate.reason


CONTRADICTING = [(f"r{n}", "A" if n < 4 else "tie") for n in range(7)]


def test_interval_and_p_of_a_row_do_not_disagree_about_zero() -> None:
    rows = [r for r in rows_of("win_difference", CONTRADICTING) if math.isfinite(r.estimate.p)]
    assert {r.kind for r in rows} == {"estimate", "companion"}
    for row in rows:
        leaves_out = row.estimate.low > 0 or row.estimate.high < 0
        assert leaves_out == (row.estimate.p <= 0.05), row


def test_paper_mode_points_out_that_they_disagree() -> None:
    rows = [r for r in rows_of("win_difference", CONTRADICTING, "paper") if r.kind == "estimate"]
    disagreeing = [
        r for r in rows if (r.estimate.low > 0 or r.estimate.high < 0) != (r.estimate.p <= 0.05)
    ]
    assert disagreeing
    for row in disagreeing:
        assert any("different procedures" in w for w in row.warnings)
