"""The last analysis of a study with comparative looks, once somebody saw it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from konsil.records import Event
from konsil.records.digits import written
from konsil.study.data.freezing import first_event

LAST_ANALYSIS = "last analysis"
"""Kind of the event of the first last analysis that was shown. Subject: the analysis; data: why it
was the last one, fraction, rated, tasks; of an estimable test |z| and p; critical where it was
adjusted for looks."""


@dataclass(frozen=True, slots=True)
class ShownAnalysis:
    """The last analysis as it was shown first: the confirmatory result."""

    rated: int
    """How many tasks or ratings it had, those beyond the planned ones included."""
    tasks: int
    """How many there were to be."""
    at: str
    """When."""
    reason: str = ""
    """Why it was the last one."""
    z: float | None = None
    """The absolute value of its test statistic; None: it was not estimable."""
    critical: float | None = None
    """Its critical value; None: it had no look to adjust for."""
    p: float | None = None
    """Its p value, adjusted for the looks."""


def shown_analysis(events: Iterable[Event]) -> ShownAnalysis | None:
    """The first last analysis in the log, or None."""
    first = first_event(events, LAST_ANALYSIS)
    if first is None:
        return None
    data = first.data
    return ShownAnalysis(
        int(str(data.get("rated", 0))),
        int(str(data.get("tasks", 0))),
        first.at,
        str(data.get("reason", "")),
        *(None if data.get(key) is None else float(str(data[key])) for key in _NUMBERS),
    )


_NUMBERS = ("z", "critical", "p")


def last_analysis_event(analysis: str, shown: ShownAnalysis) -> Event:
    """The event of a last analysis; numbers without a sign, so that the systems' order is open."""
    numbers = {key: written(n) for key in _NUMBERS if (n := getattr(shown, key)) is not None}
    data: dict[str, object] = {
        "reason": shown.reason,
        "fraction": written(shown.rated / shown.tasks),
        "rated": shown.rated,
        "tasks": shown.tasks,
        **numbers,
    }
    return Event(LAST_ANALYSIS, LAST_ANALYSIS, analysis, shown.at, data)


def repetition_problem(events: Iterable[Event]) -> str | None:
    """Why no further comparison can be made; None before the last analysis was shown."""
    shown = shown_analysis(events)
    if shown is None:
        return None
    return (
        f"the last analysis was made at {shown.at} with {shown.rated:,} tasks or ratings; a further"
        " comparison would spend the type I error once more; describe later ratings with 'konsil"
        " report', where the analysis is exploratory"
    )
