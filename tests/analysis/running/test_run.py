"""Every kind of analysis against a direct computation by loops over the ratings, and what must not
change a number."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import pytest
from tests.analyses import flat_analysis, restated

from konsil.analysis import Analysis, Exclusions, Resampling, Results, Row
from konsil.analysis.running.run import run
from konsil.analysis.running.run_settings import RunSettings
from konsil.analysis.table.frame import Data
from konsil.errors import AnalysisError
from konsil.instrument import Criterion, Instrument, Scale
from konsil.records import Answer, Item, Rater, Rating, Span, Task

CORRECT = Criterion("correct", "?", Scale(("no", "yes"), abstain="unsure"))
GRADE = Criterion("grade", "?", Scale(("poor", "fair", "good", "best"), level="ordinal"))
EASY = Criterion("easy", "?", Scale(("easy", "medium", "hard"), level="ordinal"), scope="item")
LINE = Criterion(
    "line", "?", Scale(("-1", "0", "1"), level="ordinal", values=(-1.0, 0.0, 1.0)), scope="sentence"
)
SCORE = Criterion("score", "?", Scale(kind="number", low=0, high=2_000_000))
FORM = Instrument("form", (CORRECT, GRADE, EASY, LINE, SCORE))
EXPERTS = ("ann", "ben", "cem", "dee")
JUDGES = ("jud-a", "jud-b")
SYSTEMS = ("one", "two")
Units = dict[tuple[Any, ...], dict[str, str]]
"""Unit -> rater -> label."""
SPANS = (Span(0, 5), Span(6, 9), Span(10, 14))


def world(seed: int = 3, n_items: int = 24) -> Data:
    """A panel of four and two judges: labels missing here, abstentions there, three sentences an
    answer."""
    chance = random.Random(seed)
    items = [
        Item(
            f"q{n:02}",
            "?",
            case=f"case-{n // 2}",
            sets=("core",) if n % 3 == 0 else (),
            strata={"field": "ab"[n % 2]},
        )
        for n in range(n_items)
    ]
    answers = [Answer(f"{i.id}:{s}", i.id, s) for i in items for s in SYSTEMS]
    raters = [Rater(r, "experts", strata={"site": "x" if r < "c" else "y"}) for r in EXPERTS]
    raters += [Rater(r, "judges", "llm") for r in JUDGES]
    tasks, ratings = [], []
    for rater in raters:
        for item in items:
            if chance.random() < 0.1:
                continue
            task = f"{rater.id}/{item.id}"
            arm = "text" if item.id < "q12" else "cited"
            own = tuple(f"{item.id}:{s}" for s in SYSTEMS)
            tasks.append(Task(task, task, rater.id, "form", item.id, own, arm=arm))
            about = {
                "task": task,
                "rater": rater.id,
                "item": item.id,
                "seconds": float(chance.randint(5, 60)),
            }
            ratings.append(
                Rating(criterion="easy", label=chance.choice(EASY.scale.labels), **about)
            )  # type: ignore[arg-type]
            for system in SYSTEMS:
                about["answers"] = (f"{item.id}:{system}",)
                truth = (int(item.id[1:]) * 7 + len(system)) % 3 > 0
                word = (
                    "unsure"
                    if chance.random() < 0.1
                    else "yes"
                    if truth != (chance.random() < 0.25)
                    else "no"
                )
                state = {"state": "abstained"} if word == "unsure" else {"label": word}
                ratings.append(Rating(criterion="correct", **about, **state))  # type: ignore[arg-type]
                grade = min(3, max(0, 2 * truth + chance.randint(-1, 2)))
                ratings.append(Rating(criterion="grade", label=GRADE.scale.labels[grade], **about))  # type: ignore[arg-type]
                score = chance.choice(("0.1234567", "1234567", "3", "17.25"))
                ratings.append(Rating(criterion="score", label=score, **about))  # type: ignore[arg-type]
                ratings.extend(
                    Rating(
                        criterion="line",
                        label=chance.choice(("-1", "0", "1", "1")),
                        span=span,
                        **about,
                    )  # type: ignore[arg-type]
                    for span in SPANS
                )
    return Data(items, answers, raters, tasks, ratings)


DATA = world()


def results(*analyses: Analysis, data: Data = DATA, draws: int = 100, **more: Any) -> Results:
    settings = {"seed": 5, "resampling": Resampling(draws), "exclusions": Exclusions()} | more
    return run(analyses, data, RunSettings(instruments=(FORM,), **settings))


def rows(analysis: Analysis, **more: Any) -> list[Row]:
    return [r for r in results(analysis, **more).rows if r.kind == "estimate"]


def one(analysis: Analysis, **more: Any) -> float:
    (row,) = rows(analysis, **more)
    return row.estimate.value


def ask(statistic: str, criterion: str = "correct", **more: Any) -> Analysis:
    return flat_analysis("a", statistic, criterion, **({"raters": "experts"} | more))


def used(
    criterion: str, panel: Sequence[str] = EXPERTS, keep: Callable[[Rating], bool] = lambda _: True
) -> list[Rating]:
    return [
        r
        for r in DATA.ratings
        if r.criterion == criterion and r.rater in panel and r.label is not None and keep(r)
    ]


def table(ratings: Iterable[Rating]) -> Units:
    """Unit -> rater -> label."""
    found: Units = {}
    for r in ratings:
        found.setdefault((r.item, r.answers, r.span), {})[r.rater] = str(r.label)
    return found


def kappa_of(pairs: Sequence[tuple[str, str]]) -> float:
    n = len(pairs)
    if n == 0:
        return math.nan
    observed = sum(a == b for a, b in pairs) / n
    first, second = Counter(a for a, _ in pairs), Counter(b for _, b in pairs)
    chance = sum(first[k] * second[k] for k in first) / n**2
    return (observed - chance) / (1 - chance) if chance < 1 else math.nan


def over_pairs(units: Units, of: Callable[[Any], float], raters: Any = EXPERTS) -> float:
    values = [
        of([(given[a], given[b]) for given in units.values() if a in given and b in given])
        for a, b in combinations(raters, 2)
    ]
    return sum(values) / len(values)


def percent(pairs: Sequence[tuple[str, str]]) -> float:
    return sum(a == b for a, b in pairs) / len(pairs)


def majority(labels: Iterable[str]) -> str | None:
    counts = Counter(labels)
    top = counts.most_common(1)
    return top[0][0] if top and 2 * top[0][1] > counts.total() else None


def alpha_of(units: Units) -> float:
    """Krippendorff's nominal alpha by pairs of values."""
    kept = [list(g.values()) for g in units.values() if len(g) > 1]
    n = sum(map(len, kept))
    everything = Counter(v for g in kept for v in g)
    observed = sum(sum(a != b for a, b in combinations(g, 2)) * 2 / (len(g) - 1) for g in kept) / n
    expected = sum(
        everything[a] * everything[b] for a in everything for b in everything if a != b
    ) / (n * (n - 1))
    return 1 - observed / expected


