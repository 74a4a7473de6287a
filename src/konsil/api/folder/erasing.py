"""Personal data: how long they are kept, erasing a rater, and what is said of it afterwards."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date

from konsil.api.folder.opened import OpenedStudy, now
from konsil.errors.message import TranslatableMessage, message
from konsil.records import Event
from konsil.store.people.staff import decider
from konsil.store.privacy import erasing
from konsil.store.privacy.erasing import Erased
from konsil.study import Study
from konsil.study.sections.privacy import is_over, retention_of


def preview(folder: OpenedStudy, rater: str) -> Erased:
    """What an erasure would erase; nothing changes."""
    with folder.store() as store:
        return erasing.preview(store, folder.study, rater)


def erase(folder: OpenedStudy, rater: str, *, by: str, reason: str) -> Erased:
    """Erase a rater's data in the study's database."""
    with folder.store() as store:
        return erasing.erase(
            store, folder.study, rater, at=now(), by=decider(store, by), reason=reason
        )


def privacy_sentences(study: Study, events: Iterable[Event]) -> tuple[TranslatableMessage, ...]:
    """What the methods say of personal data: until when they are kept, and what was erased."""
    last = retention_of(study.privacy)
    retention = message(
        "Personal data of raters are kept until {day}.",
        message_id="privacy.retention",
        day=str(last),
    )
    return (*((retention,) if last is not None else ()), *_erasures(events))


def retention_line(study: Study, today: date) -> str:
    """What commands say of how long personal data are kept.

    Empty where the protocol does not state it.
    """
    last = retention_of(study.privacy)
    if last is None:
        return ""
    if not is_over(study.privacy, today):
        return f"personal data are kept until {last}"
    return (
        f"the retention period of personal data ended on {last}: erase them, or state a later"
        " date in study.toml"
    )


def excluded_ratings_sentence(n: int) -> str:
    """That an import left out ratings of raters whose data were erased."""
    return message(
        "{n:,} {n|rating is|ratings are} excluded: the rater's data were erased; delete them in the"
        " files too",
        message_id="import.erased",
        n=n,
    )


def _erasures(events: Iterable[Event]) -> tuple[TranslatableMessage, ...]:
    total = erasing.counted(events)
    if not total["raters"]:
        return ()
    if not total["kept"]:
        return (
            message(
                "The data of {n:,} {n|rater|raters} were erased on request; {ratings:,}"
                " {ratings|rating is|ratings are} missing from all analyses for this reason.",
                message_id="erasure.erased",
                n=total["raters"],
                ratings=total["ratings"],
            ),
        )
    return (
        message(
            "The data of {n:,} {n|rater|raters} were erased on request: {ratings:,} {ratings|rating"
            " is|ratings are} missing from all analyses for this reason, and {kept:,} {kept|rating"
            " remains|ratings remain} without notes and times.",
            message_id="erasure.kept",
            n=total["raters"],
            ratings=total["ratings"],
            kept=total["kept"],
        ),
    )
