"""Agreement about comparisons that does not depend on which of two answers is called the first."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np

from konsil.stats.engine.contract import Codes, Statistic


def exchanged(codes: Codes) -> Codes:
    """The same labels with the two sides of every comparison exchanged.

    Needs codes with `reverse`; the shape (n_units, n_raters) stays, and -1 stays -1.

    >>> exchanged(Codes(np.array([[0, 2], [1, -1]]), np.arange(2), 3, reverse=(2, 1, 0))).labels
    array([[ 2,  0],
           [ 1, -1]])
    """
    if codes.reverse is None:
        raise ValueError(
            "exchanged: the codes do not contain the label after an exchange of the sides"
        )
    # The last entry is the one that -1 finds: what is missing stays missing.
    of = np.array([*codes.reverse, -1], dtype=codes.labels.dtype)
    return replace(codes, labels=of[codes.labels])


@lru_cache(maxsize=512)
def tallied_both_ways(tally: Callable[[Codes], Any]) -> Callable[[Codes], Any]:
    """The tally that counts every unit of a comparison both ways round, half each.

    Where the codes are of no comparison, the tally itself is called.

    S = (S(x) + S(x')) / 2, x' the labels with the sides exchanged, so that the margins of a table
    of agreement are those of a comparison whose first answer was drawn by a coin. Shape and units
    are the tally's; integer sums become halves. The same function gives the same result, so that
    statistics of the same sums share them.

    Source: convention, as Scott (1955) symmetrises over raters whose order means nothing.
    """

    def both(codes: Codes) -> Any:  # noqa: ANN401 - dense or sparse sums, as the tally gives them
        if codes.reverse is None:
            return tally(codes)
        return (tally(codes) + tally(exchanged(codes))) / 2

    return both


def both_ways(statistic: Statistic, codes: Codes) -> Statistic:
    """The statistic of comparisons with every unit counted both ways round.

    Where the codes are of no comparison, the statistic is unchanged.
    """
    return (
        statistic
        if codes.reverse is None
        else replace(statistic, tally=tallied_both_ways(statistic.tally))
    )
