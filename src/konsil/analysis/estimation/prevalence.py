"""How common the commonest label is, and when that makes chance-corrected agreement unsteady."""

from __future__ import annotations

import math

from konsil.analysis.model.sample import Sample
from konsil.errors.message import message
from konsil.stats.agreement.registry import SHARE, STATISTICS
from konsil.stats.engine.tables import label_counts

PREVALENCE = 0.9
"""Where one label makes up more than this, kappa and its relatives are unsteady and their intervals
unreliable."""

LINEAR = frozenset({"pabak", "randolph_kappa", "brennan_prediger"})
"""Linear in a share of agreement, with the same chance whatever the labels' frequencies."""


def commonest(sample: Sample) -> float:
    """The share of the label that was given most often; nan where there is none."""
    counts = label_counts(sample.codes)
    # Seen from both sides, as comparisons count.
    if sample.codes.reverse is not None:
        counts = counts + counts[list(sample.codes.reverse)]
    return float(counts.max() / counts.sum()) if counts.sum() else math.nan


def prevalence_note(sample: Sample, name: str) -> tuple[str, ...]:
    """A note where one label is so common that chance-corrected agreement is unstable."""
    if STATISTICS[name].range == SHARE or name in LINEAR or sample.codes.n_labels < 2:
        return ()
    common = commonest(sample)
    if not common > PREVALENCE:
        return ()
    if sample.codes.n_labels == 2:
        return (
            message(
                "{share:.0%} of ratings are in one of the two categories; chance-corrected"
                " coefficients are unstable.",
                message_id="agreement.one_of_two_categories",
                share=common,
            ),
        )
    return (
        message(
            "{share:.0%} of ratings are in one category; chance-corrected coefficients are"
            " unstable.",
            message_id="agreement.one_category",
            share=common,
        ),
    )


def label_notes(sample: Sample, name: str) -> tuple[str, ...]:
    """All that is to be known of the labels behind a number of agreement."""
    return (*prevalence_note(sample, name), *side_note(sample, name))


def side_note(sample: Sample, name: str) -> tuple[str, ...]:
    """A note on chance-corrected agreement about comparisons: no side counts as the first."""
    if sample.codes.reverse is None or STATISTICS[name].range == SHARE or name in LINEAR:
        return ()
    return (
        message(
            (
                "Each comparison is counted in both directions, with weight one half: with"
                " more than two systems, the estimate would otherwise depend on which of the"
                " two answers is called A."
            ),
            message_id="comparisons.both_ways",
        ),
    )
