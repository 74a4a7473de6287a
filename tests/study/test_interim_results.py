"""The primary analysis adjusted for looks: which of them count, and what the methods state."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import pytest
from scipy import stats

from konsil.analysis.model.options import CriterionRef, ShareOptions
from konsil.analysis.model.results import Bounds, CaseScore, CoverageRow, OutcomeRow, Results
from konsil.analysis.model.rows import Row
from konsil.analysis.model.spec import Analysis
from konsil.analysis.model.verdicts import equivalence_sentence
from konsil.analysis.table.frame import Data
from konsil.errors import AnalysisError, StudyError
from konsil.instrument import digest_of
from konsil.records import Event, Rating, Task
from konsil.report.material.comparisons import support
from konsil.stats.engine.contract import Estimate
from konsil.study.data.freezing import FREEZE, plan_of_analyses
from konsil.study.definition.interim import Look
from konsil.study.interim.closing import COLLECTION_CLOSED
from konsil.study.interim.last import ShownAnalysis, last_analysis_event, shown_analysis
from konsil.study.interim.looks import LOOK_TAKEN, Progress, checked_look, spoilt_analyses
from konsil.study.interim.results import (
    final_estimate,
    new_last_analysis,
    with_looks,
)
from konsil.study.interim.sentences import interim_sentences

from .rules.test_check import KAPPA
from .test_interim_check import COMPARED, PAIRED, SHARE, TRIAL

INTERIM = replace(COMPARED, looks=(Look(0.3, "comparative"), Look(0.5, "comparative")))
STUDY = replace(TRIAL, interim=INTERIM)
FREEZING = Event("f", FREEZE, "t", "2026-01-01T00:00:00Z", plan_of_analyses(STUDY))


def looked(number: int, fraction: float, decision: str = "continue", digest: str = "") -> Event:
    data = {
        "analysis_digest": digest,
        "look": "comparative",
        "fraction": fraction,
        "decision": decision,
        "is_planned": True,
        "interim": digest_of(INTERIM),
        "analysis": "share",
    }
    return Event(f"l{number}", LOOK_TAKEN, str(number), f"2026-01-0{number + 1}T00:00:00Z", data)


def rows(z: float = 2.2) -> Sequence[Row]:
    p = 2 * stats.norm.sf(abs(z))
    estimate = Estimate(z / 10, z / 10 - 0.196, z / 10 + 0.196, 0.95, 0.1, float(p))
    return [Row("share", "share", "correct", "experts", estimate, kind="difference")]


@pytest.mark.parametrize(
    ("history", "rated", "text"),
    [
        ([], 991, "look 2: is late: less than 1% of the tasks is missing"),
        ([looked(1, 0.495)], 500, "look 2: less than 1% of the tasks came in since"),
    ],
)
def test_a_look_too_close_to_another_analysis_is_refused(
    history: list[Event], rated: int, text: str
) -> None:
    with pytest.raises(StudyError, match=text):
        checked_look(STUDY, [FREEZING, *history], 2, Progress(rated, 1000))
    assert checked_look(STUDY, [FREEZING, *history], 2, Progress(600, 1000))[1]


def test_a_look_just_before_the_last_analysis_is_part_of_it() -> None:
    history = [FREEZING, looked(1, 0.3), looked(2, 0.995)]
    adjusted = final_estimate(STUDY, history, rows(), Progress(1000, 1000))
    assert adjusted is not None
    assert adjusted.fractions == (0.3, 1.0)


def test_a_last_analysis_with_fewer_ratings_than_a_look_is_refused_in_words() -> None:
    closing = Event("c", COLLECTION_CLOSED, "t", "2026-01-09T00:00:00Z", {"rated": 560})
    history = [FREEZING, looked(1, 0.3), looked(2, 0.55), closing]
    with pytest.raises(AnalysisError, match="fewer ratings than a look before it"):
        final_estimate(STUDY, history, rows(), Progress(500, 1000))


def text_of(history: list[Event], z: float, rated: int, *, is_stopped: bool = False) -> str:
    adjusted = final_estimate(STUDY, history, rows(z), Progress(rated, 1000))
    return " ".join(map(str, interim_sentences(STUDY, history, adjusted, is_stopped=is_stopped)))


def test_the_methods_after_a_stop_with_further_ratings() -> None:
    """A first look that stopped is deleted: z is compared with the value at its own fraction."""
    history = [FREEZING, looked(2, 0.5, "stop")]
    text = text_of(history, 2.2, 710, is_stopped=True)
    assert "1 comparative interim look (at 50% of the ratings)" in text
    assert "was stopped at 50%; the last analysis, at 71%, replaces that look (deletion" in text
    assert "does not reach the critical value 2.4" in text
    assert "No other look remains to adjust for" in text
    assert "Adjusted for the looks" not in text
    assert "was stopped at 50%. " in text_of(history, 3.2, 500, is_stopped=True)

    text = text_of([FREEZING, looked(1, 0.3), looked(2, 0.5, "stop")], 3.0, 710, is_stopped=True)
    assert "2 comparative interim looks (at 30% and 50% of the ratings)" in text
    assert "|z| is 3.000 and reaches the critical value" in text
    assert "Adjusted for the looks" in text


def test_the_methods_without_a_stop() -> None:
    text = text_of([FREEZING, looked(1, 0.3), looked(2, 0.995)], 2.2, 1000)
    assert "The look at 99.5% is part of the last analysis" in text
    assert "replaces" not in text
    assert "|z| is 2.200 and reaches the critical value" in text
    text = text_of([FREEZING, looked(1, 0.3), looked(2, 0.5)], 1.9, 1000)
    assert "is part of" not in text
    assert "does not reach the critical value" in text


def test_a_look_at_another_analysis_than_the_frozen_one_spoils_it() -> None:
    frozen = digest_of(next(a for a in STUDY.analyses if a.name == "share"))
    for digest, spoilt in ((frozen, set()), ("0" * 64, {"share"})):
        history = [FREEZING, looked(2, 0.5, digest=digest)]
        assert spoilt_analyses(STUDY, history) == spoilt
        adjusted = final_estimate(STUDY, history, rows(), Progress(1000, 1000))
        assert (adjusted is None) == bool(spoilt)


def test_an_analysis_that_was_changed_after_its_looks_is_not_adjusted() -> None:
    changed = tuple(replace(a, prespecified=a.name != "share") for a in STUDY.analyses)
    history = [FREEZING, looked(2, 0.5)]
    study = replace(STUDY, analyses=changed)
    assert final_estimate(study, history, rows(), Progress(1000, 1000)) is None


def test_a_look_at_a_changed_analysis_is_refused() -> None:
    changed = tuple(replace(a, cluster="rater") for a in STUDY.analyses)
    with pytest.raises(StudyError, match="'share' is not the one of the frozen"):
        checked_look(replace(STUDY, analyses=changed), [FREEZING], 2, Progress(600, 1000))


def test_coded_systems_have_no_numbers_before_the_last_analysis() -> None:
    """Estimates of both codes would show the difference that is withheld, and so would the number
    of their labels, an analysis of one of them, and the labels of comparisons by their codes."""
    half = Estimate(0.5, 0.4, 0.6, 0.95, 0.05, 0.01, n_clusters=12, n_ratings=30)
    alone = replace(SHARE, name="alone", where={"system": ("A",)}, by=(), compare="")
    study = replace(PAIRED, interim=INTERIM, analyses=(SHARE, replace(KAPPA, name="kappa"), alone))
    of_a = Row(
        "share", "share", "correct", "experts", half, {"system": "A"}, p_adjusted=0.02, n_units=15
    )
    other = replace(of_a, analysis="other", group={"system": "A", "rival": "B"}, warnings=("0.5",))
    pooled = Row("kappa", "cohen_kappa", "correct", "experts", half, n_units=24)
    companion = replace(of_a, kind="companion")
    results = Results(
        (companion, of_a, other, replace(of_a, analysis="alone", group={}), pooled),
        (),
        label_counts={
            ("experts", "correct", "A", "yes"): 3,
            ("experts", "correct", "B", "yes"): 1,
            ("experts", "better", "", "A"): 4,
        },
        bounds=(Bounds("other", {"system": "A"}, 0.5, 0.4, 0.6, 1, 2),),
        case_scores=(CaseScore("other", "A", "c", "1", 0.5),),
    )
    tasks = [Task(t, t, "ann", "form", "q", ("a",)) for t in ("t1", "t2")]
    rated = Rating("t1", "ann", "correct", "q", ("a",), label="yes")
    data = Data(raters=STUDY.raters, tasks=tasks, ratings=[rated])
    shown = with_looks(results, study, data, [FREEZING], is_blinded=True)
    assert [math.isnan(r.estimate.value) for r in shown.rows] == [True, True, True, False]
    assert all(math.isnan(r.p_adjusted) for r in shown.rows)
    assert shown.rows[1].warnings == ()
    assert "withheld while the study is blinded" in shown.rows[1].estimate.reason
    assert shown.is_withheld
    units = shown.to_polars().get_column("n_units").to_list()
    assert units == [None, None, None, 24]
    assert shown.label_counts == {("experts", "correct", "", "yes"): 4}
    assert (shown.bounds, shown.case_scores) == ((), ())

    named = with_looks(results, study, data, [FREEZING], is_blinded=False)
    assert [r.estimate.value for r in named.rows] == [0.5] * 5
    complete = replace(data, ratings=[rated, replace(rated, task="t2")])
    last = with_looks(results, study, complete, [FREEZING], is_blinded=True)
    assert [r.estimate.value for r in last.rows] == [0.5] * 5
    assert last.label_counts == results.label_counts


def test_nothing_shown_before_the_last_analysis_implies_the_comparison() -> None:
    """By hand: numbers of the compared arms, labels of comparisons in the order of the codes, and
    abstentions by system, which are 6 of 30 together."""
    half = Estimate(0.5, 0.4, 0.6, 0.95, 0.05, math.nan)
    arms = replace(SHARE, by=("arm",), compare="arm")
    one = replace(KAPPA, name="one arm", arm="x")
    better = CriterionRef("better")
    of_a = ShareOptions(of=("A",))
    preferred = Analysis("preferred", "share", better, "experts", by=("topic",), options=of_a)
    ties = Analysis("ties", "abstention", better, "experts")
    study = replace(PAIRED, interim=INTERIM, analyses=(arms, one, preferred, ties, KAPPA))
    row = Row("share", "share", "correct", "experts", half, {"arm": "x"})
    named = [
        row,
        replace(row, analysis="one arm", group={}),
        replace(row, analysis="preferred", group={"topic": "t"}),
        replace(row, analysis="ties", group={}),
        replace(row, analysis="other", group={"topic": "t"}),
    ]
    results = Results(
        tuple(named),
        (
            CoverageRow("experts", "correct", "A", 20, 10, 5, 0, 5, {"fast": 1}),
            CoverageRow("experts", "correct", "B", 20, 9, 1, 2, None, {"fast": 2}),
        ),
        outcomes=(OutcomeRow("j", "", "", {"rated": 2}), OutcomeRow("j", "system", "A", {"no": 1})),
    )
    tasks = [Task(t, t, "ann", "form", "q", ("a",)) for t in ("t1", "t2")]
    rated = Rating("t1", "ann", "correct", "q", ("a",), label="yes")
    data = Data(raters=STUDY.raters, tasks=tasks, ratings=[rated])
    shown = with_looks(results, study, data, [FREEZING], is_blinded=True)
    assert [math.isnan(r.estimate.value) for r in shown.rows] == [True, True, True, False, False]
    pooled = CoverageRow("experts", "correct", "", 40, 19, 6, 2, None, {"fast": 3})
    assert shown.coverage == (pooled,)
    assert [o.column for o in shown.outcomes] == [""]


def test_the_interval_of_a_difference_of_proportions_ends_at_one() -> None:
    p = float(2 * stats.norm.sf(3.0))
    [row] = rows()
    wide = replace(row, estimate=Estimate(0.9, 0.312, 1.488, 0.95, 0.3, p))
    history = [FREEZING, looked(1, 0.3)]
    adjusted = final_estimate(STUDY, history, [wide], Progress(1000, 1000))
    assert adjusted is not None
    assert (adjusted.high, adjusted.is_truncated) == (1.0, True)
    assert adjusted.low < adjusted.value < 1
    text = " ".join(map(str, interim_sentences(STUDY, history, adjusted)))
    assert "The adjusted CI is truncated at the possible values." in text


def test_the_last_analysis_is_shown_once_and_later_ratings_are_only_described() -> None:
    tasks = [Task(t, t, "ann", "form", "q", ("a",)) for t in ("t1", "t2", "t3")]
    first = [Rating(t, "ann", "correct", "q", ("a",), label="yes") for t in ("t1", "t2")]
    planned = Data(raters=STUDY.raters, tasks=tasks[:2], ratings=first)
    history = [FREEZING, looked(2, 0.5)]
    [row] = rows()
    equivalent = equivalence_sentence(replace(row.estimate, low=0.01, high=0.4), 0.5, 0)
    tested = replace(row, finding=equivalent, warnings=(equivalent, "few units"))
    of_one = replace(row, kind="estimate", estimate=replace(row.estimate, p=math.nan))
    companion = replace(tested, kind="companion", versus={"x": "y"})
    wins = replace(of_one, statistic="win_difference")
    results = Results((of_one, tested, companion, wins), ())
    confirmed = with_looks(results, STUDY, planned, history, is_blinded=True)
    shown = new_last_analysis(confirmed, STUDY, planned, history, "2026-02-01T00:00:00Z")
    assert shown is not None
    assert (shown.rated, shown.tasks, shown.reason) == (2, 2, "complete")
    assert (shown.z, shown.critical) == (pytest.approx(2.2), pytest.approx(1.9686, abs=1e-4))
    event = last_analysis_event("share", shown)
    rounded = {key: event.data[key] for key in ("critical", "p")}
    assert shown_analysis([event]) == replace(shown, z=2.2, **rounded)
    history = [*history, event]
    assert new_last_analysis(confirmed, STUDY, planned, history, "") is None

    # An extension that nobody has rated yet leaves it as it is.
    extended = replace(planned, tasks=tasks)
    again = with_looks(results, STUDY, extended, history, is_blinded=True)
    assert again == confirmed

    more = replace(extended, ratings=[*first, replace(first[0], task="t3")])
    later = with_looks(results, STUDY, more, history, is_blinded=True)
    assert later.sequential is None
    assert later.plan["share"] == "exploratory"
    # No alternative CI; and an interval would be a test whether it contains zero.
    group, described, of_zero = later.rows
    assert math.isnan(of_zero.estimate.low)
    assert described.estimate.value == row.estimate.value
    for number in ("low", "high", "se", "p"):
        assert math.isnan(getattr(described.estimate, number))
    assert "no CI or test" in described.estimate.reason
    assert described.finding == ""
    assert [w for w in described.warnings if "quivalen" in w] == []
    assert described.warnings[0] == "few units"
    assert (group.estimate.low, group.estimate.high) == (row.estimate.low, row.estimate.high)
    assert "with 2 tasks or ratings; 1 came in later" in later.warnings[0]
    assert "|z| was 2.200, its critical value 1.969 and the p value adjusted" in later.methods[-1]
    assert new_last_analysis(later, STUDY, more, [*history[:-1]], "") is None


TASK = Task("t1", "t1", "ann", "form", "q", ("a",))
RATED = Rating("t1", "ann", "correct", "q", ("a",), label="yes")
ONE_TASK = Data(raters=STUDY.raters, tasks=[TASK], ratings=[RATED])


def last_of_one_task(size: float, looks: Sequence[Event]) -> tuple[Results, ShownAnalysis]:
    """The last analysis of a study of one task, with a |z|, and what the log states of it."""
    history = [FREEZING, *looks]
    first = with_looks(Results(tuple(rows(size)), ()), STUDY, ONE_TASK, history)
    shown = new_last_analysis(first, STUDY, ONE_TASK, history, "2026-02-01T00:00:00Z")
    assert shown is not None
    return first, shown


@pytest.mark.parametrize("looks", [[looked(1, 0.05)], []])
def test_no_p_value_is_printed_as_zero(looks: list[Event]) -> None:
    """|z| of 6 has p = 2e-9; a look at 5% spends next to nothing."""
    first, shown = last_of_one_task(6.0, looks)
    event = last_analysis_event("share", shown)
    later = replace(
        ONE_TASK,
        ratings=[RATED, replace(RATED, task="t2")],
        tasks=[TASK, replace(TASK, id="t2")],
    )
    described = with_looks(Results(tuple(rows(6.0)), ()), STUDY, later, [FREEZING, *looks, event])
    text = " ".join([*first.methods, *described.methods])
    assert "< 0.0001" in text
    assert "0.0000" not in text


def test_type_i_error_that_is_spent_is_never_zero() -> None:
    text = text_of([FREEZING, looked(1, 0.05, "stop")], 9.0, 50, is_stopped=True)
    assert "up to < 0.0001" in text


@pytest.mark.parametrize("looks", [[looked(2, 0.5)], []])
def test_as_many_ratings_with_another_test_are_no_last_analysis(looks: list[Event]) -> None:
    """A correction, or an exclusion after the last analysis, would be a second test."""
    _, shown = last_of_one_task(1.7, looks)
    assert shown.z == pytest.approx(1.7)
    history = [FREEZING, *looks, last_analysis_event("share", shown)]
    # The systems in the other order, as after unblinding, are the same test.
    for z in (1.7, -1.7):
        assert with_looks(Results(tuple(rows(z)), ()), STUDY, ONE_TASK, history).warnings == ()
    changed = with_looks(Results(tuple(rows(2.2)), ()), STUDY, ONE_TASK, history)
    [described] = changed.rows
    assert math.isnan(described.estimate.p)
    assert changed.plan["share"] == "exploratory"
    assert "with as many tasks or ratings, but with another result" in changed.warnings[0]
    assert "|z| was 1.700" in changed.methods[-1]
    nothing = replace(described, estimate=Estimate(math.nan, reason="no units"))
    gone = with_looks(Results((nothing,), ()), STUDY, ONE_TASK, history)
    assert "with another result" in gone.warnings[0]
    # Without any estimate nothing was shown.
    assert new_last_analysis(Results((nothing,), ()), STUDY, ONE_TASK, [FREEZING], "") is None


def test_a_number_of_ratings_that_was_changed_after_the_freeze_makes_no_last_analysis() -> None:
    """Else whoever lowers it would see the comparison early, as the confirmatory one."""
    data, study = ONE_TASK, replace(STUDY, interim=replace(INTERIM, ratings=1))
    for is_blinded, is_shown in ((True, False), (False, True)):
        early = with_looks(
            Results(tuple(rows(1.7)), ()), study, data, [FREEZING], is_blinded=is_blinded
        )
        assert math.isfinite(early.rows[0].estimate.value) == is_shown
        assert early.plan["share"] == "exploratory"
        assert "[interim] is not the one of the frozen analysis plan" in early.warnings[0]
        assert new_last_analysis(early, study, data, [FREEZING], "") is None
    # Of a plan that was frozen without [interim] nothing was changed.
    without = plan_of_analyses(replace(STUDY, interim=None))
    history = [replace(FREEZING, data=without)]
    assert with_looks(Results(tuple(rows(1.7)), ()), study, data, history).plan == {}


def test_an_exploratory_last_analysis_confirms_nothing_that_could_be_repeated() -> None:
    rated = Rating("t1", "ann", "correct", "q", ("a",), label="yes")
    task = Task("t1", "t1", "ann", "form", "q", ("a",))
    data = Data(raters=STUDY.raters, tasks=[task], ratings=[rated])
    unplanned = replace(looked(2, 0.5), subject="unplanned")
    shown = with_looks(Results(tuple(rows()), ()), STUDY, data, [FREEZING, unplanned])
    late = replace(shown, plan={"share": "exploratory"})
    assert new_last_analysis(late, STUDY, data, [FREEZING, unplanned], "") is None


def test_no_verdict_rests_on_numbers_that_are_not_adjusted_for_the_looks() -> None:
    """After a look at half of the ratings p = 0.0493 is |z| of 1.966, below 1.969."""
    task = Task("t1", "t1", "ann", "form", "q", ("a",))
    rated = Rating("t1", "ann", "correct", "q", ("a",), label="yes")
    data = Data(raters=STUDY.raters, tasks=[task], ratings=[rated])
    history = [FREEZING, looked(2, 0.5)]

    def judged(z: float, margin: float | None = None) -> tuple[Results, str]:
        [row] = rows(z)
        spec = replace(SHARE, margin=margin)
        # The CI of resamples, narrower than that of normal theory.
        narrow = replace(row.estimate, high=row.estimate.high - 0.01)
        row = replace(row, p_adjusted=row.estimate.p, estimate=narrow)
        if margin is not None:
            verdict = equivalence_sentence(row.estimate, margin, 0)
            row = replace(row, warnings=(verdict,), finding=verdict)
        study = replace(STUDY, analyses=(KAPPA, spec))
        shown = with_looks(Results((row,), ()), study, data, history)
        assert shown.sequential is not None
        return shown, support(shown.rows[0], spec, 0)

    missed, verdict = judged(1.966)
    assert missed.rows[0].estimate.p < 0.05
    assert math.isnan(missed.rows[0].p_adjusted)
    assert verdict == "not shown"
    assert "Not shown: |z| does not reach" in missed.rows[0].warnings[-1]
    reached, verdict = judged(1.98)
    assert (verdict, reached.rows[0].p_adjusted) == ("shown", reached.rows[0].estimate.p)

    adjusted = judged(1.5)[0].sequential
    assert adjusted is not None
    high = adjusted.high
    within, verdict = judged(1.5, high + 1e-4)
    assert (verdict, within.rows[0].finding[:10]) == ("equivalent", "Equivalent")
    beyond, verdict = judged(1.5, high - 1e-4)
    assert (verdict, beyond.rows[0].finding) == ("not shown", "")
    assert not any("Equivalent" in w for w in beyond.rows[0].warnings)


def test_no_verdict_rests_on_an_exploratory_comparison() -> None:
    """Before the last analysis with names, and after a look that nobody planned."""
    task = Task("t1", "t1", "ann", "form", "q", ("a",))
    rated = Rating("t1", "ann", "correct", "q", ("a",), label="yes")
    complete = Data(raters=STUDY.raters, tasks=[task], ratings=[rated])
    early = replace(complete, tasks=[task, replace(task, id="t2")])
    [row] = rows()
    verdict = equivalence_sentence(replace(row.estimate, low=-0.1, high=0.4), 0.5, 0)
    results = Results((replace(row, finding=verdict, warnings=(verdict,)),), ())
    unplanned = replace(looked(2, 0.5), subject="unplanned")
    unplanned = replace(unplanned, data={**unplanned.data, "is_planned": False})
    for data, history in ((early, [FREEZING]), (complete, [FREEZING, unplanned])):
        [described] = with_looks(results, STUDY, data, history).rows
        assert not described.finding
        assert not any("quivalen" in w for w in described.warnings)
        assert math.isfinite(described.estimate.low)


def test_tasks_that_are_added_after_a_comparative_look_are_warned_of() -> None:
    """Half of two tasks are a third of three: the critical value was of another fraction."""
    tasks = [Task(t, t, "ann", "form", "q", ("a",)) for t in ("t1", "t2", "t3")]
    ratings = [Rating(t.id, "ann", "correct", "q", ("a",), label="yes") for t in tasks]
    data = Data(raters=STUDY.raters, tasks=tasks, ratings=ratings)
    results = Results(tuple(rows()), ())
    look = looked(2, 0.5)
    for planned, n in ((2, 1), (3, 0)):
        made = replace(look, data={**look.data, "tasks": planned})
        shown = with_looks(results, STUDY, data, [FREEZING, made])
        assert shown.sequential is not None
        assert len(shown.warnings) == n
    changed = replace(look, data={**look.data, "tasks": 2})
    [warning] = with_looks(results, STUDY, data, [FREEZING, changed]).warnings
    assert "2 tasks or ratings were planned at a comparative look, 3 at the last" in warning
    assert "type I error can be above 0.05" in warning


def test_ratings_beyond_the_plan_after_a_comparative_look_are_warned_of() -> None:
    """Two ratings instead of one planned one, declared as the last analysis."""
    study = replace(STUDY, interim=replace(INTERIM, ratings=1))
    tasks = [Task(t, t, "ann", "form", "q", ("a",)) for t in ("t1", "t2")]
    ratings = [Rating(t.id, "ann", "correct", "q", ("a",), label="yes") for t in tasks]
    freezing = replace(FREEZING, data=plan_of_analyses(study))
    look = looked(2, 0.5)
    digest = digest_of(study.interim)
    look = replace(look, data={**look.data, "tasks": 1, "interim": digest})
    closing = Event("c", COLLECTION_CLOSED, "t", "2026-01-09T00:00:00Z", {"rated": 2})
    data = Data(raters=STUDY.raters, tasks=tasks, ratings=ratings)
    shown = with_looks(Results(tuple(rows()), ()), study, data, [freezing, look, closing])
    assert shown.sequential is not None
    [warning] = shown.warnings
    assert "1 tasks or ratings were planned at a comparative look, 2 at the last" in warning
