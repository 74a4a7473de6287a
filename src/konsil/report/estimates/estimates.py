"""Each analysis in words, tables and figures."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from konsil.analysis import Analysis, Row
from konsil.analysis.estimation.targets import whom
from konsil.analysis.model.catalogue.known import CASES, PREFERENCE, WINS
from konsil.analysis.model.message import message
from konsil.report.designs.designs import is_told_by_design
from konsil.report.estimates.figure_choice import figures_of
from konsil.report.figures.drawing import Drawing
from konsil.report.figures.plots import forests
from konsil.report.material.analysis_summary import analysis_question, facts_of
from konsil.report.material.glossary import title
from konsil.report.material.overview import Material
from konsil.report.material.ranges import case_cell, notes
from konsil.report.material.slugs import anchor
from konsil.report.material.table_rows import (
    Joined,
    beside_names,
    column_title,
    columns_of,
    contrast,
    in_order,
    join,
    value_head,
)
from konsil.report.material.tables import Cell, Table, table
from konsil.stats.engine.contract import Estimate, RatersTarget


@dataclass(frozen=True)
class AnalysisView:
    """One analysis, ready for the page."""

    anchor: str
    """Where the page links to."""
    name: str
    """Its name in the protocol."""
    title: str
    """The statistic's name."""
    sentence: str
    """What it is, in one plain sentence."""
    facts: tuple[tuple[str, str], ...]
    """What else the protocol says about it: term and value."""
    paper: bool
    """Whether it computes what a paper computes, for reproduction."""
    prespecified: bool
    """Whether it belongs to the declared family."""
    tables: tuple[Table, ...]
    """Estimates, then differences."""
    figures: tuple[Drawing, ...]
    """Forest plots or a heat map."""
    findings: tuple[str, ...] = ()
    """What may be said because the intervals support it, or that they do not."""


def build_analysis_views(material: Material) -> list[AnalysisView]:
    """Every analysis of the protocol in its order, then any other that has rows."""
    rows: dict[str, list[Row]] = {a.name: [] for a in material.study.analyses}
    for row in material.results.rows:
        if not row.detail:
            rows.setdefault(row.analysis, []).append(row)
    specs = {a.name: a for a in material.study.analyses}
    return [
        _view(material, name, specs.get(name), analysis_rows)
        for name, analysis_rows in rows.items()
    ]


def _view(
    material: Material, name: str, spec: Analysis | None, rows: Sequence[Row]
) -> AnalysisView:
    joined = join(rows)
    estimates = in_order(material, [line for line in joined if line.row.kind != "difference"])
    differences = [line for line in joined if line.row.kind == "difference"]
    statistic = spec.statistic if spec else rows[0].statistic
    tables = []
    figures: list[Drawing] = []
    if estimates:
        tables.append(_estimates(material, name, estimates))
        figures += figures_of(material, name, spec, _drawn(spec, estimates))
    if differences:
        tables.append(_differences(material, name, differences))
        if spec is None or not is_told_by_design(spec):
            figures += forests(material, name, statistic, differences, spec=spec, difference=True)
    return AnalysisView(
        anchor=anchor("analysis", name),
        name=name,
        title=title(statistic, material.language),
        sentence=analysis_question(material, spec, rows),
        facts=facts_of(material, spec),
        paper=spec is not None and spec.mode == "paper",
        prespecified=spec.prespecified if spec else rows[0].prespecified,
        tables=tuple(tables),
        figures=tuple(figures),
        findings=tuple(dict.fromkeys(row.finding for row in rows if row.finding)),
    )


def _drawn(spec: Analysis | None, rows: Sequence[Joined]) -> list[Joined]:
    """What a figure shows: of cases without what is no more than another number below."""
    if spec is None or spec.statistic not in CASES or spec.statistic == "monotonicity_violation":
        return list(rows)
    return [line for line in rows if "version" not in line.row.group]


def _remarks(material: Material, row: Row) -> list[str]:
    remarks = [w for w in row.warnings if w != row.finding]
    if row.n_undefined_pairs:
        remarks.append(
            material.numbers.translated(
                message(
                    (
                        "Not estimable for {n:,} {n|pair|pairs} of raters, which {n|is|are}"
                        " excluded from the mean."
                    ),
                    message_id="table.undefined_pairs",
                    n=row.n_undefined_pairs,
                )
            )
        )
    return remarks


