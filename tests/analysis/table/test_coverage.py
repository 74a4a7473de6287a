"""Every rating is accounted for: expected = rated + abstained + unreadable + missing + excluded."""

from __future__ import annotations

import pytest

from konsil.analysis import Exclusions, Resampling
from konsil.analysis.model.results import CoverageRow, Results
from konsil.analysis.running.run import run
from konsil.analysis.running.run_settings import RunSettings
from konsil.analysis.table.frame import Data
from konsil.errors import AnalysisError
from konsil.instrument import Criterion, Instrument, Scale
from konsil.records import Answer, Attempt, Item, Rater, Rating, Task

CORRECT = Criterion("correct", "?", Scale(("no", "yes"), abstain="unsure"))
EASY = Criterion("easy", "?", Scale(("no", "yes")), scope="item")
FORM = Instrument("form", (CORRECT, EASY))
ITEMS = [Item(f"q{n}", "?") for n in range(5)]
ANSWERS = [Answer(f"{i.id}:{s}", i.id, s) for i in ITEMS for s in ("one", "two")]
RATERS = [Rater("ann", "experts"), Rater("jud", "judges", "llm")]
TASKS = [
    Task(f"{r.id}/{i.id}", f"{r.id}/{i.id}", r.id, "form", i.id, (f"{i.id}:one", f"{i.id}:two"))
    for r in RATERS
    for i in ITEMS
]


def screen(rater: str, item: str, label: str, seconds: float | None = 20) -> list[Rating]:
    about = {"task": f"{rater}/{item}", "rater": rater, "item": item, "seconds": seconds}
    given = {"state": "abstained"} if label == "unsure" else {"label": label}
    found = [Rating(criterion="easy", label="yes", **about)]  # type: ignore[arg-type]
    for system in ("one", "two"):
        found.append(Rating(criterion="correct", answers=(f"{item}:{system}",), **given, **about))  # type: ignore[arg-type]
    return found


DATA = Data(
    ITEMS,
    ANSWERS,
    RATERS,
    TASKS,
    [
        *screen("ann", "q0", "yes"),
        *screen("ann", "q1", "unsure"),
        *screen("ann", "q2", "no", seconds=3),
        *screen("ann", "q3", "no", seconds=None),
        *screen("jud", "q0", "yes"),
        *screen("jud", "q3", "no"),
    ],
    [
        Attempt("a1", "jud/q0", "jud", "not json"),
        Attempt("a2", "jud/q0", "jud", "ok"),
        Attempt("a3", "jud/q1", "jud", "off schema"),
        Attempt("a4", "jud/q2", "jud", "refused"),
    ],
)


def coverage(planned: bool = True) -> dict[tuple[str, str, str], CoverageRow]:
    rules = Exclusions(min_seconds=10, require_seconds=True)
    found = run(
        (),
        DATA,
        RunSettings(
            instruments=(FORM,),
            seed=1,
            resampling=Resampling(),
            exclusions=rules,
            planned=planned,
        ),
    )
    return {(c.panel, c.criterion, c.system): c for c in found.coverage}


def test_the_sum_is_what_was_expected() -> None:
    for row in coverage().values():
        assert row.expected == 5
        seen = row.rated + row.abstained + row.unreadable + sum(row.excluded.values())
        assert row.missing is not None
        assert row.expected == seen + row.missing


def test_each_kind_is_counted_apart() -> None:
    found = coverage()
    ann = found["experts", "correct", "one"]
    assert (ann.rated, ann.abstained, ann.unreadable, ann.missing) == (1, 1, 0, 1)
    assert dict(ann.excluded) == {"faster_than:10": 1, "no_time": 1}
    judge = found["judges", "correct", "two"]
    # A reply that was read at the second try is rated; two that never were are unreadable, one was
    # never asked for.
    assert (judge.rated, judge.abstained, judge.unreadable, judge.missing) == (2, 0, 2, 1)
    assert found["judges", "easy", ""].unreadable == 2


def test_without_a_plan_nothing_is_missing() -> None:
    row = coverage(planned=False)["experts", "correct", "one"]
    assert (row.expected, row.missing) == (None, None)


def test_a_stratum_cannot_take_the_name_of_a_column() -> None:
    data = Data([Item("q0", "?", strata={"system": "x"})], ANSWERS, RATERS, TASKS, DATA.ratings)
    with pytest.raises(
        AnalysisError,
        match="the items' characteristic 'system' has the name of a column of the ratings",
    ):
        run(
            (),
            data,
            RunSettings(
                instruments=(FORM,), seed=1, resampling=Resampling(), exclusions=Exclusions()
            ),
        )