# ---------------------------------------------------------------- agreement among raters


def test_agreement_statistics_by_loops() -> None:
    units = table(used("correct"))
    assert one(ask("percent_agreement")) == pytest.approx(over_pairs(units, percent))
    assert one(ask("cohen_kappa")) == pytest.approx(over_pairs(units, kappa_of))
    assert one(ask("pabak")) == pytest.approx(2 * over_pairs(units, percent) - 1)
    assert one(ask("krippendorff_alpha")) == pytest.approx(alpha_of(units))


def test_weighted_kappa_is_of_steps_on_an_ordinal_scale() -> None:
    place = {label: n for n, label in enumerate(GRADE.scale.labels)}

    def weighted(pairs: Sequence[tuple[str, str]]) -> float:
        codes = [(place[a], place[b]) for a, b in pairs]
        seen = sum((a - b) ** 2 for a, b in codes) / len(codes)
        by_chance = sum((a - b) ** 2 for a, _ in codes for _, b in codes) / len(codes) ** 2
        return 1 - seen / by_chance

    expected = over_pairs(table(used("grade")), weighted)
    assert one(ask("cohen_kappa_quadratic", "grade")) == pytest.approx(expected)
    assert one(ask("cohen_kappa", "grade", weights="quadratic")) == pytest.approx(expected)


def test_numbers_of_any_size_are_labels_that_are_not_lost() -> None:
    (row,) = rows(ask("krippendorff_alpha", "score"))
    assert row.estimate.n_ratings == len(used("score"))
    values = [float(str(r.label)) for r in used("score")]
    assert one(ask("mean", "score")) == pytest.approx(sum(values) / len(values))


