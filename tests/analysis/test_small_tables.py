"""Every interval that is printed has a width and contains its estimate, however small the table."""

from __future__ import annotations

import math

import polars as pl
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

import konsil
from konsil.analysis.estimation.ranges import within
from konsil.errors import KonsilError
from konsil.stats.engine.contract import Estimate

TINY = pl.DataFrame(
    {
        "unit": ["u0", "u1", "u2", "u2"],
        "rater": ["r1", "r1", "r0", "r1"],
        "label": ["0", "0", "0", "1"],
    }
)

ratings = st.lists(
    st.tuples(st.integers(0, 5), st.integers(0, 2), st.sampled_from("AB"), st.integers(0, 2)),
    min_size=4,
    max_size=30,
    unique_by=lambda row: row[:3],
)


def proper(name: str, e: Estimate) -> None:
    if math.isnan(e.low):
        assert math.isnan(e.high)
        assert e.reason, (name, e)
        return
    assert e.high - e.low > 1e-9, (name, e)
    assert e.low - 1e-9 <= e.value <= e.high + 1e-9, (name, e)


@pytest.mark.slow
@given(rows=ratings, level=st.sampled_from(["nominal", "ordinal", "interval"]), apart=st.booleans())
@settings(
    max_examples=40,
    deadline=None,
    derandomize=True,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)
def test_every_interval_has_width_and_contains_its_estimate(
    rows: list[tuple[int, int, str, int]], level: str, apart: bool
) -> None:
    frame = pl.DataFrame(
        [(f"{g if apart else ''}u{u}", f"r{r}", g, str(x)) for u, r, g, x in rows],
        schema=["unit", "rater", "group", "label"],
        orient="row",
    )
    asked = {
        "unit": "unit",
        "rater": "rater",
        "label": "label",
        "level": level,
        "labels": list("012"),
    }
    try:
        result = konsil.agreement(frame, **asked, compare="group", resamples=100)
    except KonsilError:
        return
    for group in result.groups.values():
        for one in (*group.statistics, *group.companions):
            proper(one.name, one.estimate)
    if result.comparison is not None:
        for one in (*result.comparison.differences, *result.comparison.companions):
            proper(one.name, one.estimate)


def test_a_value_below_the_range_has_no_limits_cut_at_the_range() -> None:
    result = konsil.agreement(
        TINY, unit="unit", rater="rater", label="label", labels=list("012"), resamples=200
    )
    for one in result.statistics:
        proper(one.name, one.estimate)
    assert result["fleiss_kappa"].value == pytest.approx(-2.6)


def test_limits_without_their_estimate_are_not_printed() -> None:
    lost = within(Estimate(-0.5, -0.4687, -0.0486, p=0.03, method="score"), (-2.0, 2.0))
    assert math.isnan(lost.low)
    assert math.isnan(lost.p)
    assert lost.reason == "no CI: the method's limits do not contain the estimate"
    beyond = within(Estimate(-2.6, -3.0, 0.9, method="posterior"), (-1.0, 1.0))
    assert (beyond.low, beyond.high, beyond.method) == (-3.0, 0.9, "posterior")


def perfect(n: int, raters: int, *, apart: bool) -> pl.DataFrame:
    rows = [
        (f"{g if apart else ''}u{u}", f"r{r}", g, str(u % 2))
        for g in "AB"
        for u in range(n)
        for r in range(raters)
    ]
    return pl.DataFrame(rows, schema=["unit", "rater", "group", "label"], orient="row")


def compared(frame: pl.DataFrame, level: str = "nominal", **more: object) -> dict[str, Estimate]:
    result = konsil.agreement(
        frame,
        unit="unit",
        rater="rater",
        label="label",
        level=level,
        compare="group",
        labels=["0", "1"],
        resamples=200,
        **more,
    )  # type: ignore[arg-type]
    assert result.comparison is not None
    return {d.name: d.estimate for d in result.comparison.differences}


@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval"])
@pytest.mark.parametrize("raters", [3, 5])
def test_no_difference_of_perfect_groups_is_without_width(level: str, raters: int) -> None:
    for name, e in compared(perfect(8, raters, apart=True), level).items():
        proper(name, e)
        assert e.value == 0, name


@pytest.mark.parametrize("apart", [True, False])
def test_perfect_groups_of_three_raters_have_the_limits_of_two(apart: bool) -> None:
    two, three = (compared(perfect(10, raters, apart=apart)) for raters in (2, 3))
    for name in ("percent_agreement", "pabak", "randolph_kappa"):
        # A unit on which all raters agree counts as one on which two do: that is a bound, as more
        # raters know more.
        assert three[name].p == pytest.approx(1.0)
        assert "each cluster counted once" in three[name].method
    share = two["percent_agreement"]
    assert (three["percent_agreement"].low, three["percent_agreement"].high) == pytest.approx(
        (share.low, share.high)
    )
    assert (three["pabak"].low, three["pabak"].high) == pytest.approx(
        (2 * share.low, 2 * share.high)
    )
    assert math.isnan(three["fleiss_kappa"].low)
    assert three["fleiss_kappa"].reason


def test_perfect_groups_of_units_in_clusters_count_their_clusters() -> None:
    frame = perfect(12, 3, apart=True).with_columns(
        (pl.col("group") + (pl.col("unit").str.slice(2).cast(pl.Int64) // 2).cast(pl.String)).alias(
            "case"
        )
    )
    single = compared(perfect(6, 3, apart=True))["percent_agreement"]
    inside = compared(frame, cluster="case")["percent_agreement"]
    assert (inside.low, inside.high) == pytest.approx((single.low, single.high))


def test_a_group_that_is_not_perfect_is_compared_as_before() -> None:
    frame = perfect(20, 3, apart=True)
    rows = frame.with_row_index("n")
    label = pl.when((pl.col("group") == "B") & (pl.col("rater") == "r0") & (pl.col("n") % 2 == 0))
    mixed = rows.with_columns(label.then(pl.lit("1")).otherwise("label").alias("label")).drop("n")
    assert "permutation" in compared(mixed)["percent_agreement"].method
