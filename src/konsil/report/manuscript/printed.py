"""What a manuscript prints of a report: its analyses, their rows, and the intervals of these."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from konsil.analysis import Analysis, Row
from konsil.analysis.estimation.targets import ABOUT_COMPANIONS
from konsil.report.answers.answers import answered
from konsil.report.answers.layouts import LaidTable, laid_tables, tables_with
from konsil.report.material.overview import Material
from konsil.report.material.table_rows import Joined, join
from konsil.report.material.translate import message_of


@dataclass(frozen=True)
class Printed:
    """The numbers of a manuscript; all sentences, notes and captions are made from these."""

    material: Material
    """The material without alternative intervals, and without the sentences that point to them."""
    main: tuple[Analysis, ...]
    """The analyses of the main results, those of the first page, in the order of the protocol."""
    lines: Mapping[str, tuple[Joined, ...]]
    """Analysis of the main results -> its estimates and differences."""
    tables: tuple[LaidTable, ...]
    """The tables that the protocol lays out."""
    rows: tuple[Row, ...]
    """All rows with a number in the manuscript."""
    with_intervals: tuple[Row, ...]
    """Those of them whose interval or p value is in it as well."""

    @property
    def analyses(self) -> tuple[Analysis, ...]:
        """The analyses with a number in the manuscript."""
        names = {row.analysis for row in self.rows}
        return tuple(a for a in self.material.study.analyses if a.name in names)

    def laid(self, name: str) -> list[LaidTable]:
        """The tables of the protocol that have all numbers of a main analysis."""
        return tables_with(self.tables, self.lines[name])


def printed(material: Material) -> Printed:
    """The selection for a manuscript: the main results, and what the protocol lays out."""
    alone = without_companions(material)
    chosen = tuple(answered(material.study.analyses))
    by_name: dict[str, list[Row]] = {a.name: [] for a in chosen}
    for row in alone.results.rows:
        if row.analysis in by_name and not row.detail:
            by_name[row.analysis].append(row)
    lines = {name: tuple(join(rows)) for name, rows in by_name.items()}
    tables = tuple(t for t in laid_tables(alone) if t.table.rows)
    drawn = {name for layout in material.study.figures for name in layout.analyses}
    main = {id(row) for joined in lines.values() for line in joined for row in _rows_of(line)}
    laid = {id(row) for t in tables for row in t.estimates}
    complete = {row_id for t in tables for row_id in t.complete}
    figures = {
        id(row)
        for row in alone.results.rows
        if row.analysis in drawn and row.kind == "estimate" and not row.detail
    }
    places = main | laid | complete | figures
    rows = [r for r in alone.results.rows if id(r) in places and math.isfinite(r.estimate.value)]
    with_intervals = [
        r for r in rows if id(r) in main | complete | figures and has_interval_or_test(r)
    ]
    return Printed(alone, chosen, lines, tables, tuple(rows), tuple(with_intervals))


def has_interval_or_test(row: Row) -> bool:
    """Whether a row has an interval or a p value, and thereby a method."""
    return math.isfinite(row.estimate.low) or math.isfinite(row.estimate.p)


def without_companions(material: Material) -> Material:
    """The material with one interval for each number."""
    by_analysis: dict[str, list[Row]] = {}
    for row in material.results.rows:
        by_analysis.setdefault(row.analysis, []).append(row)
    companions = {
        id(companion)
        for rows in by_analysis.values()
        for line in join(rows)
        for companion in line.companions
    }
    rows = tuple(
        replace(row, warnings=without_pointers(row.warnings))
        for row in material.results.rows
        if id(row) not in companions
    )
    results = replace(
        material.results, rows=rows, inference=without_pointers(material.results.inference)
    )
    return replace(material, results=results)


def without_pointers(sentences: Sequence[str]) -> tuple[str, ...]:
    """Sentences without those that point to alternative intervals."""
    return tuple(s for s in sentences if message_of(s) not in ABOUT_COMPANIONS)


def _rows_of(line: Joined) -> list[Row]:
    return [line.row, *([line.benchmark] if line.benchmark is not None else [])]
