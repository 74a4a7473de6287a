"""The preferences of a table are those of a study with the same comparisons, to the last bit."""

from __future__ import annotations

import random
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import konsil
from konsil.analysis.model.rows import Row

SCALES = {
    3: ("A is better", "equal", "B is better"),
    4: ("A is much better", "A is better", "B is better", "B is much better"),
    5: ("A is much better", "A is better", "equal", "B is better", "B is much better"),
}
PROTOCOL = """\
title = "Comparisons"
seed = {seed}
resampling = {{ draws = {draws}, level = {level} }}
systems = [{systems}]
{raters}
[inference]
raters = "like these"
[[instruments]]
id = "form"
unit = "pair"
[[instruments.criteria]]
id = "better"
question = "Which answer is better?"
scope = "pair"
scale = {{ kind = "choice", level = "ordinal", labels = {labels} }}
[[sources]]
file = "votes.csv"
records = "items"
columns = {{ item = "item" }}
strata = ["topic"]
[[sources]]
file = "votes.csv"
records = "ratings"
columns = {{ item = "item", system_a = "system_a", system_b = "system_b", label = "label"{rater} }}
fixed = {{ criterion = "better" }}
{unknown}
"""
ANALYSIS = """
[[analyses]]
name = "{name}"
statistic = "{name}"
criterion = "better"
raters = "raters"
mode = "{mode}"
{groups}
"""


@st.composite
def tables(draw: st.DrawFn) -> tuple[pl.DataFrame, dict[str, Any]]:
    """Comparisons, each once, of several raters, one who gave most, one alone or unknown ones."""
    rng = random.Random(draw(st.integers(0, 10**6)))
    labels = SCALES[draw(st.sampled_from([3, 4, 5]))]
    systems = [f"s{n}" for n in range(draw(st.integers(2, 4)))]
    n_raters = draw(st.sampled_from([1, 2, 6, 20]))
    share_of_first = draw(st.sampled_from([0.0, 0.9])) if n_raters > 1 else 0.0
    rows: dict[tuple[str, str, frozenset[str]], dict[str, str]] = {}
    for _ in range(draw(st.integers(20, 90))):
        item = f"q{rng.randrange(25):02}"
        rater = f"r{0 if rng.random() < share_of_first else rng.randrange(n_raters):02}"
        first, second = rng.sample(systems, 2)
        lean = rng.gauss(0.6 * (systems.index(first) - systems.index(second)), 1.5)
        label = labels[min(max(round(lean + (len(labels) - 1) / 2), 0), len(labels) - 1)]
        rows[item, rater, frozenset((first, second))] = {
            "item": item,
            "rater": rater,
            "system_a": first,
            "system_b": second,
            "label": label,
            "topic": "xy"[int(item[1:]) % 2],
        }
    return pl.DataFrame(list(rows.values())), {
        "scale": labels,
        "strict": len(labels) > 3 and draw(st.booleans()),
        "mode": draw(st.sampled_from(["valid", "valid", "paper"])),
        "rater": draw(st.sampled_from(["rater", "rater", "-"])),
        "slicing": draw(st.sampled_from(["by", "compare", "unused"])),
        "confidence": draw(st.sampled_from([0.95, 0.9])),
        "seed": draw(st.integers(0, 99)),
    }


def study_rows(folder: Path, frame: pl.DataFrame, options: Mapping[str, Any]) -> list[Row]:
    """The rows of a study of the comparisons."""
    is_known, strict = options["rater"] != "-", "_strict" * options["strict"]
    (frame if is_known else frame.drop("rater")).write_csv(folder / "votes.csv")
    systems = sorted({*frame["system_a"], *frame["system_b"]})
    raters = frame["rater"].unique().sort() if is_known else []
    text = PROTOCOL.format(
        seed=options["seed"],
        draws=200,
        level=options["confidence"],
        systems=", ".join(f'{{ id = "{name}" }}' for name in systems),
        raters="\n".join(f'[[raters]]\nid = "{name}"\npanel = "raters"' for name in raters),
        labels=list(options["scale"]),
        rater=', rater = "rater"' if is_known else "",
        unknown="" if is_known else 'unknown_raters = "raters"',
    )
    groups = {"unused": "", "by": 'by = ["topic"]', "compare": 'by = ["topic"]\ncompare = "topic"'}
    names = [f"win_rate{strict}"]
    # As published, win differences have the fixed weights of one paper, and no table has.
    names += [f"win_difference{strict}"] if options["mode"] == "valid" else []
    # A study's models take any preference for a win.
    names += [] if strict else ["davidson", "bradley_terry"]
    for name in names:
        stated = groups[options["slicing"]]
        stated = stated if name.startswith("win_difference") else stated.split("\n")[0]
        text += ANALYSIS.format(name=name, mode=options["mode"], groups=stated)
    (folder / "study.toml").write_text(text)
    opened = konsil.open(folder)
    opened.import_sources()
    return [row for row in opened.results().rows if not row.detail]


