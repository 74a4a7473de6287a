"""Agreement on several labels in one rating: of the sets of labels, and of each label."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from konsil.analysis.agreement.agreement_estimates import JointSample
from konsil.analysis.standalone.agreement_request import AgreementRequest
from konsil.analysis.standalone.agreement_result import Agreement, NamedEstimate
from konsil.analysis.standalone.overlaps import overlaps_of
from konsil.analysis.standalone.table_agreement import Estimated, estimate_table, rater_counts
from konsil.analysis.table.labels import Labels
from konsil.analysis.tabular.agreement_options import TableOptions
from konsil.analysis.tabular.ratings_table import Table
from konsil.errors import AnalysisError, option
from konsil.errors.message import message
from konsil.stats.agreement.label_sets import SET_STATISTICS, Members
from konsil.stats.agreement.long_scales.disagreement import MOST_CELLS
from konsil.stats.engine.contract import Codes, Estimate
from konsil.stats.engine.parts import Compute, in_this_process
from konsil.stats.engine.streams import stream_key

MOST_LABELS = 50
"""With more labels than this, agreement on each label is computed on request only."""

_PRESENCE = Labels(("not given", "given"), (0.0, 1.0), "nominal")
LABEL = "label"
"""What the groups of a result are whose ratings are sets."""


def estimate_any(
    table: Table,
    options: TableOptions,
    request: AgreementRequest,
    compute: Compute = in_this_process,
) -> Agreement:
    """All statistics of a table of single labels, or of sets of labels."""
    of_sets = [name for name in request.statistics if name in SET_STATISTICS]
    if table.members is not None:
        return _estimate_sets(table, table.members, options, request, compute)
    if of_sets:
        raise AnalysisError(
            f"{options.name}: {', '.join(of_sets)}: compare sets of labels, and here a rating is"
            f" one label; state what is between the labels of a cell with {option('split')}"
        )
    return estimate_table(table, options, request, compute)


def _estimate_sets(
    table: Table,
    members: Members,
    options: TableOptions,
    request: AgreementRequest,
    compute: Compute,
) -> Agreement:
    """Alpha of the sets, and the usual statistics of each label: given or not given."""
    _refuse_options(options, request)
    requested = tuple(name for name in request.statistics if name in SET_STATISTICS)
    of_labels = tuple(name for name in request.statistics if name not in SET_STATISTICS)
    names = tuple(SET_STATISTICS) if not request.statistics else requested
    estimated = Estimated()
    for name in names:
        _add_alpha(estimated, name, table, members, options, request)
    is_each = not request.statistics or bool(of_labels)
    warnings = [*table.warnings, *estimated.with_names(estimated.notes)]
    if is_each and len(table.labels.names) > MOST_LABELS and not of_labels:
        is_each = False
        warnings.append(
            message(
                "Agreement on each label is computed on request only ({option}): there are more"
                " than {most:,} labels.",
                message_id="table.each_label_not_computed",
                most=MOST_LABELS,
                option=option("statistics", flag="statistic", example="[...]"),
            )
        )
    if request.pairs and not is_each:
        raise AnalysisError(
            f"{options.name}: {option('pairs')}: pairs of raters are compared label by label, and"
            " no statistic of single labels is computed"
        )
    of_label = replace(request, statistics=of_labels)
    groups = {
        label: _without(
            estimate_table(_presence(table, members, place), options, of_label, compute), warnings
        )
        for place, label in enumerate(table.labels.names)
        if is_each
    }
    return Agreement(
        n_units=table.sample.n_units,
        n_raters=table.sample.n_raters,
        n_ratings=table.sample.n_ratings,
        n_abstained=table.n_abstained,
        statistics=tuple(estimated.statistics),
        companions=tuple(estimated.companions),
        warnings=tuple(warnings),
        labels=table.labels.names,
        confidence=request.confidence,
        pair_weights=request.pair_weights,
        raters=rater_counts(table),
        overlaps=overlaps_of(table.sample),
        by=LABEL if groups else "",
        groups=groups,
    )


def _refuse_options(options: TableOptions, request: AgreementRequest) -> None:
    """Refuse what has no meaning for sets of labels."""
    if request.weights:
        raise AnalysisError(
            f"{options.name}: {option('weights')}: weights are of two labels, and cells have"
            " several; sets of labels have the distances MASI and Jaccard"
        )
    if request.compare is not None:
        raise AnalysisError(
            f"{options.name}: {option('compare')}: differences of agreement on sets of labels are"
            f" not computed; expected {option('by')}"
        )


def _add_alpha(
    estimated: Estimated,
    name: str,
    table: Table,
    members: Members,
    options: TableOptions,
    request: AgreementRequest,
) -> None:
    """Estimate alpha of the sets with one distance; without a value for too many sets."""
    if len(members) ** 2 > MOST_CELLS:
        reason = message(
            "not computed: {n:,} different sets of labels; expected at most {most:,}",
            message_id="undefined.too_many_sets",
            n=len(members),
            most=int(MOST_CELLS**0.5),
        )
        blank = Estimate(float("nan"), level=request.confidence, reason=reason)
        estimated.statistics.append(NamedEstimate(name, blank))
        return
    joint = JointSample(
        table.sample,
        "nominal",
        stream_key(request.seed, "resamples"),
        request.resampling,
        options.cluster or "unit",
        tuple(SET_STATISTICS[name].similarity(members)),
    )
    estimated.add(joint, {"krippendorff_alpha": name})


def _presence(table: Table, members: Members, place: int) -> Table:
    """The same ratings as one label given or not."""
    codes = table.sample.codes
    given = members[codes.labels, place].astype(np.int8)
    presence = Codes(np.where(codes.labels < 0, np.int8(-1), given), codes.clusters, 2)
    sample = replace(table.sample, codes=presence)
    return Table(sample, _PRESENCE, table.abstained, ())


def _without(result: Agreement, warnings: list[str]) -> Agreement:
    """A result without the warnings that are stated already."""
    return replace(result, warnings=tuple(w for w in result.warnings if w not in warnings))
