"""Columns of tables for other intervals of the same number: one for each kind of interval.

A column is the message id of its heading and whose clusters it names. No wording decides which
intervals share a column.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from konsil.analysis.model.interval_methods import name_of, str_of, within_wrappers
from konsil.analysis.model.message import TranslatableMessage, message
from konsil.analysis.running.sensitivity.omission_words import omission_of

ColumnKey = tuple[str, str]
"""The message id of a column's heading, and the clusters that it names."""

_Heading = Callable[[str], TranslatableMessage]


def _bootstrap(cluster: str) -> TranslatableMessage:
    return message(
        "{cluster}-cluster bootstrap", message_id="column.bootstrap", cluster=message(cluster)
    )


def _wald(cluster: str) -> TranslatableMessage:
    return message(
        "cluster-robust Wald ({cluster}-clustered)",
        message_id="column.wald",
        cluster=message(cluster),
    )


def _wald_atanh(cluster: str) -> TranslatableMessage:
    return message(
        "cluster-robust Wald ({cluster}-clustered) on the atanh scale",
        message_id="column.wald_atanh",
        cluster=message(cluster),
    )


def _wald_logit(cluster: str) -> TranslatableMessage:
    return message(
        "cluster-robust Wald ({cluster}-clustered) on the logit scale of the proportion",
        message_id="column.wald_logit",
        cluster=message(cluster),
    )


def _two_way(cluster: str) -> TranslatableMessage:
    return message(
        "two-way cluster-robust Wald ({cluster} and rater)",
        message_id="column.two_way",
        cluster=message(cluster),
    )


def _two_way_logit(cluster: str) -> TranslatableMessage:
    return message(
        "two-way cluster-robust Wald ({cluster} and rater) on the logit scale of the proportion",
        message_id="column.two_way_logit",
        cluster=message(cluster),
    )


def _wilson(cluster: str) -> TranslatableMessage:
    return message(
        "Wilson with the effective sample size ({cluster} clusters)",
        message_id="column.wilson",
        cluster=message(cluster),
    )


def _two_way_wilson(cluster: str) -> TranslatableMessage:
    return message(
        "two-way Wilson with the effective sample size ({cluster} and rater)",
        message_id="column.two_way_wilson",
        cluster=message(cluster),
    )


def _exact(cluster: str) -> TranslatableMessage:
    return message(
        "exact ({cluster} clusters)", message_id="column.exact", cluster=message(cluster)
    )


def _two_way_exact(cluster: str) -> TranslatableMessage:
    return message(
        "exact ({cluster} or rater clusters)",
        message_id="column.two_way_exact",
        cluster=message(cluster),
    )


def _posterior(_cluster: str) -> TranslatableMessage:
    return message("posterior of the rating patterns", message_id="column.posterior")


def _model(_cluster: str) -> TranslatableMessage:
    return message("model-based (Fisher information)", message_id="column.model")


def _jackknife(_cluster: str) -> TranslatableMessage:
    return message("leave-one-rater-out jackknife", message_id="column.jackknife")


def _newcombe(_cluster: str) -> TranslatableMessage:
    return message("square-and-add (Newcombe)", message_id="column.newcombe")


def _permutation(_cluster: str) -> TranslatableMessage:
    return message("studentised permutation test", message_id="column.permutation")


def _chance_level(_cluster: str) -> TranslatableMessage:
    return message("chance level", message_id="column.chance_level")


def _unpaired_d(_cluster: str) -> TranslatableMessage:
    return message("Cohen's d of case means, unpaired", message_id="column.unpaired_d")


def _shuffles(_cluster: str) -> TranslatableMessage:
    return message("permutation reference", message_id="column.shuffles")


def _leave_out(column: str) -> TranslatableMessage:
    return message(
        "leave-one-out range ({cluster})",
        message_id="column.leave_out",
        cluster=omission_of(column),
    )


_HEADINGS: Mapping[str, _Heading] = MappingProxyType(
    {
        "difference.judge_and_panel": _permutation,
        "difference.shuffled": _permutation,
        "difference.square_and_add": _newcombe,
        "difference.swapped": _permutation,
        "difference.swapped_exactly": _permutation,
        "edges.posterior": _posterior,
        "edges.thin_majorities": _posterior,
        "edges.thin_posterior": _posterior,
        "edges.uneven_wald": _wald_atanh,
        "edges.uneven_wald_logit": _wald_logit,
        "edges.uneven_wilson": _wilson,
        "edges.wald_logit": _wald_logit,
        "method.bootstrap": _bootstrap,
        "method.chance_level": _chance_level,
        "method.jackknife": _jackknife,
        "method.leave_out": _leave_out,
        "method.model": _model,
        "method.no_jackknife": _jackknife,
        "method.percentiles": _bootstrap,
        "method.shuffles": _shuffles,
        "method.unpaired_d": _unpaired_d,
        "method.wald": _wald,
        "method.wald_atanh": _wald_atanh,
        "method.wilson_of_clusters": _wilson,
        "two_way.by_rater": lambda _cluster: _wald("rater"),
        "two_way.exact": _exact,
        "two_way.exact_both": _two_way_exact,
        "two_way.method": _two_way,
        "two_way.method_logit": _two_way_logit,
        "two_way.one_way": _wald,
        "two_way.wilson": _wilson,
        "two_way.wilson_both": _two_way_wilson,
    }
)
"""Message id of a method -> the heading of its column, made from its clusters."""


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
    if name_of(method) in _HEADINGS:
        return _HEADINGS[name_of(method)](str_of(method, "cluster"))
    return method if isinstance(method, TranslatableMessage) else message(method)


def key_of_column(heading: TranslatableMessage) -> ColumnKey:
    """What identifies a column, in whatever words."""
    return heading.message_id or heading.template, str_of(heading, "cluster")
