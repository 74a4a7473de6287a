"""Assignment of a rater slot of a plan, without HTTP.

A rater receives the first free slot that fits the profile, whatever its arm.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from konsil.errors import KonsilError
from konsil.plan.model.places import (
    ADDED,
    SIGN_UP,
    Places,
    first_free,
    placeholder_raters,
    suitable,
)
from konsil.records import Event, Rater
from konsil.store import Connection, Store
from konsil.store.engine.engine import reading, writing
from konsil.store.log import study_events
from konsil.store.log.study_events import WITHDRAWAL
from konsil.store.people.sites import SITE, sites_of
from konsil.store.tasks import additions, open_slots
from konsil.store.tasks.additions import Addition
from konsil.study import Study
from konsil.study.sections.enrolment import (
    CONSENT,
    ELIGIBILITY,
    PROFILE,
    WAITING,
    Enrolment,
    not_taking_part,
    profiles,
)

EXTRA = "drawn at sign-up for somebody for whom no place was free"
"""The reason in the log of a place that is drawn at sign-up."""


@dataclass(frozen=True, slots=True)
class Offer:
    """A place that somebody could take; which arm it has, nobody sees."""

    place: Rater
    """The place, as its stand-in."""
    pages: int
    """How many tasks it has."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """Somebody on the waiting list."""

    rater: str
    """The rater."""
    at: str
    """Since when."""
    has_place: bool
    """Whether a free place is held for them."""


class Placing:
    """The places of one study."""

    def __init__(self, study: Study, store: Store, now: Callable[[], str]) -> None:
        self._study, self._store, self._now = study, store, now
        self._named = {r.id for r in study.raters}
        self._asks = study.enrolment or Enrolment()

    @property
    def keeps_list(self) -> bool:
        """Whether those for whom no place is free can wait for one."""
        return self._asks.surplus == "waiting list"

    def needs_place(self, rater: str) -> bool:
        """Whether somebody has no tasks before taking a place."""
        if not self._study.places or rater in self._named:
            return False
        with reading(self._store.engine) as connection:
            return not _has_place(connection, rater)

    def offer(self, rater: str) -> Offer | None:
        """The place that somebody would get now; None where no free one fits the profile."""
        with reading(self._store.engine) as connection:
            return self._offer(connection, rater)

    def draws_for(self, rater: str) -> bool:
        """Whether a place can be drawn at sign-up for somebody for whom none is free."""
        with reading(self._store.engine) as connection:
            return self._extra(connection, rater) is not None

    def free(self) -> int:
        """How many tasks are in places that nobody has."""
        if not self._study.places:
            return 0
        with reading(self._store.engine) as connection:
            slots = open_slots.free_slots(connection)
            return sum(slots.get(place.id, 0) for place in self._places(connection))

    def take(self, rater: str) -> bool:
        """Take the first free place that fits, or one drawn now; say whether there was one.

        Again changes nothing.
        """
        if self._take(rater):
            return True
        with reading(self._store.engine) as connection:
            extra_place = self._extra(connection, rater)
        if extra_place is None:
            return False
        try:
            additions.add_places(
                self._store, self._study, Addition(extra_place, EXTRA, rater), at=self._now()
            )
        except KonsilError:
            # Nothing is left to be rated for this profile: as if all places were taken.
            return False
        return self._take(rater)

    def _take(self, rater: str) -> bool:
        at = self._now()
        with writing(self._store.engine) as connection:
            # Two people who sign up in the same second must not get the same place.
            open_slots.lock_open_slots(connection)
            if rater in self._named or _has_place(connection, rater):
                return True
            offer = self._offer(connection, rater)
            if offer is None:
                return False
            strata = {**self._profile(connection, rater), **offer.place.strata}
            open_slots.take(
                connection, Rater(rater, offer.place.panel, strata=strata), offer.place.id, at
            )
        return True

    def wait(self, rater: str) -> bool:
        """Put somebody on the waiting list; say whether they are on it. Again changes nothing."""
        at = self._now()
        with writing(self._store.engine) as connection:
            open_slots.lock_open_slots(connection)
            if not self.keeps_list or rater in self._named or _has_place(connection, rater):
                return False
            waiting_events = study_events.of_subject(connection, rater, (WAITING,))
            if not waiting_events or waiting_events[-1].data.get("removed"):
                event = Event(f"{WAITING} {rater} {len(waiting_events) + 1}", WAITING, rater, at)
                study_events.append_event(connection, event)
        return True

    def stop_waiting(self, rater: str, *, by: str = "") -> bool:
        """Take somebody off the waiting list; say whether they were on it."""
        at = self._now()
        with writing(self._store.engine) as connection:
            waiting_events = study_events.of_subject(connection, rater, (WAITING,))
            if not waiting_events or waiting_events[-1].data.get("removed"):
                return False
            data = {"removed": True} | ({"by": by} if by else {})
            study_events.append_event(
                connection,
                Event(f"{WAITING} {rater} {len(waiting_events) + 1}", WAITING, rater, at, data),
            )
        return True

    def is_waiting(self, rater: str) -> bool:
        """Whether somebody is on the waiting list."""
        with reading(self._store.engine) as connection:
            return any(event.subject == rater for event in self._waiting(connection))

    def waiting(self) -> tuple[Waiting, ...]:
        """The waiting list, whoever came first first.

        Each with whether a free place is held for them.
        """
        with reading(self._store.engine) as connection:
            queue = self._waiting(connection)
            slots_by_rater = self._reserved_slots(connection, queue)
        return tuple(Waiting(e.subject, e.at, e.subject in slots_by_rater) for e in queue)

    def _places(self, connection: Connection) -> tuple[Rater, ...]:
        return placeholder_raters(additions.places_of(connection, self._study), self._study.raters)

    def _offer(self, connection: Connection, rater: str) -> Offer | None:
        free = open_slots.free_slots(connection)
        queue = self._waiting(connection)
        # Only who came earlier has a claim before this rater.
        earlier: list[Event] = []
        for event in queue:
            if event.subject == rater:
                break
            earlier.append(event)
        reserved_slots = set(self._reserved_slots(connection, earlier).values())
        open_ = {slot: n for slot, n in free.items() if slot not in reserved_slots}
        place = first_free(self._places(connection), open_, self._profile(connection, rater))
        return None if place is None else Offer(place, open_[place.id])

    def _reserved_slots(self, connection: Connection, queue: Sequence[Event]) -> dict[str, str]:
        """Who waits -> the free place that is held for them.

        Those who came first are served first.
        """
        if not queue:
            return {}
        free, slots_by_rater = set(open_slots.free_slots(connection)), {}
        stand_ins_ = self._places(connection)
        for event in queue:
            place = first_free(stand_ins_, free, self._profile(connection, event.subject))
            if place is not None:
                slots_by_rater[event.subject] = place.id
                free.discard(place.id)
        return slots_by_rater

    def _waiting(self, connection: Connection) -> list[Event]:
        """When each of those who wait was put on the list, in that order."""
        if not self.keeps_list:
            return []
        last: dict[str, Event] = {}
        for event in study_events.of_kind(connection, WAITING):
            # Out first, so that somebody who leaves the list and returns stands at its end.
            last.pop(event.subject, None)
            if not event.data.get("removed"):
                last[event.subject] = event
        events = (
            [e for kind in (CONSENT, ELIGIBILITY) for e in study_events.of_kind(connection, kind)]
            if last
            else []
        )
        out = not_taking_part(events)
        return [
            e for rater, e in last.items() if rater not in out and not _has_place(connection, rater)
        ]

    def _extra(self, connection: Connection, rater: str) -> Places | None:
        """The extra place for a rater: like the protocol's first place that fits the profile."""
        if self._asks.surplus != "extra ratings":
            return None
        drawn = sum(e.data.get("reason") == EXTRA for e in study_events.of_kind(connection, ADDED))
        if drawn >= self._asks.most_extra:
            return None
        profile = self._profile(connection, rater)
        stand_in = next((p for p in self._places(connection) if suitable(p, profile)), None)
        return None if stand_in is None else Places(stand_in.panel, 1, dict(stand_in.strata))

    def _profile(self, connection: Connection, rater: str) -> dict[str, str]:
        profile_events = study_events.of_subject(connection, rater, (PROFILE,))
        profile = profiles(profile_events, self._asks.profile).get(rater, {})
        # The link by which somebody came counts more than what they say.
        sites = sites_of(connection, "rater", rater)
        return dict(profile) | ({SITE: min(sites)} if sites else {})


def _has_place(connection: Connection, rater: str) -> bool:
    last = [e.kind for e in study_events.of_subject(connection, rater, (SIGN_UP, WITHDRAWAL))]
    return bool(last) and last[-1] == SIGN_UP
