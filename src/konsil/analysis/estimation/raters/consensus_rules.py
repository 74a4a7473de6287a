"""Analyses that compare raters with a majority or a mean of a panel, and with which of them."""

from __future__ import annotations

from konsil.analysis.model.catalogue.known import statistic_of
from konsil.analysis.model.spec import Analysis

SMALLEST_PANEL = 3
"""Raters of a panel of which two can have a majority that the third one is compared with."""


def averaged(a: Analysis) -> bool:
    """Whether judges are compared with the label nearest to a panel's mean.

    >>> settings = {"against": "experts", "consensus": "mean"}
    >>> averaged(Analysis("a", "randolph_kappa", "correct", "judges", **settings))
    True
    """
    has_mean_panel = a.against not in {None, "rest"} and a.consensus == "mean"
    return has_mean_panel and statistic_of(a.statistic).is_among_raters


def leaves_one_out(a: Analysis) -> bool:
    """Whether judges are compared with leave-one-out majorities of a panel.

    Each rater of the panel is left out in turn; judge and rater are compared with the majority of
    the others. In paper mode it is the majority of the full panel.

    >>> leaves_one_out(Analysis("a", "cohen_kappa", "correct", "judges", against="experts"))
    True
    >>> leaves_one_out(Analysis("a", "approval", "correct", "judges", against="experts"))
    False
    """
    has_panel = a.against not in {None, "rest"} and a.consensus == "none"
    return has_panel and statistic_of(a.statistic).is_among_raters


def needs_majority(a: Analysis) -> bool:
    """Whether any majority of a panel enters the analysis.

    >>> share = Analysis("a", "share", "correct", "experts", consensus="majority")
    >>> needs_majority(share)
    True
    """
    entry = statistic_of(a.statistic)
    of_others = a.against == "rest" and entry.is_among_raters
    of_panel = a.consensus == "majority" and entry.group == "labels"
    return of_others or of_panel or leaves_one_out(a) or entry.needs_majority


def too_small(analysis: Analysis, n_panel: int) -> str:
    """That a panel has no leave-one-out majority, and the keys for the pairs of raters instead.

    Both kinds of pairs are then estimated: those of a judge with a rater of the panel, and those
    within the panel.
    """
    panels = f'["{analysis.raters}", "{analysis.against}"]'
    return (
        f"panel of {n_panel} rater{'' if n_panel == 1 else 's'}: a leave-one-out majority needs at"
        f" least three; for all pairs of raters, set together = {{ everybody = {panels} }} above"
        ' the first table, and raters = "everybody" and by = ["rater_pair"] without against in the'
        " analysis"
    )
