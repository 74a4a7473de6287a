"""Planned overlap: which comparisons several raters make.

They are drawn so that strata, arms and raters have their share.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from konsil.errors import PlanError
from konsil.plan.draw.pairing import groups_of, rotation, seatings
from konsil.plan.model.allocation import Allocation, Overlap
from konsil.records import Item, Rater

Leads = dict[tuple[int, int], int]
"""Seat and position -> the seat whose draw is shown there."""


@dataclass
class _Cell:
    """Members of one stratum and arm: those who can make the same comparison."""

    members: list[int]
    positions: list[int]
    """The items that they may see."""
    weight: int
    """What the quota is in proportion to: seats, or items with one rater."""
    quota: int = 0


def share_items(
    allocation: Allocation,
    pool: Sequence[Item],
    panel: Sequence[Rater],
    arms: Sequence[str],
    rng: np.random.Generator,
    where: str,
) -> tuple[list[list[int]], Leads]:
    """Seats with a planned overlap, and whose draw is shown where.

    Without raters_per_item everybody keeps the same load, so that shared comparisons come at the
    cost of others: of T seats in a cell of stratum and arm, m = T * share / (1 + share * (k - 1))
    comparisons have k raters. With one rater an item, the share of the items gets k - 1 further
    raters. Cells with fewer than k raters have no share.
    """
    overlap = allocation.overlap
    if overlap is None:
        raise ValueError("this allocation has no overlap")
    groups = groups_of(allocation, pool, panel, where)
    if allocation.raters_per_item is not None:
        seats = seatings(allocation, pool, panel, rng, where)
        cells = _cells_by_lead(groups, arms, seats)
        _quotas(cells, overlap.share, overlap, rng, where)
        leads = _add_raters(overlap, cells, seats, rng)
        _check_load(allocation, seats, where)
        return [sorted(seat_items) for seat_items in seats], leads
    size = {
        id(positions): min(allocation.per_rater or len(positions), len(positions))
        for _, positions, _ in groups
    }
    seats = [[] for _ in panel]
    leads = {}
    cells_of = [
        _cells_by_seat(members, positions, arms, size[id(positions)])
        for members, positions, _ in groups
    ]
    # As a share of the raters' load: a shared comparison takes the time of several.
    share = overlap.share / (1 + overlap.share * (overlap.raters - 1))
    _quotas([cell for cells in cells_of for cell in cells], share, overlap, rng, where)
    for (members, positions, group_name), cells in zip(groups, cells_of, strict=True):
        n_by_position = dict.fromkeys(positions, 0)
        for cell in cells:
            _draw_shared(overlap, cell, seats, leads, n_by_position, rng, f"{where}{group_name}")
        _fill(size[id(positions)], seats, members, positions, n_by_position, rng)
    return [sorted(seat_items) for seat_items in seats], leads


def _cells_by_seat(
    members: Sequence[int], positions: Sequence[int], arms: Sequence[str], size: int
) -> list[_Cell]:
    by_arm: dict[str, list[int]] = {}
    for member in members:
        by_arm.setdefault(arms[member], []).append(member)
    return [_Cell(by_arm[arm], list(positions), len(by_arm[arm]) * size) for arm in sorted(by_arm)]


def _cells_by_lead(
    groups: Sequence[tuple[list[int], list[int], str]],
    arms: Sequence[str],
    seats: Sequence[Sequence[int]],
) -> list[_Cell]:
    cells = []
    for members, positions, _ in groups:
        for cell in _cells_by_seat(members, positions, arms, 0):
            cell.positions = sorted(p for m in cell.members for p in seats[m])
            cell.weight = len(cell.positions)
            cells.append(cell)
    return cells


def _quotas(
    cells: Sequence[_Cell], share: float, overlap: Overlap, rng: np.random.Generator, where: str
) -> None:
    """Whole numbers that sum to the share of all cells that can share.

    Each is within one of the cell's own share.
    """
    able = [c for c in cells if len(c.members) >= overlap.raters and c.weight]
    if not able:
        raise PlanError(
            f"{where}.overlap.raters: {overlap.raters} raters with the same characteristics and"
            " arm are needed for each comparison, but all groups are smaller"
        )
    exact = [c.weight * share for c in able]
    for cell, exact_quota in zip(able, exact, strict=True):
        # A whole quota that rounding made a little smaller must not lose one.
        cell.quota = int(exact_quota + 1e-9)
    n_remaining = int(sum(exact) + 0.5 + 1e-9) - sum(c.quota for c in able)
    # Ties by the stream: the order of the cells would always favour the same arm.
    ties = rng.random(len(able))
    order = sorted(range(len(able)), key=lambda n: (able[n].quota - exact[n], ties[n]))
    for n in order[: max(n_remaining, 0)]:
        able[n].quota += 1


def _draw_shared(
    overlap: Overlap,
    cell: _Cell,
    seats: list[list[int]],
    leads: Leads,
    n_by_position: dict[int, int],
    rng: np.random.Generator,
    where: str,
) -> None:
    """Deal the cell's shared comparisons to its members in turn, on items that fewest have."""
    turn = [cell.members[int(n)] for n in rng.permutation(len(cell.members))]
    for chosen in rotation(cell.quota, len(turn), overlap.raters) if cell.quota else []:
        group = [turn[n] for n in chosen]
        # A number for every position, free or not: the stream must not depend on what is free.
        ties = dict(zip(cell.positions, rng.random(len(cell.positions)).tolist(), strict=True))
        used_positions = {p for m in group for p in seats[m]}
        free = [p for p in cell.positions if p not in used_positions]
        if not free:
            raise PlanError(
                f"{where}.overlap.share: {len(cell.positions)} items do not suffice for"
                f" {cell.quota} shared comparisons of {len(cell.members)} raters without giving a"
                " rater an item twice; state a smaller share"
            )
        position = min(free, key=lambda p: (n_by_position[p], ties[p]))
        # The others are shown what is drawn for the lead: the same answers in the same pairs.
        lead = min(group)
        for member in group:
            seats[member].append(position)
            leads[member, position] = lead
        n_by_position[position] += len(group)


