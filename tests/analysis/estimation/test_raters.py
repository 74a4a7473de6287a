"""Raters as a source of chance: a busy one is named, and its intervals are as wide as so few raters
allow."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from scipy import stats

import konsil
from konsil.analysis import Analysis, Row
from konsil.analysis.estimation.differences import contrast
from konsil.analysis.estimation.measure import Cells, Measure, quotient
from konsil.analysis.estimation.raters.rater_differences import of_other_raters
from konsil.analysis.model.spec import Exclusions, Resampling
from konsil.analysis.running.run import run
from konsil.analysis.running.run_settings import RunSettings
from konsil.analysis.table.frame import Data
from konsil.instrument import Criterion, Instrument, Scale
from konsil.records import Item, Rater, Rating, Task


def table(share: float, raters: int = 10, seed: int = 1) -> pl.DataFrame:
    """Comparisons of three systems on 60 items, some of them by rater r00 alone."""
    g = np.random.default_rng(seed)
    item = np.repeat(np.arange(60), 3)
    rater = np.where(g.random(180) < share, 0, g.integers(1 if share else 0, raters, 180))
    first = g.integers(0, 3, 180)
    second = (first + g.integers(1, 3, 180)) % 3
    return pl.DataFrame(
        {
            "item": [f"i{n}" for n in item],
            "rater": [f"r{n:02}" for n in rater],
            "first": [f"s{n}" for n in first],
            "second": [f"s{n}" for n in second],
            "winner": g.choice(["first", "second", "tie"], 180),
        }
    )


def test_a_rater_with_most_of_the_votes_is_named_with_what_the_raters_are_worth() -> None:
    result = konsil.preference(table(0.6), resamples=100)
    assert any(
        w.startswith("r00 gave 63% of the comparisons; the effective number of raters is 2.4")
        for w in result.warnings
    )
    assert not any("gave" in w for w in konsil.preference(table(0), resamples=100).warnings)


@pytest.mark.parametrize("share", [0, 0.6])
def test_p_and_interval_are_one_test(share: float) -> None:
    freedom = []
    for entry in konsil.preference(table(share), resamples=100).win_difference:
        df = float(entry["method"].split("t with ")[1].split()[0])
        t = (entry["high"] - entry["low"]) / 2 / entry["se"]
        assert t == pytest.approx(stats.t.ppf(0.975, df), rel=5e-3)
        assert entry["p"] == pytest.approx(
            2 * stats.t.sf(abs(entry["value"]) / entry["se"], df), rel=2e-2
        )
        assert (entry["p"] < 0.05) == (not entry["low"] <= 0 <= entry["high"])
        freedom.append(df)
    assert min(freedom) < 6 if share else min(freedom) > 8


def panel(raters: tuple[int, ...], lift: float, seed: int) -> Measure:
    """Twenty items rated by each of some raters, who have levels of their own."""
    g = np.random.default_rng(seed)
    level = {r: lift + g.normal(0, 0.6) for r in raters}
    rows = [(level[r] + g.normal(0, 0.3), 1.0, item, r) for item in range(20) for r in raters]
    values = np.array([row[:2] for row in rows])
    items, who = (np.array([row[n] for row in rows], dtype=np.int64) for n in (2, 3))
    sums = np.stack([np.bincount(items, values[:, k], 20) for k in range(2)], axis=1)
    names = tuple(f"i{n:02}" for n in range(20))
    return Measure(
        sums, quotient, names, 20, len(raters), len(rows), cell=Cells(values, items, who)
    )


def test_groups_without_a_common_rater_are_compared_as_raters_like_these() -> None:
    a, b, same = panel((0, 1, 2), 1.0, 1), panel((3, 4, 5), 0.0, 2), panel((0, 1, 2), 0.0, 3)
    summary = contrast(a, b, key=1, resampling=Resampling(200), cluster="item")
    of_panels = of_other_raters(summary, a, b, "item", are_panels=True)
    assert "two-way" in of_panels.headline.method
    assert of_panels.headline.high - of_panels.headline.low > 2 * (
        summary.headline.high - summary.headline.low
    )
    assert summary.headline in of_panels.companions
    assert any("have different raters" in note for note in of_panels.notes)
    # Three and three raters: four differ freely.
    means = [
        [c.cell.rows[c.cell.raters == r, 0].mean() for r in np.unique(c.cell.raters)]
        for c in (a, b)
        if c.cell
    ]
    plain = stats.ttest_ind(*means)
    assert of_panels.headline.p == pytest.approx(plain.pvalue, rel=0.3)
    both = contrast(a, same, key=1, resampling=Resampling(200), cluster="item")
    assert of_other_raters(both, a, same, "item", are_panels=True) is both


def yes_or_no(raters: range, share: float) -> Measure:
    """Forty items that each of some raters labels, some of them more often with a yes."""
    g = np.random.default_rng(5)
    item, who = np.repeat(np.arange(40), len(raters)), np.tile(np.array(raters), 40)
    hits = (g.random(len(item)) < share).astype(np.float64)
    values = np.column_stack([hits, np.ones(len(item))])
    sums = np.stack([np.bincount(item, values[:, k], 40) for k in range(2)], axis=1)
    names = tuple(f"i{n:02}" for n in range(40))
    cells = Cells(values, item, who)
    return Measure(
        sums,
        quotient,
        names,
        40,
        len(raters),
        len(item),
        cell=cells,
        hits=sums[:, 0],
        trials=sums[:, 1],
    )


@pytest.mark.parametrize(
    ("size", "share", "is_noted"),
    [(12, 0.1, True), (12, 0.9, True), (12, 0.5, False), (6, 0.1, False)],
)
def test_a_small_panel_beside_a_large_one_and_a_share_near_an_end_is_told(
    size: int, share: float, is_noted: bool
) -> None:
    a, b = yes_or_no(range(4), share), yes_or_no(range(4, 4 + size), share)
    summary = contrast(a, b, key=1, resampling=Resampling(200), cluster="item")
    notes = of_other_raters(summary, a, b, "item", are_panels=True).notes
    assert any("6 to 9% of studies" in note for note in notes) == is_noted


def test_a_kappa_has_the_interval_of_raters_like_these_beside_it() -> None:
    sample_rows = rows_of_kappa(4)
    assert any("two-way" in r.estimate.method for r in sample_rows if r.kind == "companion")
    two = next(r for r in sample_rows if "two-way" in r.estimate.method).estimate
    by_items = next(r for r in sample_rows if r.kind == "estimate").estimate
    assert two.value == by_items.value and two.low < by_items.low < by_items.high < two.high
    pair = rows_of_kappa(2)
    assert not any("two-way" in r.estimate.method for r in pair)
    assert any("these two raters" in w for r in pair for w in r.warnings)


def rows_of_kappa(raters: int) -> list[Row]:
    """A kappa of raters who draw the line at different places, on sixty items."""
    g = np.random.default_rng(7)
    items = tuple(Item(f"i{n:02}", "?") for n in range(60))
    people = tuple(Rater(f"r{n}", "experts") for n in range(raters))
    truth, line = g.normal(size=60), (0.8, -0.8, 0.0, 0.3)
    tasks = tuple(
        Task(f"t{r.id}{i.id}", "p", r.id, "form", i.id, ()) for r in people for i in items
    )
    ratings = tuple(
        Rating(
            f"t{r.id}{i.id}",
            r.id,
            "clear",
            i.id,
            (),
            None,
            "rated",
            "yes" if y + line[n] > 0 else "no",
        )
        for n, r in enumerate(people)
        for i, y in zip(items, truth + 0.5 * g.normal(size=60), strict=True)
    )
    scale = Scale(("yes", "no"))
    form = Instrument("form", (Criterion("clear", "Clear?", scale, "item"),), unit="item")
    results = run(
        [Analysis("k", "cohen_kappa", "clear", "experts")],
        Data(items, (), people, tasks, ratings),
        RunSettings(
            instruments=[form],
            seed=1,
            resampling=Resampling(200),
            exclusions=Exclusions(),
        ),
    )
    return list(results.rows)


def test_where_the_two_tests_disagree_the_reader_is_told_what_each_answers() -> None:
    """Twelve raters with tastes: these prefer one system beyond the chance of items, others might
    not."""
    g = np.random.default_rng(3)
    taste = g.normal(0, 1.2, 12)
    rater = np.repeat(np.arange(12), 30)
    gap = taste[rater] + g.normal(size=360)
    frame = pl.DataFrame(
        {
            "item": [f"i{n}" for n in range(360)],
            "rater": [f"r{n:02}" for n in rater],
            "first": "x",
            "second": "y",
            "winner": np.where(gap > 0, "x", "y"),
        }
    )
    result = konsil.preference(frame, resamples=1000)
    entry = result.win_difference[0]
    assert entry["p_flip"] < 0.05 < entry["p"]
    [note] = [w for w in result.warnings if "for these raters only" in w]
    assert (
        f"{entry['p']:.3f} for raters like these and p = {entry['p_flip']:.3f} for these raters"
        " only" in note
    )
