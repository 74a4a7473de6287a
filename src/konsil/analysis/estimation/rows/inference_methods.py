"""Sentences of the methods section on intervals and tests, as far as rows have them."""

from __future__ import annotations

import math
from collections.abc import Sequence

from konsil.analysis.estimation.rare_events import FEW_HITS
from konsil.analysis.model.catalogue.known import PREFERENCE
from konsil.analysis.model.interval_methods import (
    has,
    is_by_rater,
    leads,
    name_of,
    within_wrappers,
)
from konsil.analysis.model.rows import Row
from konsil.analysis.model.spec import Analysis, Resampling
from konsil.errors.message import listed, message
from konsil.stats.agreement.registry import STATISTICS
from konsil.stats.inference.infer import FEW_CLUSTERS


def interval_methods(
    analyses: Sequence[Analysis], rows: Sequence[Row], seed: int, resampling: Resampling
) -> list[str]:
    """Sentences on the intervals of estimates."""
    clusters = sorted({"item" if a.cluster == "rater" else a.cluster for a in analyses})
    if not rows or not clusters:
        return []
    sentences: list[str] = []
    if any(has(r.estimate.method, "bootstrap") for r in rows):
        sentences.append(
            message(
                (
                    "All CIs are {level:g}% CIs. Bootstrap CIs are bias-corrected and"
                    " accelerated (BCa) unless stated otherwise, from {draws:,} resamples of"
                    " clusters ({clusters}; study seed {seed}); all analyses of the same"
                    " clusters use the same resamples."
                ),
                message_id="methods.bootstrap",
                level=resampling.level * 100,
                draws=resampling.draws,
                clusters=listed([message(c) for c in clusters]),
                seed=seed,
            )
        )
    if any(has(r.estimate.method, "cluster_jackknife") for r in rows):
        sentences.append(
            message(
                (
                    "Other estimates from fewer than {few} clusters have a CI from a jackknife over"
                    " clusters, t with degrees of freedom from the kurtosis of the clusters'"
                    " influences."
                ),
                message_id="methods.cluster_jackknife",
                few=FEW_CLUSTERS,
            )
        )
    if any(name_of(r.estimate.method) == "method.log_jackknife" for r in rows):
        sentences.append(
            message(
                "CIs of standard deviations are from a jackknife over clusters on the log scale.",
                message_id="methods.log_jackknife",
            )
        )
    if any(name_of(r.estimate.method) == "relative.interval" for r in rows):
        sentences.append(
            message(
                (
                    "Relative differences of proportions have CIs of a ratio (MOVER) with the"
                    " effective sample sizes of the clusters, which exclude 0 exactly where the"
                    " square-and-add CI of the difference does; no p value is computed for them."
                ),
                message_id="relative.methods",
            )
        )
    if any(has(r.estimate.method, "two_way") for r in rows if r.statistic not in PREFERENCE):
        sentences.append(
            message(
                (
                    "Two-way CIs allow for other items and other raters (cluster-robust Wald, t"
                    " with effective degrees of freedom)."
                ),
                message_id="target.two_way",
            )
        )
    if any(has(r.estimate.method, "two_way") for r in rows if r.statistic in STATISTICS):
        sentences.append(
            message(
                "The variance between raters of agreement is from a leave-one-rater-out jackknife.",
                message_id="target.two_way_agreement",
            )
        )
    if any(a.cluster == "rater" for a in analyses):
        sentences.append(
            message(
                "With raters as clusters, the CI is a cluster-robust Wald CI for sums of"
                " single ratings and a leave-one-rater-out jackknife CI otherwise."
            )
        )
    sentences += _proportion_methods(rows)
    sentences += _posterior_methods(rows)
    if any(has(r.estimate.method, "uneven") for r in rows):
        sentences.append(
            message(
                (
                    "Agreement in clusters of very unequal size has CIs with bias-reduced"
                    " variance and effective degrees of freedom."
                ),
                message_id="edges.uneven_methods",
            )
        )
    return sentences


def _proportion_methods(rows: Sequence[Row]) -> list[str]:
    """Sentences on proportions: without clustering, and of rare outcomes."""
    names = {name_of(within_wrappers(r.estimate.method)) for r in rows}
    sentences: list[str] = []
    if "method.wilson" in names:
        sentences.append(
            message("Proportions without clustering have Wilson CIs.", message_id="methods.wilson")
        )
    if "method.exact" in names:
        sentences.append(
            message(
                "Proportions without clustering that are 0 or 1 have Clopper-Pearson CIs.",
                message_id="methods.exact",
            )
        )
    if "method.wilson_of_clusters" in names:
        sentences.append(
            message(
                (
                    "Where the less frequent outcome occurred in fewer than {few} clusters,"
                    " Wilson CIs with the effective sample size were used."
                ),
                message_id="methods.rare_outcomes",
                few=FEW_HITS,
            )
        )
    if "method.exact_of_clusters" in names:
        sentences.append(
            message(
                "Where an outcome occurred in no cluster, Clopper-Pearson CIs by cluster were"
                " used.",
                message_id="methods.no_outcomes",
            )
        )
    return sentences


