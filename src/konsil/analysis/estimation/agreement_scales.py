"""How a statistic of agreement reads labels: their numbers, and itself as a share."""

from __future__ import annotations

from dataclasses import replace

from konsil.analysis.estimation.own_weights import Weights
from konsil.analysis.estimation.prevalence import LINEAR
from konsil.stats.agreement.alpha import Level
from konsil.stats.agreement.long_scales.disagreement import disagreement
from konsil.stats.agreement.registry import OF_NUMBERS, SHARE, STATISTICS
from konsil.stats.engine.contract import Codes


def share_of(name: str, weights: Weights, codes: Codes) -> tuple[float, float] | None:
    """(a, b) where the statistic is a + b times a share from 0 to 1; None where it is not."""
    if STATISTICS[name].range == SHARE and name != "kendall_w":
        return 0.0, 1.0
    if name not in LINEAR or codes.n_labels < 2:
        return None
    weighting = weights if name == "brennan_prediger" and weights else "unweighted"
    mean = disagreement(weighting, codes.n_labels, codes.values).mean()
    return 1 - 1 / mean, 1 / mean


def spaced(codes: Codes, name: str, level: Level) -> Codes:
    """The codes, without the labels' numbers for nominal and ordinal labels.

    Ordinal labels are steps apart, not numbers apart, for all statistics but those that average
    numbers (ICC).
    """
    if level in {"nominal", "ordinal"} and STATISTICS[name].needs not in OF_NUMBERS:
        return replace(codes, values=None)
    return codes
