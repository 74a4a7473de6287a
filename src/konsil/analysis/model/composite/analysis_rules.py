"""What an analysis can ask of a composite score."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from konsil.analysis.model.catalogue.known import SCORED, statistic_of
from konsil.analysis.model.spec import Analysis

_OF_LABELS = ("mismatch", "hallucination")
"""Statistics whose further criteria are read as labels, not as numbers."""

_RECODING = ("collapse", "labels")


def scored_problems(analysis: Analysis, scores: Collection[str]) -> Iterator[str]:
    """What an analysis cannot ask of the scores among its criteria, as 'key: what is wrong'.

    >>> list(scored_problems(Analysis("a", "cohen_kappa", "overall", "experts"), ["overall"]))
    ["criterion: 'overall' is a composite score, and 'cohen_kappa' is of labels; expected a criterion"]
    """  # noqa: E501
    if not statistic_of(analysis.statistic).family:
        return
    for name in analysis.criteria:
        if name in scores and (
            analysis.statistic not in SCORED or analysis.statistic in _OF_LABELS
        ):
            yield (
                f"criteria: {name!r} is a composite score, and {analysis.statistic!r} takes labels"
                " here; expected a criterion"
            )
    if analysis.criterion not in scores:
        return
    if analysis.statistic not in SCORED:
        yield (
            f"criterion: {analysis.criterion!r} is a composite score, and {analysis.statistic!r} is"
            " of labels; expected a criterion"
        )
        return
    for key in _RECODING:
        if getattr(analysis, key):
            yield f"{key}: {analysis.criterion!r} is a composite score and has no labels to recode"
    if analysis.abstain == "label":
        yield f"abstain: {analysis.criterion!r} is a composite score; abstentions are missing in it"
    if analysis.consensus == "majority":
        yield (
            f"consensus: {analysis.criterion!r} is a composite score and has no majority; expected"
            " 'mean' or 'none'"
        )
    if analysis.against is not None and statistic_of(analysis.statistic).is_of_two_raters:
        yield (
            f"against: {analysis.criterion!r} is a composite score, and a panel has no majority of"
            " it; expected none"
        )
