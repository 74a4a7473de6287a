"""What the store notes beside records: their protocol, and the last analysis of looks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from konsil.store import Batch, Store
from konsil.study import Study, study_digest
from konsil.study.interim.last import last_analysis_event, shown_analysis
from konsil.study.sections.forms import shapes

if TYPE_CHECKING:
    from konsil.analysis import Results
    from konsil.api.folder.blinded import BlindedData


def note_study(store: Store, study: Study, at: str) -> bool:
    """Note the protocol's digest and the shapes of its forms in the log.

    Say whether it was another one before.
    """
    return store.note_study(study_digest(study), at, shapes(study.instruments))


def note_last_analysis(store: Store, view: BlindedData, results: Results, at: str) -> None:
    """Note in the log, once and before anybody sees it, that the last analysis was made."""
    from konsil.study.interim.results import new_last_analysis

    interim = view.study.interim
    last = new_last_analysis(results, view.study, view.data, view.events, at)
    if interim is None or last is None or store.is_read_only:
        return
    # Another process can have noted it since the records were read.
    if shown_analysis(store.events()) is None:
        event = last_analysis_event(interim.analysis, last)
        entry = (event.kind, {"analysis": interim.analysis, **event.data})
        store.add(Batch(events=(event,)), source=event.kind, at=at, entries=[entry])