BETTER = Criterion("better", "?", Scale(("left", "right")), scope="pair")
SWAPPED = {"one": "two", "two": "one"}
EFFORT = Instrument(
    "effort",
    (
        Criterion("effort", "?", Scale(("low", "high")), scope="phase"),
        Criterion("ease", "?", Scale(("low", "high")), scope="batch"),
        Criterion("remark", "?", Scale(kind="text"), scope="phase"),
    ),
)


# The first two items' answers have identifiers in the other order than their systems.
PAIRED = [
    Answer(f"{i.id}:{s}", i.id, SWAPPED[s] if n < 2 else s)
    for n, i in enumerate(ITEMS)
    for s in SWAPPED
]


def of_pairs(ratings_of: int, *, planned: bool = True, more: int = 0) -> Results:
    """Two raters, ten screens each, every second with its answers on the other side; `ratings_of`
    screens are rated."""
    tasks, ratings, attempts = [], [], []
    for rater in RATERS:
        for n, item in enumerate(ITEMS):
            shown = (f"{item.id}:one", f"{item.id}:two")
            name = f"{rater.id}/{item.id}"
            task = Task(name, name, rater.id, "pairs", item.id, shown if n % 2 else shown[::-1])
            tasks.append(task)
            if n < ratings_of:
                ratings.append(Rating(task.id, rater.id, "better", item.id, shown, label="left"))
            elif rater.kind == "llm":
                attempts.append(Attempt(f"a{n}", task.id, rater.id, "not json"))
    tasks += [Task("load", "load", "ann", "effort", None, phase="1")]
    tasks += [
        Task(f"ease{n}", f"ease{n}", "ann", "effort", None, phase="1", batch=f"b{n}")
        for n in range(3)
    ]
    ratings += [Rating("load", "ann", "effort", None, label="low")]
    ratings += [Rating(f"ease{n}", "ann", "ease", None, label="low") for n in range(2)]
    extra = [Task(f"m{n}", f"m{n}", "", "pairs", "q0", ("q0:one", "q0:two")) for n in range(more)]
    ratings += [Rating(t.id, "ann", "better", "q0", t.answers, label="left") for t in extra]
    data = Data(ITEMS, PAIRED, RATERS, [*tasks, *extra], ratings, attempts)
    forms = (Instrument("pairs", (BETTER,), unit="pair"), EFFORT)
    return run(
        (),
        data,
        RunSettings(
            instruments=forms,
            seed=1,
            resampling=Resampling(),
            exclusions=Exclusions(),
            planned=planned,
        ),
    )


def test_a_pair_is_counted_under_one_name_whichever_side_it_was_shown_on() -> None:
    rows = {(c.panel, c.criterion, c.system): c for c in of_pairs(3).coverage}
    assert {k for k in rows if k[1] == "better"} == {
        (p, "better", "one | two") for p in ("experts", "judges")
    }
    people, judges = (rows[p, "better", "one | two"] for p in ("experts", "judges"))
    assert (people.expected, people.rated, people.unreadable, people.missing) == (5, 3, 0, 2)
    assert (judges.expected, judges.rated, judges.unreadable, judges.missing) == (5, 3, 2, 0)


def test_questionnaires_are_expected_once_a_phase_or_batch_and_texts_never() -> None:
    results = of_pairs(5)
    rows = {c.criterion: c for c in results.coverage}
    assert (rows["effort"].expected, rows["effort"].rated, rows["effort"].missing) == (1, 1, 0)
    assert (rows["ease"].expected, rows["ease"].rated, rows["ease"].missing) == (3, 2, 1)
    assert "remark" not in rows
    assert sum("5 items were rated by" in sentence for sentence in results.methods) == 1


def test_more_ratings_than_tasks_ask_for_are_told_and_hide_no_gap() -> None:
    assert not of_pairs(5).warnings
    results = of_pairs(4, more=2)
    row = next(c for c in results.coverage if (c.panel, c.criterion) == ("experts", "better"))
    assert (row.expected, row.rated, row.missing) == (5, 6, None)
    (warning,) = results.warnings
    assert "of experts, better, one | two than its tasks require: 6 instead of at most 5" in warning


def test_what_no_task_asks_for_is_expected_never() -> None:
    rater, lone = (
        RATERS[0],
        Rating("gone", "ann", "better", "q0", ("q0:one", "q0:two"), label="left"),
    )
    form = Instrument("pairs", (BETTER,), unit="pair")
    data = Data(ITEMS, ANSWERS, [rater], [], [lone])
    for planned, expected in ((True, 0), (False, None)):
        results = run(
            (),
            data,
            RunSettings(
                instruments=(form,),
                seed=1,
                resampling=Resampling(),
                exclusions=Exclusions(),
                planned=planned,
            ),
        )
        assert [(c.expected, c.missing) for c in results.coverage] == [(expected, None)]
        assert len(results.warnings) == planned
