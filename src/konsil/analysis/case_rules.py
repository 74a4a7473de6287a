"""What the settings of an analysis of cases in several versions must say, and what they must not say together."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from konsil.analysis.catalogue import CASES, DEGRADATION
from konsil.analysis.spec import Analysis


def clustered_by_case(analysis: Analysis) -> Analysis:
    """The analysis with cases as clusters, where its statistic is about cases: versions of one case are no items apart.

    >>> clustered_by_case(Analysis("a", "stability", "precision", "experts")).cluster
    'case'
    """
    return replace(analysis, cluster="case") if analysis.statistic in CASES else analysis


def case_contradictions(a: Analysis) -> Iterator[str]:
    """Each contradiction as 'key: what is wrong'.

    >>> list(case_contradictions(Analysis("a", "stability", "precision", "experts")))
    ["levels: is empty; 'stability' needs the values of the items' stratum 'level', from all the information down"]
    """
    if a.denominator != "cases" and a.statistic != "monotonicity_violation":
        yield f"denominator: belongs to the statistic 'monotonicity_violation', not to {a.statistic!r}"
    if a.levels and a.statistic not in CASES:
        yield f"levels: belongs to statistics of cases in several versions, not to {a.statistic!r}"
    if a.statistic not in CASES:
        return
    if a.statistic in DEGRADATION:
        yield from _levels(a)
    if a.cluster == "rater":
        yield f"cluster: {a.statistic!r} resamples cases; expected 'case'"


def _levels(a: Analysis) -> Iterator[str]:
    if not a.levels:
        yield (
            f"levels: is empty; {a.statistic!r} needs the values of the items' stratum 'level', from all the"
            " information down"
        )
    elif len(a.levels) < 2 or len(set(a.levels)) < len(a.levels):
        yield f"levels: expected two or more different values, got {list(a.levels)}"
    if "level" in a.by:
        yield f"by: {a.statistic!r} is about all levels at once and has no groups of 'level'"
    if a.against is not None:
        yield f"against: {a.statistic!r} has no such version"
