"""An analysis' labels and their numbers: declared after collapsing, never only those observed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from konsil.analysis.model.catalogue.known import statistic_of
from konsil.analysis.model.options import AgreementOptions
from konsil.analysis.model.spec import Analysis
from konsil.analysis.table.pair_labels import reversed_codes
from konsil.errors import AnalysisError
from konsil.instrument import Criterion, Scale, number_word, places, rise
from konsil.records.numerals import own_numbers

_UNSPACED = ("", "unweighted", "ordinal")
"""Weights that no numbers enter."""


@dataclass(frozen=True)
class Labels:
    """The labels an analysis counts, in order, with their numbers."""

    names: tuple[str, ...]
    """Labels after collapsing."""
    values: tuple[float, ...]
    """Their numbers, rising."""
    level: str
    "Level of measurement."
    abstain: str | None = None
    """The label that an abstention counts as, where it counts as one."""
    reverse: tuple[int, ...] | None = None
    """Of comparisons: the code that says the same as each one with the two sides exchanged; None
    where none does."""

    def codes(self) -> dict[str, int]:
        """Label -> its integer."""
        return {name: n for n, name in enumerate(self.names)}


def labels_of(analysis: Analysis, criterion: Criterion, observed: Sequence[str] = ()) -> Labels:
    """Decide the labels and their numbers: declared after collapsing, never only those observed."""
    scale = criterion.scale
    if scale.kind == "number":
        level = scale.level if scale.level in {"ordinal", "ratio"} else "interval"
        # Where every number is missing there is one that nobody gave, so that statistics are
        # undefined by their own rules.
        return replace(numeric_labels(observed or ("0",)), level=level)
    if scale.kind == "text":
        raise AnalysisError(
            f"{analysis.name}: criterion {criterion.id!r} is a free text; no statistic applies"
            " to it"
        )
    names, numbers = counted_labels(analysis, scale)
    is_turned = criterion.scope == "pair" and analysis.mode == "valid"
    reverse = reversed_codes(criterion, analysis.collapse, names) if is_turned else None
    if analysis.abstain == "label" and scale.abstain is not None:
        if reverse is not None:
            reverse = (*reverse, len(names))
        return Labels(
            (*names, scale.abstain), (*numbers, max(numbers) + 1), "nominal", scale.abstain, reverse
        )
    # An abstention that is collapsed into a label counts as that label: the bounds of what it could
    # have been.
    counted = analysis.collapse.get(scale.abstain) if scale.abstain is not None else None
    return Labels(names, numbers, scale.level, counted if counted in names else None, reverse)


def counted_labels(analysis: Analysis, scale: Scale) -> tuple[tuple[str, ...], tuple[float, ...]]:
    """The labels of a choice after collapsing, and their numbers.

    Raises AnalysisError where the analysis needs numbers that nobody knows, or that fall.
    """
    collapsed = [analysis.collapse.get(label, label) for label in scale.labels]
    order = analysis.labels or tuple(dict.fromkeys(collapsed))
    numbers = scale.numbers_of(order, collapsed)
    if not reads_numbers(analysis, scale.level):
        return order, numbers or places(order)
    if numbers is None:
        words = [
            name
            for name, own_values in zip(order, own_numbers(order), strict=True)
            if own_values is None
        ]
        raise AnalysisError(
            f"{analysis.name}: level {scale.level}: {', '.join(map(repr, words))} have no numbers;"
            " combine labels into labels that are numbers or have one in `values`"
        )
    if scale.level != "nominal" and not rise(numbers):
        raise AnalysisError(
            f"{analysis.name}: level {scale.level}: the labels count as"
            f" {', '.join(map(number_word, numbers))}; expected labels whose numbers increase"
        )
    return order, numbers


def reads_numbers(analysis: Analysis, level: str) -> bool:
    """Whether an analysis depends on the labels' numbers at a level of measurement.

    Means do, and agreement by distances at level interval and ratio; statistics of ranks, of
    categories and of the steps between ordinal labels do not.
    """
    statistic = statistic_of(analysis.statistic)
    if statistic.family == "cases" or statistic.label_numbers == "always":
        return True
    if "mean" in (analysis.consensus, analysis.spans):
        return statistic.family != "pairs"
    weights = analysis.options.weights if isinstance(analysis.options, AgreementOptions) else ""
    has_distances = statistic.label_numbers == "distances" or weights not in _UNSPACED
    return has_distances and level in {"interval", "ratio"}


def numeric_labels(observed: Sequence[str]) -> Labels:
    """Numbers are their own labels: the distinct values, rising."""
    distinct = sorted({float(v) for v in observed})
    return Labels(tuple(number_word(v) for v in distinct), tuple(distinct), "interval")
