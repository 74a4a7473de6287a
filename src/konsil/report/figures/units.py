"""How the report shows the numbers of a statistic: per cent, seconds, hours or two decimals."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from konsil.analysis.model.catalogue.entry import StatisticUnit
from konsil.analysis.model.catalogue.known import statistic_of
from konsil.errors.message import message
from konsil.report.material.tables import Numbers


def is_percent(statistic: str) -> bool:
    """Whether it is a proportion; its differences are percentage points.

    >>> is_percent("share"), is_percent("win_difference"), is_percent("cohen_kappa")
    (True, False, False)
    """
    return statistic_of(statistic).unit == "percent"


def is_points(statistic: str) -> bool:
    """Whether it is a difference of proportions already; of a slope, for each step.

    >>> is_points("win_difference"), is_points("share")
    (True, False)
    """
    return statistic_of(statistic).unit == "points"


HeadUnit = Literal["", "percent", "points"]
"""What the head of numbers states; seconds, hours and plain numbers state nothing there."""


def head_unit(statistic: str, *, is_difference: bool = False) -> HeadUnit:
    """The unit in the head of a statistic's values, or of their differences.

    >>> head_unit("share"), head_unit("share", is_difference=True), head_unit("cohen_kappa")
    ('percent', 'points', '')
    """
    if is_percent(statistic) and not is_difference:
        return "percent"
    return "points" if is_percent(statistic) or is_points(statistic) else ""


def unit_words(numbers: Numbers, unit: HeadUnit) -> str:
    """A unit as heads of columns and titles of axes have it in brackets."""
    if unit == "points":
        words = message("percentage points", message_id="layout.percentage_points")
        return numbers.translated(words)
    return "%" if unit == "percent" else ""


@dataclass(frozen=True)
class Unit:
    """The unit of a statistic's values, and of their differences."""

    statistic: str
    """The statistic."""
    numbers: Numbers
    """How the report writes numbers."""

    @property
    def kind(self) -> StatisticUnit:
        """The unit as the catalogue has it."""
        return statistic_of(self.statistic).unit

    @property
    def factor(self) -> float:
        """What a value is multiplied by to be shown: 100 for per cent."""
        return 100.0 if self.kind in ("percent", "points") else 1.0

    def value(self, value: float) -> str:
        """A value with its unit.

        >>> Unit("share", Numbers()).value(0.84746), Unit("cohen_kappa", Numbers()).value(0.5678)
        ('84.7%', '0.57')
        """
        if math.isnan(value):
            return self.numbers.language.gettext("undefined")
        if self.kind == "percent":
            return self._format_scaled(value) + self.numbers.language.per_cent
        if self.kind == "seconds":
            return self._translated_seconds(value)
        return self.difference(value)

    def difference(self, value: float) -> str:
        """A difference with its unit.

        >>> Unit("share", Numbers()).difference(0.264)
        '26.4 percentage points'
        """
        if self.kind in ("percent", "points"):
            return self.numbers.translated(
                message(
                    "{points} percentage points",
                    message_id="answer.points",
                    points=self._format_scaled(value),
                )
            )
        if self.kind == "seconds":
            return self._translated_seconds(value)
        if self.kind == "hours":
            return self.numbers.translated(
                message("{n} h", message_id="answer.hours", n=self._format_scaled(value))
            )
        return self._format_scaled(value)

    def limits(self, low: float, high: float) -> str:
        """The ends of an interval, without the unit: it stands with the value before them.

        >>> Unit("share", Numbers()).limits(0.168, 0.388)
        '16.8 to 38.8'
        """
        return self.numbers.translated(
            message(
                "{low} to {high}",
                message_id="answer.limits",
                low=self._format_scaled(low),
                high=self._format_scaled(high),
            )
        )

    def _translated_seconds(self, value: float) -> str:
        return self.numbers.translated(
            message("{n} s", message_id="answer.seconds", n=self._format_scaled(value))
        )

    @property
    def digits(self) -> int:
        """Decimals of a number."""
        return 2 if self.kind in ("", "number") else 1

    def _format_scaled(self, value: float) -> str:
        return self.numbers.plain(value * self.factor, self.digits)
