"""The figures' font: the sizes of texts in it, and the subset for files that embed it.

The subset is reduced to the characters that figures use, and is made in a third of the time. Its
letters have the widths of the whole font, in which figures are laid out, so that nothing moves.
"""

from __future__ import annotations

import atexit
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache, lru_cache
from pathlib import Path

import matplotlib
from matplotlib import font_manager
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import TextToPath, text_to_path

FAMILY = "Konsil Sans"
"""The slim copy's name; a changed font has a name of its own, as the licence of DejaVu asks."""

WHOLE = "DejaVu Sans"
"""The font that matplotlib brings: of the layout, and for characters that the copy lacks."""

_SIGNS = (
    (0x20, 0x24F),
    (0x370, 0x52F),
    (0x2000, 0x206F),
    (0x20A0, 0x20BF),
    (0x2100, 0x22FF),
    (0x2500, 0x25FF),
)
"""Latin, Greek and Cyrillic letters, punctuation, currencies, arrows, operators and shapes."""

_LAYOUT = ["GSUB", "GPOS", "GDEF", "MATH", "FFTM", "JSTF"]


def text_size(text: str, font: FontProperties) -> tuple[float, float, float]:
    """Width, height and descent of a line of text, in points, to the bit as matplotlib has them.

    To measure is a tenth of the work of drawing a figure, and figures of one report have most of
    their texts in common: so texts are measured once a process.

    >>> small, large = (FontProperties(family=WHOLE, size=size) for size in (8, 16))
    >>> text_size("item", large)[0] / text_size("item", small)[0]
    2.0
    """
    at_scale = font.copy()
    at_scale.set_size(TextToPath.FONT_SCALE)
    width, height, descent = _size(text, at_scale)
    scale = font.get_size_in_points() / TextToPath.FONT_SCALE
    return width * scale, height * scale, descent * scale


@lru_cache(maxsize=20_000)
def _size(text: str, font: FontProperties) -> tuple[float, float, float]:
    """The size in the size at which matplotlib measures."""
    width, height, descent = text_to_path.get_text_width_height_descent(text, font, ismath=False)
    return float(width), float(height), float(descent)


@contextmanager
def embedded_font() -> Iterator[None]:
    """Figures that are drawn within embed subsets of the slim copy."""
    with matplotlib.rc_context({"font.sans-serif": list(families())}):
        yield


@cache
def families() -> tuple[str, ...]:
    """The families to draw in, the slim copy first.

    It is made once a process, in a folder that goes with it.
    """
    folder = _folder()
    for name in ("DejaVuSans.ttf", "DejaVuSans-Bold.ttf"):
        font_manager.fontManager.addfont(
            _slim(Path(matplotlib.get_data_path()) / "fonts" / "ttf" / name, folder)
        )
    return (FAMILY, WHOLE)


@cache
def _folder() -> tempfile.TemporaryDirectory[str]:
    folder = tempfile.TemporaryDirectory(prefix="konsil-")
    atexit.register(folder.cleanup)
    return folder


def _slim(full_font: Path, folder: tempfile.TemporaryDirectory[str]) -> Path:
    # Only where a file with the font is asked for.
    from fontTools import subset

    options = subset.Options(
        glyph_names=True,
        recommended_glyphs=True,
        notdef_outline=True,
        layout_features=[],
        # Matplotlib moves letters by this table, and texts are as wide as in the layout.
        legacy_kern=True,
    )
    options.drop_tables = [*options.drop_tables, *_LAYOUT]
    slim = Path(folder.name) / full_font.name
    with subset.load_font(str(full_font), options) as font:
        chosen = subset.Subsetter(options)
        chosen.populate(
            unicodes=[sign for first, last in _SIGNS for sign in range(first, last + 1)]
        )
        chosen.subset(font)
        for record in font["name"].names:
            record.string = record.toUnicode().replace("DejaVu", "Konsil")
        subset.save_font(font, str(slim), options)
    return slim
