"""A table's rows as ratings, and the tasks they were given in."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field

import polars as pl

from konsil.records import Rating, Source, Span, State, Task, bulk_creation
from konsil.sources.files.problems import Parsed
from konsil.sources.files.table import Table
from konsil.sources.tables.checks import ROW
from konsil.sources.tables.columns import resolve
from konsil.sources.tables.longform import WORD, long_form, systems_of
from konsil.sources.tables.rowchecks import SENTENCE_NUMBER, problems_of, repeated, two_systems
from konsil.sources.tables.tasks import TaskIdentity, Tasks, utc
from konsil.sources.tables.unknown_raters import refuse_identified, with_unknown_raters

FIELDS = (
    "rater",
    "item",
    "system",
    "answer",
    "system_a",
    "system_b",
    "answer_a",
    "answer_b",
    "criterion",
    "label",
    "state",
    "note",
    "confidence",
    "seconds",
    "at",
    "arm",
    "phase",
    "batch",
    "purpose",
    "repeat",
    "task",
    "instrument",
    "digest",
    "span_start",
    "span_end",
    "sentence",
)
"""The fields of a rating that a source may map.

`system` without `answer` means the answer 'item:system'; the fields ending in _a and _b make it a
pair, A first. `repeat` says which time it is (1, 2, ...). `instrument` is the instrument's id,
`digest` the digest of what was shown. `sentence` is the number of the rated sentence in its answer,
1 for the first, in place of its offsets. """

_LIKE_MISSING = frozenset(
    {"nan", "na", "n/a", "#n/a", "<na>", "null", "none", "nil", "missing", "-", "--", "–", "—", "."}
)
_CHUNK = 50_000


@dataclass(frozen=True, slots=True)
class ParsedRatings(Parsed[Rating]):
    """Ratings and the tasks they name."""

    tasks: tuple[Task, ...] = ()
    """One for each screen, in the order of the file."""
    duplicates: int = 0
    """Rows left out because an earlier one says the same."""
    suspects: Mapping[str, int] = field(default_factory=dict)
    """Labels that often mean 'missing' and were not declared so, with how often each occurs."""
    systems: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """Answer -> its item and system, where rows have both an answer and a system."""
    numbers: tuple[int | None, ...] = ()
    """The number of each record's sentence, parallel to `records`; empty where no row has one."""
    number_column: str = "sentence"
    """The column of these numbers."""
    cancelled: int = 0
    """Screens that their rater skipped: not rated, and no abstention."""


def read_ratings(table: Table, source: Source, of_tasks: Collection[str] = ()) -> ParsedRatings:
    """Read ratings, long or wide.

    Their labels are words that the caller still checks against the scale. The criteria `of_tasks`
    are rated once for each task.

    A row without a label is not rated and gives no record. Rows that say the same of the same
    subject are one rating; rows that disagree are a problem. While there is any problem there are
    no records.
    """
    columns = resolve(table, source, FIELDS)
    if source.unknown_raters:
        refuse_identified(table, source, columns)
    frame = long_form(table, source, columns, FIELDS)
    if source.unknown_raters:
        in_rows = bool(source.criteria)
        frame = with_unknown_raters(frame, source.unknown_raters, in_rows=in_rows)
    problems = tuple(problems_of(frame, table, source, columns))
    text = pl.when(pl.col("sentence").str.contains(SENTENCE_NUMBER)).then("sentence")
    number = text.cast(pl.Float64).cast(pl.Int64).alias("sentence")
    once, conflicts = repeated(frame.with_columns(number), table, of_tasks)
    named = systems_of(frame)
    problems = (*problems, *conflicts, *two_systems(named, table, columns))
    counts = suspects(frame, _translated(source))
    if problems:
        return ParsedRatings(
            (),
            (),
            tuple(sorted(problems, key=lambda p: p.line)),
            table.place,
            table.frame.height,
            suspects=counts,
        )
    # Files number the repeats of a task from 0 or from 1.
    first_time = 0 if (once["repeat"].cast(pl.Float64) == 0).any() else 1
    with bulk_creation():
        tasks = Tasks(first_time)
        records: list[Rating] = []
        lines: list[int] = []
        # In chunks: all columns as Python lists at once would take several times the file's size.
        for chunk in once.iter_slices(_CHUNK):
            for row, rating in _built(chunk, tasks):
                records.append(rating)
                lines.append(table.line(row))
        table_tasks = tasks.finished()
    return ParsedRatings(
        tuple(records),
        tuple(lines),
        (),
        table.place,
        table.frame.height,
        table_tasks,
        frame.height - once.height,
        counts,
        {answer: (item, system) for answer, item, system, _ in named.iter_rows()},
        () if once["sentence"].null_count() == once.height else tuple(once["sentence"].to_list()),
        columns.called("sentence"),
    )


