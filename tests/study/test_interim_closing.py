"""Which analysis of a study with comparative looks is the last one."""

from __future__ import annotations

from dataclasses import replace

import pytest

from konsil.errors import StudyError
from konsil.records import Event
from konsil.study.data.freezing import FREEZE, plan_of_analyses
from konsil.study.interim.closing import (
    COLLECTION_CLOSED,
    at_last_analysis,
    check_closing,
    early_warning,
    last_analysis,
)
from konsil.study.interim.last import ShownAnalysis, last_analysis_event
from konsil.study.interim.looks import LOOK_TAKEN, Progress, checked_look, due_look, look_states

from .test_interim_check import COMPARED, POOLED, TRIAL

TRIED = replace(TRIAL, interim=COMPARED)
FREEZING = Event("f", FREEZE, "t", "2026-01-01T00:00:00Z", plan_of_analyses(TRIED))
CLOSING = Event(
    "c", COLLECTION_CLOSED, "t", "2026-01-09T00:00:00Z", {"rated": 80, "tasks": 100, "by": "p-1"}
)


def looked(number: int, fraction: float, decision: str) -> Event:
    data = {"look": "comparative", "fraction": fraction, "decision": decision, "is_planned": True}
    return Event(f"l{number}", LOOK_TAKEN, str(number), f"2026-01-0{number + 1}T00:00:00Z", data)


GOING = looked(1, 0.5, "continue")
STOPPED = looked(2, 0.6, "stop")


@pytest.mark.parametrize("rated", [60, 70, 80, 90, 99])
def test_no_report_before_all_ratings_is_the_last_analysis(rated: int) -> None:
    """Each of them would spend all of alpha once more."""
    assert last_analysis([GOING], Progress(rated, 100)) is None
    warning = early_warning("share", Progress(rated, 100), [GOING])
    assert warning is not None
    assert "before its last analysis" in warning
    assert "“share” is exploratory" in warning


def test_all_ratings_a_stop_or_a_declaration_make_the_last_analysis() -> None:
    assert last_analysis([GOING], Progress(100, 100)) == "complete"
    assert last_analysis([GOING, STOPPED], Progress(60, 100)) == "stopped"
    assert last_analysis([GOING, STOPPED], Progress(100, 100)) == "complete"
    assert last_analysis([GOING, CLOSING], Progress(80, 100)) == "closed"
    assert early_warning("share", Progress(80, 100), [GOING, CLOSING]) is None


def test_later_ratings_void_a_declaration() -> None:
    for rated in (81, 100):
        assert last_analysis([CLOSING], Progress(rated, 100)) is None
    assert "80 tasks or ratings; 1 came in later" in str(
        early_warning("share", Progress(81, 100), [CLOSING])
    )


def test_more_ratings_than_planned_are_the_last_analysis_once_they_are_declared() -> None:
    """Without a plan, further ratings would be as many further chances to reject."""
    more = Progress(100, 100, "ratings", 30)
    assert last_analysis([GOING], more) is None
    assert "More ratings are there than planned: 130 instead of 100" in str(
        early_warning("share", more, [GOING])
    )
    assert last_analysis([GOING, STOPPED], more) == "stopped"
    check_closing(TRIED, [FREEZING], more)
    declared = replace(CLOSING, data={**CLOSING.data, "rated": 130})
    assert last_analysis([GOING, declared], more) == "closed"
    later = replace(more, surplus=31)
    assert last_analysis([GOING, declared], later) is None
    assert "1 came in later" in str(early_warning("share", later, [GOING, declared]))


def test_a_stop_that_a_later_look_overruled_is_none() -> None:
    later = looked(3, 0.75, "continue")
    history = [GOING, STOPPED, later]
    assert last_analysis(history, Progress(80, 100)) is None
    assert early_warning("share", Progress(80, 100), history) is not None


