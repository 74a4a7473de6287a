"""Analyses that compare raters with a majority or a mean of a panel, and with which of them."""

from __future__ import annotations

from collections.abc import Sequence

from konsil.analysis.model.catalogue.known import statistic_of
from konsil.analysis.model.rows import Row
from konsil.analysis.model.spec import Analysis
from konsil.analysis.model.terms import both_raters, is_term
from konsil.errors.message import message

SMALLEST_PANEL = 2
"""Raters of a panel of which one can be left out: a single other rater is a majority."""
PAIR = 2
"""Raters of a panel where the majority of the others is the label of the other rater."""


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
    """That a panel has no agreement of its own, and the keys for the pairs of raters instead."""
    panels = f'["{analysis.raters}", "{analysis.against}"]'
    return message(
        "panel of {n} {n|rater|raters}: an inter-expert benchmark needs at least two; for all pairs"
        " of raters, set together = {{ everybody = {panels} }} above the first table, and raters ="
        ' "everybody" and by = ["rater_pair"] without against in the analysis',
        message_id="refused.small_panel",
        n=n_panel,
        panels=panels,
    )


def no_ratings(panel: str) -> str:
    """That a panel has no ratings."""
    return message("panel {panel!r} has no ratings", message_id="refused.not_rated", panel=panel)


def is_of_two(a: Analysis, rows: Sequence[Row]) -> bool:
    """Whether the rows compare judges with a panel of two raters."""
    benchmark = both_raters(str(a.against))
    return any(
        row.analysis == a.name and is_term(row.group.get("rater"), benchmark) for row in rows
    )


def of_two(panel: str) -> str:
    """What a comparison with a panel of two raters is, and of which raters it holds.

    The leave-one-out majority of two raters is the other rater's label: what is compared are the
    pairs of a judge and a rater, averaged, and the pair of raters, on the units that all three
    labelled.
    """
    return message(
        "panel {panel} has two raters: judges are compared by the mean over the pairs of a judge"
        " and a rater, minus the agreement of the two raters on the same units; CIs and tests are"
        " over units and hold for these two raters, not for others",
        message_id="panel.of_two",
        panel=repr(panel),
    )
