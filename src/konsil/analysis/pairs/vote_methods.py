"""How the intervals of comparisons are called, and why worths are undefined."""

from __future__ import annotations

from konsil.analysis.estimation.raters.two_way import two_way_method
from konsil.analysis.model.message import TranslatableMessage, message
from konsil.stats.pairs.worth_designs import WhyUndefined


def votes_method(cluster: str, way: str, kind: str, df: float) -> TranslatableMessage:
    """The method of an interval of votes.

    `way` is 'two-way', 'item' or 'rater'; `kind` is `how` of a `crossed.Interval`.
    """
    both, unit = way == "two-way", cluster if way == "item" else message("rater")
    if kind == "exact" and both:
        return message(
            (
                "exact, all comparisons identical: {n:.3g} effective comparisons, by"
                " {cluster} or rater, whichever are fewer"
            ),
            message_id="two_way.exact_both",
            n=df + 1,
            cluster=cluster,
        )
    if kind == "exact":
        return message(
            "exact, all comparisons identical: {n:.3g} effective comparisons, by {cluster}",
            message_id="two_way.exact",
            n=df + 1,
            cluster=unit,
        )
    if kind == "wilson" and both:
        return message(
            (
                "two-way Wilson with the effective sample size ({cluster} and rater), t with"
                " {df:.3g} degrees of freedom"
            ),
            message_id="two_way.wilson_both",
            cluster=cluster,
            df=df,
        )
    if kind == "wilson":
        return message(
            (
                "Wilson with the effective sample size ({cluster} clusters), t with {df:.3g}"
                " degrees of freedom"
            ),
            message_id="two_way.wilson",
            cluster=unit,
            df=df,
        )
    if both:
        return two_way_method(cluster, df)
    return message(
        "cluster-robust Wald ({cluster}-clustered), t with {df:.3g} degrees of freedom",
        message_id="two_way.one_way",
        cluster=unit,
        df=df,
    )


def undefined_worths(reason: WhyUndefined) -> str:
    """The sentence for a reason; empty where worths are defined."""
    match reason:
        case "no_comparisons":
            return message("there are no comparisons", message_id="worths.no_comparisons")
        case "no_ties":
            return message(
                (
                    "there are no ties, so the tie parameter is not estimable; the"
                    " Bradley-Terry model does not need it"
                ),
                message_id="worths.no_ties",
            )
        case "all_ties":
            return message("every comparison is a tie", message_id="worths.all_ties")
        case "unconnected":
            return message(
                "some systems were never compared with the others, directly or indirectly",
                message_id="worths.unconnected",
            )
        case "undefeated":
            return message(
                "some systems never lost to the others, directly or indirectly",
                message_id="worths.undefeated",
            )
        case "unbounded":
            return message(
                (
                    "no comparison contradicts the ranking (complete separation), so the"
                    " strength parameters are unbounded"
                ),
                message_id="worths.unbounded",
            )
        case "no_maximum":
            return message("the likelihood's maximum was not found", message_id="worths.no_maximum")
        case "":
            return ""
