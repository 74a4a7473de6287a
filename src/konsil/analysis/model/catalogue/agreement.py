"""Agreement among the raters of a panel, and of raters with themselves."""

from __future__ import annotations

from konsil.analysis.model.catalogue.design_needs import OF_AGREEMENT, OF_RATERS, REPEATS
from konsil.analysis.model.catalogue.entry import SHARE, LabelNumbers, Statistic
from konsil.analysis.model.catalogue.limits import NO_LENGTH, ONLY_MEANS, Limits
from konsil.analysis.model.catalogue.zeros import CHANCE, NO_ASSOCIATION
from konsil.errors.message import TranslatableMessage
from konsil.stats.agreement.registry import OF_NUMBERS, STATISTICS, Entry

_ASSOCIATION = ("spearman", "kendall_tau_b")
"""Association of two raters' labels, averaged over rater pairs."""
_COMPLETE = ("icc2", "icc3", "icc2k", "icc3k", "kendall_w")
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
_ONE_CATEGORY = "the two raters of every pair used the same single category throughout"
_OF_NUMBERS = (
    *_COMPLETE,
    *_ASSOCIATION,
    "icc1",
    "icc1k",
    "icc1_incomplete",
    "krippendorff_alpha",
    "cohen_kappa_quadratic",
)
"""Those that use the labels' numbers or order, and no categories."""
_DISTANCES = (
    "krippendorff_alpha",
    "cohen_kappa_linear",
    "cohen_kappa_quadratic",
    "gwet_ac2_linear",
    "gwet_ac2",
)
"""Those that weigh disagreements by distance without weights of their own."""
_UNDEFINED = {
    "unanimity": "no unit has a rating from every rater",
    "cohen_kappa": _ONE_CATEGORY,
    "cohen_kappa_linear": _ONE_CATEGORY,
    "cohen_kappa_quadratic": _ONE_CATEGORY,
    "pabak": "only one category is declared",
    "light_kappa": _ONE_CATEGORY,
    "scott_pi": _ONE_CATEGORY,
    "randolph_kappa": "only one category is declared",
    "brennan_prediger": "only one category is declared",
    "gwet_ac1": "only one category is declared",
    "gwet_ac2_linear": "only one category is declared",
    "gwet_ac2": "only one category is declared",
    "icc1": "fewer than five units with two ratings or more",
    "icc2": "fewer than two complete units or raters",
    "icc3": "fewer than two complete units or raters; neither units nor residuals vary",
    "icc1k": "as icc1; all units have the same mean",
    "icc2k": "as icc2",
    "icc3k": "as icc3; all units have the same mean",
    "icc1_incomplete": "as icc1",
    "kendall_w": (
        "fewer than two complete units or raters; every rater gave all units the same rating"
    ),
    "spearman": "in every pair of raters, one gave all units the same rating",
    "kendall_tau_b": "in every pair of raters, one gave all units the same rating",
}
"""Where they are undefined beside what holds for all of them: no unit has labels from two
raters."""


def _zero(name: str, lowest: float) -> TranslatableMessage | None:
    if lowest >= 0:
        return None
    return NO_ASSOCIATION if name in _ASSOCIATION else CHANCE


def _label_numbers(name: str, formula: Entry) -> LabelNumbers:
    if formula.needs in OF_NUMBERS:
        return "always"
    return "distances" if name in _DISTANCES else ""


_AMONG_RATERS = Limits((ONLY_MEANS, NO_LENGTH))
"""A panel's mean is a consensus that judges are compared with: a rule of the family."""

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
            zero=_zero(name, formula.range[0]),
            better="higher",
            unit="percent" if formula.range == SHARE and name != "kendall_w" else "number",
            is_among_raters=True,
            design=OF_RATERS if name in _OF_TWO_RATERS else OF_AGREEMENT,
            levels=formula.levels,
            limits=_AMONG_RATERS,
            margin="panel" if name in _OF_TWO_RATERS else "groups",
            needs_complete=name in _COMPLETE,
            is_of_two_raters=name in _OF_TWO_RATERS,
            is_of_numbers=name in _OF_NUMBERS,
            label_numbers=_label_numbers(name, formula),
        )
        for name, formula in STATISTICS.items()
    ),
    Statistic(
        id="self_agreement",
        design=(REPEATS,),
        questions=("agreement",),
        family="agreement",
        group="repeats",
        title="Intra-rater agreement",
        text=(
            "Proportion of repeated ratings that equal the same rater's first rating (test-"
            "retest agreement)."
        ),
        definition=(
            "the proportion of repeated ratings that equal the same rater's first rating of"
            " the same answer; of whole answers where `spans` combines their sentences into"
            " one rating"
        ),
        undefined="an error if no rater rated anything twice",
        range=SHARE,
        better="higher",
        unit="percent",
    ),
)
