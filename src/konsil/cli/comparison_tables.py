"""What `konsil compare` prints: Table 2, the methods and the notes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.table import Table

from konsil.analysis.running.comparing.compare_result import GroupComparison
from konsil.cli.terminal import print_notes, result_console
from konsil.report.estimates.comparison_table import comparison_table
from konsil.report.material.tables import Numbers


def show(result: GroupComparison, paths: Sequence[Path]) -> None:
    """Print a comparison."""
    console = result_console(result.reading)
    console.print(result.counts())
    for criterion in result.criteria:
        if criterion.success:
            console.print(str(criterion.outcome))
    shown = comparison_table(result.rows, Numbers(), by=result.by, reference=result.reference)
    grid = Table(box=None, pad_edge=False, header_style="bold")
    for n, head in enumerate(shown.head):
        grid.add_column(head.text, justify="left" if n < shown.row_heads else "right")
    for row in shown.rows:
        grid.add_row(*(" ".join([cell.text, *cell.marks]) for cell in row))
    console.print(grid)
    for note in shown.notes:
        console.print(f"{note.mark} {note.text}".strip())
    print_notes(console, result.notes)
    for path in paths:
        console.print(str(path))
