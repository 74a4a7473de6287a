"""WHICH numbers: ratings -> coded tables -> estimates.

The running parts load when they are called.
"""

from konsil.analysis.model.catalogue.known import known_statistics
from konsil.analysis.model.results import CoverageRow, Results, Row
from konsil.analysis.model.spec import Analysis, Bin, Derived, Exclusions, Inference, Resampling
from konsil.analysis.running.rules import contradictions

__all__ = [
    "Analysis",
    "Bin",
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
