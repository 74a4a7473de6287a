"""The methods of intervals and tests: what reports, tables and the methods section know of each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from konsil.errors.message import TranslatableMessage, message
from konsil.stats.inference.infer import FEW_CLUSTERS
from konsil.stats.shares.shares import FEW_HITS

Feature = Literal[
    "about_these",
    "all_permutations",
    "bootstrap",
    "closed_form",
    "cluster_by_name",
    "cluster_jackknife",
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


@dataclass(frozen=True)
class IntervalMethod:
    """All that is known of a method beside its name, which the estimate carries."""

    features: frozenset[Feature] = frozenset()
    """What is asked of it."""
    heading: TranslatableMessage | None = None
    """The heading of a table's column of it; None: it is printed in full."""
    references: tuple[str, ...] = ()
    """Publications, as keys of the manuscript's `references.json`."""
    sentence: TranslatableMessage | None = None
    """What the methods section states once of all numbers that have it; None: only its name."""


_CLUSTER = "item"
"""Stands for the clusters of a method in the headings below."""

_BOOTSTRAP = message(
    "{cluster}-cluster bootstrap",
    message_id="column.bootstrap",
    cluster=_CLUSTER,
)
_WALD = message(
    "cluster-robust Wald ({cluster}-clustered)",
    message_id="column.wald",
    cluster=_CLUSTER,
)
_WALD_ATANH = message(
    "cluster-robust Wald ({cluster}-clustered) on the atanh scale",
    message_id="column.wald_atanh",
    cluster=_CLUSTER,
)
_WALD_LOGIT = message(
    ("cluster-robust Wald ({cluster}-clustered) on the logit scale of the proportion"),
    message_id="column.wald_logit",
    cluster=_CLUSTER,
)
_WALD_LOGIT_SCALE = message(
    "cluster-robust Wald ({cluster}-clustered) on the logit scale",
    message_id="column.wald_logit_scale",
    cluster=_CLUSTER,
)
_CLUSTER_JACKKNIFE = message(
    "{cluster}-cluster jackknife",
    message_id="column.cluster_jackknife",
    cluster=_CLUSTER,
)
_TWO_WAY = message(
    "two-way cluster-robust Wald ({cluster} and rater)",
    message_id="column.two_way",
    cluster=_CLUSTER,
)
_TWO_WAY_LOGIT = message(
    ("two-way cluster-robust Wald ({cluster} and rater) on the logit scale of the proportion"),
    message_id="column.two_way_logit",
    cluster=_CLUSTER,
)
_SINGLE_RATINGS = message(
    "single ratings, two-way ({cluster} and rater)",
    message_id="column.single_ratings",
    cluster=_CLUSTER,
)
_WILSON = message(
    "Wilson with the effective sample size ({cluster} clusters)",
    message_id="column.wilson",
    cluster=_CLUSTER,
)
_TWO_WAY_WILSON = message(
    "two-way Wilson with the effective sample size ({cluster} and rater)",
    message_id="column.two_way_wilson",
    cluster=_CLUSTER,
)
_EXACT = message(
    "exact ({cluster} clusters)",
    message_id="column.exact",
    cluster=_CLUSTER,
)
_TWO_WAY_EXACT = message(
    "exact ({cluster} or rater clusters)",
    message_id="column.two_way_exact",
    cluster=_CLUSTER,
)
_POSTERIOR = message(
    "posterior of the rating patterns",
    message_id="column.posterior",
)
_MODEL = message(
    "model-based (Fisher information)",
    message_id="column.model",
)
_JACKKNIFE = message(
    "leave-one-rater-out jackknife",
    message_id="column.jackknife",
)
_NEWCOMBE = message(
    "square-and-add (Newcombe)",
    message_id="column.newcombe",
)
_PERMUTATION = message(
    "studentised permutation test",
    message_id="column.permutation",
)
_CHANCE_LEVEL = message(
    "chance level",
    message_id="column.chance_level",
)
_CHANCE_OVER_SIDES = message(
    "chance over both orders of the systems",
    message_id="column.chance_over_sides",
)
_SIGNED_RANK = message(
    "Wilcoxon's signed ranks",
    message_id="column.signed_rank",
)
_UNPAIRED_D = message(
    "Cohen's d of case means, unpaired",
    message_id="column.unpaired_d",
)
_SHUFFLES = message(
    "permutation reference",
    message_id="column.shuffles",
)
_LEAVE_OUT = message(
    "leave-one-out range ({cluster})",
    message_id="column.leave_out",
    cluster=_CLUSTER,
)
_BY_JACKKNIFE = message(
    (
        "Other estimates that change smoothly with the clusters, from fewer than {few}"
        " clusters, have a CI from a jackknife over clusters, t with degrees of freedom"
        " from the kurtosis of the clusters' influences."
    ),
    message_id="methods.cluster_jackknife",
    few=FEW_CLUSTERS,
)
_OF_UNEVEN_CLUSTERS = message(
    (
        "Agreement in clusters of very unequal size has CIs with bias-reduced"
        " variance and effective degrees of freedom."
    ),
    message_id="edges.uneven_methods",
)
_BY_SCORE = message(
    "Differences of proportions have score CIs.",
    message_id="difference.intervals_of_shares",
)
_BY_EXCHANGE = message(
    (
        "CIs of other differences are from studentised permutation tests that"
        " exchange the two groups within whole clusters."
    ),
    message_id="difference.intervals_of_permutation",
)

