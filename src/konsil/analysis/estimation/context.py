"""What all groups of an analysis share, and what became of one group."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import polars as pl

from konsil.analysis.estimation.estimate import EstimateSummary
from konsil.analysis.estimation.measure import Measure
from konsil.analysis.model.message import message
from konsil.analysis.model.options import CriterionRef
from konsil.analysis.model.spec import Analysis, Resampling
from konsil.analysis.table.encoding import Sample, averaged, encode
from konsil.analysis.table.labels import Labels, labels_of
from konsil.errors import AnalysisError
from konsil.instrument import Criterion
from konsil.stats.agreement.alpha import Level
from konsil.stats.engine.contract import RatersTarget


@dataclass(frozen=True)
class Context:
    """What every group of one analysis shares."""

    analysis: Analysis
    """The analysis."""
    criterion: Criterion
    """Its criterion."""
    key: int
    """The seed of its resamples."""
    resampling: Resampling
    """How intervals are made."""
    also: tuple[Criterion, ...] = ()
    """Further criteria that the analysis names."""
    target: RatersTarget | None = None
    """Whom the first interval is about; None: each number's own, as of judges and where the
    analysis decides it."""
    is_target_stated: bool = False
    """Whether the protocol states it; otherwise groups without a common rater are compared as
    raters like these."""

    def of(self, criterion: Criterion) -> Context:
        """The same of another criterion."""
        analysis = replace(self.analysis, criterion=CriterionRef(criterion.id))
        return replace(self, analysis=analysis, criterion=criterion)

    @property
    def level(self) -> Level:
        """The level of measurement of the labels that are compared."""
        scale = self.criterion.scale
        if scale.kind == "number":
            return scale.level if scale.level in {"ordinal", "ratio"} else "interval"
        # An abstention has no place in an order, so with it as a label there is none.
        is_abstention_label = self.analysis.abstain == "label" and scale.abstain is not None
        return "nominal" if is_abstention_label else scale.level

    @property
    def cluster(self) -> str:
        """Name of the resampled clusters; with raters as clusters, items are resampled as well."""
        return message("case") if self.analysis.cluster == "case" else message("item")


@dataclass(frozen=True)
class Group:
    """One group's measure and its estimates."""

    keys: dict[str, str]
    """Column -> value."""
    measure: Measure
    """The number as a measure, for differences."""
    summary: EstimateSummary
    """The number with its intervals."""
    left_out: Mapping[str, float] = field(default_factory=dict)
    """Rater -> the number without them, where raters are the clusters and the number is no sum of
    single ratings."""


def labels_in(context: Context, frame: pl.DataFrame) -> Labels:
    """The labels of the analysis; for numbers and means of sentences those observed."""
    observed = (
        frame.filter(pl.col("state") == "rated").get_column("label").drop_nulls().unique().to_list()
    )
    return labels_of(context.analysis, context.criterion, observed)


def sample_of(context: Context, frame: pl.DataFrame, raters: tuple[str, ...] | None) -> Sample:
    """The group's ratings as codes."""
    analysis, labels = context.analysis, labels_in(context, frame)
    if analysis.spans == "mean":
        if analysis.statistic != "mean":
            raise AnalysisError(
                f"{analysis.name}: spans = 'mean' gives numbers; only the statistic 'mean' takes"
                " them"
            )
        frame, labels = averaged(frame, analysis, labels)
        return encode(frame, replace(analysis, collapse={}), labels, raters)
    return encode(frame, analysis, labels, raters)
