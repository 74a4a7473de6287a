"""Sentences that can be told in another language: an English text that remembers how it was made.

What an analysis or an error has to say travels as `str` and reads as English wherever it is printed
or stored. A report or a page asks the text itself for its template and its values and writes the
sentence anew in its own language.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from string import Formatter
from typing import Any, cast

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


class TranslatableMessage(str):
    """A text in English with the template and the values that it is made of.

    >>> note = message("{n:,} of {all:,} units have no majority.", n=1200, all=3800)
    >>> note
    '1,200 of 3,800 units have no majority.'
    >>> german = {"{n:,} of {all:,} units have no majority.": "Ohne Mehrheit: {n:,} von {all:,}."}
    >>> note.translated(
    ...     lambda text: german.get(text, text), lambda n, form: format(n, form).replace(",", ".")
    ... )
    'Ohne Mehrheit: 1.200 von 3.800.'
    """

    template: str
    """The sentence with gaps, in English."""
    message_id: str
    """Its key in a catalogue; empty for the older sentences, whose template is the key."""
    values: Mapping[str, str | int | float | Listed]
    """What fills the gaps."""

    def __new__(
        cls, template: str, values: Mapping[str, str | int | float | Listed], message_id: str = ""
    ) -> TranslatableMessage:
        """Fill the gaps in English."""
        sentence = super().__new__(cls, _filled(template, values, lambda text: text, format))
        sentence.template, sentence.values, sentence.message_id = template, dict(values), message_id
        return sentence

    def __getnewargs__(self) -> tuple[str, Mapping[str, str | int | float | Listed], str]:  # type: ignore[override]
        """What a copy is made from."""
        return self.template, self.values, self.message_id

    def translated(self, gettext: Callable[[str], str], number: Callable[[float, str], str]) -> str:
        """The sentence in another language.

        `gettext` gives templates, `number` writes a number by its format.

        `gettext` returns what it does not know; a message id without an entry falls back to the
        English template.
        """
        template = gettext(self.message_id or self.template)
        return _filled(
            self.template if template == self.message_id else template, self.values, gettext, number
        )


def message(
    template: str, *, message_id: str = "", **values: str | int | float | Listed
) -> TranslatableMessage:
    """A sentence from its English template, with its message id.

    Catalogues of other languages list it under that id. Every new sentence has an id such as
    `interval.exact`: a family and a name. Sentences that are English alone begin with
    `error.`. Older sentences are listed under their template.

    Words that follow a number have both their forms in a gap: that of one and that of any other
    number. A gap such as `{name!r}` quotes a word as Python does.

    >>> message("The interval is exact.", message_id="interval.exact")
    'The interval is exact.'
    >>> message("{n:,} {n|item is|items are} excluded.", message_id="error.excluded", n=1)
    '1 item is excluded.'
    """
    return TranslatableMessage(template, values, message_id)


def listed(parts: Sequence[str], separator: str = ", ", end: str = AND) -> Listed:
    """Several texts for one gap.

    >>> message("Excluded: {what}.", what=listed(["a", "b", "c"]))
    'Excluded: a, b and c.'
    """
    return Listed(tuple(parts), separator, end)


_PLACED = "problems.placed"
_LINES = "problems.lines"


def placed(place: str, sentence: str) -> TranslatableMessage:
    """A sentence after the place that it is about.

    >>> placed("raters[0].id", message("is empty", message_id="error.empty"))
    'raters[0].id: is empty'
    """
    return message(
        "{place}: {sentence}", message_id="problems.placed", place=place, sentence=sentence
    )


def below(place: str, sentence: str) -> str:
    """A sentence with its place within another place.

    >>> below("analyses[0]", placed("by", "has no column"))
    'analyses[0].by: has no column'
    """
    inner = place_of(sentence)
    return f"{place}.{sentence}" if inner is None else placed(f"{place}.{inner[0]}", inner[1])


def in_file(file: str, sentence: str) -> str:
    """A sentence with its place within a file.

    >>> in_file("study.toml", placed("raters", "is empty"))
    'study.toml: raters: is empty'
    """
    inner = place_of(sentence)
    return placed(file, sentence) if inner is None else placed(f"{file}: {inner[0]}", inner[1])


def place_of(sentence: str) -> tuple[str, str] | None:
    """The place of a sentence, and the sentence without it; None where it was made without one.

    >>> place_of(placed("analyses[0]", "has no column"))
    ('analyses[0]', 'has no column')
    """
    if not isinstance(sentence, TranslatableMessage) or sentence.message_id != _PLACED:
        return None
    return str(sentence.values["place"]), cast("str", sentence.values["sentence"])


def as_lines(sentences: Iterable[str]) -> TranslatableMessage:
    r"""Several sentences as one text, a line each.

    >>> as_lines(["a", "b"])
    'a\nb'
    """
    lines = Listed(tuple(sentences), "\n", "{some}\n{last}")
    return message("{lines}", message_id="problems.lines", lines=lines)


def lines_of(text: str) -> tuple[str, ...]:
    r"""The sentences of a text, each of which has a line.

    >>> lines_of(as_lines(["a", "b"])) == lines_of("a\nb") == ("a", "b")
    True
    """
    if isinstance(text, TranslatableMessage) and text.message_id == _LINES:
        return cast("Listed", text.values["lines"]).parts
    return (text,) if isinstance(text, TranslatableMessage) else tuple(text.split("\n"))


def replaced(text: str, former: str, new: str) -> str:
    """A text with other words in what it is made of.

    >>> replaced(placed("/tmp/x/study.toml", "is empty"), "/tmp/x/", "")
    'study.toml: is empty'
    """
    if not isinstance(text, TranslatableMessage):
        return text.replace(former, new)
    values = dict[str, str | int | float | Listed]()
    for name, value in text.values.items():
        if isinstance(value, Listed):
            parts = tuple(replaced(part, former, new) for part in value.parts)
            values[name] = Listed(parts, value.separator, value.end)
        else:
            values[name] = replaced(value, former, new) if isinstance(value, str) else value
    return TranslatableMessage(text.template, values, text.message_id)


def as_data(text: str) -> object:
    """A text as JSON can have it: a plain one as it is, a sentence with what it is made of.

    >>> as_data(message("{n} of {all}", n=1, all=listed(["a"])))
    ['{n} of {all}', '', {'n': 1, 'all': [['a'], ', ', '{some} and {last}']}]
    """
    if not isinstance(text, TranslatableMessage):
        return text
    values = {
        name: [[*map(as_data, value.parts)], value.separator, value.end]
        if isinstance(value, Listed)
        else as_data(value)
        if isinstance(value, str)
        else value
        for name, value in text.values.items()
    }
    return [text.template, text.message_id, values]


def of_data(data: Any) -> str:  # noqa: ANN401 - JSON
    """The text that `as_data` was given.

    >>> of_data(["{n} of {all}", "", {"n": 1, "all": [["a", "b"], ", ", "{some} and {last}"]}])
    '1 of a and b'
    """
    if isinstance(data, str):
        return data
    template, message_id, values = data
    texts = dict[str, str | int | float | Listed]()
    for name, value in values.items():
        if isinstance(value, list) and isinstance(value[0], list):
            parts, separator, end = value
            texts[name] = Listed(tuple(map(of_data, parts)), separator, end)
        else:
            texts[name] = value if isinstance(value, int | float) else of_data(value)
    return TranslatableMessage(template, texts, message_id)


def translate(text: str, gettext: Callable[[str], str], number: Callable[[float, str], str]) -> str:
    """Any text in another language: a plain one, such as a name of the study, stays as it is."""
    return text.translated(gettext, number) if isinstance(text, TranslatableMessage) else text


def _filled(
    template: str,
    values: Mapping[str, str | int | float | Listed],
    gettext: Callable[[str], str],
    number: Callable[[float, str], str],
) -> str:
    out = []
    for literal, name, form, conversion in Formatter().parse(template):
        out.append(literal)
        if name is None:
            continue
        number_of, *forms = name.split("|")
        value = values[number_of]
        if forms:
            out.append(forms[0] if value == 1 else forms[1])
            continue
        if isinstance(value, Listed):
            out.append(_joined(value, gettext, number))
        elif isinstance(value, str):
            out.append(repr(value) if conversion else translate(value, gettext, number))
        else:
            out.append(number(value, form or ""))
    return "".join(out)


def _joined(
    value: Listed, gettext: Callable[[str], str], number: Callable[[float, str], str]
) -> str:
    parts = [translate(part, gettext, number) for part in value.parts]
    if len(parts) < 2:
        return "".join(parts)
    some, last = value.separator.join(parts[:-1]), parts[-1]
    return gettext(value.end).format(some=some, last=last)