def _fill(
    size: int,
    seats: list[list[int]],
    members: Sequence[int],
    positions: Sequence[int],
    n_by_position: dict[int, int],
    rng: np.random.Generator,
) -> None:
    for member in members:
        # A number for every position: the stream must not depend on what is taken.
        ties = dict(zip(positions, rng.random(len(positions)).tolist(), strict=True))
        rater_positions = set(seats[member])
        rest = sorted(
            (p for p in positions if p not in rater_positions),
            key=lambda p: (n_by_position[p], ties[p]),
        )
        for position in rest[: size - len(rater_positions)]:
            seats[member].append(position)
            n_by_position[position] += 1


def _add_raters(
    overlap: Overlap, cells: Sequence[_Cell], seats: list[list[int]], rng: np.random.Generator
) -> Leads:
    """Further raters for items that have one.

    The leads in turn, and of the others those with the least to do.
    """
    leads: Leads = {}
    for cell in cells:
        lead_of = {p: m for m in cell.members for p in seats[m] if p in set(cell.positions)}
        ties = {
            p: float(x)
            for p, x in zip(cell.positions, rng.random(len(cell.positions)), strict=True)
        }
        rank: Counter[int] = Counter()
        places: dict[int, int] = {}
        for position in sorted(cell.positions, key=ties.__getitem__):
            places[position] = rank[lead_of[position]]
            rank[lead_of[position]] += 1
        n_meetings: Counter[frozenset[int]] = Counter()
        for position in sorted(cell.positions, key=lambda p: (places[p], ties[p]))[: cell.quota]:
            lead = lead_of[position]
            group = [lead]
            luck = {
                m: float(x)
                for m, x in zip(cell.members, rng.random(len(cell.members)), strict=True)
            }
            while len(group) < overlap.raters:
                others = [m for m in cell.members if m not in group]
                costs = {m: sum(n_meetings[frozenset((m, g))] for g in group) for m in others}
                member = min(others, key=lambda m: (len(seats[m]), costs[m], luck[m]))
                n_meetings.update(frozenset((member, g)) for g in group)
                group.append(member)
                seats[member].append(position)
            leads |= {(member, position): lead for member in group}
    return leads


def _check_load(allocation: Allocation, seats: Sequence[Sequence[int]], where: str) -> None:
    load = max(map(len, seats), default=0)
    if allocation.per_rater is not None and load > allocation.per_rater:
        raise PlanError(
            f"{where}.per_rater: with the overlap a rater has up to {load} items, more than the"
            f" {allocation.per_rater} allowed"
        )


def extend_overlap(
    overlap: Overlap,
    size: int,
    peers: Sequence[int],
    seats: Sequence[Sequence[int]],
    leads: Mapping[tuple[int, int], int],
    rng: np.random.Generator,
) -> dict[int, int | None]:
    """The items that an added member shares with its peers of the same stratum and arm.

    Position -> the lead's seat.

    As many as bring the cell's share back to what is asked: begun ones first, then those of who
    shares least.
    """
    k, share = overlap.raters, overlap.share
    raters: dict[tuple[int, int], int] = Counter(
        (leads.get((m, p), m), p) for m in peers for p in seats[m]
    )
    extra = sum(n - 1 for n in raters.values())
    n_copies = round((share * (k - 1) * (len(raters) + size) - extra) / (1 + share * (k - 1)))
    load = Counter(lead for (lead, _), n in raters.items() if n > 1)
    ties = {key: float(x) for key, x in zip(sorted(raters), rng.random(len(raters)), strict=True)}
    lead_by_position: dict[int, int | None] = {}
    open_ = {key: n for key, n in raters.items() if n < k}
    while open_ and len(lead_by_position) < min(n_copies, size):
        lead, position = min(open_, key=lambda key: (open_[key] == 1, load[key[0]], ties[key]))
        del open_[lead, position]
        if position not in lead_by_position:
            lead_by_position[position] = lead
            load[lead] += 1
    return lead_by_position