METHODS: Mapping[str, IntervalMethod] = MappingProxyType(
    {
        "method.cluster_jackknife": IntervalMethod(
            features=frozenset({"cluster_by_name", "cluster_jackknife"}),
            heading=_CLUSTER_JACKKNIFE,
            references=("efron1981", "satterthwaite1946"),
            sentence=_BY_JACKKNIFE,
        ),
        "method.cluster_jackknife_atanh": IntervalMethod(
            features=frozenset({"cluster_by_name", "cluster_jackknife"}),
            heading=_CLUSTER_JACKKNIFE,
            references=("efron1981", "satterthwaite1946"),
            sentence=_BY_JACKKNIFE,
        ),
        "method.cluster_jackknife_logit": IntervalMethod(
            features=frozenset({"cluster_by_name", "cluster_jackknife"}),
            heading=_CLUSTER_JACKKNIFE,
            references=("efron1981", "satterthwaite1946"),
            sentence=_BY_JACKKNIFE,
        ),
        "method.levels_by_jackknife": IntervalMethod(
            features=frozenset({"cluster_by_name", "cluster_jackknife"}),
            references=("efron1981", "satterthwaite1946"),
            sentence=_BY_JACKKNIFE,
        ),
        "method.log_jackknife": IntervalMethod(
            features=frozenset({"cluster_by_name"}),
            references=("efron1981",),
            sentence=message(
                ("CIs of standard deviations are from a jackknife over clusters on the log scale."),
                message_id="methods.log_jackknife",
            ),
        ),
        "relative.interval": IntervalMethod(
            references=("donner2012", "newcombe2016", "korn1998"),
            sentence=message(
                (
                    "Relative differences of proportions have CIs of a ratio (MOVER) with the"
                    " effective sample sizes of the clusters, which exclude 0 exactly where the"
                    " square-and-add CI of the difference does; no p value is computed for them."
                ),
                message_id="relative.methods",
            ),
        ),
        "method.wilson": IntervalMethod(
            references=("wilson1927",),
            sentence=message(
                "Proportions without clustering have Wilson CIs.",
                message_id="methods.wilson",
            ),
        ),
        "method.exact": IntervalMethod(
            references=("clopper1934",),
            sentence=message(
                "Proportions without clustering that are 0 or 1 have Clopper-Pearson CIs.",
                message_id="methods.exact",
            ),
        ),
        "method.wilson_of_clusters": IntervalMethod(
            features=frozenset({"effective_clusters"}),
            heading=_WILSON,
            references=("wilson1927", "korn1998"),
            sentence=message(
                (
                    "Where the less frequent outcome occurred in fewer than {few} clusters,"
                    " Wilson CIs with the effective sample size were used."
                ),
                message_id="methods.rare_outcomes",
                few=FEW_HITS,
            ),
        ),
        "method.exact_of_clusters": IntervalMethod(
            features=frozenset({"effective_clusters"}),
            references=("clopper1934", "korn1998"),
            sentence=message(
                (
                    "Where an outcome occurred in no cluster, Clopper-Pearson CIs by cluster were"
                    " used."
                ),
                message_id="methods.no_outcomes",
            ),
        ),
        "edges.posterior": IntervalMethod(
            heading=_POSTERIOR,
            references=("rubin1981",),
            sentence=message(
                (
                    "Posterior CIs weight every cluster at random (Bayesian bootstrap); the prior"
                    " of the lower limit is one more cluster whose raters label by chance (with"
                    " more weight if labels are few or rare), that of the upper limit one whose"
                    " raters agree."
                ),
                message_id="edges.posterior_methods",
            ),
        ),
        "edges.thin_posterior": IntervalMethod(
            features=frozenset({"thin_pairs"}),
            heading=_POSTERIOR,
            references=("rubin1981",),
            sentence=message(
                (
                    "Means over pairs of raters have CIs from a posterior of the rating patterns"
                    " if some pairs share few units; the prior has equal weight for every pair."
                    " The degrees of freedom of t are the harmonic mean of the clusters that"
                    " pairs share, minus 1."
                ),
                message_id="edges.thin_methods",
            ),
        ),
        "edges.thin_majorities": IntervalMethod(
            features=frozenset({"thin_majorities"}),
            heading=_POSTERIOR,
            references=("rubin1981",),
            sentence=message(
                (
                    "Means over raters compared with the majority of the others have CIs from a"
                    " posterior of the rating patterns if some raters rated few units; the prior"
                    " has equal weight for every rater. The degrees of freedom of t are the"
                    " harmonic mean of the clusters that raters share with that majority, minus"
                    " 1."
                ),
                message_id="edges.thin_majorities_methods",
            ),
        ),
        "edges.uneven_exact": IntervalMethod(
            features=frozenset({"uneven"}),
            references=("clopper1934", "korn1998", "bell2002"),
            sentence=_OF_UNEVEN_CLUSTERS,
        ),
        "edges.uneven_tails": IntervalMethod(
            features=frozenset({"uneven", "wrapper"}),
            sentence=_OF_UNEVEN_CLUSTERS,
        ),
        "edges.uneven_wald": IntervalMethod(
            features=frozenset({"cluster_by_name", "uneven"}),
            heading=_WALD_ATANH,
            references=("bell2002", "satterthwaite1946"),
            sentence=_OF_UNEVEN_CLUSTERS,
        ),
        "edges.uneven_wald_logit": IntervalMethod(
            features=frozenset({"cluster_by_name", "uneven"}),
            heading=_WALD_LOGIT,
            references=("bell2002", "satterthwaite1946"),
            sentence=_OF_UNEVEN_CLUSTERS,
        ),
        "edges.uneven_wilson": IntervalMethod(
            features=frozenset({"uneven"}),
            heading=_WILSON,
            references=("wilson1927", "korn1998", "bell2002"),
            sentence=_OF_UNEVEN_CLUSTERS,
        ),
        "difference.independent_shares": IntervalMethod(
            features=frozenset({"score"}),
            references=("miettinen1985",),
            sentence=_BY_SCORE,
        ),
        "difference.partly_paired_shares": IntervalMethod(
            features=frozenset({"score"}),
            references=("tango1998", "miettinen1985"),
            sentence=_BY_SCORE,
        ),
        "difference.perfect_groups": IntervalMethod(
            features=frozenset({"score"}),
            references=("miettinen1985",),
            sentence=_BY_SCORE,
        ),
        "difference.tango": IntervalMethod(
            features=frozenset({"score"}),
            references=("tango1998",),
            sentence=_BY_SCORE,
        ),
        "difference.square_and_add": IntervalMethod(
            features=frozenset({"square_and_add"}),
            heading=_NEWCOMBE,
            references=("newcombe1998", "korn1998"),
            sentence=message(
                (
                    "Where a cluster has several outcomes of a group, differences of proportions"
                    " have Newcombe square-and-add CIs with the effective sample sizes."
                ),
                message_id="difference.intervals_of_uneven_shares",
            ),
        ),
        "difference.swapped": IntervalMethod(
            features=frozenset({"paired", "permutation"}),
            heading=_PERMUTATION,
            references=("phipson2010",),
            sentence=_BY_EXCHANGE,
        ),
        "difference.swapped_exactly": IntervalMethod(
            features=frozenset({"all_permutations", "paired", "permutation"}),
            heading=_PERMUTATION,
            references=("phipson2010",),
            sentence=_BY_EXCHANGE,
        ),
        "difference.shuffled": IntervalMethod(
            features=frozenset({"permutation"}),
            heading=_PERMUTATION,
            references=("phipson2010",),
            sentence=message(
                (
                    "Where a cluster belongs to only one group, CIs of differences are from"
                    " studentised permutation tests of the clusters' group membership."
                ),
                message_id="difference.intervals_of_membership",
            ),
        ),
        "difference.rare_events": IntervalMethod(
            features=frozenset({"cluster_by_name", "rare_events"}),
            references=("liang1986", "satterthwaite1946"),
            sentence=message(
                (
                    "Differences of estimates based on rare events have cluster-robust Wald CIs"
                    " with effective degrees of freedom."
                ),
                message_id="difference.intervals_of_rare_events",
            ),
        ),
        "difference.linearised": IntervalMethod(
            features=frozenset({"cluster_by_name", "straight_difference"}),
            references=("liang1986", "satterthwaite1946"),
            sentence=message(
                "Differences of groups that cannot be exchanged have cluster-robust Wald CIs.",
                message_id="difference.intervals_of_linearisation",
            ),
        ),
        "comparisons.about_these": IntervalMethod(features=frozenset({"about_these"})),
        "comparisons.about_this": IntervalMethod(features=frozenset({"about_these", "wrapper"})),
        "comparisons.about_this_judge": IntervalMethod(
            features=frozenset({"about_these", "wrapper"})
        ),
        "comparisons.about_this_jury": IntervalMethod(
            features=frozenset({"about_these", "wrapper"})
        ),
        "difference.judge_and_panel": IntervalMethod(
            features=frozenset({"permutation"}),
            heading=_PERMUTATION,
            references=("phipson2010",),
        ),
        "edges.by_share": IntervalMethod(
            features=frozenset({"wrapper"}),
        ),
        "edges.wald_logit": IntervalMethod(
            features=frozenset({"cluster_by_name"}),
            heading=_WALD_LOGIT,
            references=("liang1986",),
        ),
        "ensembles.out_of_bag": IntervalMethod(
            features=frozenset({"resamples"}),
            references=("efron1979",),
        ),
        "groups.independent_bootstrap": IntervalMethod(
            features=frozenset({"bootstrap", "cluster_by_name", "resamples"}),
            references=("efron1987",),
        ),
        "method.bootstrap": IntervalMethod(
            features=frozenset({"bootstrap", "cluster_by_name", "resamples"}),
            heading=_BOOTSTRAP,
            references=("efron1987",),
        ),
        "method.chance_level": IntervalMethod(
            heading=_CHANCE_LEVEL,
        ),
        "method.chance_over_sides": IntervalMethod(
            heading=_CHANCE_OVER_SIDES,
        ),
        "method.flips": IntervalMethod(
            features=frozenset({"wrapper"}),
            references=("phipson2010",),
        ),
        "method.flips_exact": IntervalMethod(
            features=frozenset({"wrapper"}),
            references=("phipson2010",),
        ),
        "method.flips_of_items": IntervalMethod(
            features=frozenset({"wrapper"}),
            references=("phipson2010",),
        ),
        "method.flips_of_items_exact": IntervalMethod(
            features=frozenset({"wrapper"}),
            references=("phipson2010",),
        ),
        "method.jackknife": IntervalMethod(
            features=frozenset({"jackknife"}),
            heading=_JACKKNIFE,
            references=("efron1981",),
        ),
        "method.joint_resamples": IntervalMethod(
            features=frozenset({"resamples"}),
            references=("efron1979",),
        ),
        "method.leave_out": IntervalMethod(
            heading=_LEAVE_OUT,
            references=("efron1981",),
        ),
        "method.levels_at_once": IntervalMethod(
            features=frozenset({"bootstrap", "cluster_by_name", "resamples"}),
            references=("efron1987",),
        ),
        "method.median": IntervalMethod(
            features=frozenset({"cluster_by_name"}),
            references=("woodruff1952", "francisco1991", "korn1998"),
        ),
        "method.mixed_anova": IntervalMethod(
            references=("kirk2013",),
        ),
        "method.model": IntervalMethod(
            features=frozenset({"model"}),
            heading=_MODEL,
        ),
        "method.naive_d": IntervalMethod(
            references=("cohen1988",),
        ),
        "method.no_jackknife": IntervalMethod(
            features=frozenset({"jackknife"}),
            heading=_JACKKNIFE,
            references=("efron1981",),
        ),
        "method.paired_bootstrap": IntervalMethod(
            features=frozenset({"bootstrap", "cluster_by_name", "paired", "resamples"}),
            references=("efron1987",),
        ),
        "method.paired_d": IntervalMethod(
            references=("cohen1988",),
        ),
        "method.paired_tukey": IntervalMethod(
            references=("maxwell1980",),
        ),
        "method.percentiles": IntervalMethod(
            features=frozenset({"bootstrap", "cluster_by_name", "resamples"}),
            heading=_BOOTSTRAP,
            references=("efron1979",),
        ),
        "method.repeated_measures": IntervalMethod(
            references=("kirk2013", "greenhouse1959", "steiger1997", "smithson2001"),
        ),
        "method.shrout_fleiss": IntervalMethod(
            references=("shrout1979",),
        ),
        "method.shuffles": IntervalMethod(
            heading=_SHUFFLES,
            references=("phipson2010",),
        ),
        "method.signed_rank": IntervalMethod(
            heading=_SIGNED_RANK,
            references=("wilcoxon1945",),
        ),
        "method.tukey": IntervalMethod(
            references=("tukey1949",),
        ),
        "method.unpaired_d": IntervalMethod(
            heading=_UNPAIRED_D,
            references=("cohen1988", "mann1947"),
        ),
        "method.wald": IntervalMethod(
            features=frozenset({"cluster_by_name"}),
            heading=_WALD,
            references=("liang1986",),
        ),
        "method.wald_atanh": IntervalMethod(
            features=frozenset({"cluster_by_name"}),
            heading=_WALD_ATANH,
            references=("liang1986",),
        ),
        "method.wald_logit": IntervalMethod(
            features=frozenset({"cluster_by_name"}),
            heading=_WALD_LOGIT_SCALE,
            references=("liang1986",),
        ),
        "published.agreement": IntervalMethod(
            features=frozenset({"bootstrap", "resamples"}),
            references=("efron1979",),
        ),
        "published.percentiles": IntervalMethod(
            features=frozenset({"bootstrap", "resamples"}),
            references=("efron1979",),
        ),
        "published.percentiles_and_flips": IntervalMethod(
            features=frozenset({"bootstrap", "resamples"}),
            references=("efron1979", "pocqi2026"),
        ),
        "range.cut_above": IntervalMethod(
            features=frozenset({"wrapper"}),
        ),
        "range.cut_at_both": IntervalMethod(
            features=frozenset({"wrapper"}),
        ),
        "range.cut_below": IntervalMethod(
            features=frozenset({"wrapper"}),
        ),
        "table.closed_form_gwet": IntervalMethod(
            features=frozenset({"closed_form"}),
            references=("gwet2014",),
        ),
        "table.closed_form_kappa": IntervalMethod(
            features=frozenset({"closed_form"}),
            references=("fleiss1969",),
        ),
        "table.independent_difference": IntervalMethod(
            features=frozenset({"bootstrap", "cluster_by_name", "resamples"}),
            references=("efron1987",),
        ),
        "two_way.by_rater": IntervalMethod(
            heading=_WALD,
            references=("liang1986",),
        ),
        "two_way.exact": IntervalMethod(
            heading=_EXACT,
            references=("clopper1934",),
        ),
        "two_way.exact_both": IntervalMethod(
            heading=_TWO_WAY_EXACT,
            references=("clopper1934", "cameron2011"),
        ),
        "two_way.heterogeneity": IntervalMethod(
            references=("cameron2011",),
        ),
        "two_way.method": IntervalMethod(
            features=frozenset({"two_way", "wald_two_way"}),
            heading=_TWO_WAY,
            references=("cameron2011", "bell2002", "satterthwaite1946"),
        ),
        "two_way.method_logit": IntervalMethod(
            features=frozenset({"two_way", "wald_two_way"}),
            heading=_TWO_WAY_LOGIT,
            references=("cameron2011", "bell2002", "satterthwaite1946"),
        ),
        "two_way.one_way": IntervalMethod(
            features=frozenset({"cluster_by_name"}),
            heading=_WALD,
            references=("liang1986", "satterthwaite1946"),
        ),
        "two_way.single_ratings": IntervalMethod(
            features=frozenset({"single_ratings", "two_way", "wald_two_way"}),
            heading=_SINGLE_RATINGS,
            references=("cameron2011", "bell2002", "satterthwaite1946"),
        ),
        "two_way.wilson": IntervalMethod(
            heading=_WILSON,
            references=("wilson1927", "korn1998"),
        ),
        "two_way.wilson_both": IntervalMethod(
            features=frozenset({"two_way"}),
            heading=_TWO_WAY_WILSON,
            references=("wilson1927", "korn1998", "cameron2011"),
        ),
        "worths.penalised": IntervalMethod(
            features=frozenset({"penalised", "wrapper"}), references=("mease2003",)
        ),
    }
)
"""Message id of a method -> what is known of it, in the order of the sentences."""
