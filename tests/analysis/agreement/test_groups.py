"""Compared groups are called paired only where they have items in common, and their limits stay
within the range."""

from __future__ import annotations

import math
from dataclasses import replace

from tests.analyses import flat_analysis, restated

from konsil.analysis import Analysis, Exclusions, Resampling, Results, Row
from konsil.analysis.running.run import run
from konsil.analysis.running.run_settings import RunSettings
from konsil.analysis.table.frame import Data
from konsil.instrument import Criterion, Instrument, Scale
from konsil.records import Answer, Item, Rater, Rating, Task
from konsil.report.estimates.estimates import _compared
from konsil.report.material.language import language
from konsil.report.material.overview import Material
from konsil.report.material.table_rows import Joined
from konsil.report.material.tables import Numbers
from konsil.study import Study

FORM = Instrument("f", (Criterion("correct", "?", Scale(("no", "yes", "fair"))),))
ITEMS = [Item(f"q{n:02}", "?", strata={"language": "de" if n % 2 else "en"}) for n in range(40)]
ANSWERS = [Answer(f"{i.id}:{s}", i.id, s) for i in ITEMS for s in "ab"]
RATERS = [Rater(f"r{n}", "p") for n in range(3)]
TASKS = [
    Task(f"{r.id}/{a.id}", f"{r.id}/{a.id}", r.id, "f", a.item, (a.id,))
    for r in RATERS
    for a in ANSWERS
]
RATINGS = [
    Rating(
        t.id,
        t.rater,
        "correct",
        t.item,
        t.answers,
        label=("yes", "no", "fair")[(n * n + n // 7) % 3],
    )
    for n, t in enumerate(TASKS)
]
ALPHA = Analysis("x", "krippendorff_alpha", "correct", "p")


def results(*asked: Analysis) -> Results:
    data = Data(ITEMS, ANSWERS, RATERS, TASKS, RATINGS)
    return run(
        asked,
        data,
        RunSettings(
            instruments=(FORM,),
            seed=1,
            resampling=Resampling(200),
            exclusions=Exclusions(),
        ),
    )


def differences(by: tuple[str, ...], compare: str) -> list[Row]:
    asked = Analysis("x", "krippendorff_alpha", "correct", "p", by=by, compare=compare)
    return [r for r in results(asked).rows if r.kind == "difference"]


def test_limits_stay_within_the_range_and_the_method_says_so() -> None:
    """Nearly every label is the same: Wald limits of shares, means and their differences would
    leave the range."""
    rare = flat_analysis(
        "x", "share", "correct", "p", of=("yes",), by=("system",), compare="system"
    )
    ratings = [
        replace(r, label="yes" if n in {3, 90, 91, 92} else "no") for n, r in enumerate(RATINGS)
    ]
    data = Data(ITEMS, ANSWERS, RATERS, TASKS, ratings)
    asked = (
        rare,
        restated(rare, name="m", statistic="mean", of=()),
        replace(rare, name="p", mode="paper"),
    )
    rows = run(
        asked,
        data,
        RunSettings(
            instruments=(FORM,),
            seed=1,
            resampling=Resampling(200),
            exclusions=Exclusions(),
        ),
    ).rows
    highest = {"x": 1.0, "m": 2.0}
    for row in (r for r in rows if r.analysis != "p" and math.isfinite(r.estimate.low)):
        least = -highest[row.analysis] if row.versus else 0.0
        assert least <= row.estimate.low <= row.estimate.high <= highest[row.analysis]
    cut = [
        r
        for r in rows
        if r.analysis != "p" and "truncated at the smallest possible value" in r.estimate.method
    ]
    assert {r.analysis for r in cut} == {"x", "m"}
    # A share's own interval ends within its range; the jackknife of a mean may not.
    assert all(r.estimate.low == 0.0 for r in cut)
    assert all(r.kind == "companion" for r in cut if r.analysis == "x")
    # What a paper does stays as it is.
    assert any(r.estimate.low < 0 and not r.versus for r in rows if r.analysis == "p")


def captions(rows: list[Row], code: str) -> tuple[str, list[str]]:
    spoken = language(code)
    material = Material(
        study=Study("T", 1),
        results=Results((), ()),
        items=(),
        answers=(),
        raters=(),
        ratings=(),
        language=spoken,
        numbers=Numbers(spoken),
    )
    return _compared(material, "x", [Joined(row, []) for row in rows])


def test_strata_of_items_are_independent_groups() -> None:
    rows = differences(("language", "system"), "language")
    assert len(rows) == 2 and all(r.is_paired is False for r in rows)
    assert all("paired" not in r.estimate.method.replace("unpaired", "") for r in rows)
    assert captions(rows, "en") == (
        "Differences of independent groups, analysis “x”.",
        ["The groups compared have no items in common."],
    )
    assert captions(rows, "de")[0] == "Differenzen unabhängiger Gruppen, Analyse „x“."


def test_systems_on_the_same_items_and_raters_on_the_same_answers_are_paired() -> None:
    rows = [*differences(("system",), "system"), *differences(("rater_pair",), "rater_pair")]
    assert len(rows) == 4 and all(r.is_paired for r in rows)
    assert captions(rows, "en")[0] == "Paired differences of the analysis “x”."


def test_where_some_are_paired_the_caption_claims_neither() -> None:
    rows = [*differences(("system",), "system"), *differences(("language",), "language")]
    assert captions(rows, "en") == ("Differences of the analysis “x”.", [])
