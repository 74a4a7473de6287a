"""Which labels an analysis uses where raters looked at disagreements once more: before by default,
after if asked."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.analyses import flat_analysis

from konsil.analysis.model.spec import Analysis, Exclusions, Resampling
from konsil.analysis.running.run import run
from konsil.analysis.running.run_settings import RunSettings
from konsil.analysis.table.frame import Data
from konsil.instrument import Criterion, Instrument, Scale
from konsil.records import Answer, Item, Rater, Rating, Task

YES = Criterion("correct", "Is it?", Scale(("no", "yes"), abstain="cannot tell"))
BETTER = Criterion("better", "Which?", Scale(("A", "same", "B"), level="ordinal"), "pair")
ODD = Criterion("odd", "Which?", Scale(("left", "right")), "pair")
FORMS = (Instrument("form", (YES,)), Instrument("pair", (BETTER, ODD), unit="pair"))
ITEMS = [Item(f"i{n}", "?") for n in range(10)]
ANSWERS = [Answer(f"{i.id}:{s}", i.id, s) for i in ITEMS for s in ("x", "y")]
RATERS = [Rater("r1", "p"), Rater("r2", "p")]


def rating(rater: str, item: Item, label: str | None, purpose: str = "", note: str = "") -> Rating:
    name = f"{rater} {item.id}{purpose}"
    state = "rated" if label is not None else "abstained"
    return Rating(
        name, rater, "correct", item.id, (f"{item.id}:x",), label=label, state=state, note=note
    )  # type: ignore[arg-type]


def task(one: Rating) -> Task:
    main = one.task.removesuffix(" again")
    again = main != one.task
    return Task(
        one.task,
        one.task,
        one.rater,
        "form",
        one.item,
        one.answers,
        purpose="adjudication" if again else "main",
        repeat_of=main if again else None,
    )


def data(*late: Rating) -> Data:
    """Of ten answers, r2 says yes to all and r1 to the last five."""
    given = [rating("r1", i, "no" if n < 5 else "yes") for n, i in enumerate(ITEMS)]
    given += [rating("r2", i, "yes") for i in ITEMS]
    given += late
    return Data(ITEMS, ANSWERS, RATERS, [task(r) for r in given], given)


LATE = (
    rating("r1", ITEMS[0], "yes", " again", "convinced"),
    rating("r2", ITEMS[0], "yes", " again", "stays"),
    rating("r1", ITEMS[1], "no", " again", "stays"),
    rating("r2", ITEMS[1], None, " again", "cannot tell any more"),
)
AGREE = Analysis("agree", "percent_agreement", "correct", "p")
SHARE = flat_analysis("yes", "share", "correct", "p", of=("yes",))


def estimates(found: Data, *analyses: Analysis) -> tuple[dict[str, float], tuple[str, ...]]:
    results = run(
        analyses,
        found,
        RunSettings(
            instruments=FORMS,
            seed=1,
            resampling=Resampling(draws=200),
            exclusions=Exclusions(),
            planned=True,
        ),
    )
    return {r.analysis: r.estimate.value for r in results.rows if r.kind == "estimate"}, tuple(
        map(str, results.methods)
    )


def test_before_is_the_default_and_nothing_moves() -> None:
    plain, told = estimates(data(), AGREE, SHARE)
    before, says = estimates(data(*LATE), AGREE, SHARE)
    assert plain == before == {"agree": 0.5, "yes": 0.75}
    reviewed = "Raters who disagreed reviewed 4 labels together and changed 2 of them."
    assert (
        reviewed in says and "All analyses use the labels given before this adjudication." in says
    )
    assert tuple(s for s in says if "adjudication" not in s and s != reviewed) == told


def test_after_takes_changed_labels_and_leaves_the_others() -> None:
    late = replace(AGREE, name="late", adjudication="after")
    share = replace(SHARE, name="late yes", adjudication="after")
    found, says = estimates(data(*LATE), AGREE, late, share)
    # Item 0 agrees now; on item 1 r2 abstains, so nine units are left: 6 of 9.
    assert found == {"agree": 0.5, "late": pytest.approx(6 / 9), "late yes": pytest.approx(15 / 19)}
    assert (
        "late and late yes use the labels after this adjudication; all other analyses use those"
        " given before it." in says
    )


def test_without_an_adjudication_after_is_before() -> None:
    found, says = estimates(data(), replace(AGREE, adjudication="after"))
    assert found == {"agree": 0.5}
    assert not any("adjudication" in s for s in says)


def test_coverage_and_counts_are_those_of_the_tasks_that_were_asked() -> None:
    results = run(
        [SHARE],
        data(*LATE),
        RunSettings(
            instruments=FORMS,
            seed=1,
            resampling=Resampling(draws=200),
            exclusions=Exclusions(),
            planned=True,
        ),
    )
    assert [(c.expected, c.received) for c in results.coverage if c.criterion == "correct"] == [
        (20, 20)
    ]
    assert not [w for w in results.warnings if "There are more ratings of" in str(w)]


def test_a_comparison_shown_the_other_way_round_is_the_same_subject() -> None:
    """A scale that does not say how it reads from the other side keeps the order shown; both name
    the same pair."""
    item = ITEMS[0]
    main = Rating("r1 m", "r1", "odd", item.id, ("i0:x", "i0:y"), label="left")
    late = Rating("r1 a", "r1", "odd", item.id, ("i0:y", "i0:x"), label="left", note="changed")
    tasks = [
        Task("r1 m", "p 1", "r1", "pair", item.id, main.answers),
        Task(
            "r1 a",
            "r1 a",
            "r1",
            "pair",
            item.id,
            late.answers,
            purpose="adjudication",
            repeat_of="r1 m",
        ),
    ]
    given = Data(ITEMS, ANSWERS, RATERS, tasks, [main, late])
    share = flat_analysis("left", "share", "odd", "p", of=("left",), adjudication="after")
    results = run(
        [share],
        given,
        RunSettings(
            instruments=FORMS,
            seed=1,
            resampling=Resampling(draws=50),
            exclusions=Exclusions(),
        ),
    )
    assert "changed 1 of them" in " ".join(map(str, results.methods))
