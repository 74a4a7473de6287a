"""A label that is a number is that number, in a study as in a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from statistics import fmean, stdev
from typing import Any, get_args

import polars as pl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.analyses import flat_analysis

import konsil
from konsil.analysis import Analysis, Exclusions, Resampling
from konsil.analysis.running.run import run
from konsil.analysis.running.run_settings import RunSettings
from konsil.analysis.table.frame import Data
from konsil.analysis.table.labels import counted_labels, reads_numbers
from konsil.errors import AnalysisError, KonsilError, StudyError
from konsil.instrument import Criterion, Instrument, PlacesScale, Scale, ScaleLevel, digest
from konsil.records import Answer, Item, Rater, Rating
from konsil.study import Study, check, parse
from konsil.study.sections.forms import same_forms

RATERS = ("r1", "r2", "r3")
NUMBERS = st.lists(
    st.one_of(st.integers(-30, 60), st.decimals(-9, 9, allow_nan=False, places=2)).map(float),
    min_size=2,
    max_size=4,
    unique=True,
).map(sorted)
WRITTEN = ("{:g}", "{:.4f}", "{:+g}", "{:e}")


def study_values(scale: Scale, table: Sequence[Sequence[str]], *names: str) -> list[float]:
    """The estimates of a study of these labels, (units, raters)."""
    form = Instrument("form", (Criterion("grade", "?", scale),))
    ratings = tuple(
        Rating(f"q{n}-{r}", r, "grade", f"q{n}", (f"a{n}",), label=label)
        for n, row in enumerate(table)
        for r, label in zip(RATERS, row, strict=True)
    )
    units = range(len(table))
    records = Data(
        tuple(Item(f"q{n}", "?") for n in units),
        tuple(Answer(f"a{n}", f"q{n}", "s") for n in units),
        tuple(Rater(r, "experts") for r in RATERS),
        (),
        ratings,
    )
    analyses = [flat_analysis(name, name, "grade") for name in names]
    found = run(
        analyses,
        records,
        RunSettings(
            instruments=[form], seed=1, resampling=Resampling(100), exclusions=Exclusions()
        ),
    )
    return [found.rows[[r.analysis for r in found.rows].index(n)].estimate.value for n in names]


@pytest.mark.slow
@settings(max_examples=15, deadline=None)
@given(numbers=NUMBERS, written=st.sampled_from(WRITTEN), data=st.data())
def test_both_doors_count_labels_that_are_numbers_as_these_numbers(
    numbers: list[float], written: str, data: st.DataObject
) -> None:
    labels = tuple(written.format(number) for number in numbers)
    assume([float(label) for label in labels] == numbers)
    places = data.draw(
        st.lists(
            st.lists(st.integers(0, len(labels) - 1), min_size=3, max_size=3),
            min_size=4,
            max_size=6,
        )
    )
    assume(len({n for row in places for n in row}) == len(labels))
    table = [[labels[n] for n in row] for row in places]
    names = ("krippendorff_alpha", "icc1", "icc2", "cohen_kappa_quadratic")
    frame = pl.DataFrame(dict(zip(RATERS, zip(*table, strict=True), strict=True)))
    result = konsil.agreement(
        frame, rater=RATERS, level="interval", labels=labels, statistics=names, resamples=100
    )
    of_table = [result[name].value for name in names]
    words = [[f"w{n}" for n in row] for row in places]
    valued = konsil.agreement(
        pl.DataFrame(dict(zip(RATERS, zip(*words, strict=True), strict=True))),
        rater=RATERS,
        level="interval",
        labels=[f"w{n}" for n in range(len(labels))],
        values=numbers,
        statistics=names,
        resamples=100,
    )
    assert [repr(valued[name].value) for name in names] == [repr(v) for v in of_table]
    given_numbers = [numbers[n] for row in places for n in row]
    by_values = Scale(tuple(f"w{n}" for n in range(len(labels))), "choice", "interval")
    for scale, cells in (
        (Scale(labels, "choice", "interval"), table),
        (replace(by_values, values=tuple(numbers)), words),
    ):
        *agreement, mean, deviation = study_values(
            scale, cells, *names, "mean", "standard_deviation"
        )
        assert [repr(v) for v in agreement] == [repr(v) for v in of_table]
        assert mean == pytest.approx(fmean(given_numbers), abs=1e-12)
        assert deviation == pytest.approx(stdev(given_numbers), abs=1e-9)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({}, "row 0, rater 'a': 'low' is not a number (and 3 more); level interval needs numbers"),
        ({"values": (1, 2)}, "values: has 2 numbers for 0 labels; expected as many as labels has"),
        ({"labels": ("low", "high"), "values": ("1", "x")}, "values: 'x' is not a number"),
        ({"labels": ("low", "high"), "values": (2, 1)}, "values 2,1: numbers must increase"),
        ({"labels": ("low", "high"), "values": (-1, 1), "level": "ratio"}, "-1 is below zero"),
    ],
)
def test_words_of_a_table_need_numbers_that_increase(
    options: dict[str, Any], sentence: str
) -> None:
    frame = pl.DataFrame({"a": ["low", "high"], "b": ["low", "high"]})
    with pytest.raises(KonsilError) as refusal:
        konsil.agreement(frame, **{"level": "interval", **options})
    assert sentence in str(refusal.value)


def test_declared_numbers_of_floats_keep_all_their_digits() -> None:
    frame = pl.DataFrame({"a": [1234567.5, 2.0], "b": [1234567.5, 2.0]})
    result = konsil.agreement(frame, level="interval", labels=[2.0, 1234567.5], resamples=100)
    assert tuple(result.labels) == ("2", "1234567.5")


def test_a_likert_form_has_the_mean_of_its_numbers_and_words_that_of_their_places() -> None:
    likert = Scale(("1", "2", "3", "4", "5"), level="ordinal")
    assert study_values(likert, [["1", "3", "5"], ["2", "3", "4"]], "mean") == [3]
    words = Scale(("Einfach", "Mittel", "Schwer"), level="ordinal")
    assert study_values(words, [["Einfach", "Mittel", "Schwer"]] * 2, "mean") == [1]


def test_ordinal_agreement_keeps_steps_and_every_intraclass_correlation_uses_numbers() -> None:
    table = [["1", "2", "10"], ["2", "2", "1"], ["10", "10", "2"], ["1", "1", "1"], ["2"] * 3]
    ordinal = Scale(("1", "2", "10"), level="ordinal")
    steps = ("cohen_kappa_quadratic", "krippendorff_alpha")
    places = PlacesScale(ordinal.labels, level="ordinal")
    assert study_values(ordinal, table, *steps) == study_values(places, table, *steps)
    for name in ("icc1", "icc1_incomplete"):
        interval = replace(ordinal, level="interval")
        assert study_values(ordinal, table, name) == study_values(interval, table, name)
        assert study_values(ordinal, table, name) != study_values(places, table, name)


@pytest.mark.parametrize(
    ("statistic", "level", "is_read"),
    [
        ("mean", "ordinal", True),
        ("icc1_incomplete", "ordinal", True),
        ("krippendorff_alpha", "ordinal", False),
        ("krippendorff_alpha", "interval", True),
        ("gwet_ac2", "ratio", True),
        ("cohen_kappa", "interval", False),
        ("spearman", "interval", False),
        ("share", "interval", False),
        ("reliability", "ordinal", True),
    ],
)
def test_which_analyses_depend_on_numbers(statistic: str, level: str, *, is_read: bool) -> None:
    assert reads_numbers(flat_analysis("a", statistic, "c"), level) is is_read


def collapsed(scale: Scale, statistic: str, **collapse: str) -> tuple[float, ...]:
    analysis: Analysis = flat_analysis("a", statistic, "c", collapse=collapse)
    return counted_labels(analysis, scale)[1]


def test_combined_labels_have_their_own_numbers_or_none() -> None:
    likert = Scale(("1", "2", "3"), level="interval")
    assert collapsed(likert, "mean", **{"2": "3"}) == (1, 3)
    assert collapsed(Scale(("a", "b", "c"), level="ordinal"), "mean", b="c") == (0, 1)
    valued = Scale(("a", "b", "c"), level="interval", values=(1, 5, 9))
    assert collapsed(valued, "mean", b="c") == (1, 9)
    assert collapsed(likert, "share", **{"1": "low", "2": "low"}) == (0, 1)
    with pytest.raises(AnalysisError, match="'low' have no numbers"):
        collapsed(likert, "mean", **{"1": "low", "2": "low"})
    with pytest.raises(AnalysisError, match="count as 2, 1, 3; expected"):
        collapsed(likert, "mean", **{"1": "2", "2": "1"})


STUDY = """
title = "t"
seed = 1
raters = [{ id = "r", panel = "p" }]
[[instruments]]
id = "form"
codebook = "A\\nB"
[[instruments.criteria]]
id = "c"
question = "?"
scale = { %s }
"""


def study(scale: str) -> Study:
    return parse(STUDY % scale, lambda _: "")


@pytest.mark.parametrize("level", get_args(ScaleLevel))
def test_words_have_no_distances(level: str) -> None:
    words = study(f'level = "{level}", labels = ["low", "5", "high"]')
    if level in {"nominal", "ordinal"}:
        check(words)
        return
    with pytest.raises(StudyError) as refusal:
        check(words)
    assert str(refusal.value) == (
        f"study.toml: instruments[0].criteria[0].scale.values: level '{level}' needs the labels'"
        " numbers, and 'low', 'high' are none; state values, such as values = [0, 1, 2]"
    )
    check(study(f'level = "{level}", labels = ["low", "5", "high"], values = [0, 1, 2]'))


def test_numbers_against_their_order_and_below_zero_are_refused() -> None:
    with pytest.raises(StudyError, match="are the numbers 3, 2, 1; expected numbers that"):
        check(study('level = "ordinal", labels = ["3", "2", "1"]'))
    with pytest.raises(StudyError, match="expected numbers that increase"):
        check(study('level = "interval", labels = ["1", "1.0", "2"]'))
    with pytest.raises(StudyError, match="-1 is below zero; a ratio scale starts at zero"):
        check(study('level = "ratio", labels = ["-1", "0"]'))
    check(study('level = "nominal", labels = ["3", "2", "1"]'))
    check(study('level = "ordinal", labels = ["3", "2", "1"], values = [1, 2, 3]'))


def test_adding_values_is_no_change_of_the_form_and_changing_them_is() -> None:
    plain, zero, others = (
        Instrument("f", (Criterion("c", "?", Scale(("1", "2"), values=values)),))
        for values in ((), (0, 1), (0, 2))
    )
    assert digest(plain) in same_forms(zero)
    assert digest(others) not in same_forms(zero)
