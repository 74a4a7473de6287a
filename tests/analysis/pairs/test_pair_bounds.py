"""Comparisons that are missing: the ranges told are those of every way of filling the gaps."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import product

import pytest
from tests.analyses import restated
from tests.analysis.pairs.test_pairs import DATA, FORM, LABELS

from konsil.analysis import Analysis, Results
from konsil.analysis.model.spec import Exclusions, Resampling
from konsil.analysis.running.run import run
from konsil.analysis.running.run_settings import RunSettings
from konsil.analysis.table.frame import Data

ASKED = Analysis("x", "win_difference", "accuracy", "judges", test="none")
EXACT = {
    "wins": replace(ASKED, name="wins"),
    "strict": replace(ASKED, name="strict", statistic="win_difference_strict"),
    "margin": replace(ASKED, name="margin", statistic="margin"),
    "rates": replace(ASKED, name="rates", statistic="win_rate"),
    "by judge": replace(ASKED, name="by judge", by=("rater",)),
    "by length": replace(ASKED, name="by length", by=("length",)),
    "jury": replace(ASKED, name="jury", consensus="mean"),
    "side": replace(ASKED, name="side", statistic="position_bias", by=("rater",)),
    "own": restated(ASKED, name="own", statistic="self_preference", against="experts"),
    "own, peers": restated(ASKED, name="own, peers", statistic="self_preference", mode="paper"),
}
UNTOLD = (
    replace(ASKED, name="worths", statistic="davidson"),
    replace(ASKED, name="taus", statistic="rank_agreement", against="experts"),
    replace(ASKED, name="accord", statistic="choice_agreement"),
)
# Few comparisons, so that single gaps move the numbers; two of one judge and one of another are
# missing.
KEPT = {t.id for t in DATA.tasks[:240]}
GONE = (
    tuple(t.id for t in DATA.tasks[:40] if t.rater == "judge east")[:2]
    + tuple(t.id for t in DATA.tasks[40:80] if t.rater == "judge west")[:1]
)
SMALL = replace(
    DATA, tasks=DATA.tasks[:240], ratings=tuple(r for r in DATA.ratings if r.task in KEPT)
)
LEFT = replace(SMALL, ratings=tuple(r for r in SMALL.ratings if r.task not in GONE))
GAPS = tuple(r for r in SMALL.ratings if r.task in GONE and r.criterion == "accuracy")


def results(data: Data, *asked: Analysis) -> Results:
    return run(
        asked,
        data,
        RunSettings(
            instruments=[FORM], seed=1, resampling=Resampling(100), exclusions=Exclusions()
        ),
    )


def key(name: str, group: object) -> tuple[object, ...]:
    return (name, *sorted(dict(group).items()))  # type: ignore[call-overload]


@pytest.fixture(scope="module")
def ends() -> dict[tuple[object, ...], list[float]]:
    found: dict[tuple[object, ...], list[float]] = {}
    other = tuple(r for r in SMALL.ratings if r.task in GONE and r.criterion != "accuracy")
    level = (LABELS[2],) * len(GAPS)
    for labels in (level, *product((LABELS[0], LABELS[4]), repeat=len(GAPS))):
        filled = tuple(replace(r, label=label) for r, label in zip(GAPS, labels, strict=True))
        for r in results(
            replace(LEFT, ratings=LEFT.ratings + filled + other), *EXACT.values()
        ).rows:
            if r.kind == "estimate":
                found.setdefault(key(r.analysis, r.group), []).append(r.estimate.value)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("name", EXACT)
def test_the_range_is_that_of_every_filling(
    name: str, ends: dict[tuple[object, ...], list[float]]
) -> None:
    bounds = [b for b in results(LEFT, EXACT[name]).bounds if math.isfinite(b.value)]
    assert bounds
    for b in bounds:
        filled = [v for v in ends[key(name, b.group)] if math.isfinite(v)]
        assert b.low == pytest.approx(min(filled, default=b.low), abs=1e-12)
        assert b.high == pytest.approx(max(filled, default=b.high), abs=1e-12)
        assert 0 < b.n_missing <= len(GAPS)
    if name == "wins":
        concerned = {a.split(" ")[1] for r in GAPS for a in r.answers}
        assert {b.group["system"] for b in bounds} == concerned


@pytest.mark.slow
def test_what_has_no_range_says_so_and_nothing_missing_has_none() -> None:
    found = results(LEFT, *UNTOLD)
    assert {b.analysis for b in found.bounds} == {"worths", "taus", "accord"}
    assert all(math.isnan(b.low) and math.isnan(b.high) for b in found.bounds)
    assert results(SMALL, *EXACT.values(), *UNTOLD).bounds == ()