def test_where_by_arm_sets_choose_the_ratings() -> None:
    whole = {
        r.group["system"]: r.estimate.value for r in rows(ask("percent_agreement", by=("system",)))
    }
    for system in SYSTEMS:
        of_system = used("correct", keep=lambda r, s=system: r.answers[0].endswith(s))  # type: ignore[misc]
        assert whole[system] == pytest.approx(over_pairs(table(of_system), percent))
        assert one(ask("percent_agreement", where={"system": (system,)})) == pytest.approx(
            whole[system]
        )
    core = used("correct", keep=lambda r: int(str(r.item)[1:]) % 3 == 0)
    assert one(ask("percent_agreement", items="core")) == pytest.approx(
        over_pairs(table(core), percent)
    )
    text = used("correct", keep=lambda r: str(r.item) < "q12")
    assert one(ask("percent_agreement", arm="text")) == pytest.approx(
        over_pairs(table(text), percent)
    )
    field = used("correct", keep=lambda r: int(str(r.item)[1:]) % 2 == 0)
    assert one(ask("percent_agreement", where={"field": ("a",)})) == pytest.approx(
        over_pairs(table(field), percent)
    )
    site = used("correct", ("ann", "ben"))
    assert one(ask("percent_agreement", where={"site": ("x",)})) == pytest.approx(
        over_pairs(table(site), percent, ("ann", "ben"))
    )


def test_where_selects_by_a_number_as_text() -> None:
    timed = [replace(r, seconds=35.0 if n % 2 else 4.5) for n, r in enumerate(DATA.ratings)]
    share = ask("share", of=("yes",), where={"seconds": ("35.0",)})
    (row,) = [r for r in results(share, data=replace(DATA, ratings=timed)).rows if r.is_made][:1]
    of_criterion = [r for r in timed if r.criterion == "correct" and r.state == "rated"]
    assert 0 < row.estimate.n_ratings < len(of_criterion)


def test_every_two_raters_are_a_group_of_their_own() -> None:
    found = rows(ask("cohen_kappa", by=("rater_pair",)))
    assert [r.group["raters"] for r in found] == [
        f"pair:{a}:{b}" for a, b in combinations(EXPERTS, 2)
    ]
    units = table(used("correct"))
    for row, pair in zip(found, combinations(EXPERTS, 2), strict=True):
        assert row.estimate.value == pytest.approx(over_pairs(units, kappa_of, pair))
    mean = sum(r.estimate.value for r in found) / len(found)
    assert mean == pytest.approx(one(ask("cohen_kappa")))
    both = rows(ask("cohen_kappa", by=("system", "rater_pair")))
    assert len(both) == 12
    assert set(both[0].group) == {"system", "raters"}


def test_collapsing_and_declared_labels_decide_the_number_of_categories() -> None:
    to_three = ask(
        "randolph_kappa", "grade", collapse={"best": "good"}, labels=("poor", "fair", "good")
    )
    units = table(replace(r, label="good" if r.label == "best" else r.label) for r in used("grade"))
    agree = [
        percent(list(combinations(list(given.values()), 2)))
        for given in units.values()
        if len(given) > 1
    ]
    observed = sum(agree) / len(agree)
    assert one(to_three) == pytest.approx((observed - 1 / 3) / (1 - 1 / 3))
    five = replace(to_three, labels=("poor", "fair", "good", "never", "ever"))
    assert one(five) == pytest.approx((observed - 1 / 5) / (1 - 1 / 5))


def test_an_abstention_is_missing_or_a_label_or_counts_as_one() -> None:
    abstained = [
        replace(r, label="unsure") if r.state == "abstained" else r
        for r in DATA.ratings
        if r.criterion == "correct" and r.rater in EXPERTS
    ]
    own = one(ask("cohen_kappa", abstain="label"))
    assert own == pytest.approx(over_pairs(table(abstained), kappa_of))
    as_no = table(replace(r, label="no" if r.label == "unsure" else r.label) for r in abstained)
    assert one(ask("cohen_kappa", collapse={"unsure": "no"})) == pytest.approx(
        over_pairs(as_no, kappa_of)
    )
    assert (
        len({one(ask("cohen_kappa")), own, one(ask("cohen_kappa", collapse={"unsure": "no"}))}) == 3
    )


