"""Tables that the protocol lays out: estimates of several analyses by rows and columns."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from konsil.analysis import Row
from konsil.report.answers.layout_cells import (
    N_UNITS,
    ColumnUnit,
    TableContext,
    column_unit,
    combined,
    difference_cell,
    estimate_cell,
    missing_cell,
    p_cell,
    units_cell,
)
from konsil.report.answers.layout_words import (
    Coordinates,
    caption_of,
    heading,
    key_title,
    level_words,
    line_words,
    notes_of,
)
from konsil.report.answers.result_table import places
from konsil.report.material.overview import Material
from konsil.report.material.slugs import anchor
from konsil.report.material.table_rows import Joined, estimates_of
from konsil.report.material.tables import MINUS, Cell, Table, table
from konsil.study.sections.table_layout import OWN_KEYS, TableLayout, grouping_keys


@dataclass(frozen=True)
class LaidTable:
    """One table of the protocol."""

    anchor: str
    """Where the page links to."""
    title: str
    """The words that the protocol has for it."""
    table: Table
    """The table."""
    complete: frozenset[int] = frozenset()
    """The ids of the rows of the results that it has with their intervals."""
    estimates: tuple[Row, ...] = ()
    """The estimates that its caption is about."""


def laid_tables(material: Material) -> list[LaidTable]:
    """The tables in the order of the protocol, from the results alone."""
    lines = places(material.results.rows)
    by_id = {
        layout.id: _laid(material, layout, lines)
        for layout in material.study.tables
        if not layout.parts
    }
    return [
        by_id[layout.id] if layout.id in by_id else _of_parts(material, layout, by_id)
        for layout in material.study.tables
    ]


def _of_parts(material: Material, layout: TableLayout, by_id: Mapping[str, LaidTable]) -> LaidTable:
    """A table of others; answers link to these, so that it has no row completely."""
    laid = [by_id[name] for name in layout.parts]
    estimates = [row for part in laid for row in part.estimates]
    caption = caption_of(material, layout, estimates)
    shown = combined(material, caption, [(part.title, part.table) for part in laid])
    return LaidTable(anchor("table", layout.id), layout.title, shown)


def tables_with(tables: Sequence[LaidTable], rows: Sequence[Joined]) -> list[LaidTable]:
    """The tables that have all of these rows and their benchmarks; none where a row is in none."""
    places: dict[int, LaidTable] = {}
    for laid in tables:
        for row_id in laid.complete:
            places.setdefault(row_id, laid)
    ids = {id(line.row) for line in rows}
    ids |= {id(line.benchmark) for line in rows if line.benchmark is not None}
    if not ids or not ids <= places.keys():
        return []
    return [laid for laid in tables if any(places[row_id] is laid for row_id in ids)]


def _laid(material: Material, layout: TableLayout, lines: Mapping[int, int]) -> LaidTable:
    estimates, spreads = _with_spreads(material, layout, list(_estimates(material, layout)))
    row_keys = _row_keys(layout, estimates)
    cells: dict[tuple[Coordinates, Coordinates], list[Row]] = {}
    for row in estimates:
        place = _coordinates(row, row_keys), _coordinates(row, layout.columns)
        cells.setdefault(place, []).append(row)
    columns = _ordered(list(dict.fromkeys(column for _, column in cells)))
    differences = _differences(material, layout, row_keys) if layout.difference else {}
    heads = _ordered(list(dict.fromkeys(row for row, _ in (*cells, *differences))))
    contrasts = _ordered(list(dict.fromkeys(column for _, column in differences)))
    other_keys = tuple(key for key in layout.columns if key in OWN_KEYS)
    if layout.difference and not contrasts:
        contrasts = [("",) * len(other_keys)]
    context = TableContext(material, lines, layout, spreads)
    units = {
        c: column_unit([r for r in estimates if _coordinates(r, layout.columns) == c])
        for c in columns
    }
    grouped = {(_outcome(r), key) for r in estimates for key in row_keys if r.group.get(key)}
    body = []
    for head in heads:
        present = [row for column in columns for row in cells.get((head, column), ())]
        compared = [differences[head, c][0] for c in contrasts if (head, c) in differences]
        whole = [key for key in row_keys if any((_outcome(r), key) in grouped for r in present)]
        body.append(
            (
                *(Cell(text) for text in line_words(material, row_keys, head, whole)),
                *(_cell(context, cells.get((head, c), ()), units[c]) for c in columns),
                *(difference_cell(context, differences.get((head, c))) for c in contrasts),
                *([p_cell(material.numbers, compared, present)] if layout.p else []),
                *([units_cell(material.numbers, present or compared)] if layout.n else []),
            )
        )
    level = level_words(material, estimates)
    with_intervals = {
        _coordinates(r, layout.columns)
        for r in estimates
        if layout.cells != "estimate" and not context.is_mean(r)
    }
    titles = [
        heading(material, layout.columns, c, level if c in with_intervals else "", units[c])
        + ("" if c in with_intervals or not spreads else " (SD)")
        for c in columns
    ]
    pair = f" {MINUS} ".join(layout.difference)
    contrast_units = []
    for c in contrasts:
        of_column = [row for (_, place), (row, _sign) in differences.items() if place == c]
        unit = column_unit(of_column, is_difference=True)
        contrast_units.append(unit)
        names = (*c[: len(other_keys)], pair)
        titles.append(heading(material, (*other_keys, *grouping_keys(layout)), names, level, unit))
    head_texts = [
        *(key_title(material, key) for key in row_keys),
        *titles,
        *([material.language.gettext("p (Holm)")] if layout.p else []),
        *([N_UNITS] if layout.n else []),
    ]
    compared = [row for row, _sign in differences.values()]
    drawn = [*estimates, *spreads.values(), *compared]
    shown = table(
        caption_of(material, layout, estimates),
        head_texts,
        body,
        row_heads=len(row_keys),
        general=notes_of(context, drawn, [*units.values(), *contrast_units]),
    )
    complete = [
        *(
            r
            for r in estimates
            if not math.isfinite(r.estimate.low)
            or (layout.cells != "estimate" and not context.is_mean(r))
        ),
        *compared,
    ]
    return LaidTable(
        anchor("table", layout.id),
        layout.title,
        shown,
        frozenset(id(row) for row in complete),
        tuple(estimates),
    )


def _estimates(material: Material, layout: TableLayout) -> Iterator[Row]:
    """The estimates of its analyses, each analysis in the protocol's order of groups.

    With the benchmarks that they are compared with.
    """
    for name in dict.fromkeys(layout.analyses):
        ordered = estimates_of(material, name)
        benchmarks = {
            tuple(j.benchmark.group.items()): j.benchmark
            for j in ordered
            if j.benchmark is not None and _is_in_place(layout, j.row, j.benchmark)
        }
        yield from benchmarks.values()
        yield from (line.row for line in ordered)


_SAME_SAMPLE = ("criterion", "raters", "items", "where", "collapse", "arm", "mode")
"""What a mean and its standard deviation have in common, beside their group."""


def _with_spreads(
    material: Material, layout: TableLayout, rows: list[Row]
) -> tuple[list[Row], Mapping[int, Row]]:
    """The estimates that have cells, and by the id of a mean's row its standard deviation."""
    if layout.cells != "sd":
        return rows, {}
    return [row for row in rows if row.statistic != "standard_deviation"], spreads_of(
        material, rows, rows
    )


