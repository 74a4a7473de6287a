"""Request for a comparison of systems or groups: columns, success, statistics and resamples.

`konsil compare` has its fields as options, konsil.compare as keywords.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Literal

from konsil.analysis.recoding.flags import CONFIDENCE, MISSING, WHERE, Where
from konsil.analysis.recoding.repeat import Repeat
from konsil.analysis.recoding.stated_labels import as_columns, numbers_of, words_of_labels
from konsil.analysis.roles.reading import StatedRoles
from konsil.analysis.tabular.agreement_options import Level, TableOptions
from konsil.errors import AnalysisError
from konsil.records.request import Flag, Request, setting, several

if TYPE_CHECKING:
    from konsil.analysis.model.spec import Resampling
    from konsil.analysis.roles.reading import TableFile

Compared = Literal["share", "mean", "standard_deviation", "median"]
"""The statistics of a comparison."""
UNKNOWN = "-"
"""Stands for units or raters that no column names."""


@dataclass(frozen=True, kw_only=True)
class CompareRequest(Request):
    """How a table of ratings is read, and what is compared between its systems or groups."""

    refusal = AnalysisError

    by: str | None = setting(
        None, Flag("Column of the systems or groups that are compared.", metavar="C")
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
    label: str | Sequence[str] | None = setting(
        (), Flag("Column of the labels, one per criterion if repeated.", metavar="C")
    )
    system: str | Sequence[str] | None = setting(
        (), Flag("Column with the ratings of one system, repeatable.", metavar="C")
    )
    criterion: str | None = setting(None, Flag("Column of the criteria.", metavar="C"))
    names: str = setting(
        "",
        Flag("Names of the rated columns, such as 'R{rater}_Q{criterion}'.", metavar="PATTERN"),
    )
    unused: Sequence[str] = setting((), Flag("Column that is not used, repeatable.", metavar="C"))
    cluster: str | None = setting(
        None, Flag("Column of the clusters of units, resampled as a whole.", metavar="C")
    )
    level: Level | None = setting(
        None, Flag("Level of measurement; default: interval for numbers, else nominal.")
    )
    labels: Sequence[str | float] = setting(
        (),
        Flag("All labels of the scale, in order.", metavar="a,b,c", is_listed=True),
    )
    values: Sequence[str | float] = setting(
        (),
        Flag(
            "Numbers of --labels; default: labels that are numbers.",
            metavar="x,y,z",
            is_listed=True,
        ),
    )
    abstain: str | None = setting(None, Flag("Label that counts as an abstention.", metavar="L"))
    where: Where | None = setting(None, WHERE)
    missing: Sequence[str] = setting(("",), MISSING)
    recode: Mapping[str, str] | None = setting(
        None, Flag("Label to read as another one; repeatable.", metavar="OLD=NEW")
    )
    repeat: Repeat | None = setting(
        None, Flag("Label that counts of several by one rater for one unit.")
    )
    resamples: int = setting(10_000, Flag("Number of bootstrap resamples.", minimum=100))
    confidence: float = setting(0.95, CONFIDENCE)
    seed: int = setting(0, Flag("Seed of the bootstrap.", is_shown=True))

    @property
    def resampling(self) -> Resampling:
        """The draws of the bootstrap and the intervals' level."""
        from konsil.analysis.model.spec import Resampling

        return Resampling(self.resamples, self.confidence)

    @property
    def successes(self) -> tuple[str, ...]:
        """The labels of interest as words."""
        return words_of_labels(several(self.success))

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns named."""
        lists = (self.unit, self.rater, self.label, self.system, self.unused)
        single = (self.by, self.criterion, self.cluster, *(self.where or {}))
        named = (*chain.from_iterable(map(as_columns, lists)), *single)
        return tuple(name for name in named if name not in {None, UNKNOWN})

    def table_options(self, file: TableFile | None = None) -> TableOptions:
        """How the cells of a file are to be read; the columns' roles are stated apart."""
        return TableOptions(
            **({} if file is None else vars(file)),
            cluster=self.cluster,
            labels=words_of_labels(self.labels),
            abstain=self.abstain,
            missing=tuple(self.missing),
            recode=dict(self.recode or {}),
            repeat=self.repeat,
            values=numbers_of(self.values),
        )

    def stated_roles(self) -> StatedRoles:
        """What is stated of the columns."""
        units, raters = as_columns(self.unit), as_columns(self.rater)
        return StatedRoles(
            layout=self.layout,
            units=tuple(name for name in units if name != UNKNOWN),
            raters=tuple(name for name in raters if name != UNKNOWN),
            labels=as_columns(self.label),
            criterion=self.criterion,
            cluster=self.cluster,
            group=self.by,
            systems=as_columns(self.system),
            groups=tuple(sorted(self.where or ())),
            unused=as_columns(self.unused),
            names=self.names,
            scale=words_of_labels(self.labels),
            missing=tuple(self.missing),
            abstain=self.abstain,
            has_no_units=UNKNOWN in units,
            has_no_raters=UNKNOWN in raters,
        )
