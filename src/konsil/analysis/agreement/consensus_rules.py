"""Analyses that compare raters with a majority, and with which majority."""

from __future__ import annotations

from konsil.analysis.model.catalogue.known import AGREEMENT, JUDGING, PAIRED
from konsil.analysis.model.spec import Analysis

_ENSEMBLES = tuple(name for name in JUDGING if name.startswith("ensembles_"))


def leaves_one_out(a: Analysis) -> bool:
    """Whether judges are compared with leave-one-out majorities of a panel.

    Each rater of the panel is left out in turn; judge and rater are compared with the majority of
    the others. In paper mode it is the majority of the full panel.

    >>> leaves_one_out(Analysis("a", "cohen_kappa", "correct", "judges", against="experts"))
    True
    >>> leaves_one_out(Analysis("a", "approval", "correct", "judges", against="experts"))
    False
    """
    return (
        a.against not in {None, "rest"}
        and a.consensus == "none"
        and a.statistic in {*AGREEMENT, *PAIRED}
    )


def needs_majority(a: Analysis) -> bool:
    """Whether any majority of a panel enters the analysis.

    >>> share = Analysis("a", "share", "correct", "experts", consensus="majority")
    >>> needs_majority(share)
    True
    """
    of_others = a.against == "rest" and a.statistic in {*AGREEMENT, *PAIRED}
    of_panel = a.consensus == "majority" and a.statistic in {"share", "mean"}
    return (
        of_others or of_panel or leaves_one_out(a) or a.statistic in {*_ENSEMBLES, "risk_coverage"}
    )