def _built(chunk: pl.DataFrame, tasks: Tasks) -> Iterator[tuple[int, Rating]]:
    same: dict[str, str] = {}

    def shared(column: str, default: str | None = None) -> list[str | None]:
        """The column's texts, each different one once in memory."""
        return [default if t is None else same.setdefault(t, t) for t in chunk[column].to_list()]

    numbers = chunk.select(
        pl.col("confidence", "seconds").cast(pl.Float64),
        pl.col("span_start", "span_end", "repeat").cast(pl.Float64).cast(pl.Int64),
    )
    for (
        row,
        rater,
        item,
        first,
        second,
        criterion,
        state,
        label,
        note,
        at,
        arm,
        phase,
        batch,
        purpose,
        task,
        instrument,
        digest,
        confidence,
        seconds,
        start,
        end,
        repeat,
    ) in zip(
        chunk[ROW].to_list(),
        shared("rater"),
        shared("item"),
        shared("first"),
        shared("second"),
        shared("criterion"),
        shared("state", "rated"),
        shared("label"),
        shared("note", ""),
        shared("at", ""),
        shared("arm", ""),
        shared("phase", ""),
        shared("batch", ""),
        shared("purpose", "main"),
        shared("task"),
        shared("instrument", ""),
        shared("digest", ""),
        *(numbers[c].to_list() for c in numbers.columns),
        strict=True,
    ):
        answers = () if first is None else (first,) if second is None else (first, second)
        span = None if start is None else Span(start, end)
        identity = TaskIdentity(
            rater, item, answers, arm, phase, batch, purpose, repeat, instrument
        )
        task_id = tasks.task(identity, span, task)
        abstained = state == "abstained"
        yield (
            row,
            Rating(
                task_id,
                rater,
                criterion,
                item,
                answers,
                span,
                "abstained" if abstained else "rated",
                None if abstained else label,
                note,
                confidence,
                seconds,
                utc(at) if at else "",
                digest,
            ),
        )


def _translated(source: Source) -> set[str]:
    """The words of the file that the source translates into labels."""
    return set(source.labels).union(*source.labels_of.values())


def suspects(frame: pl.DataFrame, declared: Collection[str]) -> dict[str, int]:
    """Labels that often mean 'missing' and are not declared, with their frequencies."""
    counts = frame[WORD].value_counts() if frame.height else pl.DataFrame({WORD: [], "count": []})
    return {
        word: n
        for word, n in counts.sort("count", WORD, descending=[True, False]).iter_rows()
        if word is not None and word not in declared and word.casefold() in _LIKE_MISSING
    }


def missing_hint(counts: Mapping[str, int]) -> str:
    """The hint for a message on unknown labels; empty where none looks like a missing value.

    >>> missing_hint({"NA": 12})
    "'NA' occurs 12 times: if it means 'not rated', declare it in missing = ['NA']"
    """
    if not counts:
        return ""
    words = " and ".join(
        f"{w!r} occurs {n:,} time{'' if n == 1 else 's'}" for w, n in counts.items()
    )
    return f"{words}: if it means 'not rated', declare it in missing = {list(counts)}"


def with_label(rating: Rating, state: State, label: str | None) -> Rating:
    """The rating as the scale reads its label."""
    if rating.state == state and rating.label == label:
        return rating
    return dataclasses.replace(rating, state=state, label=label)
