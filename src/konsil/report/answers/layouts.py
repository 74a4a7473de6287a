"""Tables that the protocol lays out: estimates of several analyses by rows and columns."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from konsil.analysis import Row
from konsil.analysis.model.message import listed, message
from konsil.report.answers.layout_cells import (
    ColumnUnit,
    TableContext,
    column_unit,
    difference_cell,
    estimate_cell,
    missing_cell,
    p_cell,
    units_cell,
)
from konsil.report.answers.result_table import places
from konsil.report.answers.units import POINTS
from konsil.report.material.glossary import title
from konsil.report.material.overview import Material
from konsil.report.material.ranges import alike
from konsil.report.material.slugs import anchor
from konsil.report.material.table_rows import Joined, column_title, in_order, join
from konsil.report.material.tables import MINUS, Cell, Table, table
from konsil.study.sections.table_layout import OWN_KEYS, TableLayout, grouping_keys

Coordinates = tuple[str, ...]
"""A value for each key; empty where an estimate is of no group."""


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


def laid_tables(material: Material) -> list[LaidTable]:
    """The tables in the order of the protocol, from the results alone."""
    lines = places(material.results.rows)
    return [_laid(material, layout, lines) for layout in material.study.tables]


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
    if layout.difference and not contrasts:
        contrasts = [()]
    context = TableContext(material, lines, layout, spreads)
    units = {
        c: column_unit([r for r in estimates if _coordinates(r, layout.columns) == c])
        for c in columns
    }
    grouped = {(r.analysis, key) for r in estimates for key in row_keys if r.group.get(key)}
    body = []
    for head in heads:
        present = [row for column in columns for row in cells.get((head, column), ())]
        compared = [differences[head, c][0] for c in contrasts if (head, c) in differences]
        whole = [key for key in row_keys if any((r.analysis, key) in grouped for r in present)]
        body.append(
            (
                *(Cell(text) for text in _words(material, row_keys, head, whole)),
                *(_cell(context, cells.get((head, c), ()), units[c]) for c in columns),
                *(difference_cell(context, differences.get((head, c))) for c in contrasts),
                *([p_cell(material.numbers, compared, present)] if layout.p else []),
                *([units_cell(material.numbers, present or compared)] if layout.n else []),
            )
        )
    other_keys = tuple(key for key in layout.columns if key in OWN_KEYS)
    level = _level(material, estimates)
    with_intervals = {
        _coordinates(r, layout.columns)
        for r in estimates
        if layout.cells != "estimate" and not context.is_mean(r)
    }
    titles = [
        _heading(material, layout.columns, c, level if c in with_intervals else "", units[c])
        for c in columns
    ]
    pair = f" {MINUS} ".join(layout.difference)
    contrast_units = []
    for c in contrasts:
        of_column = [row for (_, place), (row, _sign) in differences.items() if place == c]
        unit = column_unit(of_column, is_difference=True)
        contrast_units.append(unit)
        names = (*c[: len(other_keys)], pair)
        titles.append(_heading(material, (*other_keys, ""), names, level, unit))
    head_texts = [
        *(_key_title(material, key) for key in row_keys),
        *titles,
        *([material.language.gettext("p (Holm)")] if layout.p else []),
        *(["n"] if layout.n else []),
    ]
    compared = [row for row, _sign in differences.values()]
    drawn = [*estimates, *spreads.values(), *compared]
    shown = table(
        _caption(material, layout, estimates),
        head_texts,
        body,
        row_heads=len(row_keys),
        general=_notes(context, drawn, [*units.values(), *contrast_units]),
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
        anchor("table", layout.id), layout.title, shown, frozenset(id(row) for row in complete)
    )


def _estimates(material: Material, layout: TableLayout) -> Iterator[Row]:
    """The estimates of its analyses, each analysis in the protocol's order of groups.

    With the benchmarks that they are compared with.
    """
    for name in dict.fromkeys(layout.analyses):
        rows = [r for r in material.results.rows if r.analysis == name and not r.detail]
        joined = [line for line in join(rows) if line.row.kind == "estimate" and line.row.is_made]
        ordered = in_order(material, joined)
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
    specs = {spec.name: spec for spec in material.study.analyses}

    def sample(row: Row) -> tuple[object, ...]:
        spec = specs.get(row.analysis)
        same = [repr(getattr(spec, key)) for key in _SAME_SAMPLE] if spec is not None else []
        return (*same, *sorted(row.group.items()))

    spread_by_sample = {sample(row): row for row in rows if row.statistic == "standard_deviation"}
    shown = [row for row in rows if row.statistic != "standard_deviation"]
    means = [row for row in shown if row.statistic == "mean"]
    return shown, {
        id(row): spread_by_sample[sample(row)] for row in means if sample(row) in spread_by_sample
    }


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
    return tuple(_value(row, key) for key in keys)


def _value(row: Row, key: str) -> str:
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


def _words(
    material: Material, keys: Sequence[str], values: Coordinates, grouped: Sequence[str]
) -> Iterator[str]:
    """The words of a line's heads; “all” only where its analysis has other lines by the key."""
    for key, value in zip(keys, values, strict=True):
        nothing = material.language.gettext("all") if key in grouped else "–"
        yield _word(material, key, value) if value else nothing


