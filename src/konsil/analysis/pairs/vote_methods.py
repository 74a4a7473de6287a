"""How the intervals of comparisons are called."""

from __future__ import annotations

from konsil.analysis.estimation.estimate import two_way_method
from konsil.analysis.model.message import TranslatableMessage, message


def votes_method(cluster: str, way: str, kind: str, df: float) -> TranslatableMessage:
    """The method of an interval of votes.

    `way` is 'two-way', 'item' or 'rater'; `kind` is `how` of a `crossed.Interval`.
    """
    both, unit = way == "two-way", cluster if way == "item" else message("rater")
    if kind == "exact" and both:
        return message(
            (
                "exact, all comparisons identical: {n:.3g} effective votes, by {cluster} or"
                " rater, whichever are fewer"
            ),
            message_id="two_way.exact_both",
            n=df + 1,
            cluster=cluster,
        )
    if kind == "exact":
        return message(
            "exact, all comparisons identical: {n:.3g} effective votes, by {cluster}",
            message_id="two_way.exact",
            n=df + 1,
            cluster=unit,
        )
    if kind == "wilson" and both:
        return message(
            "two-way Wilson at the effective sample size ({cluster} and rater), t with {df:.3g}"
            " degrees of freedom",
            message_id="two_way.wilson_both",
            cluster=cluster,
            df=df,
        )
    if kind == "wilson":
        return message(
            "Wilson at the effective sample size ({cluster} clusters), t with {df:.3g} degrees of"
            " freedom",
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
