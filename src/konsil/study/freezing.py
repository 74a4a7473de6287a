"""The plan of analyses frozen, and what was changed since; systems are letters until then."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from konsil.analysis import Analysis
from konsil.analysis.said import Said, listed, say
from konsil.instrument import digest_of, untitled
from konsil.records import Event
from konsil.study.protocol import Study

FREEZE = "freeze"
"""Subject: the study; data: who, why, and the digests of the plan of analyses."""
UNBLIND = "unblind"
"""Subject: the study; data: who and why. Systems have their names from then on."""
LIFTED = "letters lifted"
"""Subject: the study; data: why. Somebody saw names although nobody unblinded: the study was marked as simulated."""


@dataclass(frozen=True)
class Deviations:
    """What the protocol says otherwise than when it was frozen."""

    added: tuple[str, ...] = ()
    """Analyses that were not there."""
    changed: tuple[str, ...] = ()
    """Analyses that said something else."""
    removed: tuple[str, ...] = ()
    """Analyses that are gone."""
    rules: bool = False
    """Whether exclusions, resampling, derived columns or forms changed: then every number may."""


def plan_of_analyses(study: Study) -> dict[str, object]:
    """The digests that a freeze keeps: of each analysis by its name, and of the rules that hold for all of them."""
    rules = (study.seed, study.exclusions, study.resampling, study.derived, tuple(map(untitled, study.instruments)))
    return {
        "analyses": {a.name: digest_of(a) for a in study.analyses},
        "rules": digest_of(dict(enumerate(rules))),
        "plan": digest_of({"analyses": study.analyses, "rules": dict(enumerate(rules))}),
    }


def frozen(events: Iterable[Event]) -> Event | None:
    """The freeze, or None."""
    return min((e for e in events if e.kind == FREEZE), key=lambda e: (e.at, e.id), default=None)


def unblinded(events: Iterable[Event]) -> Event | None:
    """The unblinding, or None."""
    return min((e for e in events if e.kind == UNBLIND), key=lambda e: (e.at, e.id), default=None)


def is_blinded(study: Study, events: Iterable[Event]) -> bool:
    """Whether systems are letters: the protocol asks for it and nobody has unblinded; simulated ratings hide nobody.

    >>> is_blinded(Study("t", 1, blinded=True), [])
    True
    """
    return study.blinded and not study.simulated and unblinded(events) is None


def lifted(events: Iterable[Event]) -> Event | None:
    """When names were first to be seen because the study was marked as simulated, or None."""
    return min((e for e in events if e.kind == LIFTED), key=lambda e: (e.at, e.id), default=None)


def lifts(study: Study, events: Iterable[Event]) -> bool:
    """Whether showing the study's numbers now lifts the letters without anybody having unblinded; once is told.

    >>> lifts(Study("t", 1, blinded=True, simulated=True), []), lifts(Study("t", 1, blinded=True), [])
    (True, False)
    """
    here = tuple(events)
    return study.blinded and study.simulated and unblinded(here) is None and lifted(here) is None


def deviations(study: Study, freeze: Event | None) -> Deviations:
    """What changed since the freeze; nothing where there was none."""
    if freeze is None:
        return Deviations()
    now, before = plan_of_analyses(study), freeze.data
    then = before.get("analyses")
    then = dict(then) if isinstance(then, Mapping) else {}
    here = {a.name: digest_of(a) for a in study.analyses}
    return Deviations(
        tuple(name for name in here if name not in then),
        tuple(name for name, digest in here.items() if name in then and then[name] != digest),
        tuple(str(name) for name in sorted(then) if name not in here),
        now["rules"] != before.get("rules"),
    )


def told_apart(study: Study, freeze: Event | None) -> tuple[Analysis, ...]:
    """The analyses, those that were added or changed after the freeze as exploratory ones."""
    found = deviations(study, freeze)
    late = {*found.added, *found.changed}
    return tuple(dataclasses.replace(a, prespecified=False) if a.name in late else a for a in study.analyses)


def sentences(study: Study, events: Iterable[Event]) -> tuple[tuple[Said, ...], tuple[Said, ...]]:
    """What the report says of it: warnings, and sentences of the methods paragraph."""
    here = tuple(events)
    freeze, open_ = frozen(here), unblinded(here)
    found = deviations(study, freeze)
    warnings, methods = [], []
    if is_blinded(study, here):
        warnings.append(
            say("Systems are letters, and judges have none of their own, until the plan is frozen and they are named.")
        )
    if freeze is not None:
        digest = str(freeze.data.get("plan", ""))[:16]
        methods.append(say("The plan of analyses was frozen at {at} (digest {digest}).", at=freeze.at, digest=digest))
    seen = lifted(here)
    if seen is not None and study.blinded and not study.simulated:
        warnings.append(
            say("Systems had their names at {at} already: the study was marked as simulated then.", at=seen.at)
        )
    if open_ is not None:
        methods.append(say("Systems were letters until {at}.", at=open_.at))
    if found.added:
        warnings.append(
            say(
                "Added after the plan of analyses was frozen, and therefore exploratory: {names}.",
                names=listed(found.added),
            )
        )
    if found.changed:
        warnings.append(
            say(
                "Changed after the plan of analyses was frozen, and therefore exploratory: {names}.",
                names=listed(found.changed),
            )
        )
    if found.removed:
        warnings.append(say("Taken out after the plan of analyses was frozen: {names}.", names=listed(found.removed)))
    if found.rules:
        warnings.append(
            say("Exclusions, forms, seed, resampling or derived columns were changed after the plan was frozen.")
        )
    return tuple(warnings), tuple(methods)
