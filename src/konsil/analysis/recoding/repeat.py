"""Which label of one rater for one unit counts where a table has several."""

from __future__ import annotations

from typing import Literal

Repeat = Literal["first", "last", "sum", "mean", "max"]
"""The first or the last one in the order of the table, or their sum, mean or maximum as numbers."""