@pytest.mark.parametrize("rule", ["all", "any", "mean", "each"])
def test_sentences_become_one_label_of_the_answer(rule: str) -> None:
    by_answer: dict[tuple[Any, ...], list[float]] = {}
    for r in used("line"):
        by_answer.setdefault((r.rater, r.answers), []).append(float(str(r.label)))
    over = {"all": min, "any": max, "mean": lambda v: sum(v) / len(v)}
    values = (
        [over[rule](v) for v in by_answer.values()]
        if rule != "each"
        else [x for v in by_answer.values() for x in v]
    )
    assert one(ask("mean", "line", spans=rule)) == pytest.approx(sum(values) / len(values))


def test_agreement_on_the_worst_of_an_answers_sentences() -> None:
    worst: Units = {}
    for r in used("line"):
        given = worst.setdefault((r.answers,), {})
        given[r.rater] = str(min(int(given.get(r.rater, 1)), int(str(r.label))))
    assert one(ask("percent_agreement", "line", spans="all")) == pytest.approx(
        over_pairs(worst, percent)
    )


# ---------------------------------------------------------------- shares, means, abstentions


def test_shares_and_means_of_single_labels_majorities_and_means() -> None:
    labels = [r.label for r in used("correct")]
    assert one(ask("share", of=("yes",))) == pytest.approx(labels.count("yes") / len(labels))
    decided = [
        m for m in (majority(g.values()) for g in table(used("correct")).values()) if m is not None
    ]
    assert one(ask("share", of=("yes",), consensus="majority")) == pytest.approx(
        decided.count("yes") / len(decided)
    )
    place = {label: n for n, label in enumerate(GRADE.scale.labels)}
    numbers = [place[str(r.label)] for r in used("grade")]
    assert one(ask("mean", "grade")) == pytest.approx(sum(numbers) / len(numbers))
    means = [sum(place[v] for v in g.values()) / len(g) for g in table(used("grade")).values()]
    assert one(ask("mean", "grade", consensus="mean")) == pytest.approx(sum(means) / len(means))


def test_abstentions_are_counted_over_all_that_was_rated() -> None:
    asked = [r for r in DATA.ratings if r.criterion == "correct" and r.rater in EXPERTS]
    expected = sum(r.state == "abstained" for r in asked) / len(asked)
    assert one(ask("abstention")) == pytest.approx(expected)


def test_a_share_without_clusters_has_wilsons_interval() -> None:
    only = ask("share", of=("yes",), where={"rater": ("ann",), "system": ("one",)})
    (row,) = rows(only)
    assert row.estimate.method == "Wilson"
    n, p, z = row.estimate.n_ratings, row.estimate.value, 1.959963984540054
    middle, half = p + z * z / (2 * n), z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    assert row.estimate.low == pytest.approx((middle - half) / (1 + z * z / n))
    assert row.estimate.high == pytest.approx((middle + half) / (1 + z * z / n))
    (clustered,) = rows(ask("share", of=("yes",), where={"rater": ("ann",)}))
    assert clustered.estimate.method == "Wilson with the effective sample size (item clusters)"
    (all_of_them,) = rows(restated(only, of=("yes", "no")))
    assert (all_of_them.estimate.value, all_of_them.estimate.method) == (1.0, "Clopper-Pearson")


# ---------------------------------------------------------------- consensus


def test_each_rater_against_the_rest_by_loops() -> None:
    units = table(used("correct"))
    values = []
    for rater in EXPERTS:
        pairs = []
        for given in units.values():
            rest = majority(v for r, v in given.items() if r != rater)
            if rater in given and rest is not None:
                pairs.append((given[rater], rest))
        values.append((percent(pairs), kappa_of(pairs)))
    assert one(ask("percent_agreement", against="rest")) == pytest.approx(
        sum(v[0] for v in values) / 4
    )
    assert one(ask("cohen_kappa", against="rest")) == pytest.approx(sum(v[1] for v in values) / 4)


