"""The interim analyses of a study in its log: which were made, which is due, what follows."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from konsil.analysis import Analysis
from konsil.analysis.model.spec import SpendingName
from konsil.errors import StudyError
from konsil.errors.message import TranslatableMessage, listed, message
from konsil.instrument import digest_of
from konsil.plan.model.places import panel_of_slot
from konsil.records import Event, Task
from konsil.study.data.freezing import frozen
from konsil.study.definition.interim import (
    CLOSEST,
    Interim,
    Look,
    LookKind,
)
from konsil.study.definition.protocol import Study
from konsil.study.interim.last import repetition_problem

if TYPE_CHECKING:
    from konsil.analysis.table.frame import Data

LOOK_TAKEN = "interim look"
"""Kind of the event of a look. Subject: its number, or 'unplanned'; data: kind, fraction, rated,
tasks, decision, by, is_planned, and the digest of [interim]; of comparative ones the analysis, its
digest and the SHA-256 of the unblinded person's file, and no result."""
STOP = "stop"
CONTINUE = "continue"


@dataclass(frozen=True, slots=True)
class Progress:
    """How many of the panel's main tasks are rated; without a plan, of its ratings."""

    rated: int
    """Tasks with a rating, or ratings."""
    tasks: int
    """All tasks, or all ratings that are planned."""
    unit: Literal["tasks", "ratings"] = "tasks"
    """What is counted."""
    surplus: int = 0
    """Ratings beyond those that are planned."""

    @property
    def fraction(self) -> float:
        """The information fraction; nan without tasks."""
        return self.rated / self.tasks if self.tasks else math.nan


@dataclass(frozen=True, slots=True)
class TakenLook:
    """A look in the log."""

    number: int
    """Its place in the protocol, from 1; 0: it was not planned."""
    kind: LookKind
    """Pooled or comparative."""
    fraction: float
    """The information fraction at which it was made."""
    decision: str
    """What followed by the rules."""
    at: str
    """When."""
    is_planned: bool
    """Whether it was in the frozen protocol and made at its time."""
    digest: str
    """The digest of [interim] by which it was made."""
    analysis: str
    """Of comparative looks: the analysis."""
    computed: str = ""
    """Of comparative looks: the digest of the analysis that was computed."""
    tasks: int = 0
    """How many tasks, or ratings, were planned then; 0: not known."""


@dataclass(frozen=True, slots=True)
class LookState:
    """A look of the protocol and how it stands."""

    number: int
    """Its place in the protocol, from 1."""
    look: Look
    """The look."""
    state: Literal["made", "due", "passed", "planned"]
    """Made, due, passed without being made, or planned for later."""
    record: TakenLook | None = None
    """The look as it was made."""


def taken_looks(events: Iterable[Event]) -> tuple[TakenLook, ...]:
    """The looks in the log, in the order of time."""
    looks = sorted((e for e in events if e.kind == LOOK_TAKEN), key=lambda e: (e.at, e.id))
    return tuple(
        TakenLook(
            int(e.subject) if e.subject.isdigit() else 0,
            "comparative" if e.data.get("look") == "comparative" else "pooled",
            float(str(e.data.get("fraction", "nan"))),
            str(e.data.get("decision", "")),
            e.at,
            bool(e.data.get("is_planned")),
            str(e.data.get("interim", "")),
            str(e.data.get("analysis", "")),
            str(e.data.get("analysis_digest", "")),
            int(str(e.data.get("tasks", 0))),
        )
        for e in looks
    )


def progress_of(study: Study, interim: Interim, data: Data) -> Progress:
    """How many main tasks of the panel are rated, or without a plan how many ratings there are.

    Tasks without a rater count as tasks, if their slot is of the panel: those that nobody has taken
    yet, and those left by a rater who withdrew. Else the last analysis could be that of the tasks
    that happen to have a rater.
    """
    from konsil.analysis.running.interim.pooled import n_ratings_of, rated_tasks

    panels = set(study.together.get(interim.panel, (interim.panel,)))
    panel_by_rater = {r.id: r.panel for r in (*data.raters, *study.everybody())}
    if interim.ratings is not None:
        raters = {rater for rater, panel in panel_by_rater.items() if panel in panels}
        n, planned = n_ratings_of(data.ratings, raters), interim.ratings
        return Progress(min(n, planned), planned, "ratings", max(n - planned, 0))
    main = {
        t.id
        for t in data.tasks
        if is_of_sample(t) and panel_of(t, panel_by_rater, data.panel_by_slot) in panels
    }
    return Progress(len(main & rated_tasks(data.ratings)), len(main))


