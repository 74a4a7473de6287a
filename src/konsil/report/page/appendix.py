"""The analyses of the appendix: one table of single estimates, notes of all tables once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from konsil.errors.message import message
from konsil.report.answers.layout_cells import combined
from konsil.report.estimates.estimates import AnalysisView, single_estimate
from konsil.report.material.overview import Material
from konsil.report.material.tables import Table, common_notes, without_notes


@dataclass(frozen=True)
class AppendixSection:
    """Analyses, with what holds for all of their tables."""

    shared: Table | None
    """The estimates of the analyses that have one each."""
    notes: tuple[str, ...]
    """Notes of all tables."""
    views: tuple[AnalysisView, ...]
    """The analyses, their tables without these notes."""


def appendix_section(material: Material, views: Sequence[AnalysisView]) -> AppendixSection | None:
    """The section of these analyses; None where there are none."""
    if not views:
        return None
    shared = shared_table(material, views)
    if shared is not None:
        views = [view if view.single is None else replace(view, tables=()) for view in views]
    tables = [*([] if shared is None else [shared]), *(t for view in views for t in view.tables)]
    notes = common_notes(tables)
    return AppendixSection(
        None if shared is None else without_notes(shared, notes),
        notes,
        tuple(
            replace(view, tables=tuple(without_notes(t, notes) for t in view.tables))
            for view in views
        ),
    )


def shared_table(material: Material, views: Sequence[AnalysisView]) -> Table | None:
    """One table of the analyses that have a single estimate; None for fewer than two of them.

    What holds for some of them is a footnote of their rows.
    """
    singles = [(view.name, single_estimate(material, view)) for view in views]
    parts = [(name, part) for name, part in singles if part is not None]
    if len(parts) < 2:
        return None
    common = common_notes([part for _name, part in parts])
    if views[0].prespecified:
        caption = message(
            "Declared analyses with one estimate.", message_id="estimates.single_declared"
        )
    else:
        caption = message(
            "Exploratory analyses with one estimate.", message_id="estimates.single_exploratory"
        )
    return combined(
        material,
        material.caption(material.numbers.translated(caption)),
        [(name, _with_footnotes(part, common)) for name, part in parts],
    )


def _with_footnotes(single: Table, common: Sequence[str]) -> Table:
    """A table of one row, whose notes are remarks of its estimate, apart from the common ones."""
    of_all = tuple(note for note in single.notes if note.text in common)
    cells = list(single.rows[0])
    remarks = tuple(note.text for note in single.notes if note.text not in common)
    cells[single.row_heads] = replace(cells[single.row_heads], remarks=remarks)
    return replace(single, rows=(tuple(cells),), notes=of_all)
