"""Translation of results: sentences, reasons, methods and groups of analyses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from konsil.analysis import Results, Row
from konsil.analysis.model.terms import Term, Word, words_of
from konsil.prepare import MATCH
from konsil.report.material.tables import Numbers


def translated_results(results: Results, numbers: Numbers) -> Results:
    """The same results with their texts in the report's language.

    Terms of groups become words that remember their terms. The data files keep the terms and the
    English texts.
    """
    return replace(
        results,
        rows=translated_rows(results.rows, numbers),
        coverage=tuple(
            replace(row, excluded=_keys(row.excluded, numbers)) for row in results.coverage
        ),
        bounds=tuple(replace(b, group=_values(b.group, numbers)) for b in results.bounds),
        trade_offs=tuple(replace(t, group=_values(t.group, numbers)) for t in results.trade_offs),
        curves=tuple(replace(c, group=_values(c.group, numbers)) for c in results.curves),
        outcomes=tuple(
            replace(o, value=_values({o.column: o.value}, numbers)[o.column])
            for o in results.outcomes
        ),
        warnings=_texts(results.warnings, numbers),
        methods=_texts(results.methods, numbers),
        inference=_texts(results.inference, numbers),
        played=numbers.translated(results.played),
        label_counts={
            (*key[:3], numbers.translated(key[3])): n for key, n in results.label_counts.items()
        },
    )


def translated_rows(rows: Sequence[Row], numbers: Numbers) -> tuple[Row, ...]:
    """The rows with their texts in the report's language."""
    return tuple(_row(row, numbers) for row in rows)


def _row(row: Row, numbers: Numbers) -> Row:
    # A method stays a message until it is printed: tables group intervals by its id.
    estimate = replace(row.estimate, reason=numbers.translated(row.estimate.reason))
    return replace(
        row,
        estimate=estimate,
        group=_values(row.group, numbers),
        versus=_values(row.versus, numbers),
        warnings=_texts(row.warnings, numbers),
        finding=numbers.translated(row.finding),
    )


class Sentence(str):
    """A translated sentence that remembers its message, so that nothing depends on the wording."""

    message_id: str
    """The id of its message; empty where it has none."""

    def __new__(cls, text: str, message_id: str) -> Sentence:
        """A text of a message."""
        sentence = super().__new__(cls, text)
        sentence.message_id = message_id
        return sentence


def message_of(text: str) -> str:
    """The id of the message that a sentence was made from; empty where there is none."""
    return str(getattr(text, "message_id", ""))


def _texts(texts: tuple[str, ...], numbers: Numbers) -> tuple[str, ...]:
    return tuple(Sentence(numbers.translated(text), message_of(text)) for text in texts)


def _values(group: Mapping[str, str], numbers: Numbers) -> dict[str, str]:
    _ = numbers.language.gettext
    # Whether an item was matched is konsil's own stratum, and so are its words.
    match_words = {"yes": _("yes"), "no": _("no")}
    return {c: match_words.get(v, v) if c == MATCH else _word(v, numbers) for c, v in group.items()}


def _word(value: str, numbers: Numbers) -> str:
    """What a reader sees of a group's value; a name of the study is its own word."""
    return Word(numbers.translated(words_of(value)), value) if isinstance(value, Term) else value


def _keys(counts: Mapping[str, int], numbers: Numbers) -> dict[str, int]:
    return {_word(reason, numbers): n for reason, n in counts.items()}
