"""Methods sentences about statistics of agreement: which, from where, with which weights."""

from __future__ import annotations

from collections.abc import Sequence

from konsil.analysis.model.options import AgreementOptions
from konsil.analysis.model.spec import Analysis
from konsil.errors.message import listed, message
from konsil.stats.agreement.registry import STATISTICS


def agreement_methods(analyses: Sequence[Analysis]) -> list[str]:
    """Which statistics of agreement were used, with their sources and weights; none if none was."""
    names = sorted({a.statistic for a in analyses if a.statistic in STATISTICS})
    if not names:
        return []
    entries = [STATISTICS[n] for n in names]
    parts = [
        message("{statistic} ({source})", statistic=message(e.title), source=message(e.source))
        for e in entries
    ]
    sentences: list[str] = [
        message(
            "Agreement was measured by {statistics}.",
            message_id="methods.agreement",
            statistics=listed(parts, "; "),
        )
    ]
    of_pairs = [message(e.title) for e in entries if e.needs == "pairs"]
    if of_pairs:
        sentences.append(
            message(
                "Means over all pairs of raters: {statistics}.",
                message_id="methods.means_over_pairs",
                statistics=listed(of_pairs, "; "),
            )
        )
    weights_by_statistic = [
        (a.statistic, a.options_as(AgreementOptions).weights)
        for a in analyses
        if a.statistic in STATISTICS
    ]
    if ("krippendorff_alpha", "") in weights_by_statistic:
        sentences.append(
            message(
                "Krippendorff's alpha used the difference function for the scale's level"
                " of measurement (ordinal: mid-ranks, not Gwet's ordinal weights).",
                message_id="methods.alpha_difference",
            )
        )
    weights = sorted({w or "quadratic" for name, w in weights_by_statistic if name == "gwet_ac2"})
    if weights:
        sentences.append(
            message(
                "The weights of Gwet's AC2 are {weights}.",
                weights=listed([message(w) for w in weights]),
            )
        )
    if "within_one" in names:
        sentences.append(
            message(
                (
                    "Agreement to within one category is reported with its chance level (two"
                    " ratings drawn at random from all ratings)."
                ),
                message_id="methods.within_one_chance",
            )
        )
    return sentences
