"""Notes on the raters behind a number: their number, and who gave many of the ratings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from konsil.analysis.estimation.measure import Measure
from konsil.errors.message import message
from konsil.stats.engine.contract import Estimate, IntArray
from konsil.stats.engine.renumbering import renumbered
from konsil.stats.inference.cluster_variance import (
    FEW_RATERS,
    LEAST_RATERS,
    MUCH,
    WIDER,
    effective_number,
)


def rater_sampling_notes(headline: Estimate, two: Estimate, measure: Measure) -> list[str]:
    """Notes where sampling of raters widens the CI, and where raters are few."""
    notes: list[str] = []
    width, wide = headline.high - headline.low, two.high - two.low
    if width > 0 and wide / width > WIDER:
        notes.append(
            message(
                "Allowing for rater sampling widens the CI by {wider:.0%}; use the two-way"
                " CI to generalise to other raters.",
                message_id="two_way.wider",
                wider=wide / width - 1,
            )
        )
    n = measure.n_raters if measure.cell is None else len(renumbered(measure.cell.raters)[0])
    if n < FEW_RATERS:
        notes.append(
            message(
                "With {n} {n|rater|raters} (fewer than {few}), the primary CI applies to"
                " these raters only; do not generalise.",
                message_id="two_way.few_raters",
                n=n,
                few=FEW_RATERS,
            )
        )
    return [*notes, *dominant_rater(measure)]


def dominant_rater(measure: Measure) -> list[str]:
    """A note on the rater who gave much more of the ratings than an equal share, if any.

    It also states the effective number of raters of that group. More than a tenth and more than
    twice an equal share, as of comparisons; of two groups the one in which the proportion is
    largest.
    """
    return dominant_of(*_counts(measure))


def dominant_of(counts_of_groups: Sequence[IntArray], names: Sequence[str] = ()) -> list[str]:
    """The same from the number of ratings of every rater, for each group.

    `names`: the raters', empty if not known.
    """
    dominant = [
        (share, n, counts)
        for share, n, counts in _busiest(counts_of_groups)
        if share > max(MUCH, 2 / n)
    ]
    if not dominant:
        return []
    share, n, counts = max(dominant, key=lambda entry: entry[0])
    return [
        message(
            (
                "{who} gave {share:.0%} of the ratings; the effective number of raters is"
                " {effective:.1f} (of {n})."
            ),
            message_id="two_way.dominant_ratings",
            who=_rater_names(names, counts),
            share=share,
            n=n,
            effective=effective_number(counts),
        )
    ]


def dominated(measure: Measure) -> list[str]:
    """A note on the rater with too many of the ratings to estimate how raters vary.

    Empty if there is none.
    """
    return dominated_of(*_counts(measure))


def dominated_of(counts_of_groups: Sequence[IntArray], names: Sequence[str] = ()) -> list[str]:
    """The same from the number of ratings of every rater, for each group.

    `names`: the raters', empty if not known.
    """
    busiest = [
        (share, n, c)
        for share, n, c in _busiest(counts_of_groups)
        if effective_number(c) < LEAST_RATERS
    ]
    if not busiest:
        return []
    share, n, counts = max(busiest, key=lambda entry: entry[0])
    return [
        message(
            (
                "{who} gave {share:.0%} of the ratings; the effective number of raters is"
                " {effective:.1f} (of {n}). With fewer than {least:g}, variation between"
                " raters is not estimable; the CI applies to these raters only."
            ),
            message_id="two_way.dominated_ratings",
            who=_rater_names(names, counts),
            share=share,
            n=n,
            effective=effective_number(counts),
            least=LEAST_RATERS,
        )
    ]


def _counts(measure: Measure) -> tuple[list[IntArray], Sequence[str]]:
    """How many ratings each rater gave, for each group, and the raters' names."""
    cell = measure.cell
    if cell is None:
        return [], ()
    groups = [slice(None)] if cell.groups is None else [cell.groups == n for n in (0, 1)]
    return [np.bincount(cell.raters[of_group]) for of_group in groups], cell.names


def _busiest(counts_of_groups: Sequence[IntArray]) -> Iterator[tuple[float, int, IntArray]]:
    """Largest proportion of each group's ratings by one rater, number of raters, counts.

    Only groups of several raters; the counts are those of each rater.
    """
    for counts in counts_of_groups:
        n = int(np.count_nonzero(counts))
        if n > 1:
            yield float(counts.max() / counts.sum()), n, counts


def _rater_names(names: Sequence[str], counts: IntArray) -> str:
    return (
        names[int(counts.argmax())]
        if names
        else message("One rater", message_id="two_way.one_rater")
    )
