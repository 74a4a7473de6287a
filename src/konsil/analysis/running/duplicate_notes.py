"""A note on every estimate whose items contain duplicates without a decision."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial

import polars as pl

from konsil.analysis.model.rows import Row
from konsil.analysis.model.spec import Analysis
from konsil.analysis.table.encoding import select
from konsil.analysis.table.frame import RatingTable
from konsil.errors import AnalysisError
from konsil.errors.message import TranslatableMessage, message

Groups = Sequence[Sequence[str]]
"""The items of each group that contain the same question."""


def with_duplicate_notes(
    rows: Sequence[Row],
    analyses: Sequence[Analysis],
    table_of: Callable[[Analysis], RatingTable],
    groups: Groups,
) -> list[Row]:
    """The rows, with a note on those whose own items are in groups of duplicates.

    Copies of one question are resampled as if they were independent; how many there are is counted
    in the ratings that the row rests on, that is those of its analysis and its group.
    """
    if not groups:
        return list(rows)
    group_of = {item: number for number, group in enumerate(groups) for item in group}
    by_name = {analysis.name: analysis for analysis in analyses}
    notes: dict[tuple[str, tuple[tuple[str, str], ...]], TranslatableMessage | None] = {}
    rated = {name: cache(partial(_rated, table_of, by_name[name])) for name in by_name}
    noted = []
    for row in rows:
        analysis = by_name[row.analysis]
        # A difference rests on the items of both its groups: the columns that differ do not choose.
        same = {
            column: value
            for column, value in row.group.items()
            if row.versus.get(column, value) == value
        }
        key = row.analysis, tuple(sorted(same.items()))
        if key not in notes:
            notes[key] = (
                _note(_items(rated[row.analysis](), analysis, same), group_of)
                if row.is_made
                else None
            )
        note = notes[key]
        noted.append(row if note is None else replace(row, warnings=(*row.warnings, note)))
    return noted


@dataclass(frozen=True)
class _Rated:
    """What an analysis uses."""

    frame: pl.DataFrame | None
    """Its ratings; None where none can be selected."""
    case_of: Mapping[str, str]
    """Item -> its case, of items that are versions of cases."""


def _rated(table_of: Callable[[Analysis], RatingTable], analysis: Analysis) -> _Rated:
    table = table_of(analysis)
    try:
        frame = select(table, analysis, analysis.raters)
    except AnalysisError:
        return _Rated(None, {})
    items = table.data.items if table.data is not None else ()
    return _Rated(frame, {item.id: item.case for item in items if item.case})


def _items(rated: _Rated, analysis: Analysis, group: Mapping[str, str]) -> set[str]:
    """The items of an analysis' ratings in a group, cases where the items are versions of cases."""
    frame = rated.frame
    if frame is None:
        return set()
    for column, value in group.items():
        if column in frame.columns and column in analysis.by:
            frame = frame.filter(pl.col(column).cast(pl.String) == value)
    items = frame.get_column("item").drop_nulls().unique()
    return {rated.case_of.get(item, item) for item in items}


def _note(items: set[str], group_of: Mapping[str, int]) -> TranslatableMessage | None:
    members: dict[int, int] = {}
    for item in items & set(group_of):
        members[group_of[item]] = members.get(group_of[item], 0) + 1
    sizes = [n for n in members.values() if n > 1]
    if not sizes:
        return None
    return message(
        (
            "{n:,} of the {all:,} items are in {groups:,} {groups|group|groups} of duplicates"
            " without a decision; the CI treats copies of one question as independent and may"
            " be too narrow."
        ),
        message_id="curation.undecided_duplicates",
        n=sum(sizes),
        all=len(items),
        groups=len(sizes),
    )
