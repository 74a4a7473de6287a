"""The recruitment record in the report: the flow, the strata, the circumstances; nothing where
nothing was recorded."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from konsil.analysis import Results
from konsil.errors import StudyError
from konsil.records import Event
from konsil.report.material.language import language
from konsil.report.material.overview import Material
from konsil.report.material.tables import Numbers
from konsil.report.people.rater_flow import recruited
from konsil.study.sections.recruitment import STEPS, about, recruitment, stratum

SURGERY = dict(zip(STEPS, ("100", "40", "22", "20", "18", "12"), strict=True))
MEDICINE = dict(zip(STEPS, ("80", "30", "9", "9", "8", "8"), strict=True))


def event(n: int, said: tuple[str, dict[str, object]]) -> Event:
    return Event(f"recruitment {n}", "recruitment", said[0], "2025-03-01T12:00:00Z", said[1])


EVENTS = (
    event(1, stratum("surgery", {"contacted": "7"})),
    event(2, stratum("surgery", SURGERY)),
    event(3, stratum("medicine", MEDICINE)),
    event(4, about({"compensation": "60 Euro <an hour>", "decision": "waived"})),
)


def material(lang: str, events: tuple[Event, ...], study: Any) -> Material:
    spoken = language(lang)
    return Material(
        study=study,
        results=Results((), ()),
        items=(),
        answers=(),
        raters=(),
        ratings=(),
        language=spoken,
        numbers=Numbers(spoken),
        events=events,
    )


@pytest.fixture
def told(request: pytest.FixtureRequest) -> Any:
    from konsil.study import Study

    return Study("T", 1)


@pytest.mark.parametrize(("lang", "word"), [("en", "Contacted: 70"), ("de", "Kontaktiert: 70")])
def test_the_flow_is_drawn_from_the_record(lang: str, word: str, told: Any) -> None:
    found = recruited(material(lang, EVENTS, told))
    assert found is not None
    [flow] = found.figures
    assert word in flow.description
    assert word in flow.svg.decode()
    assert found.strata is not None
    assert [str(row[0].text) for row in found.strata.rows] == ["medicine", "surgery"]
    assert dict(found.texts)["Vergütung" if lang == "de" else "Compensation"] == "60 Euro <an hour>"
    assert found == recruited(material(lang, EVENTS[::-1], told)), (
        "the order of reading does not matter"
    )


def test_nothing_recorded_is_no_section(told: Any) -> None:
    assert recruited(material("en", (), told)) is None
    gone = (*EVENTS[:1], event(5, stratum("surgery", {})))
    assert recruited(material("en", gone, told)) is None


def test_steps_that_a_stratum_does_not_know_are_not_in_the_flow() -> None:
    some = (
        event(1, stratum("a", {"contacted": "9", "completed": "3"})),
        event(2, stratum("b", {"contacted": "4"})),
    )
    assert [s.name for s in recruitment(some).flow()] == ["contacted"]


@pytest.mark.parametrize(
    "counts", [{"contacted": "x"}, {"contacted": "-1"}, {"contacted": "2", "completed": "3"}]
)
def test_numbers_that_cannot_be_are_refused(counts: dict[str, str]) -> None:
    with pytest.raises(StudyError):
        stratum("a", counts)


def test_a_simulated_study_says_so_in_the_figure(told: Any) -> None:
    found = recruited(material("en", EVENTS, dataclasses.replace(told, simulated=True)))
    assert found is not None
    assert "Simulated ratings." in found.figures[0].svg.decode()