def test_judges_against_a_panel_in_both_modes_by_loops() -> None:
    experts, judges = table(used("correct")), table(used("correct", JUDGES))
    against = ask("percent_agreement", raters="judges", against="experts", by=("rater",))
    paper = {r.group["rater"]: r.estimate.value for r in rows(replace(against, mode="paper"))}
    valid = results(against)
    for judge in JUDGES:
        pairs = []
        for unit, given in experts.items():
            whole, said = majority(given.values()), judges.get(unit, {}).get(judge)
            if whole is not None and said is not None:
                pairs.append((said, whole))
        assert paper[judge] == pytest.approx(percent(pairs))
        theirs, ceiling = [], []
        for left_out in EXPERTS:
            of_judge, of_rater = [], []
            for unit, given in experts.items():
                rest = majority(v for r, v in given.items() if r != left_out)
                said = judges.get(unit, {}).get(judge)
                # The same slots for both: the judge is held against what the rater who is left out
                # was held against.
                if rest is not None and said is not None and left_out in given:
                    of_judge.append((said, rest))
                    of_rater.append((given[left_out], rest))
            theirs.append(percent(of_judge))
            ceiling.append(percent(of_rater))
        estimate = next(r for r in valid.rows if r.kind == "estimate" and r.group["rater"] == judge)
        difference = next(
            r for r in valid.rows if r.kind == "difference" and r.group["rater"] == judge
        )
        assert estimate.estimate.value == pytest.approx(sum(theirs) / 4)
        assert difference.estimate.value == pytest.approx((sum(theirs) - sum(ceiling)) / 4)
        assert 0 < difference.estimate.p <= 1
    (together,) = rows(replace(against, by=()))
    each = [r.estimate.value for r in valid.rows if r.kind == "estimate"]
    assert together.estimate.value == pytest.approx(sum(each) / len(each))


def test_self_agreement_is_of_repeats_alone() -> None:
    first = [
        r
        for r in DATA.ratings
        if r.criterion == "grade" and r.rater in ("ann", "ben") and str(r.item) < "q06"
    ]
    again = [
        replace(r, task=r.task + "/2", label="best" if n % 3 == 0 else r.label)
        for n, r in enumerate(first)
    ]
    tasks = {t.id: t for t in DATA.tasks}
    repeats = [
        replace(tasks[t], id=t + "/2", purpose="repeat", repeat_of=t)
        for t in dict.fromkeys(r.task for r in first)
    ]
    data = replace(DATA, tasks=[*DATA.tasks, *repeats], ratings=[*DATA.ratings, *again])
    expected = sum(a.label == b.label for a, b in zip(first, again, strict=True)) / len(first)
    assert one(ask("self_agreement", "grade"), data=data) == pytest.approx(expected)
    assert one(ask("percent_agreement", "grade"), data=data) == one(
        ask("percent_agreement", "grade")
    )
    (none,) = rows(ask("self_agreement", "grade"))
    assert math.isnan(none.estimate.value)
    assert none.estimate.reason == "no rater rated anything twice (no task repeats another)"


# ---------------------------------------------------------------- differences, clusters, families


def test_differences_are_paired_and_adjusted_over_the_prespecified() -> None:
    means = ask("mean", "grade", by=("system",), compare="system")
    others = [
        restated(means, name="b", statistic="share", criterion="correct", of=("yes",)),
        replace(
            means, name="c", criterion="easy", by=("field",), compare="field", prespecified=False
        ),
    ]
    found = results(means, *others, draws=400)
    values = {
        (r.analysis, *r.group.values()): r.estimate.value
        for r in found.rows
        if r.kind == "estimate"
    }
    differences = [r for r in found.rows if r.kind == "difference"]
    assert len(differences) == 3
    for r in differences:
        there = values[(r.analysis, *r.versus.values())]
        assert r.estimate.value == pytest.approx(values[(r.analysis, *r.group.values())] - there)
        assert r.estimate.low <= r.estimate.value <= r.estimate.high
        assert r.estimate.p >= 1 / 401
    raw = sorted(r.estimate.p for r in differences[:2])
    assert sorted(r.p_adjusted for r in differences[:2]) == pytest.approx(
        [min(1.0, 2 * raw[0]), max(min(1.0, 2 * raw[0]), raw[1])]
    )
    assert math.isnan(differences[2].p_adjusted)


