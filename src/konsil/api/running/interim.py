"""Interim analyses at the command line: the state, a pooled look, a comparative look."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from konsil.api.folder.blinded import BlindedData, blinded_view, hides, named
from konsil.api.folder.conforming import conforming
from konsil.api.folder.folder import Folder
from konsil.api.folder.opened import PROTOCOL, now
from konsil.errors import AnalysisError, StudyError, option
from konsil.instrument import digest_of
from konsil.records import Event
from konsil.records.digits import written
from konsil.store import Batch
from konsil.store.engine.private import create_private
from konsil.store.people.staff import pseudonym
from konsil.store.release.blinding import key as veil_key
from konsil.study.data.run_settings import settings_of_results
from konsil.study.definition.interim import Interim, Look, LookKind
from konsil.study.interim import looks
from konsil.study.interim.closing import (
    COLLECTION_CLOSED,
    check_closing,
    last_analysis,
    n_present,
)
from konsil.study.interim.last import ShownAnalysis, repetition_problem, shown_analysis
from konsil.study.interim.looks import Progress, TakenLook
from konsil.study.interim.quality import qualities
from konsil.study.interim.rules import AppliedRule, applied_rules, decision_of

if TYPE_CHECKING:
    from konsil.analysis.running.interim.pooled import CriterionQuality

UNPLANNED = "unplanned"
"""The subject of the event of a look that the protocol does not have."""


@dataclass(frozen=True, slots=True)
class InterimState:
    """Which looks there are, were made and are due."""

    interim: Interim
    """The protocol's."""
    progress: Progress
    """How many tasks are rated."""
    previous: tuple[TakenLook, ...]
    """The looks made."""
    due: int | None
    """The number of the look that is due; None: none is."""
    last: ShownAnalysis | None = None
    """The last analysis, once it was shown."""
    is_last_next: bool = False
    """Whether the next report is the last analysis."""


@dataclass(frozen=True, slots=True)
class LookReport:
    """A look that was made."""

    event: Event
    """Its event in the log."""
    qualities: tuple[CriterionQuality, ...] = ()
    """Of a pooled look: what was computed."""
    rules: tuple[AppliedRule, ...] = ()
    """Of a pooled look: the rules with their numbers."""
    file: Path | None = None
    """Of a comparative look: the file of the unblinded person."""


def interim_state(folder: Folder) -> InterimState:
    """Which looks there are, were made and are due; nothing is computed of labels."""
    interim = _planned(folder)
    view = _view(folder)
    progress = looks.progress_of(view.study, interim, view.data)
    looks_before = looks.taken_looks(view.events)
    last = shown_analysis(view.events)
    due = looks.due_look(interim, looks_before, progress.fraction, is_compared=last is not None)
    is_last_next = (
        bool(interim.comparative)
        and last is None
        # An exploratory analysis confirms nothing.
        and any(a.name == interim.analysis and a.prespecified for a in view.study.analyses)
        and not looks.is_amended(view.study, view.events)
        and last_analysis(view.events, progress) is not None
    )
    number = None if due is None else due[0]
    return InterimState(interim, progress, looks_before, number, last, is_last_next)


def take_look(
    folder: Folder, number: int, *, by: str = "", output: Path | None = None
) -> LookReport:
    """Make a look of the protocol and store it in the log; a StudyError where it is refused.

    A comparative look needs the unblinded person as `by`, whose file only the owner of the account
    can read; the log has its digest, whether the study stops, and no result.
    """
    view = _view(folder)
    interim = _planned(folder)
    progress = looks.progress_of(view.study, interim, view.data)
    look, is_planned = looks.checked_look(folder.study, view.events, number, progress)
    if look.kind == "pooled":
        return _pooled(folder, view, (str(number), is_planned), progress, by)
    _unblinded(interim, by)
    return _comparative(folder, view, (str(number), True, look), progress, by, output)


