"""Whether the order of two systems reverses, and what is said of it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.analyses import flat_analysis
from tests.clexeval_tables import LEVELS, RIGHT, answer, answers, items, published, rated, results

from konsil.analysis import Analysis
from konsil.analysis.model.rows import Row
from konsil.analysis.table.frame import Data
from konsil.records import Rater
from konsil.stats.cases.degradation import reversal

ASKED = flat_analysis("a", "crossover", "diagnostic_precision", "experts", levels=LEVELS)


def of_patterns(first: list[str], second: list[str]) -> Data:
    """Cases answered as the patterns say, by one expert."""
    its = items(len(first))
    ratings = [
        rated(
            "e",
            "diagnostic_precision",
            answer(system, n, level),
            "1" if pattern[level] == "1" else "0",
        )
        for system, patterns in (("generalist", first), ("specialist", second))
        for n, pattern in enumerate(patterns)
        for level in range(5)
    ]
    return Data(its, answers(its), (Rater("e", "experts"),), (), tuple(ratings))


def headline(data: Data, asked: Analysis = ASKED) -> Row:
    [row] = [r for r in results(data, asked).rows if r.kind == "estimate"]
    return row


def test_the_papers_crossover_is_not_shown_by_its_counts() -> None:
    row = headline(published())
    by_level = (RIGHT["generalist"] - RIGHT["specialist"]).mean(
        axis=0
    )  # ahead at the narrative, behind at level 2
    assert row.estimate.value == pytest.approx(min(by_level[0], -by_level[3]))
    assert row.estimate.low < 0
    assert row.finding.startswith("Rank reversal not shown: generalist leads at")
    assert "at least one of the two simultaneous CIs includes 0" in row.finding
    assert row.finding in row.warnings
    assert row.group == {"systems": "pair:generalist:specialist"}


def test_a_clear_reversal_is_told() -> None:
    row = headline(of_patterns(["11000"] * 24 + ["11100"] * 8, ["00111"] * 24 + ["01111"] * 8))
    assert row.estimate.low > 0
    assert row.finding.startswith("Rank reversal: generalist leads at narrative, specialist at")


def test_few_cases_that_are_all_alike_show_no_reversal() -> None:
    patterns = of_patterns(["11000"] * 4, ["00011"] * 4)
    row = headline(patterns)
    assert row.estimate.value == 1
    assert row.estimate.low < 0
    assert row.finding.startswith("Rank reversal not shown")
    below = [r.estimate for r in results(patterns, ASKED).rows if r.kind == "difference"]
    assert all(e.low < e.high for e in below)


def test_no_reversal() -> None:
    row = headline(of_patterns(["11100"] * 20, ["11000"] * 12 + ["10000"] * 8))
    assert row.estimate.value <= 0
    assert row.finding == (
        "No rank reversal observed: generalist and specialist keep the same order at every"
        " information level."
    )


def test_each_level_stands_below() -> None:
    found = [r for r in results(published(), ASKED).rows if r.kind == "difference"]
    assert [r.group["level"] for r in found] == list(LEVELS)
    assert [r.estimate.value for r in found] == pytest.approx(
        (RIGHT["generalist"] - RIGHT["specialist"]).mean(axis=0).tolist()
    )


def test_hidden_knowledge_is_told_only_beyond_the_margin() -> None:
    asked = replace(ASKED, statistic="diagnostic_potential")
    rows = {r.group["system"]: r for r in results(published(), asked).rows if r.finding}
    assert rows["specialist"].estimate.value == pytest.approx(6 / 40)
    # Six of 40, and five tries at the levels' accuracies would find 20% by luck alone: nothing is
    # shown.
    assert rows["specialist"].finding.startswith(
        "Hidden knowledge not distinguishable from chance: specialist was incorrect at narrative"
    )
    assert "expected by chance 20%" in rows["specialist"].finding
    assert rows["generalist"].finding.startswith(
        "Hidden knowledge not shown: generalist was incorrect"
    )
    # Every case is right at one level of four: tries by luck would miss a third of them.
    known = {
        r.group["system"]: r
        for r in results(
            of_patterns(["01000", "00100", "00010", "00001"] * 10, ["11111"] * 40), asked
        ).rows
        if r.finding
    }
    assert any(r.finding.startswith("Hidden knowledge: ") for r in known.values()), known
    strict = {
        r.group["system"]: r
        for r in results(published(), replace(asked, margin=0.1)).rows
        if r.finding
    }
    assert strict["specialist"].finding.startswith("Hidden knowledge not shown: ")


NUMBERS = st.lists(st.floats(-1, 1), min_size=2, max_size=6)


@given(NUMBERS, st.floats(0, 1))
def test_reversal_is_antisymmetric_and_its_ends_enclose_it(d: list[float], width: float) -> None:
    x = np.array(d)
    value, (_, i, j) = reversal(x, x)
    assert reversal(-x, -x)[0] == value
    assert i < j
    assert reversal(x - width, x + width)[0] <= value <= reversal(x + width, x - width)[0]
    signs = np.sign(x)
    reverses = any(signs[a] * signs[b] < 0 for a in range(len(d)) for b in range(a))
    assert (value > 0) == reverses
