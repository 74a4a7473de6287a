"""Problems of a protocol's forms.

Checked are instruments, their criteria and scales, and questions to raters.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

from konsil.errors import nearest
from konsil.errors.message import message, placed
from konsil.errors.unknown_names import unknown_name
from konsil.instrument import Criterion, Instrument, Scale, number_word, rise
from konsil.records.numerals import own_numbers


def duplicate_problems(
    where: str, ids: Iterable[str], kind: Literal["identifier", "label"] = "identifier"
) -> Iterator[str]:
    """Identifiers or labels that are empty or occur twice."""
    earlier: set[str] = set()
    for n, identifier in enumerate(ids):
        if not identifier.strip():
            yield placed(f"{where}[{n}]", _is_empty(kind))
        elif identifier in earlier:
            yield placed(f"{where}[{n}]", _occurs_twice(kind, identifier))
        earlier.add(identifier)


def _is_empty(kind: str) -> str:
    if kind == "label":
        return message("the label is empty", message_id="check.empty_label")
    return message("the identifier is empty", message_id="check.empty_identifier")


def _occurs_twice(kind: str, name: str) -> str:
    if kind == "label":
        return message(
            "the label {name!r} occurs twice; expected each label once",
            message_id="check.label_twice",
            name=name,
        )
    return message(
        "the identifier {name!r} occurs twice; expected each identifier once",
        message_id="check.identifier_twice",
        name=name,
    )


def instrument_problems(instrument: Instrument, where: str) -> Iterator[str]:
    """Problems of an instrument and its criteria."""
    if not instrument.criteria:
        fact = message("is empty; expected at least one criterion", message_id="check.no_criteria")
        yield placed(f"{where}.criteria", fact)
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
            fact = message(
                "a choice needs at least two labels, got {labels}",
                message_id="check.few_labels",
                labels=str(list(scale.labels)),
            )
            yield placed(f"{where}.labels", fact)
        yield from duplicate_problems(f"{where}.labels", scale.labels, "label")
    elif scale.labels:
        yield f"{where}.labels: a scale of kind {scale.kind!r} has no labels"
    if scale.unit and scale.kind != "number":
        yield (
            f"{where}.unit: a scale of kind {scale.kind!r} has no unit; it belongs to kind 'number'"
        )
    if scale.values and scale.labels and len(scale.values) != len(scale.labels):
        fact = message(
            "{n_values} values for {n_labels} labels; expected one value per label",
            message_id="check.other_values",
            n_values=len(scale.values),
            n_labels=len(scale.labels),
        )
        yield placed(f"{where}.values", fact)
    if (
        scale.values
        and scale.level != "nominal"
        and list(scale.values) != sorted(set(scale.values))
    ):
        fact = message(
            "must increase from label to label on a scale of level {level!r}",
            message_id="check.values_order",
            level=scale.level,
        )
        yield placed(f"{where}.values", fact)
    yield from _label_numbers(scale, where)
    if scale.abstain is not None and scale.abstain in scale.labels:
        fact = message(
            "{label!r} is among the labels; an abstention is not a value",
            message_id="check.abstention_label",
            label=scale.abstain,
        )
        yield placed(f"{where}.abstain", fact)
    if scale.abstain is not None and not scale.abstain.strip():
        fact = message(
            "is empty; an empty cell means not rated, not abstained",
            message_id="check.empty_abstention",
        )
        yield placed(f"{where}.abstain", fact)
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
        yield placed(f"{where}.values", _without_numbers(scale, words))
    elif not rise(numbers):
        fact = message(
            "are the numbers {numbers}; expected numbers that increase on a scale of level"
            " {level!r}, or values of their own, such as values = {own}",
            message_id="check.numbers_order",
            numbers=", ".join(map(number_word, numbers)),
            level=scale.level,
            own=str(list(range(len(scale.labels)))),
        )
        yield placed(f"{where}.labels", fact)
    elif scale.level == "ratio" and min(numbers) < 0:
        fact = message(
            "{number} is below zero; a ratio scale starts at zero",
            message_id="check.below_zero",
            number=number_word(min(numbers)),
        )
        yield placed(f"{where}.labels", fact)


def _without_numbers(scale: Scale, words: Sequence[str]) -> str:
    numbers = str(list(range(len(scale.labels))))
    if len(words) == 1:
        return message(
            "level {level!r} needs the labels' numbers, and {word!r} is none; state values, such as"
            " values = {numbers}",
            message_id="check.no_number",
            level=scale.level,
            word=words[0],
            numbers=numbers,
        )
    return message(
        "level {level!r} needs the labels' numbers, and {words} are none; state values, such as"
        " values = {numbers}",
        message_id="check.no_numbers",
        level=scale.level,
        words=", ".join(map(repr, words[:5])),
        numbers=numbers,
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
            fact = message(
                "{former!r} is a current label; expected a former one",
                message_id="check.current_label",
                former=former,
            )
            yield placed(f"{where}.renamed", fact)
        if label not in options:
            fact = unknown_name("label", label, nearest(label, options))
            yield placed(f"{where}.renamed", fact)
    ids = {c.id for c in form.criteria}
    for former in criterion.formerly:
        if former in ids:
            yield (
                f"{where}.formerly: {former!r} is a current criterion; expected a former identifier"
            )
    others = {name for c in form.criteria if c is not criterion for name in c.formerly}
    for former in sorted(others & {*criterion.formerly}):
        yield f"{where}.formerly: {former!r} is the former identifier of two criteria; expected one"
