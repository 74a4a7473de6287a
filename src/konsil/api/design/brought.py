"""The raters and the questions that tables of ratings brought into a draft."""

from __future__ import annotations

from konsil.design.edits import Data
from konsil.design.people import without_raters
from konsil.design.questions import questions_of, with_questions

Named = frozenset[tuple[str, str]]
"""Raters and criteria, each with its kind."""


def named_in(data: Data) -> Named:
    """The raters and the criteria of a study."""
    raters = {("rater", str(rater["id"])) for rater in data.get("raters", ())}
    return frozenset(raters | {("criterion", question.id) for question in questions_of(data)})


class Brought:
    """What each table names, and what the study has of it, so that it can go again."""

    def __init__(self) -> None:
        self._named: dict[str, Named] = {}
        self._brought: dict[str, Named] = {}

    def is_of(self, name: str) -> bool:
        """Whether the study has anything of a table."""
        return name in self._named

    def note(self, name: str, before: Data, after: Data) -> None:
        """Note what a table added to the study."""
        added = named_in(after) - named_in(before)
        self._brought[name] = self._brought.get(name, frozenset()) | added

    def without_stale(self, name: str, data: Data, named: Named | None) -> Data:
        """The study without raters and questions that only the table's former roles named.

        `named`: what the table names now; None: it is left out.
        """
        self._named.pop(name, None)
        if named is not None:
            self._named[name] = named
        brought = self._brought.get(name, frozenset())
        stale = brought.difference(*self._named.values()) & named_in(data)
        self._brought[name] = brought - stale
        if not stale:
            return data
        data = without_raters(data, {rater for kind, rater in stale if kind == "rater"})
        remaining = [q for q in questions_of(data) if ("criterion", q.id) not in stale]
        return with_questions(data, remaining)
