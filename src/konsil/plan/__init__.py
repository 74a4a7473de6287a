"""WHO rates what: allocations + events + ratings -> tasks."""

from konsil.plan.allocation import Allocation, Show, When

__all__ = ["Allocation", "Show", "When"]
