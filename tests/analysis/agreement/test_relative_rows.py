"""Relative differences and units without a majority, against counts by hand."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

import pytest
from tests.analyses import flat_analysis

from konsil.analysis import Analysis, Exclusions, Resampling, Row, contradictions
from konsil.analysis.running.run import run
from konsil.analysis.running.run_settings import RunSettings
from konsil.analysis.table.frame import Data
from konsil.instrument import Criterion, Instrument, Scale
from konsil.records import Answer, Item, Rater, Rating, Task

FORM = Instrument("f", (Criterion("correct", "?", Scale(("no", "yes"), abstain="unsure")),))
PANEL = ("r1", "r2", "r3", "r4")
VOTES: Mapping[str, tuple[str, ...]] = {
    # item: votes of the four raters and, after them, of the tie-breaker; - abstains
    "a1": ("yes", "yes", "yes", "no"),
    "a2": ("no", "no", "no", "-"),
    "a3": ("no", "no", "-", "-"),
    "a4": ("yes", "yes", "no", "no", "yes"),
    "a5": ("yes", "yes", "no", "no", "-"),
    "b1": ("yes", "-", "-", "-"),
    "b2": ("yes", "yes", "yes", "yes"),
    "b3": ("no", "yes", "no", "no"),
    "b4": ("-", "-", "-", "-"),
    "b5": ("yes", "no", "-", "-"),
}
RELATIVE = flat_analysis(
    "m",
    "relative_difference",
    "correct",
    "p",
    of=("yes",),
    consensus="majority",
    tiebreak="t",
    by=("half",),
    reference={"half": "b"},
)
UNDECIDED = flat_analysis("u", "without_majority", "correct", "p", tiebreak="t")


def rows(
    analysis: Analysis, votes: Mapping[str, tuple[str, ...]] = VOTES, *, is_blinded: bool = False
) -> list[Row]:
    items = [Item(name, "?", strata={"half": name[0]}) for name in votes]
    raters = [*(Rater(r, "p") for r in PANEL), Rater("t1", "t")]
    tasks, ratings = [], []
    for item, labels in votes.items():
        for rater, label in zip((*PANEL, "t1"), labels, strict=False):
            task, answers = f"{rater}/{item}", (f"{item}:s",)
            purpose = "tiebreak" if rater == "t1" else "main"
            tasks.append(Task(task, task, rater, "f", item, answers, purpose=purpose))
            given = {"state": "abstained"} if label == "-" else {"label": label}
            ratings.append(Rating(task, rater, "correct", item, answers, **given))  # type: ignore[arg-type]
    data = Data(items, [Answer(f"{i}:s", i, "s") for i in votes], raters, tasks, ratings)
    settings = RunSettings(
        instruments=(FORM,),
        seed=1,
        resampling=Resampling(200),
        exclusions=Exclusions(),
        is_blinded=is_blinded,
    )
    return list(run([analysis], data, settings).rows)


def test_a_relative_difference_is_of_the_majorities() -> None:
    """a: yes, no, no, yes by tie-break, none; b: yes, yes, no, none, none."""
    [row] = rows(RELATIVE)
    assert row.group == {"half": "a"}
    assert row.estimate.value == pytest.approx((2 / 4) / (2 / 3) - 1)
    assert -1 < row.estimate.low < row.estimate.value < 0 < row.estimate.high
    assert math.isnan(row.estimate.p)
    assert row.estimate.method.startswith("relative difference of proportions")
    assert "Reference group: half = b." in row.warnings
    # Of five units each, a5 has no majority, and b4 and b5 have none.
    assert (row.n_units, row.n_units_versus) == (4, 3)
    assert row.warnings[-2:] == (
        "half = a: Units without a majority (excluded): 1.",
        "half = b: Units without a majority (excluded): 2.",
    )


def test_equal_notes_of_both_groups_are_one() -> None:
    [row] = rows(RELATIVE, {**VOTES, "b5": ("yes",) * 4})
    assert row.warnings[-1] == "Units without a majority (excluded): 1."


def test_a_reference_of_zero_or_without_ratings_is_undefined() -> None:
    never = {**VOTES, "b1": ("no",) * 4, "b2": ("no",) * 4}
    [row] = rows(RELATIVE, never)
    assert math.isnan(row.estimate.value)
    assert row.estimate.reason == "the proportion of the reference group is 0"
    halves = rows(
        flat_analysis(
            "m",
            "relative_difference",
            "correct",
            "p",
            of=("yes",),
            consensus="majority",
            by=("half",),
            reference={"half": "c"},
        )
    )
    assert [row.group["half"] for row in halves] == ["a", "b"]
    assert {row.estimate.reason for row in halves} == {
        "there is no rating of the reference group (half = c)"
    }
    abstained = {**VOTES, **{name: ("-",) * 4 for name in VOTES if name[0] == "b"}}
    [row] = rows(RELATIVE, abstained)
    assert row.estimate.reason == "one of the two has no labels"


def test_units_without_a_majority_are_ties_and_abstentions_of_all() -> None:
    [row] = (r for r in rows(UNDECIDED) if r.kind == "estimate")
    assert row.estimate.value == 3 / 10  # a5, b4, b5; a4 has a tie-break
    assert (row.n_units, row.n_raters) == (10, 5)
    assert row.estimate.low < 0.3 < row.estimate.high
    [alone] = (
        r
        for r in rows(flat_analysis("u", "without_majority", "correct", "p"))
        if r.kind == "estimate"
    )
    assert alone.estimate.value == 4 / 10


def test_units_that_all_abstained_on_have_no_majority() -> None:
    [row] = (
        r for r in rows(UNDECIDED, {"a1": ("-",) * 4, "a2": ("-",) * 4}) if r.kind == "estimate"
    )
    assert row.estimate.value == 1.0
    assert row.estimate.low < 1


@pytest.mark.parametrize(
    ("analysis", "problem"),
    [
        (replace(RELATIVE, consensus="none"), "consensus: 'relative_difference' divides"),
        (replace(RELATIVE, by=("system",)), "reference: 'half' is not one of by = ['system']"),
        (replace(RELATIVE, compare="half"), "compare: 'relative_difference' does not support"),
        (replace(RELATIVE, cluster="rater"), "cluster: 'relative_difference' has no CI by raters"),
        (replace(UNDECIDED, consensus="mean"), "consensus: a majority is counted, not a mean"),
    ],
)
def test_what_the_two_refuse(analysis: Analysis, problem: str) -> None:
    assert not list(contradictions(RELATIVE)) and not list(contradictions(UNDECIDED))
    assert any(text.startswith(problem) for text in contradictions(analysis))


def test_a_relative_difference_needs_one_reference() -> None:
    options = RELATIVE.options
    for reference, problem in (
        ({}, "reference: is empty; state one column of `by` and the value to divide by"),
        ({"half": "b", "item": "c"}, "reference: expected one column and its value"),
        ({"half": " "}, "reference.half: is empty; expected the value to divide by"),
    ):
        changed = replace(RELATIVE, options=replace(options, reference=reference))  # type: ignore[call-arg]
        assert any(text.startswith(problem) for text in contradictions(changed))


@pytest.mark.parametrize("column", ["system", "rater", "family"])
def test_a_reference_is_withheld_while_the_study_is_blinded(column: str) -> None:
    """Whatever its value: that of a blinded protocol is no code of a group."""
    options = replace(RELATIVE.options, reference={column: "s"})  # type: ignore[call-arg]
    [row] = rows(replace(RELATIVE, by=(column,), options=options), is_blinded=True)
    assert row.estimate.reason == (
        "the reference group is not disclosed while systems and judges are blinded"
    )
    [row] = rows(RELATIVE, is_blinded=True)
    assert row.group == {"half": "a"}  # a characteristic of the items is no name
    assert math.isfinite(row.estimate.value)
