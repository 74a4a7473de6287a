"""Shares whose rarer outcome few clusters hold: too few for a bootstrap."""

from __future__ import annotations

from dataclasses import replace

from konsil.analysis.measure import Measure
from konsil.analysis.said import say
from konsil.stats import shares
from konsil.stats.contract import Estimate

FEW_HITS = 50
"""Where fewer clusters hold a share's rarer outcome, its interval is Wilson's and not the bootstrap's."""


def of_few_hits(headline: Estimate, measure: Measure, cluster: str) -> Estimate | None:
    """The interval of a share whose rarer outcome few clusters hold; None for other numbers and other shares."""
    if measure.hits is None or measure.trials is None:
        return None
    rarer = min(int((measure.hits > 0).sum()), int((measure.hits < measure.trials).sum()))
    if rarer >= FEW_HITS:
        return None
    low, high = shares.clustered_interval(measure.hits, measure.trials, headline.level)
    method = (
        say("Wilson at the sample size that the {cluster} clusters are worth", cluster=cluster)
        if rarer
        else say("Clopper-Pearson, each {cluster} counted once", cluster=cluster)
    )
    return replace(headline, low=low, high=high, n_undefined=0, method=method)
