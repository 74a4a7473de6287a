"""A reading in words: in one line, its first row read out, and the options that state it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain
from types import MappingProxyType

import polars as pl

from konsil.analysis.roles.candidates.compared.shown_order import names_side
from konsil.analysis.roles.evidence import shortened
from konsil.analysis.roles.outcomes import step_of
from konsil.analysis.roles.reading import COMPARISONS, Shape, TableReading
from konsil.errors.message import Listed, TranslatableMessage, listed, message

_MOST_SHOWN = 12
"""Names of a list that are shown."""
_MOST_READ = 100
"""Rows in which the first one with ratings is searched for."""


def sentence(
    reading: TableReading, frame: pl.DataFrame, n_units: int | None = None
) -> TranslatableMessage:
    """What a table is read as, in one line: units, raters or columns of ratings, the unused."""
    unused = [name for name, role in reading.roles.items() if name in reading.unused]
    line = message(
        "{units}; {ratings}",
        message_id="roles.statement",
        units=_units(reading, frame, n_units),
        ratings=_ratings(reading),
    )
    if reading.group is not None:
        line = message(
            "{statement}; groups in {column}",
            message_id="roles.statement_groups",
            statement=line,
            column=shortened(reading.group),
        )
    if reading.has_sets:
        line = message(
            "{statement}; several labels in a cell",
            message_id="roles.statement_sets",
            statement=line,
        )
    if not unused:
        return line
    return message(
        "{statement}; not used: {columns}",
        message_id="roles.statement_unused",
        statement=line,
        columns=_names(unused),
    )


def _names(names: Sequence[str]) -> Listed:
    shown = [shortened(name) for name in names[:_MOST_SHOWN]]
    more = ["..."] if len(names) > _MOST_SHOWN else []
    return listed([*shown, *more], end="{some}, {last}")


def _n_units(reading: TableReading, frame: pl.DataFrame) -> int:
    """How many units a table has."""
    if reading.shape == "raters-in-rows":
        return len(reading.rated)
    if not reading.units:
        return frame.height
    return frame.select(reading.units).hash_rows().n_unique()


def _units(reading: TableReading, frame: pl.DataFrame, n_units: int | None) -> TranslatableMessage:
    if reading.shape == "cross-table":
        return message("cross table of two raters", message_id="roles.cross_table")
    n = _n_units(reading, frame) if n_units is None else n_units
    if reading.shape in COMPARISONS and not reading.units:
        return message(
            "{n:,} {n|comparison|comparisons} without items", message_id="roles.n_comparisons", n=n
        )
    if reading.shape == "raters-in-rows":
        return message(
            "{n:,} {n|unit|units}, a column for each", message_id="roles.n_in_columns", n=n
        )
    if not reading.units:
        return message("{n:,} {n|unit|units}, one in each row", message_id="roles.n_rows", n=n)
    return message(
        "{n:,} {n|unit|units} in {columns}",
        message_id="roles.n_units",
        n=n,
        columns=_names(reading.units),
    )


def _ratings(reading: TableReading) -> TranslatableMessage:
    """What the ratings are, and where."""
    rated, rater = _names(reading.rated), shortened(reading.rater or "-")
    if reading.shape in COMPARISONS:
        return _comparisons(reading)
    if reading.shape in {"long", "wide"} and reading.criterion:
        return _ratings_by_criterion(reading, rated, shortened(reading.criterion))
    match reading.shape:
        case "wide":
            return message("raters {columns}", message_id="roles.wide", columns=rated)
        case "long" | "repeats" | "rows-to-combine":
            return message(
                "raters in {rater}, labels in {columns}",
                message_id="roles.long",
                rater=rater,
                columns=rated,
            )
        case "long-criteria" | "rater-by-criterion" if reading.rater:
            return message(
                "raters in {rater}, criteria {columns}",
                message_id="roles.long_criteria",
                rater=rater,
                columns=rated,
            )
        case "rater-by-criterion":
            return message(
                "raters and criteria in the columns' names ({pattern}): {columns}",
                message_id="roles.rater_by_criterion",
                pattern=reading.names,
                columns=rated,
            )
        case "raters-in-rows":
            return _raters_in_rows(reading, rated)
        case "counts":
            return message(
                "numbers of raters for the labels {columns}",
                message_id="roles.counts",
                columns=rated,
            )
        case "criteria":
            return message("criteria {columns}", message_id="roles.criteria", columns=rated)
        case "systems":
            return message("systems {columns}", message_id="roles.systems", columns=rated)
        case "questions" | "answers":
            return message("answers {columns}", message_id="roles.answers", columns=rated)
        case _:
            return message("labels {columns}", message_id="roles.labels", columns=rated)


def _ratings_by_criterion(
    reading: TableReading, rated: Listed, criterion: str
) -> TranslatableMessage:
    if reading.shape == "wide":
        return message(
            "raters {columns}, criteria in {criterion}",
            message_id="roles.wide_by_criterion",
            columns=rated,
            criterion=criterion,
        )
    return message(
        "raters in {rater}, criteria in {criterion}, labels in {columns}",
        message_id="roles.long_by_criterion",
        rater=shortened(reading.rater or "-"),
        criterion=criterion,
        columns=rated,
    )


def _raters_in_rows(reading: TableReading, columns: Listed) -> TranslatableMessage:
    if reading.rater is None:
        return message(
            "a row for each rater, units {columns}",
            message_id="roles.raters_are_rows",
            columns=columns,
        )
    return message(
        "raters in {rater}, units {columns}",
        message_id="roles.raters_in_rows",
        rater=shortened(reading.rater),
        columns=columns,
    )


def _comparisons(reading: TableReading) -> TranslatableMessage:
    first, second = map(shortened, reading.sides or ("", ""))
    rater = shortened(reading.rater or "-")
    if reading.wins:
        return message(
            "systems in {first} and {second}, wins in {columns}",
            message_id="roles.pair_counts",
            first=first,
            second=second,
            columns=_names(list(reading.wins.values())),
        )
    if not reading.outcomes:
        return _results(first, second, reading.rater)
    outcome: str | TranslatableMessage = shortened(", ".join(reading.outcomes[:1]))
    if reading.names_losers:
        outcome = message(
            "{column} (the system that lost)",
            message_id="roles.outcomes_of_losers",
            column=_names(reading.rated) if reading.rated else outcome,
        )
    if reading.second_outcome:
        outcome = message(
            "{first} and, in the other order, {second}",
            message_id="roles.outcomes_of_orders",
            first=outcome,
            second=shortened(reading.second_outcome),
        )
    if reading.ends:
        outcome = message(
            "{outcome} (from {low:g} for {first} to {high:g} for {second})",
            message_id="roles.outcomes_as_numbers",
            outcome=outcome,
            first=first,
            second=second,
            low=reading.ends[0],
            high=reading.ends[1],
        )
    if reading.rated:
        return message(
            "systems in {first} and {second}, outcomes of the raters {columns}",
            message_id="roles.outcomes_of_raters",
            first=first,
            second=second,
            columns=outcome if reading.names_losers else _names(reading.rated),
        )
    if reading.rater is None:
        return message(
            "systems in {first} and {second}, outcomes in {outcome}, raters unknown",
            message_id="roles.pair_outcomes_alone",
            first=first,
            second=second,
            outcome=outcome,
        )
    return message(
        "systems in {first} and {second}, outcomes in {outcome}, raters in {rater}",
        message_id="roles.pair_outcomes",
        first=first,
        second=second,
        outcome=outcome,
        rater=rater,
    )


def _results(first: str, second: str, rater: str | None) -> TranslatableMessage:
    """Columns of the systems that won and lost."""
    if rater is None:
        return message(
            "systems that won in {first}, those that lost in {second}, raters unknown",
            message_id="roles.pair_results_alone",
            first=first,
            second=second,
        )
    return message(
        "systems that won in {first}, those that lost in {second}, raters in {rater}",
        message_id="roles.pair_results",
        first=first,
        second=second,
        rater=shortened(rater),
    )


_SHAPE_WORDS: Mapping[Shape, TranslatableMessage] = {
    "wide": message("a column for each rater", message_id="roles.shape_wide"),
    "long": message("a row for each rating", message_id="roles.shape_long"),
    "long-criteria": message(
        "a row for each unit and rater, a column for each criterion",
        message_id="roles.shape_long_criteria",
    ),
    "rater-by-criterion": message(
        "a column for each rater and criterion",
        message_id="roles.shape_rater_by_criterion",
    ),
    "raters-in-rows": message(
        "a row for each rater, a column for each unit",
        message_id="roles.shape_raters_in_rows",
    ),
    "counts": message(
        "a column for each label, with numbers of raters", message_id="roles.shape_counts"
    ),
    "cross-table": message("a cross table of two raters", message_id="roles.shape_cross_table"),
    "criteria": message(
        "a column for each criterion, one rating of each unit",
        message_id="roles.shape_criteria",
    ),
    "systems": message(
        "a column for each system, one rating of each unit",
        message_id="roles.shape_systems",
    ),
    "pairs": message("a row for each comparison of two systems", message_id="roles.shape_pairs"),
    "pairs-on-scale": message(
        "a row for each comparison, with preferences on a scale",
        message_id="roles.shape_pairs_on_scale",
    ),
    "pair-counts": message(
        "a row for each pair of systems, with counts of wins",
        message_id="roles.shape_pair_counts",
    ),
    "repeats": message(
        "several ratings of a unit by one rater, distinguished by a column",
        message_id="roles.shape_repeats",
    ),
    "rows-to-combine": message(
        "several rows of a unit and rater", message_id="roles.shape_rows_to_combine"
    ),
    "lists": message("several labels in a cell", message_id="roles.shape_lists"),
    "spans": message("marked parts of texts", message_id="roles.shape_spans"),
    "objects": message("objects in cells", message_id="roles.shape_objects"),
    "questions": message("a row for each question", message_id="roles.shape_questions"),
    "answers": message("a row for each answer", message_id="roles.shape_answers"),
    "one-rating": message("ratings by a single rater", message_id="roles.shape_one_rating"),
}
"""How tables of each shape are laid out."""


def shape_words(reading: TableReading) -> TranslatableMessage:
    """How a table is laid out, in words."""
    return _SHAPE_WORDS[reading.shape]


_NO_ANSWERS: Mapping[str, Sequence[str]] = MappingProxyType({})


def first_row(
    reading: TableReading, frame: pl.DataFrame, answers: Mapping[str, Sequence[str]] = _NO_ANSWERS
) -> TranslatableMessage:
    """The first row with ratings as a sentence that a user can confirm or deny.

    `answers`: the scale or the ends of the outcomes of comparisons, as they would be stated.
    """
    if reading.shape in COMPARISONS:
        numbers = [float(end) for end in answers.get("ends", ())]
        ends = (numbers[0], numbers[1]) if numbers else reading.ends
        return _first_comparison(replace(reading, ends=ends), frame, answers.get("scale", ()))
    row = _first_filled(reading, frame)
    unit = _unit(reading, row)
    cells = [(name, row[name]) for name in reading.rated if row.get(name) not in (None, "")]
    parts: list[str] = [f"{shortened(name)} {_quoted(cell)}" for name, cell in cells[:_MOST_SHOWN]]
    if reading.shape == "wide" and cells:
        parts[0] = message(
            "{rater} rated it {label}",
            message_id="roles.row_first_rater",
            rater=shortened(cells[0][0]),
            label=_quoted(cells[0][1]),
        )
    shown = listed(parts, end="{some}, {last}")
    if reading.criterion and (reading.rater or reading.shape == "wide"):
        unit = message(
            "{unit}, criterion {criterion}",
            message_id="roles.row_criterion",
            unit=unit,
            criterion=_quoted(row[reading.criterion]),
        )
    if reading.shape == "counts":
        return message(
            "{unit}: numbers of raters {ratings}",
            message_id="roles.row_counts",
            unit=unit,
            ratings=shown,
        )
    if reading.rater is None and not reading.units:
        return message("{ratings}", message_id="roles.row_without_unit", ratings=shown)
    if reading.rater is None:
        return message("{unit}: {ratings}", message_id="roles.row_labels", unit=unit, ratings=shown)
    rater = _quoted(row[reading.rater])
    if reading.shape == "raters-in-rows":
        return message(
            "rater {rater}: {ratings}",
            message_id="roles.row_rater",
            rater=rater,
            ratings=shown,
        )
    return message(
        "{unit}: {rater} rated it {ratings}",
        message_id="roles.row_long",
        unit=unit,
        rater=rater,
        ratings=shown if len(cells) > 1 else _quoted(cells[0][1] if cells else ""),
    )


def _first_filled(reading: TableReading, frame: pl.DataFrame) -> dict[str, object]:
    """The first row that has ratings in two columns, as far as there are two.

    Of counts of wins the first that are not equal: they show who is preferred.
    """
    rated = dict.fromkeys((*reading.rated, *reading.outcomes))
    rows = frame.head(_MOST_READ).to_dicts()
    filled = [
        row
        for row in rows
        if sum(row[name] not in (None, "") for name in rated) >= min(2, len(rated))
    ]
    decided = (row for row in filled if not reading.wins or _is_decided(reading, row))
    return next(chain(decided, filled, rows), dict.fromkeys(frame.columns))


def _is_decided(reading: TableReading, row: Mapping[str, object]) -> bool:
    """Whether one system has more wins than the other."""
    counts = [row.get(name) for role, name in reading.wins.items() if role != "tied"]
    return len({str(count) for count in counts}) > 1


def _unit(reading: TableReading, row: dict[str, object]) -> TranslatableMessage | Listed:
    if not reading.units:
        return message("the first row", message_id="roles.first_row")
    names = [f"{shortened(name)} {_quoted(row[name])}" for name in reading.units]
    return listed(names, end="{some}, {last}")


def _quoted(cell: object) -> str:
    return repr(shortened("" if cell is None else str(cell)))


def _first_comparison(
    reading: TableReading, frame: pl.DataFrame, order: Sequence[str]
) -> TranslatableMessage:
    """The first comparison with a winner, and who that is as the table is read."""
    rows = frame.head(_MOST_READ).to_dicts()
    steps = [_step(reading, row, order) for row in rows]
    at = next((n for n, step in enumerate(steps) if step), None)
    row = _first_filled(reading, frame) if at is None else rows[at]
    unit = _unit(reading, row)
    if at and not reading.units:
        unit = message("row {n:,}", message_id="roles.row_number", n=at + 1)
    first, second = (_quoted(row.get(name)) for name in reading.sides or ("", ""))
    if not reading.outcomes and not reading.wins:
        return message(
            "{unit}: {first} won against {second}",
            message_id="roles.row_result",
            unit=unit,
            first=first,
            second=second,
        )
    columns = (*reading.wins.values(), *(reading.outcomes if len(reading.outcomes) > 1 else ()))
    cells = [f"{shortened(name)} {_quoted(row[name])}" for name in columns]
    compared = message(
        "{unit}: {first} was compared with {second}, outcome {outcome}",
        message_id="roles.row_pair",
        unit=unit,
        first=first,
        second=second,
        outcome=_names(cells) if cells else _quoted(row.get(", ".join(reading.outcomes))),
    )
    if at is None:
        return compared
    winner, loser = (first, second) if (steps[at] or 0) > 0 else (second, first)
    return message(
        "{row}, so {winner} wins over {loser}",
        message_id="roles.row_winner",
        row=compared,
        winner=winner,
        loser=loser,
    )


def _step(reading: TableReading, row: dict[str, object], order: Sequence[str]) -> float:
    """Above 0 where a row's outcome prefers the first system, below 0 where the second."""
    if len(reading.outcomes) != 1 or reading.sides is None:
        return 0
    first, second, word = (
        str(row.get(name) or "").strip() for name in (*reading.sides, *reading.outcomes)
    )
    column, sign, value = reading.swapped.partition("=")
    cell = str(row.get(column) or "").strip()
    is_side = names_side(word, reading.sides, frozenset({first.casefold(), second.casefold()}))
    is_swapped = is_side and bool(cell) and cell == (value if sign else second)
    return (-1 if is_swapped else 1) * step_of(
        word, (first, second), reading.sides, reading.outcomes[0], tuple(order), reading.ends
    )
