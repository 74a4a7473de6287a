"""The statistics an analysis can name. Only names here: the formulas are in stats and load when they are used."""

from __future__ import annotations

AGREEMENT = (
    "percent_agreement",
    "within_one",
    "cohen_kappa",
    "cohen_kappa_linear",
    "cohen_kappa_quadratic",
    "pabak",
    "light_kappa",
    "scott_pi",
    "fleiss_kappa",
    "conger_kappa",
    "randolph_kappa",
    "krippendorff_alpha",
    "gwet_ac1",
    "gwet_ac2",
    "icc1",
    "icc2",
    "icc3",
    "icc1k",
    "icc2k",
    "icc3k",
    "kendall_w",
)
"""Agreement among the raters of a panel; their names are those of stats.names."""

PAIRED = ("spearman", "kendall_tau_b")
"""Association of two raters' labels, averaged over rater pairs."""

OTHER = ("share", "mean", "abstention", "self_agreement")
"""Shares of labels, means of values, abstentions, and agreement of raters with themselves on repeats."""


def known_statistics() -> tuple[str, ...]:
    """Every statistic that an analysis can ask for."""
    return AGREEMENT + PAIRED + OTHER
