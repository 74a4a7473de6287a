"""From replies of judges in cells to the values that give ratings: the others are counted."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence

import polars as pl

from konsil.api.folder.sources.reply_cells import (
    EMPTY,
    NO_KEY,
    NO_VALUE,
    OFF_SCALE,
    SEVERAL,
    UNREADABLE,
    ReplyColumn,
    read_replies,
    with_columns,
)
from konsil.api.folder.sources.source_labels import off_scale_problem
from konsil.errors import in_short
from konsil.errors.message import message
from konsil.instrument import Criterion, Instrument
from konsil.instrument.definition.spelling import meant
from konsil.records import Source
from konsil.sources.files.table import Table
from konsil.sources.tables.checks import ROW
from konsil.sources.tables.columns import JOIN, column, resolve
from konsil.sources.tables.longform import COLUMN, WORD, long_form
from konsil.sources.tables.ratings import FIELDS
from konsil.sources.tables.rowchecks import problems_of

REASONS = (EMPTY, UNREADABLE, OFF_SCALE, SEVERAL, NO_VALUE, NO_KEY)
"""Why a reply gives no rating; of several reasons for its values, the first one."""

_SHOWN = 10
"""Keys of replies that a note lists."""


@dataclasses.dataclass(frozen=True)
class RepliedTable:
    """A table with the values of its replies as columns."""

    table: Table
    """The table; values that give no rating are empty."""
    counts: Mapping[str, object] = dataclasses.field(default_factory=dict)
    """Replies read, those with ratings and those without by reason; likewise values, where replies
    with ratings lack some."""
    notes: tuple[str, ...] = ()
    """The values that are not on their scale, with their places."""


def with_replies(
    table: Table, source: Source, instruments: Sequence[Instrument] = ()
) -> RepliedTable:
    """The table with a column for each key of the replies that the source maps.

    A reply is what a model wrote, so that its faults are counted and never refuse the file: each
    reply has ratings or one of `REASONS`. With the study's `instruments`, values that are not on
    their scales are emptied, and words that differ in case or spaces from exactly one label, or one
    word that the source translates, are this word, as in replies to konsil's own prompts.
    """
    if not source.replies:
        return RepliedTable(table)
    all_replies = []
    for name in source.replies:
        replies = read_replies(table, source, column(table, name, "replies"))
        table = dataclasses.replace(table, frame=with_columns(table, replies))
        all_replies.append(replies)
    notes = [_lacking(table, replies, key) for replies in all_replies for key in replies.lacking]
    rated = {
        (row, name)
        for replies in all_replies
        for name, cells in replies.cells.items()
        for row, cell in enumerate(cells)
        if cell is not None
    }
    if source.records == "ratings" and instruments:
        values = _Values(table, source, instruments, all_replies)
        table, rated = values.checked()
        notes += values.notes()
    return RepliedTable(table, _counts(all_replies, source, rated), tuple(notes))


def _lacking(table: Table, replies: ReplyColumn, name: str) -> str:
    """That no reply has a key that is mapped, and which keys the replies have."""
    keys = list(replies.keys)
    return message(
        "{file}: no reply in {column} has the key {key}; the keys are {keys}{more}",
        message_id="error.replies_no_key",
        file=table.name,
        column=repr(replies.name),
        key=repr(replies.path_by_column[name]),
        keys=", ".join(map(repr, keys[:_SHOWN])) or "none",
        more=", ..." if len(keys) > _SHOWN else "",
    )


class _Values:
    """The values of replies, compared with the scales."""

    def __init__(
        self,
        table: Table,
        source: Source,
        instruments: Sequence[Instrument],
        all_replies: Sequence[ReplyColumn],
    ) -> None:
        self.table = table
        self.source = source
        self.instruments = instruments
        self.replies = {c: replies for replies in all_replies for c in replies.path_by_column}
        self.problems = {
            (row, name): f"{name}: is a list or an object"
            for replies in all_replies
            for (row, name), reason in replies.reasons.items()
            if reason == OFF_SCALE
        }

    def checked(self) -> tuple[Table, set[tuple[int, str]]]:
        """The table without values that give no rating, and row and column of those that do."""
        self._write(dict(self._respelt()))
        frame = self._long_form()
        excluded = {*self._off_scale(frame), *self._not_readable(frame)}
        rated = set(self._labels(frame).select(ROW, COLUMN).iter_rows()) - excluded
        for row, name in excluded:
            self.replies[name].reasons[row, name] = OFF_SCALE
        self._write(dict.fromkeys(excluded))
        return self.table, rated

    def notes(self) -> tuple[str, ...]:
        """One sentence that lists the values that are not on their scales."""
        if not self.problems:
            return ()
        place, line = self.table.place, self.table.line
        sentences = [f"{place} {line(row):,}: {p}" for (row, _), p in sorted(self.problems.items())]
        return (
            message(
                "{file}: {n:,} {n|value|values} of replies {n|is|are} not on the scale and"
                " {n|gives|give} no rating: {problems}",
                message_id="error.replies_off_scale",
                file=self.table.name,
                n=len(sentences),
                problems=in_short(sentences),
            ),
        )

    def _long_form(self) -> pl.DataFrame:
        columns = resolve(self.table, self.source, FIELDS)
        return long_form(self.table, self.source, columns, FIELDS)

    def _labels(self, frame: pl.DataFrame) -> pl.DataFrame:
        """The rows of a long form whose labels come from replies."""
        return frame.filter(pl.col(COLUMN).is_in(list(self.replies)))

    def _criteria(self, instrument: str | None, criterion: str | None) -> list[Criterion]:
        """The criteria of this name; the instrument is that of the row, if it states one."""
        return [
            c
            for i in self.instruments
            for c in i.criteria
            if c.id == criterion and instrument in (None, i.id)
        ]

    def _respelt(self) -> Iterator[tuple[tuple[int, str], str | None]]:
        """Row and column of words that differ from the one that is meant, and this word."""
        labels = self._labels(self._long_form()).filter(pl.col(WORD).is_not_null())
        by_word = labels.group_by("instrument", "criterion", WORD).agg(ROW, COLUMN)
        for instrument, criterion, word, rows, columns in by_word.iter_rows():
            candidates = self._criteria(instrument, criterion)
            if any(c.scale.kind == "text" for c in candidates):
                continue
            words = [
                *self.source.labels_of.get(criterion, ()),
                *self.source.labels,
                *self.source.missing,
                *(option for c in candidates for option in c.scale.options()),
            ]
            respelt = meant(word, words)
            if respelt is not None and respelt != word:
                places = zip(rows, columns, strict=True)
                yield from ((place, respelt) for place in places)

    def _off_scale(self, frame: pl.DataFrame) -> Iterator[tuple[int, str]]:
        """Row and column of the labels that no criterion of their name reads."""
        labels = self._labels(frame).filter(pl.col("label").is_not_null())
        by_label = labels.group_by("instrument", "criterion", "label").agg(ROW, COLUMN)
        for instrument, criterion, label, rows, columns in by_label.iter_rows():
            problem = off_scale_problem(self._criteria(instrument, criterion), label)
            if problem:
                places = list(zip(rows, columns, strict=True))
                self.problems |= dict.fromkeys(places, problem)
                yield from places

    def _not_readable(self, frame: pl.DataFrame) -> Iterator[tuple[int, str]]:
        """Row and column of values that are no number, no time or otherwise not readable.

        Where a value beside the labels is not readable, such as the confidence, no value of the
        reply is a rating: part of what was said is not what was said.
        """
        columns = resolve(self.table, self.source, FIELDS)
        row_by_line: dict[int, int] = {}
        labels = set(frame[COLUMN].unique())
        for problem in problems_of(frame, self.table, self.source, columns):
            faulty = [c for c in problem.column.split(JOIN) if c in self.replies]
            if not faulty:
                continue
            row_by_line = row_by_line or {self.table.line(r): r for r in frame[ROW].unique()}
            row = row_by_line[problem.line]
            self.problems[row, faulty[0]] = f"{problem.column}: {problem.sentence}"
            yield from ((row, name) for name in faulty)
            if not labels.issuperset(faulty):
                of_reply = {c for f in faulty for c in self.replies[f].path_by_column}
                yield from ((row, name) for name in labels & of_reply)

    def _write(self, text_by_place: Mapping[tuple[int, str], str | None]) -> None:
        """Write values into the table: row and column -> text, or None."""
        frame = self.table.frame
        for name in {name for _, name in text_by_place}:
            texts = frame[name].to_list()
            for (row, of_text), text in text_by_place.items():
                if of_text == name:
                    texts[row] = text
            frame = frame.with_columns(pl.Series(name, texts, pl.String))
        self.table = dataclasses.replace(self.table, frame=frame)


def _counts(
    all_replies: Sequence[ReplyColumn], source: Source, rated: Collection[tuple[int, str]]
) -> dict[str, object]:
    """The outcomes of all replies, and those of the values of replies with ratings."""
    outcomes, values = Counter[str](), Counter[str]()
    for replies in all_replies:
        columns = _label_columns(replies, source)
        for row, outcome in enumerate(replies.outcomes):
            reasons = [
                "" if (row, c) in rated else replies.reasons.get((row, c), NO_VALUE)
                for c in columns
            ]
            if outcome or "" not in reasons:
                outcomes[outcome or next((r for r in REASONS if r in reasons), NO_KEY)] += 1
            else:
                outcomes[""] += 1
                values.update(reasons)
    counts: dict[str, object] = {
        "filter": "JSON replies",
        "of": "replies",
        "as": "ratings",
        "read": outcomes.total(),
        "kept": outcomes[""],
        "dropped": {reason: outcomes[reason] for reason in REASONS if outcomes[reason]},
    }
    if values.total() > values[""]:
        counts["tables"] = {
            "values of replies": {
                "read": values.total(),
                "kept": values[""],
                "left out": {reason: values[reason] for reason in REASONS if values[reason]},
            }
        }
    return counts


def _label_columns(replies: ReplyColumn, source: Source) -> list[str]:
    """The columns of these replies whose values are labels; all, if none is."""
    labels = {
        name.strip().casefold()
        for name in (*source.raters, *source.criteria, *source.columns.get("label", ()))
    }
    columns = list(replies.path_by_column)
    return [c for c in columns if c.casefold() in labels] or columns
