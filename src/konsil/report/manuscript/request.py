"""What a report also writes: a manuscript, its checklists, and figures as a journal wants them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from konsil.errors import KonsilError, option
from konsil.records.request import Flag, Request, setting

Form = Literal["docx", "latex", "markdown", "xlsx"]
"""The formats of a manuscript."""
Checklist = Literal["grras", "tripod-llm", "chart", "data-statement"]
"""The checklists that can be filled in."""
FIGURE_FORMATS = ("png", "tiff", "eps", "pdf", "svg")
"""The formats of figure files."""
WIDTHS = {"single": 89.0, "double": 183.0}
"""Millimetres of one column and of two, as Nature's journals have them; others differ by a few."""
LEGIBLE = 5.0
"""Points of the smallest letters that most journals accept."""
_SMALLEST, _OWN_WIDTH = 7.5, 170.18
"""Points of the smallest letters of the report's figures, and millimetres of their width."""
_NARROWEST, _WIDEST = 30.0, 400.0


@dataclass(frozen=True, kw_only=True)
class ReportRequest(Request):
    """Which files a report has besides its page and its data."""

    to: tuple[Form, ...] = setting((), Flag("Also write the manuscript in this format."))
    checklist: tuple[Checklist, ...] = setting(
        (), Flag("Add this reporting checklist to the manuscript.")
    )
    figures: tuple[str, ...] = setting(
        (),
        Flag(
            "Also write all figures as files: png, tiff, eps, pdf, svg.",
            is_listed=True,
            metavar="FORMATS",
        ),
    )
    dpi: int = setting(300, Flag("Dots per inch of PNG and TIFF.", minimum=72, maximum=1200))
    width: str = setting(
        "", Flag("Width of these figures: single, double or millimetres.", metavar="WIDTH")
    )

    quick: bool = setting(
        False, Flag("Write only a preliminary first page, into FOLDER/preliminary.")
    )

    def __post_init__(self) -> None:
        """Refuse what cannot be written before anything is computed."""
        super().__post_init__()
        if self.quick and (self.to or self.checklist or self.figures):
            raise KonsilError(
                f"{option('quick')}: a preliminary page has no further files; expected no"
                f" {option('to')}, {option('checklist')} or {option('figures')}"
            )
        for name in self.figures:
            if name not in FIGURE_FORMATS:
                raise KonsilError(
                    f"{option('figures')}: {name!r} is not a format of figures; expected some of"
                    f" {', '.join(FIGURE_FORMATS)}"
                )
        self.width_mm()

    def letters(self) -> float:
        """Points of the smallest letters of figure files: a width scales the whole figure.

        >>> round(ReportRequest(width="single").letters(), 1)
        3.9
        """
        return _SMALLEST * (self.width_mm() or _OWN_WIDTH) / _OWN_WIDTH

    def width_mm(self) -> float | None:
        """The width of figure files in millimetres; None: that of the report.

        >>> ReportRequest(width="single").width_mm(), ReportRequest(width="120").width_mm()
        (89.0, 120.0)
        """
        if not self.width:
            return None
        if self.width in WIDTHS:
            return WIDTHS[self.width]
        try:
            width = float(self.width)
        except ValueError:
            width = 0.0
        if not _NARROWEST <= width <= _WIDEST:
            raise KonsilError(
                f"{option('width')}: {self.width!r} is not a width; expected single, double or"
                f" millimetres from {_NARROWEST:g} to {_WIDEST:g}"
            )
        return width
