"""Request for a comparison of systems or groups: columns, success, statistics and resamples.

`konsil compare` has its fields as options, konsil.compare as keywords.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from konsil.analysis.recoding.stated_labels import as_columns, words_of_labels
from konsil.analysis.roles.reading import StatedRoles
from konsil.analysis.tabular.agreement_options import Level, RatingsRequest
from konsil.records.request import Flag, setting, several

Compared = Literal["share", "mean", "standard_deviation", "median"]
"""The statistics of a comparison."""
UNKNOWN = "-"
"""Stands for units, raters or groups that no column names."""


@dataclass(frozen=True, kw_only=True)
class CompareRequest(RatingsRequest):
    """How a table of ratings is read, and what is compared between its systems or groups."""

    layout: Literal["wide", "long", "raters-in-rows"] | None = setting(
        None,
        Flag(
            by_value={
                "wide": "One row per unit, one column per rater; empty: not rated.",
                "long": "One row per rating, with columns for unit, rater and label.",
                "raters-in-rows": "One row per rater, one column per unit.",
            }
        ),
    )
    unit: str | Sequence[str] | None = setting(
        (), Flag("Column of the units, repeatable; - if each row is one.", metavar="C")
    )
    rater: str | Sequence[str] | None = setting(
        (), Flag("Column of the raters, or one rater's, repeatable; - if unknown.", metavar="C")
    )
    level: Level | None = setting(
        None, Flag("Level of measurement; default: interval for numbers, else nominal.")
    )
    by: str | None = setting(
        None, Flag("Column of the systems or groups that are compared; - if none.", metavar="C")
    )
    system: str | Sequence[str] | None = setting(
        (), Flag("Column with the ratings of one system, repeatable.", metavar="C")
    )
    reference: str | None = setting(
        None, Flag("Compare all others with this system or group; default: all pairs.", metavar="G")
    )
    success: Sequence[str | float] = setting(
        (), Flag("Label that counts as a success, repeatable: gives proportions.", metavar="L")
    )
    statistics: Sequence[Compared] = setting(
        (),
        Flag("Statistic to compute, repeatable; default: those of the labels.", name="statistic"),
    )

    @property
    def successes(self) -> tuple[str, ...]:
        """The labels of interest as words."""
        return words_of_labels(several(self.success))

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns named."""
        named = (*super().columns, *as_columns(self.system))
        return tuple(name for name in named if name != UNKNOWN)

    def stated_roles(self) -> StatedRoles:
        """What is stated of the columns."""
        stated = super().stated_roles()
        return replace(
            stated,
            units=tuple(name for name in stated.units if name != UNKNOWN),
            raters=tuple(name for name in stated.raters if name != UNKNOWN),
            group=None if self.by == UNKNOWN else self.by,
            has_no_groups=self.by == UNKNOWN,
            systems=as_columns(self.system),
            has_no_units=UNKNOWN in stated.units,
            has_no_raters=UNKNOWN in stated.raters,
        )
