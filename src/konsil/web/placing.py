"""Taking a place of a plan, without HTTP: the first free one that fits the profile, with whatever arm it has."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from konsil.plan.places import SIGN_UP, first_free
from konsil.records import Rater
from konsil.store import Connection, Store, happenings, places
from konsil.store.engine import reading, writing
from konsil.store.happenings import WITHDRAWAL
from konsil.study import Study
from konsil.study.enrolment import PROFILE, profiles


@dataclass(frozen=True, slots=True)
class Offer:
    """A place that somebody could take; which arm it has, nobody sees."""

    place: Rater
    """The place, as its stand-in."""
    pages: int
    """How many tasks it has."""


class Placing:
    """The places of one study."""

    def __init__(self, study: Study, store: Store, now: Callable[[], str]) -> None:
        self._study, self._store, self._now = study, store, now
        self._named = {r.id for r in study.raters}
        self._places = tuple(study.everybody()[len(study.raters) :])

    def needs_place(self, rater: str) -> bool:
        """Whether somebody has no tasks before taking a place."""
        if not self._places or rater in self._named:
            return False
        with reading(self._store.engine) as connection:
            return not _has_place(connection, rater)

    def offer(self, rater: str) -> Offer | None:
        """The place that somebody would get now; None where no free one fits the profile."""
        with reading(self._store.engine) as connection:
            return self._offer(connection, rater)

    def free(self) -> int:
        """How many tasks are in places that nobody has."""
        if not self._places:
            return 0
        with reading(self._store.engine) as connection:
            slots = places.free_slots(connection)
        return sum(slots.get(place.id, 0) for place in self._places)

    def take(self, rater: str) -> bool:
        """Take the first free place that fits; say whether there was one. Taking again changes nothing."""
        at = self._now()
        with writing(self._store.engine) as connection:
            places.keep_others_waiting(connection)
            if rater in self._named or _has_place(connection, rater):
                return True
            offer = self._offer(connection, rater)
            if offer is None:
                return False
            strata = {**self._profile(connection, rater), **offer.place.strata}
            places.take(connection, Rater(rater, offer.place.panel, strata=strata), offer.place.id, at)
        return True

    def _offer(self, connection: Connection, rater: str) -> Offer | None:
        free = places.free_slots(connection)
        place = first_free(self._places, free, self._profile(connection, rater))
        return None if place is None else Offer(place, free[place.id])

    def _profile(self, connection: Connection, rater: str) -> dict[str, str]:
        enrolment = self._study.enrolment
        said = happenings.of_subject(connection, rater, (PROFILE,))
        return profiles(said, enrolment.profile if enrolment is not None else ()).get(rater, {})


def _has_place(connection: Connection, rater: str) -> bool:
    last = [e.kind for e in happenings.of_subject(connection, rater, (SIGN_UP, WITHDRAWAL))]
    return bool(last) and last[-1] == SIGN_UP
