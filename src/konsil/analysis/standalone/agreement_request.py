"""Request for agreement of a table: columns, statistics, weights and resamples, checked.

`konsil agreement` has its fields as options, konsil.agreement as keywords.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import get_args

from konsil.analysis.agreement import agreement_statistics
from konsil.analysis.agreement.agreement_statistics import PairWeights
from konsil.analysis.estimation.own_weights import OwnWeights, Weights, own_weights
from konsil.analysis.model.spec import Resampling
from konsil.analysis.standalone.flags import BY, COMPARE, CONFIDENCE, MISSING, WHERE, Where
from konsil.analysis.tabular.agreement_options import Layout, Level, TableOptions
from konsil.analysis.tabular.ratings_table import Table
from konsil.analysis.tabular.slices import Slices, as_values
from konsil.errors import AnalysisError, nearest, option
from konsil.records.request import Flag, setting
from konsil.stats.engine.distances import WEIGHTS

LEVELS: tuple[Level, ...] = get_args(Level)

MANY_PAIRS = 300
"""More pairs of raters than this are not given one by one."""

MANY_RANKED = 45
"""With more pairs of raters than this, rank correlations of all pairs take minutes and are computed
on request only."""

RANKED = ("spearman", "kendall_tau_b")


@dataclass(frozen=True, kw_only=True)
class AgreementRequest:
    """How a table of ratings is read, and which agreement is computed of it."""

    layout: Layout | None = setting(
        None,
        Flag(
            by_value={
                "wide": "One row a unit, one column a rater; empty is not rated.",
                "long": "One row a rating, with columns for unit, rater and label.",
                "counts": "One row a unit, one column a label: how many gave it.",
            }
        ),
    )
    unit: str | None = setting(None, Flag("The column of the units.", metavar="C"))
    rater: str | Sequence[str] | None = setting(
        (), Flag("The raters' column; wide: a rater's own, repeatable.", metavar="C")
    )
    label: str | None = setting(
        None, Flag("The column of the labels (long), or of lists of labels.", metavar="C")
    )
    split: str = setting(
        "", Flag("The sign between labels where --label holds several.", metavar="S")
    )
    cluster: str | None = setting(
        None, Flag("The column whose values are resampled together.", metavar="C")
    )
    level: Level = setting("nominal", Flag("The level of measurement."))
    labels: Sequence[str | float] = setting(
        (),
        Flag(
            "All labels of the scale, in order; default: those observed.",
            metavar="a,b,c",
            is_listed=True,
        ),
    )
    abstain: str | None = setting(
        None, Flag("The label that is an abstention and not a value.", metavar="L")
    )
    statistics: Sequence[str] = setting(
        (),
        Flag(
            "A statistic by name, repeatable; default: the usual.", name="statistic", metavar="NAME"
        ),
    )
    weights: str | Mapping[str, Mapping[str, float]] | OwnWeights = setting(
        "", Flag("Weights of partial agreement: linear, ..., or a .csv of your own.", metavar="W")
    )
    pair_weights: PairWeights = setting(
        "alike", Flag("Weight of a pair of raters: equal, or the units it shares.")
    )
    pairs: bool = setting(False, Flag("Print the agreement of each pair of raters, too."))
    where: Where | None = setting(None, WHERE)
    by: str | None = setting(None, BY)
    compare: str | None = setting(None, COMPARE)
    missing: Sequence[str] = setting(("",), MISSING)
    resamples: int = setting(10_000, Flag("Bootstrap draws.", minimum=100))
    confidence: float = setting(0.95, CONFIDENCE)
    seed: int = setting(0, Flag("Seed of the resamples.", is_shown=True))

    @property
    def slices(self) -> Slices:
        """Which rows are used, and how they are grouped."""
        return Slices(as_values(self.where), self.by, self.compare)

    @property
    def resampling(self) -> Resampling:
        """The draws of the bootstrap and the intervals' level."""
        return Resampling(self.resamples, self.confidence)

    @property
    def raters(self) -> tuple[str, ...]:
        """The columns of raters."""
        return (self.rater,) if isinstance(self.rater, str) else tuple(self.rater or ())

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns named."""
        named = (self.unit, self.label, self.cluster, *self.raters, *self.slices.columns)
        return tuple(name for name in named if name is not None)

    def table_options(self) -> TableOptions:
        """How the table is to be read."""
        labels = (f"{v:g}" if isinstance(v, float) else str(v) for v in self.labels)
        return TableOptions(
            self.layout,
            self.unit,
            self.raters,
            self.label,
            self.cluster,
            self.level,
            tuple(labels),
            self.abstain,
            tuple(self.missing),
            split=self.split,
        )


def check_request(request: AgreementRequest) -> None:
    """Refuse unknown levels, statistics and weights, and numbers out of their range.

    No table allows these.
    """
    if any(isinstance(v, str) for v in (request.labels, request.missing, request.statistics)):
        raise AnalysisError("labels, missing and statistics: expected a list, got one text")
    if request.layout not in {None, *get_args(Layout)}:
        valid_layouts = ", ".join(map(repr, get_args(Layout)))
        raise AnalysisError(
            f"layout {request.layout!r} is not one of {valid_layouts}; leave it out to have it"
            " guessed"
        )
    if not isinstance(request.resamples, int) or request.resamples < 100:
        raise AnalysisError(f"resamples: expected at least 100, got {request.resamples}")
    if request.level not in LEVELS:
        raise AnalysisError(
            f"level {request.level!r} is not one of {', '.join(LEVELS)};"
            f" {nearest(request.level, LEVELS)}"
        )
    if not 0.5 <= request.confidence < 1:
        raise AnalysisError(f"confidence: expected from 0.5 to below 1, got {request.confidence:g}")
    for name in request.statistics:
        agreement_statistics.entry(name, request.level, option("statistics", flag="statistic"))
    if isinstance(request.weights, str) and request.weights and request.weights not in WEIGHTS:
        raise AnalysisError(
            f"{option('weights')} {request.weights!r}: {nearest(request.weights, WEIGHTS)}"
        )
    if request.pair_weights not in get_args(PairWeights):
        raise AnalysisError(
            f"{option('pair_weights')} {request.pair_weights!r}: expected 'alike' or 'units'"
        )


def n_pairs(table: Table) -> int:
    """How many pairs of raters a table has."""
    n = len(table.sample.raters)
    return n * (n - 1) // 2


def weights_of_table(request: AgreementRequest, table: Table) -> Weights:
    """The weights by name, or those of the table's labels."""
    weights = request.weights
    if isinstance(weights, str):
        return weights
    return (weights if isinstance(weights, OwnWeights) else own_weights(weights)).of(
        table.labels.names
    )


