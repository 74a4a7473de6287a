"""Shares of labels, means and abstentions."""

from __future__ import annotations

from konsil.analysis.model.catalogue.entry import SHARE, Statistic

SHARES = (
    Statistic(
        id="share",
        family="shares",
        group="labels",
        title="Share",
        text="How large a part of the labels are the ones counted, between 0 and 1.",
        definition=(
            "the share of the labels in `of` among all labels, or among the panel's majorities"
            ' with `consensus = "majority"`'
        ),
        undefined="there are no labels",
        source="Wilson, J Am Stat Assoc 22:209, 1927",
        range=SHARE,
        keys=frozenset({"of", "pass_line", "tiebreak"}),
    ),
    Statistic(
        id="mean",
        family="shares",
        group="labels",
        title="Mean",
        text="The mean of the labels' numbers.",
        definition="the mean of the labels' numbers",
        undefined="there are no labels",
        keys=frozenset({"pass_line", "tiebreak"}),
    ),
    Statistic(
        id="abstention",
        family="shares",
        group="labels",
        title="Abstention rate",
        text=(
            "The share of the ratings in which the rater said that they could not tell, between 0"
            " and 1."
        ),
        definition="the share of abstentions among what was rated or abstained",
        undefined="nothing was",
        source="Wilson, J Am Stat Assoc 22:209, 1927",
        range=SHARE,
    ),
)
