"""HOW it is told: tables (the only place that rounds), figures, one self-contained page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from konsil.report.material.section import Recovered, Section
from konsil.report.material.study_records import StudyRecords

if TYPE_CHECKING:
    from konsil.report.files.data_files import write_estimates
    from konsil.report.page.writing import draw, write, write_preliminary

__all__ = [
    "Recovered",
    "Section",
    "StudyRecords",
    "draw",
    "write",
    "write_estimates",
    "write_preliminary",
]


def __getattr__(name: str) -> Any:  # noqa: ANN401 - a module attribute
    """Load what writes a report when it is asked for: estimates as a table draw no figures."""
    import importlib

    if name == "write_estimates":
        return importlib.import_module("konsil.report.files.data_files").write_estimates
    if name in {"draw", "write", "write_preliminary"}:
        import logging

        # Drawing for the first time, Matplotlib looks through the system's fonts, and says so if
        # that takes long. The figures have a font of their own.
        logging.getLogger("matplotlib.font_manager").setLevel(logging.ERROR)
        return getattr(importlib.import_module("konsil.report.page.writing"), name)
    raise AttributeError(f"module 'konsil.report' has no attribute {name!r}")
