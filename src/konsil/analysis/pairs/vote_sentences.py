"""What a reader must know of a number of comparisons, and limits too far apart to say anything."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

import polars as pl

from konsil.analysis.model.verdicts import p_words
from konsil.errors.message import TranslatableMessage, message
from konsil.stats.inference.cluster_variance import LEAST_RATERS
from konsil.stats.pairs.vote_cautions import VoteCaution

WIDEST = 1e6
"""Limits of a ratio of worths that are further apart, such as 1/1,000 and 1,000, say nothing: there
are then none."""


Way = Literal["two-way", "item", "rater"]
"""The clusters of an interval: items and raters, items alone, or raters alone."""

NoInterval = Literal["item", "rater", "dominated", "identical"]
"""Why a value has no interval: a single item, or a single rater where raters are clusters; one
rater gave most votes; clusters that do not differ."""


def why_no_interval(
    way: str, n_items: int, n_raters: int, *, dominated: bool = False
) -> NoInterval:
    """Why a value has no interval of a way, a `Way`, from its numbers of items and raters.

    >>> why_no_interval("item", 1, 3), why_no_interval("two-way", 9, 1)
    ('item', 'rater')
    >>> why_no_interval("item", 9, 1)
    'identical'
    """
    if way != "rater" and n_items < 2:
        return "item"
    if way != "item" and n_raters < 2:
        return "rater"
    return "dominated" if dominated and way != "item" else "identical"


def no_interval(why: NoInterval) -> TranslatableMessage:
    """The sentence for a reason."""
    match why:
        case "item":
            return message("no CI from a single item", message_id="two_way.no_interval_item")
        case "rater":
            return message(
                "no CI for raters like this one from a single rater",
                message_id="two_way.no_interval_rater",
            )
        case "dominated":
            return message(
                (
                    "one rater gave most of the comparisons; with fewer than {least:g} effective"
                    " raters there is no CI for raters like these"
                ),
                message_id="two_way.no_interval_dominated",
                least=LEAST_RATERS,
            )
        case "identical":
            return message(
                "no CI from identical comparisons", message_id="two_way.no_interval_identical"
            )


def ratio_limits(low: float, high: float) -> tuple[float, float, str]:
    """The limits of a ratio of worths, or nan with the reason.

    They are nan without width, or where they are more than `WIDEST` apart.

    >>> ratio_limits(0.5, 0.9), ratio_limits(0.0, 21e12)[2]
    ((0.5, 0.9, ''), 'too few comparisons: the limits of the ratio to the best are a factor above 1,000,000 apart')
    """  # noqa: E501
    if not math.isfinite(low) or not high > low:
        return math.nan, math.nan, no_interval("identical")
    if high > WIDEST * low:
        reason = message(
            "too few comparisons: the limits of the ratio to the best are a factor above"
            " {widest:,.0f} apart",
            message_id="comparisons.ratio_unlimited",
            widest=WIDEST,
        )
        return math.nan, math.nan, reason
    return low, high, ""


def worth_limits(low: float, high: float) -> tuple[float, float, str]:
    """The limits of a log worth likewise.

    >>> worth_limits(-3.0, 3.0), worth_limits(-15.0, 15.0)[2]
    ((-3.0, 3.0, ''), 'too few comparisons: the limits of the log strength are more than 13.8 apart')
    """  # noqa: E501
    if not math.isfinite(low) or not high > low:
        return math.nan, math.nan, no_interval("identical")
    if high - low > math.log(WIDEST):
        reason = message(
            (
                "too few comparisons: the limits of the log strength are more than"
                " {widest:.1f} apart"
            ),
            message_id="comparisons.worth_unlimited",
            widest=math.log(WIDEST),
        )
        return math.nan, math.nan, reason
    return low, high, ""


def sentence(caution: VoteCaution, raters: Sequence[str] | pl.Series = ()) -> TranslatableMessage:
    """What a reader must know of a preference statistic's interval, in words.

    `raters` are their names by number.
    """
    a, b = (*caution.numbers, 0, 0)[:2]
    match caution.code:
        case "raters-matter":
            return message(
                (
                    "Allowing for rater sampling widens the CI by {wider:.0%}, compared with"
                    " the item-clustered CI."
                ),
                wider=a,
            )
        case "few-raters":
            return message(
                (
                    "There {n|is|are} {n:.0f} {n|rater|raters} (fewer than {few:.0f}); do not"
                    " generalise to other raters."
                ),
                n=a,
                few=b,
            )
        case "thin-pairs":
            return message(
                "Only {n:.0f} {n|comparison|comparisons} with one of the comparators; the CI is"
                " likely"
                " too narrow.",
                message_id="comparisons.thin_pairs",
                n=a,
            )
        case "raters-unequal":
            return message(
                (
                    "{who} gave {share:.0%} of the comparisons; the effective number of raters"
                    " is {effective:.1f} (of {n:.0f})."
                ),
                message_id="two_way.dominant",
                who=_rater(caution, raters),
                share=a,
                n=b,
                effective=caution.numbers[2],
            )
        case "raters-dominated":
            return message(
                (
                    "{who} gave {share:.0%} of the comparisons; the effective number of raters"
                    " is {effective:.1f} (of {n:.0f}). With fewer than {least:g}, variation"
                    " between raters is not estimable; CIs apply to these raters only."
                ),
                message_id="two_way.dominated",
                who=_rater(caution, raters),
                share=a,
                n=b,
                effective=caution.numbers[2],
                least=caution.numbers[3],
            )
        case "these-raters":
            return message(
                (
                    "{p} for raters like these and {flipped} for these raters only: the first"
                    " tests whether other raters would have the same preference, the second"
                    " whether the preference of these raters exceeds chance variation between"
                    " items."
                ),
                message_id="two_way.tests_disagree",
                p=p_words(a),
                flipped=p_words(b),
            )
        case "few-questions":
            return message(
                "CI based on {n:.0f} {n|item|items} (fewer than {few:.0f}); coverage may"
                " be below nominal.",
                message_id="interval.few_items",
                n=a,
                few=b,
            )
        case "rivals-not-met":
            return message(
                (
                    "Compared with {n:.0f} of the {all:.0f} other systems; the remaining"
                    " systems are not part of its mean."
                ),
                n=a,
                all=b,
            )


def _rater(caution: VoteCaution, raters: Sequence[str] | pl.Series) -> str:
    """The rater that a caution is about, by name where names are known."""
    if len(raters):
        return str(raters[caution.rater])
    return message("One rater", message_id="two_way.one_rater")


def two_procedures(p: float) -> TranslatableMessage:
    """That an interval and the p value beside it answer differently whether a value is zero."""
    return message(
        (
            "The CI and the test ({p}) are different procedures and lead to different"
            " conclusions about zero."
        ),
        message_id="two_way.two_procedures",
        p=p_words(p),
    )
