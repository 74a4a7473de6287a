"""Bounds for missing judgements and joint adjustment of tests in tables of estimates."""

from __future__ import annotations

from collections.abc import Iterator

from konsil.analysis.model.message import message
from konsil.analysis.model.results import Bounds
from konsil.report.material.overview import Material
from konsil.report.material.tables import Cell


def case_cell(material: Material, bounds: Bounds | None) -> Cell:
    """The range that missing judgements leave open, and how many they are."""
    if bounds is None:
        return Cell("", number=True)
    numbers = material.numbers
    missing = f"({numbers.count(bounds.n_missing)})"
    return Cell(f"{numbers.interval(bounds.low, bounds.high) or '–'} {missing}", number=True)


def notes(material: Material, *, together: bool, bounds: bool) -> Iterator[str]:
    """What the columns mean."""
    _ = material.language.gettext
    if together:
        yield material.numbers.translated(
            message(
                (
                    "max-T: p value adjusted over all declared win differences and mean"
                    " preferences together, using their correlations due to common items and"
                    " raters."
                ),
                message_id="two_way.max_t_column",
            )
        )
    if bounds:
        yield _(
            "Worst-case bounds: lowest and highest possible estimate if the missing"
            " ratings (number given) had any labels. Blank: none missing; dash: not"
            " available."
        )
