"""The protocol noted in the store whenever records are written under it."""

from __future__ import annotations

from konsil.store import Store
from konsil.study import Study, study_digest
from konsil.study.sections.forms import shapes


def note_study(store: Store, study: Study, at: str) -> bool:
    """Note the protocol's digest and the shapes of its forms in the log.

    Say whether it was another one before.
    """
    return store.note_study(study_digest(study), at, shapes(study.instruments))
