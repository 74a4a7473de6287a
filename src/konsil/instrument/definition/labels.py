"""Reading one label: the only place that decides whether a reply is on the scale."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

from konsil.errors import KonsilError, nearest
from konsil.errors.message import message
from konsil.instrument.definition.form import Criterion
from konsil.records import State
from konsil.records.numerals import own_numbers


class LabelError(KonsilError):
    """A label is not on its criterion's scale."""


def read_label(criterion: Criterion, text: str) -> tuple[State, str | None]:
    """Read one reply to a criterion: ('rated', label) or ('abstained', None); never guesses.

    >>> from konsil.instrument import Criterion, Scale
    >>> scale = Scale(("no", "yes"), abstain="cannot tell")
    >>> criterion = Criterion("correct", "Is it correct?", scale)
    >>> read_label(criterion, "yes"), read_label(criterion, "cannot tell")
    (('rated', 'yes'), ('abstained', None))
    """
    scale = criterion.scale
    if scale.kind == "text" and text != scale.abstain:
        return "rated", text
    text = _as_on_scale(text, scale.options())
    if scale.abstain is not None and text == scale.abstain:
        return "abstained", None
    if scale.kind == "number":
        return "rated", _checked_number(criterion, text)
    if text in scale.labels:
        return "rated", text
    canonical = _same_number(text, scale.labels)
    if canonical is not None:
        return "rated", canonical
    raise LabelError(
        message(
            "{text!r} is not a label of criterion {criterion!r}; {hint}",
            message_id="labels.unknown",
            text=text,
            criterion=criterion.id,
            hint=nearest(text, scale.options()),
        )
    )


def _as_on_scale(text: str, options: Sequence[str]) -> str:
    """The option that is the same text after Unicode normalisation.

    An accent is part of a letter, or a character of its own after the letter.
    """
    if text in options:
        return text
    composed = unicodedata.normalize("NFC", text)
    return next(
        (option for option in options if unicodedata.normalize("NFC", option) == composed), text
    )


def _same_number(text: str, labels: tuple[str, ...]) -> str | None:
    """Numbers written differently are the same label: '3.0' in a spreadsheet is '3' on the form."""
    others = own_numbers(labels)
    # A point is the decimal one of values as konsil writes them; labels settle what a comma means.
    [number, *_] = own_numbers((text,) if "." in text else (text, *labels))
    if number is None:
        return None
    return next(
        (label for label, other in zip(labels, others, strict=True) if other == number), None
    )


def _checked_number(criterion: Criterion, text: str) -> str:
    try:
        number = float(text)
    except ValueError:
        number = float("nan")
    scale = criterion.scale
    if not (number - number == 0.0):
        raise LabelError(
            message(
                "{text!r} is not a number, as criterion {criterion!r} expects",
                message_id="labels.no_number",
                text=text,
                criterion=criterion.id,
            )
        )
    if (scale.low is not None and number < scale.low) or (
        scale.high is not None and number > scale.high
    ):
        low = "-∞" if scale.low is None else f"{scale.low:g}"
        high = "∞" if scale.high is None else f"{scale.high:g}"
        raise LabelError(
            message(
                "{text!r} is outside {low} to {high}, the range of criterion {criterion!r}",
                message_id="labels.outside",
                text=text,
                low=low,
                high=high,
                criterion=criterion.id,
            )
        )
    return number_word(number)


def number_word(number: float) -> str:
    """A number as a label: its shortest text that reads back equal.

    So 3, 3.0 and 3e0 are one label.

    >>> number_word(3.0), number_word(0.1234567), number_word(1234567.0), number_word(-0.0)
    ('3', '0.1234567', '1234567', '0')
    """
    if number == int(number) and abs(number) < 1e15:
        return str(int(number))
    return repr(number)