def take_unplanned_look(
    folder: Folder, kind: LookKind, *, by: str, reason: str, output: Path | None = None
) -> LookReport:
    """Make a look that the protocol does not have; it is exploratory, as is the analysis it saw."""
    named(reason, option("reason"))
    interim = _planned(folder)
    view = _view(folder)
    progress = looks.progress_of(view.study, interim, view.data)
    if kind == "pooled":
        return _pooled(folder, view, (UNPLANNED, False), progress, by, reason)
    if (problem := repetition_problem(view.events)) is not None:
        raise StudyError(problem)
    if not interim.analysis:
        raise StudyError(
            f"{folder.path / PROTOCOL}: interim.analysis: is empty; expected the analysis of a"
            " comparative look"
        )
    _unblinded(interim, by)
    return _comparative(folder, view, (UNPLANNED, False, Look(1)), progress, by, output, reason)


def _planned(folder: Folder) -> Interim:
    return looks.required(folder.study, str(folder.path / PROTOCOL))


def close_collection(folder: Folder, *, by: str, reason: str) -> Event:
    """Declare that no further ratings come, so that the next report is the last analysis.

    The event fixes the number of ratings: with further ones the analysis is exploratory. A
    StudyError where it is refused.
    """
    named(by, option("by"))
    named(reason, option("reason"))
    view = _view(folder)
    interim = _planned(folder)
    progress = looks.progress_of(view.study, interim, view.data)
    check_closing(folder.study, view.events, progress)
    at = now()
    with folder.store() as store:
        data: dict[str, object] = {
            "fraction": written(progress.fraction),
            "rated": n_present(progress),
            "tasks": progress.tasks,
            "by": pseudonym(store, by),
            "reason": reason,
        }
        event = Event(COLLECTION_CLOSED, COLLECTION_CLOSED, folder.study.title, at, data)
        store.add(
            Batch(events=(event,)), source=event.kind, at=at, entries=[(event.kind, {**data})]
        )
    return event


def _unblinded(interim: Interim, by: str) -> None:
    if by.strip() != interim.unblinded.strip() or not by.strip():
        value = f"got {by!r}" if by.strip() else "is missing"
        raise StudyError(
            f"{option('by')}: {value}; expected the unblinded person that the protocol names in"
            " interim.unblinded"
        )


def _view(folder: Folder) -> BlindedData:
    """The records as analyses see them; nothing is noted, since nobody sees a name."""
    data, events = folder.stored()
    data, methods = conforming(str(folder.path / PROTOCOL), folder.study, data, events)
    with folder.store() as store:
        key = veil_key(store) if hides(folder, store) else b""
    return blinded_view(folder.study, data, events, methods, key=key)


def _pooled(
    folder: Folder,
    view: BlindedData,
    place: tuple[str, bool],
    progress: Progress,
    by: str,
    reason: str = "",
) -> LookReport:
    subject, is_planned = place
    interim = _planned(folder)
    computed = qualities(view.study, view.data, interim.panel)
    rules = applied_rules(interim, computed, progress, view.events)
    details: dict[str, object] = {
        "rules": [
            {
                "measure": applied.rule.measure,
                "criterion": applied.rule.criterion,
                "end": applied.rule.end,
                "number": written(applied.number),
                "action": applied.rule.action,
                "applies": applied.applies,
                **({} if applied.needed is None else {"needed": applied.needed}),
            }
            for applied in rules
        ],
        "decision": decision_of(rules),
    }
    event = _store(folder, (subject, "pooled", is_planned), progress, by, reason, details)
    return LookReport(event, computed, rules)