def spreads_of(
    material: Material, rows: Sequence[Row], among: Sequence[Row] | None = None
) -> dict[int, Row]:
    """By the id of a mean's row its standard deviation, from the same sample and group.

    `among`: the rows that may have it; None: all of the results.
    """
    specs = {spec.name: spec for spec in material.study.analyses}

    def sample(row: Row) -> tuple[object, ...]:
        spec = specs.get(row.analysis)
        same = [repr(getattr(spec, key)) for key in _SAME_SAMPLE] if spec is not None else []
        return (*same, *sorted(row.group.items()))

    spread_by_sample = {
        sample(row): row
        for row in (material.results.rows if among is None else among)
        if row.statistic == "standard_deviation" and row.kind == "estimate"
    }
    means = [row for row in rows if row.statistic == "mean" and row.kind == "estimate"]
    return {
        id(row): spread_by_sample[sample(row)] for row in means if sample(row) in spread_by_sample
    }


def _outcome(row: Row) -> tuple[str, str, str]:
    """What an estimate is of, whatever its group."""
    return row.statistic, row.criterion, row.raters


def _is_in_place(layout: TableLayout, row: Row, benchmark: Row) -> bool:
    """Whether a benchmark differs from its row only in what the table's lines differ in."""
    columns = {*row.group, *benchmark.group}
    differing = {c for c in columns if row.group.get(c) != benchmark.group.get(c)}
    return differing <= {*layout.rows, *layout.columns}


