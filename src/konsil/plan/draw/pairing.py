"""Which members of a panel see which items.

Whole panels, balanced pairs, limits, matched strata.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from konsil.errors import PlanError
from konsil.errors.message import message, placed
from konsil.plan.model.allocation import Allocation
from konsil.records import Item, Rater


def seatings(
    allocation: Allocation,
    pool: Sequence[Item],
    panel: Sequence[Rater],
    rng: np.random.Generator,
    where: str,
) -> list[list[int]]:
    """For each member of the panel, the positions in `pool` of the items that it rates.

    The positions are in the pool's order.
    """
    seats: list[list[int]] = [[] for _ in panel]
    for members, positions, group_name in groups_of(allocation, pool, panel, where):
        if allocation.raters_per_item is not None:
            _rotate(allocation, seats, members, positions, f"{where}{group_name}")
        elif allocation.per_rater is not None:
            _assign_least_rated(allocation.per_rater, seats, members, positions, rng)
        else:
            for seat in members:
                seats[seat] = list(positions)
    return seats


def groups_of(
    allocation: Allocation, pool: Sequence[Item], panel: Sequence[Rater], where: str
) -> list[tuple[list[int], list[int], str]]:
    """(seats, positions, words for errors) that may meet.

    All, or those that share the matched stratum.
    """
    match = allocation.match
    if match is None:
        return [(list(range(len(panel))), list(range(len(pool))), "")]
    seats: dict[str, list[int]] = {}
    positions: dict[str, list[int]] = {}
    for n, rater in enumerate(panel):
        if match not in rater.strata:
            fact = message(
                "rater {rater!r} has no characteristic {name!r}",
                message_id="planning.rater_without",
                rater=rater.id,
                name=match,
            )
            raise PlanError(placed(f"{where}.match", fact))
        seats.setdefault(rater.strata[match], []).append(n)
    for n, item in enumerate(pool):
        if match not in item.strata:
            fact = message(
                "item {item!r} has no characteristic {name!r}",
                message_id="planning.item_without",
                item=item.id,
                name=match,
            )
            raise PlanError(placed(f"{where}.match", fact))
        positions.setdefault(item.strata[match], []).append(n)
    return [
        (seats.get(value, []), places, f" ({match} {value!r})")
        for value, places in positions.items()
    ]


def _rotate(
    allocation: Allocation,
    seats: list[list[int]],
    members: Sequence[int],
    positions: Sequence[int],
    where: str,
) -> None:
    n_each, n = allocation.raters_per_item or 0, len(members)
    if not 1 <= n_each <= n:
        fact = message(
            "{n_each} {n_each|rater|raters} per item requested, but the panel has {n}",
            message_id="planning.few_raters",
            n_each=n_each,
            n=n,
        )
        raise PlanError(placed(f"{where}.raters_per_item", fact))
    for i, chosen in enumerate(rotation(len(positions), n, n_each)):
        for seat in chosen:
            seats[members[seat]].append(positions[i])
    limit = allocation.per_rater
    load = max((len(seats[m]) for m in members), default=0)
    if limit is not None and load > limit:
        fact = message(
            "{n_items} {n_items|item|items} with {n_each} {n_each|rater|raters} each give {n}"
            " {n|rater|raters} up to {load} {load|item|items}, more than the {limit} allowed",
            message_id="planning.high_load",
            n_items=len(positions),
            n_each=n_each,
            n=n,
            load=load,
            limit=limit,
        )
        raise PlanError(placed(f"{where}.per_rater", fact))


def rotation(n_items: int, n_raters: int, k: int) -> list[tuple[int, ...]]:
    """The k raters of each item.

    Every rater equally often, and pairs of raters as evenly as rotation allows.

    Pairs: item i goes to i mod R and (i + 1 + floor(i / R) mod (R - 1)) mod R, so that R (R - 1)
    items give every pair of R raters exactly two. More than two: the offsets of each round of R
    items are those whose differences were used least so far. One: i mod R.

    >>> rotation(6, 3, 2)
    [(0, 1), (1, 2), (2, 0), (0, 2), (1, 0), (2, 1)]
    """
    used = np.zeros(n_raters, dtype=np.int64)
    offsets: tuple[int, ...] = (0,)
    raters_by_item = []
    for i in range(n_items):
        if i % n_raters == 0:
            offsets = (
                (0, 1 + i // n_raters % (n_raters - 1)) if k == 2 else _offsets(used, n_raters, k)
            )
        raters_by_item.append(tuple((i + offset) % n_raters for offset in offsets))
    return raters_by_item


def _offsets(
    used: np.ndarray[tuple[int], np.dtype[np.int64]], n_raters: int, k: int
) -> tuple[int, ...]:
    chosen = [0]
    while len(chosen) < k:
        free = [d for d in range(n_raters) if d not in chosen]
        costs = [sum(int(used[abs(d - c)]) for c in chosen) for d in free]
        best = free[int(np.argmin(costs))]
        for c in chosen:
            # A difference and its complement are the same pairs of a circle.
            used[abs(best - c)] += 1
            used[n_raters - abs(best - c)] += 1
        chosen.append(best)
    return tuple(chosen)


def _assign_least_rated(
    limit: int,
    seats: list[list[int]],
    members: Sequence[int],
    positions: Sequence[int],
    rng: np.random.Generator,
) -> None:
    """Each rater in turn gets the items that fewest have seen, ties at random.

    None is left out while one repeats.
    """
    n_by_position = np.zeros(len(positions), dtype=np.int64)
    for seat in members:
        ties = rng.random(len(positions))
        # The last key of `lexsort` counts first: how often an item is rated.
        rater_positions = sorted(np.lexsort((ties, n_by_position))[:limit].tolist())
        n_by_position[rater_positions] += 1
        seats[seat] = [positions[i] for i in rater_positions]
