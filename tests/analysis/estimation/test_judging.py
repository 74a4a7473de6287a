"""What is asked of judges: caution, ensembles, preference; and the columns, tie-breaks and margins
they need."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from tests.analyses import flat_analysis

from konsil.analysis import (
    Analysis,
    Bin,
    Derived,
    Exclusions,
    Resampling,
    Results,
    contradictions,
)
from konsil.analysis.estimation.differences import contrast, differences
from konsil.analysis.estimation.measure import Measure, joint, minus
from konsil.analysis.estimation.targets import ONLY_THESE
from konsil.analysis.model.interval_methods import name_of
from konsil.analysis.model.rows import Row
from konsil.analysis.running.run import run
from konsil.analysis.running.run_settings import RunSettings
from konsil.analysis.table.frame import Data
from konsil.errors import AnalysisError
from konsil.instrument import Criterion, Instrument, Scale
from konsil.records import Answer, Item, Rater, Rating, System, Task
from konsil.stats.judges.abstention_slope import slope, slope_sums

CORRECT = Criterion("correct", "?", Scale(("no", "yes"), abstain="cannot judge"))
HARD = Criterion("hard", "?", Scale(("easy", "medium", "hard"), level="ordinal"), scope="item")
FORM = Instrument("form", (CORRECT, HARD))
SYSTEMS = (System("a", "north"), System("b", "north"), System("c", "south"))
DIFFICULTY = Derived(
    "difficulty",
    "hard",
    "people",
    (
        Bin("1", 0, 0.5, "both"),
        Bin("2", 0.5, 1, "right"),
        Bin("3", 1, 1.5, "neither"),
        Bin("4", 1.5, 2, "both"),
    ),
)


def study(seed: int = 1, n: int = 60) -> tuple[Data, dict[str, Any]]:
    """Five people and three judges on three systems; abstention of people rises with difficulty."""
    rng = np.random.default_rng(seed)
    items = tuple(Item(f"i{k:02d}", "?") for k in range(n))
    answers = tuple(Answer(f"{i.id}:{s.id}", i.id, s.id) for i in items for s in SYSTEMS)
    people = tuple(Rater(f"p{k}", "people") for k in range(5))
    judges = (
        Rater("j1", "judges", "llm", "north", {"system": "a"}),
        Rater("j2", "judges", "llm", "south", {"system": "c"}),
        Rater("j3", "judges", "llm", "west", {"system": "d"}),
    )
    level = rng.integers(0, 3, n)
    truth = {a.id: bool(rng.random() < 0.6) for a in answers}
    ratings = []
    for rater in (*people, *judges):
        human = rater.panel == "people"
        for k, item in enumerate(items):
            task = f"{rater.id}-{item.id}"
            seen = int(np.clip(level[k] + rng.integers(-1, 2) * (rng.random() < 0.3), 0, 2))
            ratings.append(Rating(task, rater.id, "hard", item.id, label=HARD.scale.labels[seen]))
            for system in SYSTEMS:
                answer = f"{item.id}:{system.id}"
                if rng.random() < (0.02 + 0.1 * level[k] if human else 0.01):
                    ratings.append(
                        Rating(task, rater.id, "correct", item.id, (answer,), state="abstained")
                    )
                    continue
                yes = truth[answer] ^ bool(rng.random() < (0.1 if human else 0.2))
                ratings.append(
                    Rating(
                        task, rater.id, "correct", item.id, (answer,), label="yes" if yes else "no"
                    )
                )
    return Data(items, answers, (*people, *judges), (), tuple(ratings)), {"truth": truth}


def results(
    data: Data, *analyses: Analysis, derived: tuple[Derived, ...] = (DIFFICULTY,)
) -> Results:
    return run(
        analyses,
        data,
        RunSettings(
            instruments=[FORM],
            seed=1,
            resampling=Resampling(300),
            exclusions=Exclusions(),
            systems=SYSTEMS,
            derived=derived,
        ),
    )


def labels(data: Data, criterion: str) -> dict[tuple[str, str], str | None]:
    return {
        (r.rater, r.answers[0] if r.answers else str(r.item)): r.label
        for r in data.ratings
        if r.criterion == criterion
    }


def mean_difficulty(data: Data) -> dict[str, float]:
    number = {"easy": 0, "medium": 1, "hard": 2}
    found: dict[str, list[int]] = {}
    for (rater, item), label in labels(data, "hard").items():
        if rater.startswith("p"):
            found.setdefault(item, []).append(number[str(label)])
    return {item: float(np.mean(v)) for item, v in found.items()}


def test_bins_are_those_of_the_means() -> None:
    data, _ = study()
    got = results(data, Analysis("x", "abstention", "correct", "people", by=("difficulty",)))
    score = mean_difficulty(data)

    def bin_of(x: float) -> str:
        return "1" if x <= 0.5 else "2" if x <= 1 else "3" if x < 1.5 else "4"

    for row in got.rows:
        if row.kind == "estimate":
            chosen = [
                label is None
                for (rater, answer), label in labels(data, "correct").items()
                if rater.startswith("p")
                and bin_of(score[answer.split(":")[0]]) == row.group["difficulty"]
            ]
            assert row.estimate.value == pytest.approx(np.mean(chosen))


def test_what_is_in_no_group_or_range_forms_no_group() -> None:
    data, _ = study(n=12)
    unrated = {("hard", item) for item in ("i00", "i01")}
    data = replace(
        data, ratings=tuple(r for r in data.ratings if (r.criterion, r.item) not in unrated)
    )
    size = Derived("size", groups={"small": ("a",), "large": ("b", "nobody")})
    found = results(
        data,
        flat_analysis("sizes", "share", "correct", "judges", of=("yes",), by=("size",)),
        flat_analysis(
            "both", "share", "correct", "judges", of=("yes",), by=("size",), compare="size"
        ),
        flat_analysis("bins", "share", "correct", "judges", of=("yes",), by=("difficulty",)),
        flat_analysis("none", "share", "correct", "judges", of=("yes",), by=("empty",)),
        flat_analysis("all", "share", "correct", "judges", of=("yes",), by=("system",)),
        derived=(DIFFICULTY, size, Derived("empty", groups={"x": ("d",)})),
    )
    estimates = [r for r in found.rows if r.kind == "estimate"]
    by_size = {r.group["size"]: r for r in estimates if r.analysis == "sizes"}
    assert sorted(by_size) == ["large", "small"]
    share_of = {r.group["system"]: r.estimate.value for r in estimates if r.analysis == "all"}
    assert by_size["small"].estimate.value == share_of["a"]
    n_of_judges = sum(r.criterion == "correct" and r.rater[0] == "j" for r in data.ratings)
    note = by_size["small"].warnings[-1]
    assert note == (
        f"{n_of_judges // 3} of {n_of_judges} ratings are in no group of 'size' and are excluded."
    )
    [difference] = [r for r in found.rows if r.analysis == "both" and r.kind == "difference"]
    assert "" not in {*difference.group.values(), *difference.versus.values()}
    assert note in difference.warnings
    bins = [r for r in estimates if r.analysis == "bins"]
    assert "" not in {r.group["difficulty"] for r in bins}
    assert bins[0].warnings[-1].startswith(f"18 of {n_of_judges} ratings are in no group of 'diff")
    [nothing] = [r for r in found.rows if r.analysis == "none"]
    assert "by.empty selects none" in nothing.estimate.reason
    assert not any(note in r.warnings for r in found.rows if r.analysis == "all")


@pytest.mark.parametrize(
    ("change", "is_noted"),
    [
        ({"against": "people"}, True),
        (
            {
                "against": "people",
                "statistic": "abstention_slope",
                "covariate": "difficulty",
                "by": (),
            },
            True,
        ),
        ({"against": "people", "mode": "paper"}, False),
        ({"statistic": "share", "of": ("yes",), "compare": "rater"}, False),
    ],
)
def test_judges_against_a_panel_are_about_these_people(
    change: dict[str, Any], is_noted: bool
) -> None:
    """Five people: the report is about raters like these, for whom nothing here is estimable."""
    data, _ = study(n=30)
    settings: dict[str, Any] = {"statistic": "percent_agreement", "by": ("rater",), **change}
    judged = flat_analysis("x", criterion="correct", raters="judges", **settings)
    of_people = flat_analysis("y", "share", "correct", "people", of=("yes",))

    def are_noted(data: Data) -> tuple[str, set[bool]]:
        found = results(data, judged, of_people)
        differences = [r for r in found.rows if r.analysis == "x" and r.kind == "difference"]
        return found.target, {
            ONLY_THESE in map(name_of, r.warnings)
            for r in differences
            if np.isfinite(r.estimate.low)
        }

    assert are_noted(data) == ("like these", {is_noted})
    three = replace(
        data,
        raters=tuple(r for r in data.raters if r.id not in {"p3", "p4"}),
        ratings=tuple(r for r in data.ratings if r.rater not in {"p3", "p4"}),
    )
    assert are_noted(three) == ("these", {False})


def test_abstention_slope_and_gap() -> None:
    data, _ = study()
    got = results(
        data,
        flat_analysis(
            "x", "abstention_slope", "correct", "judges", against="people", covariate="difficulty"
        ),
    )
    score = mean_difficulty(data)
    slopes = {}
    for panel, first in (("people", "p"), ("judges", "j")):
        pairs = [
            (score[answer.split(":")[0]], float(label is None))
            for (rater, answer), label in labels(data, "correct").items()
            if rater.startswith(first)
        ]
        x, y = np.array(pairs).T
        slopes[panel] = np.polyfit(x, y, 1)[0]
    by_kind = {
        row.kind: row
        for row in got.rows
        if row.kind != "companion" or row.group.get("rater") == "people"
    }
    assert by_kind["estimate"].estimate.value == pytest.approx(slopes["judges"])
    assert by_kind["companion"].estimate.value == pytest.approx(slopes["people"])
    assert by_kind["difference"].estimate.value == pytest.approx(
        slopes["judges"] - slopes["people"]
    )
    gap = by_kind["difference"].estimate
    assert gap.high < 0
    assert "effective degrees of freedom" in gap.method
    with pytest.raises(
        AnalysisError, match="no derived column 'dificulty'; did you mean 'difficulty'"
    ):
        results(
            data, flat_analysis("x", "abstention_slope", "correct", "judges", covariate="dificulty")
        )


@pytest.mark.parametrize("joined", [True, False])
def test_equal_slopes_of_rare_abstentions_are_seldom_found_to_differ(joined: bool) -> None:
    """A judge and a panel of five with one law; the bootstrap finds a difference in one of five or
    six studies."""
    generator, rejected, sets, names = (
        np.random.default_rng(3),
        0,
        250,
        tuple(f"i{n:02}" for n in range(40)),
    )
    for _ in range(sets):
        x = generator.random(40)
        share = 0.1 * x
        sums = [
            slope_sums(x, generator.binomial(n, share).astype(float), np.full(40, float(n)))
            for n in (1, 5)
        ]
        measures = [
            Measure(s, slope, names, 40, n, 40 * n, is_rare=True)
            for s, n in zip(sums, (1, 5), strict=True)
        ]
        asked = {"key": 1, "resampling": Resampling(200), "cluster": "item"}
        if joined:
            judge, panel = joint(measures)
            [summary] = differences([minus(judge, panel)], **asked)
        else:
            summary = contrast(*measures, **asked)
        assert (summary.headline.p <= 0.05) == (
            not summary.headline.low <= 0 <= summary.headline.high
        )
        rejected += summary.headline.p <= 0.05
    assert rejected / sets < 0.08


def majority(votes: list[str | None]) -> str | None:
    given = [v for v in votes if v is not None]
    return next((v for v in set(given) if 2 * given.count(v) > len(given)), None)


@pytest.mark.parametrize("mode", ["valid", "paper"])
def test_ensembles_equal_a_loop(mode: str) -> None:
    data, _ = study(2)
    got = results(
        data,
        Analysis(
            "x", "ensembles_percent_agreement", "correct", "judges", against="people", mode=mode
        ),  # type: ignore[arg-type]
    )
    table = labels(data, "correct")
    answers = [a.id for a in data.answers]
    panel = {a: majority([table[f"p{k}", a] for k in range(5)]) for a in answers}
    subsets = [s for size in (1, 3) for s in combinations(("j1", "j2", "j3"), size)]
    votes = {s: {a: majority([table[j, a] for j in s]) for a in answers} for s in subsets}
    common = [a for a in answers if panel[a] and all(votes[s][a] for s in subsets)]
    expected, entering = {}, {}
    for s in subsets:
        slots = common if mode == "valid" else [a for a in answers if panel[a] and votes[s][a]]
        who = (*(f"p{k}" for k in range(5)), *s)
        n_labels = sum(table[r, a] is not None for r in who for a in slots)
        entering[" + ".join(s)] = (len(who), n_labels)
        expected[" + ".join(s)] = np.mean([votes[s][a] == panel[a] for a in slots])
    rows = {row.group["ensemble"]: row for row in got.rows}
    assert {k: pytest.approx(v) for k, v in expected.items()} == {
        k: row.estimate.value for k, row in rows.items() if "bag" not in k
    }
    assert entering == {
        k: (row.n_raters, row.estimate.n_ratings) for k, row in rows.items() if "bag" not in k
    }
    counts = {row.group["ensemble"]: row.n_units for row in got.rows[:-1]}
    own = {" + ".join(s): sum(bool(panel[a] and votes[s][a]) for a in answers) for s in subsets}
    assert counts == (dict.fromkeys(counts, len(common)) if mode == "valid" else own)
    assert any(
        f"Compared on {len(common)} of {len(answers)} units" in w for w in got.rows[0].warnings
    ) == (mode == "valid")
    ranked = [row.estimate.value for row in got.rows[:-1]]
    assert ranked == sorted(ranked, reverse=True)
    last = got.rows[-1]
    assert last.group["ensemble"] == "best_out_of_bag:4"
    assert last.estimate.value <= ranked[0] + 0.02
    assert "optimistic by" in last.warnings[0]
    assert "it is wider than a 95% CI" in last.warnings[0]
    assert "wider than a 95% CI" in last.estimate.method
    assert [
        any("Ranked first on the same data" in w for w in row.warnings) for row in got.rows
    ] == [
        True,
        *([False] * (len(got.rows) - 1)),
    ]


def weak_judge() -> Data:
    """The study in which the third judge rates one of ten items."""
    data, _ = study(2)
    few = {item.id for item in data.items[::10]}
    return replace(data, ratings=[r for r in data.ratings if r.rater != "j3" or r.item in few])


def ensembles_of(data: Data, **more: object) -> Sequence[Row]:
    asked = flat_analysis(
        "x", "ensembles_percent_agreement", "correct", "judges", against="people", **more
    )  # type: ignore[arg-type]
    return results(data, asked).rows


def test_one_weak_judge_takes_no_units_from_the_ensembles_of_the_others() -> None:
    data = weak_judge()
    rows = ensembles_of(data)
    assert {row.group["ensemble"] for row in rows[:-1]} == {"j1", "j2"}
    [told] = [w for w in rows[0].warnings if "In no ensemble" in w]
    assert told.startswith(
        "In no ensemble, with labels on fewer than 50% of the panel's units: j3 ("
    )
    without = replace(data, ratings=[r for r in data.ratings if r.rater != "j3"])
    assert [r.estimate.value for r in rows[:-1]] == [
        r.estimate.value for r in ensembles_of(without)[:-1]
    ]
    emptied = ensembles_of(data, coverage=0.0)
    assert len(emptied) == 5
    assert emptied[0].n_units < rows[0].n_units / 5


def test_an_ensemble_with_labels_on_one_item_has_no_interval() -> None:
    data = weak_judge()
    first = min(r.item for r in data.ratings if r.rater == "j3")
    few = replace(data, ratings=[r for r in data.ratings if r.rater != "j3" or r.item == first])
    rows = ensembles_of(few, coverage=0.0, ensemble_units="members")
    alone = next(row for row in rows if row.group["ensemble"] == "j3").estimate
    assert np.isfinite(alone.value) and np.isnan([alone.low, alone.high, alone.se]).all()
    assert (alone.method, alone.reason) == ("", "no CI from a single cluster")


def test_an_ensemble_on_the_units_of_its_own_members() -> None:
    rows = {
        row.group["ensemble"]: row
        for row in ensembles_of(weak_judge(), coverage=0.0, ensemble_units="members")
    }
    counts = {name: row.n_units for name, row in rows.items() if "bag" not in name}
    assert counts["j3"] < counts["j1"] / 5
    assert (
        counts["j1"]
        == {r.group["ensemble"]: r.n_units for r in ensembles_of(weak_judge(), mode="paper")}["j1"]
    )
    assert any("its own members have a majority" in w for w in rows["j1"].warnings)


def test_preference_plain_and_adjusted() -> None:
    data, _ = study(3)
    paper = results(data, Analysis("x", "self_preference", "correct", "judges", mode="paper"))
    table = labels(data, "correct")
    score = {"yes": 1.0, "no": 0.0}
    expected = []
    for item in data.items:
        answer = f"{item.id}:a"
        own = table["j1", answer]
        peers = [score[str(table[j, answer])] for j in ("j2", "j3") if table[j, answer] is not None]
        if own is not None and peers:
            expected.append(score[own] - np.mean(peers))
    by_judge = {row.group["rater"]: row.estimate for row in paper.rows if row.kind == "estimate"}
    assert by_judge["j1"].value == pytest.approx(np.mean(expected))
    assert by_judge["j3"].reason == "no own answers among them"
    valid = results(data, Analysis("x", "self_preference", "correct", "judges", against="people"))
    companion = [
        row for row in valid.rows if row.group.get("version") and row.group["rater"] == "j1"
    ]
    assert companion[0].estimate.value == pytest.approx(np.mean(expected))
    headline = next(r for r in valid.rows if r.kind == "estimate" and r.group["rater"] == "j1")
    value, used, n_own = difference_in_differences(data, "j1", {"a"}, {"c"}, ("j3",))
    assert headline.estimate.value == pytest.approx(value, abs=1e-12)
    assert (headline.n_units, companion[0].n_units) == (used, n_own)
    assert used < n_own
    assert any(f"Own answers used: {used} of {n_own};" in str(w) for w in headline.warnings)
    family = results(
        data, Analysis("x", "family_preference", "correct", "judges", against="people")
    )
    sibling = next(r for r in family.rows if r.kind == "estimate" and r.group["rater"] == "j1")
    value = difference_in_differences(data, "j1", {"b"}, {"c"}, ("j3",))[0]
    assert sibling.estimate.value == pytest.approx(value, abs=1e-12)
    defined = {row.group["rater"] for row in family.rows if np.isfinite(row.estimate.value)}
    assert defined == {"j1"}  # only north has a second system


def test_family_preference_by_pair_of_judge_and_system() -> None:
    """Kills: pairs that share their answers, pairs of different families, a judge's own system."""
    data, _ = study(3)
    raters = (
        *data.raters[:5],
        Rater("j1", "judges", "llm", "north", {"system": "a"}),
        Rater("j2", "judges", "llm", "east", {"system": "d"}),
        Rater("j3", "judges", "llm", "north"),
    )
    data = replace(data, raters=raters)
    asked = Analysis("x", "family_preference", "correct", "judges", against="people")
    pairs = {
        (row.group["rater"], row.group["system"]): row
        for row in results(data, replace(asked, by=("system",))).rows
        if row.kind == "estimate"
    }
    assert list(pairs) == [("j1", "b"), ("j3", "a"), ("j3", "b")]
    for (judge, system), row in pairs.items():
        value, used, _ = difference_in_differences(data, judge, {system}, {"c"}, ("j2",))
        assert row.estimate.value == pytest.approx(value, abs=1e-12)
        assert row.n_units == used
        assert row.estimate.low < value < row.estimate.high
    whole = {row.group["rater"]: row for row in results(data, asked).rows if row.kind == "estimate"}
    assert pairs["j1", "b"].estimate == whole["j1"].estimate
    n_a, n_b = (pairs["j3", system].n_units for system in "ab")
    assert whole["j3"].n_units == n_a + n_b
    parts = [pairs["j3", system].estimate.value for system in "ab"]
    assert min(parts) < whole["j3"].estimate.value < max(parts)


