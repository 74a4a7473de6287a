"""Places of a panel that nobody is named for yet: people take them by signing up."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from konsil.records import Event, Rater

SIGN_UP = "sign-up"
"""The kind of event by which a rater (its subject) takes a slot (data.slot)."""


@dataclass(frozen=True, slots=True)
class Places:
    """So many places of a panel, for people who are all of the same strata."""

    panel: str
    """The panel that they join."""
    number: int
    """How many there are."""
    strata: Mapping[str, str] = field(default_factory=dict)
    """What somebody's profile must say, such as the specialty; empty: anything."""


def stand_ins(places: Iterable[Places], raters: Sequence[Rater]) -> tuple[Rater, ...]:
    """A rater for each place, named like the slot that it will be: the panel and the number in it.

    Raters that the protocol names come first in their panel; the places follow in the protocol's order.

    >>> [r.id for r in stand_ins([Places("physicians", 2)], [Rater("r1", "physicians")])]
    ['physicians 2', 'physicians 3']
    """
    taken = Counter(r.panel for r in raters)
    found: list[Rater] = []
    for one in places:
        for _ in range(one.number):
            taken[one.panel] += 1
            found.append(Rater(f"{one.panel} {taken[one.panel]}", one.panel, strata=dict(one.strata)))
    return tuple(found)


def slots_of(raters: Iterable[Rater]) -> tuple[Rater, ...]:
    """A stand-in for every slot of the plan, of the panel, kind and strata of whom the protocol names for it.

    >>> [(s.id, s.panel) for s in slots_of([Rater("r1", "p"), Rater("r2", "p"), Rater("t1", "q")])]
    [('p 1', 'p'), ('p 2', 'p'), ('q 1', 'q')]
    """
    taken: Counter[str] = Counter()
    found: list[Rater] = []
    for rater in raters:
        taken[rater.panel] += 1
        found.append(dataclasses.replace(rater, id=f"{rater.panel} {taken[rater.panel]}"))
    return tuple(found)


def suitable(place: Rater, profile: Mapping[str, str]) -> bool:
    """Whether somebody of this profile may take a place.

    >>> suitable(Rater("p 1", "p", strata={"specialty": "surgery"}), {"specialty": "surgery", "years": "12"})
    True
    """
    return all(profile.get(name) == value for name, value in place.strata.items())


def first_free(places: Sequence[Rater], free: Collection[str], profile: Mapping[str, str]) -> Rater | None:
    """The first free place for somebody of this profile, in their order; None where there is none.

    Places are taken in order, so that arms, which are dealt deck by deck along them, keep their ratio at every time of
    the enrolment and in every stratum.
    """
    return next((p for p in places if p.id in free and suitable(p, profile)), None)


def signed_up(events: Iterable[Event], places: Sequence[Rater]) -> tuple[Rater, ...]:
    """Everybody who took one of these slots, as raters of its panel, kind and strata, in the order of time."""
    slots = {p.id: p for p in places}
    found: dict[str, Rater] = {}
    for event in sorted(events, key=lambda e: (e.at, e.id)):
        place = slots.get(str(event.data.get("slot", ""))) if event.kind == SIGN_UP else None
        if place is not None:
            found[event.subject] = dataclasses.replace(place, id=event.subject)
    return tuple(found.values())
