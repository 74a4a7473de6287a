"""Six studies made by hand, from one that has little more than ratings to one with every record."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from tests.report.conftest import arguments
from tests.report.manuscript.documents import material_of

from konsil.plan import Allocation
from konsil.prepare import Preparation
from konsil.records import Event, Source, System, Usage
from konsil.records.worked import Worked
from konsil.report.material.overview import Material

FREEZE = Event("freeze", "freeze", "study", "2026-03-01T10:00:00Z", {"by": "lead"})
RECORD = Event(
    "recruitment 1",
    "recruitment",
    "about",
    "2026-03-01T10:00:00Z",
    {"committee": "Board of Ulm", "reference": "12/26", "registration": "osf.io/abcde"},
)
CALLED = (System("alpha", "a", "vendor:alpha-70b", {"system": "You are careful."}),)
SOURCES = (Source("questions.csv", "items"),)
PLAN = (Allocation("physicians", "answers", repeats=4), Allocation("judges", "answers"))


def _given(**changes: Any) -> dict[str, Any]:
    """The example with another study."""
    given: dict[str, Any] = {**arguments()}
    return {**given, "study": replace(given["study"], **changes)}


def _bare() -> Material:
    """Imported ratings of unknown panels without characteristics, forms, plan and description."""
    given = _given(description="", licence="", instruments=())
    return material_of(
        given,
        items=[replace(item, strata={}, sets=()) for item in given["items"]],
        raters=[replace(rater, strata={}) for rater in given["raters"]],
        answers=[replace(answer, text="") for answer in given["answers"]],
    )


def _imported() -> Material:
    """Imported ratings with forms, guideline and characteristics of raters and items."""
    return material_of(_given(sources=SOURCES))


def _planned() -> Material:
    """People on pages, by a plan that was frozen, with a random sample of items and a recruitment record."""
    given = _given(plan=PLAN, sources=SOURCES, prepare=Preparation(sets={"core": 20}))
    analyses = tuple(replace(a, question="Who is right?") for a in given["study"].analyses)
    study = replace(given["study"], analyses=analyses)
    times = [Worked("t", "physician 1", 30.0, 40.0)]
    return material_of({**given, "study": study}, times=times, events=(FREEZE, RECORD))


def _called() -> Material:
    """Systems and judges called by konsil."""
    usage = (Usage("answer", "alpha", works=3, calls=3),)
    return material_of(_given(systems=CALLED, plan=PLAN), usage=usage)


def _judges() -> Material:
    """LLM judges alone; no analysis of agreement, none against people."""
    given = _given(plan=PLAN[1:])
    study, results = given["study"], given["results"]
    analyses = tuple(
        replace(a, raters="judges", against=None) for a in study.analyses if a.name == "accuracy"
    )
    rows = tuple(r for r in results.rows if r.analysis == "accuracy")
    judges = [rater for rater in given["raters"] if rater.kind == "llm"]
    return material_of(
        {**given, "study": replace(study, analyses=analyses)},
        results=replace(results, rows=rows),
        raters=judges,
    )


def _blinded() -> Material:
    """People on pages, with blinding codes; items sampled at random; nothing analysed yet."""
    given = _given(blinded=True, systems=CALLED, sources=SOURCES, plan=PLAN)
    times = [Worked("t", "physician 1", 30.0, 40.0)]
    results = replace(given["results"], rows=())
    usage = (Usage("answer", "alpha", works=3, calls=3),)
    return material_of(given, is_blinded=True, times=times, results=results, usage=usage)


STUDIES: Mapping[str, Callable[[], Material]] = {
    "bare": _bare,
    "imported": _imported,
    "planned": _planned,
    "called": _called,
    "judges": _judges,
    "blinded": _blinded,
}
"""Name of a study -> what makes its material."""
