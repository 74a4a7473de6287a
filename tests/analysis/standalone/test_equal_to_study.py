"""A table's agreement is that of a study with the same ratings, to the last bit."""

from __future__ import annotations

import random
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import konsil
from konsil.analysis.model.rows import Row
from konsil.analysis.standalone.agreement_result import Agreement, NamedEstimate
from konsil.stats.agreement.registry import STATISTICS
from konsil.stats.engine.contract import Estimate

PROTOCOL = """\
title = "Table"
seed = {seed}
resampling = {{ draws = 200 }}
inference = {{ raters = "these" }}
systems = [{{ id = "A" }}, {{ id = "B" }}]
raters = [{raters}]
[[instruments]]
id = "form"
criteria = [{{ id = "label", question = "?", scale = {{ {scale} }} }}]
[[sources]]
file = "ratings.csv"
records = "items"
columns = {{ item = "item", case = "batch" }}
[[sources]]
file = "ratings.csv"
records = "ratings"
columns = {{ item = "item", system = "system", rater = "rater", label = "label" }}
fixed = {{ criterion = "label" }}
"""
ANALYSIS = """\
[[analyses]]
name = "{name}"
statistic = "{name}"
criterion = "label"
raters = "raters"
cluster = "{cluster}"
{further}
"""
SCALES: Sequence[tuple[str, tuple[str, ...], tuple[float, ...]]] = (
    ("nominal", ("no", "yes"), ()),
    ("nominal", ("a", "b", "c"), ()),
    ("ordinal", ("low", "mid", "high"), ()),
    ("ordinal", ("1", "2", "10"), ()),
    ("interval", ("1", "2", "10"), ()),
    ("interval", ("-0.5", "0", "1.25", "4"), ()),
    ("ratio", ("1", "2", "3"), ()),
    ("interval", ("low", "mid", "high"), (-1, 0, 3.5)),
)
ABSTENTION = "?"


def toml(words: Iterable[object]) -> str:
    """A list of TOML."""
    return "[" + ", ".join(f'"{w}"' if isinstance(w, str) else str(w) for w in words) + "]"


@st.composite
def cases(draw: st.DrawFn) -> dict[str, Any]:
    """Ratings of two systems with some missing, and the options of both doors."""
    rng = random.Random(draw(st.integers(0, 10**6)))
    level, labels, values = draw(st.sampled_from(SCALES))
    raters = ["R1", "R2", "R3", "R4"][: draw(st.integers(2, 4))]
    share, has_abstentions = draw(st.sampled_from([1.0, 0.8])), draw(st.booleans())
    given_words = (*labels, ABSTENTION) if has_abstentions else labels
    rows = [
        {
            "item": f"q{n:02}",
            "system": system,
            "rater": rater,
            "label": rng.choice(given_words),
            "batch": f"c{n // 3}",
        }
        for n in range(draw(st.integers(6, 16)))
        for system in "AB"
        for rater in raters
        if rng.random() < share or n < 3
    ]
    rng.shuffle(rows)
    return {
        "level": level,
        "labels": labels,
        "values": values,
        "frame": pl.DataFrame(rows),
        "raters": raters,
        "has_abstentions": has_abstentions,
        "has_clusters": draw(st.booleans()),
        "groups": draw(st.sampled_from(["where", "by", "compare"])),
        "is_recoded": len(labels) > 2 and draw(st.booleans()),
        "weights": draw(st.sampled_from(["", "linear", "quadratic"])),
        "seed": draw(st.integers(0, 99)),
    }


def of_table(case: dict[str, Any]) -> Agreement:
    """The result of konsil.agreement."""
    labels, values = case["labels"], case["values"]
    options: dict[str, Any] = {"where": {"system": "A"}}
    if case["groups"] != "where":
        options = {case["groups"]: "system"}
    if case["is_recoded"]:
        options["recode"] = {labels[0]: labels[1]}
        labels, values = labels[1:], values[1:]
    if case["has_abstentions"]:
        options["abstain"] = ABSTENTION
    if case["weights"]:
        options["weights"] = case["weights"]
    options |= {"cluster": "batch"} if case["has_clusters"] else {"unused": ["batch"]}
    return konsil.agreement(
        case["frame"],
        unit="item",
        rater="rater",
        label="label",
        level=case["level"],
        labels=labels,
        values=values,
        seed=case["seed"],
        resamples=200,
        **options,
    )


def of_study(case: dict[str, Any], folder: Path, names: Iterable[str]) -> list[Row]:
    """The rows of a study of the same ratings."""
    labels = case["labels"]
    scale = f'labels = {toml(labels)}, level = "{case["level"]}"'
    if case["values"]:
        scale += f", values = {toml(case['values'])}"
    if case["has_abstentions"]:
        scale += f', abstain = "{ABSTENTION}"'
    further = {
        "where": 'where = { system = ["A"] }',
        "by": 'by = ["system"]',
        "compare": 'by = ["system"]\ncompare = "system"',
    }[case["groups"]]
    if case["is_recoded"]:
        further += f'\ncollapse = {{ "{labels[0]}" = "{labels[1]}" }}'
    raters = ", ".join(f'{{ id = "{name}", panel = "raters" }}' for name in case["raters"])
    text = PROTOCOL.format(seed=case["seed"], raters=raters, scale=scale)
    for name in names:
        has_weights = case["weights"] and STATISTICS[name].weighted and "alpha" not in name
        of_name = f'\nweights = "{case["weights"]}"' if has_weights else ""
        text += ANALYSIS.format(
            name=name,
            cluster="case" if case["has_clusters"] else "item",
            further=further + of_name,
        )
    case["frame"].write_csv(folder / "ratings.csv")
    (folder / "study.toml").write_text(text)
    study = konsil.open(folder)
    study.import_sources()
    return list(study.results().rows)


def numbers(estimate: Estimate) -> tuple[Any, ...]:
    """All of an estimate, as text that distinguishes any two numbers."""
    e = estimate
    words = [str(text).replace("unit", "item") for text in (e.method, e.reason)]
    words = [text.replace("batch", "case") for text in words]
    values = (e.value, e.low, e.high, e.se, e.p, e.level)
    return (*map(repr, values), e.n_clusters, e.n_ratings, e.n_undefined, *words)


def compared(
    statistics: Iterable[NamedEstimate], companions: Iterable[NamedEstimate], rows: list[Row]
) -> None:
    """Every interval of the table is one of the study; the first one is its first one."""
    further = [(s.name, numbers(s.estimate)) for s in companions]
    for statistic in statistics:
        expected = [numbers(row.estimate) for row in rows if row.analysis == statistic.name]
        assert numbers(statistic.estimate) == expected[0]
        # Textbook intervals of independent units are for comparisons with other programs.
        others = [n for name, n in further if name == statistic.name and "closed-form" not in n[9]]
        assert [n for n in others if n not in expected[1:]] == []


@given(cases())
@settings(max_examples=25, deadline=None)
@pytest.mark.slow
def test_all_numbers_of_a_table_are_those_of_a_study(case: dict[str, Any]) -> None:
    result = of_table(case)
    parts = result.groups or {"A": result}
    first = next(iter(parts.values()))
    with tempfile.TemporaryDirectory() as folder:
        rows = of_study(case, Path(folder), first)
    assert len(list(first)) > 5
    for system, part in parts.items():
        of_group = [
            row
            for row in rows
            if row.kind != "difference"
            and not row.versus
            and row.group.get("system", "A") == system
        ]
        compared(part.statistics, part.companions, of_group)
    if result.comparison is not None:
        differences = [row for row in rows if row.versus]
        compared(result.comparison.differences, result.comparison.companions, differences)
