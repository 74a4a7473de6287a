"""The checklists that can be filled in, by their identifiers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType

from konsil.report.manuscript.blocks import Block, Heading, Numbering, Paragraph
from konsil.report.manuscript.checklists.chart import chart
from konsil.report.manuscript.checklists.data_statement import data_statement
from konsil.report.manuscript.checklists.grras import grras
from konsil.report.manuscript.checklists.item import Filled
from konsil.report.manuscript.checklists.tripod_llm import tripod_llm
from konsil.report.manuscript.citations import cite
from konsil.report.manuscript.request import Checklist
from konsil.report.material.overview import Material
from konsil.report.material.tables import Table, table

CHECKLISTS: Mapping[Checklist, Callable[[Material], Filled]] = MappingProxyType(
    {"grras": grras, "tripod-llm": tripod_llm, "chart": chart, "data-statement": data_statement}
)
"""Identifier -> what fills it in."""


def checklist_blocks(
    material: Material, checklist: Checklist, numbering: Numbering
) -> Iterator[Block]:
    """The heading, the source and the table of a checklist."""
    filled = CHECKLISTS[checklist](material)
    yield Heading(filled.heading, 1)
    yield Paragraph(f"{filled.source}{cite([filled.reference])}. {filled.note}".rstrip())
    yield numbering.table(checklist_table(material, filled), checklist, filled.short)


def checklist_table(material: Material, filled: Filled) -> Table:
    """The checklist as a table: number, item, its state, what the study states, and where."""
    _ = material.language.gettext
    head = (_("No."), _("Item"), _("State"), _("This study"), _("Section"))
    rows = [item.cells(material) for item in filled.items]
    return table(material.caption(filled.caption), head, rows, row_heads=2)
