"""A table's comparison is that of a study with the same ratings, to the last bit."""

from __future__ import annotations

import random
import tempfile
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import konsil
from konsil.analysis.model.rows import Row

PROTOCOL = """\
title = "Table"
seed = {seed}
resampling = {{ draws = 300 }}
{systems}
{raters}
[[instruments]]
id = "form"
criteria = [{{ id = "label", question = "?", scale = {{ {scale} }} }}]
[[sources]]
file = "ratings.csv"
records = "items"
columns = {{ item = "item"{case} }}
[[sources]]
file = "ratings.csv"
records = "ratings"
columns = {{ item = "item", system = "system", label = "label"{rater} }}
fixed = {{ criterion = "label" }}
{unknown}
[[analyses]]
name = "label: share"
statistic = "{statistic}"
criterion = "label"
raters = "raters"
by = ["system"]
{compare}
{of}
cluster = "{cluster}"
"""


def study_rows(folder: Path, frame: pl.DataFrame, **parts: str) -> list[Row]:
    """The rows of a study of the frame."""
    frame.write_csv(folder / "ratings.csv")
    systems = frame["system"].unique().sort()
    has_raters = "rater" in frame.columns
    raters = frame["rater"].unique().sort().to_list() if has_raters else []
    text = PROTOCOL.format(
        systems="\n".join(f'[[systems]]\nid = "{name}"' for name in systems),
        raters="\n".join(f'[[raters]]\nid = "{name}"\npanel = "raters"' for name in raters),
        rater=', rater = "rater"' if has_raters else "",
        unknown="" if has_raters else 'unknown_raters = "raters"',
        **parts,
    )
    (folder / "study.toml").write_text(text)
    with_ratings = konsil.open(folder)
    with_ratings.import_sources()
    return [row for row in with_ratings.results().rows if not row.detail]


def numbers(row: Row) -> tuple[Any, ...]:
    """All that a row states, as text that distinguishes any two numbers."""
    e = row.estimate
    values = (e.value, e.low, e.high, e.se, e.p, e.n_clusters, e.n_ratings, row.p_adjusted)
    return (
        row.kind,
        dict(row.group),
        dict(row.versus),
        [repr(value) for value in values],
        str(e.method),
        row.n_units,
        row.n_raters,
        row.is_paired,
        [str(text) for text in row.warnings],
    )


SCALES = {
    "share": ("no", "yes"),
    "mean": ("1", "2", "3", "4", "5"),
    "standard_deviation": ("1", "2", "3", "4", "5"),
    "median": ("1", "2", "3", "4", "5"),
}


@st.composite
def tables(draw: st.DrawFn) -> dict[str, Any]:
    """A table of ratings with some missing: a statistic, systems, raters and clusters or none."""
    rng = random.Random(draw(st.integers(0, 10**6)))
    statistic = draw(st.sampled_from(["share", "mean", "standard_deviation", "median"]))
    labels = SCALES[statistic]
    n_items = draw(st.integers(6, 25))
    systems = draw(st.sampled_from([["A", "B"], ["A", "B", "C"]]))
    raters = draw(st.sampled_from([[], ["R1", "R2", "R3"]]))
    is_paired, has_clusters = draw(st.booleans()), draw(st.booleans())
    share = draw(st.floats(0.5, 1))
    rows = [
        {
            "item": f"q{n:02}",
            "system": system,
            **({"rater": rater} if raters else {}),
            "label": rng.choice(labels),
            "batch": f"c{n // 3}",
        }
        for n in range(n_items)
        for system in (systems if is_paired else [systems[n % len(systems)]])
        for rater in raters or [""]
        if rng.random() < share or n < 6
    ]
    # Every label occurs, so that the scale of the table is that of the study.
    for n, label in enumerate(labels):
        rows[n]["label"] = label
    rng.shuffle(rows)
    return {
        "statistic": statistic,
        "frame": pl.DataFrame(rows),
        "cluster": "batch" if has_clusters else None,
        "seed": draw(st.integers(0, 99)),
    }


@given(tables())
@settings(max_examples=12, deadline=None)
@pytest.mark.slow
def test_the_numbers_are_those_of_a_study(case: dict[str, Any]) -> None:
    """Every estimate, difference and further interval, with its method and its warnings."""
    statistic, frame, cluster = case["statistic"], case["frame"], case["cluster"]
    labels = SCALES[statistic]
    listed = ", ".join(f'"{label}"' for label in labels)
    level = "nominal" if statistic == "share" else "interval"
    with tempfile.TemporaryDirectory() as name:
        expected = study_rows(
            Path(name),
            frame,
            seed=case["seed"],
            statistic=statistic,
            scale=f'labels = [{listed}], level = "{level}"',
            case=', case = "batch"' if cluster else "",
            compare='compare = "system"' if statistic in {"share", "mean"} else "",
            of='of = ["yes"]' if statistic == "share" else "",
            cluster="case" if cluster else "item",
        )
    result = konsil.compare(
        frame,
        by="system",
        unit="item",
        label="label",
        rater="rater" if "rater" in frame.columns else "-",
        cluster=cluster,
        statistics=[statistic],
        resamples=300,
        seed=case["seed"],
    )
    assert [numbers(row) for row in result.rows] == [numbers(row) for row in expected]
    assert result.rows
