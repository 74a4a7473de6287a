"""Pairs that judges saw in both orders: contradictions between a judge's two labels."""

from __future__ import annotations

from konsil.analysis.model.message import message
from konsil.report.material.overview import Material
from konsil.report.material.tables import Cell, Table, table


def both_orders(material: Material) -> list[Table]:
    """One row a judge and comparison; no table where nobody saw both orders."""
    rows, numbers = material.results.orders, material.numbers
    if not rows:
        return []
    titles = (
        message("Judge"),
        message("Criterion compared"),
        message("Pairs compared"),
        message("Inconsistent"),
        message("Proportion inconsistent"),
    )
    body = [
        (
            Cell(row.rater),
            Cell(row.criterion),
            Cell(numbers.count(row.compared), number=True),
            Cell(numbers.count(row.inconsistent), number=True),
            Cell(numbers.plain(row.inconsistent / row.compared), number=True),
        )
        for row in rows
    ]
    caption = material.caption(
        numbers.translated(message("Pairs shown to LLM judges in both orders."))
    )
    general = [numbers.translated(message("Only pairs with a label in both orders are compared."))]
    return [
        table(caption, [numbers.translated(t) for t in titles], body, row_heads=2, general=general)
    ]
