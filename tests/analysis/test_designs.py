"""Whole answers against sentences: two designs and two groups of raters as one analysis, surveys by
design."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.stats import spearmanr
from tests.analyses import flat_analysis, restated

from konsil.analysis import Analysis, Exclusions, Resampling, Results, Row
from konsil.analysis.running.run import run
from konsil.analysis.running.run_settings import RunSettings
from konsil.analysis.table.frame import Data
from konsil.errors import AnalysisError
from konsil.instrument import Criterion, Instrument, Scale
from konsil.records import Answer, Item, Rater, Rating, Span, Task
from konsil.records.worked import Worked
from konsil.stats.designs.generalizability import (
    components,
    product_sums,
    raters_needed,
    reliability,
)
from konsil.stats.designs.subsets import part_whole_points, rater_variances, spearman_of_points

POINTS = ("Disagree", "Partially disagree", "Neutral", "Partially agree", "Agree")
AGREES = Scale(POINTS, level="ordinal")
SEVEN = Scale(kind="number", low=1, high=7)
COARSE = Instrument(
    "coarse", (Criterion("correctness", "?", AGREES), Criterion("confidence", "?", AGREES))
)
FINE = Instrument(
    "fine",
    (Criterion("correctness", "?", AGREES, scope="sentence"), Criterion("confidence", "?", AGREES)),
    unit="sentence",
)
EASE = Instrument("after-batch", (Criterion("ease", "?", AGREES, scope="batch"),))
LOAD = Instrument("workload", (Criterion("effort", "?", SEVEN, scope="phase"),))
FORMS = (COARSE, FINE, EASE, LOAD)
THREE = {"Partially disagree": "Disagree", "Partially agree": "Agree"}
WRONG = {
    "Disagree": "no",
    "Partially disagree": "no",
    "Neutral": "yes",
    "Partially agree": "yes",
    "Agree": "yes",
}
GROUPS = {"group-1": ("a", "b", "c"), "group-2": ("d", "e", "f")}
TOGETHER = {"experts": ("group-1", "group-2")}
SYSTEMS = ("physician", "model")


def world(seed: int = 2, n_items: int = 20, noise: float = 0.25) -> Data:
    """Two groups of three rate the answers of their own questions coarse and fine; surveys after
    every batch."""
    chance = random.Random(seed)
    items = [Item(f"q{n:02}", "?") for n in range(n_items)]
    answers = [
        Answer(
            f"{i.id}:{s}",
            i.id,
            s,
            "word " * chance.randint(20, 120),
            sentences=tuple(Span(9 * k, 9 * k + 8) for k in range(chance.randint(3, 6))),
        )
        for i in items
        for s in SYSTEMS
    ]
    raters = [Rater(r, panel) for panel, names in GROUPS.items() for r in names]
    tasks: list[Task] = []
    ratings: list[Rating] = []

    def label(true: int) -> str:
        return POINTS[
            min(4, max(0, true + (chance.choice((-2, -1, 1, 2)) if chance.random() < noise else 0)))
        ]

    def rate(
        task: Task,
        criterion: str,
        word: str,
        seconds: float | None = None,
        span: Span | None = None,
    ) -> None:
        about = task.answers if task.item else ()
        ratings.append(
            Rating(
                task.id, task.rater, criterion, task.item, about, span, label=word, seconds=seconds
            )
        )

    for n, item in enumerate(items):
        for answer in (a for a in answers if a.item == item.id):
            whole = chance.randint(1, 4)
            each = {
                s: min(4, max(0, whole + chance.choice((-1, 0, 0, 1)))) for s in answer.sentences
            }
            for rater in GROUPS["group-1" if n < n_items // 2 else "group-2"]:
                for design in ("coarse", "fine"):
                    spans = answer.sentences if design == "fine" else ()
                    name = f"{design}/{rater}/{answer.id}"
                    task = Task(
                        name,
                        name,
                        rater,
                        design,
                        item.id,
                        (answer.id,),
                        spans,
                        phase=f"{design}-1",
                        batch=f"{design}-{n % 2}",
                    )
                    tasks.append(task)
                    seconds = chance.lognormvariate(5 if design == "coarse" else 5.6, 0.4)
                    for span in spans or (None,):
                        rate(
                            task,
                            "correctness",
                            label(whole if span is None else each[span]),
                            seconds,
                            span,
                        )
                    rate(task, "confidence", label(3), seconds)
    for rater in raters:
        for design in ("coarse", "fine"):
            for batch in range(2):
                name = f"ease/{rater.id}/{design}/{batch}"
                ease = Task(
                    name,
                    name,
                    rater.id,
                    "after-batch",
                    None,
                    phase=f"{design}-1",
                    batch=f"{design}-{batch}",
                )
                tasks.append(ease)
                rate(
                    ease,
                    "ease",
                    POINTS[chance.randint(1, 4) if design == "coarse" else chance.randint(0, 2)],
                )
            name = f"load/{rater.id}/{design}"
            load = Task(name, name, rater.id, "workload", None, phase=f"{design}-1")
            tasks.append(load)
            rate(load, "effort", str(chance.randint(1, 4) + (2 if design == "fine" else 0)))
    return Data(items, answers, raters, tasks, ratings)


DATA = world()


def results(
    *analyses: Analysis, data: Data = DATA, draws: int = 200, forms: Sequence[Instrument] = FORMS
) -> Results:
    return run(
        analyses,
        data,
        RunSettings(
            instruments=forms,
            seed=5,
            resampling=Resampling(draws),
            exclusions=Exclusions(),
            together=TOGETHER,
        ),
    )


def rows(analysis: Analysis, data: Data = DATA, kind: str = "estimate") -> list[Row]:
    return [r for r in results(analysis, data=data).rows if r.kind == kind]


def by_design(analysis: Analysis, data: Data = DATA) -> dict[str, float]:
    column = analysis.by[0]
    return {r.group[column]: r.estimate.value for r in rows(analysis, data)}


def labels(
    data: Data, design: str, criterion: str = "correctness"
) -> dict[tuple[str, Span | None], dict[str, str]]:
    """(answer, span) -> rater -> label, by loops over the ratings."""
    found: dict[tuple[str, Span | None], dict[str, str]] = {}
    for r in data.ratings:
        if r.criterion == criterion and r.task.startswith(f"{design}/"):
            found.setdefault((r.answers[0], r.span), {})[r.rater] = str(r.label)
    return found


def randolph(units: Sequence[dict[str, str]], k: int) -> float:
    pairs = [np.mean([a == b for a, b in itertools.combinations(u.values(), 2)]) for u in units]
    return float((np.mean(pairs) - 1 / k) / (1 - 1 / k))


AGREEMENT = Analysis(
    "three points",
    "randolph_kappa",
    "correctness",
    "experts",
    by=("instrument",),
    compare="instrument",
    collapse=THREE,
    labels=("Disagree", "Neutral", "Agree"),
)


def test_agreement_by_design_over_both_groups_is_that_of_loops():
    found = by_design(AGREEMENT)
    for design in ("coarse", "fine"):
        units = [{r: THREE.get(x, x) for r, x in u.items()} for u in labels(DATA, design).values()]
        assert found[design] == pytest.approx(randolph(units, 3))


def test_the_difference_of_designs_is_paired_on_the_items_though_their_units_differ():
    (difference,) = rows(AGREEMENT, kind="difference")
    found = by_design(AGREEMENT)
    assert difference.estimate.value == pytest.approx(found["coarse"] - found["fine"])
    assert difference.estimate.n_clusters == 20
    assert difference.estimate.low < difference.estimate.value < difference.estimate.high
    # The same ratings under both designs differ by nothing, in no resample.
    same = replace(
        DATA,
        ratings=[r for r in DATA.ratings if r.task.startswith("coarse/")]
        + [
            replace(r, task="fine" + r.task[6:])
            for r in DATA.ratings
            if r.task.startswith("coarse/")
        ],
    )
    (nothing,) = rows(AGREEMENT, same, "difference")
    assert nothing.estimate.value == 0
    assert np.isnan(nothing.estimate.low)
    assert "the two groups do not differ in any item" in nothing.estimate.reason


def test_an_answer_is_wrong_if_any_sentence_is_and_the_same_rule_holds_for_whole_answers():
    binary = replace(AGREEMENT, name="binary", collapse=WRONG, labels=("no", "yes"), spans="all")
    found = by_design(binary)
    for design in ("coarse", "fine"):
        answers: dict[str, dict[str, str]] = {}
        for (answer, _), given in labels(DATA, design).items():
            for rater, label in given.items():
                own = answers.setdefault(answer, {})
                own[rater] = "no" if WRONG[label] == "no" or own.get(rater) == "no" else "yes"
        assert found[design] == pytest.approx(randolph(list(answers.values()), 2))


def test_a_panel_of_panels_is_the_sum_of_its_panels():
    share = flat_analysis(
        "s", "share", "correctness", "experts", of=("Agree",), where={"instrument": ("coarse",)}
    )
    parts = [rows(replace(share, raters=name))[0].estimate for name in GROUPS]
    whole = rows(share)[0].estimate
    assert whole.n_ratings == sum(p.n_ratings for p in parts)
    assert whole.value == pytest.approx(sum(p.value * p.n_ratings for p in parts) / whole.n_ratings)


@pytest.mark.parametrize(("criterion", "n"), [("ease", 24), ("effort", 12)])
def test_surveys_are_compared_by_design_rater_by_rater(criterion: str, n: int):
    survey = Analysis(
        criterion, "mean", criterion, "experts", by=("design",), compare="design", test="flip"
    )
    numbers = {label: float(k) for k, label in enumerate(POINTS)}
    of: dict[tuple[str, str], list[float]] = {}
    for r in DATA.ratings:
        if r.criterion == criterion:
            design = next(d for d in ("coarse", "fine") if f"/{d}" in r.task)
            of.setdefault((design, r.rater), []).append(
                numbers[str(r.label)] if criterion == "ease" else float(r.label or "nan")
            )
    found = by_design(survey)
    for design in ("coarse", "fine"):
        mine = [x for (d, _), xs in of.items() if d == design for x in xs]
        assert found[design] == pytest.approx(np.mean(mine))
        assert len(mine) == n // 2
    (difference,) = rows(survey, kind="difference")
    assert difference.estimate.n_clusters == 6
    # All 64 ways of exchanging the designs within raters.
    d = [np.mean(of["coarse", r]) - np.mean(of["fine", r]) for r in "abcdef"]
    signs = np.array(list(itertools.product((1, -1), repeat=6)))
    exact = np.mean(np.abs(signs @ d) >= abs(sum(d)) - 1e-9)
    assert difference.estimate.p == pytest.approx(exact)


def test_confidence_on_a_screen_is_about_the_answer_there():
    # Two screens of an item ask it, and neither rating names an answer.
    of_screen = Criterion("confidence", "?", AGREES, scope="task")
    forms = [replace(form, criteria=(form.criteria[0], of_screen)) for form in (COARSE, FINE)]
    data = replace(
        DATA,
        ratings=[
            replace(r, answers=()) if r.criterion == "confidence" else r for r in DATA.ratings
        ],
    )
    confidence = Analysis("c", "mean", "confidence", "experts", by=("instrument", "system"))
    found = {
        tuple(r.group.values()): r.estimate
        for r in results(confidence, data=data, forms=forms).rows
    }
    assert set(found) == {(d, s) for d in ("coarse", "fine") for s in SYSTEMS}
    for (design, system), estimate in found.items():
        given = [
            u for (a, _), u in labels(DATA, design, "confidence").items() if a.endswith(system)
        ]
        assert estimate.value == pytest.approx(
            np.mean([POINTS.index(x) for u in given for x in u.values()])
        )


def times(data: Data, design: str) -> list[float]:
    """Seconds by rater and answer: each screen once, the screens of one answer's sentences
    together."""
    screens = {
        r.task: (r.rater, r.answers, r.seconds) for r in data.ratings if r.task.startswith(design)
    }
    found: dict[tuple[str, tuple[str, ...]], float] = {}
    for rater, answers, seconds in screens.values():
        found[rater, answers] = found.get((rater, answers), 0.0) + (seconds or 0.0)
    return list(found.values())


@pytest.mark.parametrize(
    ("statistic", "formula"),
    [
        ("seconds", np.mean),
        ("median_seconds", np.median),
        ("geometric_seconds", lambda x: np.exp(np.mean(np.log(x)))),
    ],
)
def test_time_is_that_of_screens_and_not_of_their_labels(
    statistic: str, formula: Callable[[list[float]], float]
):
    timed = Analysis(
        "t", statistic, "correctness", "experts", by=("instrument",), compare="instrument"
    )
    found = by_design(timed)
    for design in ("coarse", "fine"):
        assert found[design] == pytest.approx(formula(times(DATA, design)))
    (difference,) = rows(timed, kind="difference")
    assert difference.estimate.value == pytest.approx(found["coarse"] - found["fine"])
    assert difference.estimate.p < 0.05


def test_a_difference_of_standardised_times_is_cohens_d() -> None:
    timed = Analysis(
        "t",
        "standardised_seconds",
        "correctness",
        "experts",
        by=("instrument",),
        compare="instrument",
    )
    coarse, fine = (np.array(times(DATA, design)) for design in ("coarse", "fine"))
    squares = sum(float(((x - x.mean()) ** 2).sum()) for x in (coarse, fine))
    pooled = np.sqrt(squares / (len(coarse) + len(fine) - 2))
    (difference,) = rows(timed, kind="difference")
    assert difference.estimate.value == pytest.approx((coarse.mean() - fine.mean()) / pooled)


def test_one_screen_a_sentence_is_as_one_screen_an_answer():
    spans = {a.id: a.sentences for a in DATA.answers}
    split, tasks = [], []
    for t in DATA.tasks:
        for n, span in enumerate(t.spans) if t.instrument == "fine" else [(0, None)]:
            tasks.append(replace(t, id=f"{t.id}/{n}", spans=(span,)) if span else t)
    for r in DATA.ratings:
        own = spans.get(r.answers[0], ()) if r.answers else ()
        if r.span is None:
            continue
        assert r.seconds is not None
        split.append(replace(r, task=f"{r.task}/{own.index(r.span)}", seconds=r.seconds / len(own)))
    whole = Analysis("t", "seconds", "correctness", "experts", where={"instrument": ("fine",)})
    (one,), (other,) = rows(whole), rows(whole, replace(DATA, tasks=tasks, ratings=split))
    assert other.estimate.value == pytest.approx(one.estimate.value)
    assert other.estimate.n_ratings == one.estimate.n_ratings


def test_the_open_clock_counts_for_how_long_the_page_was_open():
    worked = [
        Worked(t.id, t.rater, 1.0, 500.0 + n % 7)
        for n, t in enumerate(DATA.tasks)
        if t.instrument == "coarse"
    ]
    timed = flat_analysis(
        "t", "seconds", "correctness", "experts", by=("instrument",), clock="open"
    )
    found = by_design(timed, replace(DATA, worked=worked))
    assert found == {"coarse": pytest.approx(np.mean([w.wall for w in worked]))}


def test_length_against_rating_is_spearmans_rho():
    bias = Analysis(
        "l",
        "length_correlation",
        "correctness",
        "experts",
        by=("instrument",),
        compare="instrument",
    )
    found = by_design(bias)
    words = {a.id: len(a.text.split()) for a in DATA.answers}
    for design in ("coarse", "fine"):
        rated: dict[str, list[int]] = {}
        for (answer, _), given in labels(DATA, design).items():
            rated.setdefault(answer, []).extend(POINTS.index(x) for x in given.values())
        names = sorted(rated)
        rho = spearmanr(
            [words[a] for a in names], [round(float(np.mean(rated[a])), 9) for a in names]
        ).statistic
        assert found[design] == pytest.approx(rho)
    longer = [replace(a, text="word " * int(10 * np.mean(rated[a.id]))) for a in DATA.answers]
    assert by_design(bias, replace(DATA, answers=longer))["fine"] > 0.9


def numbers_in_loops(data: Data) -> np.ndarray:
    """(answer, rater of it, sentence), as 0, 1, 2 for the three points."""
    three = {"Disagree": 0, "Partially disagree": 0, "Neutral": 1, "Partially agree": 2, "Agree": 2}
    found = np.full((len(data.answers), 3, 6), np.nan)
    for n, answer in enumerate(sorted(data.answers, key=lambda a: a.id)):
        for j, span in enumerate(answer.sentences):
            given = labels(data, "fine")[answer.id, span]
            found[n, :, j] = [three[given[r]] for r in sorted(given)]
    return found


PARTS = Analysis(
    "p", "part_whole", "correctness", "experts", collapse=THREE, labels=AGREEMENT.labels
)


def test_the_curve_of_parts_has_what_it_is_to_be_read_against():
    numbers = numbers_in_loops(DATA)
    scores = np.array(
        [[s.mean() if np.isfinite(s).all() else np.nan for s in a.T] for a in numbers]
    )
    found = results(PARTS).rows
    estimates = {r.group["sentences"]: r.estimate for r in found if r.kind == "estimate"}
    assert list(estimates) == ["1", "2", "3", "4", "5", "6"]
    for size in (1, 3):
        points = part_whole_points(scores, np.arange(len(scores)), size)
        sums, finalise = spearman_of_points(points, len(scores))
        assert estimates[str(size)].value == pytest.approx(finalise(np.asarray(sums.sum(0)))[0])
    assert estimates["6"].value == pytest.approx(1)
    assert estimates["6"].reason == "exact: every part is the whole answer"
    assert np.isnan([estimates["6"].low, estimates["6"].high, estimates["6"].se]).all()
    assert np.isfinite([estimates["5"].low, estimates["5"].high]).all()
    versions = {
        (r.group["sentences"], r.group["version"]): r.estimate
        for r in found
        if "version" in r.group
    }
    assert versions["3", "overlap_alone"].value < estimates["3"].value
    whole = versions["6", "overlap_alone"]
    assert (whole.value, whole.reason) == (1.0, "exact: every part is the whole answer")
    assert np.isnan(whole.low)
    assert versions["3", "other_sentences"].value < estimates["3"].value
    assert ("6", "other_sentences") not in versions


def test_the_variance_between_raters_falls_with_the_sentences_and_is_compared_with_whole_answers():
    found = results(replace(PARTS, statistic="part_variance")).rows
    numbers = numbers_in_loops(DATA)
    values = {r.group["sentences"]: r.estimate.value for r in found if r.kind == "estimate"}
    for size in (1, 2, 6):
        assert values[str(size)] == pytest.approx(rater_variances(numbers, size).mean())
    three = {"Disagree": 0, "Partially disagree": 0, "Neutral": 1, "Partially agree": 2, "Agree": 2}
    coarse = [
        np.var([three[x] for x in u.values()], ddof=1) for u in labels(DATA, "coarse").values()
    ]
    assert values["whole_answer"] == pytest.approx(np.mean(coarse))
    minus = {r.group["sentences"]: r.estimate.value for r in found if r.kind == "difference"}
    assert minus["2"] == pytest.approx(values["2"] - values["whole_answer"])


def test_hours_and_budgets_follow_from_components_and_seconds():
    numbers = numbers_in_loops(DATA)
    found = components(product_sums(numbers, np.arange(len(numbers)), len(numbers)).sum(0))
    n = np.isfinite(numbers[:, 0]).sum(1)
    part = len(n) / (1 / np.minimum(n, 2)).sum()
    of = {a.id: min(2, len(a.sentences)) / len(a.sentences) for a in DATA.answers}
    screens = {
        (r.task, r.answers): r.seconds for r in DATA.ratings if r.task.startswith("fine") and r.span
    }
    seconds = np.mean([s * of[a[0]] for (_, a), s in screens.items() if s is not None])
    costs = replace(PARTS, statistic="reliability")
    value = {r.group["sentences"]: r.estimate.value for r in rows(costs)}
    assert value["2"] == pytest.approx(float(reliability(found, 3, part)))
    hours = {
        r.group["sentences"]: r.estimate.value
        for r in rows(restated(costs, statistic="rater_hours", target=0.6))
    }
    assert hours["2"] == pytest.approx(
        float(raters_needed(found, 0.6, part)) * seconds * 100 / 3600
    )
    budget = restated(costs, statistic="budget_reliability", minutes=(12.0,))
    made = results(budget).rows
    bought = {r.group["sentences"]: r.estimate.value for r in made if r.kind == "estimate"}
    assert bought["2"] == pytest.approx(float(reliability(found, 720 / seconds, part)))
    chances = [r.estimate.value for r in made if r.group.get("version") == "chance_of_best"]
    assert sum(chances) == pytest.approx(1)
    assert (
        chances[
            [r.estimate.value for r in made if r.kind == "estimate"].index(max(bought.values()))
        ]
        > 0.2
    )


def judged(data: Data) -> Data:
    """With a judge who says of every answer and sentence what the first rater of it said, and two
    who never do."""
    judges = [Rater("judge-1", "judges", "llm"), Rater("judge-2", "judges", "llm")]
    new, tasks = [], []
    for task in (t for t in data.tasks if t.rater in {"a", "d"} and t.item):
        for judge in judges:
            tasks.append(replace(task, id=f"{judge.id}/{task.id}", rater=judge.id))
            for r in (
                r for r in data.ratings if r.task == task.id and r.criterion == "correctness"
            ):
                label = r.label if judge.id == "judge-1" else POINTS[4 - POINTS.index(str(r.label))]
                new.append(replace(r, task=tasks[-1].id, rater=judge.id, label=label))
    return replace(
        data,
        raters=[*data.raters, *judges],
        tasks=[*data.tasks, *tasks],
        ratings=[*data.ratings, *new],
    )


@pytest.mark.slow
def test_a_judge_is_held_against_the_nearest_label_of_the_panels_average():
    against = replace(
        AGREEMENT,
        name="j",
        raters="judges",
        against="experts",
        consensus="mean",
        by=("instrument", "rater"),
        compare="instrument",
    )
    data = judged(DATA)
    found = {(r.group["instrument"], r.group["rater"]): r for r in rows(against, data)}
    three = {"Disagree": 0, "Partially disagree": 0, "Neutral": 1, "Partially agree": 2, "Agree": 2}
    for design in ("coarse", "fine"):
        same, halves = [], 0
        for given in labels(DATA, design).values():
            mean = np.mean([three[x] for x in given.values()])
            far = [abs(mean - v) for v in range(3)]
            if sorted(far)[1] - min(far) < 1e-9:
                halves += 1
                continue
            first = next(three[x] for r, x in given.items() if r in {"a", "d"})
            same.append(far.index(min(far)) == first)
        row = found[design, "judge-1"]
        assert row.estimate.value == pytest.approx((np.mean(same) - 1 / 3) / (2 / 3))
        assert any("halfway" in w for w in row.warnings) == (halves > 0)
        assert found[design, "judge-2"].estimate.value < row.estimate.value
    assert len(rows(against, data, "difference")) == 2


def test_raters_agree_with_themselves_by_design():
    again = [
        t for t in DATA.tasks if t.instrument in {"coarse", "fine"} and t.item in {"q00", "q10"}
    ]
    tasks = [
        replace(t, id=f"again/{t.id}", purpose="repeat", repeat_of=t.id, phase="again")
        for t in again
    ]
    chance = random.Random(4)
    ids = {t.id for t in again}
    more = [
        replace(r, task=f"again/{r.task}", label=r.label if chance.random() < 0.7 else "Neutral")
        for r in DATA.ratings
        if r.task in ids and r.criterion == "correctness"
    ]
    data = replace(DATA, tasks=[*DATA.tasks, *tasks], ratings=[*DATA.ratings, *more])
    own = Analysis(
        "self", "self_agreement", "correctness", "experts", by=("instrument",), compare="instrument"
    )
    found = by_design(replace(own, collapse=THREE), data)
    first = {(r.task, r.span): r.label for r in DATA.ratings if r.criterion == "correctness"}
    for design in ("coarse", "fine"):
        same = [
            THREE.get(str(r.label), r.label) == THREE.get(x := str(first[r.task[6:], r.span]), x)
            for r in more
            if r.task.startswith(f"again/{design}")
        ]
        assert found[design] == pytest.approx(np.mean(same))
    # An answer is wrong as soon as one of its sentences is, at both times; the numbers of whole
    # answers stay.
    binary = {
        "Disagree": "no",
        "Partially disagree": "no",
        "Neutral": "yes",
        "Partially agree": "yes",
        "Agree": "yes",
    }
    answers = by_design(replace(own, collapse=binary, labels=("no", "yes"), spans="all"), data)
    wrong: dict[str, list[bool]] = {}
    for r in [*DATA.ratings, *more]:
        if r.criterion == "correctness":
            wrong.setdefault(r.task, []).append(binary[str(r.label)] == "no")
    for design in ("coarse", "fine"):
        pairs = [
            (t, t[6:])
            for t in dict.fromkeys(r.task for r in more)
            if t.startswith(f"again/{design}")
        ]
        kept = [any(wrong[one]) == any(wrong[other]) for one, other in pairs]
        assert answers[design] == pytest.approx(np.mean(kept))
    assert answers["coarse"] == by_design(replace(own, collapse=binary), data)["coarse"]
    assert answers["fine"] != by_design(replace(own, collapse=binary), data)["fine"]
    # Every other number stays what it was.
    assert by_design(AGREEMENT, data) == by_design(AGREEMENT)


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        (
            {"statistic": "seconds", "clock": "open", "by": ("answers",)},
            "by.0.: 'answers' identifies the timed task",
        ),
        (
            {"statistic": "part_whole", "by": ("instrument",)},
            "a row for whole answers and for each number",
        ),
        (
            {"statistic": "reliability", "compare": "rater", "by": ("rater",)},
            "compare: 'reliability' already reports",
        ),
        ({"statistic": "budget_reliability"}, "minutes: is empty"),
        (
            {"statistic": "budget_reliability", "minutes": (0.0,)},
            "minutes.0.: expected more than 0",
        ),
        (
            {"statistic": "rater_hours", "target": 1.2},
            "target: expected a reliability between 0 and 1",
        ),
        ({"statistic": "seconds", "target": 0.7}, "target: belongs to"),
        ({"statistic": "part_whole", "clock": "open"}, "clock: belongs to"),
        (
            {"statistic": "part_whole", "spans": "any"},
            "spans: 'part_whole' uses single sentences",
        ),
        ({"statistic": "randolph_kappa", "consensus": "mean"}, "consensus: belongs to"),
    ],
)
def test_what_cannot_be_asked_is_refused(settings: dict[str, Any], problem: str):
    asked = {"name": "x", "criterion": "correctness", "raters": "experts"} | settings
    with pytest.raises(AnalysisError, match=problem):
        results(flat_analysis(**asked))


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"statistic": "seconds", "by": ("instrument",)}, "no times recorded"),
        ({"statistic": "rater_hours"}, "no times recorded"),
        (
            {"statistic": "length_correlation", "by": ("instrument",)},
            "lengths of the answers are not known",
        ),
        (
            {"statistic": "part_whole", "where": {"instrument": ("coarse",)}},
            "no sentences are rated",
        ),
    ],
)
def test_what_cannot_be_computed_says_why(settings: dict[str, Any], reason: str):
    bare = replace(
        DATA,
        ratings=[replace(r, seconds=None) for r in DATA.ratings],
        answers=[replace(a, text="") for a in DATA.answers],
    )
    found = rows(
        flat_analysis(
            **({"name": "x", "criterion": "correctness", "raters": "experts"} | settings)
        ),
        bare,
    )
    assert found
    assert all(np.isnan(r.estimate.value) and reason in r.estimate.reason for r in found)


def test_one_answer_tells_nothing_of_hours_and_is_not_said_to_reach_no_reliability():
    one = replace(
        DATA, ratings=[r for r in DATA.ratings if r.answers and r.answers[0] == DATA.answers[0].id]
    )
    found = rows(Analysis("x", "rater_hours", "correctness", "experts"), one)
    assert found
    assert {str(r.estimate.reason) for r in found} == {
        "fewer than two answers, or none with two ratings"
    }


@pytest.mark.slow
def test_the_methods_say_what_was_done_and_nothing_else():
    against = replace(
        AGREEMENT,
        raters="judges",
        against="experts",
        consensus="mean",
        by=("instrument", "rater"),
        compare="instrument",
    )
    told = " ".join(results(against, PARTS, data=judged(DATA), draws=100).methods)
    assert "nearest to the panel's mean" in told
    assert "all subsets of their sentences" in told
    for other in ("majority", "leave-one-out", "Seconds", "Reliability"):
        assert other not in told