@pytest.mark.parametrize(
    ("study", "events", "rated", "text"),
    [
        (replace(TRIAL, interim=POOLED), [FREEZING], 80, "has no comparative look"),
        (TRIED, [], 80, "the analysis plan is not frozen"),
        (TRIED, [FREEZING, CLOSING], 80, "was declared closed at 2026-01-09"),
        (TRIED, [FREEZING], 0, "there are no ratings yet"),
        (TRIED, [FREEZING], 100, "all ratings are there"),
    ],
)
def test_refused_declarations(study: object, events: list[Event], rated: int, text: str) -> None:
    with pytest.raises(StudyError, match=text):
        check_closing(study, events, Progress(rated, 100))  # type: ignore[arg-type]


def test_a_sound_declaration_passes() -> None:
    check_closing(TRIED, [FREEZING], Progress(80, 100))


SHOWN = last_analysis_event(
    "share", ShownAnalysis(100, 100, "2026-01-20T00:00:00Z", "complete", 2.2, 1.97, 0.03)
)


def test_an_extension_after_the_last_analysis_makes_no_second_one() -> None:
    """Its test would be one more at the full remaining alpha, with all ratings or fewer."""
    extended = Progress(150, 150)
    assert last_analysis([GOING], extended) == "complete"
    assert last_analysis([GOING, SHOWN], extended) is None
    assert (
        last_analysis([GOING, SHOWN, replace(CLOSING, at="2026-02-01T00:00:00Z")], extended) is None
    )
    assert "made at 2026-01-20T00:00:00Z with 100 tasks or ratings; 50 came in later" in str(
        early_warning("share", extended, [GOING, SHOWN])
    )
    # After a stop, too: each report would replace the look once more.
    assert last_analysis([GOING, STOPPED], Progress(110, 200)) == "stopped"
    assert last_analysis([GOING, STOPPED, SHOWN], Progress(110, 200)) is None
    for progress in (extended, Progress(120, 150)):
        with pytest.raises(StudyError, match="the last analysis was made at 2026-01-20"):
            check_closing(TRIED, [FREEZING, SHOWN], progress)
        with pytest.raises(StudyError, match="would spend the type I error once more"):
            checked_look(TRIED, [FREEZING, SHOWN], 2, progress)
    look, is_frozen = checked_look(TRIED, [FREEZING, SHOWN], 1, Progress(120, 150))
    assert (look.kind, is_frozen) == ("pooled", True)


@pytest.mark.parametrize("rated", [60, 90])
def test_fewer_ratings_than_at_the_last_analysis_make_no_second_one(rated: int) -> None:
    """Such as after an erasure: also after a stop, a declaration, or where all that are left are
    planned."""
    declared = replace(CLOSING, data={"rated": 100})
    for events in ([STOPPED], [declared], []):
        tasks = 100 if events else rated
        assert last_analysis([*events, SHOWN], Progress(rated, tasks)) is None
        assert f"of which {rated} are left" in str(
            early_warning("share", Progress(rated, tasks), [*events, SHOWN])
        )


def test_planned_tasks_leave_the_last_analysis_as_it_was() -> None:
    """Its fraction stays 1 although there are 50 more tasks, as long as none of them is rated."""
    progress = Progress(100, 150)
    assert last_analysis([GOING, SHOWN], progress) is None
    kept = at_last_analysis([GOING, SHOWN], progress)
    assert kept == Progress(100, 100)
    assert last_analysis([GOING, SHOWN], kept) == "complete"
    assert at_last_analysis([SHOWN], Progress(101, 150)) == Progress(101, 150)
    assert at_last_analysis([], progress) == progress
    assert "of which 99 are left" in str(early_warning("share", Progress(99, 150), [SHOWN]))
    with_surplus = replace(SHOWN, data={**SHOWN.data, "rated": 130})
    assert at_last_analysis([with_surplus], Progress(130, 160, "ratings")) == Progress(
        100, 100, "ratings", 30
    )


def test_no_comparative_look_is_due_after_the_last_analysis() -> None:
    assert due_look(COMPARED, (), 0.6) == (2, COMPARED.looks[1])
    assert due_look(COMPARED, (), 0.6, is_compared=True) == (1, COMPARED.looks[0])
    states = look_states(COMPARED, [SHOWN], Progress(90, 150))
    assert [s.state for s in states] == ["due", "passed"]
