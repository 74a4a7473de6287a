"""The names of questions on a page: numbers.

A criterion's identifier may reveal what a study expects.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeVar

from konsil.instrument.definition.form import Instrument

T = TypeVar("T")
MARK = "~"
"""How such a name begins: no criterion's identifier has this character."""


class PageNames:
    """The names of all questions of a study, there and back.

    >>> from konsil.instrument import Criterion, Scale
    >>> criteria = (Criterion("harm", "?", Scale()), Criterion("bias", "?", Scale()))
    >>> names = PageNames([Instrument("f", criteria)])
    >>> fields = [names.field(name) for name in ("~2.a1.reason", "bias.a1", "~note")]
    >>> (names.neutral("bias.a1.reason"), *fields)
    ('~2.a1.reason', 'bias.a1.reason', 'bias.a1', '~note')
    """

    def __init__(self, instruments: Iterable[Instrument]) -> None:
        ids = dict.fromkeys(c.id for i in instruments for c in i.criteria)
        self._numbers = {name: f"{MARK}{n}" for n, name in enumerate(ids, start=1)}
        self._ids = {number: name for name, number in self._numbers.items()}

    def neutral(self, field: str) -> str:
        """The name of a field on the page; any other name stays as it is."""
        prefix = max(
            (i for i in self._numbers if field == i or field.startswith(f"{i}.")),
            key=len,
            default=None,
        )
        return field if prefix is None else self._numbers[prefix] + field[len(prefix) :]

    def field(self, name: str) -> str:
        """The field of a name on the page.

        A field's own name, as older pages and kits have it, stays.
        """
        head, dot, rest = name.partition(".")
        return self._ids[head] + dot + rest if head in self._ids else name

    def fields(self, value_by_name: Mapping[str, T]) -> dict[str, T]:
        """The values of a page by the fields' own names."""
        return {self.field(name): value for name, value in value_by_name.items()}

    def neutrals(self, value_by_name: Mapping[str, T]) -> dict[str, T]:
        """The values of fields by their names on the page."""
        return {self.neutral(name): value for name, value in value_by_name.items()}