def has_steps(table: Table, options: TableOptions) -> bool:
    """Whether the steps between labels are known.

    They are for declared labels, or whole numbers without a gap. Of observed numbers with gaps,
    such as 3, 50 and 97 of 100 points, neighbours are no step apart.
    """
    values = table.labels.values
    is_whole = all(float(value).is_integer() for value in values)
    return bool(options.labels) or (is_whole and len(values) == 1 + max(values) - min(values))


def names_of(
    table: Table, options: TableOptions, request: AgreementRequest
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The statistics of a table, and those that are omitted because raters are not known."""
    labels = table.sample.codes.labels
    has_gaps = bool((labels < 0).any())
    usual = agreement_statistics.applicable(options.level, is_incomplete=has_gaps)
    names = tuple(request.statistics) or usual
    if "within_one" in names and not has_steps(table, options):
        if request.statistics:
            raise AnalysisError(
                f"{options.name}: within_one: the labels observed have gaps, so the steps between"
                f" them are not known; declare all labels with {option('labels', example='[...]')}"
            )
        names = tuple(name for name in names if name != "within_one")
    if table.has_raters and not request.statistics and n_pairs(table) > MANY_RANKED:
        names = tuple(name for name in names if name not in RANKED)
    if table.has_raters:
        return names, ()
    if not request.statistics and not has_gaps:
        names = (agreement_statistics.INCOMPLETE["percent_agreement"], *names)
    left_out = tuple(name for name in names if agreement_statistics.needs_raters(name))
    estimable = tuple(name for name in names if name not in left_out)
    if has_gaps and not request.statistics:
        estimable = tuple(name for name in estimable if name not in {"icc1", "icc1k"})
    if not estimable:
        raise AnalysisError(
            f"{options.name}: {', '.join(left_out)}: need to know who gave which"
            " label, and the table does not state it; without raters there are"
            f" {', '.join(n for n in usual if not agreement_statistics.needs_raters(n))}"
        )
    return estimable, left_out
