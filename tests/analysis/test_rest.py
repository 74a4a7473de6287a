"""Each rater against the rest of the panel, one by one: the mean of them is the panel's
leave-one-out agreement."""

from __future__ import annotations

import numpy as np
import pytest

from konsil.analysis import Analysis, Exclusions, Resampling
from konsil.analysis.running.run import run
from konsil.analysis.running.run_settings import RunSettings
from konsil.analysis.table.frame import Data
from konsil.instrument import Criterion, Instrument, Scale
from konsil.records import Answer, Item, Rater, Rating

FORM = Instrument("form", (Criterion("correct", "?", Scale(("no", "yes"), abstain="?")),))
RATERS = tuple(Rater(f"r{n}", "panel") for n in range(4))


def labels() -> list[list[str | None]]:
    """By rater, sixty answers; r3 answers by a coin, and abstains now and then."""
    rng = np.random.default_rng(3)
    right = rng.random(60) < 0.6
    given: list[list[str | None]] = []
    for rater in RATERS:
        skill, of_rater = 0.5 if rater.id == "r3" else 0.9, []
        for is_right in right:
            says = bool(is_right) == (rng.random() < skill)
            silent = rater.id == "r3" and rng.random() < 0.1
            of_rater.append(None if silent else "yes" if says else "no")
        given.append(of_rater)
    return given


def rows_of(*analyses: Analysis):
    """Sixty answers of two systems."""
    items = [Item(f"i{n:02}", "?") for n in range(30)]
    answers = [Answer(f"{i.id}:{s}", i.id, s) for i in items for s in "ab"]
    ratings = [
        Rating(
            f"t{answer.item}",
            rater.id,
            "correct",
            answer.item,
            (answer.id,),
            state="abstained" if label is None else "rated",
            label=label,
        )
        for rater, of_rater in zip(RATERS, labels(), strict=True)
        for answer, label in zip(answers, of_rater, strict=True)
    ]
    found = run(
        analyses,
        Data(items, answers, RATERS, (), ratings),
        RunSettings(
            instruments=(FORM,),
            seed=1,
            resampling=Resampling(draws=200),
            exclusions=Exclusions(),
            planned=False,
        ),
    )
    return [r for r in found.rows if r.kind != "companion"]


@pytest.mark.parametrize("statistic", ["percent_agreement", "cohen_kappa"])
def test_the_mean_of_all_is_the_panels(statistic: str):
    whole = Analysis("whole", statistic, "correct", "panel", against="rest")
    each = Analysis("each", statistic, "correct", "panel", against="rest", by=("rater",))
    one, *singles = rows_of(whole, each)
    assert [r.group for r in singles] == [{"rater": f"r{n}"} for n in range(4)]
    assert np.mean([r.estimate.value for r in singles]) == pytest.approx(one.estimate.value)
    assert min(singles, key=lambda r: r.estimate.value).group == {"rater": "r3"}
    assert all(r.estimate.low < r.estimate.value < r.estimate.high for r in singles)
    # Units that the rater labelled, and of which the others have a majority.
    for n, single in enumerate(singles):
        others = [[r[u] for r in labels()[:n] + labels()[n + 1 :] if r[u]] for u in range(60)]
        is_used = [
            labels()[n][u] is not None and 2 * others[u].count("yes") != len(others[u])
            for u in range(60)
        ]
        assert single.n_units == sum(is_used)
    assert singles[3].n_units < singles[0].n_units < 60


def test_within_groups_and_compared():
    each = Analysis(
        "each",
        "percent_agreement",
        "correct",
        "panel",
        against="rest",
        by=("system", "rater"),
        compare="rater",
    )
    rows = rows_of(each)
    assert len([r for r in rows if r.kind == "estimate"]) == 8
    gaps = [r for r in rows if r.kind == "difference"]
    assert len(gaps) == 12
    by_group = {tuple(r.group.values()): r.estimate.value for r in rows if r.kind == "estimate"}
    for gap in gaps:
        wanted = by_group[tuple(gap.group.values())] - by_group[tuple(gap.versus.values())]
        assert gap.estimate.value == pytest.approx(wanted)