def test_family_preference_by_pair_without_any_pair() -> None:
    data, _ = study(3)
    alone = (*data.raters[:5], Rater("j1", "judges", "llm", "east", {"system": "d"}))
    data = replace(
        data, raters=alone, ratings=tuple(r for r in data.ratings if r.rater not in {"j2", "j3"})
    )
    asked = Analysis(
        "x", "family_preference", "correct", "judges", against="people", by=("system",)
    )
    [row] = results(data, asked).rows
    assert (row.group, row.estimate.reason) == ({}, "no own answers among them")
    refused = list(contradictions(replace(asked, by=("rater",))))
    assert refused == [
        "by[0]: 'family_preference' has a row for every judge, with 'system' for each other system"
        " of its family; got 'rater'"
    ]


def difference_in_differences(
    data: Data, judge: str, own: set[str], others: set[str], peers: tuple[str, ...]
):
    """Own minus other answers of the same experts' mean, peer by peer; its value, own answers used
    and judged.

    `peers` are those that wrote none of the answers; c is of j2's family, so that j2 has no other
    answer to give."""
    table, score = labels(data, "correct"), {"yes": 1.0, "no": 0.0}
    strata: dict[str, int] = {}
    for answer in {key[1] for key in table}:
        scores = [
            score[str(table[f"p{k}", answer])]
            for k in range(5)
            if table[f"p{k}", answer] is not None
        ]
        if scores:
            strata[answer] = round(float(np.digitize(np.mean(scores), [0.25 + 1e-9, 0.75 + 1e-9])))
    gaps: dict[tuple[int, str, bool], list[float]] = {}
    used: dict[tuple[int, str, bool], set[str]] = {}
    judged = {
        a for r, a in table if r == judge and a.split(":")[1] in own and table[r, a] is not None
    }
    judged = {a for a in judged if any(table[p, a] is not None for p in ("j2", "j3"))}
    for answer, stratum in strata.items():
        system = answer.split(":")[1]
        for peer in peers:
            if (
                system in own | others
                and table[judge, answer] is not None
                and table[peer, answer] is not None
            ):
                key = (stratum, peer, system in own)
                gaps.setdefault(key, []).append(
                    score[str(table[judge, answer])] - score[str(table[peer, answer])]
                )
                used.setdefault(key, set()).add(answer)
    cells = [(s, p) for s, p, is_own in gaps if is_own and (s, p, False) in gaps]
    weights = [len(gaps[s, p, True]) for s, p in cells]
    parts = [np.mean(gaps[s, p, True]) - np.mean(gaps[s, p, False]) for s, p in cells]
    return (
        np.average(parts, weights=weights),
        len(set().union(*(used[s, p, True] for s, p in cells))),
        len(judged),
    )