def _word(material: Material, key: str, value: str) -> str:
    if key == "statistic":
        return title(value, material.language)
    if key == "criterion":
        return material.criterion(value)
    return material.word(value)


def _heading(
    material: Material,
    keys: Sequence[str],
    values: Coordinates,
    level: str,
    unit: ColumnUnit,
) -> str:
    """What a column has: its groups, the unit of all of its numbers, the level of intervals."""
    words = [_word(material, k, v) for k, v in zip(keys, values, strict=False) if v]
    text = ", ".join(words) or material.language.gettext("all")
    if unit == "percent":
        text += " (%)"
    elif unit == "points":
        points = message("percentage points", message_id="layout.percentage_points")
        text += f" ({material.numbers.translated(points)})"
    return f"{text} [{level}]" if level else text


def _key_title(material: Material, key: str) -> str:
    own = {
        "analysis": material.language.gettext("Analysis"),
        "statistic": material.language.gettext("Statistic"),
    }
    return own.get(key) or column_title(material, key)


def _level(material: Material, estimates: Sequence[Row]) -> str:
    levels = {row.estimate.level for row in estimates if math.isfinite(row.estimate.low)}
    if len(levels) != 1:
        return ""
    return material.numbers.translated(
        message("{level:.0%} CI", message_id="layout.level", level=levels.pop())
    )


def _caption(material: Material, layout: TableLayout, estimates: Sequence[Row]) -> str:
    """The title, then n, level and panels; the methods of intervals are in the notes."""
    translate = material.numbers.translated
    parts = []
    sizes = [row.n_units for row in estimates]
    if sizes:
        low, high = (material.numbers.count(n) for n in (min(sizes), max(sizes)))
        parts.append(
            translate(
                message(
                    "n = {range} rated units",
                    message_id="layout.units",
                    range=low if low == high else f"{low}–{high}",
                )
            )
        )
    if level := _level(material, estimates):
        parts.append(level)
    specs = {spec.name: spec for spec in material.study.analyses}
    panels: dict[tuple[str, str], int] = {}
    for row in estimates:
        spec = specs.get(row.analysis)
        key = row.raters, (spec.against or "") if spec is not None else ""
        panels[key] = max(panels.get(key, 0), row.n_raters)
    parts += [_panel(material, *key, n) for key, n in panels.items()]
    caption = material.caption(layout.title)
    return f"{caption} {'; '.join(parts)}." if parts else caption


def _panel(material: Material, panel: str, against: str, n: int) -> str:
    """A panel with its raters, or with the panel that it is compared with."""
    if against == "rest":
        text = message(
            "panel {panel}, each member against the others",
            message_id="layout.panel_against_others",
            panel=panel,
        )
    elif against:
        text = message(
            "panel {panel} against {against}",
            message_id="layout.panel_against",
            panel=panel,
            against=against,
        )
    else:
        text = message(
            "panel {panel}: {n:,} {n|rater|raters}", message_id="answer.panel", panel=panel, n=n
        )
    return material.numbers.translated(text)


def _notes(
    context: TableContext, drawn: Sequence[Row], units: Sequence[ColumnUnit]
) -> Iterator[str]:
    """What numbers and marks mean, which analyses have no estimates, methods of the intervals."""
    material, layout = context.material, context.layout
    translate = material.numbers.translated
    numbers = material.numbers
    if context.spreads:
        yield translate(
            message("Means with standard deviations.", message_id="layout.means_with_spreads")
        )
    if "mixed" in units and any(row.statistic in POINTS for row in drawn):
        yield translate(
            message(
                "Differences of proportions in percentage points.",
                message_id="layout.points",
            )
        )
    if layout.significance and any(math.isfinite(row.p_adjusted) for row in drawn):
        marks = [
            f"{'*' * n} p < {numbers.tick(level)}"
            for n, level in enumerate(layout.significance, start=1)
        ]
        yield translate(
            message(
                "{marks} (p values adjusted for multiple testing; cells without such a p value"
                " have no mark).",
                message_id="layout.marks",
                marks=", ".join(marks),
            )
        )
    present = {row.analysis for row in drawn}
    empty = [name for name in dict.fromkeys(layout.analyses) if name not in present]
    if empty:
        yield translate(
            message(
                "Without estimates: {names}.",
                message_id="layout.without_estimates",
                names=listed(empty),
            )
        )
    methods = [translate(row.estimate.method) for row in drawn if row.estimate.method]
    for method in alike(methods):
        yield material.language.gettext("CI: %(method)s.") % {"method": method}
