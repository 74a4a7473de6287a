"""The blinding probe from ratings to rows: held against systems, against A of a pair, or against
the arm."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest

from konsil.analysis import Analysis, contradictions
from konsil.analysis.model.spec import Exclusions, Resampling
from konsil.analysis.running.run import run
from konsil.analysis.running.run_settings import RunSettings
from konsil.analysis.table.frame import Data
from konsil.errors import AnalysisError
from konsil.instrument import Criterion, Instrument, Scale
from konsil.records import Answer, Item, Rater, Rating, Task

SYSTEMS = ("north", "south")
GUESS = Scale(("Product N", "Product S"), abstain="cannot tell")
ASKED = Analysis(
    "blind",
    "blinding_bang",
    "guess",
    "people",
    collapse={"Product N": "north", "Product S": "south"},
)
RATERS = tuple(
    Rater(f"r{n}", "people", strata={"years": "few" if n % 2 else "many"}) for n in range(6)
)


def probe(scope: str, knowing: float, seed: int = 1) -> tuple[Data, Instrument]:
    """Six raters guess the systems of twenty items' answers; with this chance they know, else they
    toss a coin."""
    rng = random.Random(seed)
    items = tuple(Item(f"i{n}", "?") for n in range(20))
    answers = tuple(Answer(f"{i.id}{s[0]}", i.id, s) for i in items for s in SYSTEMS)
    tasks, ratings = [], []
    for rater in RATERS:
        arm = SYSTEMS[int(rater.id[1]) % 2]
        subjects = (
            [(None, ())]
            if scope == "rater"
            else [
                (i.id, a)
                for i in items
                for a in (
                    [(f"{i.id}s", f"{i.id}n")]
                    if scope == "pair"
                    else [(f"{i.id}n",), (f"{i.id}s",)]
                )
            ]
        )
        for item, shown in subjects:
            truth = arm if scope == "rater" else SYSTEMS[shown[0].endswith("s")]
            name = f"t {rater.id} {item} {shown}"
            tasks.append(Task(name, "p", rater.id, "probe", item, shown, arm=arm))
            label = truth if rng.random() < knowing else rng.choice(SYSTEMS)
            given = "Product N" if label == "north" else "Product S"
            blank = Rating(name, rater.id, "guess", item, shown, state="abstained")
            ratings.append(
                blank if rng.random() < 0.2 else replace(blank, state="rated", label=given)
            )
    form = Instrument("probe", (Criterion("guess", "Which one?", GUESS, scope),), unit="answer")  # type: ignore[arg-type]
    return Data(items, answers, RATERS, tuple(tasks), tuple(ratings)), form


def rows_of(data: Data, form: Instrument, asked: Analysis) -> list:
    found = run(
        [asked],
        data,
        RunSettings(
            instruments=[form],
            seed=1,
            resampling=Resampling(400),
            exclusions=Exclusions(),
        ),
    )
    return [r for r in found.rows if r.kind == "estimate"]


@pytest.mark.parametrize("scope", ["answer", "pair"])
def test_who_knows_and_who_tosses_a_coin(scope: str) -> None:
    for knowing, low, high in ((0.0, -0.3, 0.3), (1.0, 0.6, 1.0)):
        data, form = probe(scope, knowing)
        rows = rows_of(data, form, ASKED)
        # Of a pair A is the same system throughout here.
        assert [r.group for r in rows] == [
            {"system": s} for s in (SYSTEMS if scope == "answer" else SYSTEMS[1:])
        ]
        assert all(low < r.estimate.value < high for r in rows)
        assert all(r.estimate.low < r.estimate.value < r.estimate.high for r in rows)
    rows = rows_of(*probe("answer", 1.0), replace(ASKED, statistic="blinding_james", by=("years",)))
    assert [r.group for r in rows] == [{"years": "few"}, {"years": "many"}]
    assert all(0 < r.estimate.value < 0.3 for r in rows), "only those who cannot tell are blind"


def test_raters_can_be_the_clusters() -> None:
    data, form = probe("answer", 0.5)
    by_item, by_rater = (
        rows_of(data, form, replace(ASKED, cluster=c))[0].estimate for c in ("item", "rater")
    )
    assert by_item.value == by_rater.value
    assert (by_item.n_clusters, by_rater.n_clusters) == (20, 6)
    assert by_rater.method.startswith("cluster-robust Wald (rater-clustered), t with 5")


def test_of_an_arm_everybody_is_a_cluster() -> None:
    data, form = probe("rater", 1.0)
    rows = rows_of(data, form, ASKED)
    assert [r.group for r in rows] == [{"arm": "north"}, {"arm": "south"}]
    assert [r.estimate.n_clusters for r in rows] == [6, 6]
    assert np.isfinite([r.estimate.value for r in rows]).all()


def test_a_label_that_stands_for_nothing_is_told() -> None:
    data, form = probe("answer", 1.0)
    with pytest.raises(
        AnalysisError,
        match=r"no label of 'guess' corresponds to 'north'; state it with collapse = .*",
    ):
        rows_of(data, form, replace(ASKED, collapse={"Product N": "nord", "Product S": "south"}))


def test_what_it_does_not_take() -> None:
    assert list(contradictions(replace(ASKED, by=("system",), compare="system"))) == [
        "compare: 'blinding_bang' does not support this option",
        ("by[0]: guesses are compared with the system; 'blinding_bang' already has a row for each"),
    ]
    assert list(contradictions(ASKED)) == []
