"""Tasks that would be added after a comparative look."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from konsil.records import Event, Rater, Task
from konsil.study import Study
from konsil.study.data.freezing import FREEZE, plan_of_analyses
from konsil.study.definition.interim import InterimRule
from konsil.study.interim.added_tasks import added_tasks_problem, task_limit
from konsil.study.interim.last import ShownAnalysis, last_analysis_event
from konsil.study.interim.looks import LOOK_TAKEN

from .test_interim_check import COMPARED, TRIAL

RULE = InterimRule("agreement", "correct", "extend", "half_width", above=0.1, maximum=5)
STUDY = replace(TRIAL, interim=replace(COMPARED, rules=(RULE,)))


def frozen(study: Study = STUDY, *, with_digest_only: bool = False) -> Event:
    data = plan_of_analyses(study)
    if with_digest_only:
        del data["looks"]
    return Event("f", FREEZE, "t", "2026-01-01T00:00:00Z", data)


def looked(kind: str, day: int, *, is_planned: bool = True, needed: int | None = None) -> Event:
    rules = [{"action": "extend", **({} if needed is None else {"needed": needed})}]
    data = {"look": kind, "is_planned": is_planned, "tasks": 3, "rules": rules}
    return Event(f"l{day}", LOOK_TAKEN, str(day), f"2026-01-0{day}T00:00:00Z", data)


COMPARISON = looked("comparative", 5)
HISTORY = (frozen(), COMPARISON)


def task(name: str, rater: str = "ann", slot: str = "experts 1", purpose: str = "main") -> Task:
    return Task(name, slot, rater, "form", name, ("a",), purpose=purpose)  # type: ignore[arg-type]


PRESENT = [task("t1"), task("t2"), task("t3")]


def problem(
    added: Sequence[Task],
    events: Sequence[Event] = HISTORY,
    study: Study = STUDY,
    stored: Sequence[Task] = PRESENT,
) -> str | None:
    limit = task_limit(study, events)
    if limit is None:
        return None
    raters = (Rater("new", "experts"), Rater("j", "judges"))
    return added_tasks_problem(study, limit, events, stored=stored, added=added, raters=raters)


@pytest.mark.parametrize(
    "added",
    [task("t4"), task("t4", "new"), task("t4", "", "experts 9"), task("t4", "gone", "experts 2")],
    ids=["a rater", "a further rater", "a slot", "an erased rater"],
)
def test_a_larger_sample_is_refused_after_a_comparative_look(added: Task) -> None:
    text = problem([added])
    assert text is not None
    assert "1 task would be added to 3 after the comparative look of 2026-01-05" in text
    assert "expected at most 3, as planned then" in text
    assert "'konsil withdraw' reassigns" in text


@pytest.mark.parametrize(
    "events",
    [
        (frozen(),),
        (frozen(), looked("pooled", 2)),
        # The analysis is exploratory from then on.
        (*HISTORY, looked("comparative", 6, is_planned=False)),
        # Nothing that is added can be a second test.
        (*HISTORY, last_analysis_event("share", ShownAnalysis(3, 3, "2026-01-07T00:00:00Z"))),
    ],
    ids=["no look", "pooled", "unplanned", "last analysis"],
)
def test_tasks_are_added_where_no_confirmatory_test_is_affected(events: list[Event]) -> None:
    assert task_limit(STUDY, events) is None


@pytest.mark.parametrize(
    "added", [task("t4", "j", "judges 1"), task("t4", purpose="tiebreak")], ids=["panel", "purpose"]
)
def test_only_main_tasks_of_the_panel_are_the_sample(added: Task) -> None:
    assert problem([added]) is None


@pytest.mark.parametrize(
    ("looks", "most"),
    [
        ([looked("pooled", 2, needed=4)], 4),
        # Never beyond the maximum of the frozen rules.
        ([looked("pooled", 2, needed=9), looked("pooled", 3, needed=4)], 5),
        ([looked("pooled", 2, needed=2)], 3),
        ([looked("pooled", 2, needed=4, is_planned=False)], 3),
        # After the comparison it is no longer blinded.
        ([looked("pooled", 6, needed=4)], 3),
        ([looked("pooled", 2)], 3),
    ],
)
def test_an_extension_that_a_pooled_look_stated_before_is_planned(
    looks: list[Event], most: int
) -> None:
    further = [task(f"t{n}") for n in range(4, 8)]
    for study in (STUDY, replace(STUDY, interim=None), replace(STUDY, interim=COMPARED)):
        events = (frozen(), *looks, COMPARISON)
        assert problem(further[: most - 3], events, study) is None
        text = problem(further[: most - 2], events, study)
        assert text is not None
        assert f"expected at most {most}" in text


def test_a_withdrawn_raters_tasks_are_replaced_by_as_many() -> None:
    left = Event("w", "withdrawal", "ann", "2026-01-06T00:00:00Z", {"holders": {"t3": ""}})
    stored = [*PRESENT[:2], task("t3", "")]
    assert problem([task("t4")], (*HISTORY, left), stored=stored) is None
    assert problem([task("t4"), task("t5")], (*HISTORY, left), stored=stored) is not None
    # A slot that no rater has taken yet is planned, and is no gap.
    assert problem([task("t4")], stored=stored) is not None


def test_of_a_freeze_with_a_digest_only_an_unchanged_protocol_states_the_panel() -> None:
    events = (frozen(with_digest_only=True), looked("pooled", 2, needed=4), COMPARISON)
    assert problem([task("t4")], events) is None
    assert problem([task("t4"), task("t5")], events) is not None
    assert problem([task("t4", "j", "judges 1")], events) is None
    # Of a changed one it is not known which tasks count.
    for study in (replace(STUDY, interim=None), replace(STUDY, interim=COMPARED)):
        text = problem([task("t4", "j", "judges 1")], events, study)
        assert text is not None
        assert "expected at most 3" in text