def test_raters_as_clusters_are_a_jackknife_or_linearised() -> None:
    (row,) = rows(ask("cohen_kappa", cluster="rater"))
    left_out = []
    for rater in EXPERTS:
        others = tuple(r for r in EXPERTS if r != rater)
        left_out.append(over_pairs(table(used("correct", others)), kappa_of, others))
    middle = sum(left_out) / 4
    assert row.estimate.se == pytest.approx(
        math.sqrt(3 / 4 * sum((v - middle) ** 2 for v in left_out))
    )
    assert row.estimate.n_clusters == 4
    assert "leave-one-rater-out jackknife" in row.estimate.method

    (row,) = rows(ask("mean", "grade", cluster="rater"))
    place = {label: n for n, label in enumerate(GRADE.scale.labels)}
    numbers: dict[str, list[int]] = {}
    for r in used("grade"):
        numbers.setdefault(r.rater, []).append(place[str(r.label)])
    n = sum(map(len, numbers.values()))
    mean = sum(map(sum, numbers.values())) / n
    influence = [(sum(v) - mean * len(v)) / n for v in numbers.values()]
    shares = [len(v) / n for v in numbers.values()]
    variance = sum(i * i / (1 - w) for i, w in zip(influence, shares, strict=True))
    assert row.estimate.se == pytest.approx(math.sqrt(variance))
    for kind in (
        {"statistic": "mean", "consensus": "mean"},
        {"statistic": "cohen_kappa", "criterion": "correct", "against": "rest"},
        {"statistic": "share", "criterion": "correct", "of": ("yes",), "consensus": "majority"},
    ):
        (row,) = rows(restated(ask("mean", "grade", cluster="rater"), **kind))  # type: ignore[arg-type]
        assert row.estimate.method.startswith("leave-one-rater-out jackknife")
        assert row.estimate.low < row.estimate.value < row.estimate.high


def test_a_difference_with_raters_as_clusters_has_their_degrees_of_freedom() -> None:
    for statistic, criterion in (("mean", "grade"), ("cohen_kappa", "correct")):
        found = results(
            ask(statistic, criterion, by=("system",), compare="system", cluster="rater")
        )
        (difference,) = (r for r in found.rows if r.kind == "difference")
        assert difference.estimate.n_clusters == 4
        assert 0 < difference.estimate.p < 1
        assert "rater" in difference.estimate.method


def test_cases_are_wider_clusters_than_items() -> None:
    (items,) = rows(ask("cohen_kappa"))
    (cases,) = rows(ask("cohen_kappa", cluster="case"))
    assert (items.estimate.n_clusters, cases.estimate.n_clusters) == (24, 12)
    assert items.estimate.value == cases.estimate.value
    assert "case cluster" in cases.estimate.method


# ---------------------------------------------------------------- what must not change a number

ALL = (
    ask("cohen_kappa"),
    replace(ask("krippendorff_alpha", "grade", by=("system",), compare="system"), name="b"),
    replace(ask("percent_agreement", raters="judges", against="experts"), name="c"),
    replace(ask("mean", "line", spans="mean", cluster="rater"), name="d"),
)


def told(found: Results) -> list[tuple[float, float, float, float]]:
    return [(r.estimate.value, r.estimate.low, r.estimate.high, r.estimate.se) for r in found.rows]


def test_the_order_of_the_records_changes_nothing() -> None:
    chance = random.Random(1)
    shuffled = Data(
        *(
            chance.sample(list(part), len(part))
            for part in (
                DATA.items,
                DATA.answers,
                DATA.raters,
                DATA.tasks,
                DATA.ratings,
                DATA.attempts,
            )
        )
    )
    assert repr(told(results(*ALL, data=shuffled))) == repr(told(results(*ALL)))


def test_renaming_raters_and_items_changes_no_value() -> None:
    def other(name: str) -> str:
        return "Ü " + name[::-1]

    data = replace(
        DATA,
        raters=[replace(r, id=other(r.id)) for r in DATA.raters],
        items=[replace(i, id=other(i.id), case=None) for i in DATA.items],
        answers=[replace(a, item=other(a.item)) for a in DATA.answers],
        tasks=[replace(t, rater=other(t.rater), item=other(str(t.item))) for t in DATA.tasks],
        ratings=[replace(r, rater=other(r.rater), item=other(str(r.item))) for r in DATA.ratings],
    )
    was, now = told(results(*ALL)), told(results(*ALL, data=data))
    # Other names are other resamples; the numbers and their linearised errors are the same.
    assert [w[0] for w in was] == pytest.approx([n[0] for n in now], nan_ok=True)


@pytest.mark.slow
def test_adding_an_analysis_changes_no_other_number() -> None:
    alone = {r.analysis: [] for r in results(*ALL).rows}  # type: ignore[var-annotated]
    for analysis in ALL:
        alone[analysis.name] = told(results(analysis))
    together = results(*ALL)
    for name, numbers in alone.items():
        mine = [
            (e.value, e.low, e.high, e.se)
            for e in (r.estimate for r in together.rows if r.analysis == name)
        ]
        assert repr(mine) == repr(numbers)


