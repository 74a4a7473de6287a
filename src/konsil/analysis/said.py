"""Sentences that can be told in another language: an English text that remembers how it was made.

What an analysis has to say travels as `str` and reads as English wherever it is printed or stored. The report asks the
text itself for its template and its values and writes the sentence anew in its own language.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from string import Formatter

AND = "{some} and {last}"
"""How a list ends in a sentence."""

COMMA = "{some}, {last}"
"""How a list ends in a table."""


@dataclass(frozen=True)
class Listed:
    """Several texts as one: 'a, b and c'."""

    parts: tuple[str, ...]
    """The texts."""
    separator: str = ", "
    """What stands between all but the last two."""
    end: str = AND
    """How the last is joined."""


class Said(str):
    """A text in English with the template and the values that it is made of.

    >>> note = say("{n:,} of {all:,} units have no majority.", n=1200, all=3800)
    >>> note
    '1,200 of 3,800 units have no majority.'
    >>> german = {"{n:,} of {all:,} units have no majority.": "Ohne Mehrheit: {n:,} von {all:,}."}
    >>> note.told(lambda text: german.get(text, text), lambda number, form: format(number, form).replace(",", "."))
    'Ohne Mehrheit: 1.200 von 3.800.'
    """

    template: str
    """The sentence with gaps, which is also its name in a catalogue."""
    values: Mapping[str, str | int | float | Listed]
    """What fills the gaps."""

    def __new__(cls, template: str, values: Mapping[str, str | int | float | Listed]) -> Said:
        """Fill the gaps in English."""
        made = super().__new__(cls, _filled(template, values, lambda text: text, format))
        made.template, made.values = template, dict(values)
        return made

    def __getnewargs__(self) -> tuple[str, Mapping[str, str | int | float | Listed]]:  # type: ignore[override]
        """What a copy is made from."""
        return self.template, self.values

    def told(self, gettext: Callable[[str], str], number: Callable[[float, str], str]) -> str:
        """The sentence in another language: `gettext` gives templates, `number` writes a number by its format."""
        return _filled(self.template, self.values, gettext, number)


def say(template: str, **values: str | int | float | Listed) -> Said:
    """A sentence from its template; the template stands in the report's catalogues.

    >>> say("one cluster has no interval")
    'one cluster has no interval'
    """
    return Said(template, values)


def listed(parts: Sequence[str], separator: str = ", ", end: str = AND) -> Listed:
    """Several texts for one gap.

    >>> say("Excluded: {what}.", what=listed(["a", "b", "c"]))
    'Excluded: a, b and c.'
    """
    return Listed(tuple(parts), separator, end)


def retold(text: str, gettext: Callable[[str], str], number: Callable[[float, str], str]) -> str:
    """Any text in another language: a plain one, such as a name of the study, stays as it is."""
    return text.told(gettext, number) if isinstance(text, Said) else text


def _filled(
    template: str,
    values: Mapping[str, str | int | float | Listed],
    gettext: Callable[[str], str],
    number: Callable[[float, str], str],
) -> str:
    out = []
    for literal, name, form, _ in Formatter().parse(gettext(template)):
        out.append(literal)
        if name is None:
            continue
        value = values[name]
        if isinstance(value, Listed):
            out.append(_joined(value, gettext, number))
        elif isinstance(value, str):
            out.append(retold(value, gettext, number))
        else:
            out.append(number(value, form or ""))
    return "".join(out)


def _joined(value: Listed, gettext: Callable[[str], str], number: Callable[[float, str], str]) -> str:
    told = [retold(part, gettext, number) for part in value.parts]
    if len(told) < 2:
        return "".join(told)
    some, last = value.separator.join(told[:-1]), told[-1]
    return gettext(value.end).format(some=some, last=last)
