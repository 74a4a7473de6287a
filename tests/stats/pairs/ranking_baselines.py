"""Other rankings of systems by votes, for comparison: counting, average win rates, Elo's ladder.

Newman's worths (J Mach Learn Res 24:238, 2023) are Davidson's up to scale: `worths.fit`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from konsil.stats.engine.arithmetic import ratio
from konsil.stats.engine.contract import Array
from konsil.stats.pairs.votes import pair_members
from konsil.stats.pairs.wins import scores


def counting(cell_totals: Array, n_systems: int, tie: float = 0.5) -> Array:
    """The number of wins, a tie counting `tie`; (n_cells,) to (n_systems,).

    The ranking favours systems that were compared more often.

    >>> counting(np.array([2.0, 4.0, 4.0]), 2)
    array([6., 4.])
    """
    return np.asarray(_won(cell_totals, n_systems, tie).sum(axis=1))


def average_win_rate(cell_totals: Array, n_systems: int, tie: float = 0.5) -> Array:
    """The mean over comparator systems of the proportion of comparisons won, a tie counting `tie`.

    (n_cells,) to (n_systems,). nan without any comparison.

    >>> average_win_rate(np.array([2.0, 4.0, 4.0]), 2)
    array([0.6, 0.4])
    """
    won = _won(cell_totals, n_systems, tie)
    share = ratio(won, won + won.T)
    n_rivals = np.isfinite(share).sum(axis=1).astype(np.float64)
    return ratio(np.nansum(share, axis=1), n_rivals)


def elo(
    first: ArrayLike,
    second: ArrayLike,
    outcomes: ArrayLike,
    n_systems: int,
    *,
    k: float = 4.0,
    initial: float = 1000.0,
    scale: float = 400.0,
    base: float = 10.0,
) -> Array:
    """Elo's ladder: after each vote both systems move by k (result - expected result).

    expected = 1 / (1 + base^((other - own) / scale)), result 1, 1/2 or 0. `first`, `second`,
    `outcomes` (n_votes,) are in the order in which they came in, on which the scores (n_systems,)
    depend: they are for comparison with other rankings and no estimate.

    Source: Elo, The Rating of Chessplayers, 1978.

    >>> elo([0, 0], [1, 1], [1, 0], 2, k=32).round(2)
    array([1014.53,  985.47])
    """
    score = [initial] * n_systems
    columns = (np.asarray(c).tolist() for c in (first, second, np.sign(outcomes)))
    for a, b, y in zip(*columns, strict=True):
        expected = 1 / (1 + base ** ((score[b] - score[a]) / scale))
        moved = k * ((y + 1) / 2 - expected)
        score[a] += moved
        score[b] -= moved
    return np.array(score)


def _won(cell_totals: Array, n_systems: int, tie: float) -> Array:
    """(n_systems, n_systems) the wins of the row's system against the column's."""
    first, second = pair_members(n_systems)
    table = cell_totals.reshape(len(first), -1)
    won, _ = scores((table.shape[1] - 1) // 2, "win")
    level = 1 - won - won[::-1]
    out = np.zeros((n_systems, n_systems))
    out[first, second] = table @ (won + tie * level)
    out[second, first] = table @ (won[::-1] + tie * level)
    return out
