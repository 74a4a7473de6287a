"""Sentences of the methods section on intervals and tests, as far as rows have them."""

from __future__ import annotations

import math
from collections.abc import Sequence

from konsil.analysis.model.catalogue.known import PREFERENCE
from konsil.analysis.model.interval_methods import (
    has,
    is_by_rater,
    name_of,
    sentences_on,
    within_wrappers,
)
from konsil.analysis.model.rows import Row
from konsil.analysis.model.spec import Analysis, Resampling
from konsil.errors.message import listed, message
from konsil.stats.agreement.registry import STATISTICS


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
    # Those of differences stand with their tests.
    of_estimates = [m for r in rows for m in [r.estimate.method] if not is_of_difference(m)]
    return [*sentences, *sentences_on(of_estimates)]


def difference_methods(rows: Sequence[Row]) -> list[str]:
    """Sentences on the intervals and tests of differences."""
    differences = [r for r in rows if r.kind == "difference"]
    if not differences:
        return []
    sentences: list[str] = []
    methods = [r.estimate.method for r in differences]
    sentences += sentences_on(list(filter(is_of_difference, methods)))
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


def is_of_difference(method: str) -> bool:
    """Whether a method is for differences alone."""
    return name_of(within_wrappers(method)).startswith("difference.")


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
