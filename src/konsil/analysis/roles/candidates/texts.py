"""Readings of tables of texts to be rated: questions, reference answers, and answers of systems."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from konsil.analysis.roles.candidates.leftover import explain, is_named_for_other
from konsil.analysis.roles.columns import FEW, Column, Table
from konsil.analysis.roles.evidence import Draft
from konsil.analysis.roles.names import best_fit, fit, kinds
from konsil.analysis.roles.reading import StatedRoles
from konsil.analysis.roles.vocabulary import NAMED, TextRole

_MOST_SYSTEMS = 40
_SHORT = 12
"""Mean characters from which cells below a heading such as 'Question' can be questions."""


def by_text(table: Table, stated: StatedRoles) -> Iterator[Draft]:
    """Every reading with a row for each question, or for each answer."""
    texts = _Texts(table, stated)
    items: Sequence[Column | None] = texts.items or [None]
    for question in (*texts.questions, None):
        for item in items:
            draft = texts.by_question(item, question)
            if draft is not None:
                yield draft
    for item in table.columns:
        for system in table.columns:
            if item is not system and texts.is_crossed(item, system):
                draft = texts.by_answer(item, system)
                if draft is not None:
                    yield draft


@dataclass(frozen=True, eq=False)
class _Texts:
    """The columns of a table as what they can be."""

    table: Table
    stated: StatedRoles

    @cached_property
    def long(self) -> list[Column]:
        """Columns of texts that are no remarks."""
        return [c for c in self.table.columns if c.is_long and fit(c.name, "comment") < NAMED]

    @cached_property
    def questions(self) -> list[Column]:
        """Columns that can be the text of the question that each row has."""
        named = (
            c
            for c in self.table.columns
            if not c.is_number
            and fit(c.name, "question") >= NAMED
            and sum(map(len, c.filled)) > _SHORT * len(c.filled)
        )
        columns = {c.name: c for c in (*self.long, *named)}
        return [c for c in columns.values() if c.is_unique]

    @cached_property
    def items(self) -> list[Column]:
        """Columns that can number the rows; measured values do not."""
        columns = (c for c in self.table.columns if c.is_unique and not c.is_long)
        return [c for c in columns if not c.is_date and (c.is_whole or not c.is_number)]

    def is_crossed(self, item: Column, system: Column) -> bool:
        """Whether rows are the answers of each system to most questions."""
        n, rows = len(system.distinct), self.table.n_rows
        if system.is_long or not 2 <= n <= _MOST_SYSTEMS or item.is_unique or not item.is_full:
            return False
        is_full = rows >= 2 * n and n * len(item.distinct) / 2 <= rows <= n * len(item.distinct)
        return is_full and self.table.is_key((item.name, system.name))

    def by_question(self, item: Column | None, question: Column | None) -> Draft | None:
        """A row for each question, with a column for the answers of each system."""
        if item is question:
            return None
        rest = [c for c in self.table.columns if c is not item and c is not question]
        reference = self._reference(rest, None)
        answers = [c for c in self.long if c in rest and c is not reference]
        named = [c for c in rest if c not in answers and c is not reference and _is_answer(c)]
        answers = [c for c in rest if c in answers or c in named]
        if question is None and len(answers) < 2:
            return None
        key = item or question
        draft = Draft("questions", () if key is None else (key.name,))
        draft.rated = tuple(c.name for c in answers)
        if item is not None:
            is_other = _is_meant_otherwise(item)
            sign = 0.0 if is_other else max(fit(item.name, "unit"), 0.7 * fit(item.name, "row"))
            draft.add(2 * sign or 0.3, "unit_in_each_row", item.name)
            draft.add(-2.0 * is_other, "named_for_other", item.name)
        if question is not None:
            draft.texts[question.name] = "question"
            draft.add(3, "texts", question.name)
            draft.add(2 * fit(question.name, "question"), "named_for_texts", question.name)
            is_system = _is_named_for_system(question) or fit(question.name, "answer") >= NAMED
            is_system = is_system and fit(question.name, "question") < 1
            is_other = is_system or fit(question.name, "reference") >= NAMED
            draft.add(-4.0 * is_other, "named_for_other", question.name)
        unnamed = [c.name for c in answers if not _is_answer(c)]
        share = 1 - len(unnamed) / len(answers) if answers else 0.0
        draft.add(3 * share, "named_for_systems", ", ".join(draft.rated))
        draft.add(-1.0 * len(unnamed), "names_do_not_tell", ", ".join(unnamed))
        return self._completed(draft, reference, None)

    def by_answer(self, item: Column, system: Column) -> Draft | None:
        """A row for each answer, with columns of its question and its system."""
        differing = [c for c in self.long if not self.table.decides({item.name}, c.name)]
        differing = [c for c in differing if c is not item]
        if not differing:
            return None
        answer = max(differing, key=lambda c: (fit(c.name, "answer"), -self.table.places[c.name]))
        same = [c for c in self.long if c not in differing and c is not item]
        draft = Draft("answers", (item.name,), rated=(answer.name,), system=system.name)
        draft.add(3, "texts", answer.name)
        draft.add(2 * fit(answer.name, "answer"), "named_for_texts", answer.name)
        draft.add(-1.0 * (len(differing) - 1), "names_do_not_tell", answer.name)
        is_known = self.stated.system == system.name
        sign = max(2.0 * is_known, fit(system.name, "system"))
        draft.add(3.0 * sign or -1.0, "named_for_systems", system.name)
        wrong = 0.0 if is_known else best_fit(system.name, ("unit", "group")) * (not sign)
        draft.add(-3 * wrong, "named_for_other", system.name)
        draft.add(2 * fit(item.name, "unit"), "named_for_units", item.name)
        draft.add(-3.0 * _is_meant_otherwise(item), "named_for_other", item.name)
        draft.add(-2.0 * item.is_long, "names_do_not_tell", item.name)
        rows = [c.name for c in self.items if fit(c.name, "unit") >= NAMED]
        draft.add(-4.0 * bool(rows), "unit_in_each_row", ", ".join(rows))
        draft.add(0.5 if len(item.distinct) > len(system.distinct) else -2, "more_units", item.name)
        questions = [c for c in same if fit(c.name, "reference") < NAMED]
        if questions:
            question = max(questions, key=lambda c: fit(c.name, "question"))
            draft.texts[question.name] = "question"
            draft.add(1 + fit(question.name, "question"), "named_for_texts", question.name)
        rest = [c for c in self.table.columns if c.name not in draft.used]
        return self._completed(draft, self._reference(rest, item), item)

    def _reference(self, columns: Sequence[Column], item: Column | None) -> Column | None:
        """The column that is named for reference answers, the same in all rows of a question."""
        named = [
            c
            for c in columns
            if fit(c.name, "reference") >= NAMED
            and not c.is_number
            and (item is None or self.table.decides({item.name}, c.name))
        ]
        return max(named, key=lambda c: (fit(c.name, "reference"), c.is_long), default=None)

    def _completed(self, draft: Draft, reference: Column | None, item: Column | None) -> Draft:
        """The draft with reference, groups, and what is not used."""
        if reference is not None:
            draft.texts[reference.name] = "reference"
            draft.add(1, "named_for_texts", reference.name)
        used = draft.used
        for column in self.table.columns:
            if column.name not in used and self._is_group(column, item):
                draft.texts[column.name] = "group"
        left_out = [c.name for c in self.long if c.name not in draft.used]
        draft.add(-1.5 * len(left_out), "left_out", ", ".join(left_out))
        explain(self.table, draft, ())
        texts = tuple(sorted((name, role) for name, role in draft.texts.items() if role != "group"))
        draft.numbers = (draft.shape, draft.units, draft.system, frozenset(draft.rated), texts)
        return draft

    def _is_group(self, column: Column, item: Column | None) -> bool:
        """Whether a column groups the questions."""
        n = len(column.distinct)
        is_few = 1 < n <= max(FEW, self.table.n_rows // 5) and n < len(column.filled)
        if not is_few or column.is_long or column.is_date:
            return False
        if item is not None and not self.table.decides({item.name}, column.name):
            return False
        if fit(column.name, "group") >= NAMED:
            return True
        return not column.is_number and not is_named_for_other(column.name)


def _is_named_for_system(column: Column) -> bool:
    return kinds(column.name)["system"] == 1


def _is_answer(column: Column) -> bool:
    """Whether a heading is that of a system's answers."""
    is_named = _is_named_for_system(column) or fit(column.name, "answer") >= NAMED
    n = len(column.distinct)
    return is_named and not column.is_number and (column.is_long or 2 * n > len(column.filled))


def _is_meant_otherwise(column: Column) -> bool:
    """Whether a column is named for something else than questions and their numbers."""
    is_text = max(fit(column.name, role) for role in _ANSWERS) >= NAMED
    is_other = is_text or best_fit(column.name, ("system", "group", "rater", "time")) >= NAMED
    # "Model answer" has a word of units, but it names texts.
    is_reference = fit(column.name, "reference") == 1 and not column.is_number
    return is_reference or (is_other and fit(column.name, "unit") < 1)


_ANSWERS: tuple[TextRole, ...] = ("reference", "answer")
