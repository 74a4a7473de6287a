"""Readings of what is in the cells: cross tables, spans, lists, objects, and a single rating."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from konsil.analysis.roles.candidates.leftover import OTHER_ROLES, explain
from konsil.analysis.roles.columns import Column, Table
from konsil.analysis.roles.evidence import Draft
from konsil.analysis.roles.names import best_fit, fit, is_series, kinds, stem
from konsil.analysis.roles.reading import StatedRoles
from konsil.analysis.roles.vocabulary import SPANS


def by_cells(table: Table, stated: StatedRoles) -> Iterator[Draft]:
    """Every reading that the cells decide."""
    yield from cross_tables(table, stated)
    ends = [c.name for c in table.columns if c.is_whole and _is_place(c.name)]
    if len(ends) > 1:
        yield _draft(table, Draft("spans", rated=tuple(ends)), 14, "span")
    for column in table.columns:
        if column.name in {*stated.units, *stated.raters, *stated.groups}:
            continue
        if column.is_nested:
            yield _draft(table, Draft("objects", rated=(column.name,)), 12, "object")
            continue
        if stated.labels in ((), (column.name,)):
            yield from _single(table, column, stated)


def _single(table: Table, column: Column, stated: StatedRoles) -> Iterator[Draft]:
    """A column with the labels of one rater, or of several in each cell."""
    is_label = fit(column.name, "label") == 1 and not re.search(r"\d", column.name)
    if column.is_ratings and is_label and best_fit(column.name, OTHER_ROLES) < 0.7:
        draft = Draft("one-rating", rated=(column.name,), units=_units(table, stated, column))
        draft = _draft(table, draft, 3, "named_for_labels")
        draft.numbers = ("one-rating",)
        yield draft
    if not column.separator:
        return
    draft = Draft("lists", rated=(column.name,), units=_units(table, stated, column))
    draft.split = stated.split or column.separator
    points = 4 + 4 * fit(column.name, "label") + 3 * bool(stated.labels)
    # The labels of a cell are then those of one rater.
    points -= 8 * bool(rater_columns(table))
    points -= 3 * best_fit(column.name, ("comment", "group")) * (not stated.labels)
    yield _draft(table, draft, points, "list")


def rater_columns(table: Table) -> list[str]:
    """The columns that are named for raters."""
    return [c.name for c in table.columns if fit(c.name, "rater") >= 0.7 and not c.is_unique]


def columns_of_names(table: Table) -> list[Column]:
    """Columns with the names of each row's raters, beside as many columns of their ratings.

    They differ in their numbers alone, and the raters of a row are never the same.
    """
    named = [c for c in table.columns if fit(c.name, "rater") == 1 and not c.is_number]
    others = [c.name for c in table.columns if c not in named and c.is_ratings]
    rows = zip(*(column.cells for column in named), strict=True)
    are_names = len(named) > 1 and all(len({*row}) == len(row) for row in rows)
    series = Counter(map(stem, others))
    is_beside = any(stem(n) and series[stem(n)] == len(named) for n in others)
    is_named = are_names and is_series([column.name for column in named])
    return named if is_named and is_beside and table.n_rows >= _FEWEST else []


_FEWEST = 6
"""Rows from which on it is no chance that two columns are never equal."""


def _units(table: Table, stated: StatedRoles, label: Column) -> tuple[str, ...]:
    """The column named best for units; none where no name fits."""
    if stated.units:
        return stated.units
    fits = {c.name: fit(c.name, "unit") for c in table.columns if c is not label}
    best = max(fits, key=lambda name: fits[name], default="")
    return (best,) if fits.get(best, 0) >= 0.7 else ()


def _draft(table: Table, draft: Draft, points: float, reason: str) -> Draft:
    draft.add(points, reason, ", ".join(draft.rated))
    explain(table, draft, ())
    # What is left out beside such cells says nothing about them.
    draft.points = points
    draft.numbers = (draft.shape, draft.rated)
    return draft


def cross_tables(table: Table, stated: StatedRoles) -> Iterator[Draft]:
    """Labels of one rater in rows and of another one in columns, with counts.

    The rater of the rows may stand beside the first of them.
    """
    words = [c for c in table.columns if not c.is_number]
    at_top = [c for c in words if c.cells[:1] == c.filled]
    words = [c for c in words if c not in at_top]
    first = words[0] if len(words) == 1 else table.columns[0] if table.columns else None
    counts = [c for c in table.columns if c is not first and c not in at_top]
    if first is None or not all(c.is_whole and c.is_full and c.range[0] >= 0 for c in counts):
        return
    rows = first.cells
    lines = [*zip(*(c.numbers for c in counts), strict=True)]
    if len(counts) > 2 and is_total(counts[-1].name, lines):
        counts = counts[:-1]
    if len(rows) > 2 and is_total(rows[-1], [c.numbers for c in counts]):
        rows = rows[:-1]
    if len(counts) != len(rows) or len(counts) < 2:
        return
    above = heading([c.name for c in counts])
    if {c.name.removeprefix(above).casefold() for c in counts} == {*map(str.casefold, rows)}:
        draft = Draft("cross-table", rated=tuple(c.name for c in counts))
        draft.roles |= {**dict.fromkeys((c.name for c in at_top), "unused"), first.name: "row"}
        draft = _draft(table, draft, 12, "crossed_labels")
        numbers = [column.numbers[: len(rows)] for column in counts]
        if stated.layout != "cross-table" and _are_of_pairs(rows, numbers):
            draft.add(-0.1, "of_pairs", ", ".join(rows))
        yield draft


def _are_of_pairs(rows: Sequence[str], counts: Sequence[Sequence[float]]) -> bool:
    """Whether counts may be those of the units that each pair of raters shares, or agrees on.

    They are the same in both orders of a pair, and largest for a rater and himself.

    >>> _are_of_pairs(["x", "y", "z"], [(9, 2, 1), (2, 8, 3), (1, 3, 7)])
    True
    >>> _are_of_pairs(["x", "y", "z"], [(9, 0, 0), (0, 8, 0), (0, 0, 7)])
    False
    """
    is_symmetric = [*zip(*counts, strict=True)] == [*map(tuple, counts)]
    is_largest = all(max(line) == line[n] for n, line in enumerate(counts))
    is_filled = all(map(all, counts))
    are_labels = all(kinds(row)["label"] for row in rows)
    return is_symmetric and is_largest and is_filled and not are_labels and len(rows) > 2


def is_total(name: str, lines: Sequence[Sequence[float]]) -> bool:
    """Whether the last number of each line is the sum of those before it, by its name or values.

    Where a few sums are wrong, it is a total nevertheless, and no label.

    >>> is_total("n", [(3, 1, 4), (0, 2, 2)]), is_total("n", [(3, 1, 5), (0, 2, 2), (1, 1, 2)])
    (True, True)
    >>> is_total("Total", [(3, 4), (2, 2)]), is_total("no", [(3, 1, 5), (1, 2, 2)])
    (True, False)
    """
    n_right = sum(len(line) > 2 and sum(line[:-1]) == line[-1] > 0 for line in lines)
    return fit(name, "sum") == 1 or (n_right > 1 and 2 * n_right > len(lines))


def heading(names: Sequence[str]) -> str:
    """What stands above all of some columns, with the sign behind it; empty: nothing.

    >>> heading(["Ben: yes", "Ben: no"]), heading(["Ben: yes", "Ann: no"])
    ('Ben: ', '')
    """
    above, sign, _ = names[0].rpartition(": ")
    return above + sign if all(name.startswith(above + sign) for name in names) else ""


def _is_place(name: str) -> bool:
    return name.casefold().split("_")[-1] in SPANS
