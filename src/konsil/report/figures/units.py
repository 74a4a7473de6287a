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
POINTS = frozenset(
    {
        "win_difference",
        "win_difference_strict",
        "position_bias",
        "injection_shift",
        "information_sensitivity",
        "abstention_slope",
    }
)
"""Statistics that are differences of proportions already; of a slope, for each step."""
SECONDS = frozenset({"seconds", "median_seconds", "geometric_seconds"})
"""Statistics in seconds."""
HOURS = frozenset({"rater_hours"})
"""Statistics in hours."""
NUMBERS = frozenset(
    {
        # coefficients: 1 or an end of the scale has a meaning, 100 has none
        "cohen_kappa",
        "cohen_kappa_linear",
        "cohen_kappa_quadratic",
        "pabak",
        "light_kappa",
        "scott_pi",
        "fleiss_kappa",
        "conger_kappa",
        "randolph_kappa",
        "brennan_prediger",
        "krippendorff_alpha",
        "gwet_ac1",
        "gwet_ac2_linear",
        "gwet_ac2",
        "icc1",
        "icc2",
        "icc3",
        "icc1k",
        "icc2k",
        "icc3k",
        "icc1_incomplete",
        "kendall_w",
        "spearman",
        "kendall_tau_b",
        "ensembles_cohen_kappa",
        "ensembles_pabak",
        "choice_kappa",
        "rank_agreement",
        "criteria_correlation",
        "length_correlation",
        "part_whole",
        "reliability",
        "budget_reliability",
        "blinding_james",
        "blinding_bang",
        # areas under a curve, shares of a variance, strengths on a log scale
        "risk_coverage",
        "strictness",
        "anova",
        "davidson",
        "bradley_terry",
        "crossover",
        # in the units of a scale's points, of levels, or of standard deviations
        "mean",
        "standard_deviation",
        "margin",
        "self_preference",
        "family_preference",
        "reasoning_gap",
        "illusion_gap",
        "stability",
        "mann_whitney",
        "tukey",
        "part_variance",
    }
)
"""Statistics that are numbers without a unit, or in the points of a scale."""


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
            return self._format_scaled(value) + self.numbers.language.per_cent
        if self.statistic in SECONDS:
            return self._translated_seconds(value)
        return self.difference(value)

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
                    points=self._format_scaled(value),
                )
            )
        if self.statistic in SECONDS:
            return self._translated_seconds(value)
        if self.statistic in HOURS:
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
        return 1 if self.statistic in PERCENT | POINTS | SECONDS | HOURS else 2

    def _format_scaled(self, value: float) -> str:
        return self.numbers.plain(value * self.factor, self.digits)