def tied() -> Data:
    items = (Item("i", "?"),)
    answers = tuple(Answer(f"i:{s}", "i", s) for s in "abc")
    raters = (Rater("p1", "people"), Rater("p2", "people"), Rater("t", "tiebreaker"))
    tasks = tuple(
        Task(
            f"{r.id}-i",
            f"{r.id}-i",
            r.id,
            "form",
            "i",
            purpose="tiebreak" if r.id == "t" else "main",
        )
        for r in raters
    )
    given = {  # a: conflict; b: one abstained, no conflict; c: both agree
        "p1": ("yes", "yes", "no"),
        "p2": ("no", None, "no"),
        "t": ("yes", "no", "yes"),
    }
    ratings = tuple(
        Rating(
            f"{r}-i",
            r,
            "correct",
            "i",
            (f"i:{s}",),
            state="rated" if label else "abstained",
            label=label,
        )
        for r, row in given.items()
        for s, label in zip("abc", row, strict=True)
    )
    return Data(items, answers, raters, tasks, ratings)


def test_a_tiebreak_enters_conflicts_alone() -> None:
    ask = flat_analysis(
        "x", "share", "correct", "people", of=("yes",), consensus="majority", by=("system",)
    )
    without = {r.group["system"]: r.estimate.value for r in results(tied(), ask, derived=()).rows}
    assert np.isnan(without["a"])
    assert (without["b"], without["c"]) == (1.0, 0.0)
    with_tie = flat_analysis(
        "x",
        "share",
        "correct",
        "people",
        of=("yes",),
        consensus="majority",
        by=("system",),
        tiebreak="tiebreaker",
    )
    got = {r.group["system"]: r.estimate.value for r in results(tied(), with_tie, derived=()).rows}
    assert got == {"a": 1.0, "b": 1.0, "c": 0.0}


def test_margin_is_told() -> None:
    data, _ = study()
    for margin, words in (
        (0.9, "Equivalent: the 95% CI lies within ±0.9 (two one-sided tests, each at 2.5%)."),
        (0.001, "Equivalence not shown: the 95% CI extends beyond ±0.001"),
    ):
        ask = flat_analysis(
            "x",
            "share",
            "correct",
            "people",
            of=("yes",),
            by=("system",),
            compare="system",
            margin=margin,
        )
        differences = [r for r in results(data, ask).rows if r.kind == "difference"]
        assert all(any(words in w for w in r.warnings) for r in differences)
