"""Which items each member of a panel sees, and whose draw of answers.

The plan's seats, shared and added ones too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from konsil.plan.draw.overlaps import extend_overlap, share_items
from konsil.plan.draw.pairing import groups_of, seatings
from konsil.plan.model.rng_streams import generator
from konsil.plan.model.screens import Site
from konsil.records import Item, Rater


@dataclass
class Seating:
    """Positions in an allocation's pool, by seat of its panel."""

    seats: list[list[int]]
    """Seat -> the positions of its items, in the pool's order."""
    leads: dict[tuple[int, int], int] = field(default_factory=dict)
    """Seat and position -> the seat whose draw of answers is shown there, where two share a
    comparison."""


def seat_panel(
    site: Site, pool: Sequence[Item], panel: Sequence[Rater], arms: Sequence[str]
) -> Seating:
    """The seats of a whole panel.

    Those of the plan as it was first drawn, then each addition in its turn.

    An addition draws from a stream of its own and from what has been seen until then, so it moves
    nothing.
    """
    book, allocation, where = site.book, site.allocation, site.where
    first = [r for r in panel if r.id not in book.waves]
    if allocation.overlap is None:
        rng = generator(book.seed, *site.key, "limits")
        seating = Seating(seatings(allocation, pool, first, rng, where))
    else:
        rng = generator(book.seed, *site.key, "overlap")
        seating = Seating(*share_items(allocation, pool, first, arms, rng, where))
    seating.seats += [[] for _ in panel[len(first) :]]
    # Wave by wave, each with a stream of its own: what is added moves nothing drawn before.
    for wave in sorted({book.waves[r.id] for r in panel[len(first) :]}):
        members = [n for n, r in enumerate(panel) if book.waves.get(r.id) == wave]
        _add(
            site,
            seating,
            pool,
            panel,
            arms,
            members,
            generator(book.seed, *site.key, "added", wave),
        )
    return seating


def _add(
    site: Site,
    seating: Seating,
    pool: Sequence[Item],
    panel: Sequence[Rater],
    arms: Sequence[str],
    members: Sequence[int],
    rng: np.random.Generator,
) -> None:
    """Give each new member the items with the fewest raters.

    It also gets its share of comparisons that others make.
    """
    allocation = site.allocation
    for group_members, positions, _ in groups_of(allocation, pool, panel, site.where):
        fresh = [m for m in group_members if m in set(members)]
        limit = allocation.per_rater
        if limit is None and allocation.raters_per_item is not None:
            before = sum(panel[m].id not in site.book.waves for m in group_members)
            # What each of the first members has, rounded up.
            limit = -(-len(positions) * allocation.raters_per_item // max(before, 1))
        size = len(positions) if limit is None else min(limit, len(positions))
        n_by_position = dict.fromkeys(positions, 0)
        for member in group_members:
            for position in seating.seats[member]:
                n_by_position[position] += 1
        for member in fresh:
            lead_by_position: dict[int, int | None] = {}
            if allocation.overlap is not None:
                peers = [
                    m
                    for m in group_members
                    if arms[m] == arms[member] and seating.seats[m] and m != member
                ]
                lead_by_position |= extend_overlap(
                    allocation.overlap, size, peers, seating.seats, seating.leads, rng
                )
            ties = dict(zip(positions, rng.random(len(positions)).tolist(), strict=True))
            rest = sorted(
                (p for p in positions if p not in lead_by_position),
                key=lambda p: (n_by_position[p], ties[p]),
            )
            lead_by_position |= dict.fromkeys(rest[: size - len(lead_by_position)])
            seating.seats[member] = sorted(lead_by_position)
            seating.leads |= {
                (member, p): lead for p, lead in lead_by_position.items() if lead is not None
            }
            for position in lead_by_position:
                n_by_position[position] += 1
