"""Pooled data quality: counted by hand on a small table, without systems."""

from __future__ import annotations

import math
import random
from dataclasses import replace
from typing import Literal

import pytest

from konsil.analysis import Exclusions, Resampling
from konsil.analysis.running.interim.pooled import pooled_quality, task_times
from konsil.analysis.running.run_settings import RunSettings
from konsil.analysis.table.frame import Data
from konsil.instrument import Criterion, Instrument, Scale
from konsil.records import Answer, Item, Rater, Rating, Task

CORRECT = Criterion("correct", "Is it correct?", Scale(("no", "yes"), abstain="unsure"))
HARD = Criterion("hard", "How hard?", Scale(("easy", "fair", "hard"), level="ordinal"))
WHY = Criterion("why", "Why?", Scale(kind="text"))
FORM = Instrument("form", (CORRECT, HARD, WHY))
SETTINGS = RunSettings(
    instruments=(FORM,), seed=1, resampling=Resampling(200), exclusions=Exclusions()
)


def records(labels: list[tuple[str, str, str]], names: tuple[str, str] = ("a", "b")) -> Data:
    """(item, rater, label) of the criterion `correct`; answers of two systems in turn."""
    items = sorted({item for item, _, _ in labels})
    system_by_item = {item: names[n % 2] for n, item in enumerate(items)}
    tasks, ratings = [], []
    for item, rater, label in labels:
        answer, task = f"{item}:{system_by_item[item]}", f"{item} {rater}"
        state = "abstained" if label == "unsure" else "rated"
        tasks.append(Task(task, task, rater, "form", item, (answer,)))
        ratings.append(
            Rating(
                task,
                rater,
                "correct",
                item,
                (answer,),
                None,
                state,
                label,
                at="2025-03-03T10:00:00Z",
            )
        )
    return Data(
        items=[Item(item, item) for item in items],
        answers=[Answer(f"{i}:{s}", i, s, "text") for i, s in system_by_item.items()],
        raters=[Rater("r1", "people"), Rater("r2", "people")],
        tasks=tasks,
        ratings=ratings,
    )


TABLE = [
    ("q1", "r1", "yes"),
    ("q1", "r2", "yes"),
    ("q2", "r1", "yes"),
    ("q2", "r2", "no"),
    ("q3", "r1", "no"),
    ("q3", "r2", "no"),
    ("q4", "r1", "no"),
    ("q4", "r2", "unsure"),
    ("q5", "r1", "yes"),
]


def test_counts_and_agreement_by_hand() -> None:
    correct, hard = pooled_quality(records(TABLE), SETTINGS, "people", FORM.criteria, {})
    assert (correct.n_ratings, correct.n_abstained) == (9, 1)
    assert (correct.n_units, correct.n_raters) == (3, 2)
    assert correct.abstention.value == pytest.approx(1 / 9)
    # Observed agreement 2/3 of q1..q3; mean proportion of "yes" over the five rated units.
    yes = (1 + 1 / 2 + 0 + 0 + 1) / 5
    chance = yes**2 + (1 - yes) ** 2
    assert correct.agreement.value == pytest.approx((2 / 3 - chance) / (1 - chance))
    assert math.isnan(correct.standard_deviation.value)
    assert hard.n_ratings == 0
    assert math.isnan(hard.agreement.value)
    assert (correct.statistic, hard.statistic) == ("fleiss_kappa", "krippendorff_alpha")


def test_names_of_systems_change_nothing() -> None:
    one = pooled_quality(records(TABLE), SETTINGS, "people", (CORRECT,), {})
    other = pooled_quality(records(TABLE, ("zz", "aa")), SETTINGS, "people", (CORRECT,), {})
    assert repr(one) == repr(other)


@pytest.mark.slow
def test_a_shift_of_labels_between_batches_is_detected_and_noise_is_not() -> None:
    draw = random.Random(1)

    def table(late: float) -> list[tuple[str, str, str]]:
        out = []
        for n in range(60):
            share = 0.5 if n < 30 else late
            truth = draw.random() < share
            for rater in ("r1", "r2"):
                is_yes = truth != (draw.random() < 0.1)
                out.append((f"q{n:02}", rater, "yes" if is_yes else "no"))
        return out

    for late, is_shifted in ((0.95, True), (0.5, False)):
        data = records(table(late))
        periods = {t.id: "1" if t.item < "q30" else "2" for t in data.tasks}
        [quality] = pooled_quality(data, SETTINGS, "people", (CORRECT,), periods)
        assert (quality.label_shift.p < 0.01) is is_shifted
        assert quality.agreement_shift.p > 0.05
        first, second = quality.periods
        assert (first.name, first.n_ratings, second.n_ratings) == ("1", 60, 60)
        assert sum(first.shares.values()) == pytest.approx(1)
        assert first.agreement.value != second.agreement.value
        # Holm of two tests, by hand: the smaller p twice, the larger one at least as large.
        small, large = sorted((quality.label_shift.p, quality.agreement_shift.p))
        adjusted = sorted((quality.label_drift, quality.agreement_drift))
        assert adjusted == pytest.approx([min(1, 2 * small), max(min(1, 2 * small), large)])


