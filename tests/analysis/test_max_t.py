"""The family of all prespecified win differences, beside a plain computation with every pattern of coins."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from tests.analysis.test_pairs import ASKED, DATA, FORM, LABELS, SYSTEMS

from konsil.analysis import Analysis, Results
from konsil.analysis.frame import Data
from konsil.analysis.run import run
from konsil.analysis.spec import Exclusions, Resampling

KEPT = sorted({i.id for i in DATA.items})[:12]
SMALL = replace(DATA, ratings=tuple(r for r in DATA.ratings if r.item in KEPT and r.rater.startswith("r")))
ACCURACY, UTILITY = (replace(ASKED, name=c, criterion=c) for c in ("accuracy", "utility"))


def results(data: Data, *asked: Analysis, draws: int = 500) -> Results:
    return run(asked, data, instruments=[FORM], seed=1, resampling=Resampling(draws), exclusions=Exclusions())


def told(found: Results) -> dict[tuple[str, ...], float]:
    return {(r.analysis, *r.group.values()): r.p_max_t for r in found.rows if r.kind == "estimate"}


def parts(data: Data, criterion: str) -> dict[str, dict[str, float]]:
    """System -> item -> what the item adds to the system's win difference, every rival with the same weight."""
    seen = []
    for r in data.ratings:
        if r.criterion == criterion:
            a, b = (answer.split(" ")[1] for answer in r.answers)
            win = np.sign(2 - LABELS.index(str(r.label)))
            seen += [(a, b, r.item, win), (b, a, r.item, -win)]
    found: dict[str, dict[str, float]] = {}
    for s in SYSTEMS:
        rivals = {b for a, b, *_ in seen if a == s}
        added = dict.fromkeys(KEPT, 0.0)
        for a, b, item, win in seen:
            if a == s:
                added[item] += float(win) / sum((x, y) == (s, b) for x, y, *_ in seen) / len(rivals)
        found[s] = added
    return found


def test_it_is_the_largest_of_all_standardised_sums_under_every_pattern_of_coins() -> None:
    data = replace(SMALL, ratings=tuple(r for n, r in enumerate(SMALL.ratings) if n % 7))  # criteria lack others
    found = told(results(data, ACCURACY, UTILITY, draws=20_000))
    names = [(c, s) for c in ("accuracy", "utility") for s in SYSTEMS]
    each = {c: parts(data, c) for c in ("accuracy", "utility")}
    differences = np.array([[each[c][s][item] for c, s in names] for item in KEPT])
    size = np.sqrt((differences**2).sum(axis=0))
    coins = np.array(list(itertools.product((1, -1), repeat=len(KEPT))))
    largest = (np.abs(coins @ differences) / size).max(axis=1)
    for n, name in enumerate(names):
        exact = (largest >= abs(differences[:, n].sum()) / size[n] - 1e-9).mean()
        assert found[name] == pytest.approx(exact, abs=4 * math.sqrt(exact * (1 - exact) / 20_000) + 1e-4)


@pytest.mark.slow
def test_a_larger_family_asks_more_and_single_tests_less() -> None:
    alone, both = results(SMALL, ACCURACY), results(SMALL, ACCURACY, UTILITY)
    one, two = told(alone), told(both)
    assert all(one[key] <= two[key] for key in one)
    flips = {
        r.group["system"]: r.estimate.p for r in alone.rows if r.kind == "companion" and math.isfinite(r.estimate.p)
    }
    assert all(flips[s] <= p + 0.02 for (_, s), p in one.items())
    assert any("max-T of the flips" in sentence for sentence in both.methods)
    assert "The 8 prespecified tests" in " ".join(both.methods)


def test_order_and_further_analyses_that_are_not_tested_change_nothing() -> None:
    found = told(results(SMALL, ACCURACY, UTILITY))
    others = (
        replace(ASKED, name="late", prespecified=False),
        replace(ASKED, name="plain", test="none"),
        replace(ASKED, name="paper", mode="paper"),
        replace(ASKED, name="raters", cluster="rater"),
        replace(ASKED, name="rates", statistic="win_rate"),
        replace(ASKED, name="worths", statistic="davidson"),
        replace(ASKED, name="side", statistic="position_bias"),
    )
    again = told(results(SMALL, *others, UTILITY, ACCURACY))
    assert {k: v for k, v in again.items() if k[0] in ("accuracy", "utility")} == found
    assert all(math.isnan(v) for k, v in again.items() if k[0] not in ("accuracy", "utility"))


@pytest.mark.slow
def test_lengths_and_groups_are_members_too() -> None:
    found = told(results(SMALL, replace(ACCURACY, by=("length",)), replace(UTILITY, by=("theme",))))
    assert len({key[0] for key, p in found.items() if math.isfinite(p)}) == 2
    assert all(0 < p <= 1 for p in found.values() if math.isfinite(p))
