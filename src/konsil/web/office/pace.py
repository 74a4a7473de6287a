"""The raters' pace and the expected end of rating.

Both are pure functions of counts and times; no label enters them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from statistics import median

from konsil.records.numerals import natural
from konsil.store.tasks.progress import Count, Handed

RECENT_DAYS = 7
"""Days that the pace looks back on."""
RECENT_SCREENS = 50
"""Screens whose median says how long one takes."""
FEWEST = 3
"""Screens before there is a median."""


@dataclass(frozen=True, slots=True)
class Pace:
    """How far a rater is, and how fast."""

    rater: str
    """Who."""
    n_completed: int
    """Screens done."""
    total: int
    """Screens of the plan."""
    last: str | None
    """When a screen was handed in last; None: never."""
    seconds: float | None
    """The median of a screen; None before there are a few."""
    hours: float | None
    """Hours of work left; by the median of all where the rater has none yet; None where nobody
    has."""
    a_day: float
    """Screens a day, of late."""
    end: date | None
    """When it will be done at this pace; None: done already, or no pace."""

    @property
    def n_pending(self) -> int:
        """Screens still to do."""
        return self.total - self.n_completed


@dataclass(frozen=True, slots=True)
class Forecast:
    """When all will be done."""

    end: date | None
    """The day on which the last one will be done; None where nothing can be said, or nothing is
    left."""
    hours: float | None
    """Hours of work left, of all together."""
    without: tuple[str, ...] = ()
    """Who has work left and has not worked of late: the day does not count them in."""


def paces(counts: Sequence[Count], handed: Sequence[Handed], now: str) -> tuple[Pace, ...]:
    """One for each rater who has tasks, by rater.

    The pace is the number of screens handed in within the last seven days, divided by seven, or by
    the days since the rater's first screen where these are fewer (at least one).
    """
    current_time = datetime.fromisoformat(now)
    times: dict[str, list[Handed]] = {}
    for screen in handed:
        times.setdefault(screen.rater, []).append(screen)
    overall_median = _median(handed)
    rater_paces = []
    for rater in sorted({c.rater for c in counts if c.rater}, key=natural):
        rater_counts = [c for c in counts if c.rater == rater]
        total, n_completed, rater_screens = (
            sum(c.tasks for c in rater_counts),
            sum(c.n_completed for c in rater_counts),
            times.get(rater, []),
        )
        rater_median = _median(rater_screens)
        each = rater_median if rater_median is not None else overall_median
        a_day = _a_day(rater_screens, current_time)
        n_pending = total - n_completed
        rater_paces.append(
            Pace(
                rater=rater,
                n_completed=n_completed,
                total=total,
                last=rater_screens[-1].at if rater_screens else None,
                seconds=rater_median,
                hours=None if each is None else n_pending * each / 3600,
                a_day=a_day,
                end=(
                    (current_time + timedelta(days=math.ceil(n_pending / a_day))).date()
                    if n_pending and a_day
                    else None
                ),
            )
        )
    return tuple(rater_paces)


def forecast(rater_paces: Iterable[Pace]) -> Forecast:
    """The expected end of rating for all of these raters.

    >>> busy = Pace("r1", 1, 3, None, None, 0.5, 1.0, date(2025, 3, 3))
    >>> ready = Pace("r2", 2, 2, None, None, 0, 0, None)
    >>> forecast([busy, ready])
    Forecast(end=datetime.date(2025, 3, 3), hours=0.5, without=())
    """
    several = tuple(rater_paces)
    hours = [p.hours for p in several if p.n_pending]
    ends = [p.end for p in several if p.end is not None]
    estimated_hours = [h for h in hours if h is not None]
    return Forecast(
        end=max(ends, default=None),
        hours=sum(estimated_hours) if len(estimated_hours) == len(hours) else None,
        without=tuple(p.rater for p in several if p.n_pending and not p.a_day),
    )


def _median(handed: Iterable[Handed]) -> float | None:
    seconds = [h.seconds for h in handed if h.seconds is not None][-RECENT_SCREENS:]
    return median(seconds) if len(seconds) >= FEWEST else None


def _a_day(handed: Sequence[Handed], now: datetime) -> float:
    if not handed:
        return 0.0
    recent = sum(now - datetime.fromisoformat(h.at) < timedelta(days=RECENT_DAYS) for h in handed)
    since = (now - datetime.fromisoformat(handed[0].at)) / timedelta(days=1)
    return recent / min(max(since, 1.0), RECENT_DAYS)
