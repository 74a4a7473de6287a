"""Columns of tables for other intervals of the same number: one for each kind of interval.

A column is the message id of its heading and whose clusters it names. No wording decides which
intervals share a column.
"""

from __future__ import annotations

from collections.abc import Sequence

from konsil.analysis.model.interval_methods import name_of, str_of, within_wrappers
from konsil.analysis.model.message import TranslatableMessage, message
from konsil.analysis.running.sensitivity.omission_words import omission_of

ColumnKey = tuple[str, str]
"""The message id of a column's heading, and the clusters that it names."""

_CLUSTER = "item"
"""Stands for the clusters of a method in the headings below."""

_COLUMNS: Sequence[tuple[TranslatableMessage, Sequence[str]]] = (
    (
        message("{cluster}-cluster bootstrap", message_id="column.bootstrap", cluster=_CLUSTER),
        ("method.bootstrap", "method.percentiles"),
    ),
    (
        message(
            "cluster-robust Wald ({cluster}-clustered)", message_id="column.wald", cluster=_CLUSTER
        ),
        ("method.wald", "two_way.one_way", "two_way.by_rater"),
    ),
    (
        message(
            "cluster-robust Wald ({cluster}-clustered) on the atanh scale",
            message_id="column.wald_atanh",
            cluster=_CLUSTER,
        ),
        ("edges.uneven_wald", "method.wald_atanh"),
    ),
    (
        message(
            "cluster-robust Wald ({cluster}-clustered) on the logit scale of the proportion",
            message_id="column.wald_logit",
            cluster=_CLUSTER,
        ),
        ("edges.uneven_wald_logit", "edges.wald_logit"),
    ),
    (
        message(
            "two-way cluster-robust Wald ({cluster} and rater)",
            message_id="column.two_way",
            cluster=_CLUSTER,
        ),
        ("two_way.method",),
    ),
    (
        message(
            (
                "two-way cluster-robust Wald ({cluster} and rater) on the logit scale of the"
                " proportion"
            ),
            message_id="column.two_way_logit",
            cluster=_CLUSTER,
        ),
        ("two_way.method_logit",),
    ),
    (
        message(
            "Wilson with the effective sample size ({cluster} clusters)",
            message_id="column.wilson",
            cluster=_CLUSTER,
        ),
        ("edges.uneven_wilson", "method.wilson_of_clusters", "two_way.wilson"),
    ),
    (
        message(
            "two-way Wilson with the effective sample size ({cluster} and rater)",
            message_id="column.two_way_wilson",
            cluster=_CLUSTER,
        ),
        ("two_way.wilson_both",),
    ),
    (
        message("exact ({cluster} clusters)", message_id="column.exact", cluster=_CLUSTER),
        ("two_way.exact",),
    ),
    (
        message(
            "exact ({cluster} or rater clusters)",
            message_id="column.two_way_exact",
            cluster=_CLUSTER,
        ),
        ("two_way.exact_both",),
    ),
    (
        message("posterior of the rating patterns", message_id="column.posterior"),
        ("edges.posterior", "edges.thin_majorities", "edges.thin_posterior"),
    ),
    (message("model-based (Fisher information)", message_id="column.model"), ("method.model",)),
    (
        message("leave-one-rater-out jackknife", message_id="column.jackknife"),
        ("method.jackknife", "method.no_jackknife"),
    ),
    (
        message("square-and-add (Newcombe)", message_id="column.newcombe"),
        ("difference.square_and_add",),
    ),
    (
        message("studentised permutation test", message_id="column.permutation"),
        (
            "difference.judge_and_panel",
            "difference.shuffled",
            "difference.swapped",
            "difference.swapped_exactly",
        ),
    ),
    (message("chance level", message_id="column.chance_level"), ("method.chance_level",)),
    (
        message("Cohen's d of case means, unpaired", message_id="column.unpaired_d"),
        ("method.unpaired_d",),
    ),
    (message("permutation reference", message_id="column.shuffles"), ("method.shuffles",)),
    (
        message("leave-one-out range ({cluster})", message_id="column.leave_out", cluster=_CLUSTER),
        ("method.leave_out",),
    ),
)
"""Headings of columns, and the message ids of the methods in each."""

_HEADINGS = {name: heading for heading, names in _COLUMNS for name in names}


def column_heading(method: str) -> TranslatableMessage:
    """The heading of a method's column, without what differs from row to row.

    A method without a heading of its own is printed in full.

    >>> wald = message(
    ...     "Wald of {cluster}s, t with {df}", message_id="method.wald", cluster="item", df=9
    ... )
    >>> column_heading(wald)
    'cluster-robust Wald (item-clustered)'
    """
    method = within_wrappers(method)
    if not method:
        return message("alternative estimate", message_id="column.unnamed")
    name = name_of(method)
    if name in _HEADINGS:
        clusters = "rater" if name == "two_way.by_rater" else str_of(method, "cluster")
        of = omission_of(clusters) if name == "method.leave_out" else message(clusters)
        heading = _HEADINGS[name]
        values = {"cluster": of} if heading.values else {}
        return TranslatableMessage(heading.template, values, heading.message_id)
    return method if isinstance(method, TranslatableMessage) else message(method)


def key_of_column(heading: TranslatableMessage) -> ColumnKey:
    """What identifies a column, in whatever words."""
    return heading.message_id or heading.template, str_of(heading, "cluster")
