"""Shares of labels, means and abstentions."""

from __future__ import annotations

import math

from konsil.analysis.model.catalogue.entry import NOT_NEGATIVE, SHARE, Statistic
from konsil.analysis.model.catalogue.limits import (
    LIMITS,
    NO_LENGTH,
    ONLY_MEANS,
    Limits,
    Need,
    Refusal,
)
from konsil.analysis.model.catalogue.zeros import NO_DIFFERENCE
from konsil.stats.agreement.registry import ORDERED

_DEVIATION = Limits((ONLY_MEANS, NO_LENGTH))
_MEAN = Limits((NO_LENGTH,))
_SHARE = _DEVIATION + Limits(
    (
        Refusal(
            "consensus",
            values=("mean",),
            reason=(
                "a proportion needs labels, but a mean is a number; expected 'majority' or 'none'"
            ),
        ),
    ),
    (Need("of", "is empty; a proportion needs the categories of interest"),),
)

_RELATIVE = _DEVIATION + Limits(
    (
        Refusal("compare"),
        Refusal(
            "cluster",
            values=("rater",),
            reason="{statistic!r} has no CI by raters; expected 'item' or 'case', got 'rater'",
        ),
        Refusal(
            "test",
            values=("flip",),
            reason=(
                "{statistic!r} has no test of its own: it is 0 where the difference is, which"
                " 'share' tests with `compare`; expected 'interval' or 'none'"
            ),
        ),
    ),
    (
        Need("of", "is empty; a proportion needs the categories of interest"),
        Need("reference", "is empty; state one column of `by` and the value to divide by"),
    ),
)
_MAJORITY = _DEVIATION + Limits(
    (
        Refusal(
            "consensus",
            values=("mean",),
            reason="a majority is counted, not a mean; expected 'majority' or 'none'",
        ),
        Refusal(
            "cluster",
            values=("rater",),
            reason="{statistic!r} has no CI by raters; expected 'item' or 'case', got 'rater'",
        ),
    )
)
_MEDIAN = LIMITS + Limits(
    (
        Refusal(
            "compare",
            reason="differences of medians have no CI here; compare means with statistic 'mean'",
        ),
        Refusal(
            "cluster",
            values=("rater",),
            reason="{statistic!r} has no CI by raters; expected 'item' or 'case', got 'rater'",
        ),
    )
)

SHARES = (
    Statistic(
        id="share",
        family="shares",
        group="labels",
        title="Proportion",
        text="Proportion of ratings in the category of interest, between 0 and 1.",
        definition=(
            "the proportion of ratings in `of` among all ratings, or among the panel's "
            'majorities with `consensus = "majority"`'
        ),
        undefined="there are no ratings",
        source="Wilson, J Am Stat Assoc 22:209, 1927",
        range=SHARE,
        keys=frozenset({"of", "pass_line", "tiebreak"}),
        limits=_SHARE,
        bounds="share",
        unit="percent",
    ),
    Statistic(
        id="mean",
        family="shares",
        group="labels",
        title="Mean",
        text="Mean of the ratings' numerical values.",
        definition="the mean of the ratings' numerical values",
        undefined="there are no ratings",
        keys=frozenset({"pass_line", "tiebreak"}),
        is_of_numbers=True,
        label_numbers="always",
        limits=_MEAN,
        bounds="mean",
        unit="number",
    ),
    Statistic(
        id="standard_deviation",
        family="shares",
        group="labels",
        title="Standard deviation",
        text="Standard deviation of the ratings' numerical values.",
        definition=(
            "the standard deviation of the ratings' numerical values, with n - 1, over all"
            ' ratings, or over the units\' panel means with `consensus = "mean"`'
        ),
        undefined="there are fewer than two ratings",
        source="convention",
        range=NOT_NEGATIVE,
        is_of_numbers=True,
        label_numbers="always",
        limits=_DEVIATION,
        unit="number",
    ),
    Statistic(
        id="median",
        family="shares",
        group="labels",
        title="Median",
        text="Value that at least half of the ratings do not exceed, and at least half reach.",
        definition=(
            "the median of the ratings' numerical values, the mean of two values where exactly "
            "half of the ratings are up to the lower one. The interval contains the values of the "
            "scale that can be the median: those for which the cluster-robust intervals of the "
            "proportions of ratings up to, and below, the value do not exclude one half"
        ),
        undefined="there are no ratings",
        source="Woodruff, J Am Stat Assoc 47:635, 1952",
        levels=ORDERED,
        is_of_numbers=True,
        label_numbers="always",
        limits=_MEDIAN,
        unit="number",
    ),
    Statistic(
        id="abstention",
        family="shares",
        group="labels",
        title="Abstention rate",
        text=("Proportion of abstentions among all ratings, between 0 and 1."),
        definition="the proportion of abstentions among all ratings and abstentions",
        undefined="there are neither ratings nor abstentions",
        source="Wilson, J Am Stat Assoc 22:209, 1927",
        range=SHARE,
        is_of_text=True,
        bounds="abstention",
        unit="percent",
    ),
    Statistic(
        id="without_majority",
        family="shares",
        group="labels",
        title="Units without a majority",
        text=(
            "Proportion of rated units for which the panel has no majority, between 0 and 1; "
            "analyses of majorities exclude these units."
        ),
        definition=(
            "the proportion of units without a majority among all units with a rating or an "
            "abstention of the panel: no category has more than half of the ratings that are "
            "not abstentions, those of the panel in `tiebreak` included where the panel "
            "disagrees, or all ratings are abstentions"
        ),
        undefined="there are neither ratings nor abstentions",
        source="convention",
        range=SHARE,
        keys=frozenset({"tiebreak"}),
        needs_majority=True,
        better="lower",
        limits=_MAJORITY,
        unit="percent",
    ),
    Statistic(
        id="relative_difference",
        family="shares",
        group="labels",
        title="Relative difference of proportions",
        text=(
            "Proportion in the category of interest divided by that of the reference group, minus "
            "1: −50% is half of the reference, 0 the same proportion."
        ),
        definition=(
            "the proportion of majorities in `of`, divided by that of the group in `reference` "
            "with the same values of the other columns of `by`, minus 1. The interval is that of "
            "a ratio of two proportions; it excludes 0 exactly where the square-and-add interval "
            "of their difference does, also where `share` has the score interval of the "
            "difference. There is no p value: `share` with `compare` tests the difference"
        ),
        undefined=(
            "the proportion of the reference group is 0, or one of the two groups has no majority"
        ),
        source=(
            "Donner and Zou, Stat Methods Med Res 21:347, 2012; Newcombe, Stat Methods Med Res "
            "25:1774, 2016"
        ),
        range=(-1.0, math.inf),
        zero=NO_DIFFERENCE,
        is_difference=True,
        keys=frozenset({"of", "tiebreak", "reference"}),
        limits=_RELATIVE,
        unit="percent",
    ),
)