def is_of_sample(task: Task) -> bool:
    """Whether a task is one of those that interim analyses count."""
    return task.purpose == "main" and bool(task.item)


def panel_of(
    task: Task, panel_by_rater: Mapping[str, str], panel_by_slot: Mapping[str, str]
) -> str:
    """The panel of a task: that of its rater, or of its slot where no rater has it."""
    if task.rater in panel_by_rater:
        return panel_by_rater[task.rater]
    return panel_by_slot.get(task.slot) or panel_of_slot(task.slot)


def due_look(
    interim: Interim,
    looks_before: Sequence[TakenLook],
    fraction: float,
    *,
    is_compared: bool = False,
) -> tuple[int, Look] | None:
    """Number and look of the last one whose fraction is reached, if it was not made; or None.

    `is_compared`: the last analysis was shown, so that no comparative look is due any more.
    """
    numbers = {look.number for look in looks_before}
    reached = [
        n
        for n, look in enumerate(interim.looks, 1)
        if fraction >= look.fraction and not (is_compared and look.kind == "comparative")
    ]
    if not reached or reached[-1] in numbers:
        return None
    return reached[-1], interim.looks[reached[-1] - 1]


def look_states(
    interim: Interim, events: Sequence[Event], progress: Progress
) -> tuple[LookState, ...]:
    """Every look of the protocol, in its order, and how it stands."""
    looks = taken_looks(events)
    looks_before = {look.number: look for look in looks if look.number}
    is_compared = repetition_problem(events) is not None
    due = due_look(interim, looks, progress.fraction, is_compared=is_compared)
    states = []
    for n, look in enumerate(interim.looks, 1):
        state: Literal["made", "due", "passed", "planned"] = "planned"
        if n in looks_before:
            state = "made"
        elif due is not None and n == due[0]:
            state = "due"
        elif progress.fraction >= look.fraction:
            state = "passed"
        states.append(LookState(n, look, state, looks_before.get(n)))
    return tuple(states)


def checked_look(
    study: Study, events: Sequence[Event], number: int, progress: Progress
) -> tuple[Look, bool]:
    """The planned look of this number, and whether it is confirmatory; StudyError if refused.

    A look is refused before its fraction is reached, and once made. A comparative look is also
    refused once the last analysis was shown, since it would be a further test; without a freeze of
    the same [interim] and the same analysis, once the next one is due,
    and once everything or nearly everything is rated, since its result would come too late; and
    where too few ratings came in since the one before. A pooled look without a freeze is
    exploratory.
    """
    interim = required(study)
    if not 1 <= number <= len(interim.looks):
        numbers = "1" if len(interim.looks) == 1 else f"a number from 1 to {len(interim.looks)}"
        raise StudyError(
            f"look {number}: the protocol has {len(interim.looks)}; expected {numbers}, or an"
            " unplanned look, which is exploratory"
        )
    look = interim.looks[number - 1]
    looks_before = {t.number: t for t in taken_looks(events)}
    if number in looks_before:
        raise StudyError(
            f"look {number}: was already made at {looks_before[number].at}; each look is made once"
        )
    if not progress.fraction >= look.fraction:
        raise StudyError(
            f"look {number}: is planned at {look.fraction:.0%} of the {progress.unit};"
            f" {progress.rated:,} of {progress.tasks:,} are there"
        )
    is_frozen = freeze_problem(study, events) is None
    if look.kind == "pooled":
        return look, is_frozen
    problem = (
        repetition_problem(events)
        or freeze_problem(study, events)
        or analysis_problem(study, events)
    )
    if problem is not None:
        raise StudyError(f"look {number}: {problem}")
    later = [
        n for n, other in enumerate(interim.looks, 1) if n > number and other.kind == look.kind
    ]
    late = [
        n for n in later if progress.fraction >= interim.looks[n - 1].fraction or n in looks_before
    ]
    if progress.rated == progress.tasks:
        raise StudyError(
            f"look {number}: is late: all ratings are there; the report is the last analysis"
        )
    if is_same_analysis(progress.fraction, 1.0):
        raise StudyError(
            f"look {number}: is late: less than {CLOSEST:.0%} of the {progress.unit} is missing;"
            " the report of all of them is the last analysis"
        )
    if late:
        raise StudyError(f"look {number}: is late: look {late[-1]} is due")
    before = [t.fraction for t in looks_before.values() if t.kind == "comparative" and t.number]
    if before and is_same_analysis(before[-1], progress.fraction):
        raise StudyError(
            f"look {number}: less than {CLOSEST:.0%} of the {progress.unit} came in since the"
            " comparative look before it; make it with more of them"
        )
    return look, True


