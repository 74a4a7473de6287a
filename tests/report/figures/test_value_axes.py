"""How a statistic looks: its unit, its whole scale, named lines, direction, order and colours."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from importlib.resources import files

import pytest
from tests.analyses import flat_analysis
from tests.report.figures.test_figures import ABOUT, luminance, words

from konsil.analysis import Analysis, Results, Row
from konsil.instrument import Criterion, Instrument, Scale
from konsil.records import Answer, Item, Rater, Rating, System
from konsil.report.figures.drawing import SYSTEM_COLOURS
from konsil.report.figures.figures import forest
from konsil.report.figures.svg_primitives import Dot, ValueAxis
from konsil.report.figures.value_axes import (
    ALIKE,
    by_estimate,
    figure_numbers,
    system_colours,
    value_axis,
    with_raw,
)
from konsil.report.material.language import language
from konsil.report.material.overview import Material
from konsil.report.material.table_rows import Joined
from konsil.report.material.tables import Numbers
from konsil.stats.engine.contract import Estimate
from konsil.study import Study

EN = Numbers(language("en"))
SYSTEMS = ("a", "b", "c")
CORRECT = Criterion("correct", "Correct?", Scale(("no", "yes")))
SCORE = Criterion("score", "How good?", Scale(("1", "2", "3"), level="ordinal", values=(1, 2, 3)))
SHARE = flat_analysis("s", "share", "correct", "experts", by=("system",), of=("yes",))
MEAN = flat_analysis("m", "mean", "score", "experts", by=("system",))


def material(*analyses: Analysis, **more: object) -> Material:
    form = Instrument("form", (CORRECT, SCORE))
    study = Study(
        "t",
        1,
        systems=tuple(System(s) for s in SYSTEMS),
        instruments=(form,),
        analyses=analyses,
    )
    empty = Material(
        study=study,
        results=Results((), ()),
        items=(),
        answers=(),
        raters=(),
        ratings=(),
        language=language("en"),
        numbers=EN,
    )
    return replace(empty, **more)  # type: ignore[arg-type]


def row(value: float, spec: Analysis = SHARE, **group: str) -> Row:
    e = Estimate(value, value - 0.1, value + 0.1, n_clusters=2)
    return Row(
        spec.name, spec.statistic, spec.criterion, spec.raters, e, group, n_raters=2, n_units=4
    )


def difference(first: str, second: str, spec: Analysis = SHARE) -> Joined:
    return Joined(
        replace(row(0.1, spec, system=first), kind="difference", versus={"system": second})
    )


def dots(lines: list[Joined]) -> list[Dot]:
    return [Dot("", x.row.estimate.value, 0.5, 0.9, "") for x in lines]


def test_a_proportion_is_in_per_cent_on_its_whole_scale_and_names_the_outcome() -> None:
    lines = [Joined(row(0.7, system="a")), Joined(row(0.8, system="b"))]
    axis = value_axis(material(SHARE), "share", lines, spec=SHARE, dots=dots(lines))
    assert axis.title == "Rated “yes”: correct (%)"
    assert axis.limits == (-0.02, 1.02)
    text_of, heading = figure_numbers(material(SHARE), "share", lines)
    assert text_of(lines[0].row.estimate) == "70.0 [60.0, 80.0]"
    assert heading == "% [95% CI]"
    drawn = words(forest(ABOUT, dots(lines), EN, axis=axis, heading=heading))
    assert {"0", "25", "50", "75", "100"} <= set(drawn)


def test_differences_of_proportions_are_in_points_and_say_whom_each_side_favours() -> None:
    accuracy = Analysis("acc", "accuracy", "correct", "experts", by=("system",))
    mismatch = replace(accuracy, statistic="mismatch")
    axes = {
        spec.statistic: value_axis(
            material(spec), spec.statistic, [difference("a", "b", spec)], spec=spec
        )
        for spec in (SHARE, accuracy, mismatch)
    }
    sides = {
        k: (a.direction.lower_side, a.direction.higher_side) for k, a in axes.items() if a.direction
    }
    assert sides == {
        "share": ("higher for b", "higher for a"),
        "accuracy": ("favours b", "favours a"),
        "mismatch": ("favours a", "favours b"),
    }
    assert axes["accuracy"].title == "Difference in Accuracy: correct (percentage points)"
    assert axes["share"].reference_name == "no difference"
    several = value_axis(material(SHARE), "share", [difference("a", "b"), difference("a", "c")])
    assert several.direction is not None
    assert several.direction.lower_side == "higher for the second group"
    assert several.direction.higher_side == "higher for a"


@pytest.mark.parametrize(
    ("statistic", "name"),
    [
        ("abstention_slope", "no association"),
        ("preference_correlation", "no association"),
        ("spearman", "no association"),
        ("cohen_kappa", "chance"),
        ("self_preference", "no preference"),
        ("information_sensitivity", "no change"),
        ("davidson", "mean of the systems"),
        ("crossover", "no reversal"),
        ("win_difference", "no difference"),
        ("mean", ""),
    ],
)
def test_the_line_of_zero_has_the_name_of_what_zero_means(statistic: str, name: str) -> None:
    spec = Analysis("a", statistic, "correct", "judges", by=("rater",))
    axis = value_axis(material(spec), statistic, [Joined(row(0.5, spec, rater="j"))], spec=spec)
    assert axis.reference_name == name


def test_rows_of_systems_are_ordered_by_estimate_and_those_of_levels_are_not() -> None:
    values = (0.5, math.nan, 0.9)
    lines = [Joined(row(v, system=s)) for v, s in zip(values, SYSTEMS, strict=True)]
    assert [x.row.group["system"] for x in by_estimate(lines)] == ["c", "a", "b"]
    levels = [Joined(row(v, level=k)) for v, k in ((0.1, "low"), (0.9, "high"))]
    assert by_estimate(levels) == levels
    both = [Joined(row(v, system="a", level=k)) for v, k in ((0.1, "low"), (0.9, "high"))]
    assert by_estimate(both) == both


@pytest.mark.parametrize(("apart", "is_line"), [(0.0, True), (ALIKE, True), (3 * ALIKE, False)])
def test_a_ceiling_that_all_rows_share_is_a_line_with_a_band(apart: float, is_line: bool) -> None:
    kappa = Analysis("k", "cohen_kappa", "correct", "judges", by=("rater",))
    lines = [
        Joined(
            row(0.5, kappa, rater=f"judge {n}"),
            benchmark=replace(row(0.75 + n * apart, kappa, rater="people"), n_units=10 + n),
        )
        for n in range(2)
    ]
    axis = value_axis(material(kappa), "cohen_kappa", lines, spec=kappa)
    assert (axis.benchmark is not None) is is_line
    if axis.benchmark is not None:
        assert axis.benchmark.name == "people"
        assert axis.benchmark.value == pytest.approx(0.75 + apart)  # that on most units
        assert axis.benchmark.is_exact is (apart == 0)
    alone = value_axis(
        material(kappa), "cohen_kappa", [lines[0], Joined(row(0.4, kappa, rater="z"))]
    )
    assert alone.benchmark is None


def test_only_an_axis_that_begins_after_its_scale_has_the_mark_of_a_cut() -> None:
    def strokes(axis: ValueAxis) -> int:
        return forest(ABOUT, [Dot("x", 2.0, 1.8, 2.2, "")], EN, axis=axis, heading="h").svg.count(
            b"<use"
        )

    cut = ValueAxis("t", limits=(1.5, 2.5), origin=1.0)
    assert strokes(cut) > strokes(replace(cut, origin=1.5)) == strokes(replace(cut, origin=None))
    lines = [Joined(row(2.0, MEAN, system="a"))]
    assert value_axis(material(MEAN), "mean", lines, spec=MEAN).origin == 1.0


@pytest.mark.parametrize("statistic", ["mean", "median"])
def test_a_scale_of_labels_is_drawn_from_its_lowest_to_its_highest_label(statistic: str) -> None:
    spec = MEAN.with_statistic(statistic)
    lines = [Joined(row(2.0, spec, system="a"))]
    dots = [Dot("a", 2.0, 1.9, 2.1, "")]
    axis = value_axis(material(spec), statistic, lines, spec=spec, dots=dots)
    numbers = material(spec).criteria()["score"].scale.numbers()
    assert axis.limits is not None and axis.origin is not None
    assert axis.limits[0] <= axis.origin == min(numbers)
    assert max(numbers) <= axis.limits[1] < max(numbers) + 0.1 * (max(numbers) - min(numbers))
    differences = [Joined(replace(lines[0].row, kind="difference", versus={"system": "b"}))]
    cut = value_axis(material(spec), statistic, differences, spec=spec, dots=dots).limits
    assert cut is not None and cut[1] < max(numbers)


def test_every_system_has_one_colour_with_contrast_in_both_modes() -> None:
    answers = (Answer("1", "i", "c", "x"), Answer("2", "i", "imported", "x"))
    colours = system_colours(material(answers=answers))
    assert list(colours) == ["c", "imported", "a", "b"]
    assert len(set(colours.values())) == 4
    css = files("konsil.report").joinpath("templates/style.css").read_text("utf-8")
    light, dark = css.split("prefers-color-scheme: dark")[:2]
    for part, paper in ((light, "#fefefe"), (dark[: dark.index("}")], "#14181d")):
        own = dict(re.findall(r"--system-(\d): (#[0-9a-f]{6})", part))
        assert len(set(own.values())) == len(SYSTEM_COLOURS)
        for colour in own.values():
            low, high = sorted((luminance(colour), luminance(paper)))
            assert (high + 0.05) / (low + 0.05) > 4.5, colour
        if paper == "#fefefe":
            assert tuple(own.values()) == SYSTEM_COLOURS


def test_few_items_are_drawn_themselves_where_they_make_up_the_estimate() -> None:
    records = {
        "items": (Item("i", "q"), Item("j", "q")),
        "answers": (Answer("1", "i", "a", "x"), Answer("2", "j", "a", "x")),
        "raters": (Rater("r", "experts"), Rater("s", "experts"), Rater("t", "others")),
        "ratings": tuple(
            Rating(f"{rater}{answer}", rater, "correct", item, (answer,), label=label)
            for rater, answer, item, label in (
                ("r", "1", "i", "yes"),
                ("s", "1", "i", "yes"),
                ("r", "2", "j", "yes"),
                ("s", "2", "j", "no"),
                ("t", "1", "i", "no"),
            )
        ),
    }
    made = material(SHARE, **records)
    blank = [Dot("a", 0.75, 0.6, 0.9, "")]
    assert with_raw(made, SHARE, blank, [row(0.75, system="a")])[0].raw == (1.0, 0.5)
    other = with_raw(made, SHARE, blank, [row(0.7, system="a")])
    assert other[0].raw == (), "some ratings are not in the estimate"
    lone = replace(row(0.75, system="a"), n_raters=1)
    assert with_raw(made, SHARE, blank, [lone])[0].raw == (), "one rater's labels are not shown"
