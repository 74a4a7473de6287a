"""How an answer shows the numbers of a statistic: as per cent, seconds, or with two decimals."""

from __future__ import annotations

import math
from dataclasses import dataclass

from konsil.analysis.model.message import message
from konsil.report.material.tables import Numbers

PERCENT = frozenset(
    {
        "percent_agreement",
        "multirater_percent_agreement",
        "within_one",
        "unanimity",
        "self_agreement",
        "share",
        "abstention",
        "ensembles_percent_agreement",
        "win_rate",
        "win_rate_strict",
        "choice_agreement",
        "monotonicity_violation",
        "diagnostic_potential",
        "label_dependence",
        "accuracy",
        "mismatch",
        "hallucination",
        "approval",
    }
)
"""Statistics that are proportions; their differences are percentage points."""
POINTS = frozenset({"win_difference", "win_difference_strict", "position_bias", "injection_shift"})
"""Statistics that are differences of proportions already."""
SECONDS = frozenset({"seconds", "median_seconds", "geometric_seconds"})
"""Statistics in seconds."""


@dataclass(frozen=True)
class Unit:
    """The unit of a statistic's values, and of their differences."""

    statistic: str
    """The statistic."""
    numbers: Numbers
    """How the report writes numbers."""

    @property
    def factor(self) -> float:
        """What a value is multiplied by to be shown: 100 for per cent."""
        return 100.0 if self.statistic in PERCENT | POINTS else 1.0

    def value(self, value: float) -> str:
        """A value with its unit.

        >>> Unit("share", Numbers()).value(0.84746), Unit("cohen_kappa", Numbers()).value(0.5678)
        ('84.7%', '0.57')
        """
        if math.isnan(value):
            return self.numbers.language.gettext("undefined")
        if self.statistic in PERCENT:
            return self._plain(value) + self.numbers.language.per_cent
        if self.statistic in SECONDS:
            return self._translated_seconds(value)
        return self.difference(value) if self.statistic in POINTS else self._plain(value)

    def difference(self, value: float) -> str:
        """A difference with its unit.

        >>> Unit("share", Numbers()).difference(0.264)
        '26.4 percentage points'
        """
        if self.statistic in PERCENT | POINTS:
            return self.numbers.translated(
                message(
                    "{points} percentage points",
                    message_id="answer.points",
                    points=self._plain(value),
                )
            )
        return self._translated_seconds(value) if self.statistic in SECONDS else self._plain(value)

    def limits(self, low: float, high: float) -> str:
        """The ends of an interval, without the unit: it stands with the value before them.

        >>> Unit("share", Numbers()).limits(0.168, 0.388)
        '16.8 to 38.8'
        """
        return self.numbers.translated(
            message(
                "{low} to {high}",
                message_id="answer.limits",
                low=self._plain(low),
                high=self._plain(high),
            )
        )

    def _translated_seconds(self, value: float) -> str:
        return self.numbers.translated(
            message("{n} s", message_id="answer.seconds", n=self._plain(value))
        )

    @property
    def digits(self) -> int:
        """Decimals of a number."""
        return 1 if self.statistic in PERCENT | POINTS | SECONDS else 2

    def _plain(self, value: float) -> str:
        return self.numbers.plain(value * self.factor, self.digits)
