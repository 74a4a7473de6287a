"""What kind of interval or test a method is, by its message ids and never by its words."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal

from konsil.errors.message import TranslatableMessage

Feature = Literal[
    "about_these",
    "all_permutations",
    "bootstrap",
    "closed_form",
    "cluster_by_name",
    "effective_clusters",
    "jackknife",
    "model",
    "paired",
    "penalised",
    "permutation",
    "rare_events",
    "resamples",
    "score",
    "single_ratings",
    "square_and_add",
    "straight_difference",
    "thin_majorities",
    "thin_pairs",
    "two_way",
    "uneven",
    "wald_two_way",
    "wrapper",
]
"""What the methods section, the tables and the tests ask of a method; 'wrapper': it adds something
to another method, which decides all else."""

_RESAMPLED = frozenset[Feature]({"bootstrap", "resamples"})
_CLUSTERED = frozenset[Feature]({"cluster_by_name"})
_SCORE = frozenset[Feature]({"score"})
_WRAPPER = frozenset[Feature]({"wrapper"})
_NONE = frozenset[Feature]()

METHODS: Mapping[str, frozenset[Feature]] = MappingProxyType(
    {
        "comparisons.about_these": frozenset({"about_these"}),
        "comparisons.about_this": _WRAPPER | {"about_these"},
        "comparisons.about_this_judge": _WRAPPER | {"about_these"},
        "comparisons.about_this_jury": _WRAPPER | {"about_these"},
        "difference.independent_shares": _SCORE,
        "difference.judge_and_panel": frozenset({"permutation"}),
        "difference.linearised": frozenset({"straight_difference", "cluster_by_name"}),
        "difference.partly_paired_shares": _SCORE,
        "difference.perfect_groups": _SCORE,
        "difference.rare_events": frozenset({"rare_events", "cluster_by_name"}),
        "difference.shuffled": frozenset({"permutation"}),
        "difference.square_and_add": frozenset({"square_and_add"}),
        "difference.swapped": frozenset({"paired", "permutation"}),
        "difference.swapped_exactly": frozenset({"all_permutations", "paired", "permutation"}),
        "difference.tango": _SCORE,
        "edges.by_share": _WRAPPER,
        "edges.posterior": _NONE,
        "edges.thin_majorities": frozenset({"thin_majorities"}),
        "edges.thin_posterior": frozenset({"thin_pairs"}),
        "edges.uneven_exact": frozenset({"uneven"}),
        "edges.uneven_tails": frozenset({"uneven", "wrapper"}),
        "edges.uneven_wald": frozenset({"uneven", "cluster_by_name"}),
        "edges.uneven_wald_logit": frozenset({"uneven", "cluster_by_name"}),
        "edges.uneven_wilson": frozenset({"uneven"}),
        "edges.wald_logit": _CLUSTERED,
        "ensembles.out_of_bag": frozenset({"resamples"}),
        "groups.independent_bootstrap": _RESAMPLED | _CLUSTERED,
        "method.bootstrap": _RESAMPLED | _CLUSTERED,
        "method.chance_level": _NONE,
        "method.chance_over_sides": _NONE,
        "method.exact": _NONE,
        "method.exact_of_clusters": frozenset({"effective_clusters"}),
        "method.flips": _WRAPPER,
        "method.flips_exact": _WRAPPER,
        "method.flips_of_items": _WRAPPER,
        "method.flips_of_items_exact": _WRAPPER,
        "method.jackknife": frozenset({"jackknife"}),
        "method.joint_resamples": frozenset({"resamples"}),
        "method.leave_out": _NONE,
        "method.levels_at_once": _RESAMPLED | _CLUSTERED,
        "method.log_jackknife": _CLUSTERED,
        "method.median": _CLUSTERED,
        "method.mixed_anova": _NONE,
        "method.model": frozenset({"model"}),
        "method.naive_d": _NONE,
        "method.no_jackknife": frozenset({"jackknife"}),
        "method.paired_bootstrap": _RESAMPLED | _CLUSTERED | {"paired"},
        "method.paired_d": _NONE,
        "method.paired_tukey": _NONE,
        "method.percentiles": _RESAMPLED | _CLUSTERED,
        "method.repeated_measures": _NONE,
        "method.shrout_fleiss": _NONE,
        "method.shuffles": _NONE,
        "method.tukey": _NONE,
        "method.unpaired_d": _NONE,
        "method.wald": _CLUSTERED,
        "method.wald_atanh": _CLUSTERED,
        "method.wilson": _NONE,
        "method.wilson_of_clusters": frozenset({"effective_clusters"}),
        "published.agreement": _RESAMPLED,
        "published.percentiles": _RESAMPLED,
        "published.percentiles_and_flips": _RESAMPLED,
        "range.cut_above": _WRAPPER,
        "range.cut_at_both": _WRAPPER,
        "range.cut_below": _WRAPPER,
        "relative.interval": _NONE,
        "table.closed_form_gwet": frozenset({"closed_form"}),
        "table.closed_form_kappa": frozenset({"closed_form"}),
        "table.independent_difference": _RESAMPLED | _CLUSTERED,
        "two_way.by_rater": _NONE,
        "two_way.exact": _NONE,
        "two_way.exact_both": _NONE,
        "two_way.heterogeneity": _NONE,
        "two_way.method": frozenset({"two_way", "wald_two_way"}),
        "two_way.method_logit": frozenset({"two_way", "wald_two_way"}),
        "two_way.one_way": _CLUSTERED,
        "two_way.single_ratings": frozenset({"single_ratings", "two_way", "wald_two_way"}),
        "two_way.wilson": _NONE,
        "two_way.wilson_both": frozenset({"two_way"}),
        "worths.penalised": _WRAPPER | {"penalised"},
    }
)
"""Message id of a method -> its features."""


def features_of(method: str) -> frozenset[Feature]:
    """The features of a method and of the methods within it; none of a text without an id.

    >>> from konsil.errors.message import message
    >>> sorted(features_of(message("{n} draws", message_id="method.bootstrap", n=9)))
    ['bootstrap', 'cluster_by_name', 'resamples']
    """
    if not isinstance(method, TranslatableMessage):
        return _NONE
    features = METHODS.get(method.message_id, _NONE)
    for value in method.values.values():
        if isinstance(value, TranslatableMessage):
            features |= features_of(value)
    return features


def has(method: str, feature: Feature) -> bool:
    """Whether a method, or one within it, has the feature."""
    return feature in features_of(method)


def leads(method: str, feature: Feature) -> bool:
    """Whether the feature is that of the method itself, whatever is added to its name.

    >>> from konsil.errors.message import message
    >>> wald = message("Wald", message_id="two_way.method")
    >>> cut = message("{method}, cut", message_id="range.cut_below", method=wald)
    >>> level = message("chance, {method}", message_id="method.chance_level", method=wald)
    >>> leads(cut, "wald_two_way"), leads(level, "wald_two_way")
    (True, False)
    """
    return feature in METHODS.get(name_of(within_wrappers(method)), _NONE)


def within_wrappers(method: str) -> str:
    """The method itself, without what is added to its name.

    >>> from konsil.errors.message import message
    >>> wald = message("Wald", message_id="two_way.method")
    >>> within_wrappers(message("{method}, cut", message_id="range.cut_below", method=wald))
    'Wald'
    """
    while "wrapper" in METHODS.get(name_of(method), _NONE):
        method = str_of(method, "method")
    return method


def str_of(method: str, gap: str) -> str:
    """What fills a gap of a method; empty where it has none."""
    value = method.values.get(gap, "") if isinstance(method, TranslatableMessage) else ""
    return value if isinstance(value, str) else ""


def name_of(method: str) -> str:
    """The message id of a method; empty for a text without one."""
    return method.message_id if isinstance(method, TranslatableMessage) else ""


def is_by_rater(method: str) -> bool:
    """Whether the raters are the clusters of a method that is named for its clusters.

    >>> from konsil.errors.message import message
    >>> is_by_rater(message("{cluster}-cluster Wald", message_id="method.wald", cluster="rater"))
    True
    """
    if not isinstance(method, TranslatableMessage):
        return False
    if method.message_id == "two_way.by_rater":
        return True
    if "cluster_by_name" in METHODS.get(method.message_id, _NONE):
        return str_of(method, "cluster") == "rater"
    return any(is_by_rater(v) for v in method.values.values() if isinstance(v, str))
