"""Request for agreement of a table: columns, statistics, weights and resamples, checked.

`konsil agreement` has its fields as options, konsil.agreement as keywords.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from konsil.analysis.estimation.own_weights import OwnWeights, PairWeights
from konsil.analysis.recoding.flags import COMPARE
from konsil.analysis.roles.reading import StatedRoles, TableFile
from konsil.analysis.tabular.agreement_options import Level, RatingsRequest, TableOptions
from konsil.errors import option
from konsil.records.request import Flag, setting
from konsil.stats.engine.contract import RatersTarget

if TYPE_CHECKING:
    from konsil.analysis.tabular.slices import Slices


@dataclass(frozen=True, kw_only=True)
class AgreementRequest(RatingsRequest):
    """How a table of ratings is read, and which agreement is computed of it."""

    level: Level = setting("nominal", Flag("Level of measurement."))
    split: str = setting(
        "", Flag("Separator between labels where a cell of --label has several.", metavar="S")
    )
    statistics: Sequence[str] = setting(
        (),
        Flag(
            "Statistic to compute, repeatable; default: the usual ones.",
            name="statistic",
            metavar="NAME",
        ),
    )
    weights: str | Mapping[str, Mapping[str, float]] | OwnWeights = setting(
        "", Flag("Weights for partial agreement: linear, ... or your own .csv.", metavar="W")
    )
    pair_weights: PairWeights = setting(
        "alike", Flag("Weight of a rater pair: equal, or its number of shared units.")
    )
    pairs: bool = setting(False, Flag("Also print the agreement of each pair of raters."))
    compare: str | None = setting(None, COMPARE)
    target: RatersTarget | None = setting(
        None,
        Flag(
            "Raters whom differences are about; default: 'like these' if the table has at least"
            " five."
        ),
    )

    def __post_init__(self) -> None:
        """Statistics get their whole names."""
        super().__post_init__()
        if self.statistics and not isinstance(self.statistics, str):
            from konsil.analysis.agreement.agreement_statistics import full_name

            where = option("statistics", flag="statistic")
            names = tuple(full_name(name, where) for name in self.statistics)
            object.__setattr__(self, "statistics", tuple(dict.fromkeys(names)))

    @property
    def slices(self) -> Slices:
        """Which rows are used, and how they are grouped."""
        return replace(super().slices, by=self.by, compare=self.compare)

    def table_options(self, file: TableFile | None = None) -> TableOptions:
        """How the cells of a file are to be read, sets of labels included."""
        return replace(super().table_options(file), split=self.split)

    def stated_roles(self) -> StatedRoles:
        """What is stated of the columns."""
        return replace(super().stated_roles(), split=self.split)