def test_labels_of_comparisons_do_not_show_which_system_wins() -> None:
    """Comparisons are in the order of the codes: A and B apart would be the win difference."""
    better = Criterion("better", "?", Scale(("A", "tie", "B"), abstain="none"), "pair")
    settings = replace(SETTINGS, instruments=(Instrument("form", (better,)),))

    def shares(labels: str) -> list[dict[str, float]]:
        data = records([(f"q{n}", "r1", label) for n, label in enumerate(labels)])
        names = {"A": "A", "t": "tie", "B": "B"}
        ratings = [replace(r, criterion="better", label=names[str(r.label)]) for r in data.ratings]
        periods = {t.id: "1" if t.item in ("q0", "q1") else "2" for t in data.tasks}
        pairs = replace(data, ratings=ratings)
        [quality] = pooled_quality(pairs, settings, "people", (better,), periods)
        return [dict(period.shares) for period in quality.periods]

    first = {"A / B": 1.0, "tie": 0.0, "none": 0.0}
    assert shares("ABAAtA") == shares("BABBtB") == [first, {**first, "A / B": 0.75, "tie": 0.25}]


@pytest.mark.parametrize(("scope", "is_shown"), [("answer", True), ("pair", False)])
def test_comparisons_have_no_standard_deviation(
    scope: Literal["answer", "pair"], is_shown: bool
) -> None:
    """By hand: of A, A, B as 0, 0, 1 it is the root of 1/3. In the order of the codes it is the
    smaller, the more often one system is preferred."""
    scale = Scale(("A", "B"), level="ordinal")
    better = Criterion("better", "?", scale, scope)
    settings = replace(SETTINGS, instruments=(Instrument("form", (better,)),))
    data = records([("q0", "r1", "A"), ("q1", "r1", "A"), ("q2", "r1", "B")])
    pairs = replace(data, ratings=[replace(r, criterion="better") for r in data.ratings])
    [quality] = pooled_quality(pairs, settings, "people", (better,), {})
    assert quality.standard_deviation.value == pytest.approx(
        math.sqrt(1 / 3) if is_shown else math.nan, nan_ok=True
    )


@pytest.mark.slow
def test_time_and_abstentions_of_a_period_by_hand() -> None:
    """The geometric mean of 10 and 40 seconds is 20; one of four ratings is an abstention."""
    table = [(f"q{n}", r, "yes" if n else "unsure") for n in range(4) for r in ("r1", "r2")]
    data = records(table)
    ratings = [
        replace(rating, seconds=(10.0, 40.0)[n % 2]) for n, rating in enumerate(data.ratings)
    ]
    periods = {t.id: "1" if t.item in ("q0", "q1") else "2" for t in data.tasks}
    timed = replace(data, ratings=ratings)
    [quality] = pooled_quality(timed, SETTINGS, "people", (CORRECT,), periods)
    first, second = quality.periods
    assert first.seconds.value == pytest.approx(20)
    assert (first.abstention.value, second.abstention.value) == (0.5, 0.0)
    assert second.abstention.low == 0.0
    assert second.abstention.high > 0
    [untimed] = pooled_quality(data, SETTINGS, "people", (CORRECT,), periods)
    assert math.isnan(untimed.periods[0].seconds.value)


def test_without_ratings_all_is_undefined() -> None:
    data = replace(records(TABLE), ratings=[])
    [quality] = pooled_quality(data, SETTINGS, "people", (CORRECT,), {})
    assert math.isnan(quality.agreement.value)
    assert quality.n_ratings == 0
    assert quality.periods == ()


def test_task_times_are_those_of_the_first_rating() -> None:
    data = records(TABLE[:2])
    assert task_times(data.ratings) == dict.fromkeys(("q1 r1", "q1 r2"), "2025-03-03T10:00:00Z")
