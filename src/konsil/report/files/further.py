"""Files that a report has besides its page and its data."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from konsil.analysis import Results
from konsil.report.figures.formats import FigureFormats
from konsil.report.material.overview import Material


@dataclass(frozen=True)
class FurtherFiles:
    """Files that a report has besides its page and its data."""

    formats: FigureFormats | None
    """The formats of figure files for print; None: there are none."""
    make: Callable[[Material, Results], Mapping[str, bytes]]
    """Paths and contents, from the report's material and from the results as computed."""
