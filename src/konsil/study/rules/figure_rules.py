"""Rules between a figure of the report and the analyses that it lays out."""

from __future__ import annotations

from collections.abc import Iterator

from konsil.analysis import Analysis
from konsil.analysis.model.catalogue.known import statistic_of
from konsil.errors import nearest
from konsil.study.definition.protocol import Study
from konsil.study.rules.table_rules import columns_of_groups
from konsil.study.rules.valid_names import unknown_name_problems
from konsil.study.sections.table_layout import OWN_KEYS, FigureLayout


def figure_problems(study: Study, layout: FigureLayout, where: str) -> Iterator[str]:
    """Problems of one figure: unknown analyses and columns, and what its kind cannot have."""
    if not layout.title.strip():
        yield f"{where}.title: is empty; a figure needs a caption"
    by_name = {a.name: a for a in study.analyses}
    if not layout.analyses:
        yield f"{where}.analyses: is empty; a figure needs an analysis"
    for name in layout.analyses:
        yield from unknown_name_problems(f"{where}.analyses", "analysis", name, by_name)
    chosen = [by_name[name] for name in layout.analyses if name in by_name]
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
    keys = list(dict.fromkeys((*OWN_KEYS, *(c for a in chosen for c in columns_of_groups(a)))))
    needed = ("rows", "columns") if layout.kind == "matrix" else ("rows",)
    used: set[str] = set()
    for part in ("rows", "columns", "panels"):
        names = getattr(layout, part)
        if part in needed and not names:
            yield f"{where}.{part}: is empty; expected one or more of {', '.join(keys)}"
        for key in names if chosen else ():
            if key not in keys:
                yield (
                    f"{where}.{part}: no analysis of this figure is grouped by {key!r};"
                    f" {nearest(key, keys)}"
                )
            elif key in used:
                yield f"{where}.{part}: {key!r} is stated twice; expected it once"
            used.add(key)
