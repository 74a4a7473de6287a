"""Interim analyses of a frozen plan, whatever the protocol has afterwards."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import pytest

from konsil.analysis.model.results import Results
from konsil.analysis.model.rows import Row
from konsil.analysis.table.frame import Data
from konsil.records import Event, Rating, Task
from konsil.stats.engine.contract import Estimate
from konsil.study import Study
from konsil.study.data.blinding import letters
from konsil.study.data.freezing import FREEZE, plan_of_analyses
from konsil.study.data.frozen_looks import looks_of_data
from konsil.study.definition.interim import Interim, InterimRule, Look
from konsil.study.definition.protocol import System
from konsil.study.interim.results import new_last_analysis, with_looks

from .test_interim_check import COMPARED, POOLED, SHARE, TRIAL

ARMS = replace(SHARE, by=("arm",), compare="arm")
TRIED = replace(TRIAL, interim=COMPARED)
OF_ARMS = replace(TRIED, analyses=(*(a for a in TRIAL.analyses if a.name != "share"), ARMS))
# All tasks are rated, so that only the changed plan withholds.
DATA = Data(
    raters=TRIAL.raters,
    tasks=[Task("t1", "t1", "ann", "form", "q", ("a",))],
    ratings=[Rating("t1", "ann", "correct", "q", ("a",), label="yes")],
)


def frozen(study: Study, *, with_digest_only: bool = False) -> Event:
    data = plan_of_analyses(study)
    if with_digest_only:
        del data["looks"]
    return Event("f", FREEZE, "t", "2026-01-01T00:00:00Z", data)


def results(column: str, name: str = "share") -> Results:
    half = Estimate(0.5, 0.4, 0.6, 0.95, 0.05, 0.01)
    row = Row(name, "share", "correct", "experts", half, {column: "x"}, p_adjusted=0.01)
    other = {column: "y"}
    pooled = Row("kappa", "cohen_kappa", "correct", "experts", replace(half, p=math.nan))
    difference = replace(row, kind="difference", versus=other)
    return Results((row, replace(row, group=other), difference, pooled), ())


def without_comparative(study: Study) -> Study:
    return replace(study, interim=replace(POOLED, looks=COMPARED.looks[:1]))


def with_earlier_end(study: Study) -> Study:
    return replace(study, interim=replace(COMPARED, ratings=1))


def test_a_freeze_states_the_looks_and_no_person() -> None:
    rule = InterimRule(
        "agreement", "correct", "extend", "half_width", above=0.1, maximum=900, text="ask Dr Lee"
    )
    interim = replace(COMPARED, rules=(rule,), alpha=0.025, spending="pocock", binding=True)
    stored = plan_of_analyses(replace(OF_ARMS, interim=interim))
    assert "p-9" not in str(stored["looks"])
    assert "Dr Lee" not in str(stored["looks"])
    looks = looks_of_data(stored)
    assert looks is not None
    assert looks.interim == replace(interim, unblinded="", rules=(replace(rule, text=""),))
    assert looks.compared == "arm"
    assert "looks" not in plan_of_analyses(TRIAL)


def test_systems_with_the_names_of_keys_change_nothing_of_a_frozen_plan() -> None:
    systems = (System("alpha"), System("share"), System("arm"))
    study = replace(OF_ARMS, systems=systems, interim=replace(COMPARED, alpha=0.01))
    event = letters(study, TRIAL.raters, (), b"key").event(frozen(study))
    assert looks_of_data(event.data) == looks_of_data(frozen(study).data)
    looks = looks_of_data(event.data)
    assert looks is not None
    assert (looks.interim.alpha, looks.interim.analysis, looks.compared) == (0.01, "share", "arm")


@pytest.mark.parametrize(
    "change",
    [without_comparative, lambda study: replace(study, interim=None), with_earlier_end],
    ids=["comparative looks", "interim", "ratings"],
)
@pytest.mark.parametrize(("study", "column"), [(TRIED, "system"), (OF_ARMS, "arm")])
def test_what_is_removed_after_the_freeze_still_withholds(
    study: Study, column: str, change: Callable[[Study], Study]
) -> None:
    changed, history = change(study), [frozen(study)]
    blinded = with_looks(results(column), changed, DATA, history, is_blinded=True)
    assert [math.isnan(r.estimate.value) for r in blinded.rows] == [True, True, True, False]
    assert blinded.is_withheld
    assert any("its comparison is withheld while the study" in w for w in blinded.warnings)
    named = with_looks(results(column), changed, DATA, history)
    assert all(math.isfinite(r.estimate.value) for r in named.rows)
    assert not named.is_withheld
    # Whether names are shown or not, it is no last analysis.
    for shown in (blinded, named):
        assert shown.plan["share"] == "exploratory"
        assert all(math.isnan(r.p_adjusted) for r in shown.rows)
        assert new_last_analysis(shown, changed, DATA, history, "") is None


BY_SYSTEM = replace(SHARE, name="other")


@pytest.mark.parametrize(
    "study",
    [
        replace(OF_ARMS, analyses=(SHARE, BY_SYSTEM)),
        replace(TRIED, analyses=(BY_SYSTEM,), interim=replace(COMPARED, analysis="other")),
        replace(TRIED, analyses=(BY_SYSTEM,), interim=None),
    ],
    ids=["another factor", "another analysis", "neither"],
)
@pytest.mark.parametrize("column", ["system", "arm"])
def test_what_the_frozen_analysis_compares_is_withheld_in_every_analysis(
    study: Study, column: str
) -> None:
    early = replace(DATA, tasks=[*DATA.tasks, replace(DATA.tasks[0], id="t2")])
    for name in ("share", "other"):
        computed = results(column, name)
        blinded = with_looks(computed, study, early, [frozen(OF_ARMS)], is_blinded=True)
        assert [math.isnan(r.estimate.value) for r in blinded.rows] == [True, True, True, False]


def test_numbers_of_systems_are_withheld_where_no_row_has_them() -> None:
    pooled = Results(results("system").rows[3:], ())
    study = replace(TRIED, interim=None)
    assert with_looks(pooled, study, DATA, [frozen(TRIED)], is_blinded=True).is_withheld
    assert not with_looks(pooled, study, DATA, [frozen(study)], is_blinded=True).is_withheld


@pytest.mark.parametrize("column", ["answers", "task", "repeat_of"])
def test_numbers_of_single_answers_are_withheld(column: str) -> None:
    """Their values state the code of the system, or select the answers of one."""
    early = replace(DATA, tasks=[*DATA.tasks, replace(DATA.tasks[0], id="t2")])
    chosen = replace(SHARE, name="other", by=(), compare="", where={column: ("x",)})
    study = replace(TRIED, analyses=(SHARE, chosen))
    grouped = with_looks(results(column), study, early, [frozen(TRIED)], is_blinded=True)
    assert [math.isnan(r.estimate.value) for r in grouped.rows] == [True, True, True, False]
    selected = with_looks(results("phase", "other"), study, early, [frozen(TRIED)], is_blinded=True)
    assert all(math.isnan(r.estimate.value) for r in selected.rows if r.analysis == "other")


def test_pooled_looks_that_are_removed_withhold_nothing() -> None:
    pooled = replace(TRIAL, interim=POOLED)
    for interim in (None, replace(POOLED, looks=(Look(0.7),))):
        study = replace(TRIAL, interim=interim)
        shown = with_looks(results("system"), study, DATA, [frozen(pooled)], is_blinded=True)
        assert shown == results("system")


@pytest.mark.parametrize("interim", [None, POOLED], ids=["interim", "comparative looks"])
@pytest.mark.parametrize("column", ["system", "arm"])
def test_a_freeze_with_a_digest_only_withholds_every_comparison(
    interim: Interim | None, column: str
) -> None:
    history = [frozen(OF_ARMS, with_digest_only=True)]
    study = replace(OF_ARMS, interim=interim)
    blinded = with_looks(results(column), study, DATA, history, is_blinded=True)
    assert [math.isnan(r.estimate.value) for r in blinded.rows] == [True, True, True, False]
    assert "which states only its checksum" in blinded.warnings[0]
    assert with_looks(results(column), study, DATA, history) == results(column)
    # While [interim] is what it was, the digest suffices.
    last = with_looks(results("arm"), OF_ARMS, DATA, history, is_blinded=True)
    assert all(math.isfinite(r.estimate.value) for r in last.rows)


def test_a_withheld_comparison_is_not_said_to_be_shown() -> None:
    tasks = [*DATA.tasks, replace(DATA.tasks[0], id="t2")]
    early = replace(DATA, tasks=tasks)
    for is_blinded, text in ((True, "is withheld until its"), (False, "is shown before its")):
        shown = with_looks(results("system"), TRIED, early, [frozen(TRIED)], is_blinded=is_blinded)
        [warning] = shown.warnings
        assert f"The comparison {text} last analysis: 1 of 2 tasks" in warning
        assert not any("shown" in w for row in shown.rows for w in row.warnings)
