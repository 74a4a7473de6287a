"""Forms that were changed after ratings: permitted changes, and who accepted them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from konsil.errors.message import TranslatableMessage, listed, message
from konsil.instrument import Criterion, Instrument, before_renaming, digest
from konsil.records import Event

ACCEPTED = "form accepted"
"""Subject: the instrument; data: who, why, the digests of the former form and of today's, the
criteria added."""

Shape = Mapping[str, object]
"""The properties of a form, beyond its wording, on which ratings depend: see `shape_of`."""


def shape_of(instrument: Instrument) -> dict[str, object]:
    """The parts of a form beyond its wording.

    These are the criteria by id, with scope and labels in order, and the displayed parts.

    >>> from konsil.instrument import Scale
    >>> form = Instrument("f", (Criterion("c", "?", Scale(("no", "yes"))),))
    >>> shape_of(form)["criteria"]["c"]["labels"]
    ['no', 'yes']
    """
    return {
        "instrument": instrument.id,
        "unit": instrument.unit,
        "reference": instrument.show_reference,
        "reasoning": instrument.show_reasoning,
        # Stated only where it is not the default, as forms of earlier versions have none.
        **({"present": instrument.present} if instrument.present != "answer" else {}),
        "criteria": {c.id: _shape(c) for c in instrument.criteria},
    }


def _shape(criterion: Criterion) -> dict[str, object]:
    scale = criterion.scale
    return {
        "scope": criterion.scope,
        "kind": scale.kind,
        "labels": list(scale.labels),
        "abstain": scale.abstain,
        "low": scale.low,
        "high": scale.high,
    }


def shapes(instruments: Iterable[Instrument]) -> dict[str, dict[str, object]]:
    """Digest -> shape, of every instrument."""
    return {digest(i): shape_of(i) for i in instruments}


def same_forms(instrument: Instrument) -> frozenset[str]:
    """The digests of forms that need no acceptance.

    These are the current form, the form that differs only in what the protocol renamed, and both
    before they stated numbers of labels, which raters do not see.
    """
    names = [n for c in instrument.criteria for n in c.renamed.values()]
    undone = [before_renaming(instrument)] if len(names) == len(set(names)) else []
    same = (instrument, *undone)
    return frozenset(digest(form) for form in (*same, *map(_without_values, same)))


def _without_values(instrument: Instrument) -> Instrument:
    criteria = (replace(c, scale=replace(c.scale, values=())) for c in instrument.criteria)
    return replace(instrument, criteria=tuple(criteria))


@dataclass(frozen=True)
class Difference:
    """How today's form differs from a former one."""

    faults: tuple[str, ...]
    """The changes that are more than wording, one clause each."""
    added: tuple[str, ...]
    """Criteria that were added."""


def difference(former: Shape, instrument: Instrument) -> Difference:
    """The differences beyond the wording; what the protocol renamed counts as equal."""
    then = former.get("criteria")
    then = then if isinstance(then, Mapping) else {}
    now = shape_of(instrument)
    faults = [
        f"{words} is {now.get(key, default)!r} and was {former.get(key, default)!r}"
        for key, words, default in (
            ("unit", "the unit", None),
            ("reference", "show_reference", None),
            ("reasoning", "show_reasoning", None),
            ("present", "present", "answer"),
        )
        if former.get(key, default) != now.get(key, default)
    ]
    old_names = {old: c.id for c in instrument.criteria for old in c.formerly}
    criterion_by_id = {c.id: c for c in instrument.criteria}
    present = set()
    for name, shape in then.items():
        today = old_names.get(str(name), str(name))
        if today not in criterion_by_id:
            faults.append(f"criterion {name!r} was removed")
            continue
        present.add(today)
        faults += [
            f"criterion {today!r}: {fault}" for fault in _faults(shape, criterion_by_id[today])
        ]
    return Difference(
        tuple(faults), tuple(c.id for c in instrument.criteria if c.id not in present)
    )


def _faults(shape: Mapping[str, object], criterion: Criterion) -> Iterator[str]:
    now = _shape(criterion)
    names = criterion.renamed
    for key, is_now in now.items():
        was = shape.get(key)
        if key == "labels" and isinstance(was, Sequence):
            was = [names.get(str(label), str(label)) for label in was]
        if key == "abstain" and isinstance(was, str):
            was = names.get(was, was)
        if was != is_now:
            yield f"{key} {'were' if key == 'labels' else 'was'} {was!r}, now {is_now!r}"


def unaccepted(
    counts: Mapping[tuple[str, str], int],
    instruments: Iterable[Instrument],
    events: Iterable[Event],
) -> dict[tuple[str, str], int]:
    """The counts, (instrument, digest) -> ratings, of forms that need acceptance.

    Their form is neither the current one nor an accepted one.
    """
    instrument_by_id = {i.id: i for i in instruments}
    steps = _steps(events)
    return {
        (name, form): n
        for (name, form), n in counts.items()
        if name in instrument_by_id
        and not (_reached(form, steps.get(name, {})) & same_forms(instrument_by_id[name]))
    }


def _steps(events: Iterable[Event]) -> dict[str, dict[str, set[str]]]:
    """Instrument -> former digest -> the digests as which it was accepted."""
    accepted: dict[str, dict[str, set[str]]] = {}
    for event in events:
        if event.kind == ACCEPTED:
            former, form = str(event.data.get("former", "")), str(event.data.get("form", ""))
            accepted.setdefault(event.subject, {}).setdefault(former, set()).add(form)
    return accepted


def _reached(form: str, steps: Mapping[str, set[str]]) -> set[str]:
    """Every form as which one was accepted, directly or by way of others."""
    reached, new = {form}, [form]
    while new:
        further = steps.get(new.pop(), set()) - reached
        reached |= further
        new += further
    return reached


def acceptance_sentences(
    counts: Mapping[tuple[str, str], int], events: Iterable[Event]
) -> tuple[TranslatableMessage, ...]:
    """Sentences of the methods on forms whose wording was changed.

    Only forms with ratings are included.
    """
    total: dict[str, int] = {}
    for (name, _), n in counts.items():
        total[name] = total.get(name, 0) + n
    sentences = []
    for event in sorted(events, key=lambda e: (e.at, e.id)):
        n = counts.get((event.subject, str(event.data.get("former", ""))), 0)
        if event.kind != ACCEPTED or not n:
            continue
        sentences.append(
            message(
                "The wording of the form {form} was changed after {n:,} of its {all:,} ratings;"
                " {by} accepted this at {at} with the reason: {reason}.",
                message_id="forms.wording_changed",
                form=event.subject,
                n=n,
                all=total[event.subject],
                by=str(event.data.get("by", "")),
                at=event.at,
                reason=str(event.data.get("reason", "")).strip().rstrip("."),
            )
        )
        added = event.data.get("added")
        if isinstance(added, list) and added:
            sentences.append(
                message(
                    "These criteria were added to the form {form} at the same time: {names}.",
                    message_id="forms.criteria_added",
                    form=event.subject,
                    names=listed([str(name) for name in added]),
                )
            )
    return tuple(sentences)