def _estimates(material: Material, name: str, rows: Sequence[Joined]) -> Table:
    _, numbers = material.language.gettext, material.numbers
    columns = columns_of(rows)
    several = len({line.row.statistic for line in rows}) > 1
    methods = _companion_methods(rows)
    comparisons = beside_names(rows)
    tested = any(not math.isnan(line.row.estimate.p) for line in rows)
    adjusted = any(not math.isnan(line.row.p_adjusted) for line in rows)
    together = any(not math.isnan(line.row.p_max_t) for line in rows)
    bounds = {_group(b.group): b for b in material.results.bounds if b.analysis == name}
    head = [
        *(column_title(material, c) for c in columns),
        *([_("Statistic")] if several or not columns else []),
        value_head(material, rows),
    ]
    head += [*([_("Worst-case bounds")] if bounds else [])]
    head += [
        *methods,
        *comparisons,
        *([_("p")] if tested else []),
        *([_("p (Holm)")] if adjusted else []),
    ]
    head += [
        *([_("p (max-T)")] if together else []),
        _("Units"),
        _("Raters"),
        _("Ratings"),
        _("Clusters"),
    ]
    body = []
    for line in rows:
        row = line.row
        body.append(
            (
                *(Cell(row.group.get(column, _("all"))) for column in columns),
                *(
                    [Cell(title(row.statistic, material.language))]
                    if several or not columns
                    else []
                ),
                numbers.estimate(
                    row.estimate, [*_remarks(material, row), *_alone(material, line, rows)]
                ),
                *([case_cell(material, bounds.get(_group(row.group)))] if bounds else []),
                *_companions(material, line, methods),
                *(_comparison_cell(material, line, name) for name in comparisons),
                *([Cell(numbers.p(row.estimate.p), number=True)] if tested else []),
                *([Cell(numbers.p(row.p_adjusted), number=True)] if adjusted else []),
                *([Cell(numbers.p(row.p_max_t), number=True)] if together else []),
                *(
                    Cell(numbers.count(n), number=True)
                    for n in (
                        row.n_units,
                        row.n_raters,
                        row.estimate.n_ratings,
                        row.estimate.n_clusters,
                    )
                ),
            )
        )
    heads = len(columns) + (1 if several or not columns else 0)
    caption = material.caption(_("Estimates of the analysis “%(name)s”.") % {"name": name})
    general = [*_whom(material, rows), *_methods(material, rows)]
    general += notes(material, together=together, bounds=bool(bounds))
    return table(caption, head, body, row_heads=heads, general=general)


