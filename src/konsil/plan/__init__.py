"""WHO rates what: allocations + events + ratings -> tasks."""

from konsil.plan.changes.balance import Balance, PlannedOverlap, balance, overlaps_of
from konsil.plan.changes.missing import Missing, missing
from konsil.plan.changes.pairing_design import Meetings, meetings
from konsil.plan.changes.washout import Washout, washouts
from konsil.plan.draw.assign import assign
from konsil.plan.model.allocation import Allocation, Overlap, Show, When
from konsil.plan.model.history import History
from konsil.plan.model.rng_streams import generator

__all__ = [
    "Allocation",
    "Balance",
    "History",
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
