"""The recruitment record: how raters were found, as events that are only ever added.

What they say now.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from konsil.errors import StudyError
from konsil.records import Event

KIND = "recruitment"
"""Kind of the events. Subject 'about': the texts; 'stratum ' and a name: the counts of a stratum,
empty for all."""
STEPS = ("frame", "contacted", "responded", "eligible", "consented", "completed")
"""The counts of a stratum, each no more than the one before."""
TEXTS = (
    "frame",
    "channel",
    "begun",
    "ended",
    "compensation",
    "committee",
    "reference",
    "decision",
    "registration",
    "data",
)
"""What else is recorded: who could have been asked, how they were reached, from when to when, what
raters were paid, the ethics committee, its reference and decision, the registration, and how
personal data are protected."""
DECISIONS = ("approved", "waived", "not required", "pending")
"""What an ethics committee may have said."""
ABOUT = "about"
_STRATUM = "stratum "


@dataclass(frozen=True, slots=True)
class Stratum:
    """How many of one stratum were reached."""

    name: str
    """The stratum; empty: everybody, where there are no strata."""
    counts: Mapping[str, int]
    """Step -> people; a step that is absent is not known."""


@dataclass(frozen=True, slots=True)
class Step:
    """One step of the flow, over all strata."""

    name: str
    """One of STEPS."""
    people: int
    """How many came so far."""
    lost: int | None
    """How many of those at the step before did not; None at the first."""


@dataclass(frozen=True, slots=True)
class Recruitment:
    """The current record."""

    strata: tuple[Stratum, ...] = ()
    """By name."""
    texts: Mapping[str, str] = field(default_factory=dict)
    """What of TEXTS was recorded."""

    def __bool__(self) -> bool:
        return bool(self.strata or self.texts)

    def flow(self) -> tuple[Step, ...]:
        """The steps whose numbers all strata know, added up.

        >>> a = Stratum("a", {"contacted": 9, "completed": 4})
        >>> b = Stratum("b", {"contacted": 3, "completed": 3})
        >>> [(s.name, s.people, s.lost) for s in Recruitment((a, b)).flow()]
        [('contacted', 12, None), ('completed', 7, 5)]
        """
        steps: list[Step] = []
        for name in STEPS:
            if self.strata and all(name in s.counts for s in self.strata):
                people = sum(s.counts[name] for s in self.strata)
                steps.append(Step(name, people, steps[-1].people - people if steps else None))
        return tuple(steps)


def recruitment(events: Iterable[Event]) -> Recruitment:
    """The record after these events: for each subject the last event counts."""
    last: dict[str, Event] = {}
    for event in sorted(
        (e for e in events if e.kind == KIND), key=lambda e: (e.at, _event_number(e.id))
    ):
        last[event.subject] = event
    strata = tuple(
        Stratum(
            subject.removeprefix(_STRATUM),
            {k: n for k in STEPS if isinstance(n := event.data.get(k), int)},
        )
        for subject, event in sorted(last.items())
        if subject.startswith(_STRATUM) and not event.data.get("removed")
    )
    texts = last[ABOUT].data if ABOUT in last else {}
    return Recruitment(strata, {k: str(texts[k]) for k in TEXTS if texts.get(k)})


def about(texts: Mapping[str, str]) -> tuple[str, dict[str, object]]:
    """Subject and data of an event that records texts; a StudyError where one of them cannot be."""
    recorded = {k: texts.get(k, "").strip() for k in TEXTS}
    if recorded["decision"] and recorded["decision"] not in DECISIONS:
        raise StudyError(
            f"decision: expected one of {', '.join(DECISIONS)}, got {recorded['decision']!r}"
        )
    return ABOUT, {k: v for k, v in recorded.items() if v}


def stratum(name: str, counts: Mapping[str, str]) -> tuple[str, dict[str, object]]:
    """Subject and data of an event that records the counts of a stratum.

    All empty: the stratum is taken out.

    >>> stratum("cardiology", {"contacted": "12", "responded": "7"})
    ('stratum cardiology', {'contacted': 12, 'responded': 7})
    """
    people_by_step: dict[str, object] = {}
    before, fewest = "", 10**9
    for step in STEPS:
        text = counts.get(step, "").strip()
        if not text:
            continue
        if not (text.isascii() and text.isdigit() and len(text) < 9):
            raise StudyError(f"{step}: expected a whole number of people, got {text!r}")
        people = int(text)
        if people > fewest:
            raise StudyError(
                f"{step}: {people} people are more than the {fewest} of the step {before!r} before"
            )
        before, fewest = step, people
        people_by_step[step] = people
    return _STRATUM + name.strip(), people_by_step or {"removed": True}


def _event_number(event_id: str) -> int:
    last = event_id.rpartition(" ")[2]
    return int(last) if last.isdigit() else 0
