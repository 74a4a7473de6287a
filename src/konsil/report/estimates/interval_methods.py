"""Methods of intervals in tables of estimates: their columns, companions and notes."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from konsil.analysis import Row
from konsil.analysis.model.catalogue.known import PREFERENCE
from konsil.analysis.model.frames import whom
from konsil.analysis.model.interval_methods import method_entry, name_of, str_of, within_wrappers
from konsil.analysis.running.sensitivity.omission_words import omission_of
from konsil.errors.message import TranslatableMessage, message
from konsil.report.material.overview import Material
from konsil.report.material.ranges import alike
from konsil.report.material.table_rows import (
    Joined,
)
from konsil.report.material.tables import Cell
from konsil.stats.engine.contract import RatersTarget

ColumnKey = tuple[str, str]
"""The message id of a column's heading, and the clusters that it names."""


def remarks(material: Material, row: Row) -> list[str]:
    """Footnotes of a row: its warnings, and the pairs of raters without a value."""
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


def companion_columns(rows: Sequence[Joined]) -> dict[ColumnKey, TranslatableMessage]:
    """The columns of the companions, one for each kind of interval, with their headings."""
    headings = [column_heading(c.estimate.method) for joined in rows for c in joined.companions]
    return {key_of_column(heading): heading for heading in headings}


def companion_headings(material: Material, rows: Sequence[Joined]) -> list[str]:
    """The headings of the companions' columns."""
    headings = (material.numbers.translated(h) for h in companion_columns(rows).values())
    return [heading[:1].upper() + heading[1:] for heading in headings]


def companion_cells(material: Material, line: Joined, columns: Iterable[ColumnKey]) -> list[Cell]:
    """One cell for each other interval.

    The interval alone where the value is the estimate's own.
    """
    rows = {key_of_column(column_heading(c.estimate.method)): c for c in line.companions[::-1]}
    return [
        _companion_cell(material, line, rows[column]) if column in rows else Cell("", number=True)
        for column in columns
    ]


def folded_companions(material: Material, line: Joined) -> Cell:
    """All other intervals in one cell, each after its method."""
    cells = [_companion_cell(material, line, c) for c in line.companions]
    names = (column_heading(c.estimate.method) for c in line.companions)
    texts = (material.numbers.translated(name) for name in names)
    shown = "; ".join(f"{name} {cell.text}" for name, cell in zip(texts, cells, strict=True))
    return Cell(shown[:1].upper() + shown[1:], tuple(r for cell in cells for r in cell.remarks))


def _companion_cell(material: Material, line: Joined, row: Row) -> Cell:
    cell = material.numbers.estimate(row.estimate, remarks(material, row))
    interval = material.numbers.interval(row.estimate.low, row.estimate.high)
    text = interval if interval and row.estimate.value == line.row.estimate.value else cell.text
    if math.isfinite(row.estimate.p) and row.statistic in PREFERENCE:
        text = f"{text} (p {material.numbers.p(row.estimate.p)})"
    return Cell(text, cell.remarks, number=True)


def _targets(rows: Sequence[Joined]) -> set[RatersTarget]:
    """Whom the first intervals are about."""
    return {joined.row.estimate.raters for joined in rows if math.isfinite(joined.row.estimate.low)}


def target_notes(material: Material, rows: Sequence[Joined]) -> list[str]:
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


def target_footnotes(material: Material, joined: Joined, rows: Sequence[Joined]) -> list[str]:
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


def method_notes(
    material: Material, rows: Sequence[Joined], are_companions_named: bool = False
) -> list[str]:
    """The methods of the intervals, each once; of companions that are named in the table, none.

    Where degrees of freedom differ, their range is enough.
    """
    _ = material.language.gettext
    translated = material.numbers.translated
    methods = [translated(line.row.estimate.method) for line in rows if line.row.estimate.method]
    companion_methods = [
        translated(c.estimate.method)
        for line in rows
        for c in line.companions
        if c.estimate.method and not are_companions_named
    ]
    sentences = [_("CI: %(method)s.") % {"method": method} for method in alike(methods)]
    return sentences + [
        _("Also reported: %(method)s.") % {"method": method} for method in alike(companion_methods)
    ]


def column_heading(method: str) -> TranslatableMessage:
    """The heading of a method's column, without what differs from row to row.

    A method without a heading of its own is printed in full.

    >>> wald = message(
    ...     "Wald of {cluster}s, t with {df}", message_id="method.wald", cluster="item", df=9
    ... )
    >>> column_heading(wald)
    'cluster-robust Wald (item-clustered)'
    """
    method = within_wrappers(method)
    if not method:
        return message("alternative estimate", message_id="column.unnamed")
    name = name_of(method)
    heading = method_entry(name).heading
    if heading is not None:
        clusters = "rater" if name == "two_way.by_rater" else str_of(method, "cluster")
        of = omission_of(clusters) if name == "method.leave_out" else message(clusters)
        values = {"cluster": of} if heading.values else {}
        return TranslatableMessage(heading.template, values, heading.message_id)
    return method if isinstance(method, TranslatableMessage) else message(method)


def key_of_column(heading: TranslatableMessage) -> ColumnKey:
    """What identifies a column, in whatever words."""
    return heading.message_id or heading.template, str_of(heading, "cluster")
