"""All agreement statistics of one table of ratings, and those of every two of its raters."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations

import numpy as np

from konsil.analysis.agreement import agreement_estimates, agreement_statistics
from konsil.analysis.agreement.textbook import closed_form
from konsil.analysis.estimation.estimate import sentence
from konsil.analysis.estimation.ranges import within_statistic
from konsil.analysis.model.interval_methods import has
from konsil.analysis.model.sample import Sample
from konsil.analysis.standalone.agreement_choices import (
    MANY_PAIRS,
    RANKED,
    has_steps,
    n_pairs,
    names_of,
    not_of_measured_values,
    weights_of_table,
)
from konsil.analysis.standalone.agreement_request import AgreementRequest
from konsil.analysis.standalone.agreement_result import (
    Agreement,
    NamedEstimate,
    PairResult,
    RaterCount,
)
from konsil.analysis.standalone.overlaps import overlaps_of, uneven_overlaps
from konsil.analysis.tabular.agreement_options import TableOptions
from konsil.analysis.tabular.ratings_table import Table
from konsil.errors import AnalysisError, option
from konsil.errors.message import listed, message
from konsil.stats.agreement.registry import STATISTICS
from konsil.stats.engine.contract import IntArray
from konsil.stats.engine.parts import Compute, in_this_process
from konsil.stats.engine.renumbering import renumbered
from konsil.stats.engine.streams import stream_key

_COMMON_SENTENCES = {
    "widths-differ": "the BCa and the cluster-robust Wald CI differ by more than 15% in width",
    "undefined-draws": ("not estimable in some resamples, which are excluded from the CI"),
    "no-variation": (
        "all resamples gave the same value; a CI without width does not indicate certainty"
    ),
}
"""One sentence for all statistics, of cautions whose own sentence differs between them."""


def estimate_table(
    table: Table,
    options: TableOptions,
    request: AgreementRequest,
    compute: Compute = in_this_process,
) -> Agreement:
    """All statistics of one table."""
    sample = table.sample
    names, left_out = names_of(table, options, request)
    notes: dict[str, list[str]] = {}
    if left_out:
        notes[
            message(
                (
                    "Raters are not identified; statistics that need raters are not computed"
                    " ({names})."
                ),
                message_id="table.raters_not_known",
                names=listed(left_out, end="{some}, {last}"),
            )
        ] = []
    if equal := not_of_measured_values(table, options, request):
        notes[
            message(
                "The {n:,} different numbers are taken for measured values: statistics that count"
                " equal labels are not computed ({names}); declare the scale with {labels} if the"
                " numbers are categories.",
                message_id="table.measured_values",
                n=len(table.labels.names),
                names=listed(equal, end="{some}, {last}"),
                labels=option("labels", example="[...]"),
            )
        ] = []
    if (
        not request.statistics
        and "within_one" in agreement_statistics.applicable(options.level)
        and not has_steps(table, options)
    ):
        notes[
            message(
                (
                    "Agreement to within one category is not computed: the observed labels have"
                    " gaps, so the steps between them are unknown; declare all labels with"
                    " {labels}."
                ),
                message_id="table.steps_not_known",
                labels=option("labels", example="[...]"),
            )
        ] = []
        if options.level == "ordinal":
            notes[
                message(
                    (
                        "Weights count the steps between the observed labels, regardless of"
                        " their numbers; declare all labels with {labels} if some were never"
                        " used, or use {level} if the numbers count."
                    ),
                    message_id="table.steps_observed",
                    labels=option("labels", example="[...]"),
                    level=option("level", "interval"),
                )
            ] = []
    if (
        not request.statistics
        and RANKED[0] in agreement_statistics.applicable(options.level)
        and RANKED[0] not in names + left_out
    ):
        notes[
            message(
                "Spearman's rho and Kendall's tau-b of {n:,} pairs of raters are computed on"
                " request only ({option}).",
                message_id="table.ranks_not_computed",
                n=n_pairs(table),
                option=option("statistics", flag="statistic"),
            )
        ] = []
    joint = agreement_estimates.JointSample(
        sample,
        options.level,
        stream_key(request.seed, "resamples"),
        request.resampling,
        options.cluster or "unit",
        weights_of_table(request, table),
        request.pair_weights,
    )
    estimated = Estimated()
    estimated.add(joint, {name: name for name in names}, compute)
    notes |= estimated.notes
    if table.constant is not None:
        notes[
            message(
                (
                    "Every rating is {label}, so chance-corrected agreement is not estimable;"
                    " declare the scale with {labels}."
                ),
                message_id="table.all_alike",
                label=repr(table.constant),
                labels=option("labels", example="[...]"),
            )
        ] = []
    if not options.labels and options.level == "nominal" and _looks_ordered(table.labels.names):
        notes[
            "the labels are numbers but were treated as nominal; use"
            f" {option('level', 'ordinal')} or interval if their order matters"
        ] = []
    overlaps = overlaps_of(sample) if table.has_raters else ()
    notes |= {text: [] for text in uneven_overlaps(overlaps, request.pair_weights, names)}
    return Agreement(
        n_units=sample.n_units,
        n_raters=sample.n_raters if table.has_raters else None,
        n_ratings=sample.n_ratings,
        n_abstained=table.n_abstained,
        statistics=tuple(estimated.statistics),
        companions=tuple(estimated.companions),
        warnings=(*table.warnings, *estimated.with_names(notes)),
        labels=table.labels.names,
        level=options.level,
        confidence=request.confidence,
        pair_weights=request.pair_weights,
        raters=rater_counts(table),
        overlaps=overlaps,
        pairs=_pairs(table, options, request, joint, compute) if request.pairs else (),
    )


@dataclass
class Estimated:
    """Estimates of one sample, with what a reader must know of them."""

    statistics: list[NamedEstimate] = field(default_factory=list)
    """The headline estimates."""
    companions: list[NamedEstimate] = field(default_factory=list)
    """The same numbers with other intervals."""
    notes: dict[str, list[str]] = field(default_factory=dict)
    """Sentence -> the statistics that it is about: one that many share is stated once."""
    cluster_notes: set[str] = field(default_factory=set)
    """Sentences about the number of clusters."""

    def add(
        self,
        joint: agreement_estimates.JointSample,
        title_of: Mapping[str, str],
        compute: Compute = in_this_process,
    ) -> None:
        """Estimate statistics of a sample, with all their intervals.

        `title_of`: statistic of the registry -> its name in the result.
        """
        everything = agreement_estimates.estimate_in_parts(joint, list(title_of), compute)
        for name, summary in everything.items():
            title, headline = title_of[name], summary.headline
            weights = agreement_estimates.weights_of(name, joint.weights)
            textbook = closed_form(joint.sample, name, joint.level, headline, weights=weights)
            others = (*summary.companions, *([textbook] if textbook is not None else []))
            within = (within_statistic(e, name, joint.weights) for e in (headline, *others))
            named, *companions = (NamedEstimate(title, estimate) for estimate in within)
            self.statistics.append(named)
            self.companions.extend(companions)
            for note in summary.notes:
                self.notes.setdefault(note, []).append(title)
            for caution in summary.cautions:
                text = _COMMON_SENTENCES.get(caution.code) or sentence(caution)
                self.notes.setdefault(text, []).append(title)
                if caution.code == "few-clusters":
                    self.cluster_notes.add(text)

    def with_names(self, notes: Mapping[str, Sequence[str]]) -> Iterator[str]:
        """Sentences with the names of their statistics before them.

        Where all resampled statistics have the same number of clusters, the note on it needs no
        names; elsewhere each number is printed with its statistics.
        """
        n_resampled = sum(has(s.estimate.method, "bootstrap") for s in self.statistics)
        widest = n_resampled if len(self.cluster_notes) == 1 else math.inf
        for text, names in notes.items():
            is_about_all = text in self.cluster_notes and len(names) >= widest
            yield f"{', '.join(names)}: {text}" if names and not is_about_all else text


def rater_counts(table: Table) -> tuple[RaterCount, ...]:
    """How much each rater did; nothing where raters are not known."""
    if not table.has_raters:
        return ()
    n_ratings = (table.sample.codes.labels >= 0).sum(axis=0)
    return tuple(
        RaterCount(name, int(n), table.abstained.get(name, 0))
        for name, n in zip(table.sample.raters, n_ratings, strict=True)
    )


def _pairs(
    table: Table,
    options: TableOptions,
    request: AgreementRequest,
    joint: agreement_estimates.JointSample,
    compute: Compute,
) -> tuple[PairResult, ...]:
    """Every two raters by themselves, with all of their labels, as in a study.

    Statistics that count labels, such as Fleiss' kappa, use those of units that only one of the
    two labelled, too.
    """
    if not table.has_raters:
        raise AnalysisError(f"{options.name}: {option('pairs')}: raters are not identified")
    sample = table.sample
    n = len(sample.raters)
    if n_pairs(table) > MANY_PAIRS:
        raise AnalysisError(
            f"{options.name}: {option('pairs')}: {n:,} raters make {n_pairs(table):,} pairs;"
            f" expected at most {MANY_PAIRS}; choose raters with {option('rater')} (wide) or"
            f" {option('where')}"
        )
    names = [
        n
        for n in names_of(table, options, request)[0]
        if STATISTICS[n].needs in {"pairs", "counts"}
    ]
    names = [n for n in names if n not in {*agreement_statistics.INCOMPLETE.values(), "unanimity"}]
    parts = [_Pair(a, b, tuple(names)) for a, b in combinations(range(n), 2)]
    return tuple(compute(_pair_result, joint, parts))


@dataclass(frozen=True, slots=True)
class _Pair:
    """Two raters, and the statistics of them."""

    first: int
    second: int
    names: tuple[str, ...]


def _pair_result(joint: agreement_estimates.JointSample, part: _Pair) -> PairResult:
    sample, a, b = joint.sample, part.first, part.second
    is_labelled = sample.codes.labels[:, [a, b]] >= 0
    n_both = int(is_labelled.all(axis=1).sum())
    summaries = {}
    if n_both:
        units = np.flatnonzero(is_labelled.any(axis=1))
        # Two raters are one pair, which has no weight.
        of_two = replace(joint, sample=_of_two(sample, a, b, units), pair_weights="alike")
        summaries = of_two.estimates(part.names)
    statistics = tuple(
        NamedEstimate(name, within_statistic(summary.headline, name, joint.weights))
        for name, summary in summaries.items()
    )
    return PairResult((sample.raters[a], sample.raters[b]), n_both, statistics)


def _of_two(sample: Sample, a: int, b: int, units: IntArray) -> Sample:
    used, clusters = renumbered(sample.codes.clusters[units])
    labels = sample.codes.labels[units][:, [a, b]]
    codes = replace(sample.codes, labels=labels, clusters=clusters)
    names = tuple(sample.units[unit] for unit in units)
    return Sample(
        codes, (sample.raters[a], sample.raters[b]), names, tuple(sample.clusters[c] for c in used)
    )


def _looks_ordered(labels: Sequence[str]) -> bool:
    return len(labels) > 2 and all(v.lstrip("-").replace(".", "", 1).isdigit() for v in labels)
