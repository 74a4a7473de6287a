"""A section that a caller adds to the report."""

from __future__ import annotations

from dataclasses import dataclass

from konsil.stats.engine.contract import Estimate

Value = str | int | float | Estimate | None
"""What a cell may hold; numbers are rounded by the report and by nobody else."""


@dataclass(frozen=True)
class Recovered:
    """A parameter whose true value is known because the ratings are simulated."""

    name: str
    """What the parameter is, in words."""
    truth: float
    """The value the ratings were drawn with."""
    estimate: Estimate
    """What the analysis found."""
    group: str = ""
    """Parameters of one group stand together."""


@dataclass(frozen=True)
class Section:
    """Paragraphs, a table, a recovery table with its figure: each only where given."""

    title: str
    """The heading."""
    paragraphs: tuple[str, ...] = ()
    """Plain text, one paragraph each."""
    header: tuple[str, ...] = ()
    """The columns' names."""
    rows: tuple[tuple[Value, ...], ...] = ()
    """The table's body, as wide as the header."""
    caption: str = ""
    """What the table shows; empty: the section's title."""
    notes: tuple[str, ...] = ()
    """Sentences under the table."""
    recovered: tuple[Recovered, ...] = ()
    """True parameters against estimates, as a table and a figure."""
