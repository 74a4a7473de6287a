"""Problems of a protocol's forms.

Checked are instruments, their criteria and scales, and questions to raters.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

from konsil.errors import nearest
from konsil.instrument import Criterion, Instrument, Scale, number_word, rise
from konsil.records.numerals import own_numbers


def duplicate_problems(where: str, ids: Iterable[str], kind: str = "identifier") -> Iterator[str]:
    """Identifiers that are empty or occur twice."""
    earlier: set[str] = set()
    for n, identifier in enumerate(ids):
        if not identifier.strip():
            yield f"{where}[{n}]: the {kind} is empty"
        elif identifier in earlier:
            yield f"{where}[{n}]: the {kind} {identifier!r} occurs twice; expected each {kind} once"
        earlier.add(identifier)


def instrument_problems(instrument: Instrument, where: str) -> Iterator[str]:
    """Problems of an instrument and its criteria."""
    if not instrument.criteria:
        yield f"{where}.criteria: is empty; expected at least one criterion"
    if instrument.reason_first and not any(c.reason for c in instrument.criteria):
        yield (
            f"{where}.reason_first: no criterion of {instrument.id!r} has a reason; set reason ="
            " true in at least one criterion"
        )
    yield from _presentation_problems(instrument, where)
    yield from question_problems(instrument, f"{where}.criteria")


def _presentation_problems(instrument: Instrument, where: str) -> Iterator[str]:
    """Sentences can be presented one by one only where the form is about sentences."""
    if instrument.present == "answer":
        return
    if not any(c.scope == "sentence" for c in instrument.criteria):
        yield (
            f"{where}.present: no criterion of {instrument.id!r} is about sentences; set scope ="
            " 'sentence' in at least one criterion, or leave present out"
        )
    elif instrument.unit != "sentence":
        yield (
            f"{where}.present: instrument {instrument.id!r} has unit = {instrument.unit!r};"
            " sentences are presented one by one with unit = 'sentence'"
        )


def _scale(criterion: Criterion, where: str) -> Iterator[str]:
    scale = criterion.scale
    if scale.kind == "choice":
        if scale.values and not scale.labels:
            labels = ", ".join(f'"{value:g}"' for value in scale.values)
            yield (
                f"{where}: values are the numbers of labels, and there are no labels; expected"
                f" labels = [{labels}] beside them"
            )
        elif len(scale.labels) < 2:
            yield f"{where}.labels: a choice needs at least two labels, got {list(scale.labels)}"
        yield from duplicate_problems(f"{where}.labels", scale.labels, "label")
    elif scale.labels:
        yield f"{where}.labels: a scale of kind {scale.kind!r} has no labels"
    if scale.unit and scale.kind != "number":
        yield (
            f"{where}.unit: a scale of kind {scale.kind!r} has no unit; it belongs to kind 'number'"
        )
    if scale.values and scale.labels and len(scale.values) != len(scale.labels):
        yield (
            f"{where}.values: {len(scale.values)} values for {len(scale.labels)} labels;"
            " expected one value per label"
        )
    if (
        scale.values
        and scale.level != "nominal"
        and list(scale.values) != sorted(set(scale.values))
    ):
        yield (
            f"{where}.values: must increase from label to label on a scale of level {scale.level!r}"
        )
    yield from _label_numbers(scale, where)
    if scale.abstain is not None and scale.abstain in scale.labels:
        yield (
            f"{where}.abstain: {scale.abstain!r} is among the labels; an abstention is not a value"
        )
    if scale.abstain is not None and not scale.abstain.strip():
        yield f"{where}.abstain: is empty; an empty cell means not rated, not abstained"
    if scale.low is not None and scale.high is not None and scale.low > scale.high:
        yield f"{where}.low: {scale.low:g} is above high = {scale.high:g}"


def _label_numbers(scale: Scale, where: str) -> Iterator[str]:
    """Labels whose numbers nobody can know, or that contradict their order."""
    if scale.kind != "choice" or scale.values or scale.level == "nominal":
        return
    numbers = scale.numbers()
    if not all(map(math.isfinite, numbers)):
        own_labels = own_numbers(scale.labels)
        words = [
            label for label, number in zip(scale.labels, own_labels, strict=True) if number is None
        ]
        yield (
            f"{where}.values: level {scale.level!r} needs the labels' numbers, and"
            f" {', '.join(map(repr, words[:5]))} {'is' if len(words) == 1 else 'are'} none; state"
            f" values, such as values = {list(range(len(scale.labels)))}"
        )
    elif not rise(numbers):
        yield (
            f"{where}.labels: are the numbers {', '.join(map(number_word, numbers))}; expected"
            f" numbers that increase on a scale of level {scale.level!r}, or values of their own,"
            f" such as values = {list(range(len(scale.labels)))}"
        )
    elif scale.level == "ratio" and min(numbers) < 0:
        yield (
            f"{where}.labels: {number_word(min(numbers))} is below zero; a ratio scale starts at"
            " zero"
        )


def question_problems(form: Instrument, where: str) -> Iterator[str]:
    """Problems of the questions of a form."""
    yield from duplicate_problems(where, [c.id for c in form.criteria])
    for n, criterion in enumerate(form.criteria):
        yield from _scale(criterion, f"{where}[{n}].scale")
        yield from _former_names(criterion, form, f"{where}[{n}]")


def _former_names(criterion: Criterion, form: Instrument, where: str) -> Iterator[str]:
    options = criterion.scale.options()
    for former, label in criterion.renamed.items():
        if former in options:
            yield f"{where}.renamed: {former!r} is a current label; expected a former one"
        if label not in options:
            yield f"{where}.renamed: there is no label {label!r}; {nearest(label, options)}"
    ids = {c.id for c in form.criteria}
    for former in criterion.formerly:
        if former in ids:
            yield (
                f"{where}.formerly: {former!r} is a current criterion; expected a former identifier"
            )
    others = {name for c in form.criteria if c is not criterion for name in c.formerly}
    for former in sorted(others & {*criterion.formerly}):
        yield f"{where}.formerly: {former!r} is the former identifier of two criteria; expected one"
