"""Request for agreement of a table: columns, statistics, weights and resamples, checked.

`konsil agreement` has its fields as options, konsil.agreement as keywords.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

from konsil.analysis.estimation.own_weights import OwnWeights, PairWeights
from konsil.analysis.recoding.flags import BY, COMPARE, CONFIDENCE, MISSING, WHERE, Where
from konsil.analysis.recoding.repeat import Repeat
from konsil.analysis.recoding.stated_labels import as_columns, numbers_of, words_of_labels
from konsil.analysis.roles.reading import Layout, StatedRoles
from konsil.analysis.tabular.agreement_options import Level, TableOptions
from konsil.errors import AnalysisError, option
from konsil.records.request import Flag, Request, setting

if TYPE_CHECKING:
    from konsil.analysis.model.spec import Resampling
    from konsil.analysis.roles.reading import TableFile
    from konsil.analysis.tabular.slices import Slices


@dataclass(frozen=True, kw_only=True)
class AgreementRequest(Request):
    """How a table of ratings is read, and which agreement is computed of it."""

    refusal = AnalysisError

    layout: Layout | None = setting(
        None,
        Flag(
            by_value={
                "wide": "One row per unit, one column per rater; empty: not rated.",
                "long": "One row per rating, with columns for unit, rater and label.",
                "counts": "One row per unit, one column of counts per label.",
                "raters-in-rows": "One row per rater, one column per unit.",
                "cross-table": "Labels of two raters crossed, with numbers of units.",
            }
        ),
    )
    unit: str | Sequence[str] | None = setting(
        (), Flag("Column of the units; repeatable, if several name them together.", metavar="C")
    )
    rater: str | Sequence[str] | None = setting(
        (), Flag("Column of the raters; wide: one rater's column, repeatable.", metavar="C")
    )
    label: str | Sequence[str] | None = setting(
        (),
        Flag(
            "Column of the labels (long), one per criterion if repeated, or of lists.", metavar="C"
        ),
    )
    criterion: str | None = setting(
        None, Flag("Column of the criteria (long), which are results of their own.", metavar="C")
    )
    names: str = setting(
        "",
        Flag(
            "Names of the rated columns, such as 'R{rater}_Q{criterion}'; also {unit}.",
            metavar="PATTERN",
        ),
    )
    unused: Sequence[str] = setting((), Flag("Column that is not used, repeatable.", metavar="C"))
    split: str = setting(
        "", Flag("Separator between labels where a cell of --label has several.", metavar="S")
    )
    cluster: str | None = setting(
        None, Flag("Column of the clusters, which are resampled as a whole.", metavar="C")
    )
    level: Level = setting("nominal", Flag("Level of measurement."))
    labels: Sequence[str | float] = setting(
        (),
        Flag(
            "All labels of the scale, in order; default: observed labels.",
            metavar="a,b,c",
            is_listed=True,
        ),
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
    where: Where | None = setting(None, WHERE)
    by: str | None = setting(None, BY)
    compare: str | None = setting(None, COMPARE)
    missing: Sequence[str] = setting(("",), MISSING)
    recode: Mapping[str, str] | None = setting(
        None, Flag("Label to read as another one; repeatable.", metavar="OLD=NEW")
    )
    repeat: Repeat | None = setting(
        None, Flag("What counts of several labels by one rater for one unit.")
    )
    resamples: int = setting(10_000, Flag("Number of bootstrap resamples.", minimum=100))
    confidence: float = setting(0.95, CONFIDENCE)
    seed: int = setting(0, Flag("Seed of the bootstrap.", is_shown=True))

    def __post_init__(self) -> None:
        """Refuse lists where one column is meant; statistics get their whole names."""
        super().__post_init__()
        for name in ("criterion", "cluster", "by", "compare"):
            value = getattr(self, name)
            if value is not None and not isinstance(value, str):
                raise AnalysisError(
                    f"{option(name)}: expected the name of one column, got"
                    f" {type(value).__name__} {value!r}; make one column of several first"
                )
        if self.statistics and not isinstance(self.statistics, str):
            from konsil.analysis.agreement.agreement_statistics import full_name

            where = option("statistics", flag="statistic")
            names = tuple(full_name(name, where) for name in self.statistics)
            object.__setattr__(self, "statistics", tuple(dict.fromkeys(names)))

    @property
    def slices(self) -> Slices:
        """Which rows are used, and how they are grouped."""
        # With Polars, which a help does without.
        from konsil.analysis.tabular.slices import Slices, as_values

        return Slices(as_values(self.where), self.by, self.compare)

    @property
    def resampling(self) -> Resampling:
        """The draws of the bootstrap and the intervals' level."""
        from konsil.analysis.model.spec import Resampling

        return Resampling(self.resamples, self.confidence)

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns named."""
        several = (self.unit, self.rater, self.label, self.unused)
        single = (self.criterion, self.cluster, *self.slices.columns)
        named = (*chain.from_iterable(map(as_columns, several)), *single)
        return tuple(name for name in named if name is not None)

    @property
    def scale(self) -> tuple[str, ...]:
        """The declared labels as words."""
        return words_of_labels(self.labels)

    def table_options(self, file: TableFile | None = None) -> TableOptions:
        """How the cells of a file are to be read; the columns' roles are stated apart."""
        return TableOptions(
            **({} if file is None else vars(file)),
            cluster=self.cluster,
            level=self.level,
            labels=self.scale,
            abstain=self.abstain,
            missing=tuple(self.missing),
            split=self.split,
            recode=dict(self.recode or {}),
            repeat=self.repeat,
            values=numbers_of(self.values),
        )

    def stated_roles(self) -> StatedRoles:
        """What is stated of the columns."""
        return StatedRoles(
            layout=self.layout,
            units=as_columns(self.unit),
            raters=as_columns(self.rater),
            labels=as_columns(self.label),
            criterion=self.criterion,
            cluster=self.cluster,
            groups=tuple(sorted(self.slices.columns)),
            unused=as_columns(self.unused),
            names=self.names,
            split=self.split,
            scale=self.scale,
            missing=tuple(self.missing),
            abstain=self.abstain,
        )
