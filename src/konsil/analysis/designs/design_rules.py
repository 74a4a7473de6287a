"""Rules for settings of analyses of designs: times, parts of answers, rater-hours."""

from __future__ import annotations

from collections.abc import Iterator

from konsil.analysis.model.catalogue.known import AGREEMENT, COSTS, PAIRED, PARTS, TIMED
from konsil.analysis.model.options import DesignOptions
from konsil.analysis.model.spec import Analysis


def averaged(a: Analysis) -> bool:
    """Whether judges are held against what a panel says on average.

    >>> settings = {"against": "experts", "consensus": "mean"}
    >>> averaged(Analysis("a", "randolph_kappa", "correct", "judges", **settings))
    True
    """
    has_mean_panel = a.against not in {None, "rest"} and a.consensus == "mean"
    return has_mean_panel and a.statistic in {*AGREEMENT, *PAIRED}


def design_contradictions(a: Analysis) -> Iterator[str]:
    """Each contradiction as 'key: what is wrong'.

    >>> list(design_contradictions(Analysis("a", "seconds", "correct", "experts", by=("answers",))))
    ["by[0]: 'answers' is what is timed; expected a column such as 'instrument' or 'rater'"]
    """
    if a.statistic == "budget_reliability" and not a.options_as(DesignOptions).minutes:
        yield ("minutes: is empty; expected minutes of rating time per answer, such as [2, 5, 10]")
    yield from _settings(a)


def _settings(a: Analysis) -> Iterator[str]:
    for n, column in enumerate(a.by):
        if a.statistic in TIMED and column in {"answers", "span", "task", "item", "case"}:
            yield (
                f"by[{n}]: {column!r} is what is timed; expected a column such as 'instrument' or"
                " 'rater'"
            )
        if a.statistic in {*PARTS, *COSTS} and column in {"instrument", "design", "span"}:
            yield (
                f"by[{n}]: {a.statistic!r} already has a row for whole answers and for each"
                " number of sentences"
            )
    if a.compare and a.statistic in {*PARTS, *COSTS}:
        yield f"compare: {a.statistic!r} already reports the differences from whole answers"
    if a.against is not None:
        yield f"against: {a.statistic!r} does not support this option"
    if a.spans != "each":
        yield (f"spans: {a.statistic!r} uses single sentences; expected 'each', got {a.spans!r}")
    if a.consensus != "none":
        yield f"consensus: {a.statistic!r} does not support this option"
    if a.cluster == "rater" and a.statistic not in TIMED:
        yield f"cluster: {a.statistic!r} does not support this option; expected 'item' or 'case'"
    if a.cluster == "rater" and a.statistic == "median_seconds":
        yield (
            "cluster: 'median_seconds' is not a mean over single tasks; with raters as clusters use"
            " 'geometric_seconds'"
        )
