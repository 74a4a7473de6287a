"""Figures in other formats and widths: what journals ask for, from the figure that is drawn anyway.

The layout of a figure is that of the report. Another width scales all of it, letters included, so
that nothing overlaps that did not before.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from matplotlib.backends.backend_svg import RendererSVG
from matplotlib.colors import to_rgba_array
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties

from konsil.report.figures.typeface import embedded_font, text_size

RASTER = ("png", "tiff")
"""Formats of dots."""
FORMATS = (*RASTER, "eps", "pdf", "svg")
"""All formats of figure files."""
MM = 25.4
"""Millimetres of an inch."""
_WHITE = "#ffffff"
# Matplotlib states no types of it.
_SVG: Any = RendererSVG


@dataclass(frozen=True)
class FigureFormats:
    """The files that every figure is also written to."""

    formats: tuple[str, ...]
    """Some of FORMATS."""
    dpi: int = 300
    """Dots of an inch, of PNG and TIFF."""
    width: float | None = None
    """The width in millimetres; None: that of the report's figures."""

    def scale(self, figure: Figure) -> float:
        """How much larger than the drawn figure the files are."""
        return 1.0 if self.width is None else self.width / MM / float(figure.get_figwidth())


_REQUESTED: ContextVar[FigureFormats | None] = ContextVar("requested", default=None)


@contextmanager
def figure_formats(formats: FigureFormats | None) -> Iterator[None]:
    """Figures that are drawn within have these formats, too."""
    token = _REQUESTED.set(formats)
    try:
        yield
    finally:
        _REQUESTED.reset(token)


def other_formats(figure: Figure) -> Mapping[str, bytes]:
    """Format -> file, of the formats that are asked for; SVG is made from the report's own."""
    requested = _REQUESTED.get()
    if requested is None:
        return {}
    scale, dpi = requested.scale(figure), requested.dpi
    writers: dict[str, Callable[[], bytes]] = {
        "png": lambda: _raster(figure, "png", dpi, scale),
        "tiff": lambda: _raster(figure, "tiff", dpi, scale),
        "eps": lambda: _eps(figure, scale),
        "pdf": lambda: pdf(figure, scale),
    }
    return {name: write() for name, write in writers.items() if name in requested.formats}


def other_svg(svg: str, figure: Figure) -> Mapping[str, bytes]:
    """The SVG file in the width that is asked for; nothing where none is."""
    requested = _REQUESTED.get()
    if requested is None or "svg" not in requested.formats:
        return {}
    scale = requested.scale(figure)

    def resized(side: re.Match[str]) -> str:
        return f'{side[1]}="{float(side[2]) * scale:.3f}pt"'

    opening, end, rest = svg.partition(">")
    opening = re.sub(r'\b(width|height)="([\d.]+)pt"', resized, opening)
    return {"svg": ('<?xml version="1.0" encoding="UTF-8"?>\n' + opening + end + rest).encode()}


def _raster(figure: Figure, form: str, dpi: int, scale: float) -> bytes:
    """Dots on white paper; the file states its resolution, and no date and no program."""
    more: dict[str, Any] = {"dpi": (dpi, dpi)}
    if form == "tiff":
        more |= {"compression": "tiff_lzw"}
    data = io.BytesIO()
    metadata: dict[str, Any] = {"metadata": {"Software": None}} if form == "png" else {}
    figure.savefig(
        data, format=form, dpi=dpi * scale, facecolor=_WHITE, pil_kwargs=more, **metadata
    )
    return data.getvalue()


