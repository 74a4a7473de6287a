"""Shares of labels, means and abstentions."""

from __future__ import annotations

from konsil.analysis.model.catalogue.entry import NOT_NEGATIVE, SHARE, Statistic
from konsil.analysis.model.catalogue.limits import (
    NO_LENGTH,
    ONLY_MEANS,
    Limits,
    Need,
    Refusal,
)

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
        limits=_DEVIATION,
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
)
