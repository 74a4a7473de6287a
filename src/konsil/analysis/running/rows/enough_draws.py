"""Whether the draws are enough for Holm's adjustment: else p values of further draws, or a warning.

With B draws p is at least 1 / (B + 1), and of m tests the smallest adjusted p is at least m / (B +
1).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

from konsil.analysis.model.interval_methods import Feature, features_of
from konsil.analysis.model.message import TranslatableMessage, message
from konsil.analysis.model.rows import Row
from konsil.analysis.model.spec import Resampling

ALPHA = 0.05
"""The adjusted p that the draws should be able to reach."""

_REACHED = 5
"""How many draws as far out as the data may be among the further ones at this p."""


def limited(rows: Sequence[Row], resampling: Resampling) -> dict[int, int]:
    """Rows whose p is as small as the draws allow and whose adjusted p is above .05 for that alone.

    Their numbers, and how many draws would be enough.
    """
    draws_by_row = {}
    for n, row in enumerate(rows):
        p, method = row.estimate.p, row.estimate.method
        features = features_of(method)
        by_draws = features & {"permutation", "resamples"} and "all_permutations" not in features
        if (
            not by_draws
            or row.kind == "companion"
            or not math.isfinite(p)
            or not row.p_adjusted > ALPHA
        ):
            continue
        tests = row.p_adjusted / p
        at_floor = (
            p * (resampling.draws + 1) < 2.5
        )  # a p value that inverts an interval has both tails
        if at_floor and tests / (resampling.draws + 1) > ALPHA:
            draws_by_row[n] = math.ceil(_REACHED * tests / ALPHA)
    return draws_by_row


def with_further_draws(
    rows: Sequence[Row], draws_by_row: dict[int, int], again: Callable[[int], Row]
) -> list[Row]:
    """The rows with the p values of more draws of the same streams; no other number changes.

    `draws_by_row`: rows and the draws that they need; `again`: the row of that number with the most
    of these draws.
    """
    out = list(rows)
    for n in draws_by_row:
        more = again(n)
        if math.isfinite(more.estimate.p) and _sampled(more.estimate.method) == _sampled(
            rows[n].estimate.method
        ):
            out[n] = replace(
                rows[n],
                estimate=replace(rows[n].estimate, p=min(more.estimate.p, rows[n].estimate.p)),
            )
    return out


def _sampled(method: str) -> frozenset[Feature]:
    """A method's features, be its permutations drawn or all there are."""
    return features_of(method) - {"all_permutations"}


def too_few(
    draws_by_row: dict[int, int], resampling: Resampling
) -> tuple[TranslatableMessage, ...]:
    """The warning that a stated number of draws is too small for the adjustment."""
    if not draws_by_row:
        return ()
    return (
        message(
            (
                "{draws:,} resamples are too few for the Holm adjustment: {n:,} {n|test|tests}"
                " with the smallest possible p value {n|has|have} an adjusted p value above"
                " 0.05. Set [resampling] draws to at least {needed:,}."
            ),
            message_id="difference.few_draws",
            draws=resampling.draws,
            n=len(draws_by_row),
            needed=max(draws_by_row.values()),
        ),
    )


def is_stated(resampling: Resampling) -> bool:
    """Whether the protocol states a number of draws."""
    return resampling.draws != Resampling().draws