def test_the_seed_changes_intervals_and_never_values() -> None:
    was, now = results(*ALL), results(*ALL, seed=6)
    assert [r.estimate.value for r in was.rows] == [r.estimate.value for r in now.rows]
    assert [r.estimate.low for r in was.rows] != [r.estimate.low for r in now.rows]


# ---------------------------------------------------------------- exclusions, faults


def test_forms_with_one_marked_sentence_per_page_are_in_the_methods() -> None:
    sentence = "presented the whole answer with one marked sentence."
    apart = replace(FORM, unit="sentence", present="sentence")
    settings = RunSettings(
        instruments=(apart, replace(apart, id="of-nobody")),
        seed=5,
        resampling=Resampling(10),
        exclusions=Exclusions(),
    )
    found = run([ask("percent_agreement")], DATA, settings).methods
    assert f"Each page and each judge's call of {FORM.id} {sentence}" in found
    assert not any(sentence in m for m in results(ask("percent_agreement"), draws=10).methods)


def test_exclusions_leave_ratings_out_and_count_them() -> None:
    rules = Exclusions(min_seconds=10, raters=("dee",), items=("q00",))
    found = results(ask("percent_agreement"), exclusions=rules)

    def keep(r: Rating) -> bool:
        return r.rater != "dee" and r.item != "q00" and (r.seconds or 0) >= 10

    expected = over_pairs(table(used("correct", EXPERTS[:3], keep)), percent, EXPERTS[:3])
    assert found.rows[0].estimate.value == pytest.approx(expected)
    excluded = sum(sum(c.excluded.values()) for c in found.coverage)
    left = sum(c.rated + c.abstained for c in found.coverage)
    assert excluded + left == len(DATA.ratings)
    stated = (
        f"{excluded:,} of {len(DATA.ratings):,} ratings were excluded under the protocol's rules"
    )
    assert any(w.startswith(stated) for w in found.warnings)


@pytest.mark.parametrize(
    ("analysis", "says"),
    [
        (
            ask("cohen_kappa", by=("sytem",)),
            "ratings have no column 'sytem'; did you mean 'system'?",
        ),
        (
            ask("cohen_kappa", where={"filed": ("a",)}),
            "ratings have no column 'filed'; did you mean 'field'?",
        ),
        (ask("cohen_kappa", items="cor"), "there is no set of items 'cor'; did you mean 'core'?"),
        (ask("cohen_kapa"), "there is no statistic 'cohen_kapa'|no computation is defined"),
        (ask("icc2"), "needs a scale of level|needs labels in an order"),
        (ask("cohen_kappa", "corect"), "there is no criterion 'corect'; did you mean 'correct'?"),
        (ask("cohen_kappa", weights="lienar"), "weights: 'lienar' is not one of"),
        (
            ask(
                "percent_agreement", raters="judges", against="experts", where={"rater": ("jud-a",)}
            ),
            "",
        ),
    ],
)
def test_what_cannot_be_computed_is_one_sentence(analysis: Analysis, says: str) -> None:
    if not says:
        # Where narrows the judges and the panel alike; nobody of the panel is called so, which is
        # said.
        (row,) = rows(analysis)
        assert row.estimate.reason == "panel 'experts' has no ratings"
        return
    with pytest.raises(AnalysisError, match=says.replace("?", r"\?")) as caught:
        results(analysis)
    assert str(caught.value).startswith("a: ")


def test_nothing_to_compute_from_is_a_row_with_its_reason() -> None:
    (row,) = rows(ask("cohen_kappa", where={"system": ("three",)}))
    assert math.isnan(row.estimate.value)
    assert row.estimate.reason.startswith("no ratings selected: where.system selects none of ")
    (lone,) = rows(ask("cohen_kappa", where={"rater": ("ann",)}))
    assert lone.estimate.reason == "no unit was rated by two raters"


def test_a_rater_who_labels_a_unit_twice_is_refused() -> None:
    tasks = [*DATA.tasks, *(replace(t, id=t.id + "/2", phase="second") for t in DATA.tasks)]
    ratings = [*DATA.ratings, *(replace(r, task=r.task + "/2") for r in DATA.ratings)]
    data = replace(DATA, tasks=tasks, ratings=ratings)
    with pytest.raises(AnalysisError, match="select one with where"):
        results(ask("cohen_kappa"), data=data)
    assert one(ask("cohen_kappa", where={"phase": ("second",)}), data=data) == one(
        ask("cohen_kappa")
    )
