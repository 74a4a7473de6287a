"""WHICH numbers: ratings -> coded tables -> estimates."""

from konsil.analysis.catalogue import known_statistics
from konsil.analysis.results import CoverageRow, Results, Row
from konsil.analysis.spec import Analysis

__all__ = ["Analysis", "CoverageRow", "Results", "Row", "known_statistics"]
