"""What a protocol may say of interim analyses."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from konsil.analysis.model.options import CriterionRef, ShareOptions
from konsil.analysis.model.spec import Analysis, Inference, Resampling
from konsil.analysis.running.interim.pooled import CriterionQuality
from konsil.analysis.table.frame import Data
from konsil.api.running.interim import InterimState
from konsil.cli.interim import rule_lines, state_lines
from konsil.instrument import Criterion, Instrument, Scale
from konsil.plan import Allocation
from konsil.records import Event, Rating, Task
from konsil.stats.engine.contract import Estimate
from konsil.study import check, parse
from konsil.study.data.freezing import plan_of_analyses
from konsil.study.definition.interim import Interim, InterimRule, Look, applies
from konsil.study.definition.protocol import System
from konsil.study.interim.looks import (
    LOOK_TAKEN,
    Progress,
    progress_of,
)
from konsil.study.interim.rules import applied_rules, decision_of

from .rules.test_check import KAPPA, STUDY, told

SHARE = replace(
    KAPPA,
    name="share",
    statistic="share",
    options=ShareOptions(of=("yes",)),
    by=("system",),
    compare="system",
)
TRIAL = replace(STUDY, analyses=(KAPPA, SHARE))
POOLED = Interim("experts", looks=(Look(0.5),))
COMPARED = Interim(
    "experts",
    looks=(Look(0.3), Look(0.5, "comparative", 0.4)),
    analysis="share",
    unblinded="p-9",
)
RULE = InterimRule("agreement", "correct", "retrain", below=0.4)
SPREAD = InterimRule("standard_deviation", "grade", "extend", above=0.4)


def changed(**keys: Any) -> Interim:
    return replace(COMPARED, **keys)


def test_sound_interim_analyses_pass() -> None:
    for interim in (POOLED, COMPARED, replace(POOLED, rules=(RULE,)), changed(binding=True)):
        check(replace(TRIAL, interim=interim))


@pytest.mark.parametrize(
    ("interim", "line"),
    [
        (replace(POOLED, panel="expert"), "panel: there is no panel 'expert'; did you mean"),
        (replace(POOLED, ratings=5), "ratings: expected with a study without [[plan]]"),
        (replace(POOLED, looks=()), "looks: expected at least one look"),
        (replace(POOLED, looks=(Look(1.0),)), "looks[0].fraction: expected 0.01 or more and below"),
        (replace(POOLED, looks=(Look(0.5, futility=1),)), "looks[0].futility: is of comparative"),
        (replace(POOLED, looks=(Look(0.5), Look(0.4))), "looks: expected rising fractions"),
        (replace(POOLED, analysis="share"), "analysis: is of comparative looks; there is none"),
        (changed(analysis=""), "analysis: missing; comparative looks need it"),
        (changed(unblinded=" "), "unblinded: missing; comparative looks need it"),
        (changed(analysis="shar"), "analysis: there is no analysis 'shar'; did you mean 'share'?"),
        (changed(analysis="kappa"), "analysis: 'kappa' has no test of zero"),
        (changed(alpha=1.0), "alpha: expected a number between 0 and 1, got 1"),
        (changed(rho=0.0), "rho: expected a number above 0, got 0"),
        (changed(looks=(Look(0.5, "comparative", -1),)), "looks[0].futility: expected 0 or more"),
        (changed(looks=(Look(0.5, "comparative", 9),)), "looks: futility 9: expected"),
        (
            changed(looks=(Look(0.5, "comparative"), Look(0.505, "comparative"))),
            "looks: expected comparative looks 0.01 or more apart",
        ),
        (
            changed(looks=(Look(0.5, "comparative"),), binding=True),
            "binding: no comparative look has a bound of futility",
        ),
        (
            changed(looks=(Look(0.5, "comparative"),), rules=(RULE,)),
            "rules: are of pooled looks; there is none",
        ),
        (
            replace(POOLED, rules=(replace(RULE, criterion="corect"),)),
            "rules[0].criterion: there is no criterion 'corect'; did you mean 'correct'?",
        ),
        (
            replace(POOLED, rules=(replace(RULE, criterion="why"),)),
            "rules[0].criterion: 'why' is a free text",
        ),
        (
            replace(POOLED, rules=(InterimRule("abstention", "grade", "stop", above=0.1),)),
            "rules[0].measure: 'grade' has no abstention",
        ),
        (
            replace(POOLED, rules=(replace(RULE, above=0.5),)),
            "rules[0]: expected either below or above",
        ),
        (
            replace(POOLED, rules=(replace(SPREAD, end="low"),)),
            "rules[0].end: 'standard_deviation' has no confidence interval here",
        ),
    ],
)
def test_each_fault(interim: Interim, line: str) -> None:
    [problem] = told(replace(TRIAL, interim=interim))
    assert problem.startswith(f"study.toml: interim.{line}")


def test_other_faults_of_the_study() -> None:
    exploratory = replace(TRIAL, analyses=(replace(SHARE, prespecified=False),), interim=COMPARED)
    assert "is exploratory" in told(exploratory)[0]
    untested = replace(TRIAL, analyses=(replace(SHARE, test="none"),), interim=COMPARED)
    assert "test = 'none'" in told(untested)[0]
    unplanned = replace(TRIAL, plan=(), interim=replace(POOLED, ratings=0))
    assert told(unplanned) == ["study.toml: interim.ratings: expected 1 or more, got 0"]
    check(replace(unplanned, interim=replace(POOLED, ratings=90)))


PREFERENCE_RULE = InterimRule("agreement", "better", "retrain", below=0.4)
THREE = (*STUDY.systems, System("three"))


@pytest.mark.parametrize(
    ("analysis", "text"),
    [
        (SHARE, "'share' has 3 groups of 'system', so that it has several tests; expected exactly"),
        (
            replace(SHARE, by=("system", "rater"), where={"system": ("one", "two")}),
            "'share' has 2 groups of 'rater'",
        ),
        (replace(SHARE, by=("rater", "system"), compare="rater"), "has 3 groups of 'system'"),
    ],
)
def test_an_analysis_of_several_tests_has_no_comparative_look(
    analysis: Analysis, text: str
) -> None:
    study = replace(TRIAL, systems=THREE, analyses=(analysis,), interim=COMPARED)
    assert text in told(study)[0]


BETTER = Criterion("better", "Which?", Scale(("A", "tie", "B"), level="ordinal"), scope="pair")
PAIRED = replace(
    TRIAL,
    instruments=(*STUDY.instruments, Instrument("pairs", (BETTER,))),
    plan=(*STUDY.plan, Allocation("experts", "pairs")),
)
WINS = Analysis("share", "win_difference", CriterionRef("better"), "experts", compare="system")
TOPIC = replace(SHARE, by=("topic",), compare="topic")


@pytest.mark.parametrize(
    ("analysis", "text"),
    [
        (
            replace(WINS, compare=""),
            "'share' has a test for each system; expected 'win_difference'",
        ),
        (replace(WINS, compare="", test="flip"), "'share' has a test for each system"),
        (
            replace(WINS, by=("topic",), compare="topic"),
            "'share' has a test for each system; expected 'win_difference'",
        ),
        (
            replace(WINS, statistic="win_rate", by=("rater",), compare="rater"),
            "'share' has a test for each system",
        ),
        (
            TOPIC,
            "'share' has groups of 'topic', whose number is not known before the import; expected"
            " where = { topic = [...] } with two values",
        ),
        (
            replace(SHARE, by=("system", "topic")),
            "whose number is not known before the import; expected where = { topic = [...] } with"
            " one value",
        ),
        (replace(TOPIC, where={"topic": ("a", "b", "c")}), "'share' has 3 groups of 'topic'"),
        (replace(SHARE, where={"system": ("one",)}), "'share' has 1 group of 'system'; expected"),
        (
            replace(KAPPA, name="share", by=("rater_pair",), compare="rater_pair"),
            "'share' has a group for each pair of raters",
        ),
        (
            replace(KAPPA, name="share", by=("rater",), compare="rater"),
            "'share' has 'cohen_kappa' of single raters, which is about several",
        ),
        (
            Analysis(
                "share",
                "median_seconds",
                CriterionRef("correct"),
                "experts",
                by=("system",),
                compare="system",
                test="flip",
            ),
            "the groups of 'median_seconds' cannot be exchanged; expected test = 'interval'",
        ),
        (
            replace(SHARE, raters="judges"),
            "'share' uses ratings of 'judges', and looks count those of 'experts'",
        ),
    ],
)
def test_what_no_look_could_compute_is_refused_before_the_freeze(
    analysis: Analysis, text: str
) -> None:
    late = changed(looks=(Look(0.5, "comparative"),))
    assert any(text in line for line in told(replace(PAIRED, analyses=(analysis,), interim=late)))


@pytest.mark.parametrize(
    "analysis", [WINS, replace(TOPIC, where={"topic": ("a", "b")}), replace(SHARE, test="flip")]
)
def test_one_difference_of_groups_that_are_known_has_looks(analysis: Analysis) -> None:
    late = changed(looks=(Look(0.5, "comparative"),))
    check(replace(PAIRED, analyses=(analysis,), interim=late))


def test_a_rule_whose_number_never_exists_is_refused() -> None:
    spread = InterimRule("standard_deviation", "correct", "extend", above=0.5)
    [problem] = told(replace(TRIAL, interim=replace(POOLED, rules=(spread,))))
    assert "rules[0].measure: 'correct' has unordered labels" in problem
    paired = replace(spread, criterion="better")
    [problem] = told(replace(PAIRED, interim=replace(POOLED, rules=(paired,))))
    assert "'better' compares two answers, and the standard deviation of its labels" in problem
    unasked = replace(PAIRED, plan=STUDY.plan, interim=replace(POOLED, rules=(PREFERENCE_RULE,)))
    assert "the plan does not ask 'experts' for 'better'" in told(unasked)[0]


def test_two_of_three_groups_have_one_difference() -> None:
    chosen = replace(SHARE, where={"system": ("one", "two")})
    check(replace(TRIAL, systems=THREE, analyses=(chosen,), interim=COMPARED))
    planned = (replace(STUDY.plan[0], systems=("one", "two")),)
    check(replace(TRIAL, systems=THREE, plan=planned, analyses=(SHARE,), interim=COMPARED))


def test_a_permutation_test_with_too_few_draws_for_a_look() -> None:
    """At .3 the critical value is 3.93: p below 8.5e-5, which 10,000 draws do not give."""
    flipped = replace(TRIAL, analyses=(replace(SHARE, test="flip"),), interim=COMPARED)
    late = replace(flipped, interim=changed(looks=(Look(0.5, "comparative"),)))
    check(late)
    early = replace(flipped, interim=changed(looks=(Look(0.3, "comparative"),)))
    [problem] = told(early)
    assert "the look at 0.3 stops for p below 8.5e-05" in problem
    assert "has no p below 0.0001; expected more resampling.draws" in problem
    check(replace(early, resampling=Resampling(draws=20_000)))


def test_differences_of_numbers_are_tested_by_draws_without_a_flip() -> None:
    """Also with test = 'interval' their p is a permutation test's, but that of raters as clusters
    or as a sample is not."""
    mean = Analysis("share", "mean", CriterionRef("grade"), "experts", by=("system",))
    study = replace(
        TRIAL,
        analyses=(replace(mean, compare="system"),),
        interim=changed(looks=(Look(0.3, "comparative"),)),
    )
    [problem] = told(study)
    assert problem.endswith("expected more resampling.draws or a later look")
    check(replace(study, inference=Inference("like these")))
    check(replace(study, analyses=(replace(SHARE),)))


def test_a_rule_of_drift_is_a_p_value_that_its_tests_can_have() -> None:
    """Six tests of three criteria with labels: the least adjusted p is .006."""
    drift = InterimRule("label_drift", "correct", "retrain", below=0.01)
    check(replace(TRIAL, interim=replace(POOLED, rules=(drift,))))
    for rule, text in (
        (replace(drift, below=0.006), "have no p below 0.006; expected more, got 0.006"),
        (replace(drift, below=None, above=0.5), "expected below with 'label_drift'"),
        (replace(drift, end="low"), "'label_drift' has no confidence interval here"),
    ):
        assert text in told(replace(TRIAL, interim=replace(POOLED, rules=(rule,))))[0]


WIDE = InterimRule(
    "agreement", "correct", "extend", end="half_width", above=0.08, maximum=640, text="more items"
)
UNPLANNED = replace(TRIAL, plan=(), interim=replace(POOLED, ratings=320, rules=(WIDE,)))


@pytest.mark.parametrize(
    ("interim", "line"),
    [
        (replace(POOLED, rules=(replace(WIDE, action="stop"),)), "rules[0].maximum: expected with"),
        (replace(POOLED, rules=(replace(WIDE, end="high"),)), "rules[0].maximum: expected with"),
        (
            changed(looks=(Look(0.3, "comparative"), Look(0.5)), rules=(WIDE,)),
            "rules[0].maximum: expected all pooled looks before the first comparative one",
        ),
    ],
)
def test_an_extension_needs_a_square_and_looks_before_the_comparison(
    interim: Interim, line: str
) -> None:
    [problem] = told(replace(TRIAL, interim=interim))
    assert problem.startswith(f"study.toml: interim.{line}")


def test_an_extension_is_above_the_plan_and_of_a_number_that_may_change() -> None:
    check(replace(TRIAL, interim=changed(rules=(WIDE,))))
    check(UNPLANNED)
    assert UNPLANNED.interim is not None
    small = replace(
        UNPLANNED, interim=replace(UNPLANNED.interim, rules=(replace(WIDE, maximum=320),))
    )
    assert "maximum: expected more than the planned number, got 320" in told(small)[0]
    compared = replace(UNPLANNED, interim=changed(ratings=320, rules=(WIDE,)))
    assert "has a fixed number of ratings for its comparative looks" in told(compared)[0]
    below = replace(WIDE, above=None, below=0.1, maximum=None)
    assert (
        "expected above with end = 'half_width'"
        in told(replace(TRIAL, interim=replace(POOLED, rules=(below,))))[0]
    )


def test_a_sample_is_extended_by_the_square_of_the_expected_half_width() -> None:
    """By hand: a CI of .4 to .8 at 80 of 320 ratings has the half-width .2, of which half is
    expected at 320; .1 / .08 is 1.25, and 320 x 1.5625 is 500."""
    nan = Estimate(math.nan)
    quality = CriterionQuality(
        "correct", "fleiss_kappa", Estimate(0.6, 0.4, 0.8), nan, Estimate(0.75), 2, 80, 0, 40
    )
    spread = InterimRule("standard_deviation", "correct", "extend", above=0.5, maximum=640)
    rules = (WIDE, replace(WIDE, above=0.05), replace(WIDE, above=0.11), spread)
    interim = replace(POOLED, ratings=320, rules=rules)
    applied = applied_rules(interim, [quality], Progress(80, 320, "ratings"))
    assert [a.number for a in applied] == pytest.approx([0.1, 0.1, 0.1, 0.75])
    assert [a.needed for a in applied] == [500, 1280, None, 720]
    assert [a.advised for a in applied] == [500, 640, None, 640]
    lines = list(rule_lines(applied))
    assert lines[:2] == [
        "rule: extend if agreement of correct (half_width) is above 0.08: 0.100, applies"
        " (more items)",
        "  extend to 500 in all (500 are needed, the maximum is 640)",
    ]
    assert lines[2] == "  with further items; they narrow no uncertainty about other raters"
    assert len(lines) == 10
    [unknown, *_] = applied_rules(interim, [], Progress(80, 320, "ratings"))
    assert (unknown.applies, unknown.needed) == (None, None)


def test_an_extended_sample_is_extended_from_where_it_is() -> None:
    """By hand: of 500 ratings where 320 were planned, .09 / .08 needs 632.8. A sample above the
    maximum does not become smaller, and none changes after a comparative look."""
    nan = Estimate(math.nan)
    quality = CriterionQuality(
        "correct", "fleiss_kappa", Estimate(0.6, 0.51, 0.69), nan, nan, 2, 500, 0, 250
    )
    interim = replace(POOLED, ratings=320, rules=(WIDE, replace(WIDE, maximum=400)))
    progress = Progress(320, 320, "ratings", surplus=180)
    applied = applied_rules(interim, [quality], progress)
    assert [(a.needed, a.advised) for a in applied] == [(633, 633), (633, 500)]
    look = Event("l", LOOK_TAKEN, "1", "2026-01-02T00:00:00Z", {"look": "comparative"})
    [applied, _] = applied_rules(interim, [quality], progress, [look])
    assert (applied.applies, applied.needed, applied.advised) == (True, None, None)


def test_a_planned_power_is_of_the_plan_and_not_of_the_extended_sample() -> None:
    """By hand: a standard deviation of 1.3 where 1 was planned needs 1.69 times the 100 planned
    tasks. Of the 169 at a second look it would be 286, and of those 483."""
    nan = Estimate(math.nan)
    quality = CriterionQuality("correct", "x", nan, nan, Estimate(1.3), 2, 60, 0, 30)
    rule = InterimRule("standard_deviation", "correct", "extend", above=1.0, maximum=400)
    interim = replace(POOLED, rules=(rule,))
    first = applied_rules(interim, [quality], Progress(25, 100))
    assert [(a.needed, a.advised, a.is_extended) for a in first] == [(169, 169, False)]
    assert decision_of(first) == "extend"
    look = Event("l", LOOK_TAKEN, "1", "2026-01-02T00:00:00Z", {"look": "pooled", "tasks": 100})
    other = replace(look, id="m", at="2026-01-03T00:00:00Z", data={"look": "pooled", "tasks": 169})
    second = applied_rules(interim, [quality], Progress(90, 169), [other, look])
    assert [(a.needed, a.advised, a.is_extended) for a in second] == [(169, 169, True)]
    assert decision_of(second) == "continue"
    assert list(rule_lines(second))[-1] == (
        "  no further extension: 169 are there (169 are needed, the maximum is 400)"
    )


def test_ratings_beyond_the_plan_are_counted() -> None:
    rating = Rating("t", "ann", "correct", "q", ("a",), label="yes")
    data = Data(raters=STUDY.raters, ratings=[replace(rating, task=f"t{n}") for n in range(5)])
    interim = replace(POOLED, ratings=3)
    assert progress_of(STUDY, interim, data) == Progress(3, 3, "ratings", surplus=2)
    assert progress_of(STUDY, replace(interim, ratings=8), data) == Progress(5, 8, "ratings")


def test_tasks_without_a_rater_are_still_to_be_rated() -> None:
    """Else the last analysis is that of the slots which somebody has taken so far."""
    plan = (Allocation("experts", "form"), Allocation("others", "other form"))
    study = replace(TRIAL, interim=COMPARED, plan=plan)
    tasks = [
        Task(name, slot, rater, form, "q", ("a",))
        for name, slot, rater, form in (
            ("t1", "experts 1", "ann", "form"),
            ("t2", "experts 2", "", "form"),
            ("t3", "others 1", "", "other form"),
            ("t4", "volunteers 1", "", "form"),
        )
    ]
    rated = Rating("t1", "ann", "correct", "q", ("a",), label="yes")
    progress = progress_of(study, COMPARED, Data(tasks=tasks, ratings=[rated]))
    assert (progress.rated, progress.tasks) == (1, 2)
    blinded = [replace(task, slot=f"slot of {task.id}") for task in tasks]
    panels = {f"slot of {task.id}": task.slot.split()[0] for task in tasks}
    data = Data(tasks=blinded, ratings=[rated], panel_by_slot=panels)
    assert progress_of(study, COMPARED, data).tasks == 2


def test_a_study_without_tasks_has_no_share_of_them() -> None:
    state = InterimState(POOLED, Progress(0, 0), (), None)
    assert list(state_lines(state, Path())) == [
        "tasks: 0 of 0; run 'konsil plan' first",
        "look 1: pooled, at 50%: planned",
    ]


def test_a_rule_applies_below_or_above() -> None:
    above = InterimRule("abstention", "correct", "stop", above=0.2)
    assert (applies(RULE, 0.4), applies(RULE, 0.39)) == (False, True)
    assert (applies(above, 0.2), applies(above, 0.21)) == (False, True)
    assert applies(above, float("nan")) is None


def test_a_freeze_covers_the_interim_analyses() -> None:
    before, after = plan_of_analyses(TRIAL), plan_of_analyses(replace(TRIAL, interim=POOLED))
    assert "interim" not in before
    assert before["rules"] != after["rules"]
    assert after["interim"] != plan_of_analyses(replace(TRIAL, interim=COMPARED))["interim"]


def test_the_section_is_read_from_toml() -> None:
    study = parse(
        """
title = "t"
seed = 1
[interim]
panel = "raters"
ratings = 10
[[interim.looks]]
fraction = 0.5
[[interim.rules]]
measure = "agreement"
criterion = "correct"
action = "retrain"
end = "high"
below = 0.4
""",
        lambda name: name,
    )
    assert study.interim == Interim(
        "raters",
        ratings=10,
        looks=(Look(0.5),),
        rules=(replace(RULE, end="high"),),
    )
