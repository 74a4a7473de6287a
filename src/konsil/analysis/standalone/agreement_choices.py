"""Statistics and weights for a table, chosen by its request; requests that no table allows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from konsil.analysis.agreement import agreement_statistics
from konsil.analysis.agreement.agreement_estimates import weights_of
from konsil.analysis.estimation.own_weights import OwnWeights, Weights, own_weights
from konsil.analysis.standalone.agreement_request import AgreementRequest
from konsil.analysis.tabular.agreement_options import TableOptions
from konsil.analysis.tabular.ratings_table import Table
from konsil.errors import AnalysisError, nearest, option
from konsil.stats.agreement.label_sets import SET_STATISTICS
from konsil.stats.agreement.long_scales.by_name import LONG
from konsil.stats.agreement.registry import STATISTICS
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
    if request.values and request.level == "nominal":
        raise AnalysisError(
            f"{option('values')}: has no effect at the level nominal, which uses no numbers; state"
            f" {option('level', 'interval')}, for instance"
        )
    if request.target is not None and request.compare is None:
        raise AnalysisError(
            f"{option('target')}: has no effect without {option('compare')}, as it states whom"
            " differences are about"
        )
    for name in request.statistics:
        if name in SET_STATISTICS:
            continue
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


def measured_values(table: Table, options: TableOptions) -> int:
    """How many different measured values a table has; 0 where its labels are categories.

    Measured are more than LONG numbers that nobody declared as a scale: of an ordered level, or
    with decimals. Whole numbers of the nominal level may be codes.
    """
    names = table.labels.names
    if options.labels or len(names) <= LONG:
        return 0
    if options.level == "nominal" and not any(_has_decimals(name) for name in names):
        return 0
    return len(names)


def _has_decimals(name: str) -> bool:
    try:
        return not float(name).is_integer()
    except ValueError:
        return False


def not_of_measured_values(
    table: Table, options: TableOptions, request: AgreementRequest
) -> tuple[str, ...]:
    """The usual statistics that are left out, as they count equal labels of measured values.

    An AnalysisError where one was asked for by name, or where none is left.
    """
    n_values, level = measured_values(table, options), options.level
    if not n_values:
        return ()
    usual = agreement_statistics.applicable(level)
    equal = tuple(
        name
        for name in tuple(request.statistics) or usual
        if agreement_statistics.counts_equal_labels(name, level, weights_of_table(request, table))
    )
    if (request.statistics and not set(equal) <= _SHARES) or len(equal) == len(usual):
        refused = [name for name in equal if name not in _SHARES]
        raise AnalysisError(
            f"{options.name}: {', '.join(refused)}: the {n_values:,} different numbers are"
            " measured values, of which almost none are equal; use"
            f" {option('level', 'interval')}, or declare the categories with"
            f" {option('labels', example='[...]')}"
            if level == "nominal"
            else f"{options.name}: {', '.join(refused)}: count equal labels, and the {n_values:,}"
            " different numbers are measured values; use"
            f" {nearest_distance(refused)}, or declare the categories with"
            f" {option('labels', example='[...]')}"
        )
    return () if request.statistics else equal


_SHARES = frozenset({"percent_agreement", "multirater_percent_agreement", "unanimity"})
"""Shares of equal labels are what they are, of measured values too, and given on request."""


def nearest_distance(names: Sequence[str]) -> str:
    """The statistics to use for measured values in place of some that count equal labels.

    >>> nearest_distance(["gwet_ac1"]), nearest_distance(["cohen_kappa"])
    ('gwet_ac2', 'cohen_kappa_quadratic or icc2')
    """
    return "gwet_ac2" if set(names) == {"gwet_ac1"} else "cohen_kappa_quadratic or icc2"


def names_of(
    table: Table, options: TableOptions, request: AgreementRequest
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The statistics of a table, and those that are omitted because raters are not known."""
    labels = table.sample.codes.labels
    has_gaps = bool((labels < 0).any())
    usual = agreement_statistics.applicable(options.level, is_incomplete=has_gaps)
    equal = not_of_measured_values(table, options, request)
    names = tuple(request.statistics) or tuple(name for name in usual if name not in equal)
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
    if not request.statistics and not has_gaps and not equal:
        names = (agreement_statistics.INCOMPLETE["percent_agreement"], *names)
    left_out = tuple(name for name in names if agreement_statistics.needs_raters(name))
    estimable = tuple(name for name in names if name not in left_out)
    if not estimable:
        raise AnalysisError(
            f"{options.name}: {', '.join(left_out)}: need the rater of each label, which this"
            " table does not contain; available without raters:"
            f" {', '.join(n for n in usual if not agreement_statistics.needs_raters(n))}"
        )
    return estimable, left_out


def refuse_idle_weights(
    tables: Sequence[Table], options: TableOptions, request: AgreementRequest
) -> None:
    """Refuse weights that change none of the statistics of some tables."""
    if not request.weights and request.pair_weights == "alike":
        return
    computed: set[str] = set()
    has_pairs = False
    for table in tables:
        names = _names_of_labels(table, options, request)
        of_pairs = {name for name in names if STATISTICS[name].needs == "pairs"}
        has_pairs = has_pairs or (table.has_raters and n_pairs(table) > 1 and bool(of_pairs))
        computed.update(names)
    if request.pair_weights != "alike" and not has_pairs:
        raise AnalysisError(
            f"{options.name}: {option('pair_weights', request.pair_weights)}: has no effect without"
            " a mean over several pairs of raters"
        )
    weights = "" if not request.weights else weights_of_table(request, tables[0])
    if weights and not any(weights_of(name, weights) for name in computed):
        raise AnalysisError(
            f"{options.name}: {option('weights')}: has no effect on {', '.join(sorted(computed))}"
        )


def _names_of_labels(
    table: Table, options: TableOptions, request: AgreementRequest
) -> tuple[str, ...]:
    """The statistics of single labels; those of sets take no weights."""
    names = tuple(name for name in request.statistics if name not in SET_STATISTICS)
    if request.statistics and not names:
        return ()
    return names_of(table, options, replace(request, statistics=names))[0]
