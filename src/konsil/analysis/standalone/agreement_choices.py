"""Statistics and weights for a table, chosen by its request; requests that no table allows."""

from __future__ import annotations

from konsil.analysis.agreement import agreement_statistics
from konsil.analysis.estimation.own_weights import OwnWeights, Weights, own_weights
from konsil.analysis.standalone.agreement_request import AgreementRequest
from konsil.analysis.tabular.agreement_options import TableOptions
from konsil.analysis.tabular.ratings_table import Table
from konsil.errors import AnalysisError, nearest, option
from konsil.stats.engine.distances import WEIGHTS

MANY_PAIRS = 300
"""More pairs of raters than this are not given one by one."""


MANY_RANKED = 45
"""With more pairs of raters than this, rank correlations of all pairs take minutes and are computed
on request only."""


RANKED = ("spearman", "kendall_tau_b")


def check_request(request: AgreementRequest) -> None:
    """Refuse unknown statistics and weights, and numbers out of their range.

    No table allows these.
    """
    if any(isinstance(v, str) for v in (request.labels, request.missing, request.statistics)):
        raise AnalysisError("labels, missing and statistics: expected a list, got a single text")
    if not isinstance(request.resamples, int) or request.resamples < 100:
        raise AnalysisError(f"resamples: expected at least 100, got {request.resamples}")
    if not 0.5 <= request.confidence < 1:
        raise AnalysisError(f"confidence: expected from 0.5 to below 1, got {request.confidence:g}")
    for name in request.statistics:
        agreement_statistics.entry(name, request.level, option("statistics", flag="statistic"))
    if isinstance(request.weights, str) and request.weights and request.weights not in WEIGHTS:
        raise AnalysisError(
            f"{option('weights')} {request.weights!r}: {nearest(request.weights, WEIGHTS)}"
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
            f"{options.name}: {', '.join(left_out)}: need the rater of each label, which this"
            " table does not contain; available without raters:"
            f" {', '.join(n for n in usual if not agreement_statistics.needs_raters(n))}"
        )
    return estimable, left_out
