"""What a table is proposed to be read as: all readings compete, and the likeliest is proved."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

import polars as pl

from konsil.analysis.roles.candidates.axes import axis_of, axis_question, with_axis
from konsil.analysis.roles.candidates.cells import by_cells, columns_of_names
from konsil.analysis.roles.candidates.compared.answer_columns import (
    answers_as_systems,
    unclear_answers,
)
from konsil.analysis.roles.candidates.compared.comparisons import compared
from konsil.analysis.roles.candidates.compared.shown_order import (
    swapped_question,
    swapped_sides,
)
from konsil.analysis.roles.candidates.long import by_rating
from konsil.analysis.roles.candidates.once import rated_once
from konsil.analysis.roles.candidates.row_names import unclear_units
from konsil.analysis.roles.candidates.texts import by_text
from konsil.analysis.roles.candidates.wide import rated_together
from konsil.analysis.roles.columns import FEW, Column, Table, table_of
from konsil.analysis.roles.evidence import ASKED, QUESTIONS, Draft, reading_of, shortened
from konsil.analysis.roles.names import fit
from konsil.analysis.roles.proof import (
    MOST_ROWS,
    contradictions,
    may_be_weight,
    sample,
    unclear_totals,
)
from konsil.analysis.roles.questions.heading_rows import unclear_headings, without_headings
from konsil.analysis.roles.reading import (
    COMPARISONS,
    COMPUTABLE,
    RATED_ONCE,
    SHAPES_OF,
    TEXTS,
    Proposal,
    StatedRoles,
    TableReading,
    Task,
)
from konsil.analysis.roles.stated import disregarded, stated_draft
from konsil.analysis.roles.statement import sentence, shape_words
from konsil.errors import option
from konsil.errors.message import TranslatableMessage, listed, message
from konsil.records.numerals import decimal_mark

MARGIN = 4.0
"""How many points the first reading of other numbers has to be behind."""
LEAST = 3.0
"""Points that the likeliest reading needs by itself."""
_FEWEST = 4
"""Ratings below which columns are not taken for raters."""
_MOST_RIVALS = 3
_MOST_BEHIND = 5.0
"""Points by which a reading may be behind the one that is made of it."""


def propose(frame: pl.DataFrame, stated: StatedRoles, task: Task | None = None) -> Proposal:
    """What the columns of a table are, and whether that is certain.

    Every reading explains all columns; evidence for and against it is added up. The likeliest is
    certain if it needs no statement, has enough evidence, precedes all readings of other numbers by
    a margin, and holds on all rows. A complete statement is certain by definition.

    Args:
        frame: the table; cells are texts or numbers.
        stated: what the user has stated; its columns are in the table.
        task: what the table is read for; None: not known.
    """
    with_headings, frame = frame, without_headings(frame, stated)
    table = table_of_rows(frame, stated)
    complete = stated_draft(table, stated, task)
    if complete:
        complete.split = complete.split or separator_of(table, complete.rated, stated)
    names = [] if complete or task == "comparisons" else columns_of_names(table)
    if any(len(column.distinct) > 1 for column in names):
        return Proposal(None, unclear=(_raters_in_each_row(names),))
    if names:
        # Each column of ratings is that of one rater.
        table = replace(table, columns=tuple(c for c in table.columns if c not in names))
    drafts = [complete] if complete else _ranked(table, stated, task)
    if not drafts:
        return Proposal(None, unclear=(*_almost_ratings(table, task),) or (_nothing(task, stated),))
    readings = [_reading(frame, draft, stated) for draft in drafts[: 1 + _MOST_RIVALS]]
    margin = drafts[0].points - drafts[1].points if len(drafts) > 1 else float("inf")
    swapped = swapped_sides(table, readings[0], stated)
    readings[0] = replace(readings[0], swapped=swapped)
    axis = None if swapped else axis_of(table, readings[0], stated)
    unclear = [] if axis is None else [axis_question(axis)]
    if swapped:
        unclear.append(swapped_question(readings[0]))
    if axis is not None:
        readings[0] = with_axis(readings[0], axis)
    if complete is None:
        unclear += list(_unclear(frame, table, readings, margin, stated, task))
        columns_by_reason: dict[str, list[str]] = {}
        for _, reason, column in drafts[0].evidence:
            if reason in ASKED:
                columns_by_reason.setdefault(reason, []).append(column)
        unclear += [
            QUESTIONS[reason](shortened(", ".join(columns_by_reason[reason])))
            for reason in columns_by_reason
        ]
        if not unclear and frame.height > MOST_ROWS:
            unclear = list(contradictions(frame, readings[0], stated))
    unclear += unclear_sets(readings[0], stated)
    unclear += unclear_headings(with_headings, readings[0], stated)
    return Proposal(readings[0], tuple(readings[1:]), not unclear, tuple(unclear), margin)


def _raters_in_each_row(names: Sequence[Column]) -> TranslatableMessage:
    return message(
        "{columns} have the raters of each row: write a row for each rating, with a column of the"
        " raters and a column of the labels.",
        message_id="roles.raters_in_each_row",
        columns=listed([shortened(column.name) for column in names]),
    )


def table_of_rows(frame: pl.DataFrame, stated: StatedRoles) -> Table:
    """The columns that can have a role, and those by which rows are chosen, by a sample."""
    rows = sample(frame)
    columns = table_of(rows, stated.missing, stated.declared).columns
    named = {*stated.units, *stated.raters, *stated.labels, stated.criterion, stated.system}
    # Rows of a cluster are no rows of a unit; where the clusters are units, they are stated so.
    aside = {*stated.unused, *stated.groups, stated.cluster} - named
    return Table(
        tuple(column for column in columns if column.name not in aside),
        rows.height,
        tuple(column for column in columns if column.name in stated.groups),
    )


def _ranked(table: Table, stated: StatedRoles, task: Task | None) -> list[Draft]:
    """All readings that nothing stated excludes, the likeliest first, one for equal numbers."""
    drafts: list[Draft] = []
    if task == "texts":
        drafts += by_text(table, stated)
    elif task != "comparisons":
        together, cells = [*rated_together(table, stated)], [*by_cells(table, stated)]
        floor = _floor(_best(table, [*together, *cells], stated))
        drafts += [*together, *by_rating(table, stated, floor), *cells]
    if task == "groups":
        drafts += rated_once(table, stated, _floor(_best(table, drafts, stated)))
    is_open = not (stated.raters or stated.labels or stated.layout)
    if task != "texts" and (task in {None, "comparisons"} or is_open):
        drafts += compared(table, stated)
    return _best(table, drafts, stated)


def _best(table: Table, drafts: Sequence[Draft], stated: StatedRoles) -> list[Draft]:
    """The readings that nothing stated excludes, the likeliest first, one for equal numbers."""
    for draft in drafts:
        if draft.shape in _OF_RATERS and not draft.split:
            draft.split = separator_of(table, draft.rated, stated)
    allowed = [draft for draft in drafts if _is_allowed(draft, stated)]
    allowed.sort(key=lambda d: (-d.points, d.shape == "one-rating", d.shape, d.units, d.rated))
    best: dict[object, Draft] = {}
    for draft in allowed:
        best.setdefault(draft.numbers, draft)
    return list(best.values())


def _floor(ranked: Sequence[Draft]) -> float:
    """Points below which a further reading is not among those that are shown."""
    shown = ranked[: 1 + _MOST_RIVALS]
    return shown[-1].points - _MOST_BEHIND if len(shown) > _MOST_RIVALS else float("-inf")


def _is_allowed(draft: Draft, stated: StatedRoles) -> bool:
    """Whether a reading agrees with everything stated."""
    is_cluster_rated = draft.used.get(stated.cluster or "", "unit") == "rating"
    return not disregarded(draft, stated) and not is_cluster_rated


_OF_RATERS = SHAPES_OF["wide"] | SHAPES_OF["long"] | SHAPES_OF["raters-in-rows"]
"""Shapes in which a cell is the rating of one rater."""


def separator_of(table: Table, rated: Sequence[str], stated: StatedRoles) -> str:
    """What is between several labels in the cells of some columns; empty where a cell has one.

    A sign that is a part of declared labels separates none.
    """
    columns = [table.by_name[name] for name in rated if name in table.by_name]
    signs = {column.separator for column in columns if column.separator}
    sign = stated.split or (signs.pop() if len(signs) == 1 else "")
    return "" if any(sign in label for label in stated.declared) else sign


def unclear_sets(reading: TableReading, stated: StatedRoles) -> Iterator[TranslatableMessage]:
    """Cells that look as if they had several labels; lists in JSON have."""
    if reading.separator and not stated.split:
        yield message(
            "Cells contain several labels, with {sign} between them; state this sign, or all labels"
            " if each cell is one label.",
            message_id="roles.may_be_sets",
            sign=repr(reading.separator),
        )


def _reading(frame: pl.DataFrame, draft: Draft, stated: StatedRoles) -> TableReading:
    for name in (*stated.groups, *stated.unused):
        draft.roles.setdefault(name, "group" if name in stated.groups else "unused")
    return reading_of(draft, frame.columns, stated.cluster)


def _nothing(task: Task | None, stated: StatedRoles) -> TranslatableMessage:
    if task == "texts":
        return message("No columns contain texts to be rated.", message_id="roles.no_texts")
    if task == "comparisons" and len(stated.raters) > 1:
        return message(
            "Where several raters have a column each, it contains the outcomes of their"
            " comparisons: not all of {columns} do.",
            message_id="roles.raters_without_outcomes",
            columns=listed([shortened(name) for name in stated.raters]),
        )
    if task == "comparisons":
        return message("No columns contain comparisons.", message_id="roles.no_comparisons")
    if task == "groups" and stated.raters and stated.has_no_units:
        return message(
            "Several ratings by one rater need units: name their column with {unit}, or state that"
            " the raters are unknown with {rater}.",
            message_id="roles.raters_without_units",
            unit=option("unit", example="..."),
            rater=option("rater", "-"),
        )
    if task == "groups":
        return message(
            "No columns contain ratings that fit what is stated.",
            message_id="roles.no_ratings_as_stated",
        )
    return message("No columns contain ratings by two raters.", message_id="roles.no_ratings")


def _almost_ratings(table: Table, task: Task | None) -> Iterator[TranslatableMessage]:
    """Columns that are no ratings by their cells alone, or no systems: dates, texts of answers."""
    if task == "comparisons":
        yield from answers_as_systems(table)
    if task not in {"ratings", "groups"}:
        return
    dates = [c for c in table.columns if c.is_date and not c.is_unique]
    if len(dates) > 1:
        yield message(
            "{columns} have dates, which are read as labels only where these columns are stated.",
            message_id="roles.dates",
            columns=listed([shortened(column.name) for column in dates]),
        )
    many = [c for c in table.columns if c.has_many_words and not c.has_agreeing]
    if len(many) > 1:
        yield message(
            "{columns} have more than {n} different words that are rarely the same; they are read"
            " as labels only where these columns are stated.",
            message_id="roles.many_words",
            columns=listed([shortened(column.name) for column in many]),
            n=FEW,
        )
    signed = [c for c in table.columns if all(map(_WITH_SIGN.fullmatch, c.distinct))]
    if signed:
        yield message(
            "{columns}: cells such as {cell} are no numbers; write each as a number, such as 20 or"
            " 0.2.",
            message_id="roles.numbers_with_sign",
            columns=listed([shortened(column.name) for column in signed]),
            cell=repr(signed[0].distinct[0]),
        )


_WITH_SIGN = re.compile(r"[+-]?\d+([.,]\d+)?\s*(%|/\s*\d+)")
"""A percentage or a fraction."""


def _unclear(
    frame: pl.DataFrame,
    table: Table,
    readings: Sequence[TableReading],
    margin: float,
    stated: StatedRoles,
    task: Task | None,
) -> Iterator[TranslatableMessage]:
    """All that prevents the likeliest reading from being computed."""
    best, *rivals = readings
    is_rated_once = task == "groups" and best.shape in RATED_ONCE and best.criterion is None
    if not is_rated_once and not _is_computable(best, stated):
        yield message(
            "Likely, but computed only where it is stated: {shape}.",
            message_id="roles.not_computable",
            shape=shape_words(best),
        )
    elif best.points < LEAST:
        yield message("Little speaks for this reading.", message_id="roles.little_evidence")
    for rival in rivals if margin < MARGIN else ():
        if best.points - rival.points < MARGIN:
            yield message(
                "It could also be: {shape} ({reading}).",
                message_id="roles.rival",
                shape=shape_words(rival),
                reading=sentence(rival, frame),
            )
    yield from unclear_answers(table, best, stated)
    yield from _unclear_roles(best, stated)
    if are_mirrored(frame, best):
        yield message(
            "Each pair of systems is in two rows, with wins and losses exchanged: keep one of"
            " them.",
            message_id="roles.mirrored_counts",
        )
    yield from _unclear_cells(table, best)
    yield from unclear_totals(frame, best)


def _is_computable(reading: TableReading, stated: StatedRoles) -> bool:
    if reading.shape == "raters-in-rows" and not reading.rater:
        return False
    is_stated = (
        (reading.shape == "pairs-on-scale" and bool(stated.scale or reading.ends))
        or (reading.shape == "lists" and stated.layout == "lists")
        or (reading.shape == "lists" and bool(stated.split or stated.labels))
        or (reading.shape == "repeats" and bool(stated.repeat))
    )
    return reading.shape in COMPUTABLE | TEXTS or is_stated


def _unclear_roles(reading: TableReading, stated: StatedRoles) -> Iterator[TranslatableMessage]:
    """Columns that a reading needs, or that would change its numbers."""
    weights = [name for name, role in reading.roles.items() if role == "weight"]
    if weights and reading.weight is None and weights[0] not in stated.unused:
        yield may_be_weight(weights[0])
    if reading.shape not in COMPARISONS:
        return
    if not reading.units and not stated.has_no_units and reading.shape != "pair-counts":
        yield message("No column names the items.", message_id="roles.no_items")
    others = [n for n in reading.unused if reading.rated and fit(n, "rater") == 1]
    if others and others[0] not in stated.unused:
        yield QUESTIONS["rater_column"](shortened(others[0]))
    is_known = reading.rater or reading.rated or stated.has_no_raters
    if not is_known and reading.shape != "pair-counts":
        yield message("No column names the raters.", message_id="roles.no_raters")


def are_mirrored(frame: pl.DataFrame, reading: TableReading) -> bool:
    """Whether each row with counts of wins has another one that says the same of the second."""
    if reading.shape != "pair-counts" or reading.sides is None:
        return False
    wins = [reading.wins[role] for role in ("won", "lost")]
    others = [n for n in (*reading.units, reading.rater, reading.wins.get("tied")) if n]
    names = (*reading.sides, *wins, *others)
    rows = {*sample(frame).select(names).iter_rows()}
    return all((b, a, lost, won, *rest) in rows for a, b, won, lost, *rest in rows)


def _unclear_cells(table: Table, reading: TableReading) -> Iterator[TranslatableMessage]:
    """Cells that can be read in two ways, and too few of them."""
    rated = [table.by_name[name] for name in reading.rated if name in table.by_name]
    if reading.shape == "wide" and sum(len(column.filled) for column in rated) < _FEWEST:
        yield message("There are hardly any ratings.", message_id="roles.hardly_any")
    yield from unclear_units(table, reading)
    numbers = [column for column in rated if column.is_number]
    marks = [decimal_mark(column.distinct) for column in numbers]
    settled = decimal_mark(
        [v for column in table.columns if column.is_number for v in column.distinct]
    )
    if None in marks and settled is None:
        column = numbers[marks.index(None)]
        cell = next(value for value in column.distinct if "," in value)
        yield message(
            "{column}: {cell} can be a thousand or a decimal number: {comma} for {decimal}, {point}"
            " for {thousand}.",
            message_id="roles.decimal_comma",
            column=shortened(column.name),
            cell=repr(cell),
            comma=option("decimal", ","),
            decimal=cell.replace(",", "."),
            point=option("decimal", "."),
            thousand=cell.replace(",", ""),
        )
