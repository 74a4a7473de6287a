"""Figures: what they show, that they are whole and the same every time."""

from __future__ import annotations

import math
import re
import xml.etree.ElementTree as ET

import matplotlib
import pytest

from konsil.report.figures import drawing
from konsil.report.figures.figures import distribution, forest, heat_map
from konsil.report.figures.svg_primitives import (
    About,
    Bar,
    Dot,
    ValueAxis,
    letters_on,
    palette,
    span,
)
from konsil.report.material.language import language
from konsil.report.material.tables import Numbers

NAN = math.nan
ABOUT = About("key", "A <title>", "What it shows & more", "The caption.", "Simulated ratings.")
DOTS = (
    Dot("one", 0.5, 0.4, 0.6, "0.500 [0.400, 0.600]", "group"),
    Dot("two", NAN, NAN, NAN, "undefined", "group"),
)


def words(drawn: drawing.Drawing) -> list[str]:
    root = ET.fromstring(drawn.svg)
    return ["".join(e.itertext()).strip() for e in root.iter("{http://www.w3.org/2000/svg}text")]


def luminance(colour: str) -> float:
    parts = [int(colour[n : n + 2], 16) / 255 for n in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return sum(w * c for w, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def test_forest() -> None:
    drawn = forest(
        ABOUT,
        DOTS,
        Numbers(),
        axis=ValueAxis("alpha", reference=0.0),
        heading="Estimate",
        mark="true value",
    )
    shown = words(drawn)
    for word in (
        "one",
        "two",
        "group",
        "0.500 [0.400, 0.600]",
        "undefined",
        "alpha",
        "Estimate",
        "Simulated ratings.",
    ):
        assert word in shown, word
    assert "true value" not in shown
    assert '<title id="key-title">A &lt;title&gt;</title>' in drawn.inline
    assert 'aria-labelledby="key-title key-desc"' in drawn.inline
    assert "var(--accent)" in drawn.inline
    assert "var(" not in drawn.svg.decode()
    assert "DejaVu" not in drawn.inline


def test_recovery_shows_the_truth() -> None:
    dots = [Dot("one", 0.5, 0.4, 0.6, "0.5", mark=0.55)]
    shown = words(
        forest(
            ABOUT, dots, Numbers(), axis=ValueAxis("value"), heading="Estimate", mark="true value"
        )
    )
    assert "true value" in shown


def test_distribution() -> None:
    labels = ("yes", "no", "cannot tell")
    bars = (Bar("a", (50, 45, 5)), Bar("b", (0, 0, 0)), Bar("c", (12345, 0, 0)))
    drawn = distribution(
        ABOUT,
        labels,
        bars,
        Numbers(language("de")),
        ordered=False,
        abstain="cannot tell",
        axis="Anteil",
        total="n",
    )
    shown = words(drawn)
    for word in (*labels, "50", "45", "100", "0", "12\u202f345", "Anteil"):
        assert word in shown, word
    assert "5" not in shown
    assert "key-" in re.findall(r"url\(#([^)]*)\)", drawn.inline)[0]


@pytest.mark.slow
def test_heat_map() -> None:
    values = {("a", "b"): 0.5, ("a", "c"): NAN, ("c", "b"): 0.9}
    shown = words(heat_map(ABOUT, ("a", "b", "c"), values, Numbers(), axis="kappa"))
    assert shown.count("0.50") == 3  # both cells and the scale's end
    assert shown.count("–") == 2
    assert (
        len(
            words(
                heat_map(ABOUT, tuple(f"rater {n}" for n in range(40)), {}, Numbers(), axis="kappa")
            )
        )
        > 80
    )


@pytest.mark.slow
def test_same_bytes_and_no_dates(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(drawing.STYLE, "pdf.fonttype", 42)
    with drawing.retained():
        one, two = (
            forest(ABOUT, DOTS, Numbers(), axis=ValueAxis("alpha"), heading="Estimate")
            for _ in range(2)
        )
    assert one == two
    assert (one.svg, one.pdf) == (two.svg, two.pdf)
    assert one.pdf.startswith(b"%PDF")
    # TrueType of the slim copy: some journals refuse Type 3.
    assert b"/CIDFontType2" in one.pdf or b"/TrueType" in one.pdf
    assert b"KonsilSans" in one.pdf
    assert not re.search(rb"CreationDate|\b20[2-9]\d-", one.pdf)
    assert b"metadata" not in one.svg


def test_a_pdf_is_drawn_of_retained_figures_alone() -> None:
    drawn = forest(ABOUT, DOTS, Numbers(), axis=ValueAxis("alpha"), heading="Estimate")
    with pytest.raises(ValueError, match="key: the figure is not retained"):
        _ = drawn.pdf


def test_settings_of_matplotlib_are_left_alone() -> None:
    before = dict(matplotlib.rcParams)
    forest(ABOUT, DOTS, Numbers(), axis=ValueAxis("alpha"), heading="Estimate")
    assert dict(matplotlib.rcParams) == before


@pytest.mark.parametrize("n", [2, 3, 5, 7])
def test_ordered_labels_go_from_light_to_dark(n: int) -> None:
    colours, hatches = palette(
        [str(i) for i in range(n)] + ["abstain"], ordered=True, abstain="abstain"
    )
    levels = [luminance(c) for c in colours[:-1]]
    assert levels == sorted(levels, reverse=True)
    assert len(set(levels)) == n
    assert hatches[-1]
    assert not any(hatches[:-1])


def test_unordered_labels_differ_in_grey() -> None:
    colours, hatches = palette([str(i) for i in range(8)], ordered=False, abstain=None)
    for n in range(7):
        one, other = luminance(colours[n]), luminance(colours[n + 1])
        contrast = (max(one, other) + 0.05) / (min(one, other) + 0.05)
        assert contrast > 1.5 or hatches[n] != hatches[n + 1]


@pytest.mark.parametrize("ordered", [True, False])
def test_letters_have_contrast(ordered: bool) -> None:
    for n in (2, 5, 8):
        for colour in palette([str(i) for i in range(n)], ordered=ordered, abstain=None)[0]:
            one, other = luminance(colour), luminance(letters_on(colour))
            assert (max(one, other) + 0.05) / (min(one, other) + 0.05) >= 4.5, colour


def test_span() -> None:
    low, high = span([0.2, NAN, 0.8, math.inf], None)
    assert low < 0.2 < 0.8 < high
    assert span([0.2, 0.8], 0.0)[0] < 0
    assert span([NAN], None) == (0.0, 1.0)
    assert span([0.5], None)[0] < 0.5 < span([0.5], None)[1]