def _group(group: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    return tuple(sorted(group.items()))


def _differences(material: Material, name: str, rows: Sequence[Joined]) -> Table:
    _, numbers = material.language.gettext, material.numbers
    columns = columns_of(rows)
    methods = _companion_methods(rows)
    adjusted = any(not math.isnan(line.row.p_adjusted) for line in rows)
    head = [
        *(column_title(material, c) for c in columns),
        value_head(material, rows),
        *methods,
        _("p"),
        *([_("p (Holm)")] if adjusted else []),
    ]
    head += [_("Units"), _("Clusters")]
    body = [
        (
            *(Cell(contrast(line.row, column)) for column in columns),
            numbers.estimate(
                line.row.estimate, [*_remarks(material, line.row), *_alone(material, line, rows)]
            ),
            *_companions(material, line, methods),
            Cell(numbers.p(line.row.estimate.p), number=True),
            *([Cell(numbers.p(line.row.p_adjusted), number=True)] if adjusted else []),
            Cell(_units(material, line.row), number=True),
            Cell(numbers.count(line.row.estimate.n_clusters), number=True),
        )
        for line in rows
    ]
    caption, general = _compared(material, name, rows)
    if any(line.row.n_units_versus for line in rows):
        general.append(
            numbers.translated(
                message(
                    "Units: of the first group / of the second; clusters: of both groups together.",
                    message_id="groups.units_of_both",
                )
            )
        )
    if adjusted:
        general.append(
            numbers.translated(
                message(
                    "Holm: adjusted over all declared tests.", message_id="declared.holm_column"
                )
            )
        )
    return table(
        caption,
        head,
        body,
        row_heads=len(columns),
        general=[*general, *_whom(material, rows), *_methods(material, rows)],
    )


def _units(material: Material, row: Row) -> str:
    """The units of both groups of a difference: its clusters are those of both."""
    counts = [row.n_units, *([row.n_units_versus] if row.n_units_versus else [])]
    return " / ".join(material.numbers.count(n) for n in counts)


def _compared(material: Material, name: str, rows: Sequence[Joined]) -> tuple[str, list[str]]:
    """The caption and a note: whether the groups have items in common."""
    translate, paired = material.numbers.translated, {joined.row.is_paired for joined in rows}
    caption, note = (
        message(
            "Differences of the analysis “{name}”.", message_id="two_way.differences", name=name
        ),
        "",
    )
    if all(joined.row.statistic in WINS for joined in rows):
        note = message(
            (
                "The CI combines the influence functions of both estimates, so items and"
                " raters common to both count once; the p value is from the same t statistic."
            ),
            message_id="two_way.of_differences",
        )
    elif paired == {True}:
        caption = message(
            "Paired differences of the analysis “{name}”.", message_id="groups.paired", name=name
        )
        note = message(
            "The groups compared have items in common; the interval takes them into account.",
            message_id="groups.common_items",
        )
    elif paired == {False}:
        caption = message(
            "Differences of independent groups, analysis “{name}”.",
            message_id="groups.independent",
            name=name,
        )
        note = message(
            "The groups compared have no items in common.", message_id="groups.no_common_items"
        )
    return material.caption(translate(caption)), [translate(note)] if note else []


def _companion_methods(rows: Sequence[Joined]) -> list[str]:
    return list(dict.fromkeys(_method(c.estimate) for line in rows for c in line.companions))


def _method(estimate: Estimate) -> str:
    """A column's name for a method of intervals.

    It omits what differs from row to row, such as degrees of freedom.
    """
    first = estimate.method.split(", ")[0]
    return first[:1].upper() + first[1:]


def _comparison_cell(material: Material, line: Joined, name: str) -> Cell:
    """The number that the row is to be compared with."""
    if line.beside is None or line.beside_name != name:
        return Cell("", number=True)
    return material.numbers.estimate(line.beside.estimate, _remarks(material, line.beside))


def _companions(material: Material, line: Joined, methods: Sequence[str]) -> list[Cell]:
    """One cell for each other interval.

    The interval alone where the value is the estimate's own.
    """
    cells = []
    for method in methods:
        row = next((c for c in line.companions if _method(c.estimate) == method), None)
        if row is None:
            cells.append(Cell("", number=True))
            continue
        cell = material.numbers.estimate(row.estimate, _remarks(material, row))
        interval = material.numbers.interval(row.estimate.low, row.estimate.high)
        text = interval if interval and row.estimate.value == line.row.estimate.value else cell.text
        if math.isfinite(row.estimate.p) and row.statistic in PREFERENCE:
            text = f"{text} (p {material.numbers.p(row.estimate.p)})"
        cells.append(Cell(text, cell.remarks, number=True))
    return cells


def _targets(rows: Sequence[Joined]) -> set[RatersTarget]:
    """Whom the first intervals are about."""
    return {joined.row.estimate.raters for joined in rows if math.isfinite(joined.row.estimate.low)}


def _whom(material: Material, rows: Sequence[Joined]) -> list[str]:
    """The raters that the first intervals apply to.

    Only where the report or an interval of the table is about raters like these.
    """
    targets = _targets(rows)
    companion_targets = {
        c.estimate.raters
        for joined in rows
        for c in joined.companions
        if math.isfinite(c.estimate.low)
    }
    if "like these" not in targets | companion_targets | {material.results.target} or not targets:
        return []
    if len(targets) > 1:
        note = message(
            "The primary CIs apply to raters like these, unless a footnote states otherwise.",
            message_id="target.first_mixed",
        )
    else:
        note = message(
            "The primary CIs apply to {whom}.", message_id="target.first", whom=whom(*targets)
        )
    return [material.numbers.translated(note)]


def _alone(material: Material, joined: Joined, rows: Sequence[Joined]) -> list[str]:
    """The footnote of a row whose interval is about these raters only.

    Only where other rows' intervals are about raters like these.
    """
    estimate = joined.row.estimate
    if len(_targets(rows)) < 2 or estimate.raters != "these" or not math.isfinite(estimate.low):
        return []
    return [
        material.numbers.translated(
            message("This CI applies to these raters only.", message_id="target.row_these")
        )
    ]


def _methods(material: Material, rows: Sequence[Joined]) -> list[str]:
    """The methods of the intervals, each once.

    Where degrees of freedom differ, their range is enough.
    """
    _ = material.language.gettext
    methods = [line.row.estimate.method for line in rows if line.row.estimate.method]
    companion_methods = [
        c.estimate.method for line in rows for c in line.companions if c.estimate.method
    ]
    sentences = [_("CI: %(method)s.") % {"method": method} for method in _alike(methods)]
    return sentences + [
        _("Also reported: %(method)s.") % {"method": method} for method in _alike(companion_methods)
    ]


_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
"""A number as either language writes it."""


def _size(number: str) -> float:
    """What a written number is worth: three digits after a mark are thousands, fewer a fraction."""
    return float(re.sub(r"[.,](?=\d{3}(?:\D|$))", "", number).replace(",", "."))


def _alike(methods: Sequence[str]) -> list[str]:
    """Methods that differ in one number only, as one with that number's range.

    >>> _alike(["t with 9 degrees", "t with 8.5 degrees", "t with 62.1 degrees"])
    ['t with 8.5–62.1 degrees']
    """
    families: dict[str, list[list[str]]] = {}
    for method in dict.fromkeys(methods):
        families.setdefault(_NUMBER.sub("#", method), []).append(_NUMBER.findall(method))
    merged = []
    for pattern, numbers in families.items():
        parts = pattern.split("#")
        columns = [sorted(set(column), key=_size) for column in zip(*numbers, strict=True)]
        ranges = [
            column[0] if len(column) == 1 else f"{column[0]}–{column[-1]}" for column in columns
        ]
        merged.append("".join(a + b for a, b in zip(parts, [*ranges, ""], strict=True)))
    return merged
