"""Which of several labels of one rater for one unit counts."""

from __future__ import annotations

from typing import Literal

Repeat = Literal["first", "last"]
"""The first or the last one in the order of the table."""
