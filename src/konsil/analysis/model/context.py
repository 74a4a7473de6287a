"""What all groups of an analysis share."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from konsil.analysis.model.options import CriterionRef
from konsil.analysis.model.spec import Analysis, Resampling
from konsil.errors.message import message
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
    has_known_raters: bool = True
    """Whether it is known which ratings are of the same rater."""
    characteristics: frozenset[str] = frozenset()
    """The characteristics of raters that the protocol defines."""
    is_blinded: bool = False
    """Whether systems and judges have blinding codes."""
    effective_raters: float = math.nan
    """The effective number of people who rated; nan where the target does not rest on it."""
    panel_target: RatersTarget | None = None
    """The target that a panel of people has with which raters are compared; None without one."""

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
