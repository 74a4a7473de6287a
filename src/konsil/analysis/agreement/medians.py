"""The median of one group, with the interval that inverts tests of proportions."""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from konsil.analysis.estimation.estimate import EstimateSummary, undefined_estimate
from konsil.analysis.estimation.group_estimates import Group
from konsil.analysis.estimation.measure import Measure
from konsil.analysis.model.context import Context
from konsil.analysis.model.message import message
from konsil.analysis.model.sample import Sample
from konsil.stats.engine.contract import Estimate
from konsil.stats.inference.infer import Caution
from konsil.stats.shares.durations import median_of_cells
from konsil.stats.shares.medians import clustered_median, label_counts

_FEW_CLUSTERS = 10
"""Clusters below which the t quantiles do not keep the level reliably."""


def median_group(context: Context, keys: dict[str, str], sample: Sample) -> Group:
    """A group's median; as published too, since there is no other interval of it."""
    codes = sample.codes
    is_labelled = codes.labels >= 0
    unit, _ = np.nonzero(is_labelled)
    labels, clusters = codes.labels[is_labelled].astype(np.int64), codes.clusters[unit]
    values = np.asarray(codes.values, dtype=np.float64)
    measure = Measure(
        sums=label_counts(labels, clusters, (len(sample.clusters), len(values))),
        finalise=partial(median_of_cells, values=values),
        clusters=sample.clusters,
        n_units=sample.n_units,
        n_raters=sample.n_raters,
        n_ratings=sample.n_ratings,
        is_smooth=False,
    )
    n_clusters = len(np.unique(clusters))
    resampling = context.resampling
    value, low, high = clustered_median(labels, clusters, values, resampling.level)
    if not math.isfinite(value):
        reason = message("no ratings available")
        return Group(
            keys,
            measure,
            EstimateSummary(undefined_estimate(measure, resampling, n_clusters, reason)),
        )
    headline = Estimate(
        value,
        low,
        high,
        resampling.level,
        n_clusters=n_clusters,
        n_ratings=sample.n_ratings,
        method=message(
            "median by inverting cluster-robust tests of proportions ({cluster}-clustered)",
            message_id="method.median",
            cluster=context.cluster,
        ),
        reason="" if n_clusters > 1 else message("no CI from a single cluster"),
    )
    cautions: tuple[Caution, ...] = ()
    if n_clusters < _FEW_CLUSTERS:
        cautions = (Caution("few-clusters", (n_clusters, _FEW_CLUSTERS)),)
    return Group(keys, measure, EstimateSummary(headline, cautions=cautions))
