"""Ratings as coded tables, and their estimates.

Each part loads when it is used: a command's help needs none of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from konsil.analysis.model.catalogue.known import known_statistics
    from konsil.analysis.model.composite.definition import CompositeScore
    from konsil.analysis.model.results import CoverageRow, Results
    from konsil.analysis.model.rows import Row
    from konsil.analysis.model.spec import Analysis, Bin, Derived, Exclusions, Inference, Resampling
    from konsil.analysis.running.rules import contradictions

__all__ = [
    "Analysis",
    "Bin",
    "CompositeScore",
    "CoverageRow",
    "Derived",
    "Exclusions",
    "Inference",
    "Resampling",
    "Results",
    "Row",
    "contradictions",
    "known_statistics",
]

_MODULES = {
    "CompositeScore": "model.composite.definition",
    "CoverageRow": "model.results",
    "Results": "model.results",
    "Row": "model.rows",
    "contradictions": "running.rules",
    "known_statistics": "model.catalogue.known",
}
"""Name -> the module that has it, where that is not `model.spec`."""


def __getattr__(name: str) -> Any:  # noqa: ANN401 - a module attribute
    """Load the module of a name when the name is used."""
    if name not in __all__:
        raise AttributeError(f"module 'konsil.analysis' has no attribute {name!r}")
    import importlib

    module = importlib.import_module(f"konsil.analysis.{_MODULES.get(name, 'model.spec')}")
    return getattr(module, name)
