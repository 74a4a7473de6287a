"""Which analysis of a study with comparative looks is its last one, and who closed the data."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from konsil.errors import StudyError
from konsil.errors.message import TranslatableMessage, message
from konsil.records import Event
from konsil.study.data.freezing import first_event
from konsil.study.definition.protocol import Study
from konsil.study.interim.last import (
    ShownAnalysis,
    repetition_problem,
    shown_analysis,
)
from konsil.study.interim.looks import (
    STOP,
    Progress,
    freeze_problem,
    required,
    taken_looks,
)

COLLECTION_CLOSED = "collection closed"
"""Kind of the event that declares data collection closed before all ratings are there. Subject: the
study; data: fraction, rated, tasks, by and reason."""
LastAnalysis = Literal["complete", "stopped", "closed"]
"""Why an analysis is the last one: all ratings are there, a look decided to stop, or data
collection was declared closed."""


@dataclass(frozen=True, slots=True)
class Closing:
    """A declaration that data collection is closed."""

    rated: int
    """How many tasks or ratings there were."""
    at: str
    """When."""


def closing_of(events: Iterable[Event]) -> Closing | None:
    """The first declaration that data collection is closed, or None."""
    first = first_event(events, COLLECTION_CLOSED)
    return None if first is None else Closing(int(str(first.data.get("rated", 0))), first.at)


def n_present(progress: Progress) -> int:
    """Tasks with a rating, or all ratings, those beyond the planned ones included."""
    return progress.rated + progress.surplus


def _is_complete(progress: Progress) -> bool:
    """Whether just those ratings are there that are planned."""
    return progress.rated == progress.tasks and not progress.surplus


def last_analysis(events: Sequence[Event], progress: Progress) -> LastAnalysis | None:
    """Why an analysis of these ratings is the last one; None where it is not.

    Each number of ratings that could be the last would be one more chance to reject. So the last
    analysis is that of all planned ratings, of the ratings at which data collection was declared
    closed, or one after a stop that the critical values decided. A declaration is void once further
    ratings came in; with more ratings than planned, it is needed. Once a last analysis was shown,
    it is the only one: with further ratings, from an extension or after a stop, none is, nor with
    fewer, such as after an erasure.
    """
    shown = shown_analysis(events)
    if shown is not None and n_present(progress) != shown.rated:
        return None
    closing = closing_of(events)
    if closing is not None and n_present(progress) > closing.rated:
        return None
    if _is_complete(progress):
        return "complete"
    looks = [look for look in taken_looks(events) if look.kind == "comparative"]
    if looks and looks[-1].decision == STOP:
        return "stopped"
    return None if closing is None else "closed"


def at_last_analysis(events: Sequence[Event], progress: Progress) -> Progress:
    """The progress, with the tasks of the last analysis that was shown while its ratings are there.

    Tasks that are planned later change neither its fraction nor that it was the last one.
    """
    shown = shown_analysis(events)
    if shown is None or n_present(progress) != shown.rated:
        return progress
    rated = min(shown.rated, shown.tasks)
    return Progress(rated, shown.tasks, progress.unit, shown.rated - rated)


def check_closing(study: Study, events: Sequence[Event], progress: Progress) -> None:
    """Raise StudyError where data collection cannot be declared closed."""
    interim = required(study)
    if not interim.comparative:
        raise StudyError(
            "the protocol has no comparative look; expected one, since only its last analysis"
            " needs this declaration"
        )
    if (problem := freeze_problem(study, events)) is not None:
        raise StudyError(problem)
    if (problem := repetition_problem(events)) is not None:
        raise StudyError(problem)
    if (before := closing_of(events)) is not None:
        raise StudyError(f"data collection was declared closed at {before.at}; expected it once")
    if not progress.rated:
        raise StudyError("there are no ratings yet; expected some before the last analysis")
    if _is_complete(progress):
        raise StudyError("all ratings are there, so that the report is the last analysis already")


def early_warning(
    analysis: str, progress: Progress, events: Sequence[Event], *, is_blinded: bool = False
) -> TranslatableMessage | None:
    """A warning of a report whose analysis is not the last one; None where it is.

    While the study is blinded (`is_blinded`) the comparison is withheld before it.
    """
    if last_analysis(events, progress) is not None:
        return None
    if (shown := shown_analysis(events)) is not None:
        return _repetition_warning(analysis, shown, n_present(progress))
    closing = closing_of(events)
    if closing is not None:
        return message(
            "Data collection was declared closed at {at} with {declared:,} tasks or ratings;"
            " {more:,} came in later, so that the analysis “{analysis}” is exploratory.",
            message_id="interim.reopened",
            at=closing.at,
            declared=closing.rated,
            more=n_present(progress) - closing.rated,
            analysis=analysis,
        )
    if progress.surplus:
        return message(
            "More ratings are there than planned: {rated:,} instead of {tasks:,}. The analysis"
            " “{analysis}” is exploratory until data collection is declared closed.",
            message_id="interim.surplus",
            rated=n_present(progress),
            tasks=progress.tasks,
            analysis=analysis,
        )
    if is_blinded:
        return message(
            "The comparison is withheld until its last analysis: {rated:,} of {tasks:,} tasks or"
            " ratings are there. The analysis “{analysis}” is exploratory until all are there, or"
            " data collection is declared closed.",
            message_id="interim.early_withheld",
            rated=progress.rated,
            tasks=progress.tasks,
            analysis=analysis,
        )
    return message(
        "The comparison is shown before its last analysis: {rated:,} of {tasks:,} tasks or ratings"
        " are there. The analysis “{analysis}” is exploratory until all are there, or data"
        " collection is declared closed.",
        message_id="interim.early",
        rated=progress.rated,
        tasks=progress.tasks,
        analysis=analysis,
    )


def _repetition_warning(analysis: str, shown: ShownAnalysis, present: int) -> TranslatableMessage:
    if present <= shown.rated:
        return message(
            "The last analysis of “{analysis}” was made at {at} with {used:,} tasks or ratings,"
            " of which {present:,} are left: the analysis of these is exploratory.",
            message_id="interim.shrunk",
            analysis=analysis,
            at=shown.at,
            used=shown.rated,
            present=present,
        )
    return message(
        "The last analysis of “{analysis}” was made at {at} with {used:,} tasks or ratings;"
        " {more:,} came in later. Only the first last analysis is confirmatory: a test of all"
        " ratings would spend the type I error once more, so that they are only described.",
        message_id="interim.repeated",
        analysis=analysis,
        at=shown.at,
        used=shown.rated,
        more=present - shown.rated,
    )
