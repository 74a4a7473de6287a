"""Methods of intervals in tables of estimates: companions, whom they are about, and the notes."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from konsil.analysis import Row
from konsil.analysis.estimation.targets import whom
from konsil.analysis.model.catalogue.known import PREFERENCE
from konsil.analysis.model.message import message
from konsil.report.material.overview import Material
from konsil.report.material.table_rows import (
    Joined,
)
from konsil.report.material.tables import Cell
from konsil.stats.engine.contract import Estimate, RatersTarget


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


def companion_methods(rows: Sequence[Joined]) -> list[str]:
    """The methods of the companions, one column each."""
    return list(dict.fromkeys(_method(c.estimate) for line in rows for c in line.companions))


def _method(estimate: Estimate) -> str:
    """A column's name for a method of intervals.

    It omits what differs from row to row, such as degrees of freedom.
    """
    first = estimate.method.split(", ")[0]
    return first[:1].upper() + first[1:]


def companion_cells(material: Material, line: Joined, methods: Sequence[str]) -> list[Cell]:
    """One cell for each other interval.

    The interval alone where the value is the estimate's own.
    """
    cells = []
    for method in methods:
        row = next((c for c in line.companions if _method(c.estimate) == method), None)
        if row is None:
            cells.append(Cell("", number=True))
            continue
        cell = material.numbers.estimate(row.estimate, remarks(material, row))
        interval = material.numbers.interval(row.estimate.low, row.estimate.high)
        text = interval if interval and row.estimate.value == line.row.estimate.value else cell.text
        if math.isfinite(row.estimate.p) and row.statistic in PREFERENCE:
            text = f"{text} (p {material.numbers.p(row.estimate.p)})"
        cells.append(Cell(text, cell.remarks, number=True))
    return cells


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


def method_notes(material: Material, rows: Sequence[Joined]) -> list[str]:
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
