"""What the store notes beside records: their protocol, and the last analysis of looks.

A preliminary page notes nothing, so studies with looks have none.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

from konsil.errors import ConflictError, StudyError, option
from konsil.store import Batch, Store
from konsil.study import Study, study_digest
from konsil.study.interim.last import last_analysis_event, shown_analysis
from konsil.study.sections.forms import shapes

PRELIMINARY = "preliminary"
"""The folder of a study's preliminary page."""

if TYPE_CHECKING:
    from konsil.analysis import Results
    from konsil.analysis.table.frame import Data
    from konsil.api.folder.blinded import BlindedData


def note_study(store: Store, study: Study, at: str) -> bool:
    """Note the protocol's digest and the shapes of its forms in the log.

    Say whether it was another one before.
    """
    return store.note_study(study_digest(study), at, shapes(study.instruments))


def has_own_ratings(study: Study, stored: Callable[[], Data], data: Data) -> bool:
    """Whether records have the ratings of the study, in any order, where its log notes that."""
    from konsil.analysis.table.columns import rating_columns

    if study.interim is None or not study.interim.comparative:
        return False
    own, given = rating_columns(stored().ratings), rating_columns(data.ratings)
    return own.height == given.height and own.sort(own.columns).equals(given.sort(own.columns))


def note_last_analysis(
    store: Store, view: BlindedData, results: Results, at: str, *, is_own: bool = True
) -> None:
    """Note in the log, once and before anybody sees it, that the last analysis was made.

    Not of other records than the study's own (`is_own`).
    """
    from konsil.study.interim.results import new_last_analysis

    interim = view.study.interim
    last = new_last_analysis(results, view.study, view.data, view.events, at) if is_own else None
    if interim is None or last is None or store.is_read_only:
        return
    if shown_analysis(store.events()) is not None:
        return
    event = last_analysis_event(interim.analysis, last)
    entry = (event.kind, {"analysis": interim.analysis, **event.data})
    # Another process can note it at the same time.
    with suppress(ConflictError):
        store.add(Batch(events=(event,)), source=event.kind, at=at, entries=[entry])


def preliminary_analyses(view: BlindedData, path: str) -> frozenset[str]:
    """The analyses that answer the protocol's questions.

    A StudyError where their results would be a further look beside interim analyses.
    """
    from konsil.report.answers.answers import answered
    from konsil.study.interim.looks import taken_looks

    if view.study.interim is not None or taken_looks(view.events):
        raise StudyError(
            f"{path}: a study with interim analyses has no preliminary page, whose numbers would"
            f" be a further look; expected a report without {option('quick')}"
        )
    return frozenset(analysis.name for analysis in answered(view.study.analyses))
