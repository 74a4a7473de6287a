"""Places of a panel that nobody is named for yet: people take them by signing up."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from konsil.records import Event, Rater

SIGN_UP = "sign-up"
"""The kind of event by which a rater (its subject) takes a slot (data.slot)."""


ADDED = "places added"
"""The kind of event that adds slots to a panel (its subject) after the plan: data.number,
data.strata, data.reason."""


@dataclass(frozen=True, slots=True)
class Places:
    """So many places of a panel, for people who are all of the same strata."""

    panel: str
    """The panel that they join."""
    number: int
    """How many there are."""
    strata: Mapping[str, str] = field(default_factory=dict)
    """What somebody's profile must say, such as the specialty; empty: anything."""


def slot_of(panel: str, number: int) -> str:
    """The name of a slot: its panel and its number there, from 1."""
    return f"{panel} {number}"


def panel_of_slot(slot: str) -> str:
    """The panel of a slot, whose own name may have blanks.

    >>> panel_of_slot(slot_of("night shift", 1))
    'night shift'
    """
    return slot.rsplit(" ", 1)[0]


def added_places(events: Iterable[Event]) -> tuple[Places, ...]:
    """The places that were added after the plan, in the order in which they were added.

    >>> added_places(
    ...     [Event("places added 0001", ADDED, "p", "2026-01-01T00:00:00Z", {"number": 2})]
    ... )
    (Places(panel='p', number=2, strata={}),)
    """
    additions = []
    # By name, which is a number: a clock that went back must not change the order in which they
    # were drawn.
    for event in sorted((e for e in events if e.kind == ADDED), key=lambda e: e.id):
        number, strata = event.data.get("number"), event.data.get("strata")
        stratum_values = (
            {str(k): str(v) for k, v in strata.items()} if isinstance(strata, Mapping) else {}
        )
        additions.append(
            Places(event.subject, number if isinstance(number, int) else 0, stratum_values)
        )
    return tuple(additions)


def waves_of(
    places: Iterable[Places], events: Iterable[Event], named: Sequence[Rater]
) -> dict[str, int]:
    """Slot -> which addition it came with, from 1.

    Slots of the plan as it was first drawn are left out.
    """
    base, added = tuple(places), added_places(events)
    waves: dict[str, int] = {}
    for n in range(len(added)):
        before = {r.id for r in placeholder_raters((*base, *added[:n]), named)}
        waves |= {
            r.id: n + 1
            for r in placeholder_raters((*base, *added[: n + 1]), named)
            if r.id not in before
        }
    return waves


def placeholder_raters(places: Iterable[Places], raters: Sequence[Rater]) -> tuple[Rater, ...]:
    """A rater for each place, named like the slot that it will be: the panel and the number in it.

    Raters that the protocol names come first in their panel; the places follow in the protocol's
    order.

    >>> [r.id for r in placeholder_raters([Places("physicians", 2)], [Rater("r1", "physicians")])]
    ['physicians 2', 'physicians 3']
    """
    n_by_panel = Counter(r.panel for r in raters)
    placeholders: list[Rater] = []
    for group in places:
        for _ in range(group.number):
            n_by_panel[group.panel] += 1
            placeholders.append(
                Rater(
                    slot_of(group.panel, n_by_panel[group.panel]),
                    group.panel,
                    strata=dict(group.strata),
                )
            )
    return tuple(placeholders)


def slots_of(raters: Iterable[Rater]) -> tuple[Rater, ...]:
    """A stand-in for every slot of the plan.

    It has the panel, kind and strata of the rater whom the protocol names for the slot.

    >>> [(s.id, s.panel) for s in slots_of([Rater("r1", "p"), Rater("r2", "p"), Rater("t1", "q")])]
    [('p 1', 'p'), ('p 2', 'p'), ('q 1', 'q')]
    """
    n_by_panel: Counter[str] = Counter()
    stand_ins: list[Rater] = []
    for rater in raters:
        n_by_panel[rater.panel] += 1
        slot = slot_of(rater.panel, n_by_panel[rater.panel])
        stand_ins.append(dataclasses.replace(rater, id=slot))
    return tuple(stand_ins)


def suitable(place: Rater, profile: Mapping[str, str]) -> bool:
    """Whether somebody of this profile may take a place.

    >>> suitable(
    ...     Rater("p 1", "p", strata={"specialty": "surgery"}),
    ...     {"specialty": "surgery", "years": "12"},
    ... )
    True
    """
    return all(profile.get(name) == value for name, value in place.strata.items())


def first_free(
    places: Sequence[Rater], free: Collection[str], profile: Mapping[str, str]
) -> Rater | None:
    """The first free place for somebody of this profile, in their order; None where there is none.

    Places are taken in order, so that arms, which are dealt deck by deck along them, keep their
    ratio at every time of the enrolment and in every stratum.
    """
    return next((p for p in places if p.id in free and suitable(p, profile)), None)


def signed_up(events: Iterable[Event], places: Sequence[Rater]) -> tuple[Rater, ...]:
    """All raters who took one of these slots, in the order of time.

    Each has the slot's panel, kind and strata.
    """
    slots = {p.id: p for p in places}
    raters_by_id: dict[str, Rater] = {}
    for event in sorted(events, key=lambda e: (e.at, e.id)):
        place = slots.get(str(event.data.get("slot", ""))) if event.kind == SIGN_UP else None
        if place is not None:
            raters_by_id[event.subject] = dataclasses.replace(place, id=event.subject)
    return tuple(raters_by_id.values())