def is_same_analysis(earlier: float, later: float) -> bool:
    """Whether two information fractions are too close for critical values of their own.

    >>> is_same_analysis(0.5, 0.505), is_same_analysis(0.5, 0.51)
    (True, False)
    """
    return later - earlier < CLOSEST - 1e-9


def required(study: Study, place: str = "the protocol") -> Interim:
    """The interim analyses of the protocol; StudyError where there are none."""
    if study.interim is None:
        raise StudyError(
            f"{place}: has no [interim]; expected one, with the looks and what follows from them"
        )
    return study.interim


def freeze_problem(study: Study, events: Iterable[Event]) -> str | None:
    """Why interim analyses are not confirmatory: not frozen, or changed; None where they are."""
    freeze = frozen(events)
    if freeze is None:
        return "the analysis plan is not frozen; run 'konsil freeze' before the first look"
    if study.interim is None or freeze.data.get("interim") != digest_of(study.interim):
        return "[interim] is not the one of the frozen analysis plan"
    return None


def is_amended(study: Study, events: Iterable[Event]) -> bool:
    """Whether [interim] is another one than in the frozen plan, which has one, or is missing."""
    freeze = frozen(events)
    planned = None if freeze is None else freeze.data.get("interim")
    is_same = study.interim is not None and planned == digest_of(study.interim)
    return planned is not None and not is_same


def frozen_analysis(events: Iterable[Event], name: str) -> str | None:
    """The digest of an analysis in the frozen plan; None where it has none."""
    freeze = frozen(events)
    analyses = None if freeze is None else freeze.data.get("analyses")
    digest = analyses.get(name) if isinstance(analyses, Mapping) else None
    return None if digest is None else str(digest)


def analysis_problem(study: Study, events: Iterable[Event]) -> str | None:
    """Why the analysis of comparative looks is not that of the frozen plan; None where it is."""
    name = required(study).analysis
    digests = [digest_of(a) for a in study.analyses if a.name == name]
    if digests == [frozen_analysis(events, name)]:
        return None
    return f"the analysis {name!r} is not the one of the frozen analysis plan"


def spoilt_analyses(study: Study, events: Iterable[Event]) -> frozenset[str]:
    """Analyses with comparative looks that are not adjusted for, so that they are exploratory.

    Such looks were not planned, computed another analysis than the frozen one, or the protocol has
    other interim analyses now.
    """
    digest = "" if study.interim is None else digest_of(study.interim)
    history = tuple(events)
    return frozenset(
        look.analysis
        for look in taken_looks(history)
        if look.kind == "comparative"
        and (
            not look.is_planned
            or look.digest != digest
            # Without a digest: the look was made before looks had one.
            or look.computed not in ("", frozen_analysis(history, look.analysis))
        )
    )


def mark_unadjusted(
    study: Study, events: Sequence[Event]
) -> tuple[tuple[Analysis, ...], tuple[TranslatableMessage, ...]]:
    """The analyses, those with looks that are not adjusted for as exploratory; and a warning."""
    spoilt = [a.name for a in study.analyses if a.name in spoilt_analyses(study, events)]
    if not spoilt:
        return study.analyses, ()
    warning = message(
        "Exploratory (interim looks at the comparison that the frozen protocol does not plan):"
        " {names}.",
        message_id="interim.unadjusted",
        names=listed(spoilt),
    )
    analyses = tuple(
        dataclasses.replace(a, prespecified=False) if a.name in spoilt else a
        for a in study.analyses
    )
    return analyses, (warning,)


def family_words(spending: SpendingName) -> TranslatableMessage:
    """A spending function in words."""
    names = {
        "obrien_fleming": message("O'Brien-Fleming type", message_id="interim.obrien_fleming"),
        "pocock": message("Pocock type", message_id="interim.pocock"),
        "power": message("power family", message_id="interim.power"),
    }
    return names[spending]
