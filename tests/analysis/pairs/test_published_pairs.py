"""Paper mode of comparisons in a study: weights before the split, strata, users as clusters, arms
apart."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from tests.analyses import flat_analysis

from konsil.analysis import Exclusions, Resampling
from konsil.analysis.model.rows import Row
from konsil.analysis.running.run import run
from konsil.analysis.running.run_settings import RunSettings
from konsil.analysis.table.frame import Data
from konsil.instrument import Criterion, Instrument, Scale
from konsil.records import Answer, Item, Rater, Rating, Task

LABELS = ("A much", "A", "same", "B", "B much")
FORM = Instrument(
    "form",
    (Criterion("better", "Which is better?", Scale(LABELS, level="ordinal"), scope="pair"),),
    unit="pair",
)


def world(seed: int = 1) -> tuple[Data, list[tuple[str, str, str, int, str]]]:
    """Votes (rater, item, first < second, steps, exposure) and the same as a study's data."""
    rng = np.random.default_rng(seed)
    systems, items = ("s1", "s2", "s3"), [f"q{n:02d}" for n in range(40)]
    raters = [
        Rater(f"r{n}", "people", strata={"exposure": "user" if n % 3 else "other"})
        for n in range(9)
    ]
    answers = [Answer(f"{i}:{s}", i, s) for i, s in product(items, systems)]
    rows, tasks, ratings = [], [], []
    for n in range(150):
        rater, item = raters[n % 9], items[rng.integers(40)]
        a, b = sorted(rng.choice(3, 2, replace=False, p=[0.5, 0.3, 0.2]))
        step = int(rng.integers(-2, 3))
        rows.append((rater.id, item, f"{systems[a]}|{systems[b]}", step, rater.strata["exposure"]))
        two = (f"{item}:{systems[a]}", f"{item}:{systems[b]}")
        tasks.append(Task(f"t{n:03d}", f"t{n:03d}", rater.id, "form", item, two, arm="text"))
        ratings.append(
            Rating(
                f"t{n:03d}",
                rater.id,
                "better",
                item,
                two,
                label=LABELS[2 - step],
                instrument="form",
            )
        )
    return (
        Data(
            tuple(Item(i, "?") for i in items),
            tuple(answers),
            tuple(raters),
            tuple(tasks),
            tuple(ratings),
        ),
        rows,
    )


def analysed(data: Data, **settings: object) -> list[Row]:
    chosen = {"statistic": "win_difference", "mode": "paper", "prespecified": False} | settings
    analysis = flat_analysis("a", criterion="better", raters="people", **chosen)  # type: ignore[arg-type]
    results = run(
        [analysis],
        data,
        RunSettings(
            instruments=[FORM],
            seed=1,
            resampling=Resampling(200),
            exclusions=Exclusions(),
        ),
    )
    return [row for row in results.rows if row.kind == "estimate"]


def weighted(
    rows: list[tuple[str, str, str, int, str]], system: str, of_exposure: object = None
) -> float:
    count: dict[str, int] = {}
    for row in rows:
        count[row[2]] = count.get(row[2], 0) + 1
    top = bottom = 0.0
    for _, _, pair, step, exposure in rows:
        first, second = pair.split("|")
        if system not in (first, second) or (of_exposure is not None and exposure != of_exposure):
            continue
        top += np.sign(step) * (1 if system == first else -1) / count[pair]
        bottom += 1 / count[pair]
    return top / bottom


def test_weights_are_made_before_the_split() -> None:
    data, rows = world()
    for row in analysed(data, by=("exposure",)):
        expected = weighted(rows, row.group["system"], row.group["exposure"])
        assert row.estimate.value == pytest.approx(expected, abs=1e-12)
        assert row.estimate.p > 0
        assert row.estimate.method.startswith("as published: item bootstrap")
    valid = {
        tuple(r.group.values()): r.estimate.value
        for r in analysed(data, by=("exposure",), mode="valid")
    }
    paper = {tuple(r.group.values()): r.estimate.value for r in analysed(data, by=("exposure",))}
    assert valid.keys() == paper.keys()
    assert valid != pytest.approx(paper, abs=1e-3)


def test_without_a_split_the_value_is_that_of_valid_mode() -> None:
    data, _ = world(2)
    values = [
        {r.group["system"]: r.estimate.value for r in analysed(data, mode=mode)}
        for mode in ("paper", "valid")
    ]
    assert values[0] == pytest.approx(values[1], abs=1e-12)


def test_users_as_clusters_have_an_interval_and_p_of_their_own() -> None:
    data, _ = world(3)
    by_user, by_item = analysed(data, cluster="rater"), analysed(data)
    assert [r.estimate.n_clusters for r in by_user] == [9, 9, 9]
    assert all(r.estimate.low != s.estimate.low for r, s in zip(by_user, by_item, strict=True))
    assert all(
        np.isfinite(r.estimate.p) and "rater bootstrap" in r.estimate.method for r in by_user
    )


def test_a_test_that_is_not_asked_for_has_no_p() -> None:
    data, _ = world(4)
    assert all(np.isnan(r.estimate.p) for r in analysed(data, test="none"))


@pytest.mark.parametrize("statistic", ["choice_agreement", "choice_kappa"])
def test_agreement_says_that_it_is_as_published(statistic: str) -> None:
    data, _ = world(5)
    [row] = analysed(data, statistic=statistic)
    assert row.estimate.low <= row.estimate.value <= row.estimate.high
    assert row.estimate.method.startswith("as published: raters and sides in the given order")
