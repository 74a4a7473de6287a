"""HOW it is told: tables (the only place that rounds), figures, one self-contained page."""

from konsil.report.section import Recovered, Section
from konsil.report.write import write, write_estimates

__all__ = ["Recovered", "Section", "write", "write_estimates"]
