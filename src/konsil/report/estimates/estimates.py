"""Each analysis in words, tables and figures."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from konsil.analysis import Analysis, Row
from konsil.analysis.model.catalogue.known import CASES, WINS
from konsil.errors.message import message
from konsil.progress import tracked
from konsil.report.estimates.figure_choice import figures_of
from konsil.report.estimates.interval_methods import (
    companion_cells,
    companion_columns,
    companion_headings,
    folded_companions,
    method_notes,
    remarks,
    target_footnotes,
    target_notes,
)
from konsil.report.estimates.plots import forests
from konsil.report.figures.drawing import Drawing
from konsil.report.material.analysis_summary import analysis_question, facts_of
from konsil.report.material.glossary import title
from konsil.report.material.overview import Material
from konsil.report.material.ranges import case_cell, notes
from konsil.report.material.shared_figures import is_in_design_figure
from konsil.report.material.slugs import anchor
from konsil.report.material.table_rows import (
    Joined,
    benchmark_names,
    column_title,
    columns_of,
    contrast,
    in_order,
    join,
    shown_value,
    units_of,
    value_head,
)
from konsil.report.material.tables import Cell, Table, table


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
    of_differences: frozenset[str] = frozenset()
    """The keys of the figures that show differences."""
    findings: tuple[str, ...] = ()
    """What may be said because the intervals support it, or that they do not."""
    single: Joined | None = None
    """The only row of the only table, if there is no more."""


def build_analysis_views(material: Material) -> list[AnalysisView]:
    """Every analysis of the protocol in its order, then any other that has rows."""
    rows: dict[str, list[Row]] = {a.name: [] for a in material.study.analyses}
    for row in material.results.rows:
        if not row.detail:
            rows.setdefault(row.analysis, []).append(row)
    specs = {a.name: a for a in material.study.analyses}
    return [
        _view(material, name, specs.get(name), analysis_rows)
        for name, analysis_rows in tracked(list(rows.items()), "tables and figures")
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
    of_differences: list[Drawing] = []
    if estimates:
        tables.append(_estimates(material, name, estimates))
        figures += figures_of(material, name, spec, _drawn(spec, estimates))
    if differences:
        tables.append(_differences(material, name, differences))
        if spec is None or not is_in_design_figure(spec):
            of_differences = forests(
                material, name, statistic, differences, spec=spec, difference=True
            )
    return AnalysisView(
        anchor=anchor("analysis", name),
        name=name,
        title=title(statistic, material.language),
        sentence=analysis_question(material, spec, rows),
        facts=facts_of(material, spec),
        paper=spec is not None and spec.mode == "paper",
        prespecified=spec.prespecified if spec else rows[0].prespecified,
        tables=tuple(tables),
        figures=(*figures, *of_differences),
        of_differences=frozenset(drawing.key for drawing in of_differences),
        findings=tuple(dict.fromkeys(row.finding for row in rows if row.finding)),
        single=estimates[0] if len(estimates) == 1 and not differences else None,
    )


def single_estimate(material: Material, view: AnalysisView) -> Table | None:
    """The table of an analysis that has a single estimate, for a table of several analyses."""
    if view.single is None:
        return None
    return _estimates(material, view.name, [view.single], is_shared=True)


def _drawn(spec: Analysis | None, rows: Sequence[Joined]) -> list[Joined]:
    """What a figure shows: of cases without what is no more than another number below."""
    if spec is None or spec.statistic not in CASES or spec.statistic == "monotonicity_violation":
        return list(rows)
    return [line for line in rows if "version" not in line.row.group]


def _estimates(
    material: Material, name: str, rows: Sequence[Joined], *, is_shared: bool = False
) -> Table:
    _, numbers = material.language.gettext, material.numbers
    columns = columns_of(rows)
    several = is_shared or len({line.row.statistic for line in rows}) > 1
    alternatives = {} if is_shared else companion_columns(rows)
    has_other = any(line.companions for line in rows)
    comparisons = benchmark_names(rows)
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
        *([] if is_shared else companion_headings(material, rows)),
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
    if is_shared and has_other:
        other = message("Other CIs", message_id="column.other_intervals")
        head.append(numbers.translated(other))
    body = []
    for line in rows:
        row = line.row
        body.append(
            (
                *(
                    Cell(shown_value(material, column, row.group.get(column, _("all"))))
                    for column in columns
                ),
                *(
                    [Cell(title(row.statistic, material.language))]
                    if several or not columns
                    else []
                ),
                numbers.estimate(
                    row.estimate, [*remarks(material, row), *target_footnotes(material, line, rows)]
                ),
                *([case_cell(material, bounds.get(_group(row.group)))] if bounds else []),
                *companion_cells(material, line, alternatives),
                *(_comparison_cell(material, line, name) for name in comparisons),
                *([Cell(numbers.p(row.estimate.p), number=True)] if tested else []),
                *([Cell(numbers.p(row.p_adjusted), number=True)] if adjusted else []),
                *([Cell(numbers.p(row.p_max_t), number=True)] if together else []),
                Cell(units_of(material, row), number=True),
                *(
                    Cell(numbers.count(None if row.is_withheld else n), number=True)
                    for n in (
                        row.n_raters,
                        row.estimate.n_ratings,
                        row.estimate.n_clusters,
                    )
                ),
                *([folded_companions(material, line)] if is_shared and has_other else []),
            )
        )
    heads = len(columns) + (1 if several or not columns else 0)
    caption = material.caption(_("Estimates of the analysis “%(name)s”.") % {"name": name})
    general = [*target_notes(material, rows), *method_notes(material, rows, is_shared)]
    if any(line.row.n_units_versus for line in rows):
        general.append(
            numbers.translated(
                message(
                    "Units: of the group / of the reference group; ratings and clusters: of"
                    " both groups together.",
                    message_id="groups.units_of_reference",
                )
            )
        )
    general += notes(material, together=together, bounds=bool(bounds))
    return table(caption, head, body, row_heads=heads, general=general, main_column=heads)


def _group(group: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    return tuple(sorted(group.items()))


def _differences(material: Material, name: str, rows: Sequence[Joined]) -> Table:
    _, numbers = material.language.gettext, material.numbers
    columns = columns_of(rows)
    alternatives = companion_columns(rows)
    adjusted = any(not math.isnan(line.row.p_adjusted) for line in rows)
    head = [
        *(column_title(material, c) for c in columns),
        value_head(material, rows),
        *companion_headings(material, rows),
        _("p"),
        *([_("p (Holm)")] if adjusted else []),
    ]
    head += [_("Units"), _("Clusters")]
    body = [
        (
            *(Cell(contrast(line.row, column, material)) for column in columns),
            numbers.estimate(
                line.row.estimate,
                [*remarks(material, line.row), *target_footnotes(material, line, rows)],
            ),
            *companion_cells(material, line, alternatives),
            Cell(numbers.p(line.row.estimate.p), number=True),
            *([Cell(numbers.p(line.row.p_adjusted), number=True)] if adjusted else []),
            Cell(units_of(material, line.row), number=True),
            Cell(
                numbers.count(None if line.row.is_withheld else line.row.estimate.n_clusters),
                number=True,
            ),
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
        main_column=len(columns),
        general=[*general, *target_notes(material, rows), *method_notes(material, rows)],
    )


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
            "The groups compared have items in common; the CI accounts for them.",
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


def _comparison_cell(material: Material, line: Joined, name: str) -> Cell:
    """The number that the row is to be compared with."""
    if line.benchmark is None or line.benchmark_name != name:
        return Cell("", number=True)
    return material.numbers.estimate(line.benchmark.estimate, remarks(material, line.benchmark))
