"""A table's agreement is that of a study with the same ratings, to the last bit."""

from __future__ import annotations

import random
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from itertools import product
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import konsil
from konsil.analysis.model.rows import Row
from konsil.analysis.standalone.agreement_request import AgreementRequest
from konsil.analysis.standalone.agreement_result import Agreement, NamedEstimate
from konsil.stats.agreement.registry import STATISTICS
from konsil.stats.engine.contract import Estimate

PROTOCOL = """\
title = "Table"
seed = {seed}
resampling = {{ draws = 200, level = {level} }}
inference = {{ raters = "these" }}
systems = [{{ id = "A" }}, {{ id = "B" }}]
raters = [{raters}]
[[instruments]]
id = "form"
criteria = [{criteria}]
[[sources]]
file = "ratings.csv"
records = "items"
columns = {{ item = "item", case = "batch" }}
strata = ["kept"]
[[sources]]
file = "ratings.csv"
records = "ratings"
missing = ["", "NA"]
{columns}
"""
COLUMNS = """\
columns = { item = "item", system = "system", rater = "rater", label = "label" }
fixed = { criterion = "label" }
"""
OF_CRITERIA = """\
columns = { item = "item", criterion = "system", rater = "rater", label = "label" }
fixed = { system = "A" }
"""
WITHOUT_RATERS = """\
columns = { item = "item", system = "system", label = "label", rater = [] }
fixed = { criterion = "label" }
unknown_raters = "raters"
"""
ANALYSIS = """\
[[analyses]]
name = "{name}"
statistic = "{statistic}"
criterion = "{criterion}"
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
            "kept": "yes" if n % 5 or n < 3 else "no",
        }
        for n in range(draw(st.integers(6, 16)))
        for system in "AB"
        for rater in raters
        if rng.random() < share or n < 3
    ]
    rng.shuffle(rows)
    # Units are drawn in their order: a study's is that of all rows, a table's that of the analysed.
    rows.sort(key=lambda row: row["system"])
    layout = draw(st.sampled_from(["long", "long", "wide", "raters-in-rows", "counts", "lists"]))
    groups = draw(st.sampled_from(["where", "by", "compare", "criterion"]))
    if layout in ("raters-in-rows", "counts", "lists"):
        groups = "where"
    if layout == "wide" and groups == "criterion":
        groups = "by"
    repeat = draw(st.sampled_from(["", "first", "last"])) if layout == "long" else ""
    again = [{**row, "label": rng.choice(given_words)} for row in rows if rng.random() < 0.2]
    return {
        "layout": layout,
        "repeat": repeat,
        "is_missing": draw(st.booleans()),
        "confidence": draw(st.sampled_from([0.95, 0.9])),
        "has_pairs": layout in ("long", "wide") and groups == "where" and draw(st.booleans()),
        "level": level,
        "labels": labels,
        "values": values,
        "frame": pl.DataFrame([*rows, *(again if repeat else [])]),
        "raters": raters,
        "has_abstentions": has_abstentions,
        "has_clusters": layout in ("long", "wide") and draw(st.booleans()),
        "groups": groups,
        "is_recoded": len(labels) > 2 and draw(st.booleans()),
        "weights": draw(st.sampled_from(["", "linear", "quadratic"])),
        "seed": draw(st.integers(0, 99)),
    }


def laid_out(case: dict[str, Any]) -> tuple[pl.DataFrame, dict[str, Any]]:
    """The table in one of the layouts, and the options that state its columns."""
    frame, layout = rated(case), case["layout"]
    if layout == "long":
        return frame, {"unit": "item", "rater": "rater", "label": "label"}
    if layout == "wide":
        index = ["item", "system", "batch", "kept"]
        raters = frame["rater"].unique().sort()
        wide = frame.pivot("rater", index=index, values="label").select(*index, *raters)
        return wide, {"layout": "wide", "unit": "item", "rater": [*raters]}
    if layout == "raters-in-rows":
        rows = frame.pivot("item", index=["rater", "system", "kept"], values="label")
        items = frame["item"].unique(maintain_order=True)
        return rows.select("rater", "system", "kept", *items), {"layout": layout, "rater": "rater"}
    words = frame.filter(pl.col("label") != "NA")
    if layout == "counts":
        counts = words.pivot(
            "label", index=["item", "system", "kept"], values="rater", aggregate_function="len"
        ).fill_null(0)
        scale = [*case["labels"], *([ABSTENTION] * case["has_abstentions"])]
        more = [pl.lit(0).alias(word) for word in scale if word not in counts.columns]
        return counts.with_columns(more), {"layout": layout, "unit": "item"}
    lists = words.group_by("item", "system", "kept", maintain_order=True).agg("label")
    joined = lists.with_columns(pl.col("label").list.join("|"))
    return joined, {"layout": layout, "unit": "item", "label": "label", "split": "|"}


def rated(case: dict[str, Any]) -> pl.DataFrame:
    """The ratings with some words for a missing one."""
    is_missing = (pl.int_range(pl.len()) % 11 == 7) & pl.lit(case["is_missing"])
    label = pl.when(is_missing).then(pl.lit("NA")).otherwise("label")
    return case["frame"].with_columns(label.alias("label"))


def of_table(case: dict[str, Any]) -> Agreement:
    """The result of konsil.agreement."""
    labels, values = case["labels"], case["values"]
    options: dict[str, Any] = {"where": {"kept": "yes"}}
    if case["groups"] == "where":
        options["where"]["system"] = "A"
    else:
        options[case["groups"]] = "system"
    if case["is_recoded"]:
        options["recode"] = {labels[0]: labels[1]}
        values = values[1:]
        # Those of counts are the columns.
        labels = labels if case["layout"] == "counts" else labels[1:]
    if case["has_abstentions"]:
        options["abstain"] = ABSTENTION
    if case["weights"]:
        options["weights"] = case["weights"]
    frame, roles = laid_out(case)
    if "batch" in frame.columns:
        options |= {"cluster": "batch"} if case["has_clusters"] else {"unused": ["batch"]}
    if case["repeat"]:
        options["repeat"] = case["repeat"]
    return konsil.agreement(
        frame,
        **roles,
        missing=["", "NA"],
        confidence=case["confidence"],
        pairs=case["has_pairs"],
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
    where = 'where = { kept = ["yes"]'
    further = {
        "where": f'{where}, system = ["A"] }}',
        "by": f'{where} }}\nby = ["system"]',
        "compare": f'{where} }}\nby = ["system"]\ncompare = "system"',
        "criterion": f"{where} }}",
    }[case["groups"]]
    criteria = ("A", "B") if case["groups"] == "criterion" else ("label",)
    columns = WITHOUT_RATERS if case["layout"] in ("counts", "lists") else COLUMNS
    columns = OF_CRITERIA if case["groups"] == "criterion" else columns
    if case["repeat"]:
        columns += f'repeat = "{case["repeat"]}"\n'
    if case["is_recoded"]:
        further += f'\ncollapse = {{ "{labels[0]}" = "{labels[1]}" }}'
    raters = ", ".join(f'{{ id = "{name}", panel = "raters" }}' for name in case["raters"])
    text = PROTOCOL.format(
        seed=case["seed"],
        level=case["confidence"],
        raters="" if columns == WITHOUT_RATERS else raters,
        criteria=", ".join(
            f'{{ id = "{name}", question = "?", scale = {{ {scale} }} }}' for name in criteria
        ),
        columns=columns,
    )
    for criterion, name in product(criteria, names):
        has_weights = case["weights"] and STATISTICS[name].weighted and "alpha" not in name
        of_name = f'\nweights = "{case["weights"]}"' if has_weights else ""
        of_pairs = [("", "")]
        if case["has_pairs"]:
            of_pairs.append((PAIRS, '\nby = ["rater_pair"]'))
        for suffix, by in of_pairs:
            text += ANALYSIS.format(
                name=f"{criterion} {name}{suffix}",
                statistic=name,
                criterion=criterion,
                cluster="case" if case["has_clusters"] else "item",
                further=further + of_name + by,
            )
    rated(case).write_csv(folder / "ratings.csv")
    (folder / "study.toml").write_text(text)
    study = konsil.open(folder)
    study.import_sources()
    return list(study.results().rows)


PAIRS = " of pairs"
"""The end of the names of analyses of pairs of raters."""


def numbers(estimate: Estimate, digits: str = ".17g") -> tuple[Any, ...]:
    """All of an estimate, as text that distinguishes any two numbers."""
    e = estimate
    words = [str(text).replace("unit", "item") for text in (e.method, e.reason)]
    words = [text.replace("batch", "case") for text in words]
    values = (e.value, e.low, e.high, e.se, e.p, e.level)
    return (
        *(format(value, digits) for value in values),
        e.n_clusters,
        e.n_ratings,
        e.n_undefined,
        *words,
    )


def compared(
    statistics: Iterable[NamedEstimate],
    companions: Iterable[NamedEstimate],
    rows: list[Row],
    criterion: str = "label",
    digits: str = ".17g",
) -> None:
    """Every interval of the table is one of the study; the first one is its first one."""
    further = [(s.name, numbers(s.estimate, digits)) for s in companions]
    for statistic in statistics:
        expected = [
            numbers(row.estimate, digits)
            for row in rows
            if row.analysis == f"{criterion} {statistic.name}"
        ]
        assert numbers(statistic.estimate, digits) == expected[0]
        # Textbook intervals of independent units are for comparisons with other programs. They
        # alone can have limits that do not contain the estimate.
        others = [
            n
            for name, n in further
            if name == statistic.name
            and "closed-form" not in n[9]
            and "do not contain" not in n[10]
        ]
        assert [n for n in others if n not in expected[1:]] == []


@given(cases())
@settings(max_examples=30, deadline=None)
@pytest.mark.slow
def test_all_numbers_of_a_table_are_those_of_a_study(case: dict[str, Any]) -> None:
    result = of_table(case)
    parts = result.groups or {"A": result}
    first = next(iter(parts.values()))
    with tempfile.TemporaryDirectory() as folder:
        names = dict.fromkeys(name for part in parts.values() for name in part)
        rows = of_study(case, Path(folder), names)
    assert len(list(first)) > 4
    of_raters = [row for row in rows if row.kind != "difference" and not row.versus]
    for name, part in parts.items():
        if case["groups"] == "criterion":
            compared(part.statistics, part.companions, of_raters, name)
            continue
        of_group = [row for row in of_raters if row.group.get("system", "A") == name]
        compared(part.statistics, part.companions, of_group)
        for pair in part.pairs:
            both = f"pair:{':'.join(pair.raters)}"
            of_pair = [row for row in of_group if both in row.group.values()]
            named = [NamedEstimate(s.name + PAIRS, s.estimate) for s in pair.statistics]
            # A study's pairs have units from which both abstained, whose rounding is in the SE.
            compared(named, (), of_pair, digits=".8g" if case["has_abstentions"] else ".17g")
    assert bool(first.pairs) == case["has_pairs"]
    if result.comparison is not None:
        differences = [row for row in rows if row.versus]
        compared(result.comparison.differences, result.comparison.companions, differences)


_COMPARED = (
    *("layout", "unit", "rater", "label", "unused", "cluster", "level", "labels", "values"),
    *("abstain", "where", "by", "compare", "missing", "recode", "repeat", "resamples"),
    *("confidence", "seed", "criterion", "pairs", "split"),
)
OPTIONS: Mapping[str, str] = {
    **dict.fromkeys(_COMPARED, "compared"),
    "statistics": "all that a table has by default are compared",
    "weights": "those with a name are compared; a study has no others",
    "names": "the same columns as raters or criteria, which are read before anything is computed",
    "pair_weights": "a study has none",
    "target": "cli/test_agreement_parts.py compares differences about either target with a study's",
}
"""Each option of a table: that its numbers are compared with a study's, or why they are not."""


def test_every_option_of_a_table_is_compared_or_has_a_reason() -> None:
    assert {field.name for field in fields(AgreementRequest)} == {*OPTIONS}
