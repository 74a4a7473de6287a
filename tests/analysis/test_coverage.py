"""Every rating is accounted for: expected = rated + abstained + unreadable + missing + excluded."""

from __future__ import annotations

import pytest

from konsil.analysis import Exclusions, Resampling
from konsil.analysis.frame import Data
from konsil.analysis.results import CoverageRow
from konsil.analysis.run import run
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
    found = run((), DATA, instruments=(FORM,), seed=1, resampling=Resampling(), exclusions=rules, planned=planned)
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
    assert dict(ann.excluded) == {"faster than 10 seconds": 1, "no time recorded": 1}
    judge = found["judges", "correct", "two"]
    # A reply that was read at the second try is rated; two that never were are unreadable, one was never asked for.
    assert (judge.rated, judge.abstained, judge.unreadable, judge.missing) == (2, 0, 2, 1)
    assert found["judges", "easy", ""].unreadable == 2


def test_without_a_plan_nothing_is_missing() -> None:
    row = coverage(planned=False)["experts", "correct", "one"]
    assert (row.expected, row.missing) == (None, None)


def test_a_stratum_cannot_take_the_name_of_a_column() -> None:
    data = Data([Item("q0", "?", strata={"system": "x"})], ANSWERS, RATERS, TASKS, DATA.ratings)
    with pytest.raises(AnalysisError, match="the stratum 'system' of the items has the name of a rating's own column"):
        run((), data, instruments=(FORM,), seed=1, resampling=Resampling(), exclusions=Exclusions())
