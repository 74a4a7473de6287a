"""Rules between tables and figures of the report and the analyses that they lay out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from konsil.analysis import Analysis
from konsil.analysis.model.catalogue.known import CATALOGUE, statistic_of
from konsil.errors import nearest
from konsil.study.definition.protocol import Study
from konsil.study.rules.valid_names import declared_values, unknown_name_problems
from konsil.study.sections.table_layout import OWN_KEYS, FigureLayout, TableLayout, grouping_keys

_MOST_MARKS = 3
"""Levels of significance that a reader can tell apart."""
_COLUMNS_OF_FAMILIES = {
    "agreement": ("rater",),
    "judges": ("rater", "system", "family", "ensemble", "size"),
    "pairs": ("system", "systems", "rival", "rater", "other"),
    "cases": ("system", "level", "effect", "other", "rater", "case"),
    "designs": ("instrument", "length", "sentences", "minutes", "raters", "version"),
}
"""Columns by which statistics group their estimates without being asked."""


def table_problems(study: Study, layout: TableLayout, where: str) -> Iterator[str]:
    """Problems of one table: unknown analyses and columns, and what has no place in it."""
    if layout.parts:
        yield from _part_problems(study, layout, where)
        return
    yield from layout_problems(study, layout, where, "table")
    chosen = analyses_of(study, layout)
    for part in ("rows", "columns"):
        yield from key_problems(layout, part, chosen, where, "table")
    twice = [key for key in layout.rows if key in layout.columns]
    if twice:
        yield f"{where}.columns: {twice[0]!r} is in `rows` already; expected it once"
    yield from _difference_problems(study, layout, chosen, where)
    yield from _spread_problems(layout, chosen, where)
    levels = layout.significance
    if (
        len(levels) > _MOST_MARKS
        or any(not 0 < x < 1 for x in levels)
        or list(levels) != sorted(set(levels), reverse=True)
    ):
        yield (
            f"{where}.significance: expected at most three falling numbers between 0 and 1, got"
            f" {list(levels)}"
        )


def _part_problems(study: Study, layout: TableLayout, where: str) -> Iterator[str]:
    """What is wrong with a table of other tables: they have analyses, and it has none itself."""
    if not layout.title.strip():
        yield f"{where}.title: is empty; a table needs a caption"
    ids = [other.id for other in study.tables if other.id != layout.id and not other.parts]
    for name in layout.parts:
        yield from unknown_name_problems(f"{where}.parts", "table with analyses", name, ids)
    for name in dict.fromkeys(n for n in layout.parts if layout.parts.count(n) > 1):
        yield f"{where}.parts: {name!r} is named twice; expected it once"
    default = TableLayout(layout.id, layout.title, parts=layout.parts)
    for key in ("analyses", "rows", "columns", "cells", "difference", "significance", "p", "n"):
        if getattr(layout, key) != getattr(default, key):
            yield f"{where}.{key}: belongs to the tables in `parts`; expected it to be left out"


def layout_problems(
    study: Study, layout: TableLayout | FigureLayout, where: str, noun: str
) -> Iterator[str]:
    """What a table (`noun`) or figure cannot do without: a title, and analyses that there are."""
    if not layout.title.strip():
        yield f"{where}.title: is empty; a {noun} needs a caption"
    if not layout.analyses:
        yield f"{where}.analyses: is empty; a {noun} needs an analysis"
    names = [a.name for a in study.analyses]
    for name in layout.analyses:
        yield from unknown_name_problems(f"{where}.analyses", "analysis", name, names)


def analyses_of(study: Study, layout: TableLayout | FigureLayout) -> list[Analysis]:
    """The analyses that a table or figure lays out, without unknown ones."""
    by_name = {a.name: a for a in study.analyses}
    return [by_name[name] for name in layout.analyses if name in by_name]


def key_problems(
    layout: TableLayout | FigureLayout,
    part: str,
    chosen: Sequence[Analysis],
    where: str,
    noun: str,
    *,
    is_needed: bool = True,
) -> Iterator[str]:
    """A part such as `rows` that is empty, or has a key that no analysis is grouped by."""
    keys = list(dict.fromkeys((*OWN_KEYS, *(c for a in chosen for c in columns_of_groups(a)))))
    names = getattr(layout, part)
    if is_needed and not names:
        yield f"{where}.{part}: is empty; expected one or more of {', '.join(keys)}"
    for key in names if chosen else ():
        if key not in keys:
            yield (
                f"{where}.{part}: no analysis of this {noun} is grouped by {key!r};"
                f" {nearest(key, keys)}"
            )


def _spread_problems(layout: TableLayout, chosen: list[Analysis], where: str) -> Iterator[str]:
    """Means or standard deviations that a table of both does not have."""
    if layout.cells == "sd" and chosen:
        statistics = {a.statistic for a in chosen}
        for statistic in ("mean", "standard_deviation"):
            if statistic not in statistics:
                yield (
                    f"{where}.cells: 'sd' puts the standard deviation next to the mean; no analysis"
                    f" of this table has statistic = {statistic!r}"
                )


def columns_of_groups(analysis: Analysis) -> tuple[str, ...]:
    """The columns that an analysis groups its estimates by, asked or not."""
    statistic = CATALOGUE.get(analysis.statistic)
    of_family = _COLUMNS_OF_FAMILIES.get(statistic.family, ()) if statistic is not None else ()
    return (*analysis.by, *of_family)


def _difference_problems(
    study: Study, layout: TableLayout, chosen: list[Analysis], where: str
) -> Iterator[str]:
    if not layout.difference:
        return
    if len(set(layout.difference)) != 2 or len(layout.difference) != 2:
        yield (
            f"{where}.difference: expected two different values, the second subtracted from the"
            f" first, got {list(layout.difference)}"
        )
        return
    keys = grouping_keys(layout)
    if len(keys) != 1:
        yield (
            f"{where}.difference: needs exactly one column of groups in `columns`, got"
            f" {list(layout.columns)}"
        )
        return
    declared = declared_values(study, keys[0])
    for name in layout.difference if declared else ():
        yield from unknown_name_problems(f"{where}.difference", keys[0], name, declared)
    compared = any(a.compare == keys[0] for a in chosen)
    if chosen and not compared and all(a.statistic in _PLAIN for a in chosen):
        yield (
            f"{where}.difference: no analysis of this table compares groups by {keys[0]!r};"
            f" expected compare = {keys[0]!r} in one of them"
        )


_PLAIN = frozenset(s.id for s in CATALOGUE.values() if s.family in ("agreement", "shares"))
"""Statistics whose differences are estimated only where `compare` asks for them."""


def figure_problems(study: Study, layout: FigureLayout, where: str) -> Iterator[str]:
    """Problems of one figure: unknown analyses and columns, and what its kind cannot have."""
    yield from layout_problems(study, layout, where, "figure")
    chosen = analyses_of(study, layout)
    yield from _key_problems(layout, chosen, where)
    statistics = list(dict.fromkeys(a.statistic for a in chosen))
    if len(statistics) > 1 and not all(_is_coefficient(name) for name in statistics):
        yield (
            f"{where}.analyses: {statistics[0]!r} and {statistics[1]!r} have no axis in common;"
            " expected analyses of one statistic, or of chance-corrected coefficients"
        )
    if layout.kind != "matrix" and layout.columns:
        yield f"{where}.columns: only a figure with kind = 'matrix' has columns"
    if layout.kind == "matrix" and layout.reference is not None:
        yield f"{where}.reference: a matrix has no axis; expected kind = 'forest' or 'series'"
    if layout.kind in ("series", "matrix") and len(layout.rows) > 1:
        yield (
            f"{where}.rows: a figure with kind = {layout.kind!r} has one key in `rows`, got"
            f" {list(layout.rows)}"
        )
    if layout.reference_name and layout.reference is None:
        yield f"{where}.reference_name: there is no `reference` to name"


def _is_coefficient(name: str) -> bool:
    statistic = statistic_of(name)
    return statistic.is_among_raters and statistic.marks_zero


def _key_problems(layout: FigureLayout, chosen: list[Analysis], where: str) -> Iterator[str]:
    needed = ("rows", "columns") if layout.kind == "matrix" else ("rows",)
    used: set[str] = set()
    for part in ("rows", "columns", "panels"):
        yield from key_problems(layout, part, chosen, where, "figure", is_needed=part in needed)
        for key in getattr(layout, part):
            if key in used:
                yield f"{where}.{part}: {key!r} is stated twice; expected it once"
            used.add(key)
