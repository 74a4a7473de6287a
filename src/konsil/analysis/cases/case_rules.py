"""Rules for the settings of analyses of cases with several versions, alone and together."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

from konsil.analysis.model.catalogue.known import CASES, statistic_of
from konsil.analysis.model.composite.definition import ends_of
from konsil.analysis.model.options import CaseOptions, CriterionRef, keys_of
from konsil.analysis.model.spec import Analysis
from konsil.instrument import Criterion

_DEFAULTS = CaseOptions()
NAMING = (CriterionRef("reasoning_names"), CriterionRef("answer_names"))
"""The criteria of a mismatch, where the analysis does not name others."""


def with_case_defaults(analysis: Analysis) -> Analysis:
    """The analysis with cases as clusters and its implied criteria.

    An analysis whose statistic is not about cases is returned as it is.

    >>> analysis = Analysis("a", "mismatch", "precision", "experts", against="detector")
    >>> with_case_defaults(analysis).criteria
    ('reasoning_names', 'answer_names')
    """
    if analysis.statistic not in CASES:
        return analysis
    options = analysis.options_as(CaseOptions)
    if analysis.statistic == "mismatch" and not options.criteria:
        options = replace(options, criteria=NAMING)
    return replace(analysis, cluster="case", options=options)


def implied(a: Analysis) -> tuple[str, ...]:
    """Columns of which every group is told by itself though `by` does not name them."""
    row_of = statistic_of(a.statistic).row_of
    return (row_of,) if row_of else ()


def case_contradictions(a: Analysis) -> Iterator[str]:
    """Each contradiction as 'key: what is wrong'.

    >>> list(case_contradictions(Analysis("a", "stability", "precision", "experts")))
    ["levels: is empty; 'stability' needs the values of the items' characteristic 'level', from full to least information"]
    """  # noqa: E501
    if statistic_of(a.statistic).takes("levels"):
        yield from _levels(a)
    yield from _panels(a)
    yield from _criteria(a)


def threshold_problems(a: Analysis, criterion: Criterion) -> Iterator[str]:
    """Thresholds that do not part the scores of the criterion, as 'key: what is wrong'.

    The defaults are made for scores from 0 to 1; on every other scale a threshold within it must be
    stated.

    >>> from konsil.instrument import Scale
    >>> options = CaseOptions(correct=75)
    >>> a = Analysis("a", "accuracy", "precision", "experts", options=options)
    >>> scale = Scale(("0", "1"), level="interval")
    >>> list(threshold_problems(a, Criterion("precision", "?", scale)))
    ["correct: 75 is above the highest number of the scale of 'precision', 1"]
    """
    low, high = _ends(criterion)
    for key, value in _thresholds(a).items():
        if value == getattr(_DEFAULTS, key) and not (low >= 0 and high <= 1):
            yield (
                f"{key}: {value:g}, the default, applies to scores from 0 to 1, but the scale of"
                f" {criterion.id!r} {_from_to(low, high)}; state a threshold within it"
            )
        elif value > high:
            yield (
                f"{key}: {value:g} is above the highest number of the scale of {criterion.id!r},"
                f" {high:g}"
            )
        elif value < low:
            yield (
                f"{key}: {value:g} is below the lowest number of the scale of {criterion.id!r},"
                f" {low:g}"
            )
        elif value == (high if key == "failure" else low):
            yield f"{key}: every score on the scale of {criterion.id!r} reaches {value:g}"


def _thresholds(a: Analysis) -> dict[str, float]:
    """The thresholds that an analysis' statistic uses."""
    keys = statistic_of(a.statistic).keys & {"correct", "failure", "approve"}
    return {key: getattr(a.options, key) for key in keys_of(CaseOptions) if key in keys}


def _ends(criterion: Criterion) -> tuple[float, float]:
    """The lowest and the highest number of a criterion's scale.

    Infinite where the scale has no such end.
    """
    low, high = ends_of(criterion.scale)
    return (-math.inf if low is None else low), (math.inf if high is None else high)


def _from_to(low: float, high: float) -> str:
    return (
        f"goes from {low:g} to {high:g}"
        if math.isfinite(low) and math.isfinite(high)
        else "has no 'low' and 'high'"
    )


def _levels(a: Analysis) -> Iterator[str]:
    levels = a.options_as(CaseOptions).levels
    if not levels:
        yield (
            f"levels: is empty; {a.statistic!r} needs the values of the items' characteristic"
            " 'level', from full to least information"
        )
    elif len(levels) < 2 or len(set(levels)) < len(levels):
        yield f"levels: expected two or more different values, got {list(levels)}"


def _panels(a: Analysis) -> Iterator[str]:
    if a.against == a.raters:
        yield f"against: {a.against!r} is the panel itself"
    limits = _thresholds(a)
    if limits.keys() >= {"failure", "correct"} and not limits["failure"] < limits["correct"]:
        yield f"failure: {limits['failure']:g} is not below correct = {limits['correct']:g}"


def _criteria(a: Analysis) -> Iterator[str]:
    needed = statistic_of(a.statistic).criteria
    is_stated = needed is not None and bool(a.criteria or not needed.has_default)
    if needed is not None and is_stated and len(a.criteria) != needed.n:
        yield f"criteria: expected {needed.n} ({needed.text}), got {list(a.criteria)}"
    if a.criterion in a.criteria or len(set(a.criteria)) < len(a.criteria):
        yield "criteria: a criterion is named twice"