def _eps(figure: Figure, scale: float) -> bytes:
    """Encapsulated PostScript without a date; it knows no transparency."""
    data = io.StringIO()
    with _opaque(figure), embedded_font():
        figure.savefig(data, format="eps", facecolor=_WHITE)
    text = re.sub(r"^%%CreationDate: .*\n", "", data.getvalue(), flags=re.MULTILINE)
    if scale == 1:
        return text.encode("latin-1")

    def resized(side: re.Match[str]) -> str:
        return f"{side[1]} " + " ".join(f"{float(n) * scale:.6g}" for n in side[2].split())

    text = re.sub(r"^(%%HiResBoundingBox:) (.*)$", resized, text, flags=re.MULTILINE)
    box = re.search(r"^%%HiResBoundingBox: (.*)$", text, flags=re.MULTILINE)
    if box is not None:
        sides = [float(n) for n in box[1].split()]
        points = [int(sides[0]), int(sides[1]), -int(-sides[2] // 1), -int(-sides[3] // 1)]
        line = "%%BoundingBox: " + " ".join(map(str, points))
        text = re.sub(r"^%%BoundingBox: .*$", line, text, count=1, flags=re.MULTILINE)
    begin = "%%EndPageSetup\n" if "%%EndPageSetup\n" in text else "mpldict begin\n"
    head, begin, drawing = text.partition(begin)
    return f"{head}{begin}{scale:.6f} dup scale\n{drawing}".encode("latin-1")


@contextmanager
def _opaque(figure: Figure) -> Iterator[None]:
    """Transparent marks have their colour on white paper; afterwards they are as before.

    PostScript would draw them in their full colour, a band as dark as the line within it.
    """
    before: list[tuple[Any, float, dict[str, Any]]] = []
    for mark in figure.findobj(lambda artist: artist.get_alpha() not in (None, 1)):
        alpha = mark.get_alpha() or 0.0
        colours = {name: getattr(mark, f"get_{name}")() for name in _COLOURS if _has(mark, name)}
        before.append((mark, alpha, colours))
        mark.set_alpha(None)
        for name, colour in colours.items():
            getattr(mark, f"set_{name}")(_on_white(colour, alpha))
    try:
        yield
    finally:
        for mark, alpha, colours in before:
            for name, colour in colours.items():
                getattr(mark, f"set_{name}")(colour)
            mark.set_alpha(alpha)


_COLOURS = ("facecolor", "edgecolor", "color")


def _has(mark: Any, name: str) -> bool:  # noqa: ANN401 - any artist
    """Whether a mark states a colour of this kind."""
    return hasattr(mark, f"get_{name}") and len(to_rgba_array(getattr(mark, f"get_{name}")())) > 0


def _on_white(colours: Any, alpha: float) -> Any:  # noqa: ANN401 - one colour or many
    """Colours without transparency, as they look over white."""
    mixed = to_rgba_array(colours, alpha)
    mixed[:, :3] = mixed[:, :3] * alpha + (1 - alpha)
    mixed[:, 3] = 1
    return mixed if len(mixed) > 1 else mixed[0]


class _Renderer(_SVG):  # type: ignore[misc]
    """Matplotlib's own, without measuring the same text again in every figure."""

    def get_text_width_height_descent(
        self, s: str, prop: FontProperties, ismath: bool | str
    ) -> tuple[float, float, float]:
        """Width, height and descent of a text, in points."""
        if ismath:
            measured: tuple[float, float, float] = super().get_text_width_height_descent(
                s, prop, ismath
            )
            return measured
        return text_size(s, prop)


def svg(figure: Figure) -> str:
    """The SVG that `savefig` writes, without a date; every element is drawn as what it is.

    Only what is needed is done of what `savefig` does: no layout engine and no part as dots.
    """
    data = io.StringIO()
    width, height = (float(side) * 72 for side in figure.get_size_inches())
    dpi = figure.dpi
    try:
        figure.dpi = 72
        metadata = dict.fromkeys(("Date", "Creator", "Format", "Type"))
        renderer = _Renderer(width, height, data, image_dpi=dpi, metadata=metadata)
        figure.draw(renderer)
        renderer.finalize()
    finally:
        figure.dpi = dpi
    return data.getvalue()


def pdf(figure: Figure, scale: float = 1.0) -> bytes:
    """A PDF without a date; another size of its page scales the same drawing by one matrix."""
    # With fontTools, which a report without PDFs need not load.
    from matplotlib.backends import backend_mixed, backend_pdf

    # Matplotlib states no types of these.
    mixed: Any = backend_mixed
    backend: Any = backend_pdf
    data = io.BytesIO()
    file = backend.PdfFile(data, metadata=dict.fromkeys(("CreationDate", "Creator", "Producer")))
    width, height = (float(side) for side in figure.get_size_inches())
    dpi = figure.dpi
    try:
        figure.dpi = 72
        file.newPage(width * scale, height * scale)
        file.output(scale, 0, 0, scale, 0, 0, backend.Op.concat_matrix)
        drawn_on = backend.RendererPdf(file, 300, height, width)
        renderer = mixed.MixedModeRenderer(figure, width, height, 300, drawn_on)
        with embedded_font():
            figure.draw(renderer)
        renderer.finalize()
        file.finalize()
    finally:
        figure.dpi = dpi
        file.close()
    return data.getvalue()
