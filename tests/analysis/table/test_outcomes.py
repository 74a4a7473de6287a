"""How judges' calls ended, and what the judgements that are missing could have changed."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from tests.analyses import flat_analysis
from tests.analysis.estimation.test_judging import DIFFICULTY, FORM, HARD, SYSTEMS, results, study

from konsil.analysis import Analysis, Results
from konsil.analysis.table.calls.outcomes import NO_CALL, NOT_RECORDED
from konsil.analysis.table.frame import Data
from konsil.records import Attempt, Task


def with_tasks(data: Data) -> Data:
    """The tasks that the ratings come from, as a plan would have them."""
    answers = {i.id: tuple(f"{i.id}:{s.id}" for s in SYSTEMS) for i in data.items}
    found = {
        r.task: Task(r.task, r.task, r.rater, FORM.id, r.item, answers[r.item or ""])
        for r in data.ratings
    }
    return replace(data, tasks=tuple(found.values()))


def without(data: Data, *tasks: str) -> Data:
    return replace(data, ratings=tuple(r for r in data.ratings if r.task not in tasks))


def tried(task: str, outcome: str, at: int = 1) -> Attempt:
    return Attempt(f"{task}.{at}", task, task.split("-")[0], outcome, at=f"2026-01-01T00:00:0{at}Z")  # type: ignore[arg-type]


def counts(found: Results, column: str = "", value: str = "") -> dict[str, dict[str, int]]:
    return {
        o.rater: dict(o.counts) for o in found.outcomes if (o.column, o.value) == (column, value)
    }


def test_every_task_of_a_judge_ends_once() -> None:
    data = without(with_tasks(study(n=9)[0]), "j1-i01", "j1-i02", "j2-i03")
    data = replace(
        data,
        attempts=(
            tried("j1-i00", "not json"),
            tried("j1-i00", "repaired", 2),
            tried("j1-i01", "truncated"),
            tried("j1-i01", "refused", 2),
        ),
    )
    found = results(data, Analysis("x", "abstention", "correct", "judges", by=("rater",)))
    assert counts(found) == {
        "j1": {"repaired": 1, NOT_RECORDED: 6, "refused": 1, NO_CALL: 1},
        "j2": {NOT_RECORDED: 8, NO_CALL: 1},
        "j3": {NOT_RECORDED: 9},
    }
    parts = [o for o in found.outcomes if o.rater == "j1" and o.column == "difficulty"]
    assert sum(n for o in parts for n in o.counts.values()) == 9
    assert len(parts) > 1


def test_outcomes_by_stratum_and_system() -> None:
    data = with_tasks(study(n=6)[0])
    items = tuple(
        replace(i, strata={"match": "yes" if n < 2 else "no"}) for n, i in enumerate(data.items)
    )
    tasks = tuple(
        replace(t, answers=t.answers[:1] if t.item == "i05" else t.answers) for t in data.tasks
    )
    found = results(
        replace(data, items=items, tasks=tasks), Analysis("x", "abstention", "correct", "judges")
    )
    assert counts(found, "match", "yes")["j1"] == {NOT_RECORDED: 2}
    assert counts(found, "system", "a")["j1"] == {NOT_RECORDED: 6}
    assert counts(found, "system", "c")["j1"] == {NOT_RECORDED: 5}


ASKED = (
    flat_analysis("share", "share", "correct", "judges", of=("yes",), by=("rater",)),
    flat_analysis("jury", "share", "correct", "judges", of=("yes",), consensus="majority"),
    Analysis("mean", "mean", "hard", "judges", by=("rater",)),
    Analysis(
        "agreement", "percent_agreement", "correct", "judges", against="people", by=("rater",)
    ),
    Analysis(
        "kappa", "cohen_kappa", "correct", "judges", against="people", by=("rater",), mode="paper"
    ),
    Analysis("self", "self_preference", "correct", "judges", against="people"),
    Analysis("plain", "self_preference", "correct", "judges", mode="paper"),
    Analysis("pair", "family_preference", "correct", "judges", against="people", by=("system",)),
)
EXACT = {"share", "jury", "mean", "agreement", "kappa", "self", "plain", "pair"}


def number(found: Results) -> dict[tuple[str, str], float]:
    return {
        (r.analysis, r.group.get("rater", "")): r.estimate.value
        for r in found.rows
        if r.kind == "estimate"
    }


@pytest.mark.slow
def test_bounds_are_what_the_missing_labels_could_have_made() -> None:
    """Every way of filling three gaps of one judge and one of another: none goes beyond, and the
    ends are reached."""
    whole = with_tasks(study(n=14)[0])
    gaps = [r for r in whole.ratings if r.task in {"j1-i03", "j2-i05"}]
    data = without(whole, "j1-i03", "j2-i05")
    found = results(data, *ASKED)
    ends: dict[tuple[str, str], list[float]] = {}
    words = [("easy", "hard") if r.criterion == "hard" else ("no", "yes") for r in gaps]
    few = [n for n, r in enumerate(gaps) if r.criterion == "hard" or r.answers[0].endswith(":a")]
    for labels in product(*(words[n] if n in few else words[n][:1] for n in range(len(gaps)))):
        filled = tuple(
            replace(r, state="rated", label=label) for r, label in zip(gaps, labels, strict=True)
        )
        for key, value in number(
            results(replace(data, ratings=data.ratings + filled), *ASKED)
        ).items():
            ends.setdefault(key, []).append(value)
    told = {(b.analysis, b.group.get("rater", "")): b for b in found.bounds}
    assert {name for name, _ in told} == EXACT
    assert ("share", "j3") not in told
    for key, b in told.items():
        assert b.low <= min(ends[key]) + 1e-12, key
        assert b.high >= max(ends[key]) - 1e-12, key
    for key in (("mean", "j1"), ("mean", "j2")):
        assert (told[key].low, told[key].high) == pytest.approx((min(ends[key]), max(ends[key])))
    one = told["share", "j1"]
    assert (one.n_missing, one.n_given) == (3, 13 * 3)


@pytest.mark.slow
def test_abstentions_and_their_slope_have_bounds() -> None:
    whole = with_tasks(study(n=20)[0])
    gone = ("j1-i03", "j1-i07", "j1-i11")
    asked = (
        Analysis("rate", "abstention", "correct", "judges", by=("rater",)),
        flat_analysis(
            "slope", "abstention_slope", "correct", "judges", covariate="difficulty", by=("rater",)
        ),
    )
    found = results(without(whole, *gone), *asked)
    told = {b.analysis: b for b in found.bounds}
    ends: dict[str, list[float]] = {}
    for states in product(("rated", "abstained"), repeat=3):
        state = dict(zip(gone, states, strict=True))
        filled = tuple(
            (
                replace(r, state=state[r.task], label="no" if state[r.task] == "rated" else None)
                if r.task in gone and r.criterion == "correct"
                else r
            )
            for r in whole.ratings
        )
        for (name, rater), value in number(results(replace(whole, ratings=filled), *asked)).items():
            if rater == "j1":
                ends.setdefault(name, []).append(value)
    for name, b in told.items():
        assert (b.low, b.high) == pytest.approx((min(ends[name]), max(ends[name])))


def test_what_has_no_bounds_says_so() -> None:
    data = without(with_tasks(study(n=12)[0]), "j1-i03")
    found = results(data, Analysis("x", "krippendorff_alpha", "correct", "judges"))
    [b] = found.bounds
    assert np.isnan([b.low, b.high]).all()
    assert b.n_missing == 3


def test_nothing_missing_has_no_bounds() -> None:
    data = with_tasks(study(n=12)[0])
    assert results(data, *ASKED).bounds == ()
    assert results(without(data, "p1-i03"), *ASKED).bounds == ()


def test_derived_ranges_reach_the_gaps() -> None:
    data = without(with_tasks(study(n=30)[0]), "j1-i03", "j1-i04")
    found = results(
        data, Analysis("x", "abstention", "correct", "judges", by=("rater", "difficulty"))
    )
    assert sum(b.n_missing for b in found.bounds) == 6
    assert {b.group["rater"] for b in found.bounds} == {"j1"}
    assert DIFFICULTY.name in found.bounds[0].group


def test_derived_numbers_are_told_item_by_item() -> None:
    data = study(n=12)[0]
    found = results(data, Analysis("x", "abstention", "correct", "people")).derived
    assert [v.item for v in found] == [i.id for i in data.items]
    numbers = dict(zip(HARD.scale.labels, (0, 1, 2), strict=True))
    given = [
        numbers[r.label or ""] for r in data.ratings if (r.item, r.criterion) == ("i03", "hard")
    ][:5]
    assert found[3].value == pytest.approx(np.mean(given))
    assert found[3].label in {b.label for b in DIFFICULTY.bins}