ABOUT = (", for this rater", ", about these raters")
"""What a table adds to the method of an interval that is about its raters only."""


def same(shown: Mapping[str, Any], rows: Sequence[Row], value: float, name: str) -> Row | None:
    """The row with a shown interval; None where it has no limits."""
    if shown["low"] is None:
        return None
    method = str(shown["method"])
    for suffix in ABOUT:
        method = method.removesuffix(suffix)
    (row,) = [row for row in rows if str(row.estimate.method).split("; p: ")[0] == method]
    e = row.estimate
    assert list(map(repr, (e.value, e.low, e.high))) == list(
        map(repr, (value, shown["low"], shown["high"]))
    ), name
    return row


def of(rows: Sequence[Row], name: str, group: str, **keys: str) -> list[Row]:
    """The rows of a number, without those of ratios."""
    chosen = {**keys, **({"topic": group} if group else {})}
    return [
        row
        for row in rows
        if row.analysis.startswith(name)
        and not row.versus
        and {k: str(v) for k, v in row.group.items()} == chosen
    ]


def check_group(result: Any, rows: Sequence[Row], group: str, options: Mapping[str, Any]) -> int:
    """How many intervals of one group are equal to those of the study."""
    n = 0
    wins = [("win_difference", {"system": one["system"]}, one) for one in result.win_difference]
    wins = wins if options["mode"] == "valid" else []
    for one in result.win_rate:
        wins.append(("win_rate", {k: one[k] for k in ("system", "rival")}, one))
    for name, keys, one in wins:
        theirs = of(rows, name, group, **keys)
        if one["value"] is None:
            assert [str(row.estimate.reason) for row in theirs] == [str(one["reason"])]
            continue
        assert {row.n_units for row in theirs} == {one["n_items"]}
        is_valid = options["mode"] == "valid"
        for way in (one, one["item"], one["rater"]) if is_valid else (one, one["two_way"]):
            row = same(way, theirs, one["value"], name)
            n += row is not None
            if row is not None and name == "win_difference" and way is one and one["p"]:
                assert repr(row.estimate.p) == repr(one["p"])
        by_item = [row for row in theirs if "; p: " in str(row.estimate.method)]
        for row in by_item:
            assert row.estimate.p == one["p_flip"]
    for model in ("davidson", "bradley_terry") if not options["strict"] else ():
        worths = getattr(result, model)["worths"]
        for one in worths:
            theirs = of(rows, model, group, system=one["system"])
            if one["log_worth"] is None:
                assert {str(row.estimate.reason) for row in theirs} == {str(one["reason"])}
                continue
            assert {repr(row.estimate.value) for row in theirs} == {repr(one["log_worth"])}
            # As published, a study has the model's own interval in place of that by item.
            if options["mode"] == "valid" or "two-way" in str(one["method"]):
                n += same(one, theirs, one["log_worth"], model) is not None
    return n


@given(tables())
@settings(max_examples=25, deadline=None)
@pytest.mark.slow
def test_the_preferences_are_those_of_a_study(case: tuple[pl.DataFrame, dict[str, Any]]) -> None:
    """Every value, interval, p value and reason, of the whole and of groups, and differences.

    Kills: resamples of another key, another choice of intervals where one rater gave most of the
    comparisons or raters are unknown, another variance of differences.
    """
    frame, options = case
    with tempfile.TemporaryDirectory() as folder:
        rows = study_rows(Path(folder), frame, options)
    sliced = {options["slicing"]: ["topic"] if options["slicing"] == "unused" else "topic"}
    plain = {k: v for k, v in options.items() if k != "slicing"}
    known = frame if options["rater"] == "rater" else frame.drop("rater")
    result = konsil.preference(known, item="item", resamples=200, **plain, **sliced)
    groups = dict(result.groups) or {"": result}
    assert sum(check_group(part, rows, name, options) for name, part in groups.items())
    if result.comparison is None or options["mode"] == "paper":
        return
    for one in result.comparison["differences"]:
        theirs = [row for row in rows if row.versus and row.group["system"] == one["system"]]
        if one["value"] is None:
            assert not theirs
            continue
        for way in (one, one["item"], one["rater"]):
            row = same(way, theirs, one["value"], "difference")
            assert row is None or repr(row.estimate.se) == repr(way["se"])
            if row is not None and way is one:
                assert repr(row.estimate.p) == repr(one["p"])