def _comparative(
    folder: Folder,
    view: BlindedData,
    place: tuple[str, bool, Look],
    progress: Progress,
    by: str,
    output: Path | None,
    reason: str = "",
) -> LookReport:
    from konsil.analysis.running.interim.sequential import look_result, primary_row
    from konsil.analysis.running.run import run

    subject, is_planned, look = place
    interim = _planned(folder)
    file = _output(folder, output)
    analyses = [a for a in view.study.analyses if a.name == interim.analysis]
    settings = settings_of_results(view.study, view.data, view.events, is_blinded=view.is_blinded)
    rows = run(analyses, view.data, settings).rows
    row = primary_row(rows, interim.analysis)
    earlier = [
        t
        for t in looks.taken_looks(view.events)
        # A look at the same ratings, such as an unplanned one, is that look once more.
        if t.kind == "comparative"
        and t.number
        and not looks.is_same_analysis(t.fraction, progress.fraction)
    ]
    futility = [interim.looks[t.number - 1].futility for t in earlier]
    try:
        result = look_result(
            interim.sequential,
            [*(t.fraction for t in earlier), progress.fraction],
            [*futility, look.futility],
            row.estimate,
        )
    except ValueError as error:
        raise AnalysisError(f"{interim.analysis}: {error}") from None
    stops = result.decision != looks.CONTINUE
    content = {
        "study": folder.study.title,
        "look": subject,
        "is_planned": is_planned,
        "fraction": progress.fraction,
        "analysis": interim.analysis,
        "group": dict(row.group),
        "versus": dict(row.versus),
        "estimate": row.estimate.value,
        "low": row.estimate.low,
        "high": row.estimate.high,
        "p": row.estimate.p,
        **dataclasses.asdict(result),
        "note": "for the unblinded person only; the interval and p are not adjusted for looks",
    }
    text = json.dumps(written(content), ensure_ascii=False, indent=1, allow_nan=False) + "\n"
    details: dict[str, object] = {
        "analysis": interim.analysis,
        "analysis_digest": next(
            (digest_of(a) for a in folder.study.analyses if a.name == interim.analysis), ""
        ),
        "decision": looks.STOP if stops else looks.CONTINUE,
        "sha256": hashlib.sha256(text.encode()).hexdigest(),
        "spent": written(result.spent),
    }
    _create(file)
    try:
        # Before the result can be seen: whatever fails afterwards, the look was made.
        event = _store(folder, (subject, "comparative", is_planned), progress, by, reason, details)
    except BaseException:
        file.unlink(missing_ok=True)
        raise
    try:
        file.write_text(text, "utf-8")
    except OSError as error:
        raise StudyError(
            f"{file}: cannot be written: {error.strerror}; the look is stored as made, and its"
            " result is in the last analysis only"
        ) from None
    return LookReport(event, file=file)


def _output(folder: Folder, output: Path | None) -> Path:
    """The file of a comparative look: a new one, outside of the folder that others read."""
    if output is None:
        raise StudyError(
            f"{option('output')}: is missing; expected a new file outside of the study's folder,"
            " which only the unblinded person reads"
        )
    if folder.path.resolve() in output.resolve().parents:
        raise StudyError(
            f"{option('output')} {output}: is in the study's folder, whose readers and backups"
            " would have the result; expected a file elsewhere"
        )
    if output.exists():
        raise StudyError(f"{output}: exists already; expected the name of a new file")
    return output


def _create(file: Path) -> None:
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        create_private(file)
    except OSError as error:
        raise StudyError(f"{file}: cannot be written: {error.strerror}; no look was made") from None


def _store(
    folder: Folder,
    place: tuple[str, LookKind, bool],
    progress: Progress,
    by: str,
    reason: str,
    details: dict[str, object],
) -> Event:
    subject, kind, is_planned = place
    at = now()
    with folder.store() as store:
        data: dict[str, object] = {
            "look": kind,
            "is_planned": is_planned,
            "fraction": written(progress.fraction),
            "rated": progress.rated,
            "tasks": progress.tasks,
            "interim": digest_of(_planned(folder)),
            **details,
        }
        if by.strip():
            data["by"] = pseudonym(store, by)
        if reason:
            data["reason"] = reason
        event = Event(f"{looks.LOOK_TAKEN} {subject} {at}", looks.LOOK_TAKEN, subject, at, data)
        entry = (event.kind, {"subject": subject, **data})
        store.add(Batch(events=(event,)), source=event.kind, at=at, entries=[entry])
    return event
