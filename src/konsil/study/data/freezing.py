"""The plan of analyses frozen, and what was changed since; systems are letters until then."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from konsil.analysis import Analysis, Inference
from konsil.errors.message import TranslatableMessage, listed, message
from konsil.instrument import digest_of, untitled
from konsil.records import Event
from konsil.study.data.frozen_looks import looks_as_data
from konsil.study.definition.protocol import Study

FREEZE = "freeze"
"""Subject: the study; data: who, why, and the digests of the plan of analyses."""
NUMBERING = "numbering"
"""Key of a freeze: the number of the rule by which labels are numbers. 2: as `label_numbers`
decides; without the key, as in freezes of version 0.9.0 and earlier: by their places."""
TARGET = "target"
"""Key of a freeze: the target of inference that the plan had, stated or by the size of its panels;
without the key, as in earlier freezes, the protocol decides."""
UNBLIND = "unblind"
"""Subject: the study; data: who and why. Systems have their names from then on."""
LIFTED = "letters lifted"
"""Subject: the study; data: why. Somebody saw names although nobody unblinded: the study was marked
as simulated."""
NAMES_SHOWN = "names shown"
"""Subject: the study; data: why. Analyses showed names before any unblinding: the study was not
blinded then."""


@dataclass(frozen=True)
class Deviations:
    """The differences between the protocol and the frozen plan."""

    added: tuple[str, ...] = ()
    """Analyses that were not there."""
    changed: tuple[str, ...] = ()
    """Analyses that said something else."""
    removed: tuple[str, ...] = ()
    """Analyses that were removed."""
    rules: bool = False
    """Whether exclusions, resampling, target of inference, derived columns or forms changed: then
    any number may."""


@dataclass(frozen=True)
class WithheldPower:
    """What is stated of the lines of a power calculation that would name blinded systems."""

    estimates: int
    """Their number."""
    studies: int
    """Simulated studies."""
    low: float | None
    """The least power; None where none is estimable."""
    high: float | None
    """The greatest power, likewise."""


@dataclass(frozen=True)
class PowerCalculation:
    """The power calculation of a frozen plan, as the freeze stores it."""

    file: str
    """The name of its file."""
    sha256: str
    """The digest of its file."""
    studies: int
    """Simulated studies."""
    lines: tuple[Mapping[str, object], ...] = ()
    """Each declared analysis and group with the mean width of its interval and its power."""
    withheld: WithheldPower | None = None
    """Those by system, judge or family, which are withheld while the study is blinded."""


def plan_of_analyses(study: Study) -> dict[str, object]:
    """What a freeze stores: digests of each analysis and of the common rules, and the looks.

    Interim analyses are stored in full: a digest does not show what was removed. So is the rule of
    the labels' numbers, which the plan keeps.
    """
    # Digests of frozen studies stay as they are where the protocol states no target of inference.
    stated: tuple[object, ...] = (study.inference,) if study.inference != Inference() else ()
    stated = (*stated, study.scores) if study.scores else stated
    stated = (*stated, study.interim) if study.interim is not None else stated
    # Without titles: a heading that is reworded changes no number.
    forms = tuple(map(untitled, study.instruments))
    rules = (study.seed, study.exclusions, study.resampling, study.derived, forms, *stated)
    return {
        "analyses": {a.name: digest_of(a) for a in study.analyses},
        "rules": digest_of(dict(enumerate(rules))),
        "plan": digest_of({"analyses": study.analyses, "rules": dict(enumerate(rules))}),
        NUMBERING: 2,
        **({} if study.interim is None else {"interim": digest_of(study.interim)}),
        **looks_as_data(study),
    }


def first_event(events: Iterable[Event], kind: str) -> Event | None:
    """The first event of a kind, or None."""
    return min((e for e in events if e.kind == kind), key=lambda e: (e.at, e.id), default=None)


def frozen(events: Iterable[Event]) -> Event | None:
    """The freeze, or None."""
    # The first one counts, should two people have frozen the plan at once.
    return first_event(events, FREEZE)


def frozen_target(events: Iterable[Event]) -> Inference:
    """The target of inference of the frozen plan; no target where none was stored."""
    freeze = frozen(events)
    stored = freeze.data.get(TARGET) if freeze is not None else None
    targets = (Inference("like these"), Inference("these"))
    return next((target for target in targets if target.raters == stored), Inference())


def unblinded(events: Iterable[Event]) -> Event | None:
    """The unblinding, or None."""
    return first_event(events, UNBLIND)


def is_blinded(study: Study, events: Iterable[Event]) -> bool:
    """Whether systems are letters: the protocol asks for it and nobody has unblinded.

    Simulated ratings hide nobody.

    >>> is_blinded(Study("t", 1, blinded=True), [])
    True
    """
    return study.blinded and not study.simulated and unblinded(events) is None


def names_shown(events: Iterable[Event]) -> Event | None:
    """The event at which analyses first showed names before unblinding, or None."""
    history = tuple(events)
    open_ = unblinded(history)
    # Within the same second the look came first: once a study is unblinded, none is noted.
    looks = [
        e
        for e in history
        if e.kind in (LIFTED, NAMES_SHOWN) and (open_ is None or e.at <= open_.at)
    ]
    return min(looks, key=lambda e: (e.at, e.id), default=None)


def look(study: Study, events: Iterable[Event]) -> str:
    """The kind of the event that showing the study's numbers now leaves.

    Empty where names are hidden, free or told.

    >>> look(Study("t", 1, blinded=True, simulated=True), []), look(Study("t", 1, blinded=True), [])
    ('letters lifted', '')
    >>> look(Study("t", 1), [])
    'names shown'
    """
    history = tuple(events)
    if unblinded(history) is not None or is_blinded(study, history):
        return ""
    kind = LIFTED if study.blinded else NAMES_SHOWN
    return "" if any(e.kind == kind for e in history) else kind


def deviations(study: Study, freeze: Event | None) -> Deviations:
    """The changes since the freeze; empty without a freeze."""
    if freeze is None:
        return Deviations()
    now, before = plan_of_analyses(study), freeze.data
    then = before.get("analyses")
    then = dict(then) if isinstance(then, Mapping) else {}
    digests = {a.name: digest_of(a) for a in study.analyses}
    return Deviations(
        tuple(name for name in digests if name not in then),
        tuple(name for name, digest in digests.items() if name in then and then[name] != digest),
        tuple(str(name) for name in sorted(then) if name not in digests),
        now["rules"] != before.get("rules"),
    )


def mark_exploratory(study: Study, freeze: Event | None) -> tuple[Analysis, ...]:
    """The analyses, those that were added or changed after the freeze as exploratory ones."""
    changes = deviations(study, freeze)
    late = {*changes.added, *changes.changed}
    return tuple(
        dataclasses.replace(a, prespecified=False) if a.name in late else a for a in study.analyses
    )


def sentences(
    study: Study, events: Iterable[Event]
) -> tuple[tuple[TranslatableMessage, ...], tuple[TranslatableMessage, ...]]:
    """Sentences of the report: warnings, and sentences of the methods paragraph."""
    history = tuple(events)
    freeze, open_ = frozen(history), unblinded(history)
    changes = deviations(study, freeze)
    warnings, methods = [], []
    methods += power_sentences(freeze)
    if is_blinded(study, history):
        warnings.append(
            message(
                "Blinded: systems carry codes, and judges are linked to no system, until"
                " the analysis plan is frozen and the study unblinded.",
                message_id="freezing.blinded",
            )
        )
    first = names_shown(history)
    if first is not None and (study.blinded or open_ is not None) and not study.simulated:
        notice = _names(first)
        warnings.append(notice)
        methods.append(notice)
        if open_ is not None:
            methods.append(
                message(
                    "The study was unblinded at {at}.", message_id="freezing.unblinded", at=open_.at
                )
            )
    elif open_ is not None:
        methods.append(
            message(
                "Systems were identified by blinding codes until {at}.",
                message_id="freezing.letters_until",
                at=open_.at,
            )
        )
    if changes.added:
        warnings.append(
            message(
                "Exploratory (added after the analysis plan was frozen): {names}.",
                message_id="freezing.late",
                names=listed(changes.added),
            )
        )
    if changes.changed:
        warnings.append(
            message(
                "Exploratory (changed after the analysis plan was frozen): {names}.",
                names=listed(changes.changed),
            )
        )
    if changes.removed:
        warnings.append(
            message(
                "Removed after the analysis plan was frozen: {names}.",
                names=listed(changes.removed),
            )
        )
    if changes.rules:
        warnings.append(
            message(
                "Exclusions, forms, seed, resampling, the target of inference or derived columns"
                " were changed after the plan was frozen.",
                message_id="freezing.rules_changed",
            )
        )
    return tuple(warnings), tuple(methods)


def power_sentences(freeze: Event | None) -> list[TranslatableMessage]:
    """The power calculation that was stored with the freeze; nothing without one."""
    power = freeze.data.get("power") if freeze is not None else None
    if not isinstance(power, Mapping):
        return []
    lines, withheld = power.get("lines"), power.get("withheld")
    n_withheld = int(str(withheld.get("estimates", 0))) if isinstance(withheld, Mapping) else 0
    return [
        message(
            "A power calculation was registered with the analysis plan: {studies:,} simulated"
            " {studies|study|studies}, {n:,} {n|estimate|estimates} of declared analyses; file"
            " {file}, SHA-256 {digest}.",
            message_id="freezing.power",
            studies=int(str(power.get("studies", 0))),
            n=(len(lines) if isinstance(lines, Sequence) else 0) + n_withheld,
            file=str(power.get("file", "")),
            digest=str(power.get("sha256", ""))[:16],
        )
    ]


def _names(first: Event) -> TranslatableMessage:
    if first.kind == LIFTED:
        return message(
            "Systems were already named at {at}, when the study was marked as simulated.",
            message_id="freezing.names_while_simulated",
            at=first.at,
        )
    return message(
        "Systems were already named in analyses at {at}, when the study was not blinded.",
        message_id="freezing.names_while_not_blinded",
        at=first.at,
    )