def _row_keys(layout: TableLayout, estimates: Sequence[Row]) -> tuple[str, ...]:
    """What the rows differ in: as stated, and whatever else keeps two estimates apart."""
    keys = layout.rows
    others = dict.fromkeys(c for row in estimates for c in row.group if c not in layout.columns)
    for key in (*others, "analysis"):
        if key in keys:
            continue
        longer = (*keys, key)
        if _n_places(estimates, longer, layout) > _n_places(estimates, keys, layout):
            keys = longer
    return keys


def _n_places(estimates: Sequence[Row], keys: Coordinates, layout: TableLayout) -> int:
    return len({(_coordinates(r, keys), _coordinates(r, layout.columns)) for r in estimates})


def _coordinates(row: Row, keys: Sequence[str]) -> Coordinates:
    return tuple(key_value(row, key) for key in keys)


def key_value(row: Row, key: str) -> str:
    """What an estimate has of a key: its own, or of its group."""
    own = {
        "analysis": row.analysis,
        "statistic": row.statistic,
        "criterion": row.criterion,
        "panel": row.raters,
    }
    return row.group.get(key, own.get(key, ""))


def _ordered(coordinates: Sequence[Coordinates]) -> list[Coordinates]:
    """Sorted by each key in turn, its values as they first occur and no group first."""
    n_keys = len(coordinates[0]) if coordinates else 0
    ranks = []
    for n in range(n_keys):
        values = dict.fromkeys(c[n] for c in coordinates)
        ranks.append({v: (v != "", place) for place, v in enumerate(values)})
    return sorted(coordinates, key=lambda c: [ranks[n][v] for n, v in enumerate(c)])


def _differences(
    material: Material, layout: TableLayout, row_keys: Sequence[str]
) -> dict[tuple[Coordinates, Coordinates], tuple[Row, float]]:
    """Differences of the two groups by their place, each with the sign that makes it so."""
    first, second = layout.difference
    other_keys = tuple(key for key in layout.columns if key in OWN_KEYS)
    [key] = grouping_keys(layout)
    chosen: dict[tuple[Coordinates, Coordinates], tuple[Row, float]] = {}
    for name in dict.fromkeys(layout.analyses):
        for row in material.results.rows:
            if row.analysis != name or row.kind != "difference" or row.detail:
                continue
            sides = row.group.get(key), row.versus.get(key)
            if sides not in ((first, second), (second, first)):
                continue
            place = _coordinates(row, row_keys), _coordinates(row, other_keys)
            chosen.setdefault(place, (row, 1.0 if sides == (first, second) else -1.0))
    return chosen


def _cell(context: TableContext, rows: Sequence[Row], unit: ColumnUnit) -> Cell:
    """One estimate; several of one place, which no key keeps apart, one after another."""
    if not rows:
        return missing_cell(context)
    parts = [estimate_cell(context, row, unit) for row in rows]
    texts = "; ".join(part.text for part in parts)
    return replace(parts[0], text=texts, remarks=tuple(r for p in parts for r in p.remarks))
