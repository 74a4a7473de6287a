"""The stages of a study's folder: what was collected, and what each next step still needs."""

from __future__ import annotations

from konsil.api.folder.folder import Folder
from konsil.api.running.checking import Findings
from konsil.design.stages import Collected, Stage, stages_of
from konsil.errors import StoreError


def collected(folder: Folder) -> Collected:
    """How much was collected until now; nothing where there is no database yet."""
    study = folder.study
    try:
        with folder.store() as store:
            counts, sources = store.counts(), store.import_sources()
            answering = {a.system for a in store.answers()}
            can_replace = bool(sources) and not store.obstacles_to_replacement()
    except StoreError:  # there is no database yet
        return Collected(silent=sum(system.model is not None for system in study.systems))
    silent = [s for s in study.systems if s.model is not None and s.id not in answering]
    return Collected(
        counts["items"],
        counts["answers"],
        counts["ratings"],
        # Ratings that are imported bring tasks of their own.
        counts["tasks"] if "plan" in sources else 0,
        len(silent),
        can_replace,
    )


def stages(folder: Folder, findings: Findings) -> tuple[Stage, ...]:
    """The stages of a study after its check, each with what it lacks."""
    return stages_of(
        folder.study,
        collected(folder),
        absent=findings.absent,
        n_problems=len(findings.problems),
    )
