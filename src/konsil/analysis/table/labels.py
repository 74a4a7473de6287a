"""An analysis' labels and their numbers: declared after collapsing, never only those observed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from konsil.analysis.model.spec import Analysis
from konsil.analysis.table.pair_labels import reversed_codes
from konsil.errors import AnalysisError
from konsil.instrument import Criterion, number_word


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
    collapsed = [analysis.collapse.get(label, label) for label in scale.labels]
    order = list(analysis.labels) or list(dict.fromkeys(collapsed))
    numbers = _numbers(order, collapsed, scale.numbers())
    names = tuple(order)
    is_turned = criterion.scope == "pair" and analysis.mode == "valid"
    reverse = reversed_codes(criterion, analysis.collapse, names) if is_turned else None
    if analysis.abstain == "label" and scale.abstain is not None:
        if reverse is not None:
            reverse = (*reverse, len(names))
        return Labels(
            (*names, scale.abstain), (*numbers, numbers[-1] + 1), "nominal", scale.abstain, reverse
        )
    # An abstention that is collapsed into a label counts as that label: the bounds of what it could
    # have been.
    counted = analysis.collapse.get(scale.abstain) if scale.abstain is not None else None
    return Labels(names, numbers, scale.level, counted if counted in names else None, reverse)


def _numbers(
    order: Sequence[str], collapsed: Sequence[str], values: Sequence[float]
) -> tuple[float, ...]:
    """Keep a collapsed label's number where it has one of its own; otherwise count 0, 1, 2, ..."""
    if list(order) == list(collapsed):
        return tuple(values)
    return tuple(float(n) for n in range(len(order)))


def numeric_labels(observed: Sequence[str]) -> Labels:
    """Numbers are their own labels: the distinct values, rising."""
    distinct = sorted({float(v) for v in observed})
    return Labels(tuple(number_word(v) for v in distinct), tuple(distinct), "interval")
