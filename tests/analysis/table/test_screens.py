"""What a rating is about: the item, or the screen, in whichever order the screen showed its
answers."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from konsil.analysis import Analysis, Exclusions, Resampling, Results
from konsil.analysis.running.run import run
from konsil.analysis.running.run_settings import RunSettings
from konsil.analysis.table.frame import Data
from konsil.errors import AnalysisError
from konsil.instrument import Criterion, Instrument, Scale
from konsil.records import Answer, Item, Rater, Rating, Task

HARD = Scale(("easy", "hard"), level="ordinal")
SURE = Scale(("unsure", "sure"), level="ordinal")
FORM = Instrument(
    "form",
    (
        Criterion("difficulty", "?", HARD, scope="item"),
        Criterion("confidence", "?", SURE, scope="task"),
    ),
)
ITEMS = [Item(f"q{n}", "?") for n in range(6)]
SYSTEMS = ("one", "two", "three")
ANSWERS = [Answer(f"{i.id}:{s}", i.id, s) for i in ITEMS for s in SYSTEMS]
RATERS = [Rater("ann", "p"), Rater("ben", "p")]


def screens(rater: str, item: str, *shown: Sequence[str], repeat: Sequence[str] = ()) -> list[Task]:
    """One task for each tuple of systems shown, and a repeat of the first in another order."""
    tasks = [
        Task(
            f"{rater}/{item}/{n}",
            f"{rater}/{item}/{n}",
            rater,
            "form",
            item,
            tuple(f"{item}:{s}" for s in systems),
        )
        for n, systems in enumerate(shown)
    ]
    if repeat:
        answers = tuple(f"{item}:{s}" for s in repeat)
        name = f"{rater}/{item}/again"
        tasks.append(
            Task(name, name, rater, "form", item, answers, purpose="repeat", repeat_of=tasks[0].id)
        )
    return tasks


def analysed(tasks: Sequence[Task], ratings: Sequence[Rating], *analyses: Analysis) -> Results:
    data = Data(ITEMS, ANSWERS, RATERS, tasks, ratings)
    return run(
        analyses,
        data,
        RunSettings(
            instruments=(FORM,),
            seed=1,
            resampling=Resampling(200),
            exclusions=Exclusions(),
            planned=True,
        ),
    )


def rated(task: Task, criterion: str, label: str) -> Rating:
    return Rating(task.id, task.rater, criterion, task.item, label=label)


@pytest.mark.parametrize("order", [SYSTEMS, SYSTEMS[::-1], ("two", "one", "three")])
def test_a_repeat_in_another_order_is_about_the_same_item(order: tuple[str, ...]) -> None:
    """Every repeat meets its first rating, and the other rater's rating of the item as well."""
    tasks, ratings = [], []
    for rater in ("ann", "ben"):
        for n, item in enumerate(ITEMS):
            rater_tasks = screens(rater, item.id, SYSTEMS, repeat=order if n < 4 else ())
            tasks += rater_tasks
            ratings += [rated(rater_tasks[0], "difficulty", "hard" if n % 2 else "easy")]
            ratings += [rated(t, "difficulty", "hard") for t in rater_tasks[1:]]
    asked = [
        Analysis("s", "self_agreement", "difficulty", "p"),
        Analysis("p", "percent_agreement", "difficulty", "p"),
        Analysis("a", "krippendorff_alpha", "difficulty", "p"),
    ]
    results = analysed(tasks, ratings, *asked)
    by_name = {r.analysis: r for r in results.rows if r.kind == "estimate"}
    # Two of a rater's four repeats are "hard" as the first rating was.
    assert by_name["s"].estimate.value == 0.5
    assert by_name["s"].estimate.n_ratings == 8
    assert by_name["s"].n_units == 4
    assert by_name["p"].n_units == by_name["a"].n_units == 6
    assert by_name["p"].estimate.value == 1.0
    accounts = {(c.criterion, c.system): c for c in results.coverage}
    of_item = accounts["difficulty", ""]
    assert (of_item.expected, of_item.rated, of_item.missing) == (20, 20, 0)
    assert [k for k in accounts if k[0] == "difficulty"] == [("difficulty", "")]


def test_a_question_about_the_item_is_rated_once_though_it_has_several_screens() -> None:
    tasks = [t for r in ("ann", "ben") for i in ITEMS for t in screens(r, i.id, ("one",), ("two",))]
    first = [rated(t, "difficulty", "hard") for t in tasks if t.id.endswith("/0")]
    results = analysed(tasks, first, Analysis("p", "percent_agreement", "difficulty", "p"))
    assert results.rows[0].n_units == 6
    twice = [*first, *(rated(t, "difficulty", "easy") for t in tasks if t.id.endswith("/1"))]
    with pytest.raises(
        AnalysisError, match=r"labelled item 'q0' 2 times; .* each task of an item .*'task'"
    ):
        analysed(tasks, twice, Analysis("p", "percent_agreement", "difficulty", "p"))


def test_a_question_about_the_screen_meets_that_of_a_rater_with_fewer_screens() -> None:
    """Ann has two screens of an item and Ben one of them: on that one their confidence is
    compared."""
    tasks = [t for i in ITEMS for t in screens("ann", i.id, ("two", "one"), ("three",))]
    tasks += [t for i in ITEMS for t in screens("ben", i.id, ("one", "two"))]
    ratings = [rated(t, "confidence", "sure" if "/0" in t.id else "unsure") for t in tasks]
    agreed = Analysis("p", "percent_agreement", "confidence", "p")
    by_system = Analysis("m", "mean", "confidence", "p", by=("system",))
    results = analysed(tasks, ratings, agreed, by_system)
    row = next(r for r in results.rows if r.analysis == "p")
    assert (row.estimate.value, row.estimate.n_ratings, row.n_units) == (1.0, 12, 6)
    means = {
        r.group["system"]: r.estimate.value
        for r in results.rows
        if r.analysis == "m" and r.kind == "estimate"
    }
    assert means == {"one | two": 1.0, "three": 0.0}
    accounts = {
        c.system: (c.expected, c.rated, c.missing)
        for c in results.coverage
        if c.criterion == "confidence"
    }
    assert accounts == {"one | two": (12, 12, 0), "three": (6, 6, 0)}


def test_where_nobody_has_several_screens_of_an_item_confidence_is_about_the_item() -> None:
    tasks = [
        t
        for r in ("ann", "ben")
        for i in ITEMS
        for t in screens(r, i.id, SYSTEMS, repeat=SYSTEMS[::-1])
    ]
    ratings = [rated(t, "confidence", "sure") for t in tasks]
    results = analysed(tasks, ratings, Analysis("p", "percent_agreement", "confidence", "p"))
    assert results.rows[0].n_units == 6
    accounts = {
        c.system: (c.expected, c.rated, c.missing)
        for c in results.coverage
        if c.criterion == "confidence"
    }
    assert accounts == {"": (24, 24, 0)}
