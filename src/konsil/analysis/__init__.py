"""WHICH numbers: ratings -> coded tables -> estimates. The running parts load when they are called."""

from konsil.analysis.catalogue import known_statistics
from konsil.analysis.results import CoverageRow, Results, Row
from konsil.analysis.rules import contradictions
from konsil.analysis.spec import Analysis, Bin, Derived, Exclusions, Inference, Resampling

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
