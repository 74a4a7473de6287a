"""From a matplotlib figure to the same bytes every time: SVG for the page and as a file.

No state of pyplot is used and nothing of the machine gets in: no dates, no random identifiers, one
bundled font for the layout. Other formats are drawn where they are asked for: a PDF of every figure
would take a third of the time of a report.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

import matplotlib
from markupsafe import Markup, escape
from matplotlib.figure import Figure

from konsil.progress import count
from konsil.report.figures.formats import other_formats, other_svg, pdf, svg
from konsil.report.figures.typeface import WHOLE

INK = "#1b1f24"
MUTED = "#5b6570"
RULE = "#d3dae1"
PAPER = "#fefefe"
ACCENT = "#1d5f8a"
SYSTEM_COLOURS = (
    "#0072b2",
    "#b84a00",
    "#007a5c",
    "#a3457f",
    "#7a6200",
    "#3d4f9e",
    "#5e5e5e",
    "#00797f",
)
"""Of the systems, in their order; each has a contrast of at least 5 to 1 with paper, and so has its
counterpart in dark mode."""

# In the page these colours follow the reader's light or dark mode.
_THEMED = {
    INK: "var(--ink)",
    MUTED: "var(--muted)",
    RULE: "var(--rule)",
    PAPER: "var(--paper)",
    ACCENT: "var(--accent)",
    **{colour: f"var(--system-{n})" for n, colour in enumerate(SYSTEM_COLOURS, start=1)},
}
_FONTS = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"
STYLE: Any = {
    "font.family": "sans-serif",
    "font.size": 8.5,
    "text.color": INK,
    "text.parse_math": False,
    "axes.edgecolor": MUTED,
    "axes.labelcolor": INK,
    "axes.linewidth": 0.7,
    "axes.unicode_minus": True,
    # Where titles are anyway; else matplotlib measures all ticks of an axis to be above them.
    "axes.titley": 1.0,
    "xtick.color": MUTED,
    "xtick.labelcolor": INK,
    "ytick.color": MUTED,
    "ytick.labelcolor": INK,
    "hatch.linewidth": 0.6,
    "hatch.color": "#66707a",
    "svg.fonttype": "none",
    # TrueType: some journals refuse the faster Type 3.
    "pdf.fonttype": 42,
    "pdf.compression": 6,
    "figure.facecolor": "none",
    "axes.facecolor": "none",
    "savefig.facecolor": "none",
}
"""Settings of matplotlib that hold while the report draws, and only then."""


@dataclass(frozen=True)
class Drawing:
    """One figure of the report in all its forms."""

    key: str
    """The files' name without ending; unique in the report."""
    title: str
    """A short title, read out by screen readers."""
    description: str
    """What the figure shows, for those who do not see it."""
    caption: str
    """The caption under it."""
    inline: Markup
    """The SVG element for the page."""
    svg: bytes
    """The SVG file."""
    figure: Figure | None = field(default=None, compare=False, repr=False)
    """The figure as matplotlib has it, with axes to change; None unless drawn within `retained`."""

    others: Mapping[str, bytes] = field(default_factory=dict)
    """Format -> file, of the formats that were asked for."""

    @property
    def pdf(self) -> bytes:
        """The PDF file, drawn on demand; a ValueError unless the figure was drawn in `retained`."""
        if self.figure is None:
            msg = f"{self.key}: the figure is not retained; expected one drawn within retained()"
            raise ValueError(msg)
        with style():
            return pdf(self.figure)

    def _repr_html_(self) -> str:
        """What a notebook shows: the figure and its caption."""
        svg = self.svg.decode().partition("?>")[2]
        return f"<figure>{svg}<figcaption>{escape(self.caption)}</figcaption></figure>"


_IS_RETAINED: ContextVar[bool] = ContextVar("is_retained", default=False)


@contextmanager
def retained() -> Iterator[None]:
    """Drawings made within have their matplotlib figures, which a large report could not hold."""
    token = _IS_RETAINED.set(True)
    try:
        yield
    finally:
        _IS_RETAINED.reset(token)


@contextmanager
def style() -> Iterator[None]:
    """Draw in the report's style; matplotlib's settings are as before afterwards."""
    with (
        matplotlib.rc_context({**STYLE, "font.sans-serif": [WHOLE]}),
        warnings.catch_warnings(),
    ):
        # A character that the bundled font lacks is drawn as a box in the PDF; the page has
        # the system's fonts.
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        yield


def finish(figure: Figure, key: str, title: str, description: str, caption: str) -> Drawing:
    """Write the figure in all forms; to be called within `style()`."""
    count("figures")
    # Until `style()` ends: a context of its own would copy all settings once more.
    matplotlib.rcParams["svg.hashsalt"] = f"konsil {key}"
    text = _embeddable_svg(svg(figure), key, title, description)
    return Drawing(
        key=key,
        title=title,
        description=description,
        caption=caption,
        inline=Markup(_themed(text)),  # noqa: S704 - matplotlib escapes the texts that it draws
        svg=('<?xml version="1.0" encoding="UTF-8"?>\n' + text).encode(),
        figure=figure if _IS_RETAINED.get() else None,
        others={**other_formats(figure), **other_svg(text, figure)},
    )


def _embeddable_svg(svg: str, key: str, title: str, description: str) -> str:
    """The svg element alone, with identifiers of its own and a title and description."""
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>\s*", "", svg, flags=re.DOTALL)
    svg = re.sub(r"<defs>\s*<style.*?</style>\s*</defs>\s*", "", svg, flags=re.DOTALL)
    svg = re.sub(r"<!--.*?-->\s*", "", svg, flags=re.DOTALL)
    used = set(re.findall(r"url\(#([^)]+)\)", svg)) | set(re.findall(r'href="#([^"]+)"', svg))
    svg = re.sub(r' id="([^"]+)"', lambda m: f' id="{key}-{m[1]}"' if m[1] in used else "", svg)
    svg = re.sub(r"url\(#([^)]+)\)", rf"url(#{key}-\1)", svg)
    svg = re.sub(r'(?:xlink:)?href="#([^"]+)"', rf'href="#{key}-\1"', svg)
    svg = re.sub(r"<g>\s*</g>\s*", "", svg)
    size = re.search(r'viewBox="([^"]+)"', svg)
    box = size[1] if size else "0 0 480 320"
    width, height = box.split()[2:]
    opening = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{box}" width="{width}pt"'
        f' height="{height}pt" role="img" aria-labelledby="{key}-title {key}-desc"'
        f' font-family="{_FONTS}" stroke-linejoin="round" stroke-linecap="butt">\n<title'
        f' id="{key}-title">{escape(title)}</title>\n<desc'
        f' id="{key}-desc">{escape(description)}</desc>\n'
    )
    svg = opening + svg[svg.index(">") + 1 :].lstrip()
    return re.sub(rf"'{WHOLE}'(?:, [^;\"]*)?", _FONTS, svg)


def _themed(svg: str) -> str:
    svg = svg.replace(' xmlns="http://www.w3.org/2000/svg"', "", 1)
    for colour, variable in _THEMED.items():
        svg = svg.replace(colour, variable)
    return svg
