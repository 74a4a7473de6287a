"""WHO rates what: allocations + events + ratings -> tasks."""

from konsil.plan.allocation import Allocation, Overlap, Show, When
from konsil.plan.assign import assign
from konsil.plan.balance import Balance, balance
from konsil.plan.meetings import Meetings, meetings
from konsil.plan.missing import Missing, missing
from konsil.plan.overlap_report import PlannedOverlap, overlaps_of
from konsil.plan.streams import generator
from konsil.plan.washout import Washout, washouts

__all__ = [
    "Allocation",
    "Balance",
    "Meetings",
    "Missing",
    "Overlap",
    "PlannedOverlap",
    "Show",
    "Washout",
    "When",
    "assign",
    "balance",
    "generator",
    "meetings",
    "missing",
    "overlaps_of",
    "washouts",
]
