"""Agreement among the raters of a panel, and of raters with themselves."""

from __future__ import annotations

from konsil.analysis.model.catalogue.entry import SHARE, Statistic
from konsil.stats.agreement.registry import STATISTICS

_ASSOCIATION = ("spearman", "kendall_tau_b")
"""Association of two raters' labels, averaged over rater pairs."""
_COMPLETE = ("icc1", "icc2", "icc3", "icc1k", "icc2k", "icc3k", "kendall_w")
"""Those that use only the units that every rater labelled."""
_OF_TWO_RATERS = (
    "percent_agreement",
    "within_one",
    "cohen_kappa",
    "cohen_kappa_linear",
    "cohen_kappa_quadratic",
    "pabak",
    "scott_pi",
    "gwet_ac1",
)
_UNDEFINED = {
    "unanimity": "no unit has a label from every rater",
    "cohen_kappa": "the two raters of every pair used one and the same label throughout",
    "cohen_kappa_linear": "the two raters of every pair used one and the same label throughout",
    "cohen_kappa_quadratic": "the two raters of every pair used one and the same label throughout",
    "pabak": "only one label is declared",
    "light_kappa": "the two raters of every pair used one and the same label throughout",
    "scott_pi": "the two raters of every pair used one and the same label throughout",
    "randolph_kappa": "only one label is declared",
    "brennan_prediger": "only one label is declared",
    "gwet_ac1": "only one label is declared",
    "gwet_ac2_linear": "only one label is declared",
    "gwet_ac2": "only one label is declared",
    "icc1": "fewer than two complete units or raters",
    "icc2": "fewer than two complete units or raters",
    "icc3": "fewer than two complete units or raters; neither units nor residuals vary",
    "icc1k": "as icc1; no unit differs from another",
    "icc2k": "as icc2",
    "icc3k": "as icc3; no unit differs from another",
    "icc1_incomplete": "fewer than two units",
    "kendall_w": "fewer than two complete units or raters; every rater gave all units one label",
    "spearman": "in every pair of raters one gave a single label",
    "kendall_tau_b": "in every pair of raters one gave a single label",
}
"""Where they are undefined beside what holds for all of them: no unit has labels from two
raters."""

AGREEMENT = (
    *(
        Statistic(
            id=name,
            family="agreement",
            group="association" if name in _ASSOCIATION else "agreement",
            title=formula.title,
            text=formula.description,
            definition=formula.description,
            undefined=_UNDEFINED.get(name, ""),
            source=formula.source,
            range=formula.range,
            keys=frozenset({"weights"} if formula.weighted else ()),
            marks_zero=formula.range[0] < 0,
            is_among_raters=True,
            needs_order="nominal" not in formula.levels,
            needs_complete=name in _COMPLETE,
            is_of_two_raters=name in _OF_TWO_RATERS,
        )
        for name, formula in STATISTICS.items()
    ),
    Statistic(
        id="self_agreement",
        family="agreement",
        group="repeats",
        title="Self-agreement",
        text=(
            "The share of repeated ratings in which a rater gave the same label as the first time."
        ),
        definition=(
            "how often a rater gave the same label again when the same thing was shown twice; of"
            " whole answers where `spans` makes one label of their sentences"
        ),
        undefined="an error if nobody rated anything twice",
        range=SHARE,
    ),
)
