"""Small studies for the tests of the simulator."""

from __future__ import annotations

from tests.analyses import flat_analysis

from konsil.analysis import Resampling
from konsil.instrument import Criterion, Instrument, Scale
from konsil.plan import Allocation
from konsil.records import Answer, Item, Rater, Span, System
from konsil.study import Study

CORRECT = Criterion(
    "correctness", "Correct?", Scale(("Incorrect", "Correct"), abstain="Cannot judge")
)
DIFFICULTY = Criterion(
    "difficulty", "How hard?", Scale(("Easy", "Medium", "Hard"), level="ordinal"), scope="item"
)
FORM = Instrument("form", (CORRECT, DIFFICULTY))


def items_of(n):
    return [Item(f"i{k}", f"Question {k}") for k in range(n)]


def answers_of(items, systems="ab", sentences=0):
    spans = tuple(Span(10 * k, 10 * k + 9) for k in range(sentences))
    return [Answer(f"{i.id}:{s}", i.id, s, "text", sentences=spans) for i in items for s in systems]


def study_of(
    *,
    plan=None,
    analyses=(),
    instruments=(FORM,),
    physicians=4,
    judges=2,
    systems="ab",
    seed=5,
    draws=300,
):
    raters = tuple(Rater(f"p{k}", "physicians") for k in range(physicians))
    raters += tuple(
        Rater(f"j{k}", "judges", kind="llm", family=f"family {'ab'[k % 2]}") for k in range(judges)
    )
    default = (Allocation("physicians", "form"), Allocation("judges", "form"))
    return Study(
        "A test",
        seed,
        simulated=True,
        instruments=instruments,
        systems=tuple(System(s, family=f"family {s}") for s in systems),
        raters=raters,
        plan=default[: 2 if judges else 1] if plan is None else plan,
        analyses=analyses,
        resampling=Resampling(draws=draws),
    )


def analysis(statistic, criterion="correctness", raters="physicians", **more):
    return flat_analysis(
        f"{statistic} of {criterion} {sorted(more)}", statistic, criterion, raters, **more
    )