def _posterior_methods(rows: Sequence[Row]) -> list[str]:
    """Sentences on posteriors of the rating patterns, each with its prior."""
    sentences: list[str] = []
    if any(name_of(within_wrappers(r.estimate.method)) == "edges.posterior" for r in rows):
        sentences.append(
            message(
                (
                    "Posterior CIs weight every cluster at random (Bayesian bootstrap); the prior"
                    " of the lower limit is one more cluster whose raters label by chance (with"
                    " more weight if labels are few or rare), that of the upper limit one whose"
                    " raters agree."
                ),
                message_id="edges.posterior_methods",
            )
        )
    if any(has(r.estimate.method, "thin_pairs") for r in rows):
        sentences.append(
            message(
                (
                    "Means over pairs of raters have CIs from a posterior of the rating"
                    " patterns if some pairs share few units; the prior has equal weight for"
                    " every pair. The degrees of freedom of t are the harmonic mean of the"
                    " clusters that pairs share, minus 1."
                ),
                message_id="edges.thin_methods",
            )
        )
    if any(has(r.estimate.method, "thin_majorities") for r in rows):
        sentences.append(
            message(
                (
                    "Means over raters compared with the majority of the others have CIs from"
                    " a posterior of the rating patterns if some raters rated few units; the"
                    " prior has equal weight for every rater. The degrees of freedom of t are"
                    " the harmonic mean of the clusters that raters share with that majority,"
                    " minus 1."
                ),
                message_id="edges.thin_majorities_methods",
            )
        )
    return sentences


def difference_methods(rows: Sequence[Row]) -> list[str]:
    """Sentences on the intervals and tests of differences."""
    differences = [r for r in rows if r.kind == "difference"]
    if not differences:
        return []
    sentences: list[str] = []
    methods = [r.estimate.method for r in differences]
    sentences += _difference_intervals(methods)
    if any(has(m, "bootstrap") for m in methods):
        sentences.append(message("Differences were computed on the same resamples (paired)."))
    tested = [r for r in differences if math.isfinite(r.estimate.p)]
    by_t = [
        r for r in tested if is_by_rater(r.estimate.method) or has(r.estimate.method, "jackknife")
    ]
    if any(not has(r.estimate.method, "bootstrap") for r in tested if r not in by_t):
        sentences.append(
            message(
                "The p value of a difference is from the test that its CI inverts.",
                message_id="difference.tests",
            )
        )
    if any(has(r.estimate.method, "bootstrap") for r in tested):
        sentences.append(
            message(
                ("Two-sided p values for differences were obtained by inverting the bootstrap CI."),
                message_id="methods.inverted",
            )
        )
    if by_t:
        sentences.append(
            message("Where raters are the clusters, p values are from the t distribution.")
        )
    if any(math.isfinite(r.p_adjusted) for r in differences):
        sentences.append(
            message(
                "The Holm adjustment covers all declared differences.", message_id="declared.holm"
            )
        )
    return sentences


def _difference_intervals(methods: Sequence[str]) -> list[str]:
    """Sentences on the intervals of differences, those of these methods."""
    sentences: list[str] = []
    names = {name_of(within_wrappers(m)) for m in methods}
    if any(has(m, "score") for m in methods):
        sentences.append(
            message(
                "Differences of proportions have score CIs.",
                message_id="difference.intervals_of_shares",
            )
        )
    if "difference.square_and_add" in names:
        sentences.append(
            message(
                (
                    "Where a cluster has several outcomes of a group, differences of proportions"
                    " have Newcombe square-and-add CIs with the effective sample sizes."
                ),
                message_id="difference.intervals_of_uneven_shares",
            )
        )
    if names & {"difference.swapped", "difference.swapped_exactly"}:
        sentences.append(
            message(
                (
                    "CIs of other differences are from studentised permutation tests that"
                    " exchange the two groups within whole clusters."
                ),
                message_id="difference.intervals_of_permutation",
            )
        )
    if "difference.shuffled" in names:
        sentences.append(
            message(
                (
                    "Where a cluster belongs to only one group, CIs of differences are from"
                    " studentised permutation tests of the clusters' group membership."
                ),
                message_id="difference.intervals_of_membership",
            )
        )
    if any(leads(m, "rare_events") for m in methods):
        sentences.append(
            message(
                (
                    "Differences of estimates based on rare events have cluster-robust Wald"
                    " CIs with effective degrees of freedom."
                ),
                message_id="difference.intervals_of_rare_events",
            )
        )
    if any(leads(m, "straight_difference") for m in methods):
        sentences.append(
            message(
                "Differences of groups that cannot be exchanged have cluster-robust Wald CIs.",
                message_id="difference.intervals_of_linearisation",
            )
        )
    return sentences


def family_methods(rows: Sequence[Row]) -> list[str]:
    """How the declared win differences are adjusted for one another."""
    members = [r for r in rows if math.isfinite(r.p_max_t)]
    if not members:
        return []
    return [
        message(
            "The p values of the {n} declared tests of win differences are adjusted for"
            " multiple testing in two ways: by the Holm method over all declared tests, and by"
            " max-T over these tests, with their correlations from shared items and raters.",
            message_id="two_way.family",
            n=len(members),
        )
    ]
