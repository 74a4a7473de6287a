"""What a notebook shows of results: a table as HTML, and estimates with intervals on an axes."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    from matplotlib.axes import Axes

LONGEST = 60
"""Rows that a table in a notebook shows; the frame has all of them."""
ROW_INCHES = 0.32


class ShownResult(ABC):
    """A result that is shown by its counts, with its numbers as frames."""

    @abstractmethod
    def counts(self) -> str:
        """How much was rated, in words."""

    @abstractmethod
    def to_polars(self) -> pl.DataFrame:
        """The numbers as a Polars frame."""

    def to_pandas(self) -> pd.DataFrame:
        """The same as a pandas frame; needs pandas. Undefined numbers are NaN."""
        # With Polars, which the help of a command need not load.
        from konsil.analysis.model.frames import as_pandas

        return as_pandas(self.to_polars())

    def __repr__(self) -> str:
        """The counts; `to_polars` and `to_pandas` have the numbers."""
        return f"<{type(self).__name__}: {self.counts()}>"


@dataclass(frozen=True)
class Dot:
    """One estimate to show."""

    label: str
    """What it is of."""
    value: float
    """The estimate; nan where undefined."""
    low: float
    """The lower limit of its interval."""
    high: float
    """The upper limit."""
    note: str = ""
    """The reason if it is not estimable; empty otherwise."""


def interval_text(value: float, low: float, high: float, note: str = "") -> str:
    """An estimate with its interval, or why there is none.

    >>> interval_text(0.5, 0.4, 0.6)
    '0.500 [0.400, 0.600]'
    >>> interval_text(float("nan"), float("nan"), float("nan"), "no pairs")
    'not estimable: no pairs'
    """
    if math.isnan(value):
        return f"not estimable: {note}" if note else "not estimable"
    if math.isnan(low):
        return f"{value:.3f}"
    return f"{value:.3f} [{low:.3f}, {high:.3f}]"


def html_table(
    heading: str, head: Sequence[str], rows: Sequence[Sequence[str]], notes: Iterable[str] = ()
) -> str:
    """A table of texts as HTML, all of them escaped; rows beyond `LONGEST` are counted.

    >>> html_table("2 items", ["name"], [["<b>"]])[-39:]
    '<td>&lt;b&gt;</td></tr></tbody></table>'
    """
    cells = "".join(
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>"
        for row in rows[:LONGEST]
    )
    more = len(rows) - LONGEST
    further = [f"{more:,} more rows: to_pandas() or to_polars() has all."] if more > 0 else []
    return (
        f"<p>{escape(heading)}</p><table><thead><tr>"
        + "".join(f"<th>{escape(name)}</th>" for name in head)
        + f"</tr></thead><tbody>{cells}</tbody></table>"
        + "".join(f"<p>{escape(note)}</p>" for note in (*further, *notes))
    )


def dot_plot(
    dots: Sequence[Dot], ax: Axes | None, *, label: str = "", reference: float | None = None
) -> Axes:
    """Draw estimates as dots with intervals, the first at the top; return the axes to change.

    Without `ax` a figure of its own is made, outside pyplot's list, so that nothing stays open. An
    undefined estimate has its label and the word, and no dot. `reference` is a line, such as no
    difference.
    """
    from matplotlib.figure import Figure

    if ax is None:
        figure = Figure(figsize=(6.5, 0.9 + ROW_INCHES * max(len(dots), 1)), layout="constrained")
        ax = figure.add_subplot()
    if reference is not None:
        ax.axvline(reference, color="0.6", linewidth=0.8, linestyle=(0, (4, 3)), zorder=1)
    for y, dot in enumerate(dots):
        if math.isnan(dot.value):
            ax.annotate("not estimable", (0.02, y), xycoords=("axes fraction", "data"), va="center")
            continue
        if math.isfinite(dot.low) and math.isfinite(dot.high):
            ax.plot([dot.low, dot.high], [y, y], color="#1d5f8a", linewidth=1.6, zorder=2)
        ax.plot([dot.value], [y], "o", color="#1d5f8a", markersize=5.5, zorder=3)
    ax.set_yticks(range(len(dots)), labels=[dot.label for dot in dots])
    ax.set_ylim(len(dots) - 0.5, -0.5)
    ax.set_xlabel(label)
    ax.spines[["top", "right", "left"]].set_visible(False)
    ax.tick_params(axis="y", length=0)
    return ax
