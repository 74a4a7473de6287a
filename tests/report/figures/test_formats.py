"""Figure files for print: their sizes, their resolution, the same bytes, the same drawing."""

from __future__ import annotations

import io
import re

import matplotlib
import pytest
from matplotlib.figure import Figure
from PIL import Image

from konsil.errors import KonsilError
from konsil.report.figures.drawing import Drawing, finish, style
from konsil.report.figures.formats import FORMATS, FigureFormats, figure_formats, svg
from konsil.report.manuscript.request import ReportRequest


def drawn(formats: FigureFormats | None) -> Drawing:
    with figure_formats(formats), style():
        figure = Figure(figsize=(6.7, 2.0))
        axes = figure.add_axes((0.1, 0.3, 0.8, 0.6))
        axes.plot([1, 2], [3, 4])
        axes.set_xlabel("Übereinstimmung ≥ 0,8")
        return finish(figure, "key", "title", "description", "caption")


@pytest.mark.parametrize("width", [None, 89.0, 183.0])
def test_every_format_has_the_width_and_the_resolution_asked_for(width: float | None) -> None:
    files = drawn(FigureFormats(FORMATS, 200, width)).others
    assert set(files) == set(FORMATS)
    inches = 6.7 if width is None else width / 25.4
    for form in ("png", "tiff"):
        picture = Image.open(io.BytesIO(files[form]))
        assert abs(picture.width - inches * 200) <= 1
        assert picture.info["dpi"] == pytest.approx((200, 200), abs=0.1)
    pdf = re.search(rb"/MediaBox \[ ?0 0 ([\d.]+) ([\d.]+)", files["pdf"])
    assert pdf is not None
    assert float(pdf[1]) == pytest.approx(inches * 72, abs=0.01)
    assert float(pdf[2]) == pytest.approx(inches * 72 * 2 / 6.7, abs=0.01)
    box = re.search(rb"%%HiResBoundingBox: 0[.0]* 0[.0]* ([\d.]+) ([\d.]+)", files["eps"])
    assert box is not None
    assert float(box[1]) == pytest.approx(inches * 72, abs=0.01)
    scale = re.search(rb"([\d.]+) dup scale", files["eps"])
    assert (scale is None) == (width is None)
    assert scale is None or float(scale[1]) == pytest.approx(inches / 6.7, abs=1e-5)
    svg = re.search(rb'<svg [^>]*viewBox="([^"]+)" width="([\d.]+)pt"', files["svg"])
    assert svg is not None
    assert svg[1] == b"0 0 482.4 144", "the drawing itself is the same"
    assert float(svg[2]) == pytest.approx(inches * 72, abs=0.01)


def test_the_same_figure_gives_the_same_bytes_without_dates() -> None:
    formats = FigureFormats(FORMATS, 100, 89.0)
    first, second = drawn(formats).others, drawn(formats).others
    assert first == second
    assert b"CreationDate" not in b"".join(first.values())
    assert b"Software" not in first["png"]


def test_the_reports_own_files_do_not_change() -> None:
    plain, more = drawn(None), drawn(FigureFormats(FORMATS, 100, 89.0))
    assert (plain.svg, plain.inline) == (more.svg, more.inline)
    assert plain.others == {}


def test_paper_is_white_where_a_format_has_no_transparency() -> None:
    files = drawn(FigureFormats(("png", "tiff"), 50)).others
    for data in files.values():
        assert Image.open(io.BytesIO(data)).convert("RGBA").getpixel((0, 0)) == (255, 255, 255, 255)


@pytest.mark.parametrize(
    ("option", "value", "words"),
    [
        ("figures", ("gif",), "'gif' is not a format of figures; expected some of png, tiff"),
        ("width", "wide", "'wide' is not a width; expected single, double or millimetres"),
        ("width", "3", "'3' is not a width"),
        ("width", "nan", "'nan' is not a width"),
    ],
)
def test_what_cannot_be_written_is_refused_before_anything_is_computed(
    option: str, value: object, words: str
) -> None:
    with pytest.raises(KonsilError, match=re.escape(words)) as refused:
        ReportRequest(**{option: value})  # type: ignore[arg-type]
    assert str(refused.value).startswith(f"{option}: ")


def test_transparent_marks_are_pale_in_eps_and_stay_as_they_are(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Kills: a band in its full colour, colours that stay mixed in the files that follow."""
    with figure_formats(FigureFormats(("eps",))), style():
        figure = Figure(figsize=(2.0, 2.0))
        axes = figure.add_axes((0.1, 0.1, 0.8, 0.8))
        band = axes.axvspan(1, 2, color=(0.0, 0.0, 0.0), alpha=0.25, linewidth=0)
        hollow = axes.scatter([1], [1], facecolors="none", edgecolors="black", alpha=0.5)
        (line,) = axes.plot([1, 2], [1, 2], color="black", alpha=0.5)
        files = finish(figure, "key", "title", "description", "caption").others
    assert b"0.75 setgray" in files["eps"] or b"0.75 0.75 0.75 setrgbcolor" in files["eps"]
    assert b"0.5 setgray" in files["eps"] or b"0.5 0.5 0.5 setrgbcolor" in files["eps"]
    assert not caplog.records
    assert [mark.get_alpha() for mark in (band, hollow, line)] == [0.25, 0.5, 0.5]
    assert band.get_facecolor() == (0.0, 0.0, 0.0, 0.25)
    assert line.get_color() == "black"


def test_the_svg_is_what_savefig_writes_to_the_byte() -> None:
    with style():
        matplotlib.rcParams["svg.hashsalt"] = "salt"
        figure = Figure(figsize=(6.7, 2.0))
        axes = figure.add_axes((0.1, 0.3, 0.8, 0.6))
        axes.bar([1, 2], [3, 4], hatch="//", label="Übereinstimmung")
        axes.set_xlabel("κ, two lines\nand more", fontweight="bold")
        figure.legend()
        data = io.BytesIO()
        metadata = dict.fromkeys(("Date", "Creator", "Format", "Type"))
        figure.savefig(data, format="svg", metadata=metadata)
        assert svg(figure) == data.getvalue().decode("utf-8")
